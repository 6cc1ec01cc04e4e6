//! A round as one sender sees it: the ACKs that it gets, and the packets that it sends.

use super::merge::{Outbox, Send};
use crate::packet::NUMBERS;
use crate::path::Entry;
use crate::time::{Duration, Instant};

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Light {
    /// When it was sent.
    pub sent: Instant,
    /// Its number in its sender's stream; and [`NUMBERS`] more if it is lost, and the gap where it would have been.
    pub number: u32,
    /// How many packets went into the bottleneck before it, of all senders; the lowest bits.
    pub(super) order: u32,
}

impl Light {
    /// Its number in its sender's stream.
    #[inline(always)]
    #[must_use]
    pub fn seq(&self) -> u32 {
        self.number % NUMBERS
    }

    /// Whether it is lost.
    #[inline(always)]
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.number >= NUMBERS
    }
}

/// An ACK that was taken in: when, and the order of its packet.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    pub(super) at: Instant,
    pub(super) order: u32,
}

impl Answered {
    /// That of a packet whose ACK came then.
    #[inline(always)]
    #[must_use]
    pub fn of(ack: &Entry<Light>) -> Answered {
        Answered { at: ack.at, order: ack.item.order }
    }
}

/// What is left of a round.
#[derive(Debug)]
pub struct Course<'a> {
    /// ACKs that come next, and losses that are told; all of them, or all before `bound`.
    pub acks: &'a [Entry<Light>],
    /// How many of them were dealt with.
    pub dealt: usize,
    /// Nothing that comes at this instant or later may be dealt with.
    pub bound: Instant,
    /// When the sender sends next, if no ACK comes before; [`Instant::NEVER`] if it does not.
    pub due: Instant,
    pub(super) outbox: &'a mut Outbox,
}

impl Course<'_> {
    /// What of it changes with each packet that is sent.
    #[inline(always)]
    #[must_use]
    pub fn departing(&mut self) -> Departing<'_> {
        let (count, room) = self.outbox.room();
        Departing { due: self.due, length: room.len(), rest: room[*count..].iter_mut(), count }
    }
}

/// Packets that are being sent.
#[derive(Debug)]
pub struct Departing<'a> {
    /// As of [`Course`].
    pub due: Instant,
    /// How many there are, and were, and what room is left.
    length: usize,
    count: &'a mut usize,
    rest: std::slice::IterMut<'a, Send>,
}

impl Departing<'_> {
    /// Whether there is room for two packets more.
    #[inline(always)]
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.rest.len() > 1
    }

    /// Sends a packet when it is due, where there is room for two; the next one is due after a pause, or not at all.
    #[inline(always)]
    pub fn send(&mut self, seq: u32, pause: Option<Duration>) {
        self.push(Send::paced(self.due, seq, 0));
        self.due = pause.map_or(Instant::NEVER, |pause| self.due + pause);
    }

    /// Sends a packet that answers an ACK, where there is room.
    #[inline(always)]
    pub fn answer(&mut self, seq: u32, Answered { at, order }: Answered) {
        self.push(Send::answer(at, seq, order));
    }

    #[inline(always)]
    fn push(&mut self, send: Send) {
        debug_assert!(self.rest.len() > 0);
        if let Some(place) = self.rest.next() {
            *place = send;
        }
    }

    /// All are sent: when the next one is due.
    #[inline(always)]
    #[must_use]
    pub fn finish(self) -> Instant {
        *self.count = self.length - self.rest.len();
        self.due
    }
}
