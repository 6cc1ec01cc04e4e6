//! TCP/Linux of ns-2 (Wei and Cao 2006), under the modules of Linux 2.6.22: whose window grows and when, what is taken for
//! lost, and what may go while that is repaired.

use exmachina_net::endpoint::Totals;
use exmachina_net::time::{Duration, Instant};

use super::Rules;
use super::board::Board;
use super::estimator::{Estimator, LINUX};
use crate::scheme::{Ack, Congestion, Scheme};
use crate::transport::Settings;
use crate::transport::receiver::Feedback;

/// Packets that may follow at once what is in flight when recovery ends (`tcp_moderate_cwnd`).
const MAX_BURST: u32 = 3;

/// What is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing.
    Open,
    /// What the scoreboard found lost. Beside the window, so many packets may be in flight: those that were, less one for
    /// every two ACKs.
    Recovery { flight: u32 },
    /// What was outstanding at a timeout.
    Loss,
}

/// TCP/Linux.
#[derive(Clone, Debug)]
pub struct Linux {
    board: Board,
    rtt: Estimator,
    /// The least sample of the RTT, exact.
    min_rtt: Duration,
    expires: Instant,
    state: State,
    /// It is repaired when all packets before this one are acknowledged.
    recover: u32,
    /// A mark on a packet before this one has been answered.
    marks_answered: u32,
    delivered: u64,
}

impl Linux {
    fn congestion(&self, now: Instant, lost: u32) -> Congestion {
        Congestion {
            now,
            in_flight: self.board.in_flight(),
            outstanding: self.board.outstanding(),
            next_seq: self.board.next(),
            seq: self.board.una(),
            lost,
            idle: false,
        }
    }

    /// Enters recovery where the scoreboard finds a loss anew, after a timeout too, and leaves it, or the state after a
    /// timeout, when all that was outstanding then is acknowledged.
    fn change_state<S: Scheme>(&mut self, lost: u32, scheme: &mut S, now: Instant, totals: &mut Totals) {
        if self.state != State::Open && self.board.una() >= self.recover {
            self.state = State::Open;
            self.board.forget_repairs();
            let in_flight = self.board.in_flight();
            // Where nothing is in flight, nothing may be: such a sender is mute until its timer expires.
            scheme.on_recovered(now, Some(if in_flight == 0 { 0 } else { in_flight + MAX_BURST }));
        }
        if lost > 0 && !matches!(self.state, State::Recovery { .. }) {
            self.state = State::Recovery { flight: scheme.window() };
            self.recover = self.board.next();
            totals.reductions += 1;
            scheme.on_loss(&self.congestion(now, lost));
        }
        if let State::Recovery { flight } = &mut self.state {
            *flight = (*flight).min(self.board.in_flight() + 1);
        }
    }
}

impl Rules for Linux {
    fn new(first: u32, _settings: &Settings) -> Linux {
        Linux {
            board: Board::new(first),
            rtt: Estimator::new(LINUX),
            min_rtt: Duration::MAX,
            expires: Instant::NEVER,
            state: State::Open,
            recover: first,
            marks_answered: first,
            delivered: 0,
        }
    }

    fn una(&self) -> u32 {
        self.board.una()
    }

    fn next(&self) -> u32 {
        self.board.next()
    }

    fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    fn srtt(&self) -> Duration {
        self.rtt.srtt()
    }

    fn latest_rtt(&self) -> Duration {
        self.rtt.latest()
    }

    fn window(&self, window: u32) -> u32 {
        if let State::Recovery { flight } = self.state { window.max(flight) } else { window }
    }

    fn may_send(&self, window: u32, end: u32) -> bool {
        self.board.in_flight() < self.window(window) && (self.board.lost() > 0 || self.board.next() < end)
    }

    fn send(&mut self, now: Instant) -> u32 {
        // What is sent after all was acknowledged starts the timer anew.
        if self.board.outstanding() == 0 || self.expires == Instant::NEVER {
            self.expires = self.rtt.expiry(now);
        }
        let seq = self.board.send(now);
        if let State::Recovery { flight } = &mut self.state {
            *flight = (*flight).min(self.board.in_flight() - 1);
        }
        seq
    }

    fn expires(&self) -> Instant {
        self.expires
    }

    fn acknowledge<S: Scheme>(&mut self, ack: &Feedback, scheme: &mut S, now: Instant, totals: &mut Totals) {
        let before = self.board.in_flight();
        for &(seq, _) in ack.arrived.iter().filter(|&&(seq, _)| seq >= ack.next) {
            self.board.arrived(seq);
        }
        let covered = self.board.acknowledge(ack.next);
        // Every ACK: a sample by the time stamp that it echoes, the end of backoff, and the timer anew.
        self.rtt.sample(now - ack.echo);
        self.min_rtt = self.min_rtt.min(now - ack.echo);
        self.rtt.end_backoff();
        self.expires = self.rtt.expiry(now);
        self.delivered += u64::from(covered.packets);
        if ack.marked > 0 {
            totals.marked += u64::from(ack.marked);
            if self.state == State::Open && self.board.una() >= self.marks_answered {
                self.marks_answered = self.board.next();
                totals.reductions += 1;
                scheme.on_ecn(&self.congestion(now, 0));
            }
        }
        scheme.on_ack(&Ack {
            sent: ack.echo,
            received: now,
            seq: self.board.una().wrapping_sub(1),
            next_seq: self.board.next(),
            advance: covered.packets,
            acked: covered.packets,
            newly_delivered: covered.packets,
            delivered: self.delivered,
            in_flight: self.board.in_flight(),
            rtt: covered.sent.map_or(Duration::ZERO, |sent| now - sent),
            min_rtt: self.min_rtt,
            srtt: self.rtt.srtt(),
            in_recovery: matches!(self.state, State::Recovery { .. }),
            in_loss: self.state == State::Loss,
            // A window grows only if it was full.
            window_limited: before >= scheme.window(),
            marked: ack.marked,
            ..Ack::default()
        });
        let lost = self.board.find_losses();
        self.change_state(lost, scheme, now, totals);
    }

    fn time_out<S: Scheme>(&mut self, scheme: &mut S, now: Instant, totals: &mut Totals) {
        if self.board.outstanding() == 0 {
            // The window alone is reset, time and again.
            scheme.on_rto(&Congestion { idle: true, ..self.congestion(now, 0) });
        } else {
            totals.timeouts += 1;
            scheme.on_rto(&self.congestion(now, self.board.outstanding()));
            self.board.lose_all();
            self.state = State::Loss;
            self.recover = self.board.next();
            self.rtt.back_off();
        }
        self.expires = self.rtt.expiry(now);
    }
}
