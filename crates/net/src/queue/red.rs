//! RED, random early detection (Floyd and Jacobson 1993): marks or drops arrivals with a probability that grows with
//! the average queue, spaced evenly rather than in clumps.
//!
//! The settings are ns-2's. What departs from the paper, as in ns-2: the "gentle" ramp above the upper threshold (Floyd
//! 2000), at least 1/p packets between two marks (`wait`), and that an arrival after idle time is averaged in besides the m
//! packets that might have come (§4 has them alone). The queue is counted in packets, without the one that is being
//! transmitted. As RFC 3168 §7 asks, and not as in the paper, packets that could be marked are dropped above the upper
//! threshold. Not here: counting in bytes, and ns-2's adaptive maximum probability.

use super::{Fifo, Limit, Queue, mark};
use crate::packet::Packet;
use crate::random::Stream;
use crate::time::Instant;

/// The settings of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSettings {
    /// min_th: average queue from which packets are marked, packets.
    pub min_threshold: f64,
    /// max_th: average queue at which the probability is `max_probability`, packets.
    pub max_threshold: f64,
    /// max_p: probability of a mark at `max_threshold`.
    pub max_probability: f64,
    /// w_q: weight of the present queue in the average.
    pub weight: f64,
    /// Above `max_threshold` the probability grows on to 1 at twice the threshold, instead of jumping there.
    pub gentle: bool,
    /// At least 1/p packets pass between two marks: the gaps are uniform in [1/p, 2/p], as in ns-2 (`wait_`). Without
    /// it they are uniform in [1, 1/p], as in the paper (§7).
    pub wait: bool,
    /// Mark packets that can be marked instead of dropping them.
    pub ecn: bool,
    /// Size of a typical packet, bytes: how fast the average would have fallen while the link was idle.
    pub mean_packet: f64,
}

impl Default for RedSettings {
    fn default() -> Self {
        RedSettings {
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: 0.1,
            weight: 0.002,
            gentle: true,
            wait: true,
            ecn: false,
            mean_packet: crate::network::PACKET_BYTES,
        }
    }
}

impl RedSettings {
    /// p_b: the probability at this average queue, before marks are spaced (Floyd and Jacobson 1993 §4).
    fn probability(&self, average: f64) -> f64 {
        let RedSettings { min_threshold: low, max_threshold: high, max_probability, .. } = *self;
        if average < low {
            0.0
        } else if average < high {
            max_probability * (average - low) / (high - low)
        } else if self.gentle && average < 2.0 * high {
            max_probability + (1.0 - max_probability) * (average - high) / high
        } else {
            1.0
        }
    }

    /// p_a: the probability for the `count`th packet since the last mark (§7, method 2, as in Fig. 2).
    fn spaced(&self, probability: f64, count: f64) -> f64 {
        let done = count * probability;
        match (self.wait, done) {
            (true, d) if d < 1.0 => 0.0,
            (true, d) if d < 2.0 => probability / (2.0 - d),
            (false, d) if d < 1.0 => probability / (1.0 - d),
            _ => 1.0,
        }
    }
}

/// A RED queue.
#[derive(Clone, Debug)]
pub struct Red {
    settings: RedSettings,
    limit: Limit,
    /// Time to transmit a typical packet.
    packet_time: f64,
    random: Stream,
    fifo: Fifo,
    /// The average queue, packets.
    average: f64,
    /// Packets since the last mark or drop, the present one included; none while the average is below the lower threshold.
    count: Option<f64>,
    /// When the queue became empty.
    idle_since: Option<Instant>,
}

impl Red {
    /// An empty queue with this room, before a link of `link` bytes per second.
    #[must_use]
    pub fn new(settings: RedSettings, limit: Limit, link: f64, random: Stream) -> Red {
        let packet_time = settings.mean_packet / link * 1e9;
        let fifo = Fifo::default();
        Red { settings, limit, packet_time, random, fifo, average: 0.0, count: None, idle_since: Some(Instant::START) }
    }

    /// Takes the queue that an arrival finds into the average (§4). After idle time it falls as if packets had
    /// come to an empty queue all the while.
    fn update_average(&mut self, now: Instant) {
        let keep = 1.0 - self.settings.weight;
        if let Some(since) = self.idle_since.take() {
            let missed = (now.since(since).as_nanos_f64() / self.packet_time).floor();
            if missed >= 1.0 {
                self.average *= libm::pow(keep, missed);
            }
        }
        self.average = keep * self.average + self.settings.weight * self.fifo.backlog().packets as f64;
    }

    /// Whether this arrival is to be marked or dropped.
    fn picks(&mut self) -> bool {
        let probability = self.settings.probability(self.average);
        if probability <= 0.0 {
            self.count = None;
            return false;
        }
        let count = self.count.map_or(0.0, |n| n + 1.0);
        let picked = probability >= 1.0 || self.random.uniform() < self.settings.spaced(probability, count);
        self.count = Some(if picked { 0.0 } else { count });
        picked
    }
}

impl Queue for Red {
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        self.update_average(now);
        // Above the upper threshold packets are dropped even if they could be marked (RFC 3168 §7).
        let may_mark = self.settings.ecn && self.average < self.settings.max_threshold;
        let full = !self.limit.fits(self.fifo.backlog(), packet.bytes);
        if full || (self.picks() && !(may_mark && mark(&mut packet))) {
            dropped.push(packet);
            if self.fifo.backlog().packets == 0 {
                self.idle_since = Some(now);
            }
        } else {
            self.fifo.push(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<Packet>) -> Option<Packet> {
        let packet = self.fifo.pop()?;
        if self.fifo.backlog().packets == 0 {
            self.idle_since = Some(now);
        }
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
    use crate::time::Duration;

    /// A queue before a link of 1 packet/ms whose average is the present queue.
    fn red(settings: RedSettings) -> Red {
        Red::new(RedSettings { weight: 1.0, ..settings }, Limit::Infinite, 1.25e6, stream())
    }

    /// The seqs of packets picked among many arrivals that all find `waiting` packets.
    fn picked(settings: RedSettings, waiting: u32, arrivals: u32) -> Vec<u32> {
        let mut queue = red(settings);
        let mut dropped = vec![];
        for seq in 0..waiting {
            queue.fifo.push(packet(0, seq));
        }
        queue.idle_since = None;
        for seq in 0..arrivals {
            let before = queue.packets();
            queue.enqueue(packet(0, seq), Instant::START, &mut dropped);
            if queue.packets() > before {
                queue.fifo.pop();
            }
        }
        dropped.iter().map(|p| p.seq).collect()
    }

    #[test]
    fn the_probability_ramps_linearly_between_the_thresholds() {
        // Floyd and Jacobson 1993 §4, and the gentle ramp to 1 at twice the upper threshold.
        let red = RedSettings::default();
        let ramp = [4.9, 5.0, 10.0, 15.0, 22.5, 30.0].map(|average| red.probability(average));
        let expected = [0.0, 0.0, 0.05, 0.1, 0.55, 1.0];
        assert!(ramp.iter().zip(expected).all(|(p, e)| (p - e).abs() < 1e-12), "{ramp:?}");
        assert_eq!(RedSettings { gentle: false, ..red }.probability(15.0), 1.0);
    }

    #[test]
    fn gaps_between_marks_are_uniform_as_in_the_paper() {
        // §7 method 2 with p_b = 0.05. The algorithm of Fig. 2 counts the arrival itself, so 1/p_b - 1 gaps occur.
        let picked = picked(RedSettings { wait: false, ..RedSettings::default() }, 10, 200_000);
        let gaps: Vec<u32> = picked.windows(2).map(|w| w[1] - w[0]).collect();
        let mut histogram = [0u32; 21];
        gaps.iter().for_each(|&gap| histogram[gap.min(20) as usize] += 1);
        let each = gaps.len() as f64 / 19.0;
        assert!(histogram[1..=19].iter().all(|&n| (f64::from(n) / each - 1.0).abs() < 0.2), "{histogram:?}");
        assert_eq!((histogram[0], histogram[20]), (0, 0));
    }

    #[test]
    fn with_wait_no_two_marks_are_closer_than_the_reciprocal() {
        let picked = picked(RedSettings::default(), 10, 100_000);
        let gaps: Vec<u32> = picked.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.iter().all(|gap| (20..=40).contains(gap)));
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((mean - 30.0).abs() < 1.0, "{mean}");
    }

    #[test]
    fn the_average_falls_in_idle_time() {
        // §4: m packets might have been sent while idle, so the average is (1 - w)^m of what it was.
        let mut queue = Red::new(RedSettings::default(), Limit::Infinite, 1.25e6, stream());
        queue.average = 4.0;
        queue.idle_since = Some(Instant::from_s(1.0));
        queue.update_average(Instant::from_s(1.0) + Duration::from_millis(500));
        assert!((queue.average / 4.0 - libm::pow(0.998, 501.0)).abs() < 1e-12, "{}", queue.average);
    }

    #[test]
    fn the_average_follows_the_queue_slowly() {
        // §6: after n arrivals at a queue of q the average is q (1 - (1 - w)^n).
        let mut queue = Red::new(RedSettings::default(), Limit::Infinite, 1.25e6, stream());
        (0..4).for_each(|seq| queue.fifo.push(packet(0, seq)));
        queue.idle_since = None;
        (0..1000).for_each(|_| queue.update_average(Instant::START));
        assert!((queue.average - 4.0 * (1.0 - libm::pow(0.998, 1000.0))).abs() < 1e-9);
    }

    #[test]
    fn capable_packets_are_marked_up_to_the_upper_threshold() {
        // RFC 3168 §7.
        let mut queue = red(RedSettings { ecn: true, wait: false, ..RedSettings::default() });
        let mut dropped = vec![];
        for seq in 0..500 {
            if queue.packets() == 12 {
                queue.dequeue(Instant::START, &mut dropped);
            }
            queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(0, seq) }, Instant::START, &mut dropped);
        }
        assert!(dropped.is_empty());
        let marked = queue.fifo.parts().0.iter().filter(|p| p.ecn == Ecn::Marked).count();
        assert!(marked > 0);
        for seq in 0..50 {
            queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(0, seq) }, Instant::START, &mut dropped);
        }
        assert!(!dropped.is_empty() && queue.packets() <= 31);
    }
}
