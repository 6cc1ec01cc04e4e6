//! The design simulator's path: one FIFO queue, one constant-rate link, a constant delay for each sender.
//!
//! A packet's departure is known when it arrives, so the queue needs no events, and packets go from their senders
//! straight into the delay line of their delay.

use super::rough::Rough;
use super::{Crowd, DelayLine, Link, Path};
use crate::network::{Buffer, Network};
use crate::packet::Packet;
use crate::random::Seed;
use crate::random::{Purpose, Stream};
use crate::time::{NEVER, Time, from_ms, from_s};

/// What is kept of a packet on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Light {
    sent: Time,
    seq: u32,
    sender: u16,
    lost: bool,
}

/// One bottleneck in motion.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    link: Link,
    /// The first delay line, the only one in the plain case, and the others.
    line: DelayLine<Light>,
    lines: Vec<DelayLine<Light>>,
    /// All packets, where jitter is more than what is between them: it holds back one sender's packets, and the others' pass them.
    jittered: Crowd<Light>,
    /// Delay of the first sender: everybody's in the plain case.
    rtt: Time,
    routes: Vec<(u16, Time)>,
    loss: f64,
    jitter: f64,
    /// Jitter may change the order of packets.
    shuffles: bool,
    clock: Time,
    weather: Option<Box<Weather>>,
    rough: Option<Box<Rough>>,
    /// Packets do not wait.
    policed: bool,
    /// By sender.
    noise: Vec<Noise>,
    plain: bool,
    lost: u64,
}

/// What chance does to one sender's packets.
#[derive(Clone, Debug)]
struct Noise {
    loss: Stream,
    jitter: Stream,
    /// When the newest of them arrives: jitter lets none overtake it.
    newest: Time,
}

/// Stops and other rates of the link.
#[derive(Clone, Debug)]
struct Weather {
    /// Mean time between two changes, s, and when the next one is.
    mean_s: f64,
    next: Time,
    stream: Stream,
    /// How many times as long as usual a packet takes, since the last change.
    step: f64,
    /// The logarithm of how much its rate wanders besides: its standard deviation, what it is now, when it changes next.
    sd: f64,
    off: f64,
    wanders: Time,
    wandering: Stream,
}

/// The longest stop of a link, s, and how far its rate steps up or down from the usual one, at most.
const LONGEST_STOP_S: f64 = 1.0;
const LARGEST_STEP: f64 = 2.0;

/// A rate that wanders changes so often, and keeps so much of how far it was off: a time constant of a second.
const WANDER_EVERY: Time = 50_000_000;
const WANDER_KEEPS: f64 = 0.951_229_424_500_714;

/// It is never further off than so many standard deviations.
const WANDER_MOST: f64 = 2.5;

impl Weather {
    fn of(network: &Network, seed: Seed) -> Option<Box<Weather>> {
        let (mean_s, sd) = (network.upsets.link_s, network.roughness.wander);
        if mean_s == 0.0 && sd == 0.0 {
            return None;
        }
        // The numbers after the last sender's.
        let stream = |number| Stream::new(seed.root, seed.specimen, network.senders() as u64 + number, Purpose::Upsets);
        let (mut changes, mut wandering) = (stream(0), stream(1));
        let next = if mean_s > 0.0 { from_s(changes.exponential(mean_s)) } else { NEVER };
        let (wanders, off) = if sd > 0.0 { (0, wandering.normal(0.0, sd)) } else { (NEVER, 0.0) };
        Some(Box::new(Weather { mean_s, next, stream: changes, step: 1.0, sd, off, wanders, wandering }))
    }

    /// What happened to the link up to now. Packets that it has taken in leave as they would have.
    fn change(&mut self, link: &mut Link, now: Time) {
        while self.next <= now {
            if self.stream.below(2) == 0 {
                link.pause(self.next, from_s(self.stream.between(0.0, LONGEST_STOP_S)));
            } else {
                self.step = self.stream.log_between(1.0 / LARGEST_STEP, LARGEST_STEP);
                link.slow_down(self.slowness());
            }
            self.next += from_s(self.stream.exponential(self.mean_s)).max(1);
        }
        if self.wanders <= now {
            while self.wanders <= now {
                let fresh = self.sd * libm::sqrt(1.0 - WANDER_KEEPS * WANDER_KEEPS);
                self.off = WANDER_KEEPS * self.off + self.wandering.normal(0.0, fresh);
                self.wanders += WANDER_EVERY;
            }
            link.slow_down(self.slowness());
        }
    }

    /// How many times as long as usual a packet takes now.
    fn slowness(&self) -> f64 {
        let most = WANDER_MOST * self.sd;
        self.step * libm::exp(self.off.clamp(-most, most))
    }
}

impl Dumbbell {
    /// The path of a network, empty.
    #[must_use]
    pub fn new(network: &Network, seed: Seed) -> Dumbbell {
        let delays: Vec<Time> = network.rtt_ms.iter().map(|&ms| from_ms(ms)).collect();
        let mut distinct = delays.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let line = |d: &Time| distinct.binary_search(d).expect("every delay is among the distinct ones");
        let stream = |sender, purpose| Stream::new(seed.root, seed.specimen, sender as u64, purpose);
        let link = Link::new(network);
        let jitter = network.jitter_ms * 1e6;
        // Packets leave the link one service time apart, and those that find no room right behind another.
        let rough = Rough::of(network, seed);
        let policed = network.roughness.policed;
        let changes = network.roughness.wander > 0.0 || policed || rough.is_some();
        let shuffles = changes || jitter > link.service() as f64 / LARGEST_STEP || network.buffer != Buffer::Infinite;
        let noise = |i| Noise { loss: stream(i, Purpose::Loss), jitter: stream(i, Purpose::Jitter), newest: 0 };
        Dumbbell {
            link,
            line: DelayLine::default(),
            lines: vec![DelayLine::default(); distinct.len() - 1],
            jittered: Crowd::default(),
            rtt: delays[0],
            routes: delays.iter().map(|d| (line(d) as u16, *d)).collect(),
            loss: network.loss,
            jitter,
            shuffles: (jitter > 0.0 || rough.is_some() || policed) && shuffles,
            weather: Weather::of(network, seed),
            clock: from_ms(network.clock_ms),
            noise: (0..delays.len()).map(noise).collect(),
            plain: distinct.len() == 1
                && network.buffer == Buffer::Infinite
                && network.loss == 0.0
                && network.jitter_ms == 0.0
                && network.upsets.link_s == 0.0
                && network.roughness.wander == 0.0
                && !policed
                && rough.is_none()
                && network.clock_ms == 0.0,
            rough,
            policed,
            lost: 0,
        }
    }

    /// The delay line whose packet arrives first, and when; one more than there are delay lines stands for the jittered.
    #[inline(always)]
    fn first(&self) -> (usize, Time) {
        let times = self.lines.iter().map(DelayLine::next).chain([self.jittered.next()]).zip(1..);
        times.fold((0, self.line.next()), |first, (t, line)| if t < first.1 { (line, t) } else { first })
    }

    /// Stochastic loss and jitter, after the queue: the instant of arrival.
    fn perturb(&mut self, packet: &mut Light, received: Time) -> Time {
        if let Some(rough) = &mut self.rough {
            let (lost, at) = rough.perturb(packet.sender, received);
            packet.lost |= lost;
            self.lost += u64::from(packet.lost);
            return at;
        }
        let noise = &mut self.noise[usize::from(packet.sender)];
        if self.loss > 0.0 {
            packet.lost |= noise.loss.uniform() < self.loss;
        }
        let late = if self.jitter > 0.0 { (noise.jitter.uniform() * self.jitter) as Time } else { 0 };
        self.lost += u64::from(packet.lost);
        noise.newest = noise.newest.max(received + late);
        noise.newest
    }
}

impl Path for Dumbbell {
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.plain
    }

    #[inline(always)]
    fn next<const PLAIN: bool>(&self) -> Time {
        if PLAIN { self.line.next() } else { self.first().1 }
    }

    #[inline(always)]
    fn step<const PLAIN: bool>(&mut self, _now: Time) -> Option<Packet> {
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
    fn send<const PLAIN: bool>(&mut self, packet: Packet, now: Time) -> Option<Time> {
        let Packet { sent, seq, sender, .. } = packet;
        let mut light = Light { sent, seq, sender, lost: false };
        if PLAIN {
            let departs = self.link.accept(now);
            self.line.push(departs + self.rtt, light);
            return Some(departs);
        }
        if let Some(weather) = &mut self.weather {
            weather.change(&mut self.link, now);
        }
        let (line, delay) = self.routes[usize::from(sender)];
        // A packet that finds no room leaves a gap where it would have stood, so that a transfer by bytes learns of it.
        light.lost = self.link.is_full(now);
        let mut departs = if light.lost { self.link.free() } else { self.link.accept(now) };
        if self.policed {
            departs = now + self.link.service();
        }
        // A policer has no queue that anything could leave.
        let taken = !light.lost && !self.policed;
        let at = self.perturb(&mut light, departs + delay);
        match line {
            _ if self.shuffles => self.jittered.push(sender, at, light),
            0 => self.line.push(at, light),
            line => self.lines[usize::from(line) - 1].push(at, light),
        }
        taken.then_some(departs)
    }

    #[inline(always)]
    fn clock<const PLAIN: bool>(&self) -> Time {
        if PLAIN { 0 } else { self.clock }
    }

    fn lost(&self) -> u64 {
        self.lost
    }

    fn in_flight(&self) -> u64 {
        let lines = self.lines.iter().chain([&self.line]).flat_map(DelayLine::iter);
        lines.chain(self.jittered.iter()).filter(|p| !p.lost).count() as u64
    }

    fn backlog(&self, now: Time) -> u64 {
        self.link.backlog(now)
    }
}
