//! ns-2's own TCP: cumulative ACKs, Reno's recovery and NewReno's (RFC 6582, as it was then), with limited transmit.
//!
//! Numbers are those of the agent's window: what follows the cumulative ACK, up to `sent_to`, counts as in flight, and a
//! timeout takes `sent_to` back.

use exmachina_net::endpoint::Totals;
use exmachina_net::time::{Duration, Instant};

use super::Rules;
use super::estimator::{Estimator, NS2};
use crate::scheme::{Ack, Congestion, Scheme};
use crate::transport::receiver::Feedback;
use crate::transport::{Opening, Settings, Stack};

/// Duplicate ACKs that show a loss.
const DUPLICATES: u32 = 3;
/// New packets that may follow one ACK in recovery.
const MAX_BURST: u32 = 2;

/// The latest thing that lowered the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lowered {
    Never,
    Duplicates,
    /// As above, and that recovery has ended.
    Recovered,
    Timeout,
}

/// What the latest event lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// What the window allows.
    Window,
    /// So many packets that the window allows.
    Burst(u32),
    /// One new packet, for a duplicate ACK (limited transmit, RFC 3042).
    Extra,
    Shut,
}

/// What an ACK of a part of what was outstanding does to a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    /// It ends it.
    Reno,
    /// It goes on (RFC 6582).
    NewReno {
        /// The first such ACK of the present recovery has come.
        first_partial: bool,
    },
}

/// ns-2's own TCP.
#[derive(Clone, Debug)]
pub struct Tcp {
    flavour: Flavour,
    una: u32,
    /// The next packet to be sent, old or new.
    sent_to: u32,
    /// The next packet that was never sent.
    next: u32,
    /// This one is to be sent again whatever the window says.
    repair: Option<u32>,
    gate: Gate,
    /// The SYN, until it is acknowledged: nothing else goes before.
    syn: Option<u32>,
    duplicates: u32,
    /// What duplicate ACKs add to the window in recovery.
    inflation: u32,
    lowered: Lowered,
    /// Recovery ends when all packets before this one are acknowledged.
    recover: Option<u32>,
    rtt: Estimator,
    expires: Instant,
    /// The packet whose ACK ends the backoff, where one is being waited for.
    timed: Option<u32>,
    min_rtt: Duration,
    delivered: u64,
    /// What XCP takes for a packet's bytes when its routers change the window: data only (`tcp/xcp-end-sys.cc`).
    data_bytes: f64,
}

impl Tcp {
    fn congestion(&self, now: Instant, lost: u32) -> Congestion {
        Congestion {
            now,
            in_flight: self.in_flight(),
            outstanding: self.next - self.una,
            next_seq: self.next,
            seq: self.una,
            lost,
            idle: false,
        }
    }

    fn in_recovery(&self) -> bool {
        self.inflation > 0
    }

    fn start_timer(&mut self, now: Instant) {
        self.expires = self.rtt.expiry(now);
    }

    /// An ACK of new data that ends recovery, or comes outside of it.
    fn advance(&mut self, ack: &Feedback, now: Instant) {
        if self.in_recovery() {
            self.inflation = 0;
            if self.lowered == Lowered::Duplicates {
                self.lowered = Lowered::Recovered;
            }
        }
        if let Flavour::NewReno { first_partial } = &mut self.flavour {
            *first_partial = false;
        }
        self.duplicates = 0;
        self.gate = Gate::Window;
        self.una = ack.next;
        self.sent_to = self.sent_to.max(self.una);
        self.rtt.sample(now - ack.echo);
        self.min_rtt = self.min_rtt.min(now - ack.echo);
        if self.timed.is_some_and(|seq| seq < self.una) {
            self.rtt.end_backoff();
            self.timed = None;
        }
        self.start_timer(now);
    }

    /// An ACK of a part of what was outstanding when recovery began: by how much the window deflates.
    fn advance_partly(&mut self, ack: &Feedback, now: Instant) -> u32 {
        // RFC 6582 §3.2, step 3: of the partial ACKs of a recovery only the first one starts the timer anew.
        if let Flavour::NewReno { first_partial } = &mut self.flavour
            && !std::mem::replace(first_partial, true)
        {
            self.start_timer(now);
        }
        let acked = ack.next - self.una;
        let deflate = if self.inflation > acked {
            self.inflation -= acked - 1;
            0
        } else {
            let by = acked - self.inflation;
            self.inflation = 1;
            by
        };
        self.una = ack.next;
        self.sent_to = self.sent_to.max(self.una);
        if self.timed.is_some_and(|seq| seq < self.una) {
            self.timed = None;
        }
        self.repair = Some(self.una);
        self.gate = Gate::Burst(MAX_BURST);
        deflate
    }

    /// The third duplicate ACK.
    fn retransmit<S: Scheme>(&mut self, scheme: &mut S, now: Instant, totals: &mut Totals) {
        // RFC 6582 §3.2, step 1: not for the duplicates that repairs of an earlier window cause.
        let anew = self.recover.is_none_or(|recover| self.una > recover) || self.lowered == Lowered::Duplicates;
        if !anew || self.una == self.next {
            return;
        }
        self.inflation = DUPLICATES;
        self.recover = Some(self.next);
        self.start_timer(now);
        self.timed = None;
        self.lowered = Lowered::Duplicates;
        totals.reductions += 1;
        scheme.on_loss(&self.congestion(now, 1));
        self.repair = Some(self.una);
    }

    fn duplicate<S: Scheme>(&mut self, scheme: &mut S, now: Instant, totals: &mut Totals) {
        self.duplicates += 1;
        if self.duplicates < DUPLICATES {
            self.gate = Gate::Extra;
            return;
        }
        self.gate = Gate::Burst(MAX_BURST);
        if self.duplicates == DUPLICATES {
            self.retransmit(scheme, now, totals);
        } else if self.lowered == Lowered::Duplicates {
            self.inflation += 1;
        }
    }
}

impl Rules for Tcp {
    fn new(first: u32, settings: &Settings) -> Tcp {
        Tcp {
            flavour: match settings.stack {
                Stack::NewReno => Flavour::NewReno { first_partial: false },
                _ => Flavour::Reno,
            },
            una: first,
            sent_to: first,
            next: first,
            repair: None,
            gate: Gate::Window,
            syn: (settings.opening == Opening::Syn).then_some(first),
            duplicates: 0,
            inflation: 0,
            lowered: Lowered::Never,
            recover: None,
            rtt: Estimator::new(NS2),
            expires: Instant::NEVER,
            timed: None,
            min_rtt: Duration::MAX,
            delivered: 0,
            data_bytes: f64::from(settings.packet_bytes - settings.header_bytes),
        }
    }

    fn una(&self) -> u32 {
        self.una
    }

    fn next(&self) -> u32 {
        self.next
    }

    fn in_flight(&self) -> u32 {
        self.sent_to.saturating_sub(self.una)
    }

    fn srtt(&self) -> Duration {
        self.rtt.srtt()
    }

    fn latest_rtt(&self) -> Duration {
        self.rtt.latest()
    }

    fn window(&self, window: u32) -> u32 {
        if self.syn.is_some() { 1 } else { window.saturating_add(self.inflation) }
    }

    fn may_send(&self, window: u32, end: u32) -> bool {
        if self.repair.is_some() {
            return true;
        }
        let room = match self.gate {
            Gate::Window => self.window(window),
            Gate::Burst(left) if left > 0 => self.window(window),
            Gate::Extra => window.saturating_add(self.duplicates),
            Gate::Burst(_) | Gate::Shut => 0,
        };
        self.sent_to < end && self.in_flight() < room
    }

    fn resume(&mut self) {
        self.gate = Gate::Window;
    }

    fn send(&mut self, now: Instant) -> u32 {
        let all_acknowledged = self.una == self.next;
        let seq = self.repair.take().unwrap_or_else(|| {
            self.gate = match self.gate {
                Gate::Window => Gate::Window,
                Gate::Burst(left) => Gate::Burst(left.saturating_sub(1)),
                Gate::Extra | Gate::Shut => Gate::Shut,
            };
            self.sent_to += 1;
            self.sent_to - 1
        });
        if seq >= self.next {
            self.next = seq + 1;
            if self.timed.is_none() {
                self.timed = Some(seq);
            }
        }
        if self.expires == Instant::NEVER || all_acknowledged {
            self.start_timer(now);
        }
        seq
    }

    fn expires(&self) -> Instant {
        self.expires
    }

    fn acknowledge<S: Scheme>(&mut self, ack: &Feedback, scheme: &mut S, now: Instant, totals: &mut Totals) {
        let acked = ack.next.saturating_sub(self.una);
        let mut in_recovery = false;
        let mut deflate = 0;
        if acked == 0 {
            self.duplicate(scheme, now, totals);
        } else {
            let covers = self.recover.is_none_or(|recover| ack.next >= recover);
            let goes_on = matches!(self.flavour, Flavour::NewReno { .. });
            in_recovery = goes_on && !covers && self.lowered == Lowered::Duplicates;
            if in_recovery {
                deflate = self.advance_partly(ack, now);
            } else {
                self.advance(ack, now);
            }
            self.delivered += u64::from(acked);
            if self.syn.take().is_some() {
                // The window begins after it.
                return;
            }
        }
        scheme.on_ack(&Ack {
            sent: ack.echo,
            received: now,
            seq: self.una.wrapping_sub(1),
            next_seq: self.next,
            advance: acked,
            acked,
            newly_delivered: acked,
            delivered: self.delivered,
            in_flight: self.in_flight(),
            rtt: now - ack.echo,
            min_rtt: self.min_rtt,
            srtt: self.rtt.srtt(),
            in_recovery,
            window_limited: true,
            xcp_feedback: ack.xcp_feedback_bytes / self.data_bytes,
            ..Ack::default()
        });
        if deflate > 0 {
            scheme.on_partial_ack(deflate);
        }
    }

    fn time_out<S: Scheme>(&mut self, scheme: &mut S, now: Instant, totals: &mut Totals) {
        (self.inflation, self.duplicates) = (0, 0);
        (self.repair, self.gate) = (None, Gate::Window);
        self.recover = Some(self.next);
        self.lowered = Lowered::Timeout;
        let congestion = self.congestion(now, self.next - self.una);
        if self.una == self.next {
            scheme.on_rto(&Congestion { idle: true, ..congestion });
        } else {
            totals.timeouts += 1;
            scheme.on_rto(&congestion);
            self.rtt.back_off();
        }
        self.start_timer(now);
        self.sent_to = self.una;
        self.timed = None;
    }
}
