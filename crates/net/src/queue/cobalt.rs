//! COBALT, the queue management of CAKE without its shaper (Høiland-Jørgensen, Täht and Morton 2018, "Piece of CAKE", §III):
//! CoDel for flows that slow down when they lose packets, and BLUE (Feng et al. 2002) for those that do not.
//!
//! BLUE drops departing packets at random. Its probability grows when the room is used up, and shrinks when the queue is
//! found empty, each at most once in a target's time. Not here: that an overflow makes CoDel drop at once, too.

use std::collections::VecDeque;

use super::{Backlog, CoDelSettings, CoDelState, Limit, Queue};
use crate::packet::Packet;
use crate::random::Stream;
use crate::time::Instant;

/// By how much BLUE's probability grows and shrinks.
const UP: f64 = 1.0 / 256.0;
const DOWN: f64 = 1.0 / 4096.0;

/// The settings of COBALT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CobaltSettings {
    /// CoDel, whose target is also how long BLUE waits between two changes.
    pub codel: CoDelSettings,
}

/// A COBALT queue.
#[derive(Clone, Debug)]
pub struct Cobalt {
    settings: CobaltSettings,
    limit: Limit,
    random: Stream,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    codel: CoDelState,
    /// BLUE's probability of a drop, and when it may change again.
    probability: f64,
    changes: Instant,
}

impl Cobalt {
    /// An empty queue with this room.
    #[must_use]
    pub fn new(settings: CobaltSettings, limit: Limit, random: Stream) -> Cobalt {
        let (waiting, backlog, codel) = (VecDeque::new(), Backlog::default(), CoDelState::default());
        Cobalt { settings, limit, random, waiting, backlog, codel, probability: 0.0, changes: Instant::START }
    }

    /// BLUE's probability of a drop.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    fn drop_oldest(&mut self, dropped: &mut Vec<Packet>) {
        if let Some(oldest) = self.waiting.pop_front() {
            self.backlog.remove(&oldest);
            dropped.push(oldest);
        }
    }

    /// Changes BLUE's probability, if the last change is long enough ago.
    fn change(&mut self, by: f64, now: Instant) {
        if now >= self.changes {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.changes = now.saturating_add(self.settings.codel.target);
        }
    }
}

impl Queue for Cobalt {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        self.backlog.add(&packet);
        self.waiting.push_back(packet);
        while self.limit.exceeded(self.backlog) {
            self.drop_oldest(dropped);
            self.change(UP, now);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Packet>) -> Option<Packet> {
        // BLUE does not mark (§III), and goes first, so that nothing is dropped that CoDel has marked.
        while self.probability > 0.0 && !self.waiting.is_empty() && self.random.uniform() < self.probability {
            self.drop_oldest(dropped);
        }
        let packet = self.codel.dequeue(&self.settings.codel, now, &mut self.waiting, &mut self.backlog, dropped);
        if packet.is_none() {
            self.change(-DOWN, now);
        }
        packet
    }

    fn packets(&self) -> usize {
        self.backlog.packets
    }

    fn bytes(&self) -> u64 {
        self.backlog.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{packet, stream};

    /// Twice as much as the link carries, for so many ms, into a room of 20 packets; then nothing for as long. A packet takes a ms.
    fn flooded(ms: u64) -> (Cobalt, [f64; 2], Vec<Packet>) {
        let mut queue = Cobalt::new(CobaltSettings::default(), Limit::Packets(20), stream());
        let (mut dropped, mut found) = (Vec::new(), [0.0; 2]);
        for now in 0..2 * ms {
            if now < ms {
                (0..2).for_each(|k| {
                    queue.enqueue(packet(0, (2 * now + k) as u32), Instant::from_millis(now), &mut dropped)
                });
                found[0] = queue.probability();
            }
            queue.dequeue(Instant::from_millis(now), &mut dropped);
        }
        found[1] = queue.probability();
        (queue, found, dropped)
    }

    #[test]
    fn who_does_not_slow_down_meets_blue() {
        let (queue, [flooded, after], dropped) = flooded(4000);
        // At most 1/256 more every 5 ms while the room is used up, until half of what comes is dropped by both.
        assert!((0.1..0.6).contains(&flooded), "{flooded}");
        // And 1/4096 less every 5 ms while nothing comes.
        let idle = (4000.0 - 20.0) / 5.0 / 4096.0;
        assert!((flooded - after - idle).abs() < 0.02, "{flooded} {after}");
        assert_eq!(queue.packets(), 0);
        assert!((3900..4200).contains(&dropped.len()), "{}", dropped.len());
    }

    #[test]
    fn without_an_overflow_it_is_codel() {
        let settings = CoDelSettings::default();
        let mut cobalt = Cobalt::new(CobaltSettings { codel: settings }, Limit::Infinite, stream());
        let mut codel = super::super::CoDel::new(settings, Limit::Infinite);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for now in 0..3000u64 {
            for k in 0..1 + u64::from(now % 5 == 0) {
                cobalt.enqueue(packet(0, (2 * now + k) as u32), Instant::from_millis(now), &mut ours);
                codel.enqueue(packet(0, (2 * now + k) as u32), Instant::from_millis(now), &mut theirs);
            }
            let (a, b) = (
                cobalt.dequeue(Instant::from_millis(now), &mut ours),
                codel.dequeue(Instant::from_millis(now), &mut theirs),
            );
            assert_eq!(a.map(|p| p.seq), b.map(|p| p.seq));
        }
        assert!(ours.len() > 10 && ours.len() == theirs.len());
    }
}
