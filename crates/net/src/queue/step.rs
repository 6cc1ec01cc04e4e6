//! Step marking: the queue of DCTCP. An arrival that finds more than K packets waiting is marked.
//!
//! A RED queue becomes this when both thresholds are K and the average is the instantaneous queue (Alizadeh et al.
//! 2010 §3.1, RFC 8257 §3.1). As in a RED queue so set, packets that cannot be marked are dropped (RFC 8257 §5).

use super::{Fifo, Limit, Queue, mark};
use crate::packet::Packet;
use crate::time::Instant;

/// The threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSettings {
    /// K, packets.
    pub threshold: u32,
}

impl StepSettings {
    /// K at 1 Gbit/s (Alizadeh et al. 2010 §3.4).
    pub const GIGABIT: StepSettings = StepSettings { threshold: 20 };
    /// K at 10 Gbit/s (Alizadeh et al. 2010 §3.4).
    pub const TEN_GIGABIT: StepSettings = StepSettings { threshold: 65 };
}

impl Default for StepSettings {
    fn default() -> Self {
        Self::TEN_GIGABIT
    }
}

/// A queue that marks above a threshold.
#[derive(Clone, Debug)]
pub struct Step {
    settings: StepSettings,
    limit: Limit,
    fifo: Fifo,
}

impl Step {
    /// An empty queue with this room.
    #[must_use]
    pub fn new(settings: StepSettings, limit: Limit) -> Step {
        Step { settings, limit, fifo: Fifo::default() }
    }
}

impl Queue for Step {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        let waiting = self.fifo.backlog();
        let above = waiting.packets > self.settings.threshold as usize;
        if !self.limit.fits(waiting, packet.bytes) || (above && !mark(&mut packet)) {
            dropped.push(packet);
        } else {
            self.fifo.push(packet);
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
    use crate::packet::Ecn;
    use crate::queue::testing::packet;

    #[test]
    fn packets_are_marked_exactly_above_the_threshold() {
        // RFC 8257 §3.1: marked where the queue on arrival exceeds K.
        let (mut queue, mut dropped) = (Step::new(StepSettings { threshold: 3 }, Limit::Infinite), vec![]);
        for seq in 0..6 {
            queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(0, seq) }, Instant::START, &mut dropped);
        }
        let marked: Vec<bool> =
            std::iter::from_fn(|| queue.dequeue(Instant::START, &mut dropped)).map(|p| p.ecn == Ecn::Marked).collect();
        assert_eq!(marked, [false, false, false, false, true, true]);
        assert!(dropped.is_empty());
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped() {
        // RFC 8257 §5: beside DCTCP, senders without ECN lose what others have marked.
        let (mut queue, mut dropped) = (Step::new(StepSettings { threshold: 3 }, Limit::Infinite), vec![]);
        for seq in 0..6 {
            queue.enqueue(packet(0, seq), Instant::START, &mut dropped);
        }
        assert_eq!(dropped.iter().map(|p| p.seq).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(queue.packets(), 4);
    }
}
