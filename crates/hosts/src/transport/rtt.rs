//! Estimates of the RTT, and the retransmission timeout that follows from them (RFC 6298).

use exmachina_net::time::Duration;

use super::linux_rtt::LinuxVariation;
use super::stack::{RtoFloor, TimerSettings};

/// Estimates of the RTT and the retransmission timeout that follows from them (RFC 6298).
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT; 0 before the first sample.
    pub srtt: Duration,
    variation: Duration,
    /// The variation as Linux estimates it, if it does.
    linux: LinuxVariation,
    /// Smallest sample.
    pub min: Duration,
    /// The latest sample; 0 before the first.
    pub latest: Duration,
    /// Doubled at each timeout (RFC 6298 §5.5).
    backoff: u64,
}

/// Timeouts are doubled at most this many times over (RFC 6298 §5.7 allows a maximum; ns-2 has this one).
const MAX_BACKOFF: u64 = 64;
/// No timeout is longer (RFC 6298 §2.5).
const MAX_RTO: Duration = Duration::from_secs(60);

impl Default for RttEstimator {
    fn default() -> Self {
        RttEstimator {
            srtt: Duration::ZERO,
            variation: Duration::ZERO,
            linux: LinuxVariation::default(),
            min: Duration::MAX,
            latest: Duration::ZERO,
            backoff: 1,
        }
    }
}

impl RttEstimator {
    /// Takes in a sample.
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.max(Duration::NANOSECOND);
        self.variation = if self.srtt == Duration::ZERO {
            // RFC 6298 §2.2, the first measurement R: RTTVAR = R/2.
            rtt / 2
        } else {
            // RFC 6298 §2.3, a later one: RTTVAR = (1 - beta) * RTTVAR + beta * |SRTT - R'|, with beta = 1/4.
            (3 * self.variation + self.srtt.abs_diff(rtt)) / 4
        };
        self.smooth(rtt);
    }

    /// Takes in a sample as Linux does, with this floor of the variation, once packets before `una` are acknowledged; `next` is
    /// the next new one.
    pub fn sample_as_linux(&mut self, rtt: Duration, floor: Duration, una: u32, next: u32) {
        let rtt = rtt.max(Duration::NANOSECOND);
        if self.srtt == Duration::ZERO {
            self.linux = LinuxVariation::first(rtt, floor, next);
        } else {
            self.linux.sample(rtt, self.srtt, floor, una, next);
        }
        self.smooth(rtt);
    }

    /// RFC 6298 §2.2 and 2.3: SRTT = R at first, then (1 - alpha) * SRTT + alpha * R', with alpha = 1/8.
    fn smooth(&mut self, rtt: Duration) {
        self.min = self.min.min(rtt);
        self.latest = rtt;
        self.srtt = if self.srtt == Duration::ZERO { rtt } else { (7 * self.srtt + rtt) / 8 };
    }

    /// The retransmission timeout, backoff included.
    #[must_use]
    pub fn rto(&self, settings: &TimerSettings) -> Duration {
        let variation = (4 * self.variation).max(settings.granularity);
        let rto = match (self.srtt, settings.floor) {
            (Duration::ZERO, _) => settings.initial,
            (srtt, RtoFloor::Timeout(floor)) => (srtt + variation).max(floor),
            (srtt, RtoFloor::Variation(_)) => srtt + self.linux.used(),
        };
        rto.saturating_mul(self.backoff).min(MAX_RTO)
    }

    /// A packet came back that was sent since the timer expired.
    pub fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn rfc_6298_by_hand() {
        let settings = TimerSettings { floor: RtoFloor::Timeout(Duration::NANOSECOND), ..TimerSettings::NS2 };
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto(&settings), Duration::from_secs(3));
        rtt.sample(100 * MS);
        assert_eq!(rtt.rto(&settings), 300 * MS);
        rtt.sample(180 * MS);
        // Variation 3/4 * 50 + 1/4 * 80 = 57.5; smoothed 7/8 * 100 + 1/8 * 180 = 110.
        assert_eq!((rtt.srtt, rtt.rto(&settings)), (110 * MS, 340 * MS));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(&settings), 4 * 340 * MS);
        rtt.sample(110 * MS);
        assert!(rtt.rto(&settings) > 3 * 340 * MS);
        rtt.end_backoff();
        assert!(rtt.rto(&settings) < 340 * MS && (rtt.min, rtt.latest) == (100 * MS, 110 * MS));
        (0..20).for_each(|_| rtt.back_off());
        assert!(rtt.rto(&settings) <= MAX_RTO);
    }

    #[test]
    fn floors() {
        let mut rtt = RttEstimator::default();
        (0..200).for_each(|_| rtt.sample(150 * MS));
        assert_eq!(rtt.rto(&TimerSettings::NS2), 200 * MS);
        let mut rtt = RttEstimator::default();
        (0..200).for_each(|n| rtt.sample_as_linux(150 * MS, 200 * MS, n, n + 1));
        // The variation comes near its floor by quarters, in whole ns.
        assert!((350 * MS..350 * MS + Duration::from_nanos(4)).contains(&rtt.rto(&TimerSettings::LINUX)));
    }
}
