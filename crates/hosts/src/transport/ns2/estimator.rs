//! ns-2's estimates of the RTT and the timeout that follows from them: whole ticks, the smoothed RTT in eighths of one and
//! the variation in quarters, integer arithmetic, and a deviation of 16 bits, which overflows at 32768 ticks.

use exmachina_net::time::{Duration, Instant};

/// What one agent's estimator has that another's has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavour {
    /// A tick.
    pub tick: Duration,
    /// No timeout is longer.
    pub longest: Duration,
    /// Where a sample lies below the smoothed RTT by more than the variation, an eighth of that excess counts.
    pub wary_of_falls: bool,
}

/// ns-2's own TCPs, as the scripts of both papers set them.
pub const NS2: Flavour =
    Flavour { tick: Duration::from_nanos(100_000), longest: Duration::from_secs(60), wary_of_falls: false };
/// TCP/Linux, which sets its own tick.
pub const LINUX: Flavour =
    Flavour { tick: Duration::from_millis(1), longest: Duration::from_secs(120), wary_of_falls: true };

/// Floor of a timeout, backoff apart.
const FLOOR: Duration = Duration::from_millis(200);
/// The timeout before the first sample.
const FIRST: Duration = Duration::from_secs(3);
/// Doubled beyond this, the smoothed RTT is not believed any more, and counts as variation.
const MUCH: u64 = 8;
/// Doubled no further, unless the timeout stays below the longest.
const MOST: u64 = 64;

/// Estimates of the RTT.
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    flavour: Flavour,
    /// Smoothed RTT, eighths of a tick; 0: none.
    srtt: i64,
    /// Variation, quarters of a tick.
    variation: i64,
    /// The latest sample, ticks.
    latest: i64,
    /// The timeout without backoff and floor.
    rto: Duration,
    backoff: u64,
}

impl Estimator {
    pub fn new(flavour: Flavour) -> Estimator {
        Estimator { flavour, srtt: 0, variation: 0, latest: 0, rto: FIRST, backoff: 1 }
    }

    /// Takes in a sample, rounded to the nearest tick, at least one.
    pub fn sample(&mut self, rtt: Duration) {
        let Flavour { tick, wary_of_falls, .. } = self.flavour;
        let sample = (((rtt + tick / 2) / tick) as i64).max(1);
        self.latest = sample;
        if self.srtt == 0 {
            (self.srtt, self.variation) = (sample << 3, sample << 1);
        } else {
            let deviation = (sample - (self.srtt >> 3)) as i16;
            self.srtt = (self.srtt + i64::from(deviation)).max(1);
            let mut change = i64::from(deviation).abs() - (self.variation >> 2);
            if wary_of_falls && deviation < 0 && change > 0 {
                change >>= 3;
            }
            self.variation = (self.variation + change).max(1);
        }
        self.rto = (((self.srtt + (self.variation << 3)) >> 3) as u64) * tick;
    }

    /// The timeout.
    #[must_use]
    fn timeout(&self) -> Duration {
        self.rto.max(FLOOR).saturating_mul(self.backoff).min(self.flavour.longest)
    }

    /// When a timer expires that is started now. It comes before an ACK of the same instant: ns-2's events of one instant come
    /// in the order in which they were planned, and timeouts of whole milliseconds do meet the ACKs of others.
    #[must_use]
    pub fn expiry(&self, now: Instant) -> Instant {
        now + self.timeout() - Duration::NANOSECOND
    }

    pub fn back_off(&mut self) {
        if self.backoff < MOST || self.timeout() < self.flavour.longest {
            self.backoff *= 2;
        }
        if self.backoff > MUCH {
            self.variation += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    pub fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        self.srtt.max(0) as u64 * self.flavour.tick / 8
    }

    /// The latest sample, ns; 0 before the first.
    #[must_use]
    pub fn latest(&self) -> Duration {
        self.latest.max(0) as u64 * self.flavour.tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn ticks_eighths_and_quarters_by_hand() {
        let mut rtt = Estimator::new(LINUX);
        assert_eq!(rtt.timeout(), Duration::from_secs(3));
        rtt.sample(Duration::from_nanos(150_499_999));
        // 150 + 4 * 75.
        assert_eq!((rtt.latest(), rtt.srtt(), rtt.timeout()), (150 * MS, 150 * MS, 450 * MS));
        rtt.sample(Duration::from_nanos(190_500_000));
        // 191 - 150 = 41: srtt 1200 + 41 eighths, variation 300 + 41 - 75 quarters.
        assert_eq!((rtt.srtt, rtt.variation, rtt.timeout()), (1241, 266, 421 * MS));
        // 155 - 35 = 120, below the variation of 66: 1206, 266 + 35 - 66.
        rtt.sample(120 * MS);
        assert_eq!((rtt.srtt, rtt.variation), (1206, 235));
        // 150 - 130 = 20 falls; the excess over 58 is none.
        rtt.sample(20 * MS);
        // 150 - 20 = 130, 72 above the variation of 58, of which an eighth counts.
        assert_eq!((rtt.srtt, rtt.variation), (1076, 235 + 72 / 8));
        let mut alike = Estimator { flavour: Flavour { wary_of_falls: false, ..LINUX }, ..rtt };
        (alike.srtt, alike.variation) = (1206, 235);
        alike.sample(20 * MS);
        assert_eq!(alike.variation, 235 + 72);
    }

    #[test]
    fn the_floor_comes_before_the_backoff() {
        let mut rtt = Estimator::new(NS2);
        (0..200).for_each(|_| rtt.sample(150 * MS));
        assert_eq!(rtt.timeout(), FLOOR);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), 4 * FLOOR);
        rtt.end_backoff();
        assert_eq!(rtt.timeout(), FLOOR);
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!((rtt.timeout(), rtt.srtt()), (Duration::from_secs(60), Duration::ZERO));
    }

    #[test]
    fn a_deviation_has_16_bits() {
        let mut rtt = Estimator::new(NS2);
        rtt.sample(100 * MS);
        // 40,000 ticks more: 40,000 - 65,536 in 16 bits.
        rtt.sample(4100 * MS);
        assert_eq!(rtt.srtt, 1);
    }
}
