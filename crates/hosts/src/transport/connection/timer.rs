//! The retransmission timer of a connection, and the RTT samples that it is set by.

use exmachina_net::time::{Duration, Instant};

use super::Connection;
use super::phase::Phase;
use crate::scheme::{Congestion, Scheme};
use crate::transport::receiver::Feedback;
use crate::transport::{RtoFloor, RttSamples};

/// What sets the timer, with the packet whose RTT is being measured and when it was sent, where not every packet's is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sampler {
    /// As [`RttSamples::Packets`].
    Packets,
    /// As [`RttSamples::Echo`].
    Echo,
    /// As [`RttSamples::NewAcks`].
    NewAcks(Option<(u32, Instant)>),
    /// As [`RttSamples::Timed`].
    Timed(Option<(u32, Instant)>),
}

impl Sampler {
    /// That of a connection that begins.
    pub(super) fn new(samples: RttSamples) -> Sampler {
        match samples {
            RttSamples::Packets => Sampler::Packets,
            RttSamples::Echo => Sampler::Echo,
            RttSamples::NewAcks => Sampler::NewAcks(None),
            RttSamples::Timed => Sampler::Timed(None),
        }
    }

    /// A new packet is sent, and timed if no other is.
    #[inline]
    pub(super) fn on_send(&mut self, seq: u32, now: Instant) {
        if let Sampler::NewAcks(timed) | Sampler::Timed(timed) = self {
            timed.get_or_insert((seq, now));
        }
    }

    /// If the packet that was being timed has arrived, when it was sent.
    fn arrived(&mut self, una: u32) -> Option<Instant> {
        let (Sampler::NewAcks(timed) | Sampler::Timed(timed)) = self else { return None };
        timed.take_if(|&mut (seq, _)| seq < una).map(|(_, sent)| sent)
    }

    /// Karn's rule (RFC 6298 §3): no sample from a packet that may have been sent twice.
    pub(super) fn forget(&mut self) {
        if let Sampler::NewAcks(timed) | Sampler::Timed(timed) = self {
            *timed = None;
        }
    }
}

impl<S: Scheme> Connection<S> {
    /// The retransmission timeout, backoff included.
    #[inline]
    pub(super) fn rto(&self) -> Duration {
        self.rtt.rto(&self.parts.timer)
    }

    /// What an ACK says of the RTT: the timer learns what its settings let it, of the oldest packet that the ACK answers, so
    /// that the wait of a delayed ACK is in it (RFC 7323 §4.3); the scheme and the smallest RTT learn that of the newest, which
    /// waited least (draft-ietf-ccwg-bbr-06 §5.5.7.1; Linux: `ca_rtt_us`).
    pub(super) fn measure(&mut self, feedback: &Feedback, now: Instant) -> Duration {
        let rtt = self.ticks(feedback.arrived[0].1, now);
        let newest = self.ticks(feedback.arrived.iter().map(|&(_, sent)| sent).fold(Instant::START, Instant::max), now);
        match self.sampler {
            Sampler::Packets => {
                self.sample(rtt);
                self.rtt.min = self.rtt.min.min(newest);
            }
            Sampler::Echo => self.sample(self.ticks(feedback.echo, now)),
            Sampler::NewAcks(_) if self.phase.is_recovery() && self.board.una < self.recover => {}
            Sampler::NewAcks(_) => {
                self.take(rtt);
                if self.sampler.arrived(self.board.una).is_some() {
                    self.rtt.end_backoff();
                }
            }
            Sampler::Timed(_) => {
                if let Some(sent) = self.sampler.arrived(self.board.una) {
                    self.sample(self.ticks(sent, now));
                }
            }
        }
        newest
    }

    fn sample(&mut self, rtt: Duration) {
        self.take(rtt);
        self.rtt.end_backoff();
    }

    fn take(&mut self, rtt: Duration) {
        match self.parts.timer.floor {
            RtoFloor::Timeout(_) => self.rtt.sample(rtt),
            RtoFloor::Variation(floor) => self.rtt.sample_as_linux(rtt, floor, self.board.una, self.board.next()),
        }
    }

    /// To the nearest tick, and at least one, as in stacks that count RTTs in ticks.
    fn ticks(&self, sent: Instant, now: Instant) -> Duration {
        let clock = self.settings.clock.max(Duration::NANOSECOND);
        ((now - sent + clock / 2) / clock * clock).max(clock)
    }

    pub(super) fn restart_timer(&mut self, acked: u32, now: Instant) {
        if acked == 0 {
            return;
        }
        // RFC 6298 §5, "Managing the RTO Timer": it is off once all is acknowledged (5.2), and starts anew when an ACK is for
        // new data (5.3).
        let runs = self.board.outstanding() > 0 || self.parts.timer.runs_when_idle;
        self.rto_at = if runs { now + self.rto() } else { Instant::NEVER };
    }

    /// The retransmission timer expired. RFC 6298 §5.4 to 5.6: the oldest packet goes again, the timeout is doubled, and the
    /// timer starts anew. What becomes of the window (RFC 5681 §3.1) is the scheme's.
    pub(super) fn time_out(&mut self, now: Instant) {
        let seq = self.board.una;
        self.detection.forget_duplicates();
        if self.board.outstanding() == 0 {
            self.rto_at = Instant::NEVER;
            let congestion = self.congestion(now, seq, 0);
            self.scheme.on_rto(&Congestion { idle: true, ..congestion });
            return;
        }
        self.totals.timeouts += 1;
        let mut congestion = self.congestion(now, seq, 0);
        self.sampler.forget();
        let by_time = self.detection.is_by_time();
        congestion.lost = if by_time { self.lose_by_timeout(now) } else { self.go_back() };
        self.phase = Phase::Loss;
        self.recover = self.board.next();
        // Nothing else would make room in the window: what is not taken for lost is in flight.
        self.repair_now = by_time;
        self.scheme.on_rto(&congestion);
        self.rtt.back_off();
        self.rto_at = now + self.rto();
    }
}
