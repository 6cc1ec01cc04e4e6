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
    /// The tick of the sender's clock; 0 where that is exact.
    pub clock: Duration,
    pub(super) outbox: &'a mut Outbox,
}

impl Course<'_> {
    /// What of it changes with each packet that is sent.
    #[inline(always)]
    #[must_use]
    pub fn departing(&mut self) -> Departing<'_> {
        Departing { due: self.due, count: self.outbox.count(), outbox: self.outbox }
    }
}

/// Packets that are being sent.
#[derive(Debug)]
pub struct Departing<'a> {
    /// As of [`Course`].
    pub due: Instant,
    /// How many there are.
    count: usize,
    outbox: &'a mut Outbox,
}

impl Departing<'_> {
    /// Sends a packet when it is due; the next one is due after a pause, or not at all.
    #[inline(always)]
    pub fn send(&mut self, seq: u32, pause: Option<Duration>) {
        self.push(Send::paced(self.due, seq, 0));
        self.due = pause.map_or(Instant::NEVER, |pause| self.due + pause);
    }

    /// Sends a packet that answers an ACK.
    #[inline(always)]
    pub fn answer(&mut self, seq: u32, ack: &Entry<Light>) {
        self.push(Send::answer(ack.at, seq, ack.item.order));
    }

    #[inline(always)]
    fn push(&mut self, send: Send) {
        self.outbox.put(self.count, send);
        self.count += 1;
    }

    /// All are sent: when the next one is due.
    #[inline(always)]
    #[must_use]
    pub fn finish(self) -> Instant {
        self.outbox.set_count(self.count);
        self.due
    }
}
