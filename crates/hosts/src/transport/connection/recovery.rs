//! How a connection learns of losses, what it sends while it repairs them, and how it answers ECN marks.

use super::Connection;
use super::prr::{Progress, Prr};
use crate::scheme::Scheme;
use crate::transport::Recovery;
use exmachina_net::time::Time;

/// The largest threshold that reordering may lead to (Linux: 127).
const MAX_DUP_THRESHOLD: u32 = 127;

/// What an ACK told, beside what the records of packets hold now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// The oldest packet outstanding before it, and how many from there on it acknowledges.
    pub(super) una: u32,
    pub(super) acked: u32,
    /// Packets that it tells to have arrived.
    pub(super) delivered: u32,
    /// A packet that arrived twice.
    pub(super) duplicate: Option<u32>,
    /// The time stamp that it echoes.
    pub(super) echo: Time,
    /// A packet that was never sent again arrived after one with a higher number.
    pub(super) reordered: bool,
    /// After a timeout: one of the packets outstanding then arrived that was never sent again.
    pub(super) originals: bool,
    /// When the last sent of the packets was sent that it tells of.
    pub(super) newest: Option<Time>,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is known to be missing.
    Open,
    /// Fast recovery (RFC 5681 §3.2, RFC 6675 §5).
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
}

/// Fast recovery's own window, where the scheme leaves that to the transport.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reduction {
    /// It is the scheme's from the first.
    None,
    /// In proportion to what is delivered.
    Proportional(Prr),
}

impl<S: Scheme> Connection<S> {
    /// Duplicate ACKs are all that it learns of losses by, and one is answered by sending all that follows again.
    pub(super) fn goes_back(&self) -> bool {
        self.settings.recovery == Recovery::GoBackN
    }

    /// A packet was late, not lost: waits for more of them before the next is taken for lost.
    pub(super) fn adapt(&mut self, behind: u64) {
        if self.settings.adapts_to_reordering {
            self.dup_threshold = self.dup_threshold.max((behind as u32).saturating_add(1)).min(MAX_DUP_THRESHOLD);
        }
    }

    /// Finds what is lost after an ACK, and enters and leaves recovery: packets newly declared lost.
    pub(super) fn find_losses(&mut self, ack: &Heard, now: Time) -> u32 {
        let lost = match self.settings.recovery {
            Recovery::GoBackN => self.count_duplicates(ack.acked),
            Recovery::Rack => self.find_by_rack(ack, now),
            _ => self.board.overtaken(self.dup_threshold),
        };
        if self.phase != Phase::Open && self.board.una >= self.recover {
            let was_loss = self.phase == Phase::Loss;
            self.phase = Phase::Open;
            self.dup_acks = 0;
            if let Some(rack) = &mut self.rack {
                rack.on_recovered();
            }
            if !was_loss {
                self.scheme.on_recovered(now, None);
            }
        }
        let Some((seq, count)) = lost else { return 0 };
        if self.phase == Phase::Open && seq >= self.recover {
            self.enter_recovery(seq, count, ack.delivered, now);
        }
        count
    }

    /// The third duplicate ACK shows a loss, which is answered by going back to it (RFC 5681 §3.2, without fast recovery).
    fn count_duplicates(&mut self, acked: u32) -> Option<(u32, u32)> {
        if acked > 0 {
            self.dup_acks = 0;
            return None;
        }
        let seq = self.board.una;
        if self.board.outstanding() == 0 {
            return None;
        }
        self.dup_acks += u32::from(self.phase != Phase::Loss);
        // RFC 6582 §3.2 step 1: not for duplicates that repairs of an earlier window cause.
        let covers = seq > self.recover || seq == self.first;
        let lost = self.phase == Phase::Open && self.dup_acks == self.dup_threshold && covers;
        lost.then(|| (seq, self.go_back()))
    }

    pub(super) fn enter_recovery(&mut self, seq: u32, lost: u32, delivered: u32, now: Time) {
        self.phase = if self.goes_back() { Phase::Loss } else { Phase::Recovery };
        self.recover = self.board.next();
        self.ecn_recover = self.recover;
        self.repair_now = true;
        self.reduction = match self.settings.recovery {
            Recovery::GoBackN => Reduction::None,
            _ => Reduction::Proportional(Prr::new(self.board.in_flight + self.board.to_repair + delivered)),
        };
        self.totals.reductions += 1;
        self.begin_episode();
        let congestion = self.congestion(now, seq, lost);
        self.scheme.on_loss(&congestion);
    }

    /// The transport's window in fast recovery, after an ACK in it.
    pub(super) fn reduce(&mut self, delivered: u32, advances: bool, lost: u32) {
        let in_flight = self.in_flight();
        let target = self.scheme.window();
        match &mut self.reduction {
            Reduction::None => {}
            Reduction::Proportional(prr) => prr.on_ack(Progress { delivered, advances, lost, in_flight }, target),
        }
    }

    /// Answers ECN marks once per window (RFC 3168 §6.1.2).
    pub(super) fn answer_marks(&mut self, marked: u32, now: Time) {
        self.totals.marked += u64::from(marked);
        if marked > 0 && self.phase == Phase::Open && self.board.una >= self.ecn_recover {
            self.ecn_recover = self.board.next();
            self.totals.reductions += 1;
            let congestion = self.congestion(now, self.board.una, 0);
            self.scheme.on_ecn(&congestion);
        }
    }

    /// All that has not arrived, as far as the sender knows, is to be sent again: how many packets that is.
    pub(super) fn go_back(&mut self) -> u32 {
        self.dup_acks = 0;
        // Karn's rule (RFC 6298 §3): no sample from a packet that may have been sent twice.
        self.timed = None;
        self.board.declare_all_lost()
    }
}
