//! The retransmission timer of a connection, and the RTT samples that it is set by.

use super::Connection;
use super::recovery::Phase;
use crate::scheme::{Congestion, Scheme};
use crate::transport::receiver::Feedback;
use crate::transport::{Recovery, RtoFloor, RttSamples};
use exmachina_net::time::{NEVER, Time};

impl<S: Scheme> Connection<S> {
    /// What an ACK says of the RTT: the timer learns what its settings let it, of the oldest packet that the ACK answers, so
    /// that the wait of a delayed ACK is in it (RFC 7323 §4.3); the scheme and the smallest RTT learn that of the newest, which
    /// waited least (draft-ietf-ccwg-bbr-06 §5.5.7.1; Linux: `ca_rtt_us`).
    pub(super) fn measure(&mut self, feedback: &Feedback, now: Time) -> Time {
        let rtt = self.ticks(feedback.arrived[0].1, now);
        let newest = self.ticks(feedback.arrived.iter().map(|&(_, sent)| sent).fold(0, Time::max), now);
        match self.settings.rtt_samples {
            RttSamples::Packets => {
                self.sample(rtt);
                self.rtt.min = self.rtt.min.min(newest);
            }
            RttSamples::Echo => self.sample(self.ticks(feedback.echo, now)),
            RttSamples::NewAcks if self.phase == Phase::Recovery && self.board.una < self.recover => {}
            RttSamples::NewAcks => {
                self.take(rtt);
                if self.timed_arrived().is_some() {
                    self.rtt.end_backoff();
                }
            }
            RttSamples::Timed => {
                if let Some(sent) = self.timed_arrived() {
                    self.sample(self.ticks(sent, now));
                }
            }
        }
        newest
    }

    fn sample(&mut self, rtt: Time) {
        self.take(rtt);
        self.rtt.end_backoff();
    }

    fn take(&mut self, rtt: Time) {
        match self.settings.rto_floor {
            RtoFloor::Timeout(_) => self.rtt.sample(rtt),
            RtoFloor::Variation(floor) => self.rtt.sample_as_linux(rtt, floor, self.board.una, self.board.next()),
        }
    }

    /// To the nearest tick, and at least one, as in stacks that count RTTs in ticks.
    fn ticks(&self, sent: Time, now: Time) -> Time {
        let clock = self.settings.clock.max(1);
        ((now - sent + clock / 2) / clock * clock).max(clock)
    }

    /// If the packet that was being timed has arrived, when it was sent.
    fn timed_arrived(&mut self) -> Option<Time> {
        self.timed.take_if(|&mut (seq, _)| seq < self.board.una).map(|(_, sent)| sent)
    }

    pub(super) fn restart_timer(&mut self, acked: u32, now: Time) {
        if acked == 0 {
            return;
        }
        // RFC 6298 §5.2, 5.3.
        let runs = self.board.outstanding() > 0 || self.settings.idle_timer;
        self.rto_at = if runs { now + self.rtt.rto(&self.settings) } else { NEVER };
    }

    /// The retransmission timer expired (RFC 6298 §5.4-5.6, RFC 5681 §3.1).
    pub(super) fn time_out(&mut self, now: Time) {
        let seq = self.board.una;
        self.dup_acks = 0;
        if self.board.outstanding() == 0 {
            self.rto_at = NEVER;
            let congestion = self.congestion(now, seq, 0);
            self.scheme.on_rto(&Congestion { idle: true, ..congestion });
            return;
        }
        self.totals.timeouts += 1;
        let mut congestion = self.congestion(now, seq, 0);
        // Karn's rule (RFC 6298 §3): no sample from a packet that may have been sent twice.
        self.timed = None;
        congestion.lost = match self.settings.recovery {
            Recovery::Rack => self.lose_by_timeout(now),
            _ => self.go_back(),
        };
        self.phase = Phase::Loss;
        self.recover = self.board.next();
        // Nothing else would make room in the window: what is not taken for lost is in flight.
        self.repair_now = self.settings.recovery == Recovery::Rack;
        self.scheme.on_rto(&congestion);
        self.rtt.back_off();
        self.rto_at = now + self.rtt.rto(&self.settings);
    }
}
