//! Drop tail: first in, first out, and an arrival that finds no room is dropped.

use super::{Fifo, Limit, Queue};
use crate::packet::Packet;
use crate::time::Instant;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    fifo: Fifo,
}

impl DropTail {
    /// An empty queue with this room.
    #[must_use]
    pub fn new(limit: Limit) -> DropTail {
        DropTail { limit, fifo: Fifo::default() }
    }
}

impl Queue for DropTail {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        if self.limit.fits(self.fifo.backlog(), packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _dropped: &mut Vec<Packet>) -> Option<Packet> {
        self.fifo.pop()
    }

    fn packets(&self) -> usize {
        self.fifo.backlog().packets
    }

    fn bytes(&self) -> u64 {
        self.fifo.backlog().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::packet;

    /// Sends packets of these sizes into a queue; returns the numbers of those dropped.
    fn dropped_of(limit: Limit, sizes: &[u16]) -> Vec<u32> {
        let (mut queue, mut dropped) = (DropTail::new(limit), vec![]);
        for (seq, &bytes) in sizes.iter().enumerate() {
            queue.enqueue(Packet { bytes, ..packet(0, seq as u32) }, Instant::START, &mut dropped);
        }
        dropped.iter().map(|p| p.seq).collect()
    }

    #[test]
    fn arrivals_without_room_are_dropped() {
        assert_eq!(dropped_of(Limit::Packets(3), &[1000; 5]), [3, 4]);
        assert_eq!(dropped_of(Limit::Packets(0), &[1000; 2]), [0, 1]);
        assert_eq!(dropped_of(Limit::Infinite, &[1000; 5000]), [0u32; 0]);
    }

    #[test]
    fn a_limit_in_bytes_still_takes_smaller_packets() {
        assert_eq!(dropped_of(Limit::Bytes(2500), &[1000, 1000, 1000, 500, 1]), [2, 4]);
    }

    #[test]
    fn packets_leave_in_the_order_of_arrival_and_make_room() {
        let (mut queue, mut dropped) = (DropTail::new(Limit::Packets(2)), vec![]);
        for seq in 0..2 {
            queue.enqueue(packet(0, seq), Instant::from_nanos(7), &mut dropped);
        }
        let first = queue.dequeue(Instant::from_nanos(9), &mut dropped).expect("two packets wait");
        assert_eq!((first.seq, first.enqueued), (0, Instant::from_nanos(7)));
        queue.enqueue(packet(0, 2), Instant::from_nanos(9), &mut dropped);
        assert_eq!(queue.dequeue(Instant::from_nanos(9), &mut dropped).map(|p| p.seq), Some(1));
        assert_eq!(queue.dequeue(Instant::from_nanos(9), &mut dropped).map(|p| p.seq), Some(2));
        assert!(queue.dequeue(Instant::from_nanos(9), &mut dropped).is_none() && dropped.is_empty());
    }
}
