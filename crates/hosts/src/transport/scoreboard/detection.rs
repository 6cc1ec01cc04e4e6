//! What is taken for lost: by order of transmission, or at a timeout.

use super::{Scoreboard, State};

/// The first of the packets taken for lost, and how many they are.
pub type Lost = Option<(u32, u32)>;

pub(super) fn and(found: Lost, seq: u32) -> Lost {
    Some(found.map_or((seq, 1), |(first, n)| (first.min(seq), n + 1)))
}

impl Scoreboard {
    /// Declares lost what was sent `threshold` transmissions or more before one that arrived: RFC 9002 §6.1.1's packet
    /// threshold, which counts by order of transmission (as FACK did by number), and not RFC 6675's count of packets
    /// SACKed above. Repairs that are lost again are found too. The first of them and how many.
    pub fn overtaken(&mut self, threshold: u32) -> Lost {
        let mut found = None;
        while let Some(&(transmission, seq)) = self.order.front() {
            if transmission + u64::from(threshold) >= self.newest_arrived {
                break;
            }
            self.order.pop_front();
            let Some(packet) = seq.checked_sub(self.una).and_then(|i| self.sent.get_mut(i as usize)) else { continue };
            if packet.transmission == transmission && packet.state == State::InFlight {
                self.declare_lost(seq);
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
        let lost = (self.una..self.next()).filter(|&seq| self.declare_lost(seq)).count();
        lost as u32
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::Instant;

    use super::super::tests::board as sent;

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut board = sent(1000, true);
        board.acknowledge(1000, Instant::from_nanos(2000));
        assert_eq!((board.order.len(), board.overtaken(3)), (100, None));
    }
}
