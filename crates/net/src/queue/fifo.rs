//! What all queue disciplines are made of: a first-in first-out buffer that knows its size, and the room it has.

use std::collections::VecDeque;

use crate::packet::{Ecn, Packet};

/// The room of a whole queue. The packet being transmitted has left the queue and takes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing is dropped for want of room.
    Infinite,
    /// This many packets may wait.
    Packets(u32),
    /// This many bytes may wait.
    Bytes(u64),
}

impl Limit {
    /// How many packets of so many bytes may wait; none: there is no end to it.
    #[must_use]
    pub fn packets(self, bytes: u16) -> Option<u32> {
        match self {
            Limit::Infinite => None,
            Limit::Packets(n) => Some(n),
            Limit::Bytes(n) => Some(u32::try_from(n / u64::from(bytes.max(1))).unwrap_or(u32::MAX)),
        }
    }

    /// Whether a packet of `arriving` bytes still fits beside what waits.
    #[inline]
    #[must_use]
    pub fn fits(self, waiting: Backlog, arriving: u16) -> bool {
        match self {
            Limit::Infinite => true,
            Limit::Packets(n) => waiting.packets < n as usize,
            Limit::Bytes(n) => waiting.bytes + u64::from(arriving) <= n,
        }
    }

    /// Whether more waits than there is room for.
    #[inline]
    #[must_use]
    pub fn exceeded(self, waiting: Backlog) -> bool {
        match self {
            Limit::Infinite => false,
            Limit::Packets(n) => waiting.packets > n as usize,
            Limit::Bytes(n) => waiting.bytes > n,
        }
    }
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: usize,
    /// Bytes on the wire.
    pub bytes: u64,
    /// The largest packet that ever came, bytes: the "maxpacket" of RFC 8289 §5.4.
    pub largest: u16,
}

impl Backlog {
    /// Counts a packet in.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        self.largest = self.largest.max(packet.bytes);
    }

    /// Counts a packet out.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
    }
}

/// A first-in first-out buffer.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    waiting: VecDeque<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// Puts a packet at the end.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        self.backlog.add(&packet);
        self.waiting.push_back(packet);
    }

    /// Takes the packet that waited longest.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    /// How much waits.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The packets and their count, for disciplines that take packets out themselves.
    #[inline]
    pub fn parts(&mut self) -> (&mut VecDeque<Packet>, &mut Backlog) {
        (&mut self.waiting, &mut self.backlog)
    }
}

/// Marks a packet whose sender understands marks (RFC 3168 §5); false where it does not.
#[inline]
pub fn mark(packet: &mut Packet) -> bool {
    if packet.ecn == Ecn::NotCapable {
        return false;
    }
    packet.ecn = Ecn::Marked;
    true
}
