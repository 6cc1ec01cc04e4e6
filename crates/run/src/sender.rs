//! A sender of the design simulator (Remy'13 §4.3): a window counted from the largest ACK, and no retransmission.
//!
//! By these two rules alone a sender that loses its whole window would hear nothing more, and be mute until its on-period
//! ends. Here none is: when the ACK of the newest packet should have come and did not, all that was outstanding is known to
//! be lost, and the window counts from there. A real stack's timer would expire about then.
//!
//! Receivers may acknowledge several packets at a time, and flows be upset: see [`Training`].

mod cruise;
#[cfg(test)]
mod tests;
mod training;

pub use training::Training;

use exmachina_hosts::scheme::{Ack, Congestion, Scheme};
use exmachina_hosts::scheme::{MayFollowRules, Remy};
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::network::{Acks, Network, PACKET_BYTES};
use exmachina_net::packet::{NUMBERS, Packet, check_numbers};
use exmachina_net::random::Seed;
use exmachina_net::rounds::Course;
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
    /// How many packets were sent at `last_send`; counted only where nothing spaces them.
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

    /// The same on a network that has more of the world in it: see [`Training`].
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
        let advance = seq + 1 - self.acked;
        if advance != stretch {
            self.tell_losses(seq, received.ticked(clock), advance - stretch);
        }
        let (sent, received) = (sent.ticked(clock), received.ticked(clock));
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

    /// An ACK passes over packets, which are lost: all keep their order here.
    #[cold]
    #[inline(never)]
    fn tell_losses(&mut self, seq: u32, now: Instant, lost: u32) {
        self.scheme.on_loss(&Congestion { now, seq, next_seq: self.next_seq, lost, ..Congestion::default() });
        self.scheme.on_lost(lost);
    }

    /// A packet is known to be lost, when its ACK would have come. In a transfer by bytes another may go in its place.
    #[cold]
    fn lose(&mut self, seq: u32, now: Instant, clock: Duration) {
        if seq < self.first_seq {
            return;
        }
        // What arrived before is acknowledged before that is told.
        self.acknowledge_held(now, clock);
        let unheard = self.open_receive_window();
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
        if unheard {
            self.close_receive_window();
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
        self.close_receive_window();
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
    fn cruise(&mut self, course: &mut Course<'_>) {
        self.go_along(course);
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
