//! The window as Linux keeps it: whole packets, and a count of ACKs towards the next one.
//!
//! Linux Reno, Cubic, Vegas and Compound all stand on it. Two eras differ in recovery. Kernels up to 2.6.25, and the ns-2
//! port of 2.6.22 that most published curves come from, lower cwnd to half of ssthresh while losses are repaired (Cubic: to
//! ssthresh), and leave recovery with ssthresh, but no more than what is in flight and a burst. Later ones keep ssthresh.

use super::{Ack, Congestion};

/// No threshold has been set: slow start knows no end.
pub(super) const NO_THRESHOLD: u32 = u32::MAX;

/// Packets that one ACK may release after recovery (`tcp_moderate_cwnd`).
const MAX_BURST: u32 = 3;

/// cwnd and ssthresh in whole packets.
#[derive(Clone, Debug)]
pub(super) struct LinuxWindow {
    pub cwnd: u32,
    pub ssthresh: u32,
    /// ACKs since cwnd last grew in congestion avoidance.
    pub count: u32,
    /// The first ACK after recovery is to come.
    moderate: bool,
    /// cwnd and ssthresh before the last reduction, as long as that may be undone.
    kept: Option<(u32, u32)>,
}

impl LinuxWindow {
    pub fn new(initial_window: u32) -> LinuxWindow {
        LinuxWindow { cwnd: initial_window.max(1), ssthresh: NO_THRESHOLD, count: 0, moderate: false, kept: None }
    }

    /// At the threshold itself Linux still doubles, where RFC 5681 §3.1 leaves the choice.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    /// One packet more per ACK, and as many more as ACKs counted in congestion avoidance pay for: those of before a pause
    /// lift a window of 2 to as much as 7 at once (`tcp_slow_start`).
    pub fn slow_start(&mut self) {
        self.count = self.count.saturating_add(self.cwnd);
        while self.count >= self.cwnd.max(1) {
            self.count -= self.cwnd.max(1);
            self.cwnd = self.cwnd.saturating_add(1);
        }
    }

    /// Reno: one packet more per ACK in slow start, per cwnd of ACKs beyond.
    pub fn reno(&mut self) {
        if self.in_slow_start() {
            self.slow_start();
        } else {
            self.count = self.count.saturating_add(1);
            if self.count >= self.cwnd {
                self.count = 0;
                self.cwnd = self.cwnd.saturating_add(1);
            }
        }
    }

    /// Below the threshold, where kernels since 3.16 are in slow start: at the threshold itself they no longer are.
    pub fn below_threshold(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start of kernels since 3.14 (`tcp_slow_start`): one packet more per packet acknowledged, up to the threshold;
    /// returns those that were not needed for it.
    pub fn slow_start_by(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh).max(self.cwnd);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }

    /// Reno of kernels since 3.18 (`tcp_reno_cong_avoid`): as above, and what is left counts towards the next packet.
    pub fn reno_by(&mut self, acked: u32) {
        let left = if self.below_threshold() { self.slow_start_by(acked) } else { acked };
        self.count = self.count.saturating_add(left);
        let packets = self.count / self.cwnd.max(1);
        self.count -= packets * self.cwnd;
        self.cwnd = self.cwnd.saturating_add(packets);
    }

    /// The threshold in packets, for time plots.
    pub fn ssthresh(&self) -> f64 {
        if self.ssthresh == NO_THRESHOLD { f64::INFINITY } else { f64::from(self.ssthresh) }
    }

    /// Half of the window, as `tcp_reno_ssthresh` has it.
    pub fn half(&self) -> u32 {
        (self.cwnd / 2).max(2)
    }

    /// A loss. `undershoot`: as kernels up to 2.6.25 do.
    pub fn lose(&mut self, ssthresh: u32, undershoot: bool) {
        self.ssthresh = ssthresh;
        self.cwnd = if undershoot { ssthresh / 2 } else { ssthresh }.max(1);
        self.count = 0;
        self.moderate = false;
    }

    /// A timeout. One that finds nothing outstanding says nothing of the path: the threshold stays (ns-2's persistent
    /// connections, whose timer runs on while they are idle).
    pub fn time_out(&mut self, timeout: &Congestion, ssthresh: u32, idle_window: u32) {
        self.moderate = false;
        if timeout.idle {
            self.cwnd = idle_window.max(1);
            return;
        }
        self.ssthresh = ssthresh;
        self.cwnd = 1;
        self.count = 0;
    }

    /// Everything lost has been repaired. Up to 2.6.25 (`limit`): a window below the threshold goes back to it, as far as the
    /// transport lets it (`tcp_complete_cwr`). Later: goes on with the threshold.
    pub fn recovered(&mut self, limit: Option<u32>) {
        match limit {
            Some(limit) if self.ssthresh != NO_THRESHOLD && self.cwnd < self.ssthresh => {
                self.cwnd = self.ssthresh.min(limit);
            }
            None if self.ssthresh != NO_THRESHOLD => {
                self.cwnd = self.ssthresh.max(1);
                self.moderate = true;
            }
            _ => {}
        }
    }

    /// A reduction comes that may have to be undone.
    pub fn keep(&mut self) {
        self.kept = Some((self.cwnd, self.ssthresh));
    }

    /// There was nothing to reduce it for (`tcp_undo_cwnd_reduction`).
    pub fn restore(&mut self) {
        if let Some((cwnd, ssthresh)) = self.kept.take() {
            (self.cwnd, self.ssthresh) = (cwnd.max(self.cwnd), ssthresh.max(self.ssthresh));
            self.moderate = false;
        }
    }

    /// A pause of so many timeouts and part of one more.
    pub fn after_idle(&mut self, timeouts: u32, initial_window: u32) {
        if self.ssthresh != NO_THRESHOLD {
            self.ssthresh = self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4);
        }
        self.cwnd = (self.cwnd >> timeouts.min(31)).max(self.cwnd.min(initial_window));
    }

    /// To be called on every ACK, before any growth: holds the burst at the end of recovery down.
    pub fn moderate(&mut self, ack: &Ack) {
        if !ack.in_recovery && std::mem::take(&mut self.moderate) {
            self.cwnd = self.cwnd.min(ack.in_flight.saturating_add(MAX_BURST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_one_packet_per_window_of_acks() {
        let mut window = LinuxWindow { ssthresh: 5, ..LinuxWindow::new(6) };
        (0..6 + 7).for_each(|_| window.reno());
        assert_eq!((window.cwnd, window.count), (8, 0));
        window.reno();
        assert_eq!((window.cwnd, window.count), (8, 1));
    }

    #[test]
    fn todays_kernels_count_packets_not_acks_and_stop_at_the_threshold() {
        let mut window = LinuxWindow { ssthresh: 13, ..LinuxWindow::new(10) };
        window.reno_by(2);
        assert_eq!(window.cwnd, 12);
        // One packet up to the threshold; the other is the first of 13 in congestion avoidance.
        window.reno_by(2);
        assert_eq!((window.cwnd, window.count), (13, 1));
        (0..6).for_each(|_| window.reno_by(2));
        assert_eq!((window.cwnd, window.count), (14, 0));
        assert_eq!(LinuxWindow::new(10).slow_start_by(2), 0);
    }

    #[test]
    fn acks_counted_before_a_pause_pay_for_packets_after_it() {
        // 20 + 2: 3 for 2, 4 for 3, 5 for 4, 6 for 5, 7 for 6, and 2 are left.
        let mut window = LinuxWindow { ssthresh: 30, count: 20, ..LinuxWindow::new(2) };
        window.slow_start();
        assert_eq!((window.cwnd, window.count), (7, 2));
        window.slow_start();
        assert_eq!((window.cwnd, window.count), (8, 2));
    }

    #[test]
    fn undershoots_in_recovery_and_leaves_it_without_a_burst() {
        let mut window = LinuxWindow::new(40);
        window.lose(window.half(), true);
        assert_eq!((window.cwnd, window.ssthresh), (10, 20));
        window.recovered(Some(14));
        assert_eq!(window.cwnd, 14);
        window.recovered(Some(24));
        assert_eq!(window.cwnd, 20);
        window.recovered(Some(3));
        assert_eq!(window.cwnd, 20, "Cubic's, which was not below the threshold");
        window.recovered(None);
        window.moderate(&Ack { in_flight: 11, ..Ack::default() });
        assert_eq!(window.cwnd, 14);
        window.lose(window.half(), false);
        window.recovered(None);
        window.moderate(&Ack { in_flight: 3, ..Ack::default() });
        assert_eq!((window.cwnd, window.ssthresh), (6, 7));
    }

    #[test]
    fn an_idle_timeout_spares_the_threshold() {
        let mut window = LinuxWindow { ssthresh: 30, ..LinuxWindow::new(40) };
        window.time_out(&Congestion { idle: true, ..Congestion::default() }, 20, 2);
        assert_eq!((window.cwnd, window.ssthresh), (2, 30));
        window.time_out(&Congestion::default(), 20, 2);
        assert_eq!((window.cwnd, window.ssthresh), (1, 20));
    }
}
