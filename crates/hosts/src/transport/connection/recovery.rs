//! How a connection learns of losses, what it sends while it repairs them, and how it answers ECN marks.

use exmachina_net::time::Instant;

use super::Connection;
use super::detection::Detection;
use super::phase::{Heard, Phase};
use super::prr::{Progress, Prr};
use crate::scheme::Scheme;
use crate::transport::scoreboard::Lost;

impl<S: Scheme> Connection<S> {
    /// Finds what is lost after an ACK, and enters and leaves recovery: packets newly declared lost.
    pub(super) fn find_losses(&mut self, ack: &Heard, now: Instant) -> u32 {
        let lost = match &self.detection {
            Detection::GoBackN(_) => self.count_duplicates(ack.acked),
            Detection::Proportional(threshold) => self.board.overtaken(threshold.packets),
            Detection::Rack(_) => self.find_by_rack(ack, now),
        };
        if !self.phase.is_open() && self.board.una >= self.recover {
            let was_loss = self.phase.is_loss();
            self.phase = Phase::Open;
            self.detection.forget_duplicates();
            if let Some(today) = self.detection.rack_mut() {
                today.on_recovered();
            }
            if !was_loss {
                self.scheme.on_recovered(now, None);
            }
        }
        let Some((seq, count)) = lost else { return 0 };
        if self.phase.is_open() && seq >= self.recover {
            self.enter_recovery(seq, count, ack.delivered, now);
        }
        count
    }

    /// The third duplicate ACK shows a loss, which is answered by going back to it (RFC 5681 §3.2, without fast recovery).
    fn count_duplicates(&mut self, acked: u32) -> Lost {
        let Detection::GoBackN(duplicates) = &mut self.detection else { return None };
        if acked > 0 {
            duplicates.seen = 0;
            return None;
        }
        let seq = self.board.una;
        if self.board.outstanding() == 0 {
            return None;
        }
        duplicates.seen += u32::from(!self.phase.is_loss());
        // RFC 6582 §3.2 step 2: not for duplicates that repairs of an earlier window cause.
        let covers = seq > self.recover || seq == self.first;
        let lost = self.phase.is_open() && duplicates.seen == duplicates.threshold && covers;
        lost.then(|| (seq, self.go_back()))
    }

    pub(super) fn enter_recovery(&mut self, seq: u32, lost: u32, delivered: u32, now: Instant) {
        self.phase = if self.detection.goes_back() {
            Phase::Loss
        } else {
            Phase::Recovery(Prr::new(self.board.in_flight + self.board.to_repair + delivered))
        };
        self.recover = self.board.next();
        self.ecn_recover = self.recover;
        self.repair_now = true;
        self.totals.reductions += 1;
        self.begin_episode();
        let congestion = self.congestion(now, seq, lost);
        self.scheme.on_loss(&congestion);
    }

    /// The transport's window in fast recovery, after an ACK in it.
    pub(super) fn reduce(&mut self, delivered: u32, advances: bool, lost: u32) {
        let in_flight = self.in_flight();
        let target = self.scheme.window();
        if let Phase::Recovery(prr) = &mut self.phase {
            prr.on_ack(Progress { delivered, advances, lost, in_flight }, target);
        }
    }

    /// Answers ECN marks once per window (RFC 3168 §6.1.2).
    pub(super) fn answer_marks(&mut self, marked: u32, now: Instant) {
        self.totals.marked += u64::from(marked);
        if marked > 0 && self.phase.is_open() && self.board.una >= self.ecn_recover {
            self.ecn_recover = self.board.next();
            self.totals.reductions += 1;
            let congestion = self.congestion(now, self.board.una, 0);
            self.scheme.on_ecn(&congestion);
        }
    }

    /// All that has not arrived, as far as the sender knows, is to be sent again: how many packets that is.
    pub(super) fn go_back(&mut self) -> u32 {
        self.detection.forget_duplicates();
        self.sampler.forget();
        self.board.declare_all_lost()
    }
}
