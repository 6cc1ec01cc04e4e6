//! What a pause does to a window, as Linux has it (`tcp_cwnd_restart`, after RFC 2861 §3).

/// The window and the threshold after a pause of so many timeouts and part of one more: the threshold remembers three
/// quarters of the window, which is halved for each timeout but not below the initial one.
#[must_use]
pub(super) fn decayed(cwnd: f64, ssthresh: f64, timeouts: u32, initial_window: u32) -> (f64, f64) {
    let least = cwnd.min(f64::from(initial_window));
    let halved = cwnd / f64::from(1u32 << timeouts.min(31));
    (halved.max(least), ssthresh.max(0.75 * cwnd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_for_each_timeout_down_to_the_initial_window() {
        assert_eq!(decayed(100.0, 50.0, 1, 10), (50.0, 75.0));
        assert_eq!(decayed(100.0, 90.0, 3, 10), (12.5, 90.0));
        assert_eq!(decayed(100.0, 50.0, 40, 10), (10.0, 75.0));
        assert_eq!(decayed(4.0, f64::INFINITY, 2, 10), (4.0, f64::INFINITY), "a small window stays");
    }
}
