//! What all senders send in a round, through the bottleneck in the order of sending.

use super::{Desk, Light};
use crate::endpoint::Endpoint;
use crate::packet::NUMBERS;
use crate::path::{Bottleneck, Passage};
use crate::schedule::MAX_SENDERS;
use crate::time::Instant;
use crate::tournament::{IDLE, Tournament};

/// Where a sender's number has its place in a key.
const SENDER_BITS: u32 = MAX_SENDERS.trailing_zeros();

/// The instant of a list's end is in such a key what it is in itself: later than all.
const NOBODYS: u64 = u64::MAX << SENDER_BITS;

/// A packet that is sent.
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
        self.put(self.count, send);
        self.count += 1;
    }

    /// Puts a packet behind so many; to be counted by [`Outbox::set_count`].
    #[inline(always)]
    pub(super) fn put(&mut self, count: usize, send: Send) {
        // Behind all there is room for an end.
        if count + 1 >= self.room.len() {
            self.make_room();
        }
        self.room[count] = send;
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.room.resize(2 * self.room.len(), Send::END);
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn set_count(&mut self, count: usize) {
        self.count = count;
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

    /// The packets, the end if it was asked for, and what room there is besides.
    #[inline(always)]
    pub fn all(&self) -> &[Send] {
        &self.room
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

/// Who has sent in a round, and how many packets went before.
#[derive(Clone, Debug)]
pub struct Departures {
    /// The next packet's order.
    order: u32,
    senders: Vec<usize>,
    /// By sender, its delay line; 0 where those are shuffled.
    lines: Vec<u16>,
    /// Which packet of each is next.
    next: Vec<usize>,
    tournament: Tournament,
}

impl Departures {
    /// None yet, through this bottleneck, of so many senders.
    pub fn new(bottleneck: &Bottleneck, senders: usize) -> Departures {
        Departures {
            order: 0,
            lines: if bottleneck.shuffles() { vec![0; senders] } else { bottleneck.lines().0 },
            senders: Vec::with_capacity(senders),
            next: vec![0; senders],
            tournament: Tournament::new(senders),
        }
    }

    /// The order of packets that are sent at one instant. Those that answer ACKs go first, in the order of the ACKs (see
    /// [`Bottleneck::lines`]); then those whose pause is over, in turn, and those of one turn in the order of the senders.
    fn turn(&self, send: &Send, sender: usize) -> (bool, u16, u32, usize) {
        match send.number >= NUMBERS {
            true => (true, 0, send.place, sender),
            // Counted from the next packet's: what is on its way went before, and not long ago.
            false => (false, self.lines[sender], send.place.wrapping_sub(self.order), sender),
        }
    }

    /// Whether of two packets of one instant the first goes first.
    #[cold]
    fn goes_first(&self, first: (&Send, usize), second: (&Send, usize)) -> bool {
        self.turn(first.0, first.1) < self.turn(second.0, second.1)
    }

    /// A sender has sent something.
    pub fn expect(&mut self, sender: usize) {
        self.senders.push(sender);
    }

    /// Lets all go, in order; returns how many.
    #[inline(always)]
    pub fn depart<const PLAIN: bool, E: Endpoint>(
        &mut self,
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
                self.depart_in_turn::<PLAIN, E>(bottleneck, [one, two], [&mut left[one], &mut right[0]]);
            }
            _ => self.depart_in_order::<PLAIN, E>(bottleneck, desks),
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
                which = usize::from(!self.goes_first((left, numbers[0]), (right, numbers[1])));
            }
            let send = if which == 1 { *right } else { *left };
            (i, j) = (i + 1 - which, j + which);
            let (back, light) = self.send::<PLAIN>(send, numbers[which], bottleneck);
            let inbox = if which == 1 { &mut two.inbox } else { &mut one.inbox };
            inbox.push_reserved(back, light);
        }
    }

    /// Those of any number of senders.
    fn depart_in_order<const PLAIN: bool, E: Endpoint>(&mut self, bottleneck: &mut Bottleneck, desks: &mut [Desk<E>]) {
        let mut first = IDLE;
        for k in 0..self.senders.len() {
            let sender = self.senders[k];
            self.next[sender] = 0;
            first = self.set(sender, desks[sender].outbox.packets_and_end()[0].at);
        }
        while first < NOBODYS {
            let at = first >> SENDER_BITS;
            let (sender, send) = self.take(&mut first, desks);
            if first >> SENDER_BITS == at {
                self.depart_together::<PLAIN, E>(bottleneck, desks, (sender, send), &mut first);
                continue;
            }
            let (back, light) = self.send::<PLAIN>(send, sender, bottleneck);
            desks[sender].inbox.push_reserved(back, light);
        }
    }

    /// Those of one instant, of which one was taken.
    #[cold]
    #[inline(never)]
    fn depart_together<const PLAIN: bool, E: Endpoint>(
        &mut self,
        bottleneck: &mut Bottleneck,
        desks: &mut [Desk<E>],
        taken: (usize, Send),
        first: &mut u64,
    ) {
        let at = taken.1.at.as_nanos();
        let mut together = vec![(self.turn(&taken.1, taken.0), taken)];
        while *first >> SENDER_BITS == at {
            let (sender, send) = self.take(first, desks);
            // No sender's packets pass each other: those of more than an instant's turns begin anew at the next (`schedule.rs`).
            let turn = self.turn(&send, sender);
            let own = together.last().filter(|(_, last)| last.0 == sender);
            together.push((own.map_or(turn, |(before, _)| turn.max(*before)), (sender, send)));
        }
        together.sort_by_key(|(turn, _)| *turn);
        for (_, (sender, send)) in together {
            let (back, light) = self.send::<PLAIN>(send, sender, bottleneck);
            desks[sender].inbox.push_reserved(back, light);
        }
    }

    /// Takes the first packet of all, and finds the next.
    #[inline(always)]
    fn take<E: Endpoint>(&mut self, first: &mut u64, desks: &[Desk<E>]) -> (usize, Send) {
        let sender = *first as usize & (MAX_SENDERS - 1);
        let packets = desks[sender].outbox.all();
        let number = self.next[sender];
        self.next[sender] = number + 1;
        // What ends a list stands behind its last packet.
        let [send, next] = [packets[number], packets[number + 1]];
        *first = self.set(sender, next.at);
        (sender, send)
    }

    /// Sets when a sender's next packet goes; returns the first instant of all, with its sender.
    #[inline(always)]
    fn set(&mut self, sender: usize, at: Instant) -> u64 {
        // SAFETY: there are as many leaves as senders.
        unsafe { self.tournament.set(sender, at.as_nanos() << SENDER_BITS | sender as u64) }
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
