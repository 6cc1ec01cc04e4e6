//! The bottleneck: one FIFO queue before a constant-rate link.
//!
//! Nothing else decides when a packet leaves such a queue, so its departure is known on arrival and the queue needs no
//! events and no storage: `max(now, link free) + service`.

use crate::network::{PACKET_BYTES, packets_per_s};
use crate::queue::Limit;
use crate::time::{Duration, Instant};

/// A FIFO queue and its link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Transmission time of a packet, now and as a rule.
    service: Duration,
    usual: Duration,
    /// When the last packet taken in will have left.
    free: Instant,
    /// Drop an arrival when the backlog exceeds this.
    max_backlog: Duration,
    /// When it stands still, the last time that it did or will.
    stop: (Instant, Instant),
}

impl Link {
    /// An idle link of `mbps` for packets of [`PACKET_BYTES`], and the room before it.
    #[must_use]
    pub fn new(mbps: f64, limit: Limit) -> Link {
        let service = Duration::from_nanos_f64((1e9 / packets_per_s(mbps)).round()).max(Duration::NANOSECOND);
        // A backlog in (k-1, k] service times is k packets, of which one is being transmitted and k-1 wait.
        let waiting = limit.packets(PACKET_BYTES as u16);
        let max_backlog = waiting.map_or(Duration::MAX, |n| service.saturating_mul(u64::from(n)));
        Link { service, usual: service, free: Instant::START, max_backlog, stop: (Instant::START, Instant::START) }
    }

    /// Stops for so long, behind what it took in before.
    pub fn pause(&mut self, now: Instant, time: Duration) {
        let begin = self.free.max(now);
        // One stop that begins during another prolongs it.
        let begins = if self.stop.1 > now { self.stop.0 } else { begin };
        self.stop = (begins, self.stop.1.max(begin) + time);
        self.free = begin + time;
    }

    /// From now on packets take so many times as long as they usually do; there is room for as many.
    pub fn slow_down(&mut self, factor: f64) {
        let service = Duration::from_nanos_f64((self.usual.as_nanos_f64() * factor).round()).max(Duration::NANOSECOND);
        if self.max_backlog != Duration::MAX {
            self.max_backlog = service.saturating_mul(self.max_backlog / self.service);
        }
        self.service = service;
    }

    /// Takes in a packet; returns when its last bit leaves.
    #[inline(always)]
    pub fn accept(&mut self, now: Instant) -> Instant {
        self.free = self.free.max(now) + self.service;
        self.free
    }

    /// Whether a packet that arrives now finds no room.
    #[inline(always)]
    #[must_use]
    pub fn is_full(&self, now: Instant) -> bool {
        // A stop takes up time, and no room.
        let idle = self.stop.1.since(self.stop.0.max(now));
        self.free.since(now).saturating_sub(idle) > self.max_backlog
    }

    /// When all that was taken in will have left.
    #[must_use]
    pub fn free(&self) -> Instant {
        self.free
    }

    /// Packets in the queue and on the link.
    #[must_use]
    pub fn backlog(&self, now: Instant) -> u64 {
        let idle = self.stop.1.since(self.stop.0.max(now));
        self.free.since(now).saturating_sub(idle).div_ceil(self.service)
    }

    /// Transmission time of a packet.
    #[must_use]
    pub fn service(&self) -> Duration {
        self.service
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_takes_up_no_room() {
        let mut link = Link::new(10.0, Limit::Packets(3));
        link.accept(Instant::START);
        link.pause(Instant::START, Duration::from_millis(50));
        // The first leaves after 1 ms, the others wait until 51 ms, and no more than four are there at a time.
        let accepted =
            |link: &mut Link, now| (0..9).filter(|_| !link.is_full(now) && link.accept(now) > Instant::START).count();
        assert_eq!((accepted(&mut link, Instant::START), link.backlog(Instant::START)), (3, 4));
        assert_eq!((accepted(&mut link, Instant::from_millis(20)), link.backlog(Instant::from_millis(20))), (1, 4));
        assert_eq!((accepted(&mut link, Instant::from_millis(51)), link.free()), (0, Instant::from_millis(55)));
    }

    #[test]
    fn tail_drop_counts_the_waiting_packets() {
        let mut link = Link::new(10.0, Limit::Packets(3));
        assert_eq!(link.service(), Duration::from_millis(1));
        // One is being transmitted and three wait; the fifth finds no room, until the first has left.
        let accepted =
            (0..5).filter(|_| !link.is_full(Instant::START) && link.accept(Instant::START) > Instant::START).count();
        assert_eq!(accepted, 4);
        assert!(link.is_full(Instant::from_nanos(999_999)) && !link.is_full(Instant::from_millis(1)));
        assert_eq!(
            (
                link.backlog(Instant::START),
                link.backlog(Instant::from_millis(1)),
                link.backlog(Instant::from_millis(9))
            ),
            (4, 3, 0)
        );
    }
}
