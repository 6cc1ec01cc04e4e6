//! Packets between the link and the sender's ACK.
//!
//! A constant delay keeps packets in order, so each distinct RTT is a lane: a ring in which the next ACK is always the
//! oldest entry.

use crate::time::{NEVER, Time};

/// A packet whose fate is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When its ACK reaches the sender (for a lost one: when it would have).
    pub received: Time,
    /// When it was sent.
    pub sent: Time,
    /// Its number in the sender's stream.
    pub seq: u32,
    /// Whose it is.
    pub sender: u16,
    /// It never arrived.
    pub lost: bool,
}

/// A FIFO ring.
#[derive(Clone, Debug)]
pub struct Lane {
    /// When the oldest packet is acknowledged; [`NEVER`] where there is none.
    next: Time,
    /// Its length is a power of two.
    ring: Box<[Packet]>,
    head: usize,
    tail: usize,
}

impl Default for Lane {
    fn default() -> Self {
        Lane { next: NEVER, ring: vec![Packet::default(); 64].into_boxed_slice(), head: 0, tail: 0 }
    }
}

impl Lane {
    /// When the oldest packet is acknowledged; [`NEVER`] where there is none.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Adds a packet. ACKs come back no earlier than the one before.
    #[inline(always)]
    pub fn push(&mut self, packet: Packet) {
        if self.tail - self.head == self.ring.len() {
            self.grow();
        }
        if self.next == NEVER {
            self.next = packet.received;
        }
        let mask = self.ring.len() - 1;
        // SAFETY: the length is a power of two, so that the masked index is below it.
        unsafe { *self.ring.get_unchecked_mut(self.tail & mask) = packet };
        self.tail += 1;
    }

    /// Takes the oldest packet; there must be one.
    #[inline(always)]
    pub fn pop(&mut self) -> Packet {
        let mask = self.ring.len() - 1;
        // SAFETY: as in `push`.
        let packet = unsafe { *self.ring.get_unchecked(self.head & mask) };
        self.head += 1;
        // SAFETY: as in `push`.
        let next = unsafe { self.ring.get_unchecked(self.head & mask).received };
        self.next = if self.head == self.tail { NEVER } else { next };
        packet
    }

    /// When the newest packet is acknowledged; 0 where there is none.
    #[must_use]
    pub fn newest(&self) -> Time {
        if self.head == self.tail { 0 } else { self.ring[(self.tail - 1) & (self.ring.len() - 1)].received }
    }

    /// The packets, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        (self.head..self.tail).map(|i| &self.ring[i & (self.ring.len() - 1)])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.ring.len();
        let mut ring = vec![Packet::default(); old * 2];
        for i in self.head..self.tail {
            ring[i & (old * 2 - 1)] = self.ring[i & (old - 1)];
        }
        self.ring = ring.into_boxed_slice();
    }
}
