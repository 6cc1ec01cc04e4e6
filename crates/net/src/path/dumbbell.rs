//! The design simulator's path, event by event: a [`Bottleneck`], and the packets that are on their way through it.
//!
//! Packets go from their senders straight into the delay line of their delay.

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

/// One bottleneck in motion, and all packets on their way.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    bottleneck: Bottleneck,
    /// The first delay line, the only one in the plain case, and the others.
    line: DelayLine<Light>,
    lines: Vec<DelayLine<Light>>,
    /// All packets, where jitter is more than what is between them: it holds back one sender's packets, and the others' pass them.
    jittered: Crowd<Light>,
    /// By sender, its delay line.
    routes: Vec<u16>,
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
        let (routes, lines) = bottleneck.lines();
        Dumbbell {
            line: DelayLine::default(),
            lines: vec![DelayLine::default(); lines - 1],
            jittered: Crowd::default(),
            routes,
            clock: Duration::from_ms(network.clock_ms),
            plain: lines == 1 && bottleneck.is_plain() && network.clock_ms == 0.0,
            bottleneck,
        }
    }

    /// The delay line whose packet arrives first, and when; one more than there are delay lines stands for the jittered.
    #[inline(always)]
    fn first(&self) -> (usize, Instant) {
        let times = self.lines.iter().map(DelayLine::next).chain([self.jittered.next()]).zip(1..);
        times.fold((0, self.line.next()), |first, (t, line)| if t < first.1 { (line, t) } else { first })
    }
}

impl Path for Dumbbell {
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.plain
    }

    #[inline(always)]
    fn next<const PLAIN: bool>(&self) -> Instant {
        if PLAIN { self.line.next() } else { self.first().1 }
    }

    #[inline(always)]
    fn step<const PLAIN: bool>(&mut self, _now: Instant) -> Option<Packet> {
        let line = if PLAIN { 0 } else { self.first().0 };
        let Light { sent, seq, sender, lost } = if PLAIN || line == 0 {
            self.line.pop()
        } else if line <= self.lines.len() {
            self.lines[line - 1].pop()
        } else {
            self.jittered.pop()
        };
        Some(Packet { sent, seq, sender, lost: !PLAIN && lost, ..Packet::default() })
    }

    #[inline(always)]
    fn send<const PLAIN: bool>(&mut self, packet: Packet, now: Instant) -> Option<Instant> {
        let Packet { sent, seq, sender, .. } = packet;
        let Passage { departs, back, lost } = self.bottleneck.take::<PLAIN>(usize::from(sender), now);
        let light = Light { sent, seq, sender, lost };
        if PLAIN {
            self.line.push(back, light);
        } else if self.bottleneck.shuffles() {
            self.jittered.push(sender, back, light);
        } else {
            match self.routes[usize::from(sender)] {
                0 => self.line.push(back, light),
                line => self.lines[usize::from(line) - 1].push(back, light),
            }
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
        let lines = self.lines.iter().chain([&self.line]).flat_map(DelayLine::iter);
        lines.chain(self.jittered.iter()).filter(|p| !p.lost).count() as u64
    }

    fn backlog(&self, now: Instant) -> u64 {
        self.bottleneck.backlog(now)
    }
}
