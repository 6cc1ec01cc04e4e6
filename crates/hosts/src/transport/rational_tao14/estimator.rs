//! The estimates of the RTT that TCP/Rational of Tao'14 keeps, and the timeout that follows from them.

use exmachina_net::time::Duration;

/// Timeout before the first sample, s (RFC 6298 §2.1).
const RTO_INITIAL_S: f64 = 1.0;
/// No timeout is shorter, s; none is too long.
const RTO_FLOOR_S: f64 = 0.2;
/// The least part for the variation, s: G of RFC 6298 §2.3.
const GRANULARITY_S: f64 = 0.1;
/// Timeouts are not doubled beyond this, s, which no run outlasts.
const RTO_CEILING_S: f64 = 1e5;

/// Its own estimate of the RTT, in seconds that are not rounded (RFC 6298 §2 but for what is said at each line).
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    /// 0 before the first sample.
    pub(super) srtt_s: f64,
    variation_s: f64,
    pub(super) min_s: f64,
    rto_s: f64,
}

impl Default for Estimator {
    fn default() -> Self {
        Estimator { srtt_s: 0.0, variation_s: 0.0, min_s: f64::INFINITY, rto_s: RTO_INITIAL_S }
    }
}

impl Estimator {
    /// Takes in a sample. The timeout follows from the estimates anew, so that a backoff lasts until the next ACK only.
    pub(super) fn sample(&mut self, rtt_s: f64) {
        self.min_s = self.min_s.min(rtt_s);
        if self.srtt_s == 0.0 {
            (self.srtt_s, self.variation_s) = (rtt_s, rtt_s / 2.0);
            // The floor is none for this one, the granularity is not that of the variation but of all of it.
            self.rto_s = self.srtt_s + GRANULARITY_S.max(4.0 * self.variation_s);
            return;
        }
        self.variation_s = 0.75 * self.variation_s + 0.25 * (self.srtt_s - rtt_s).abs();
        self.srtt_s = 0.875 * self.srtt_s + 0.125 * rtt_s;
        self.rto_s = RTO_FLOOR_S.max(self.srtt_s + GRANULARITY_S.max(4.0 * self.variation_s));
    }

    pub(super) fn rto(&self) -> Duration {
        Duration::from_s(self.rto_s)
    }

    pub(super) fn back_off(&mut self) {
        self.rto_s = (2.0 * self.rto_s).min(RTO_CEILING_S);
    }
}
