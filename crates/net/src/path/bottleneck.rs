//! One FIFO queue, one link, a constant delay for each sender, and what chance does to packets on the way: told of a packet that
//! is sent, it answers when its ACK is back.
//!
//! A packet's departure is known when it arrives, so that the queue needs no events. Packets are to be told in the order in
//! which they are sent. No sender's packets overtake each other.

use super::Link;
use super::rough::Rough;
use super::weather::{LARGEST_STEP, Weather};
use crate::network::Network;
use crate::queue::Limit;
use crate::random::{Purpose, Seed, Stream};
use crate::time::{Duration, Instant};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// When its last bit leaves the link; none of a packet that finds no room, or where there is no queue to leave.
    pub departs: Option<Instant>,
    /// When its ACK is back; of a lost packet, when it would have been: it leaves a gap where it would have stood, so that a
    /// transfer by bytes learns of it.
    pub back: Instant,
    /// It found no room, or was lost after the queue.
    pub lost: bool,
}

/// One bottleneck in motion.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    link: Link,
    /// By sender, from the link to the receiver and back.
    delays: Vec<Duration>,
    shortest: Duration,
    loss: f64,
    jitter: f64,
    weather: Option<Box<Weather>>,
    rough: Option<Box<Rough>>,
    /// Packets do not wait.
    policed: bool,
    /// By sender.
    noise: Vec<Noise>,
    /// Nothing happens but chance to each packet by itself; and not even that.
    steady: bool,
    plain: bool,
    shuffles: bool,
    lost: u64,
}

/// What chance does to one sender's packets.
#[derive(Clone, Debug)]
struct Noise {
    loss: Stream,
    jitter: Stream,
    /// When the newest of them arrives: jitter lets none overtake it.
    newest: Instant,
}

impl Bottleneck {
    /// That of a network, idle.
    ///
    /// # Panics
    /// If the network is no dumbbell.
    #[must_use]
    pub fn new(network: &Network, seed: Seed) -> Bottleneck {
        assert!(network.is_dumbbell(), "a dumbbell has one drop-tail queue before one link of constant rate");
        let hop = &network.hops[0];
        let delays: Vec<Duration> = network.rtts_ms().map(Duration::from_ms).collect();
        let stream = |sender, purpose| Stream::new(seed.root, seed.specimen, sender as u64, purpose);
        let noise =
            |i| Noise { loss: stream(i, Purpose::Loss), jitter: stream(i, Purpose::Jitter), newest: Instant::START };
        let link = Link::new(network.rate_mbps(), hop.limit);
        let jitter = network.jitter_ms * 1e6;
        let (weather, rough) = (Weather::of(network, seed), Rough::of(network, seed));
        let policed = network.roughness.policed;
        let infinite = hop.limit == Limit::Infinite;
        let steady = infinite && weather.is_none() && rough.is_none() && !policed;
        // Packets leave the link one service time apart, and those that find no room right behind another.
        let changes = network.roughness.wander > 0.0 || policed || rough.is_some();
        let late = changes || jitter > link.service().as_nanos_f64() / LARGEST_STEP || !infinite;
        Bottleneck {
            steady,
            plain: steady && hop.loss == 0.0 && jitter == 0.0,
            shuffles: (jitter > 0.0 || rough.is_some() || policed) && late,
            link,
            shortest: delays.iter().copied().min().unwrap_or(Duration::ZERO),
            noise: (0..delays.len()).map(noise).collect(),
            delays,
            loss: hop.loss,
            jitter,
            weather,
            rough,
            policed,
            lost: 0,
        }
    }

    /// Nothing is ever dropped, lost or blurred, and the link is always the same.
    #[inline(always)]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether packets that leave the link in one order may arrive in another, though their delay is the same.
    #[must_use]
    pub fn shuffles(&self) -> bool {
        self.shuffles
    }

    /// The delay lines: the number of each sender's, the shortest first, and how many there are. Of ACKs that come back at
    /// one instant that of the first line goes first, and of one line, or where they are shuffled, that of the packet sent first.
    #[must_use]
    pub fn lines(&self) -> (Vec<u16>, usize) {
        let mut distinct = self.delays.clone();
        distinct.sort_unstable();
        distinct.dedup();
        (self.delays.iter().map(|delay| distinct.partition_point(|d| d < delay) as u16).collect(), distinct.len())
    }

    /// Takes in a packet that is sent now.
    #[inline(always)]
    pub fn take<const PLAIN: bool>(&mut self, sender: usize, now: Instant) -> Passage {
        let delay = self.delays[sender];
        if PLAIN {
            let departs = self.link.accept(now);
            return Passage { departs: Some(departs), back: departs + delay, lost: false };
        }
        if self.steady {
            let departs = self.link.accept(now);
            let (lost, back) = self.perturb_each(sender, departs + delay);
            self.lost += u64::from(lost);
            return Passage { departs: Some(departs), back, lost };
        }
        if let Some(weather) = &mut self.weather {
            weather.change(&mut self.link, now);
        }
        let full = self.link.is_full(now);
        let mut departs = if full { self.link.free() } else { self.link.accept(now) };
        if self.policed {
            departs = now + self.link.service();
        }
        let (lost, back) = self.perturb(sender, departs + delay);
        let lost = lost || full;
        self.lost += u64::from(lost);
        // A policer has no queue that anything could leave.
        Passage { departs: (!full && !self.policed).then_some(departs), back, lost }
    }

    /// Stochastic loss and jitter, after the queue: whether a packet is lost, and when its ACK is back.
    #[inline(always)]
    fn perturb(&mut self, sender: usize, back: Instant) -> (bool, Instant) {
        if let Some(rough) = &mut self.rough {
            return rough.perturb(sender as u16, back);
        }
        self.perturb_each(sender, back)
    }

    /// The same where each packet has its own luck.
    #[inline(always)]
    fn perturb_each(&mut self, sender: usize, back: Instant) -> (bool, Instant) {
        let noise = &mut self.noise[sender];
        let lost = self.loss > 0.0 && noise.loss.uniform() < self.loss;
        let mut at = back;
        if self.jitter > 0.0 {
            at += Duration::from_few_nanos_f64(noise.jitter.uniform() * self.jitter);
        }
        noise.newest = noise.newest.max(at);
        (lost, noise.newest)
    }

    /// No ACK of a packet that is sent now or later is back before this instant.
    #[must_use]
    pub fn no_news_before(&self, now: Instant) -> Instant {
        let departs = if self.policed { now } else { self.link.free().max(now) };
        // Where all find room, they take their time on the link besides.
        departs + self.shortest + if self.steady { self.link.service() } else { Duration::ZERO }
    }

    /// Packets dropped or lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets in the queue and on the link.
    #[must_use]
    pub fn backlog(&self, now: Instant) -> u64 {
        self.link.backlog(now)
    }
}
