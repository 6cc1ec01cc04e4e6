//! What is taken for lost by the time of its transmission (RACK, RFC 8985 §6.2 step 5 and §6.3), and what is not, after all.

use exmachina_net::time::{Duration, Instant};

use super::detection::{Lost, and};
use super::{Scoreboard, State};

impl Scoreboard {
    /// Declares lost what was sent `patience` ago or longer, before the latest transmission that arrived: the first and how
    /// many, and until when the rest is waited for that was sent before it.
    pub fn overdue(&mut self, patience: Duration, now: Instant) -> (Lost, Option<Instant>) {
        let mut found = None;
        // Every transmission before the latest that arrived, oldest first.
        while let Some(&(transmission, seq)) = self.order.front() {
            if transmission + 1 >= self.newest_arrived {
                return (found, None);
            }
            if let Some(sent) = self.awaited(transmission, seq) {
                if sent + patience > now {
                    return (found, self.last_awaited().map(|sent| sent + patience));
                }
                self.declare_lost(seq);
                found = and(found, seq);
            }
            self.order.pop_front();
        }
        (found, None)
    }

    /// Whether a transmission was made before the latest that arrived and not looked at since.
    #[inline]
    #[must_use]
    pub fn is_overtaken(&self) -> bool {
        self.order.front().is_some_and(|&(transmission, _)| transmission + 1 < self.newest_arrived)
    }

    /// When this transmission was made, if it is the packet's last and nothing was heard of it.
    fn awaited(&self, transmission: u64, seq: u32) -> Option<Instant> {
        let packet = seq.checked_sub(self.una).and_then(|i| self.sent.get(i as usize))?;
        (packet.transmission == transmission && packet.state == State::InFlight).then_some(packet.at)
    }

    /// When the latest of the overtaken transmissions was made that nothing was heard of. RFC 8985 sets the timer for
    /// that one, so that it expires but once for all of them.
    fn last_awaited(&self) -> Option<Instant> {
        let overtaken = self.order.partition_point(|&(transmission, _)| transmission + 1 < self.newest_arrived);
        self.order.range(..overtaken).rev().find_map(|&(transmission, seq)| self.awaited(transmission, seq))
    }

    /// A timeout (§6.3): declares lost the oldest packet, and all that were sent `patience` ago or longer: how many that is.
    pub fn declare_old_lost(&mut self, patience: Duration, now: Instant) -> u32 {
        let old = |board: &Scoreboard, seq: u32| {
            seq == board.una || board.sent[(seq - board.una) as usize].at.saturating_add(patience) <= now
        };
        (self.una..self.next()).filter(|&seq| old(self, seq) && self.declare_lost(seq)).count() as u32
    }

    /// What was taken for lost and not sent again is in flight after all.
    pub fn unmark_lost(&mut self) {
        for packet in self.sent.iter_mut().filter(|packet| packet.state == State::Lost) {
            packet.state = State::InFlight;
            self.in_flight += 1;
        }
        // Their transmissions left the order when they were declared lost.
        self.order = (self.una..).zip(&self.sent).map(|(seq, packet)| (packet.transmission, seq)).collect();
        self.order.make_contiguous().sort_unstable();
        self.to_repair = 0;
    }

    /// Packets that arrived beyond a gap and are not acknowledged yet.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        self.outstanding() - self.in_flight - self.to_repair
    }

    /// Whether a packet is outstanding that was sent but once, and is not known to have arrived.
    #[must_use]
    pub fn is_original(&self, seq: u32) -> bool {
        let packet = seq.checked_sub(self.una).and_then(|i| self.sent.get(i as usize));
        packet.is_some_and(|packet| !packet.again && packet.state != State::Arrived)
    }

    /// Whether the arrival of this packet, not sent again, comes after that of one with a higher number.
    #[must_use]
    pub fn is_reordered(&self, seq: u32) -> bool {
        seq + 1 < self.highest_arrived && self.is_original(seq)
    }

    /// Whether packets that were sent again are on their way.
    #[must_use]
    pub fn has_repairs_in_flight(&self) -> bool {
        self.sent.iter().any(|packet| packet.again && packet.state == State::InFlight)
    }

    /// When the latest transmission was made of those that the present ACK reports.
    #[must_use]
    pub fn newest_reported(&self) -> Option<Instant> {
        self.newest.map(|packet| packet.at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::board;
    use crate::testing::{at, ns};

    #[test]
    fn packets_are_lost_a_patience_after_they_were_sent() {
        // 100 to 109 sent at 0 to 9; 105 arrives.
        let mut board = board(10, true);
        assert_eq!(board.overdue(ns(50), at(1000)), (None, None), "nothing was overtaken");
        board.arrived(105, at(5), at(50));
        assert_eq!(
            board.overdue(ns(50), at(50)),
            (Some((100, 1)), Some(at(54))),
            "until the last before it, 104, is due"
        );
        assert_eq!(board.overdue(ns(50), at(54)), (Some((101, 4)), None));
        assert_eq!((board.to_repair, board.in_flight, board.sacked()), (5, 4, 1));
        // A repair is waited for once something sent after it has arrived.
        assert_eq!(board.send_again(at(60)), 100);
        board.send_new(at(61));
        board.arrived(109, at(9), at(70));
        assert_eq!(board.overdue(ns(50), at(70)), (Some((106, 3)), None));
        board.arrived(110, at(61), at(112));
        assert_eq!(board.overdue(ns(60), at(112)), (None, Some(at(120))));
        assert_eq!(board.overdue(ns(60), at(120)), (Some((100, 1)), None));
    }

    #[test]
    fn a_timeout_spares_what_was_just_sent_but_for_the_oldest() {
        let mut board = board(10, true);
        assert_eq!(board.declare_old_lost(ns(50), at(54)), 5);
        let mut board = super::super::tests::board(10, true);
        assert_eq!((board.declare_old_lost(ns(50), at(10)), board.to_repair), (1, 1));
    }

    #[test]
    fn what_was_late_is_in_flight_again_and_can_be_lost_again() {
        let mut board = board(5, true);
        board.arrived(104, at(4), at(50));
        assert_eq!(board.overdue(ns(40), at(50)).0, Some((100, 4)));
        assert_eq!(board.send_again(at(51)), 100);
        board.unmark_lost();
        assert_eq!((board.in_flight, board.to_repair), (4, 0));
        assert!(board.has_repairs_in_flight() && board.is_original(101) && !board.is_original(100));
        assert!(board.is_reordered(101) && !board.is_reordered(104));
        assert_eq!(board.overdue(ns(60), at(62)), (Some((101, 2)), Some(at(63))));
    }
}
