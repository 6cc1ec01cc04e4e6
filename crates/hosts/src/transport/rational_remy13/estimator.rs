//! ns-2's estimates of the RTT as TCP/Rational of Remy'13 keeps them, and the timeout that follows from them.

use exmachina_net::time::Duration;

/// A tick of its clock.
pub(super) const TICK: Duration = Duration::from_nanos(100_000);
/// Timeout before the first sample, least and largest timeout.
const RTO_INITIAL: Duration = Duration::from_secs(3);
const RTO_FLOOR: Duration = Duration::from_millis(200);
const RTO_CEILING: Duration = Duration::from_secs(60);
/// Timeouts are doubled at most this many times over.
const MAX_BACKOFF: u64 = 64;

/// ns-2's estimator: whole ticks, the smoothed RTT in eighths and the variation in quarters of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickEstimator {
    pub(super) latest: u64,
    /// 0 before the first sample.
    pub(super) srtt: u64,
    variation: u64,
    pub(super) backoff: u64,
}

impl Default for TickEstimator {
    fn default() -> Self {
        TickEstimator { latest: 0, srtt: 0, variation: 0, backoff: 1 }
    }
}

impl TickEstimator {
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.latest = ((rtt + TICK / 2) / TICK).max(1);
        if self.srtt == 0 {
            (self.srtt, self.variation) = (8 * self.latest, 2 * self.latest);
            return;
        }
        let (srtt, smoothed) = (self.srtt, self.srtt / 8);
        let difference = self.latest.abs_diff(smoothed);
        self.srtt = (srtt + self.latest - smoothed).max(1);
        self.variation = (self.variation + difference - self.variation / 4).max(1);
    }

    pub(super) fn rto(&self) -> Duration {
        let rto = if self.srtt == 0 { RTO_INITIAL } else { (8 * self.variation + self.srtt) / 8 * TICK };
        // RFC 6298 §2.4 before §5.5.
        (rto.max(RTO_FLOOR) * self.backoff).min(RTO_CEILING)
    }

    pub(super) fn back_off(&mut self) {
        self.backoff = (2 * self.backoff).min(MAX_BACKOFF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimator_by_hand() {
        let mut rtt = TickEstimator::default();
        // 150.7 ms are 1507 ticks; 150.76 ms are 1508.
        rtt.sample(Duration::from_nanos(150_700_000));
        assert_eq!((rtt.latest, rtt.srtt, rtt.variation, rtt.rto()), (1507, 12_056, 3014, Duration::from_ms(452.1)));
        rtt.sample(Duration::from_nanos(150_760_000));
        // 12056 + 1508 - 1507, 3014 + 1 - 753.
        assert_eq!((rtt.latest, rtt.srtt, rtt.variation), (1508, 12_057, 2262));
        assert_eq!(rtt.rto(), (8 * 2262 + 12_057) / 8 * TICK);
    }
}
