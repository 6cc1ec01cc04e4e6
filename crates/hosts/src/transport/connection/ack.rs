//! What a connection does at an ACK: it learns what arrived and what was lost, and tells the scheme.

use exmachina_net::time::{Duration, Instant};

use super::Connection;
use super::phase::Heard;
use crate::scheme::{Ack, Scheme};
use crate::transport::Opening;
use crate::transport::receiver::Feedback;
use crate::transport::scoreboard::Arrival;

impl<S: Scheme> Connection<S> {
    /// Deals with an ACK.
    pub(super) fn on_ack(&mut self, feedback: &Feedback, now: Instant) {
        let before = self.in_flight();
        let una = self.board.una;
        let (reordered, originals) = self.survey(feedback);
        let mut delivered = 0;
        // What is acknowledged cumulatively anyway is counted there.
        let plain = || matches!(feedback.arrived[..], [(seq, _)] if seq < feedback.next && self.board.is_plain(seq));
        if !self.detection.goes_back() && !plain() {
            for &(seq, sent) in &feedback.arrived {
                match self.board.arrived(seq, sent, now) {
                    Arrival::Known => {}
                    Arrival::News => delivered += 1,
                    Arrival::Late { behind } => {
                        delivered += 1;
                        self.detection.on_late(behind);
                    }
                }
            }
        }
        let (acked, news) = self.board.acknowledge(feedback.next, now);
        delivered += news;
        let newest = self.board.newest_reported();
        let Some(&(seq, sent)) = feedback.arrived.last() else { return };
        // A duplicate ACK updates no estimate, and ends no backoff, where that is all the sender learns from it (ns-2).
        let sample =
            if acked > 0 || !self.detection.goes_back() { self.measure(feedback, now) } else { Duration::ZERO };
        let rate = self.board.rate_sample(if self.rtt.srtt > Duration::ZERO { self.rtt.min } else { Duration::ZERO });
        self.totals.acks += u64::from(self.rtt.latest > Duration::ZERO);
        self.totals.sampled += self.rtt.latest;
        self.restart_timer(acked, now);
        let (duplicate, echo) = (feedback.duplicate, feedback.echo);
        let heard = Heard { una, acked, delivered, duplicate, echo, reordered, originals, newest };
        let was_repairing = self.phase.is_recovery();
        let lost = self.find_losses(&heard, now);
        self.answer_marks(feedback.marked, now);
        let advance = (seq + 1).saturating_sub(self.largest);
        self.largest += advance;
        let in_recovery = self.phase.is_recovery();
        let ack = Ack {
            sent: self.tick(sent),
            received: self.tick(now),
            tick: self.settings.clock,
            seq,
            next_seq: self.board.next(),
            advance,
            acked,
            newly_delivered: delivered,
            stretch: if self.settings.delayed_ack > Duration::ZERO { delivered } else { 0 },
            delivered: self.board.delivered,
            in_flight: self.in_flight(),
            rtt: sample,
            min_rtt: self.rtt.min,
            srtt: self.rtt.srtt,
            // The ACK that ends a recovery makes up for much that arrived in it: no growth is due to that (RFC 6582 §3.2 step 3;
            // Linux counts what is news in it, one packet or two).
            in_recovery: in_recovery || was_repairing && self.detection.is_by_time(),
            in_loss: self.phase.is_loss(),
            window_limited: self.parts.grows_unused_windows || self.was_limited(before),
            marked: feedback.marked,
            lost,
            rate,
            xcp_feedback: feedback.xcp_feedback_bytes / f64::from(self.settings.packet_bytes),
        };
        if self.settings.opening == Opening::Syn && seq == self.first {
            // The window is the initial one now, whatever it was for the SYN.
        } else if sent >= self.since || !self.scheme.capabilities().forgets {
            self.scheme.on_ack(&ack);
        } else {
            self.scheme.on_stale_ack();
        }
        self.window_limited = false;
        if in_recovery {
            self.reduce(delivered, acked > 0, lost);
        }
        self.schedule_probe(now);
    }

    fn tick(&self, t: Instant) -> Instant {
        t.ticked(self.settings.clock)
    }

    /// In slow start a window counts as used if more than half of it was (`tcp_is_cwnd_limited`), so that it may double each
    /// RTT.
    fn was_limited(&self, in_flight: u32) -> bool {
        let window = self.scheme.window();
        let slow_start = f64::from(window) < self.scheme.ssthresh();
        self.window_limited || in_flight >= window || slow_start && 2 * u64::from(in_flight) > u64::from(window)
    }
}
