//! What real paths do to packets after the bottleneck, for designs to train with: losses in a row, delays that wander as
//! those of a congested way back do, and batches such as Wi-Fi's.
//!
//! Time is cut into slots, and what happens in a slot is drawn by its number and the sender's: candidates meet the same luck
//! whatever they send. No sender's packets overtake each other.

use crate::network::Network;
use crate::random::{Purpose, Seed, Stream};
use crate::time::{Duration, Instant};

/// The path of each sender.
#[derive(Clone, Debug)]
pub struct Rough {
    /// Probability that a row of losses begins with a packet, and that one goes on.
    begins: f64,
    goes_on: f64,
    /// The largest extra delay, and how long it takes to change; 0: every packet has its own.
    jitter: f64,
    every: Duration,
    /// There is one batch in each slot of this length; 0: there are none.
    batch: Duration,
    each: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    loss: Stream,
    losing: bool,
    jitter: Stream,
    /// Names the slots' draws.
    delays: Slots,
    batches: Slots,
    /// When the newest packet arrives.
    newest: Instant,
}

impl Rough {
    /// That of a network; none where jitter and losses of single packets are all there is.
    pub fn of(network: &Network, seed: Seed) -> Option<Box<Rough>> {
        let rough = network.roughness;
        if rough.loss_burst <= 1.0 && rough.jitter_every_ms == 0.0 && rough.batch_ms == 0.0 {
            return None;
        }
        let (burst, loss) = (rough.loss_burst.max(1.0), network.hops[0].loss);
        let state = |sender: usize| {
            let stream = |purpose| Stream::new(seed.root, seed.specimen, sender as u64, purpose);
            let slots = |purpose| Slots::new(stream(purpose).next_u64());
            State {
                loss: stream(Purpose::Loss),
                losing: false,
                jitter: stream(Purpose::Jitter),
                delays: slots(Purpose::Jitter),
                batches: slots(Purpose::Batches),
                newest: Instant::START,
            }
        };
        Some(Box::new(Rough {
            // Of all packets, `loss` are lost: rows of so many on the mean, as far apart as that takes.
            begins: (loss / (burst * (1.0 - loss))).min(1.0),
            goes_on: 1.0 - 1.0 / burst,
            jitter: network.jitter_ms * 1e6,
            every: Duration::from_ms(rough.jitter_every_ms),
            batch: Duration::from_ms(rough.batch_ms),
            each: (0..network.senders()).map(state).collect(),
        }))
    }

    /// Whether a packet is lost, and when it arrives, which would arrive at `received`.
    pub fn perturb(&mut self, sender: u16, received: Instant) -> (bool, Instant) {
        let state = &mut self.each[usize::from(sender)];
        let lost = self.begins > 0.0 && {
            state.losing = state.loss.uniform() < if state.losing { self.goes_on } else { self.begins };
            state.losing
        };
        let share =
            if self.every > Duration::ZERO { state.delays.ramp(received, self.every) } else { state.jitter.uniform() };
        let mut at = received + Duration::from_few_nanos_f64(self.jitter * share);
        if self.batch > Duration::ZERO {
            at = state.batches.next(at, self.batch);
        }
        state.newest = state.newest.max(at);
        (lost, state.newest)
    }
}

/// Numbers in [0, 1) for slots of time.
#[derive(Clone, Debug)]
struct Slots {
    name: u64,
    /// The slot that was asked for last: when it begins, its number, and that of the one after.
    begins: Instant,
    this: f64,
    next: f64,
}

impl Slots {
    fn new(name: u64) -> Slots {
        // Far from every instant, so that the first slot asked for is drawn.
        Slots { name, begins: Instant::from_nanos(1 << 63), this: 0.0, next: 0.0 }
    }

    fn draw(&self, slot: u64) -> f64 {
        Stream::new(self.name, slot, 0, Purpose::Batches).uniform()
    }

    /// Looks at the slot of this instant, most often the one looked at before.
    #[inline]
    fn look(&mut self, now: Instant, length: Duration) {
        if now.as_nanos().wrapping_sub(self.begins.as_nanos()) >= length.as_nanos() {
            let slot = now / length;
            (self.begins, self.this, self.next) =
                (Instant::START + slot * length, self.draw(slot), self.draw(slot + 1));
        }
    }

    /// On the straight line from the number of this slot to that of the next.
    fn ramp(&mut self, now: Instant, length: Duration) -> f64 {
        self.look(now, length);
        self.this + (self.next - self.this) * ((now - self.begins).as_nanos_f64() / length.as_nanos_f64())
    }

    /// The first instant from now on, where every slot has one.
    fn next(&mut self, now: Instant, length: Duration) -> Instant {
        self.look(now, length);
        let at = self.begins + Duration::from_few_nanos_f64(self.this * length.as_nanos_f64());
        if at >= now {
            at
        } else {
            self.begins + length + Duration::from_few_nanos_f64(self.next * length.as_nanos_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{HopPlan, On, Roughness, Workload};
    use crate::time::{Duration, Instant};

    fn rough(loss: f64, jitter_ms: f64, roughness: Roughness) -> Rough {
        let clean = Network::dumbbell(10.0, 100.0, 2, Workload::new(On::Forever, 1.0));
        let hops = vec![HopPlan { loss, ..clean.hops[0].clone() }];
        *Rough::of(&Network { hops, jitter_ms, roughness, ..clean }, Seed { root: 3, specimen: 1 }).unwrap()
    }

    #[test]
    fn as_many_are_lost_in_rows_as_one_by_one() {
        let mut path = rough(0.02, 0.0, Roughness { loss_burst: 8.0, ..Roughness::default() });
        let fates: Vec<bool> = (0..400_000).map(|i| path.perturb(0, Instant::from_nanos(i)).0).collect();
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let rows = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((lost / 400_000.0 / 0.02 - 1.0).abs() < 0.1, "{lost}");
        assert!((lost / rows / 8.0 - 1.0).abs() < 0.1, "{rows}");
    }

    #[test]
    fn delays_wander_and_packets_keep_their_order() {
        let mut path = rough(0.0, 10.0, Roughness { jitter_every_ms: 50.0, ..Roughness::default() });
        let at: Vec<Instant> = (0..20_000).map(|ms| path.perturb(1, Instant::from_ms(f64::from(ms))).1).collect();
        let late: Vec<f64> =
            at.iter().zip(0..).map(|(at, ms)| (*at - Instant::from_millis(ms)).as_nanos_f64() / 1e6).collect();
        assert!(at.is_sorted() && late.iter().all(|ms| (0.0..=10.0).contains(ms)));
        // Drawn every 50 ms from 0 to 10: from packet to packet it changes by a fifteenth of a ms, 3.3 / 50, on the mean.
        let steps = late.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>() / 2e4;
        assert!((steps - 10.0 / 3.0 / 50.0).abs() < 0.01, "{steps}");
        let mean = late.iter().sum::<f64>() / 2e4;
        assert!((mean - 5.0).abs() < 0.5, "{mean}");
    }

    #[test]
    fn batches_arrive_together() {
        let mut path = rough(0.0, 0.0, Roughness { batch_ms: 10.0, ..Roughness::default() });
        let mut at: Vec<Instant> = (0..10_000).map(|ms| path.perturb(0, Instant::from_ms(f64::from(ms))).1).collect();
        assert!(
            at.is_sorted()
                && at.iter().zip(0..).all(|(at, ms)| *at - Instant::from_millis(ms) <= Duration::from_millis(20))
        );
        at.dedup();
        // Batches are 10 ms apart on the mean; a few have nothing to carry.
        assert!((980..=1001).contains(&at.len()), "{}", at.len());
        // An hour of silence is no problem.
        assert!(path.perturb(0, Instant::from_s(3000.0)).1 >= Instant::from_s(3000.0));
    }
}
