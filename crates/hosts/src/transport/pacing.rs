//! How Linux spreads a window over an RTT where the queueing discipline (fq) or the socket asks for it
//! (`tcp_update_pacing_rate`).

use exmachina_net::time::Duration;

/// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, per cent: the rate is so much of a window in an RTT, while the window is
/// below half of ssthresh, and after.
const SLOW_START: u64 = 200;
const AVOIDANCE: u64 = 120;

/// The time between two packets, for a window or more outstanding; none before the first RTT is known: the initial window
/// goes at once (fq lets a new flow's first ten packets pass).
#[must_use]
pub fn interval(srtt: Duration, window: u32, outstanding: u32, ssthresh: f64) -> Duration {
    let ratio = if f64::from(window) < ssthresh / 2.0 { SLOW_START } else { AVOIDANCE };
    srtt.saturating_mul(100) / (ratio * u64::from(window.max(outstanding).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratios_of_linux() {
        // 20 packets in 100 ms: at twice the rate, and at 1.2 times it.
        assert_eq!(interval(Duration::from_millis(100), 20, 5, f64::INFINITY), Duration::from_nanos(2_500_000));
        assert_eq!(interval(Duration::from_millis(100), 20, 5, 40.0), Duration::from_nanos(4_166_666));
        assert_eq!(
            interval(Duration::from_millis(100), 20, 40, 20.0),
            Duration::from_nanos(2_083_333),
            "what is outstanding counts where it is more"
        );
        assert_eq!(interval(Duration::ZERO, 10, 10, f64::INFINITY), Duration::ZERO);
    }
}
