//! TCP/Linux's scoreboard: what SACK and timeouts say of each packet (`scoreboard1` of the authors' tree).

use std::collections::VecDeque;

use exmachina_net::time::Instant;

/// A packet is lost if one more than so many numbers higher has arrived.
const REORDERING: u32 = 3;

/// Where a packet is, as far as the sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent once, and not heard of.
    Sent,
    /// Arrived beyond a gap.
    Arrived,
    /// To be sent again.
    Lost,
    /// Sent again, as the `order`-th repair of the connection, when `next` was the next new packet.
    Repaired { order: u64, next: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    state: State,
    /// When it was sent last.
    at: Instant,
    again: bool,
}

/// What a cumulative ACK covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Packets.
    pub packets: u32,
    /// When the last of them was sent, unless one of them was sent twice.
    pub sent: Option<Instant>,
}

/// All packets from the oldest that is not acknowledged to the newest that was sent.
#[derive(Clone, Debug)]
pub struct Board {
    una: u32,
    slots: VecDeque<Slot>,
    in_flight: u32,
    lost: u32,
    /// No packet before this one is lost.
    repair_from: u32,
    /// One more than the highest number known to have arrived.
    highest: u32,
    /// Packets before this one have been looked at for loss by number.
    passed: u32,
    repairs: u64,
    /// One more than the latest repair known to have arrived beyond a gap.
    newest_repair: u64,
    /// Repairs under way, in order.
    under_way: VecDeque<(u64, u32)>,
}

impl Board {
    pub fn new(first: u32) -> Board {
        Board {
            una: first,
            slots: VecDeque::new(),
            in_flight: 0,
            lost: 0,
            repair_from: first,
            highest: first,
            passed: first,
            repairs: 0,
            newest_repair: 0,
            under_way: VecDeque::new(),
        }
    }

    pub fn una(&self) -> u32 {
        self.una
    }

    /// The next new packet.
    pub fn next(&self) -> u32 {
        self.una + self.slots.len() as u32
    }

    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Packets that are to be sent again.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    pub fn outstanding(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Sends the oldest lost packet again, or else a new one: its number.
    pub fn send(&mut self, now: Instant) -> u32 {
        self.in_flight += 1;
        if self.lost == 0 {
            self.slots.push_back(Slot { state: State::Sent, at: now, again: false });
            return self.next() - 1;
        }
        let next = self.next();
        let mut i = self.repair_from.saturating_sub(self.una) as usize;
        while self.slots[i].state != State::Lost {
            i += 1;
        }
        let seq = self.una + i as u32;
        self.slots[i] = Slot { state: State::Repaired { order: self.repairs, next }, at: now, again: true };
        self.under_way.push_back((self.repairs, seq));
        self.repairs += 1;
        self.lost -= 1;
        self.repair_from = seq + 1;
        seq
    }

    /// A packet arrived beyond a gap.
    pub fn arrived(&mut self, seq: u32) {
        let Some(slot) = seq.checked_sub(self.una).and_then(|i| self.slots.get_mut(i as usize)) else { return };
        if let State::Repaired { order, .. } = slot.state {
            self.newest_repair = self.newest_repair.max(order + 1);
        }
        match std::mem::replace(&mut slot.state, State::Arrived) {
            State::Sent | State::Repaired { .. } => self.in_flight -= 1,
            State::Lost => self.lost -= 1,
            State::Arrived => {}
        }
        self.highest = self.highest.max(seq + 1);
    }

    /// All packets before `next` are acknowledged.
    pub fn acknowledge(&mut self, next: u32) -> Covered {
        let packets = next.saturating_sub(self.una).min(self.outstanding());
        let mut covered = Covered { packets, sent: None };
        let mut again = false;
        for _ in 0..packets {
            let Some(slot) = self.slots.pop_front() else { break };
            match slot.state {
                State::Sent | State::Repaired { .. } => self.in_flight -= 1,
                State::Lost => self.lost -= 1,
                State::Arrived => {}
            }
            again |= slot.again;
            covered.sent = Some(slot.at);
        }
        self.una += packets;
        self.highest = self.highest.max(self.una);
        while self.under_way.front().is_some_and(|&(_, seq)| seq < self.una) {
            self.under_way.pop_front();
        }
        Covered { sent: covered.sent.filter(|_| !again), ..covered }
    }

    /// Finds what is lost: packets whose number is lower by more than three than one that arrived, and repairs that a repair
    /// sent four or more later has overtaken, or a packet first sent after them. How many.
    pub fn find_losses(&mut self) -> u32 {
        let before = self.lost;
        self.passed = self.passed.max(self.una);
        while self.passed + REORDERING + 1 < self.highest {
            let slot = (self.passed - self.una) as usize;
            if self.slots[slot].state == State::Sent {
                self.lose(self.passed);
            }
            self.passed += 1;
        }
        while let Some(&(order, seq)) = self.under_way.front() {
            let slot = seq.checked_sub(self.una).and_then(|i| self.slots.get(i as usize));
            if let Some(State::Repaired { order: latest, next }) = slot.map(|slot| slot.state)
                && latest == order
            {
                if order + u64::from(REORDERING) + 2 > self.newest_repair && next >= self.highest {
                    break;
                }
                self.lose(seq);
            }
            self.under_way.pop_front();
        }
        self.lost - before
    }

    fn lose(&mut self, seq: u32) {
        self.slots[(seq - self.una) as usize].state = State::Lost;
        self.in_flight -= 1;
        self.lost += 1;
        self.repair_from = self.repair_from.min(seq);
    }

    /// Recovery ends: that packets beyond it were sent again is forgotten, and they are taken for lost once more when the next
    /// ACK shows that they are missing.
    pub fn forget_repairs(&mut self) {
        for slot in &mut self.slots {
            if let State::Repaired { .. } = slot.state {
                slot.state = State::Sent;
            }
        }
        self.passed = self.una;
        self.under_way.clear();
    }

    /// A timeout: all that has not arrived is to be sent again.
    pub fn lose_all(&mut self) {
        for slot in &mut self.slots {
            if slot.state != State::Arrived {
                slot.state = State::Lost;
            }
        }
        self.lost = self.slots.iter().filter(|slot| slot.state == State::Lost).count() as u32;
        self.in_flight = 0;
        self.repair_from = self.una;
        self.passed = self.next();
        self.under_way.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn board(packets: u32) -> Board {
        let mut board = Board::new(100);
        (0..packets).for_each(|i| assert_eq!(board.send(at(i.into())), 100 + i));
        board
    }

    #[test]
    fn a_number_more_than_three_higher_makes_a_packet_lost() {
        let mut board = board(10);
        board.arrived(103);
        assert_eq!((board.find_losses(), board.in_flight()), (0, 9));
        board.arrived(105);
        assert_eq!((board.find_losses(), board.in_flight(), board.lost()), (2, 6, 2), "100 and 101");
        assert_eq!((board.send(at(20)), board.send(at(20)), board.in_flight()), (100, 101, 8));
        // What they are overtaken by in number does not make repairs lost.
        (106..110).for_each(|seq| board.arrived(seq));
        assert_eq!(board.find_losses(), 2, "102 and 104");
        assert_eq!(board.acknowledge(101), Covered { packets: 1, sent: None });
        assert_eq!((board.una(), board.outstanding()), (101, 9));
    }

    #[test]
    fn a_repair_is_lost_when_what_was_sent_new_after_it_has_arrived() {
        let mut board = board(5);
        board.arrived(104);
        assert_eq!((board.find_losses(), board.send(at(20))), (1, 100));
        (101..104).for_each(|seq| board.arrived(seq));
        assert_eq!((board.find_losses(), board.send(at(21))), (0, 105));
        board.arrived(105);
        assert_eq!((board.find_losses(), board.lost(), board.in_flight()), (1, 1, 0));
    }

    #[test]
    fn a_repair_is_lost_when_the_fourth_after_it_has_arrived() {
        let mut board = board(10);
        board.lose_all();
        assert_eq!((board.lost(), board.in_flight()), (10, 0));
        (0..6).for_each(|i| assert_eq!(board.send(at(30)), 100 + i));
        board.arrived(103);
        assert_eq!(board.find_losses(), 0);
        board.arrived(104);
        assert_eq!((board.find_losses(), board.send(at(40))), (1, 100));
        board.arrived(105);
        assert_eq!((board.find_losses(), board.send(at(41))), (1, 101));
    }

    #[test]
    fn repairs_beyond_a_recovery_are_taken_for_lost_once_more() {
        let mut board = board(10);
        board.arrived(105);
        assert_eq!((board.find_losses(), board.send(at(20)), board.send(at(20))), (2, 100, 101));
        board.acknowledge(101);
        board.forget_repairs();
        assert_eq!((board.in_flight(), board.lost()), (8, 0));
        board.arrived(106);
        assert_eq!((board.find_losses(), board.send(at(30))), (2, 101), "101 and 102");
    }

    #[test]
    fn what_was_sent_once_tells_the_rtt() {
        let mut board = board(4);
        assert_eq!(board.acknowledge(102), Covered { packets: 2, sent: Some(at(1)) });
        board.lose_all();
        board.send(at(50));
        assert_eq!(board.acknowledge(103), Covered { packets: 1, sent: None });
        assert_eq!((board.lost(), board.in_flight(), board.acknowledge(90)), (1, 0, Covered::default()));
    }
}
