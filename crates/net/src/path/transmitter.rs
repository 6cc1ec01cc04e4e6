//! A constant-rate link that keeps the parts of a nanosecond that a packet takes.
//!
//! A packet of 1250 bytes takes 666,666.67 ns at 15 Mbit/s. Rounded each time, 100 s of a busy link end 50 us late, a tenth of a
//! packet: enough for other packets to find a full queue than in ns-2, whose runs are repeated here one by one.

use crate::queue::Limit;
use crate::time::{Duration, Instant};

/// When a link finishes its packets.
#[derive(Clone, Debug)]
pub struct Transmitter {
    mbps: f64,
    /// How much later than in whole ns the last packet was finished, ns, in [-0.5, 0.5].
    owed: f64,
}

impl Transmitter {
    /// An idle link of this rate.
    #[must_use]
    pub fn new(mbps: f64) -> Transmitter {
        Transmitter { mbps, owed: 0.0 }
    }

    /// Time that so many bytes take, ns.
    fn ns(&self, bytes: u16) -> f64 {
        f64::from(bytes) * 8e3 / self.mbps
    }

    /// How long a packet is being transmitted: one that comes to an idle link, or right after another.
    #[inline]
    pub fn transmit(&mut self, bytes: u16, idle: bool) -> Duration {
        let exact = self.ns(bytes) + if idle { 0.0 } else { self.owed };
        let whole = exact.round().max(1.0);
        // What takes less than a ns takes one: nothing is owed.
        self.owed = (exact - whole).clamp(-0.5, 0.5);
        // Instant::NEVER where the rate is 0.
        Duration::from_nanos_f64(whole)
    }
}

/// A FIFO queue of packets of one size and its link: departures are known on arrival, as of [`super::Link`].
#[derive(Clone, Debug)]
pub struct Pipe {
    transmitter: Transmitter,
    bytes: u16,
    /// When the last packet taken in will have left.
    free: Instant,
    /// Drop an arrival when the backlog exceeds this, ns.
    max_backlog: f64,
}

impl Pipe {
    /// An idle link of `mbps` for packets of `bytes`, and the room before it.
    #[must_use]
    pub fn new(mbps: f64, bytes: u16, limit: Limit) -> Pipe {
        let transmitter = Transmitter::new(mbps);
        // One is being transmitted besides those that wait; both ends of the backlog are rounded.
        let ns = |packets: u32| transmitter.ns(bytes).max(1.0) * f64::from(packets) + 0.5;
        let max_backlog = limit.packets(bytes).map_or(f64::INFINITY, ns);
        Pipe { transmitter, bytes, free: Instant::START, max_backlog }
    }

    /// Takes in a packet; returns when its last bit leaves.
    #[inline]
    pub fn accept(&mut self, now: Instant) -> Instant {
        let idle = self.free <= now;
        let start = self.free.max(now);
        self.free = start
            .saturating_add(self.transmitter.transmit(self.bytes, idle))
            .min(Instant::NEVER - Duration::NANOSECOND);
        self.free
    }

    /// Whether a packet that arrives now finds no room.
    #[inline]
    #[must_use]
    pub fn is_full(&self, now: Instant) -> bool {
        self.free.since(now).as_nanos_f64() > self.max_backlog
    }

    /// When all that was taken in will have left.
    #[must_use]
    pub fn free(&self) -> Instant {
        self.free
    }

    /// Packets in the queue and on the link.
    #[must_use]
    pub fn backlog(&self, now: Instant) -> u64 {
        // Both ends are rounded.
        let ns = self.free.since(now).as_nanos_f64() - 0.5;
        (ns / self.transmitter.ns(self.bytes).max(1.0)).ceil().max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_link_loses_no_part_of_a_nanosecond() {
        let mut pipe = Pipe::new(15.0, 1250, Limit::Infinite);
        let ends: Vec<Instant> = (0..150_000).map(|_| pipe.accept(Instant::START)).collect();
        assert_eq!(ends[..3], [666_667, 1_333_333, 2_000_000].map(Instant::from_nanos));
        assert_eq!(ends.last(), Some(&Instant::from_s(100.0)));
        // After a pause it begins anew.
        assert_eq!(pipe.accept(Instant::from_s(101.0)), Instant::from_s(101.0) + Duration::from_nanos(666_667));
    }

    #[test]
    fn room_for_two_and_one_on_the_link() {
        let mut pipe = Pipe::new(15.0, 1250, Limit::Packets(2));
        for held in 1..=3 {
            assert!(!pipe.is_full(Instant::START));
            pipe.accept(Instant::START);
            assert_eq!(pipe.backlog(Instant::START), held);
        }
        assert!(pipe.is_full(Instant::START) && pipe.is_full(Instant::from_nanos(666_666)));
        // The first has left.
        assert!(!pipe.is_full(Instant::from_nanos(666_667)));
        assert_eq!((pipe.backlog(Instant::from_nanos(666_667)), pipe.backlog(Instant::from_millis(2))), (2, 0));
    }
}
