//! What all senders send in a round, through the bottleneck in the order of sending.

use super::{Desk, Light};
use crate::endpoint::Endpoint;
use crate::packet::NUMBERS;
use crate::path::{Bottleneck, Passage};
use crate::schedule::MAX_SENDERS;
use crate::time::{Duration, Instant};
use crate::tournament::{IDLE, Tournament};

/// Where a sender's number has its place in a key.
const SENDER_BITS: u32 = MAX_SENDERS.trailing_zeros();
/// Bits of a turn's number.
const LEAST_BITS: u32 = 6;

/// A packet that is sent. At one instant, packets that answer an ACK go first, in the order in which those of the ACKs went;
/// then those whose pause is over, in turn, and those of one turn in the order of the senders.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    /// When.
    pub at: Instant,
    /// The order of the packet whose ACK it answers; or how many of the sender's own went before, at the same instant.
    pub place: u32,
    /// Its number in the sender's stream; and [`NUMBERS`] more if its pause is over.
    pub number: u32,
}

impl Send {
    const END: Send = Send { at: Instant::NEVER, place: 0, number: 0 };

    /// One that answers an ACK of a packet that had this order.
    #[inline(always)]
    pub fn answer(at: Instant, seq: u32, order: u32) -> Send {
        Send { at, place: order, number: seq }
    }

    /// One whose pause is over, after so many of the sender's own at that instant.
    #[inline(always)]
    pub fn paced(at: Instant, seq: u32, turn: u32) -> Send {
        Send { at, place: turn, number: seq + NUMBERS }
    }
}

/// What a sender sends in a round.
#[derive(Clone, Debug)]
pub struct Outbox {
    count: usize,
    room: Vec<Send>,
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox { count: 0, room: vec![Send::END; 64] }
    }
}

impl Outbox {
    /// Adds a packet.
    #[inline(always)]
    pub fn push(&mut self, send: Send) {
        self.room[self.count] = send;
        self.count += 1;
        self.make_room();
    }

    /// Holds that there is room for two more.
    #[inline(always)]
    pub fn make_room(&mut self) {
        if self.count + 2 > self.room.len() {
            self.room.resize(2 * self.room.len(), Send::END);
        }
    }

    /// How many there are, and all the room, of which they are the first.
    pub(super) fn room(&mut self) -> (&mut usize, &mut [Send]) {
        (&mut self.count, &mut self.room)
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The packets, and an end that never comes.
    #[inline(always)]
    pub fn packets_and_end(&mut self) -> &[Send] {
        self.room[self.count] = Send::END;
        &self.room[..=self.count]
    }

    /// The packets.
    #[inline(always)]
    pub fn packets(&self) -> &[Send] {
        &self.room[..self.count]
    }

    /// They are gone.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

/// How packets of a round are made numbers that sort as they go: `time since it began, answer or not, place, sender`.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    begin: Instant,
    /// The oldest order there is, and the bits that an order since then needs.
    oldest: u32,
    bits: u32,
}

impl Keys {
    /// The instant after the last that they have room for.
    pub fn end(&self) -> Instant {
        self.begin + Duration::from_nanos(1 << (63 - SENDER_BITS - self.bits))
    }

    #[inline(always)]
    fn key(&self, send: &Send, sender: usize) -> u64 {
        let paced = u64::from(send.number / NUMBERS);
        let place = u64::from(send.place.wrapping_sub(if paced > 0 { 0 } else { self.oldest }));
        (((send.at - self.begin).as_nanos() << 1 | paced) << self.bits | place) << SENDER_BITS | sender as u64
    }

    /// Whether the first goes before the second, of a sender with a larger number.
    #[cold]
    fn in_order(&self, first: &Send, second: &Send) -> bool {
        first.at < Instant::NEVER && self.key(first, 0) < self.key(second, 1)
    }
}

/// Who has sent in a round, and how many packets went before.
#[derive(Clone, Debug)]
pub struct Departures {
    /// The next packet's order.
    order: u32,
    senders: Vec<usize>,
    /// Which packet of each is next.
    next: Vec<usize>,
    tournament: Tournament,
}

impl Departures {
    /// Of so many senders at most.
    pub fn new(senders: usize) -> Departures {
        Departures {
            order: 0,
            senders: Vec::with_capacity(senders),
            next: vec![0; senders],
            tournament: Tournament::new(senders),
        }
    }

    /// The keys of a round that begins then, with the orders of the oldest packets that may be answered in it.
    pub fn keys(&self, begin: Instant, oldest: impl Iterator<Item = u32>) -> Keys {
        let span = oldest.map(|order| self.order.wrapping_sub(order)).max().unwrap_or(0);
        let bits = (u32::BITS - span.leading_zeros()).max(LEAST_BITS);
        Keys { begin, oldest: self.order.wrapping_sub(span), bits }
    }

    /// A sender has sent something.
    pub fn expect(&mut self, sender: usize) {
        self.senders.push(sender);
    }

    /// Lets all go, in order; returns how many.
    #[inline(always)]
    pub fn depart<const PLAIN: bool, E: Endpoint>(
        &mut self,
        keys: &Keys,
        bottleneck: &mut Bottleneck,
        desks: &mut [Desk<E>],
    ) -> u32 {
        let before = self.order;
        for &sender in &self.senders {
            let desk = &mut desks[sender];
            desk.inbox.reserve(desk.outbox.packets().len());
        }
        match self.senders[..] {
            [] => {}
            [one] => self.depart_alone::<PLAIN, E>(bottleneck, one, &mut desks[one]),
            [one, two] => {
                let (left, right) = desks.split_at_mut(two);
                self.depart_in_turn::<PLAIN, E>(keys, bottleneck, [one, two], [&mut left[one], &mut right[0]]);
            }
            _ => self.depart_in_order::<PLAIN, E>(keys, bottleneck, desks),
        }
        for sender in self.senders.drain(..) {
            let desk = &mut desks[sender];
            desk.outbox.clear();
            desk.wakes = desk.wakes.min(desk.inbox.next());
        }
        self.order.wrapping_sub(before)
    }

    /// Those of one sender.
    fn depart_alone<const PLAIN: bool, E: Endpoint>(
        &mut self,
        bottleneck: &mut Bottleneck,
        sender: usize,
        desk: &mut Desk<E>,
    ) {
        for send in desk.outbox.packets() {
            let (back, light) = self.send::<PLAIN>(*send, sender, bottleneck);
            desk.inbox.push_reserved(back, light);
        }
    }

    /// Those of two.
    fn depart_in_turn<const PLAIN: bool, E: Endpoint>(
        &mut self,
        keys: &Keys,
        bottleneck: &mut Bottleneck,
        numbers: [usize; 2],
        [one, two]: [&mut Desk<E>; 2],
    ) {
        let (first, second) = (one.outbox.packets_and_end(), two.outbox.packets_and_end());
        let (mut i, mut j) = (0, 0);
        for _ in 0..first.len() + second.len() - 2 {
            // SAFETY: the end of a list comes later than any packet, so that nothing goes past it.
            let (left, right) = unsafe { (first.get_unchecked(i), second.get_unchecked(j)) };
            // Without a branch: whose turn it is is hard to guess.
            let mut which = usize::from(right.at < left.at);
            if right.at == left.at {
                which = usize::from(!keys.in_order(left, right));
            }
            let send = if which == 1 { *right } else { *left };
            (i, j) = (i + 1 - which, j + which);
            let (back, light) = self.send::<PLAIN>(send, numbers[which], bottleneck);
            let inbox = if which == 1 { &mut two.inbox } else { &mut one.inbox };
            inbox.push_reserved(back, light);
        }
    }

    /// Those of any number of senders.
    fn depart_in_order<const PLAIN: bool, E: Endpoint>(
        &mut self,
        keys: &Keys,
        bottleneck: &mut Bottleneck,
        desks: &mut [Desk<E>],
    ) {
        let mut first = IDLE;
        for k in 0..self.senders.len() {
            let sender = self.senders[k];
            self.next[sender] = 0;
            first = self.set(keys, sender, desks[sender].outbox.packets_and_end());
        }
        while first != IDLE {
            let sender = first as usize & (MAX_SENDERS - 1);
            let desk = &mut desks[sender];
            let packets = desk.outbox.packets_and_end();
            let (back, light) = self.send::<PLAIN>(packets[self.next[sender]], sender, bottleneck);
            desk.inbox.push_reserved(back, light);
            self.next[sender] += 1;
            first = self.set(keys, sender, packets);
        }
    }

    /// Sets the next packet of a sender, or the end; returns the first key of all.
    #[inline(always)]
    fn set(&mut self, keys: &Keys, sender: usize, packets: &[Send]) -> u64 {
        let send = &packets[self.next[sender]];
        let key = if send.at == Instant::NEVER { IDLE } else { keys.key(send, sender) };
        // SAFETY: there are as many leaves as senders.
        unsafe { self.tournament.set(sender, key) }
    }

    /// Lets a packet go: when its ACK is back, and what is kept of it meanwhile.
    #[inline(always)]
    fn send<const PLAIN: bool>(
        &mut self,
        Send { at, number, .. }: Send,
        sender: usize,
        bottleneck: &mut Bottleneck,
    ) -> (Instant, Light) {
        let Passage { back, lost, .. } = bottleneck.take::<PLAIN>(sender, at);
        let seq = number % NUMBERS;
        let number = if PLAIN { seq } else { seq + if lost { NUMBERS } else { 0 } };
        let light = Light { sent: at, number, order: self.order };
        self.order = self.order.wrapping_add(1);
        (back, light)
    }
}
