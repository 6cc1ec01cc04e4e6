//! A link whose rate does not stay: stops, steps, and wandering, for designs to train with.

use super::Link;
use crate::network::Network;
use crate::random::{Purpose, Seed, Stream};
use crate::time::{Duration, Instant};

/// Stops and other rates of the link.
#[derive(Clone, Debug)]
pub(super) struct Weather {
    /// Mean time between two changes, s, and when the next one is.
    mean_s: f64,
    next: Instant,
    stream: Stream,
    /// How many times as long as usual a packet takes, since the last change.
    step: f64,
    /// The logarithm of how much its rate wanders besides: its standard deviation, what it is now, when it changes next.
    sd: f64,
    off: f64,
    wanders: Instant,
    wandering: Stream,
}

/// The longest stop of a link, s, and how far its rate steps up or down from the usual one, at most.
const LONGEST_STOP_S: f64 = 1.0;
pub(super) const LARGEST_STEP: f64 = 2.0;

/// A rate that wanders changes so often, and keeps so much of how far it was off: a time constant of a second.
const WANDER_EVERY: Duration = Duration::from_millis(50);
const WANDER_KEEPS: f64 = 0.951_229_424_500_714;

/// It is never further off than so many standard deviations.
const WANDER_MOST: f64 = 2.5;

impl Weather {
    /// That of a network; none where the link is always the same.
    pub fn of(network: &Network, seed: Seed) -> Option<Box<Weather>> {
        let (mean_s, sd) = (network.upsets.link_s, network.roughness.wander);
        if mean_s == 0.0 && sd == 0.0 {
            return None;
        }
        // The numbers after the last sender's.
        let stream = |number| Stream::new(seed.root, seed.specimen, network.senders() as u64 + number, Purpose::Upsets);
        let (mut changes, mut wandering) = (stream(0), stream(1));
        let next = if mean_s > 0.0 { Instant::from_s(changes.exponential(mean_s)) } else { Instant::NEVER };
        let (wanders, off) = if sd > 0.0 { (Instant::START, wandering.normal(0.0, sd)) } else { (Instant::NEVER, 0.0) };
        Some(Box::new(Weather { mean_s, next, stream: changes, step: 1.0, sd, off, wanders, wandering }))
    }

    /// What happened to the link up to now. Packets that it has taken in leave as they would have.
    pub fn change(&mut self, link: &mut Link, now: Instant) {
        while self.next <= now {
            if self.stream.below(2) == 0 {
                link.pause(self.next, Duration::from_s(self.stream.between(0.0, LONGEST_STOP_S)));
            } else {
                self.step = self.stream.log_between(1.0 / LARGEST_STEP, LARGEST_STEP);
                link.slow_down(self.slowness());
            }
            self.next += Duration::from_s(self.stream.exponential(self.mean_s)).max(Duration::NANOSECOND);
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
