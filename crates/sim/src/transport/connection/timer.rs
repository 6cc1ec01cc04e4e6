//! The retransmission timer of a connection, and the RTT samples that it is set by.

use super::Connection;
use super::recovery::Phase;
use crate::scheme::{Congestion, Scheme};
use crate::time::{NEVER, Time};
use crate::transport::receiver::Feedback;

impl<S: Scheme> Connection<S> {
    /// The RTT of the oldest packet that the ACK covers: one that was delayed includes the delay, as real ones do (RFC 7323
    /// §4.3). The timer learns of each, or only of the one that is being timed.
    pub(super) fn measure(&mut self, feedback: &Feedback, now: Time) -> Time {
        let sent = feedback.arrived[0].1;
        let clock = self.settings.clock.max(1);
        // To the nearest tick.
        let rtt = ((now - sent + clock / 2) / clock * clock).max(1);
        if self.settings.times_every_packet {
            self.rtt.sample(rtt);
        } else if let Some((_, sent)) = self.timed.filter(|&(seq, _)| seq < self.board.una) {
            self.timed = None;
            self.rtt.sample(((now - sent + clock / 2) / clock * clock).max(1));
        }
        rtt
    }

    pub(super) fn restart_timer(&mut self, acked: u32, now: Time) {
        if acked == 0 {
            return;
        }
        if self.phase == Phase::Recovery && !self.is_sack() && self.board.una < self.recover {
            self.partial_acks += 1;
        }
        if self.is_impatient() {
            return;
        }
        // RFC 6298 §5.2, 5.3.
        let runs = self.board.outstanding() > 0 || self.settings.idle_timer;
        self.rto_at = if runs { now + self.rtt.rto(&self.settings) } else { NEVER };
    }

    /// RFC 6582 §4: one repair per RTT is too slow for many losses, so only the first ACK of a part of the window starts
    /// the timer anew (ns-2's default too).
    pub(super) fn is_impatient(&self) -> bool {
        self.phase == Phase::Recovery && self.partial_acks > 1
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
        congestion.lost = if self.is_fack() { u32::from(self.board.declare_lost(seq)) } else { self.go_back() };
        self.phase = Phase::Loss;
        self.recover = self.board.next();
        // Nothing else would make room in the window.
        self.repair_now = self.is_fack();
        self.scheme.on_rto(&congestion);
        self.rtt.back_off();
        self.rto_at = now + self.rtt.rto(&self.settings);
    }
}
