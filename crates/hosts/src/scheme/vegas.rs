//! Vegas (Brakmo and Peterson 1995) as Linux has it since 3.18. Once per RTT it reckons how many of its packets wait in queues,
//! and keeps that between alpha and beta. The module of 2.6.22, by which Remy'13 measured it, is in `vegas_linux.rs`.

use exmachina_net::time::{Duration, Instant};

use super::linux::{LinuxWindow, NO_THRESHOLD};
use super::rounds::{AfterRecovery, Round, Rounds};
use super::{Ack, Congestion, Scheme};

/// Window after a timeout that found nothing outstanding, packets.
const IDLE_WINDOW: u32 = 1;

/// How much it queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasSettings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// Below so many packets queued it adds one per RTT.
    pub alpha: f64,
    /// Above so many it takes one away.
    pub beta: f64,
    /// Above so many slow start ends.
    pub gamma: f64,
}

impl VegasSettings {
    /// Linux of today (since 3.18): alpha 2, beta 4, gamma 1.
    #[must_use]
    pub fn linux() -> VegasSettings {
        VegasSettings { initial_window: 10, alpha: 2.0, beta: 4.0, gamma: 1.0 }
    }
}

/// Linux's Vegas, as it is since 3.18.
#[derive(Clone, Debug)]
pub struct Vegas {
    settings: VegasSettings,
    window: LinuxWindow,
    rounds: Rounds,
}

impl Vegas {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: VegasSettings) -> Vegas {
        Vegas { settings, window: LinuxWindow::new(settings.initial_window), rounds: Rounds::new(AfterRecovery::Anew) }
    }

    /// Where it cannot measure it is Reno, which grows no window that was not used (`tcp_is_cwnd_limited`).
    fn reno(&mut self, ack: &Ack) {
        if ack.window_limited {
            self.window.reno_by(ack.acked);
        }
    }

    /// Between the RTTs' ends, of slow start only.
    fn slow_start(&mut self, ack: &Ack) {
        if self.window.below_threshold() {
            self.window.slow_start_by(ack.acked);
        }
    }

    /// Once per RTT.
    fn step(&mut self, rtt: Duration, acked: u32) {
        let VegasSettings { alpha, beta, gamma, .. } = self.settings;
        let cwnd = f64::from(self.window.cwnd);
        let queued = self.rounds.queued_at_base(cwnd, rtt).floor();
        let target = (cwnd - self.rounds.queued(cwnd, rtt)) as u32;
        let window = &mut self.window;
        if window.below_threshold() {
            if queued > gamma {
                // Down to what fills the path without a queue, and a packet for what rounding took.
                window.cwnd = window.cwnd.min(target.saturating_add(1));
                window.ssthresh = window.ssthresh.min(window.cwnd.saturating_sub(1));
            } else {
                window.slow_start_by(acked);
            }
        } else if queued > beta {
            window.cwnd = window.cwnd.saturating_sub(1);
            window.ssthresh = window.ssthresh.min(window.cwnd.saturating_sub(1));
        } else if queued < alpha {
            window.cwnd = window.cwnd.saturating_add(1);
        }
        // tcp_current_ssthresh: never below three quarters of the window.
        if window.ssthresh != NO_THRESHOLD {
            window.ssthresh = window.ssthresh.max(window.cwnd / 2 + window.cwnd / 4);
        }
        window.cwnd = window.cwnd.max(2);
    }
}

impl Scheme for Vegas {
    fn start(&mut self, _now: Instant) {
        *self = Vegas::new(self.settings);
    }

    fn resume(&mut self, _now: Instant, _idle: Duration) {
        self.rounds.forget();
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window.moderate(ack);
        if ack.acked == 0 {
            return;
        }
        self.rounds.sample(ack.rtt);
        if self.rounds.resumes(ack) || ack.in_recovery {
            return;
        }
        if !self.rounds.measuring() {
            self.reno(ack);
            return;
        }
        match self.rounds.ended(ack) {
            Some(Round { rtt: Some(rtt), .. }) => self.step(rtt, ack.acked),
            Some(_) => self.reno(ack),
            None => self.slow_start(ack),
        }
    }

    fn on_loss(&mut self, loss: &Congestion) {
        self.rounds.suspend(loss);
        self.window.lose(self.window.half(), false);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        if !timeout.idle {
            self.rounds.suspend(timeout);
        }
        self.window.time_out(timeout, self.window.half(), IDLE_WINDOW);
    }

    fn on_recovered(&mut self, _now: Instant, _limit: Option<u32>) {
        self.rounds.recovered();
    }

    fn keep(&mut self) {
        self.window.keep();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window.restore();
    }

    fn after_idle(&mut self, timeouts: u32, initial_window: u32) {
        self.window.after_idle(timeouts, initial_window);
    }

    fn window(&self) -> u32 {
        self.window.cwnd
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::driver::Driver;
    use super::super::{AnyScheme, LinuxVegas};
    use super::*;

    /// 1 packet/ms and 100 ms: the path holds 101 packets without a queue.
    fn path() -> Driver {
        Driver::new(Duration::from_ms(100.0), Duration::from_ms(1.0))
    }

    #[test]
    fn holds_alpha_to_beta_packets_in_the_queue() {
        // Brakmo and Peterson 1995 §3.2.
        for (alpha, beta) in [(1.0, 3.0), (2.0, 4.0)] {
            let settings = VegasSettings { alpha, beta, ..VegasSettings::linux() };
            let (mut vegas, mut path) = (Vegas::new(settings), path());
            path.run(&mut vegas, Instant::from_s(120.0));
            let settled = vegas.window();
            let queued = f64::from(settled) - 101.0;
            assert!((alpha..=beta + 1.0).contains(&queued), "{settings:?}: {queued} queued");
            path.run(&mut vegas, Instant::from_s(140.0));
            assert!(vegas.window().abs_diff(settled) <= 1, "it stays there");
        }
    }

    #[test]
    fn slow_start_ends_without_a_loss() {
        for mut vegas in
            [AnyScheme::LinuxVegas(LinuxVegas::new(2)), AnyScheme::Vegas(Vegas::new(VegasSettings::linux()))]
        {
            let (mut path, mut worst) = (path(), Duration::ZERO);
            while path.now < Instant::from_s(10.0) {
                worst = worst.max(path.ack(&mut vegas).rtt);
            }
            assert!(vegas.ssthresh().is_finite());
            // It sees a full path an RTT late: a window of 4 BDPs at the very most, where Reno would fill any buffer.
            assert!(worst < Duration::from_ms(404.0), "{worst} ns");
        }
    }

    #[test]
    fn adds_one_packet_per_rtt_below_alpha_and_takes_one_above_beta() {
        let mut vegas = Vegas { window: LinuxWindow::new(50), ..Vegas::new(VegasSettings::linux()) };
        vegas.window.ssthresh = 10;
        let mut path = path();
        (0..4).for_each(|_| path.round(&mut vegas));
        let before = vegas.window();
        (0..10).for_each(|_| path.round(&mut vegas));
        assert_eq!(vegas.window() - before, 10);
        vegas.window.cwnd = 150;
        (0..4).for_each(|_| path.round(&mut vegas));
        let before = vegas.window();
        (0..10).for_each(|_| path.round(&mut vegas));
        assert_eq!(before - vegas.window(), 10);
    }

    #[test]
    fn is_reno_on_fewer_than_three_samples_per_rtt_and_after_a_loss() {
        let mut vegas = Vegas::new(VegasSettings::linux());
        vegas.window = LinuxWindow::new(2);
        vegas.window.ssthresh = 1;
        let mut path = path();
        (0..40).for_each(|_| path.round(&mut vegas));
        assert!(vegas.window() > 6, "out of the range where it cannot measure");
        let cwnd = vegas.window();
        path.lose(&mut vegas);
        assert_eq!((vegas.window(), vegas.rounds.measuring()), (cwnd / 2, false));
        (0..2).for_each(|_| path.round(&mut vegas));
        assert!(vegas.rounds.measuring());
    }

    #[test]
    fn todays_slow_start_doubles_with_delayed_acks_too() {
        // tcp_slow_start counts packets since Linux 3.14: one ACK of two packets lets two more go.
        let grown = |mut vegas: AnyScheme<'_>| {
            let ack = |seq| Ack { seq, next_seq: seq + 11, acked: 2, window_limited: true, ..Ack::default() };
            (0..5).for_each(|i| vegas.on_ack(&ack(2 * i + 1)));
            vegas.window()
        };
        assert_eq!(grown(AnyScheme::Vegas(Vegas::new(VegasSettings::linux()))), 20);
        assert_eq!(grown(AnyScheme::LinuxVegas(LinuxVegas::new(10))), 15);
    }

    #[test]
    fn forgets_the_smallest_rtt_when_idle_and_all_on_a_new_connection() {
        let (mut vegas, mut path) = (Vegas::new(VegasSettings::linux()), path());
        path.run(&mut vegas, Instant::from_s(1.0));
        vegas.resume(path.now, Duration::SECOND);
        assert_eq!(vegas.rounds.queued(10.0, Duration::from_ms(500.0)), 0.0);
        vegas.start(Instant::START);
        assert_eq!(vegas.window(), 10);
        assert!(vegas.ssthresh().is_infinite());
    }
}
