//! A stage of congestion avoidance of Cubic (RFC 9438 §4.1.2): where on the curve it is, and where Reno would be.

use exmachina_net::time::Instant;

/// The stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    pub began: Instant,
    /// The plateau of the cubic, packets.
    pub origin: f64,
    /// The time from the beginning to the plateau, s.
    pub k: f64,
    /// What Reno would have, packets (§4.3).
    pub reno: f64,
}

impl Epoch {
    /// §4.2: K and the origin of a new epoch. Without a plateau above the window (after slow start or a timeout, §4.8,
    /// §4.10) the convex half begins here.
    pub fn begin(now: Instant, cwnd: f64, w_max: Option<f64>, c: f64) -> Epoch {
        let origin = w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
        let k = libm::cbrt((origin - cwnd) / c.max(1e-9));
        Epoch { began: now, origin, k, reno: cwnd }
    }

    /// W_cubic (§4.2 eq. 1) `t_s` seconds after its beginning, with the constant C.
    pub fn curve(&self, c: f64, t_s: f64) -> f64 {
        let x = t_s - self.k;
        c * x * x * x + self.origin
    }

    /// §4.3: with this increase and beta, the average rate is Reno's; one packet per RTT once past the last window.
    pub fn reno_alpha(&self, beta: f64, cwnd_prior: f64) -> f64 {
        if self.reno >= cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) }
    }
}
