//! What is taken for lost: by order of transmission, by number as Linux did when the papers were written, or at a timeout.

use super::{Scoreboard, State};

/// The first of the packets taken for lost, and how many they are.
pub type Lost = Option<(u32, u32)>;

pub(super) fn and(found: Lost, seq: u32) -> Lost {
    Some(found.map_or((seq, 1), |(first, n)| (first.min(seq), n + 1)))
}

impl Scoreboard {
    /// Declares lost what was sent `threshold` transmissions or more before one that arrived: RFC 9002 §6.1.1's packet
    /// threshold, which counts by order of transmission (as FACK did by number), and not RFC 6675's count of packets
    /// SACKed above. Repairs that are lost again are found too, if that is wanted. The first of them and how many.
    pub fn overtaken(&mut self, threshold: u32, repairs: bool) -> Lost {
        let mut found = None;
        while let Some(&(transmission, seq)) = self.order.front() {
            if transmission + u64::from(threshold) >= self.newest_arrived {
                break;
            }
            self.order.pop_front();
            let Some(packet) = seq.checked_sub(self.una).and_then(|i| self.sent.get_mut(i as usize)) else { continue };
            let counts = packet.transmission == transmission && (repairs || !packet.again);
            if counts && packet.state == State::InFlight {
                self.declare_lost(seq);
                found = and(found, seq);
            }
        }
        found
    }

    /// Declares lost what has not arrived though a number higher by more than `threshold - 1` has (FACK, as in Linux before
    /// RACK), and, if `repairs` are looked at, those of them that were sent before a new packet that has arrived
    /// (`tcp_mark_lost_retrans`): the first of them and how many.
    pub fn passed(&mut self, threshold: u32, repairs: bool) -> Lost {
        let mut found = None;
        self.passed = self.passed.max(self.una);
        while self.passed + threshold < self.highest_arrived {
            let seq = self.passed;
            self.passed += 1;
            if !self.sent[(seq - self.una) as usize].again && self.declare_lost(seq) {
                found = and(found, seq);
            }
        }
        while repairs && self.repairs.front().is_some_and(|&(next, ..)| next < self.highest_arrived) {
            let Some((_, seq, transmission)) = self.repairs.pop_front() else { break };
            let i = seq.checked_sub(self.una).map(|i| i as usize);
            let latest = i.and_then(|i| self.sent.get(i)).is_some_and(|packet| packet.transmission == transmission);
            if latest && self.declare_lost(seq) {
                found = and(found, seq);
            }
        }
        found
    }

    /// Declares one packet lost, if it is in flight.
    pub fn declare_lost(&mut self, seq: u32) -> bool {
        let Some(packet) = seq.checked_sub(self.una).and_then(|i| self.sent.get_mut(i as usize)) else { return false };
        if packet.state != State::InFlight {
            return false;
        }
        packet.state = State::Lost;
        self.in_flight -= 1;
        self.to_repair += 1;
        self.lost += 1;
        self.repair_from = self.repair_from.min(seq);
        true
    }

    /// Declares lost all that has not arrived (a timeout): how many that is.
    pub fn declare_all_lost(&mut self) -> u32 {
        self.order.clear();
        self.repairs.clear();
        let lost = (self.una..self.next()).filter(|&seq| self.declare_lost(seq)).count();
        lost as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::board as sent;
    use super::*;
    use crate::time::Time;

    fn arrive(board: &mut Scoreboard, seq: u32, sent: Time) {
        board.arrived(seq, sent, 1000);
    }

    #[test]
    fn a_number_three_higher_makes_a_packet_lost() {
        let mut board = sent(10, false);
        arrive(&mut board, 102, 2);
        assert_eq!(board.passed(3, true), None);
        arrive(&mut board, 104, 4);
        assert_eq!(board.passed(3, true), Some((100, 2)), "100 and 101; 103 is one below 104");
        assert_eq!((board.in_flight, board.to_repair), (6, 2));
        // What is sent later with lower numbers does not make the last packets lost, as it would by order of transmission.
        assert_eq!((board.send_again(20), board.send_again(20)), (100, 101));
        (105..109).for_each(|seq| arrive(&mut board, seq, Time::from(seq - 100)));
        assert_eq!(board.passed(3, true), Some((103, 1)));
        arrive(&mut board, 100, 20);
        arrive(&mut board, 101, 20);
        assert_eq!((board.passed(3, true), board.in_flight), (None, 1), "109");
    }

    #[test]
    fn a_repair_is_lost_when_what_was_sent_new_after_it_has_arrived() {
        let mut board = sent(4, false);
        arrive(&mut board, 103, 3);
        assert_eq!((board.passed(3, true), board.send_again(20)), (Some((100, 1)), 100));
        (101..103).for_each(|seq| arrive(&mut board, seq, Time::from(seq - 100)));
        assert_eq!(board.passed(3, true), None);
        assert_eq!(board.send_new(21), 104);
        arrive(&mut board, 104, 21);
        assert_eq!(board.passed(3, false), None, "where repairs are not looked at");
        assert_eq!((board.passed(3, true), board.lost), (Some((100, 1)), 2));
    }

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut board = sent(1000, true);
        board.acknowledge(1000, 2000);
        assert_eq!((board.order.len(), board.overtaken(3, true)), (100, None));
        let mut board = sent(1000, false);
        assert!(board.declare_lost(100) && board.declare_lost(1099));
        (0..2).for_each(|_| _ = board.send_again(1500));
        board.acknowledge(1000, 2000);
        assert_eq!((board.order.len(), board.repairs.len(), board.passed(3, true)), (0, 1, None));
    }
}
