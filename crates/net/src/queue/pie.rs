//! PIE (RFC 8033): drops arrivals with a probability that a proportional-integral controller sets so that the delay
//! in the queue settles at a target.
//!
//! The delay is told by timestamps, the second way of §4.3: it needs no estimate of the departure rate (§5.2), which
//! fails on links whose rate jumps. The probability is updated every 15 ms; the updates due since the last call are
//! made up for at the next, with the delay that they would have seen: it changes at departures only.
//!
//! Of the optional parts there are ECN (§5.1) and the cap on steps of the probability (§5.5). Not here: that PIE is at rest
//! until a third of the buffer is full (§5.3), and that drops are spaced evenly (§5.4). Where §4.1 spares queues of
//! two mean packets, the largest packet so far stands for the mean one, so that no size has to be set.

use super::{Fifo, Limit, Queue, mark};
use crate::packet::Packet;
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// The settings of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSettings {
    /// QDELAY_REF: the delay aimed at, ns (RFC 8033 §4.2).
    pub target: Duration,
    /// T_UPDATE: time between two updates of the probability, ns.
    pub update: Duration,
    /// Gain on the distance from the target, 1/s.
    pub alpha: f64,
    /// Gain on the change of the delay, 1/s.
    pub beta: f64,
    /// MAX_BURST: how long a queue that was at rest may be too long before anything is dropped, ns (§4.4).
    pub burst: Duration,
    /// Mark packets that can be marked instead of dropping them (§5.1).
    pub ecn: bool,
}

impl Default for PieSettings {
    fn default() -> Self {
        const MS: Duration = Duration::from_millis(1);
        PieSettings { target: 15 * MS, update: 15 * MS, alpha: 0.125, beta: 1.25, burst: 150 * MS, ecn: false }
    }
}

/// Above this probability packets are dropped even if they could be marked (§5.1).
const MARK_BELOW: f64 = 0.1;

/// A queue shorter than this many packets is never dropped from (§4.1).
const FEW_PACKETS: u64 = 2;

/// What the controller knows (§4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Controller {
    probability: f64,
    /// The delay at the last update, ns.
    old_delay: Duration,
    /// Burst that may still pass, ns.
    burst_left: Duration,
}

impl Controller {
    /// One update, at a time when packets that leave have waited this long (§4.2, §4.4).
    fn update(&mut self, settings: &PieSettings, delay: Duration) {
        let (now, old, target) = (delay.as_s(), self.old_delay.as_s(), settings.target.as_s());
        let mut change = settings.alpha * (now - target) + settings.beta * (now - old);
        change *= gain(self.probability);
        // §5.5: with a high probability no leaps, which would starve all senders at once.
        if self.probability >= 0.1 {
            change = change.min(0.02);
        }
        self.probability += change;
        // §4.2: the linear controller is slow to come back to 0 where the queue has vanished.
        if delay == Duration::ZERO && self.old_delay == Duration::ZERO {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = self.burst_left.saturating_sub(settings.update);
        let calm = settings.target / 2;
        if self.probability == 0.0 && delay < calm && self.old_delay < calm {
            self.burst_left = settings.burst;
        }
        self.old_delay = delay;
    }
}

/// How much of the gains applies at a probability: the smaller it is, the finer the steps (§4.2).
fn gain(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie {
    settings: PieSettings,
    limit: Limit,
    random: Stream,
    fifo: Fifo,
    control: Controller,
    /// How long the last packet that left had waited; 0 once the queue is empty.
    delay: Duration,
    /// When the probability is updated next.
    next_update: Instant,
}

impl Pie {
    /// An empty queue with this room.
    #[must_use]
    pub fn new(settings: PieSettings, limit: Limit, random: Stream) -> Pie {
        let settings = PieSettings { update: settings.update.max(Duration::NANOSECOND), ..settings };
        let control = Controller { probability: 0.0, old_delay: Duration::ZERO, burst_left: settings.burst };
        let next_update = Instant::START + settings.update;
        Pie { settings, limit, random, fifo: Fifo::default(), control, delay: Duration::ZERO, next_update }
    }

    /// The probability of a drop or mark.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.control.probability
    }

    /// Makes the updates that were due since the last call.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            let before = self.control;
            self.control.update(&self.settings, self.delay);
            self.next_update = self.next_update.saturating_add(self.settings.update);
            // An update that changed nothing is followed by more of the same.
            if self.control == before && self.next_update <= now {
                let skipped = (now - self.next_update) / self.settings.update + 1;
                self.next_update = self.next_update.saturating_add(self.settings.update.saturating_mul(skipped));
            }
            if self.next_update == Instant::NEVER {
                return;
            }
        }
    }

    /// Whether this arrival is to be marked or dropped (§4.1).
    fn picks(&mut self) -> bool {
        let waiting = self.fifo.backlog();
        let Controller { probability, old_delay, burst_left } = self.control;
        let safe = (old_delay < self.settings.target / 2 && probability < 0.2)
            || waiting.bytes <= FEW_PACKETS * u64::from(waiting.largest);
        burst_left == Duration::ZERO && !safe && self.random.uniform() < probability
    }
}

impl Queue for Pie {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        self.catch_up(now);
        let may_mark = self.settings.ecn && self.control.probability <= MARK_BELOW;
        let full = !self.limit.fits(self.fifo.backlog(), packet.bytes);
        if full || (self.picks() && !(may_mark && mark(&mut packet))) {
            dropped.push(packet);
        } else {
            self.fifo.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<Packet>) -> Option<Packet> {
        self.catch_up(now);
        let packet = self.fifo.pop()?;
        let empty = self.fifo.backlog().packets == 0;
        self.delay = if empty { Duration::ZERO } else { now.since(packet.enqueued) };
        Some(packet)
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
    use crate::queue::testing::{packet, stream};

    const MS: Duration = Duration::from_millis(1);

    fn pie(settings: PieSettings) -> Pie {
        Pie::new(settings, Limit::Infinite, stream())
    }

    /// A controller past its burst allowance.
    fn at(probability: f64, old_ms: u64) -> Controller {
        Controller { probability, old_delay: old_ms * MS, burst_left: Duration::ZERO }
    }

    fn updated(mut control: Controller, delay_ms: u64) -> f64 {
        control.update(&PieSettings::default(), delay_ms * MS);
        control.probability
    }

    #[test]
    fn the_controller_adds_both_terms() {
        // RFC 8033 §4.2: 0.125 (20 - 15) ms + 1.25 (20 - 18) ms = 0.003125, halved at 5 %.
        assert!((updated(at(0.05, 18), 20) - (0.05 + 0.003125 / 2.0)).abs() < 1e-12);
        assert!((updated(at(0.5, 18), 20) - 0.503125).abs() < 1e-12);
        // Below the target and falling it comes down.
        assert!((updated(at(0.5, 10), 5) - (0.5 - 0.0075)).abs() < 1e-12);
    }

    #[test]
    fn the_gain_follows_the_probability() {
        // §4.2, auto-tuning.
        let gains = [5e-7, 5e-6, 5e-5, 5e-4, 5e-3, 5e-2, 0.1].map(|p| 1.0 / gain(p));
        assert_eq!(gains, [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0]);
    }

    #[test]
    fn a_high_probability_grows_by_two_percent_at_most() {
        // §5.5.
        assert!((updated(at(0.1, 0), 1000) - 0.12).abs() < 1e-12);
    }

    #[test]
    fn without_a_queue_the_probability_decays() {
        // §4.2: by 2 % an update, besides the linear term.
        assert!((updated(at(0.5, 0), 0) - (0.5 - 0.125 * 0.015) * 0.98).abs() < 1e-12);
    }

    #[test]
    fn updates_that_were_due_while_idle_are_made_up_for() {
        let mut queue = pie(PieSettings::default());
        queue.control = at(0.5, 0);
        let mut control = at(0.5, 0);
        (0..40).for_each(|_| control.update(&PieSettings::default(), Duration::ZERO));
        queue.enqueue(packet(0, 0), Instant::from_millis(600), &mut vec![]);
        assert_eq!(queue.control, control);
        // A call after ages comes to rest and keeps its beat.
        queue.enqueue(packet(0, 1), Instant::from_millis(1_000_000_000), &mut vec![]);
        assert_eq!((queue.probability(), queue.control.burst_left), (0.0, 150 * MS));
        assert_eq!(queue.next_update, Instant::START + (1_000_000_000 / 15 + 1) * 15 * MS);
        queue.enqueue(packet(0, 2), Instant::NEVER, &mut vec![]);
    }

    #[test]
    fn a_burst_passes_unharmed() {
        // §4.4: for 150 ms after rest nothing is dropped, however long the queue.
        let (mut queue, mut dropped) = (pie(PieSettings::default()), vec![]);
        let mut first = None;
        for ms in 0..3000 {
            (0..2).for_each(|_| queue.enqueue(packet(0, 0), Instant::from_millis(ms), &mut dropped));
            queue.dequeue(Instant::from_millis(ms), &mut dropped);
            first = first.or((!dropped.is_empty()).then_some(ms));
        }
        assert!(first.is_some_and(|ms| ms >= 150), "{first:?}");
    }

    /// Senders whose rate is 1.22 / (RTT sqrt(p)) as of TCP, at 1 packet/ms and 50 ms; mean delay in ms and mean p.
    fn responsive(senders: f64) -> (f64, f64) {
        let (mut queue, mut dropped) = (pie(PieSettings::default()), vec![]);
        let (mut owed, mut rate, mut delay, mut p, mut n) = (0.0, 0.5, 0.0, 0.0, 0.0);
        for ms in 0..120_000u64 {
            owed += rate;
            while owed >= 1.0 {
                owed -= 1.0;
                queue.enqueue(packet(0, 0), Instant::from_millis(ms), &mut dropped);
            }
            if let Some(sent) = queue.dequeue(Instant::from_millis(ms), &mut dropped) {
                let waited = (Instant::from_millis(ms) - sent.enqueued).as_nanos_f64() / 1e6;
                let rtt = 50.0 + waited;
                // The rate follows the formula with a lag of an RTT.
                let formula = senders * 1.22 / (rtt * queue.probability().max(1e-4).sqrt());
                rate += (formula.min(3.0) - rate) / rtt;
                if ms > 40_000 {
                    (delay, p, n) = (delay + waited, p + queue.probability(), n + 1.0);
                }
            }
        }
        (delay / n, p / n)
    }

    #[test]
    fn the_delay_settles_at_the_target_whatever_the_load() {
        // §4.2: the integral term leaves no standing error. The formula then sets p = (1.22 n / (65 ms x 1/ms))^2.
        for senders in [4.0, 12.0] {
            let (delay, p) = responsive(senders);
            let expected = (1.22 * senders / 65.0) * (1.22 * senders / 65.0);
            assert!((delay - 15.0).abs() < 3.0, "{senders}: delay {delay}");
            assert!((p / expected - 1.0).abs() < 0.4, "{senders}: p {p}, expected {expected}");
        }
    }

    #[test]
    fn capable_packets_are_marked_up_to_ten_percent() {
        // §5.1.
        for (probability, marks) in [(0.09, true), (0.5, false)] {
            let (mut queue, mut dropped) = (pie(PieSettings { ecn: true, ..PieSettings::default() }), vec![]);
            queue.control = at(probability, 50);
            for seq in 0..200 {
                queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(0, seq) }, Instant::START, &mut dropped);
            }
            let marked = queue.fifo.parts().0.iter().filter(|p| p.ecn == Ecn::Marked).count();
            assert_eq!((marked > 0, dropped.is_empty()), (marks, marks));
        }
    }
}
