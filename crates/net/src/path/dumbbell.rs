//! The design simulator's path, event by event: a [`Bottleneck`], and the packets that are on their way through it.
//!
//! Packets go from their senders straight to where they wait for their arrival.

use super::{Bottleneck, Crowd, DelayLine, Passage, Path};
use crate::network::Network;
use crate::packet::Packet;
use crate::random::Seed;
use crate::time::{Duration, Instant};

/// What is kept of a packet on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Light {
    sent: Instant,
    seq: u32,
    sender: u16,
    lost: bool,
}

/// One bottleneck in motion, and all packets on their way. Those of one instant arrive in the order of sending.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    bottleneck: Bottleneck,
    /// Where no packet passes another.
    line: DelayLine<Light>,
    /// Where some do.
    crowd: Crowd<Light>,
    passing: bool,
    clock: Duration,
    plain: bool,
}

impl Dumbbell {
    /// The path of a network, empty.
    ///
    /// # Panics
    /// If the network is no dumbbell.
    #[must_use]
    pub fn new(network: &Network, seed: Seed) -> Dumbbell {
        let bottleneck = Bottleneck::new(network, seed);
        let passing = bottleneck.lets_pass();
        Dumbbell {
            line: DelayLine::default(),
            crowd: Crowd::default(),
            passing,
            clock: Duration::from_ms(network.clock_ms),
            plain: !passing && bottleneck.is_plain() && network.clock_ms == 0.0,
            bottleneck,
        }
    }
}

impl Path for Dumbbell {
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.plain
    }

    #[inline(always)]
    fn next<const PLAIN: bool>(&self) -> Instant {
        if !PLAIN && self.passing { self.crowd.next() } else { self.line.next() }
    }

    #[inline(always)]
    fn step<const PLAIN: bool>(&mut self, _now: Instant) -> Option<Packet> {
        let light = if !PLAIN && self.passing { self.crowd.pop() } else { self.line.pop() };
        let Light { sent, seq, sender, lost } = light;
        Some(Packet { sent, seq, sender, lost: !PLAIN && lost, ..Packet::default() })
    }

    #[inline(always)]
    fn send<const PLAIN: bool>(&mut self, packet: Packet, now: Instant) -> Option<Instant> {
        let Packet { sent, seq, sender, .. } = packet;
        let Passage { departs, back, lost } = self.bottleneck.take::<PLAIN>(usize::from(sender), now);
        let light = Light { sent, seq, sender, lost };
        if !PLAIN && self.passing {
            self.crowd.push(sender, back, light);
        } else {
            self.line.push(back, light);
        }
        departs
    }

    #[inline(always)]
    fn clock<const PLAIN: bool>(&self) -> Duration {
        if PLAIN { Duration::ZERO } else { self.clock }
    }

    fn lost(&self) -> u64 {
        self.bottleneck.lost()
    }

    fn in_flight(&self) -> u64 {
        self.line.iter().chain(self.crowd.iter()).filter(|p| !p.lost).count() as u64
    }

    fn backlog(&self, now: Instant) -> u64 {
        self.bottleneck.backlog(now)
    }
}
