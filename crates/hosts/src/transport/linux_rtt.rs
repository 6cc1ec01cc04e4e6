//! The variation of the RTT as Linux estimates it for the retransmission timer (`tcp_rtt_estimator`).
//!
//! It follows RFC 6298 §2.3 with three differences: samples below the smoothed RTT that would raise the deviation count an
//! eighth as much; what is used is the largest deviation of the present RTT at once, and falls to that of the last by a quarter
//! of the difference; and the floor is that of this part, not of the whole timeout.

use exmachina_net::time::Duration;

/// Four mean deviations, in three ages.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxVariation {
    /// Now.
    deviation: Duration,
    /// The largest of the present round, the floor at least.
    largest: Duration,
    /// What the timeout adds to the smoothed RTT.
    used: Duration,
    /// The round ends when this packet is acknowledged.
    round_end: u32,
}

impl LinuxVariation {
    /// The first sample.
    pub fn first(rtt: Duration, floor: Duration, next: u32) -> LinuxVariation {
        let deviation = 2 * rtt;
        let used = deviation.max(floor);
        LinuxVariation { deviation, largest: used, used, round_end: next }
    }

    /// A sample, while the smoothed RTT is yet without it; packets before `una` are acknowledged, and `next` is the next new one.
    pub fn sample(&mut self, rtt: Duration, srtt: Duration, floor: Duration, una: u32, next: u32) {
        let (error, mean) = (srtt.abs_diff(rtt), self.deviation / 4);
        if error >= mean {
            let more = error - mean;
            self.deviation += if rtt < srtt { more / 8 } else { more };
        } else {
            self.deviation -= mean - error;
        }
        self.largest = self.largest.max(self.deviation);
        self.used = self.used.max(self.largest);
        if una > self.round_end {
            self.used -= (self.used - self.largest) / 4;
            self.round_end = next;
            self.largest = floor;
        }
    }

    /// What the timeout adds to the smoothed RTT.
    #[must_use]
    pub fn used(&self) -> Duration {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn rises_at_once_and_falls_round_by_round() {
        let floor = 200 * MS;
        let mut variation = LinuxVariation::first(300 * MS, floor, 10);
        assert_eq!(variation.used(), 600 * MS);
        // An exact RTT for two rounds: a quarter less of the deviation each time, and the timeout follows a round later.
        variation.sample(300 * MS, 300 * MS, floor, 5, 10);
        assert_eq!(variation.used(), 600 * MS);
        variation.sample(300 * MS, 300 * MS, floor, 11, 21);
        assert_eq!(variation.used(), 600 * MS, "the first round had 600 ms in it");
        variation.sample(300 * MS, 300 * MS, floor, 22, 32);
        // 600 * (3/4)^3 = 253.125 ms.
        assert_eq!(variation.used(), 600 * MS - (600 * MS - Duration::from_nanos(253_125_000)) / 4);
        // One late by 400 ms: 253.125 + 400 - 63.28125 ms.
        variation.sample(700 * MS, 300 * MS, floor, 23, 32);
        assert_eq!(variation.used(), Duration::from_nanos(589_843_750));
        // One early by as much counts an eighth of what it is beyond the mean.
        let before = variation.deviation;
        variation.sample(Duration::ZERO, 400 * MS, floor, 24, 32);
        assert_eq!(variation.deviation, before + (400 * MS - before / 4) / 8);
    }

    #[test]
    fn never_below_the_floor() {
        let mut variation = LinuxVariation::first(MS, 200 * MS, 1);
        (1..100).for_each(|n| variation.sample(MS, MS, 200 * MS, n, n + 1));
        assert_eq!(variation.used(), 200 * MS);
    }
}
