//! A sender of the design simulator (Remy'13 §4.3): a window counted from the largest ACK, and no retransmission.
//!
//! By these two rules alone a sender whose whole window is lost never hears of anything again, and is mute until its
//! on-period ends. Here that happens to nobody: when the ACK of the newest packet would have come and did not, all that was
//! outstanding is known to be lost, and the window counts from there. A real stack's timer would expire about then.
//!
//! Receivers may acknowledge several packets at a time, and flows be upset: see [`Training`].

mod cruise;
mod training;

pub use training::Training;

use exmachina_hosts::scheme::{Ack, Congestion, Scheme};
use exmachina_hosts::scheme::{MayFollowRules, Remy};
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::network::{Acks, Network, PACKET_BYTES};
use exmachina_net::packet::{NUMBERS, Packet, check_numbers};
use exmachina_net::random::Seed;
use exmachina_net::rounds::{Answered, Course};
use exmachina_net::time::{Duration, Instant};

/// One sender and what it has done so far.
#[derive(Clone, Debug)]
pub struct Sender<S> {
    /// What decides about window and pace.
    pub scheme: S,
    /// Number of the next packet.
    next_seq: u32,
    /// The first packet that may not go yet; while the sender is off, none may.
    limit: u32,
    /// First packet of the present flow; while the sender is off, later than any.
    first_seq: u32,
    /// One more than the largest packet of the present flow that was acknowledged.
    acked: u32,
    /// The first packet past the end of the transfer ([`NUMBERS`]: no end in sight).
    end: u32,
    last_send: Instant,
    /// When the schedule has it send next.
    planned: Instant,
    /// Its number.
    id: u16,
    /// Packets sent at `last_send`, kept where nothing spaces them.
    turn: u32,
    /// Packets delivered.
    pub delivered: u64,
    /// Sum of their RTTs.
    pub delay: Duration,
    /// Packets delivered while it was off, and the sum of their RTTs.
    late: (u64, Duration),
    /// What makes its ACKs more like real ones, and when that wants to act next; most senders have none.
    training: Option<Box<Training>>,
    due: Instant,
    /// How late its timer is the next time.
    late_by: Duration,
}

impl<S: Scheme> Sender<S> {
    /// A sender that is off.
    pub fn new(scheme: S, id: u16) -> Sender<S> {
        Sender {
            scheme,
            next_seq: 0,
            limit: 0,
            first_seq: u32::MAX,
            acked: 0,
            end: NUMBERS,
            last_send: Instant::START,
            planned: Instant::NEVER,
            id,
            turn: 0,
            delivered: 0,
            delay: Duration::ZERO,
            late: (0, Duration::ZERO),
            training: None,
            due: Instant::NEVER,
            late_by: Duration::ZERO,
        }
    }

    /// The same on a network whose receivers acknowledge several packets at a time, or which upsets flows.
    #[must_use]
    pub fn on(mut self, network: &Network, seed: Seed) -> Sender<S> {
        self.training = Training::of(network, seed, self.id);
        self
    }

    /// Whether an on-period is under way.
    #[inline(always)]
    fn in_flow(&self) -> bool {
        self.first_seq != u32::MAX
    }

    /// Packets sent so far.
    pub fn sent(&self) -> u32 {
        self.next_seq
    }

    /// Packets of the present flow that were sent and not acknowledged or passed over by an ACK.
    pub fn outstanding(&self) -> u32 {
        self.next_seq - self.acked
    }

    /// Takes in the ACK of a packet; `clock` is the tick of the sender's clock in ns.
    #[inline(always)]
    fn acknowledge(&mut self, seq: u32, sent: Instant, received: Instant, clock: Duration) {
        self.delivered += 1;
        self.delay += received - sent;
        if seq < self.first_seq {
            // An ACK of an earlier flow: it does not touch the memory, but the action is carried out once more.
            if self.is_on() {
                self.scheme.on_stale_ack();
                self.open();
            } else {
                self.late = (self.late.0 + 1, self.late.1 + (received - sent));
            }
        } else if self.training.is_some() {
            self.train(seq, sent, received, clock);
        } else {
            self.take_in(seq, sent, received, clock, 1);
        }
    }

    /// Takes in an ACK of packets of the present flow; the last of them was sent then.
    #[inline(always)]
    fn take_in(&mut self, seq: u32, sent: Instant, received: Instant, clock: Duration, stretch: u32) {
        let (sent, received) = (sent.ticked(clock), received.ticked(clock));
        let advance = seq + 1 - self.acked;
        if advance > stretch {
            let next_seq = self.next_seq;
            self.scheme.on_loss(&Congestion {
                now: received,
                seq,
                next_seq,
                lost: advance - stretch,
                ..Congestion::default()
            });
        }
        self.scheme.on_ack(&Ack {
            sent,
            received,
            tick: clock,
            seq,
            next_seq: self.next_seq,
            advance,
            acked: advance,
            newly_delivered: stretch,
            stretch,
            delivered: self.delivered,
            in_flight: self.next_seq - seq - 1,
            rtt: (received - sent).max(clock),
            window_limited: true,
            ..Ack::default()
        });
        self.acked = seq + 1;
        self.open();
    }

    /// A packet is known to be lost, when its ACK would have come. In a transfer by bytes another may go in its place.
    #[cold]
    fn lose(&mut self, seq: u32, now: Instant, clock: Duration) {
        if seq < self.first_seq {
            return;
        }
        // What arrived before is acknowledged before that is told.
        self.acknowledge_held(now, clock);
        // Packets keep their order, so that the fates of all before it are known.
        let nothing_to_come = seq + 1 == self.next_seq;
        let mute = nothing_to_come && self.next_seq >= self.limit;
        let by_bytes = self.end != NUMBERS;
        if mute {
            let (now, next_seq) = (now.ticked(clock), self.next_seq);
            let lost = next_seq - self.acked;
            self.scheme.on_rto(&Congestion { now, seq: self.acked, next_seq, lost, ..Congestion::default() });
        }
        self.end += u32::from(by_bytes);
        if mute || by_bytes && nothing_to_come {
            self.acked = self.next_seq;
        }
        if mute || by_bytes {
            self.open();
        }
    }

    #[inline(always)]
    fn open(&mut self) {
        self.limit = (self.acked + self.scheme.window()).min(self.end);
    }
}

impl<S: MayFollowRules> MayFollowRules for Sender<S> {
    #[inline(always)]
    fn rules(&self) -> Option<&Remy<'_>> {
        self.scheme.rules()
    }
}

impl<S: Scheme> Endpoint for Sender<S> {
    fn start(&mut self, now: Instant, packets: u32) {
        self.scheme.start(now);
        self.first_seq = self.next_seq;
        self.acked = self.next_seq;
        self.end = self.next_seq.saturating_add(packets).min(NUMBERS);
        self.last_send = now.saturating_sub(self.scheme.intersend());
        self.turn = 0;
        self.late_by = Duration::ZERO;
        self.forget_held();
        self.open();
    }

    /// Nothing more is sent, and ACKs still to come are those of an earlier flow.
    fn stop(&mut self, _now: Instant) {
        check_numbers(self.next_seq);
        self.forget_held();
        self.first_seq = u32::MAX;
        self.limit = 0;
        self.end = NUMBERS;
    }

    fn is_on(&self) -> bool {
        self.in_flow()
    }

    #[inline(always)]
    fn receive(&mut self, packet: &Packet, now: Instant, clock: Duration) {
        if packet.lost {
            self.lose(packet.seq, now, clock);
        } else {
            self.acknowledge(packet.seq, packet.sent, now, clock);
        }
    }

    /// Whether every packet of a transfer by bytes was delivered: the last one was, and the fates of the others were
    /// known before.
    #[inline(always)]
    fn finished(&self) -> bool {
        self.acked == self.end
    }

    #[inline(always)]
    fn ready(&self) -> Instant {
        let send = if self.next_seq < self.limit {
            self.last_send + self.scheme.intersend() + self.late_by
        } else {
            Instant::NEVER
        };
        send.min(self.due)
    }

    #[inline(always)]
    fn planned(&self) -> Instant {
        self.planned
    }

    #[inline(always)]
    fn plan(&mut self, at: Instant) {
        self.planned = at;
    }

    #[inline(always)]
    fn act(&mut self, now: Instant) -> (Option<Packet>, Instant, u32) {
        if self.due <= now && !self.waited(now) {
            return (None, self.planned, 0);
        }
        let seq = self.next_seq;
        self.next_seq = seq + 1;
        let pause = self.scheme.intersend();
        if pause == Duration::ZERO {
            self.turn = if now == self.last_send { self.turn + 1 } else { 1 };
        }
        self.last_send = now;
        let mut next = now + pause;
        if self.training.is_some() {
            next = self.set_timer(now, pause);
        }
        self.planned = if seq + 1 < self.limit { next } else { Instant::NEVER }.min(self.due);
        let packet = Packet { sent: now, seq, sender: self.id, bytes: PACKET_BYTES as u16, ..Packet::default() };
        (Some(packet), self.planned, if self.planned == now { self.turn } else { 0 })
    }

    #[inline(always)]
    fn cruise(&mut self, course: &mut Course<'_>) -> Option<Answered> {
        self.go_along(course)
    }

    fn totals(&self) -> Totals {
        Totals {
            delivered: self.delivered,
            delay: self.delay,
            late: self.late.0,
            late_delay: self.late.1,
            sent: u64::from(self.next_seq),
            ..Totals::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_hosts::scheme::{Aimd, Remy};
    use exmachina_rules::{Action, FlatTable, Memory, RuleTable, Signal};

    use super::*;

    #[test]
    fn acks_of_an_earlier_flow_carry_out_the_action_and_leave_the_memory_alone() {
        let rule = Action { multiple: 2.0, increment: 1, intersend_ms: 1.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
        let mut sender = Sender::new(Remy::new(&table), 0);
        sender.start(Instant::START, u32::MAX);
        let first = sender.act(Instant::START).0.unwrap();
        sender.stop(Instant::from_nanos(1));
        sender.receive(&Packet { seq: 5, ..first }, Instant::from_nanos(2), Duration::NANOSECOND);
        assert_eq!(sender.scheme.controller.window(), 1, "nothing acts while it is off");
        sender.start(Instant::from_nanos(10), u32::MAX);
        sender.receive(&first, Instant::from_nanos(50), Duration::NANOSECOND);
        assert_eq!((sender.scheme.controller.window(), sender.delivered), (3, 2));
        assert_eq!(sender.scheme.controller.memory(), &Memory::default());
        // The window holds packets of the present flow only.
        assert_eq!((sender.outstanding(), sender.limit), (0, 1 + 3));
    }

    #[test]
    fn a_transfer_whose_window_is_lost_goes_on() {
        let rule = Action { multiple: 0.0, increment: 2, intersend_ms: 1.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
        let mut sender = Sender::new(Remy::new(&table), 0);
        sender.start(Instant::START, 3);
        let (first, second) = (sender.act(Instant::START).0.unwrap(), sender.act(Instant::from_millis(1)).0.unwrap());
        assert_eq!(sender.ready(), Instant::NEVER);
        sender.receive(&Packet { lost: true, ..first }, Instant::from_millis(5), Duration::NANOSECOND);
        assert_eq!(sender.ready(), Instant::NEVER, "an ACK may still come");
        sender.receive(&Packet { lost: true, ..second }, Instant::from_millis(6), Duration::NANOSECOND);
        assert_eq!((sender.ready(), sender.limit, sender.end), (Instant::from_millis(2), 4, 5));
    }

    #[test]
    fn a_sender_by_time_whose_window_is_lost_goes_on() {
        let rule = Action { multiple: 0.0, increment: 2, intersend_ms: 1.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
        let mut sender = Sender::new(Remy::new(&table), 0);
        sender.start(Instant::START, u32::MAX);
        let lost = |packet: Option<Packet>| Packet { lost: true, ..packet.unwrap() };
        let first = lost(sender.act(Instant::START).0);
        // It has room for another: nothing is known of that one yet, and nothing changes.
        sender.receive(&first, Instant::from_nanos(500_000), Duration::NANOSECOND);
        assert_eq!((sender.ready(), sender.limit), (Instant::from_millis(1), 2));
        let second = lost(sender.act(Instant::from_millis(1)).0);
        assert_eq!(sender.ready(), Instant::NEVER);
        sender.receive(&second, Instant::from_millis(6), Duration::NANOSECOND);
        assert_eq!((sender.ready(), sender.limit, sender.outstanding()), (Instant::from_millis(2), 4, 0));
        assert_eq!(sender.scheme.controller.memory(), &Memory::default());
    }

    #[test]
    fn aimd_whose_window_is_lost_halves_it() {
        let mut sender = Sender::new(Aimd::default(), 0);
        sender.start(Instant::START, u32::MAX);
        (0..3).for_each(|i| {
            let sent = Packet { seq: i, ..sender.act(Instant::from_nanos(i.into())).0.unwrap() };
            sender.receive(&sent, Instant::from_nanos(10 + u64::from(i)), Duration::NANOSECOND);
        });
        assert_eq!(sender.scheme.window(), 4);
        let window: Vec<Packet> = (0..4).map(|i| sender.act(Instant::from_nanos(20 + i)).0.unwrap()).collect();
        window.iter().for_each(|packet| {
            sender.receive(&Packet { lost: true, ..*packet }, Instant::from_nanos(40), Duration::NANOSECOND)
        });
        assert_eq!((sender.scheme.window(), sender.limit), (2, 7 + 2));
    }

    #[test]
    #[should_panic(expected = "as many as have numbers")]
    fn packet_numbers_do_not_wrap() {
        let mut sender = Sender { next_seq: NUMBERS - 3, ..Sender::new(Aimd::default(), 0) };
        sender.start(Instant::START, u32::MAX);
        while !sender.finished() {
            let packet = sender.act(Instant::START).0.unwrap();
            sender.receive(&packet, Instant::from_nanos(10), Duration::NANOSECOND);
        }
        sender.stop(Instant::from_nanos(10));
    }
}
