//! The sender's record of what is outstanding: which packets are in flight, arrived or lost (RFC 6675), and the snapshots
//! that delivery-rate samples need (draft-ietf-ccwg-bbr §4.1). What is taken for lost is in `scoreboard/detection.rs`.

mod by_time;
mod detection;

pub use detection::Lost;

use std::collections::VecDeque;

use exmachina_net::time::{Duration, Instant};

use crate::scheme::RateSample;

/// Where a packet is, as far as the sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Sent, and not heard of.
    InFlight,
    /// Arrived out of order.
    Arrived,
    /// To be sent again.
    Lost,
}

/// A packet that was sent and is not acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it was sent last.
    at: Instant,
    /// The number of that transmission: how many came before it on this connection.
    transmission: u64,
    /// That of the transmission of the same packet before it, where it was sent again.
    earlier: u64,
    /// Connection totals when it was sent.
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    in_flight: u32,
    state: State,
    app_limited: bool,
    again: bool,
}

/// All packets from the oldest that is not acknowledged to the newest that was sent.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// The oldest packet that is not acknowledged cumulatively.
    pub una: u32,
    sent: VecDeque<Sent>,
    /// Losses are looked for by order of transmission, not by number.
    by_order: bool,
    /// Transmissions in order, to find those that later ones have overtaken, where that is looked for.
    order: VecDeque<(u64, u32)>,
    transmissions: u64,
    /// One more than the latest transmission known to have arrived.
    newest_arrived: u64,
    /// One more than the highest number known to have arrived.
    highest_arrived: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Packets to be sent again.
    pub to_repair: u32,
    /// No packet before this one is lost.
    repair_from: u32,
    /// Packets delivered on this connection, as far as the sender knows.
    pub delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// Packets declared lost on this connection.
    pub lost: u64,
    /// The sender had nothing to send until this many were delivered; 0: it has.
    app_limited_until: u64,
    /// The snapshot of the newest packet acknowledged by the present ACK.
    newest: Option<Sent>,
}

impl Scoreboard {
    /// Nothing is outstanding, and `una` is the first packet to be sent. Losses will be found by order of transmission
    /// ([`Scoreboard::overtaken`]), or not here.
    #[must_use]
    pub fn new(una: u32, by_order: bool) -> Scoreboard {
        Scoreboard {
            una,
            sent: VecDeque::new(),
            by_order,
            order: VecDeque::new(),
            transmissions: 0,
            newest_arrived: 0,
            highest_arrived: una,
            in_flight: 0,
            to_repair: 0,
            repair_from: una,
            delivered: 0,
            delivered_at: Instant::START,
            first_sent: Instant::START,
            lost: 0,
            app_limited_until: 0,
            newest: None,
        }
    }

    /// The next new packet.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.una + self.sent.len() as u32
    }

    /// Packets not acknowledged cumulatively.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.sent.len() as u32
    }

    /// A new packet is sent: its number.
    pub fn send_new(&mut self, now: Instant) -> u32 {
        let seq = self.next();
        let sent = self.snapshot(now, seq, false);
        self.sent.push_back(sent);
        seq
    }

    /// The oldest lost packet is sent again: its number. There must be one.
    pub fn send_again(&mut self, now: Instant) -> u32 {
        let mut i = self.repair_from.saturating_sub(self.una) as usize;
        while self.sent[i].state != State::Lost {
            i += 1;
        }
        let seq = self.una + i as u32;
        self.repair_from = seq + 1;
        self.to_repair -= 1;
        let earlier = self.sent[i].transmission;
        self.sent[i] = Sent { earlier, ..self.snapshot(now, seq, true) };
        seq
    }

    /// The newest packet outstanding is sent once more to see what comes back; there must be one, and it is in flight. The copy
    /// takes the place of the packet: one of them is in flight.
    pub fn send_probe(&mut self, now: Instant) -> u32 {
        let seq = self.next() - 1;
        let i = (seq - self.una) as usize;
        let earlier = self.sent[i].transmission;
        self.in_flight -= 1;
        self.sent[i] = Sent { earlier, ..self.snapshot(now, seq, true) };
        seq
    }

    fn snapshot(&mut self, now: Instant, seq: u32, again: bool) -> Sent {
        if self.in_flight == 0 {
            // A burst of its own: the idle time before it says nothing about the rate.
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let transmission = self.transmissions;
        self.transmissions += 1;
        self.in_flight += 1;
        if self.by_order {
            self.order.push_back((transmission, seq));
        }
        Sent {
            at: now,
            transmission,
            earlier: transmission,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight: self.in_flight,
            state: State::InFlight,
            app_limited: self.app_limited_until > 0,
            again,
        }
    }

    /// Whether nothing but its arrival is to be learned of a packet: it was sent once, and is not taken for lost.
    #[must_use]
    pub fn is_plain(&self, seq: u32) -> bool {
        let packet = seq.checked_sub(self.una).and_then(|i| self.sent.get(i as usize));
        packet.is_some_and(|packet| packet.state == State::InFlight && !packet.again)
    }

    /// A packet is known to have arrived, in order or not: whether that is news. `sent` is the time stamp that came
    /// back: where it is not the last transmission's, an earlier one was late, not lost.
    pub fn arrived(&mut self, seq: u32, sent: Instant, now: Instant) -> Arrival {
        let Some(i) = seq.checked_sub(self.una).map(|i| i as usize).filter(|&i| i < self.sent.len()) else {
            return Arrival::Known;
        };
        self.highest_arrived = self.highest_arrived.max(seq + 1);
        let packet = self.sent[i];
        if packet.state == State::Arrived {
            return Arrival::Known;
        }
        self.sent[i].state = State::Arrived;
        if packet.again && packet.at != sent {
            // The repair is still on its way: it overtook nothing, and its snapshot says nothing about the rate.
            self.count(packet, now);
            return Arrival::Late { behind: self.newest_arrived.saturating_sub(packet.earlier) };
        }
        self.deliver(packet, now);
        if packet.state == State::Lost {
            return Arrival::Late { behind: self.newest_arrived.saturating_sub(packet.transmission) };
        }
        Arrival::News
    }

    /// Counts a packet that arrived: whether it had not been counted before.
    fn count(&mut self, packet: Sent, now: Instant) -> bool {
        match packet.state {
            State::InFlight => self.in_flight -= 1,
            State::Lost => self.to_repair -= 1,
            State::Arrived => return false,
        }
        self.delivered += 1;
        self.delivered_at = now;
        true
    }

    /// The last transmission of a packet arrived.
    fn deliver(&mut self, packet: Sent, now: Instant) {
        if !self.count(packet, now) {
            return;
        }
        self.newest_arrived = self.newest_arrived.max(packet.transmission + 1);
        if self.newest.is_none_or(|newest| packet.transmission > newest.transmission) {
            self.newest = Some(packet);
        }
    }

    /// All packets before `next` are acknowledged: how many that is, and how many of them are news.
    pub fn acknowledge(&mut self, next: u32, now: Instant) -> (u32, u32) {
        let count = next.saturating_sub(self.una).min(self.outstanding());
        let before = self.delivered;
        for _ in 0..count {
            let packet = self.sent.pop_front().expect("counted above");
            self.deliver(packet, now);
        }
        self.una += count;
        self.highest_arrived = self.highest_arrived.max(self.una);
        self.forget_order();
        (count, (self.delivered - before) as u32)
    }

    /// What is acknowledged is not looked for among the transmissions any more.
    fn forget_order(&mut self) {
        while self.order.front().is_some_and(|&(_, seq)| seq < self.una) {
            self.order.pop_front();
        }
    }

    /// The sender has nothing to send, though it might.
    pub fn app_limited(&mut self) {
        self.app_limited_until = (self.delivered + u64::from(self.in_flight)).max(1);
    }

    /// The delivery-rate sample of the present ACK (draft-ietf-ccwg-bbr-06 §4.1.2.3). One over less than the smallest RTT so
    /// far tells nothing, so that it has no interval: such come of packets that were sent again though they arrived.
    pub fn rate_sample(&mut self, min_rtt: Duration) -> RateSample {
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let Some(packet) = self.newest.take() else { return RateSample::default() };
        // The next sample's sending time starts where this one's newest packet was sent.
        self.first_sent = packet.at;
        let sending = packet.at - packet.first_sent;
        let acknowledging = self.delivered_at - packet.delivered_at;
        let interval = sending.max(acknowledging);
        RateSample {
            delivered: (self.delivered - packet.delivered) as u32,
            interval: if interval < min_rtt { Duration::ZERO } else { interval },
            prior_delivered: packet.delivered,
            app_limited: packet.app_limited,
            tx_in_flight: packet.in_flight,
            lost: (self.lost - packet.lost) as u32,
        }
    }
}

/// What the sender learned from a report of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It had known that already.
    Known,
    /// The packet arrived.
    News,
    /// It arrived after it had been taken for lost, `behind` transmissions after the newest that arrived.
    Late {
        /// How many.
        behind: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, ns};

    /// So many packets from number 100 on, sent at 0, 1, 2 ...
    pub(super) fn board(packets: u32, by_order: bool) -> Scoreboard {
        let mut board = Scoreboard::new(100, by_order);
        (0..packets).for_each(|i| assert_eq!(board.send_new(at(i.into())), 100 + i));
        board
    }

    #[test]
    fn three_later_packets_make_one_lost() {
        let mut board = board(10, true);
        for seq in [101, 102, 104] {
            assert_eq!(board.arrived(seq, at(u64::from(seq) - 100), at(50)), Arrival::News);
        }
        // 104 is four after 100 and one after 103.
        assert_eq!(board.overtaken(3), Some((100, 1)));
        assert_eq!((board.in_flight, board.to_repair, board.delivered), (6, 1, 3));
        assert_eq!(board.send_again(at(60)), 100);
        assert_eq!(board.arrived(105, at(5), at(61)), Arrival::News);
        assert_eq!(board.arrived(106, at(6), at(61)), Arrival::News);
        assert_eq!(board.overtaken(3), Some((103, 1)));
        assert_eq!(board.acknowledge(103, at(70)), (3, 1));
        assert_eq!((board.una, board.outstanding(), board.in_flight), (103, 7, 3));
    }

    #[test]
    fn a_lost_repair_is_found_again() {
        let mut board = board(5, true);
        (101..105).for_each(|seq| assert_eq!(board.arrived(seq, at(u64::from(seq) - 100), at(50)), Arrival::News));
        assert_eq!(board.overtaken(3), Some((100, 1)));
        board.send_again(at(60));
        (105..110).for_each(|seq| assert_eq!(board.send_new(at(61)), seq));
        (105..110).for_each(|seq| assert_eq!(board.arrived(seq, at(61), at(99)), Arrival::News));
        assert_eq!(board.overtaken(3), Some((100, 1)));
        assert_eq!(board.lost, 2);
    }

    #[test]
    fn a_timeout_loses_all_that_has_not_arrived() {
        let mut board = board(6, true);
        board.arrived(103, at(3), at(50));
        assert_eq!(board.declare_all_lost(), 5);
        assert_eq!((board.in_flight, board.to_repair), (0, 5));
        let again: Vec<u32> = (0..5).map(|_| board.send_again(at(99))).collect();
        assert_eq!(again, [100, 101, 102, 104, 105]);
        // The first 100 arrives after all: it was late, by 103 and what came between.
        assert_eq!(board.arrived(100, Instant::START, at(100)), Arrival::Late { behind: 4 });
        // Its repair is on its way and has overtaken nothing.
        assert_eq!((board.overtaken(3), board.in_flight), (None, 4));
        assert_eq!(board.arrived(100, at(99), at(101)), Arrival::Known);
    }

    #[test]
    fn rate_samples_are_deliveries_over_the_longer_interval() {
        let mut board = board(3, true);
        board.acknowledge(101, at(100));
        let first = board.rate_sample(ns(100));
        // Sent and delivered_at are 0 at the first send: 1 packet in 100 ns.
        assert_eq!((first.delivered, first.interval, first.app_limited), (1, ns(100), false));
        board.app_limited();
        board.send_new(at(110));
        board.acknowledge(104, at(300));
        let second = board.rate_sample(ns(100));
        assert_eq!((second.delivered, second.interval, second.app_limited), (3, ns(200), true));
        assert_eq!(board.rate_sample(ns(100)), RateSample::default());
    }

    #[test]
    fn a_rate_over_less_than_the_smallest_rtt_is_none() {
        // draft-ietf-ccwg-bbr-06 §4.1.2.3: all is taken for lost and sent again; then the first transmissions arrive.
        let mut board = board(10, true);
        board.acknowledge(101, at(100));
        board.rate_sample(ns(100));
        board.declare_all_lost();
        (0..9).for_each(|_| _ = board.send_again(at(150)));
        board.acknowledge(110, at(160));
        let hasty = board.rate_sample(ns(100));
        assert_eq!((hasty.delivered, hasty.interval, hasty.prior_delivered), (9, Duration::ZERO, 1));
    }
}
