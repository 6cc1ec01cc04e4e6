//! Cubic by the letter of RFC 9438, and with what Linux 6 has in place of HyStart++ before the first loss. What Linux
//! kernels of the papers' day ran is in `cubic_linux.rs`.

use exmachina_net::time::{Duration, Instant};

use super::cubic_epoch::Epoch;
use super::decrease::Basis;
use super::idle::decayed;
use super::slow_start_end::{Ending, SlowStartEnd};
use super::{Ack, Capabilities, Congestion, Scheme};

/// Which Cubic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicSettings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// Window after a timeout that found nothing outstanding, packets.
    pub idle_window: u32,
    /// C, packets/s^3: how fast the window grows far from W_max (§5.1: 0.4).
    pub c: f64,
    /// What is left after a loss (§4.6: 0.7).
    pub beta: f64,
    /// What beta is taken of (§4.6: the packets outstanding).
    pub reduced: Basis,
    /// A flow that did not come back to W_max makes room for others (§4.7).
    pub fast_convergence: bool,
    /// Never slower than Reno with the same beta would be (§4.3).
    pub reno_friendly: bool,
    /// Most packets that one ACK adds in slow start (RFC 3465 §2.3: 2); 1 is what ns-2 does.
    pub slow_start_limit: u32,
    /// What ends the first slow start (§4.10: SHOULD use HyStart++, RFC 9406).
    pub slow_start_end: SlowStartEnd,
    /// Of the window, what it grows by in an RTT at least as long as there is no W_max (Linux: 1/20).
    pub least_growth: f64,
    /// An on-period that begins after so long a pause starts with the initial window at most, ns (RFC 5681 §4.1, where it
    /// is the RTO).
    pub restart_after: Duration,
    /// Its packets may be marked; a mark counts as a loss (§4.6).
    pub ecn: bool,
}

impl Default for CubicSettings {
    /// The constants of RFC 9438, an initial window of 10 packets (RFC 6928), no HyStart.
    fn default() -> Self {
        CubicSettings {
            initial_window: 10,
            idle_window: 1,
            c: 0.4,
            beta: 0.7,
            reduced: Basis::Flight,
            fast_convergence: true,
            reno_friendly: true,
            slow_start_limit: 2,
            slow_start_end: SlowStartEnd::Loss,
            least_growth: 0.0,
            restart_after: Duration::MAX,
            ecn: false,
        }
    }
}

/// Cubic (RFC 9438).
#[derive(Clone, Debug)]
pub struct Cubic {
    settings: CubicSettings,
    cwnd: f64,
    ssthresh: f64,
    /// Window before the last reduction, lowered by fast convergence; none: no plateau to return to.
    w_max: Option<f64>,
    /// Window before the last reduction as it was.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    last_ack: Instant,
    ending: Ending,
    /// The state before the last reduction, as long as that may be undone.
    kept: Option<Kept>,
}

/// What an undo restores (§4.9).
#[derive(Clone, Copy, Debug)]
struct Kept {
    cwnd: f64,
    ssthresh: f64,
    w_max: Option<f64>,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

impl Cubic {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: CubicSettings) -> Cubic {
        Cubic {
            settings,
            cwnd: f64::from(settings.initial_window.max(1)),
            ssthresh: f64::INFINITY,
            w_max: None,
            cwnd_prior: f64::INFINITY,
            epoch: None,
            last_ack: Instant::START,
            ending: Ending::new(settings.slow_start_end),
            kept: None,
        }
    }

    fn slow_start(&mut self, ack: &Ack) {
        // RFC 9406 §4.3: only while ssthresh has its first value; later slow starts know where to end.
        let limit = self.settings.slow_start_limit.max(1);
        let ending = if self.ssthresh.is_infinite() { &mut self.ending } else { &mut Ending::Loss };
        match ending.growth(ack, self.cwnd, limit) {
            Some(packets) => self.cwnd += packets,
            None => {
                self.ssthresh = self.cwnd;
                // §4.10: the first congestion avoidance after HyStart++ has K = 0, and its own beginning as W_max and as
                // the window that Reno has to pass.
                self.cwnd_prior = self.cwnd;
                self.avoid(ack);
            }
        }
    }

    fn avoid(&mut self, ack: &Ack) {
        let c = self.settings.c;
        let mut epoch = self.epoch.unwrap_or_else(|| Epoch::begin(ack.received, self.cwnd, self.w_max, c));
        let acked = f64::from(ack.acked);
        let least = if self.w_max.is_none() { self.cwnd + acked * self.settings.least_growth } else { 0.0 };
        let t = ack.received.since(epoch.began).as_s();
        if self.settings.reno_friendly {
            epoch.reno += epoch.reno_alpha(self.settings.beta, self.cwnd_prior) * acked / self.cwnd;
        }
        if self.settings.reno_friendly && epoch.curve(c, t) < epoch.reno {
            // §4.3: the Reno-friendly region.
            self.cwnd = self.cwnd.max(epoch.reno);
        } else {
            // §4.4, §4.5: towards where the curve will be one RTT on, within an RTT; no more than half as much again.
            let target = epoch.curve(c, t + ack.srtt.as_s()).max(self.cwnd).min(1.5 * self.cwnd);
            self.cwnd += acked * (target - self.cwnd) / self.cwnd;
        }
        self.cwnd = self.cwnd.max(least);
        self.epoch = Some(epoch);
    }

    /// §4.6, §4.7: ssthresh and the plateau of the next epoch.
    fn reduce(&mut self, event: &Congestion) {
        let beta = self.settings.beta;
        let fell_short = self.w_max.is_some_and(|w_max| self.cwnd < w_max);
        self.w_max =
            Some(if fell_short && self.settings.fast_convergence { self.cwnd * (1.0 + beta) / 2.0 } else { self.cwnd });
        self.cwnd_prior = self.cwnd;
        if !self.settings.reduced.holds(self.cwnd) {
            self.ssthresh = (self.settings.reduced.of(self.cwnd, event) * beta).max(2.0);
        }
        self.epoch = None;
    }
}

impl Default for Cubic {
    fn default() -> Self {
        Cubic::new(CubicSettings::default())
    }
}

impl Scheme for Cubic {
    fn start(&mut self, _now: Instant) {
        *self = Cubic::new(self.settings);
    }

    /// §4.2: idle time is none of the epoch's, or the window would leap after it.
    fn resume(&mut self, now: Instant, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.began = epoch.began.saturating_add(idle).min(now);
        }
        self.last_ack = now;
        if idle > self.settings.restart_after {
            self.cwnd = self.cwnd.min(f64::from(self.settings.initial_window.max(1)));
            self.epoch = None;
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        let since = ack.received.since(self.last_ack);
        self.last_ack = ack.received;
        if ack.in_recovery || ack.acked == 0 {
            return;
        }
        if !ack.window_limited {
            // §4.2, §5.8: time limited by the application does not count either.
            if let Some(epoch) = &mut self.epoch {
                epoch.began = epoch.began.saturating_add(since).min(ack.received);
            }
        } else if self.cwnd < self.ssthresh {
            self.slow_start(ack);
        } else {
            self.avoid(ack);
        }
    }

    fn on_loss(&mut self, loss: &Congestion) {
        self.reduce(loss);
        self.cwnd = self.ssthresh;
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        if timeout.idle {
            self.cwnd = f64::from(self.settings.idle_window.max(1));
        } else {
            self.reduce(timeout);
            self.cwnd = 1.0;
            // §4.8: the first congestion avoidance after a timeout has K = 0 and its own beginning as W_max.
            self.w_max = None;
        }
        self.epoch = None;
    }

    /// §4.9.1, §4.9.2: undo_cwnd, undo_ssthresh, undo_W_max, undo_cwnd_prior, and K and t_epoch with the epoch.
    fn keep(&mut self) {
        let Cubic { cwnd, ssthresh, w_max, cwnd_prior, epoch, .. } = *self;
        self.kept = Some(Kept { cwnd, ssthresh, w_max, cwnd_prior, epoch });
    }

    fn on_spurious(&mut self, _now: Instant) {
        if let Some(kept) = self.kept.take().filter(|kept| kept.cwnd > self.cwnd) {
            (self.cwnd, self.ssthresh) = (kept.cwnd, kept.ssthresh);
            (self.w_max, self.cwnd_prior, self.epoch) = (kept.w_max, kept.cwnd_prior, kept.epoch);
        }
    }

    fn after_idle(&mut self, timeouts: u32, initial_window: u32) {
        (self.cwnd, self.ssthresh) = decayed(self.cwnd, self.ssthresh, timeouts, initial_window);
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { ecn: self.settings.ecn, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::driver::Driver;
    use super::*;

    /// A window of 1000 packets loses one; returns at the first ACK of congestion avoidance.
    fn after_a_loss(settings: CubicSettings, rtt_ms: f64) -> (Cubic, Driver) {
        let mut cubic = Cubic { cwnd: 1000.0, ssthresh: 1000.0, ..Cubic::new(settings) };
        let mut path = Driver::new(Duration::from_ms(rtt_ms), Duration::from_ms(rtt_ms / 1500.0));
        path.lose(&mut cubic);
        while cubic.epoch.is_none() {
            path.ack(&mut cubic);
        }
        (cubic, path)
    }

    #[test]
    fn follows_the_cubic_through_its_plateau() {
        // §4.2 eqs. 1 and 2: W(t) = 0.4 (t - K)^3 + 1000, K = cbrt(1000 * 0.3 / 0.4) = 9.0856 s.
        let (mut cubic, mut path) = after_a_loss(CubicSettings::default(), 100.0);
        let k = libm::cbrt(1000.0 * (1.0 - 0.7) / 0.4);
        assert!((cubic.epoch.unwrap().k / k - 1.0).abs() < 1e-9, "K = {}", cubic.epoch.unwrap().k);
        let began = path.now;
        for second in 1..=18 {
            path.run(&mut cubic, began + second * Duration::SECOND);
            let x = (path.now - began).as_s() - k;
            let law = 0.4 * x * x * x + 1000.0;
            assert!((cubic.cwnd / law - 1.0).abs() < 0.02, "{second} s: {} v {law}", cubic.cwnd);
        }
    }

    #[test]
    fn is_no_slower_than_reno_on_a_small_path() {
        // §4.3: at 10 ms and 20 packets the cubic is flat; alpha = 3 * 0.3 / 1.7 packets per RTT up to the old window.
        let mut cubic = Cubic { cwnd: 20.0, ssthresh: 20.0, ..Cubic::default() };
        let mut path = Driver::new(Duration::from_ms(10.0), Duration::from_ms(0.1));
        path.lose(&mut cubic);
        path.round(&mut cubic);
        let from = cubic.cwnd;
        (0..8).for_each(|_| path.round(&mut cubic));
        let per_rtt = (cubic.cwnd - from) / 8.0;
        assert!((per_rtt - 3.0 * 0.3 / 1.7).abs() < 0.05, "{per_rtt} packets per RTT");
        (0..20).for_each(|_| path.round(&mut cubic));
        let (from, rounds) = (cubic.cwnd, 10);
        assert!(from > 20.0);
        (0..rounds).for_each(|_| path.round(&mut cubic));
        let per_rtt = (cubic.cwnd - from) / f64::from(rounds);
        assert!((per_rtt - 1.0).abs() < 0.08, "alpha = 1 above the old window: {per_rtt}");
    }

    #[test]
    fn converges_fast_only_when_it_fell_short() {
        // §4.7.
        let lose = |cubic: &mut Cubic| {
            cubic.on_loss(&Congestion { outstanding: cubic.window(), ..Congestion::default() });
            (cubic.cwnd, cubic.w_max.unwrap())
        };
        let mut cubic = Cubic { cwnd: 100.0, ..Cubic::default() };
        assert_eq!(lose(&mut cubic), (70.0, 100.0));
        assert_eq!(lose(&mut cubic), (49.0, 70.0 * 0.85));
        cubic.cwnd = 200.0;
        assert_eq!(lose(&mut cubic), (140.0, 200.0));
    }

    #[test]
    fn begins_convex_after_a_timeout() {
        // §4.8.
        let mut cubic = Cubic { cwnd: 100.0, ssthresh: 100.0, ..Cubic::default() };
        cubic.on_rto(&Congestion { outstanding: 100, ..Congestion::default() });
        assert_eq!((cubic.window(), cubic.ssthresh()), (1, 70.0));
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.1));
        while cubic.epoch.is_none() {
            path.ack(&mut cubic);
        }
        let epoch = cubic.epoch.unwrap();
        assert_eq!((epoch.k, epoch.origin), (0.0, 70.0));
    }

    #[test]
    fn never_aims_beyond_half_as_much_again_per_rtt() {
        // §4.4: the curve is far ahead after a long time above the plateau.
        let (mut cubic, mut path) = after_a_loss(CubicSettings::default(), 100.0);
        cubic.epoch.as_mut().unwrap().origin = 1e9;
        let from = cubic.cwnd;
        path.round(&mut cubic);
        assert!(cubic.cwnd > 1.3 * from && cubic.cwnd <= 1.5 * from + 1.0, "{from} -> {}", cubic.cwnd);
    }

    #[test]
    fn a_reduction_that_was_none_is_undone() {
        // §4.9: the curve goes on where it was.
        let (mut cubic, mut path) = after_a_loss(CubicSettings::default(), 100.0);
        path.run(&mut cubic, path.now + Duration::from_secs(5));
        let state = |cubic: &Cubic| {
            let epoch = cubic.epoch.unwrap();
            (cubic.cwnd, cubic.ssthresh, cubic.w_max, epoch.began, epoch.k)
        };
        let before = state(&cubic);
        cubic.keep();
        path.lose(&mut cubic);
        cubic.on_rto(&Congestion { outstanding: 500, ..Congestion::default() });
        assert_eq!(cubic.window(), 1);
        cubic.on_spurious(path.now);
        assert_eq!(state(&cubic), before);
        cubic.cwnd = 5.0;
        cubic.on_spurious(path.now);
        assert_eq!(cubic.cwnd, 5.0, "once only");
    }

    #[test]
    fn stands_still_while_idle() {
        // §4.2.
        let (mut cubic, mut path) = after_a_loss(CubicSettings::default(), 100.0);
        path.run(&mut cubic, path.now + Duration::from_secs(2));
        let (before, began) = (cubic.cwnd, cubic.epoch.unwrap().began);
        cubic.resume(path.now + Duration::from_secs(60), Duration::from_secs(60));
        assert_eq!(cubic.epoch.unwrap().began, began + Duration::from_secs(60));
        cubic.on_ack(&Ack {
            received: path.now + Duration::from_secs(60),
            acked: 1,
            window_limited: true,
            ..Ack::default()
        });
        assert!(cubic.cwnd - before < 1.0);
        let began = cubic.epoch.unwrap().began;
        cubic.on_ack(&Ack { received: path.now + Duration::from_secs(70), acked: 1, ..Ack::default() });
        assert_eq!(cubic.epoch.unwrap().began, began + Duration::from_secs(10));
    }

    #[test]
    fn leaves_slow_start_before_a_loss_with_hystart() {
        // RFC 9406: BDP 100 packets; without it the window would double until something is lost.
        let mut cubic =
            Cubic::new(CubicSettings { slow_start_end: SlowStartEnd::HystartPlusPlus, ..CubicSettings::default() });
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(1.0));
        // Five rounds at a quarter of the pace, each as long as the queue.
        path.run(&mut cubic, Instant::from_s(8.0));
        assert!((100.0..1000.0).contains(&cubic.ssthresh()), "{}", cubic.ssthresh());
        // §4.10: K = 0, and alpha of §4.3 is 1 from the first.
        let epoch = cubic.epoch.unwrap();
        assert_eq!((epoch.k, epoch.reno_alpha(0.7, cubic.cwnd_prior)), (0.0, 1.0));
        cubic.start(Instant::START);
        assert!(cubic.ssthresh().is_infinite());
        assert_eq!(cubic.window(), 10);
    }
}
