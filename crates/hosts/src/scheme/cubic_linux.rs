//! Cubic as Linux kernels of the papers' day ran it: whole packets, milliseconds, and the module's own rules of thumb.
//!
//! Remy'13 and Tao'14 used ns-2's port of the module of Linux 2.6.22. It departs from RFC 9438 in ways that show in
//! curves: beta is 0.8, growth is capped at 16 packets per 100 ms beyond the plateau, nothing is remembered over a
//! timeout, and the estimate of delayed ACKs starts at 2 and, in whole sixteenths, sticks at 31/16 where every packet is
//! acknowledged, which halves the number of ACKs that a packet more takes.

mod settings;

use settings::ACK_RATIO;
pub use settings::{LinuxCubicSettings, Unknown};

use exmachina_net::time::{Duration, Instant};

use super::hystart::Hystart;
use super::linux::LinuxWindow;
use super::{Ack, Capabilities, Congestion, Scheme};

/// 1 in the fixed-point numbers of the module.
const ONE: u32 = 1024;
/// The target is computed anew when the window has changed or this has passed, ms (HZ / 32 at HZ = 1000).
const UPDATE_MS: u64 = 31;
/// RTTs so soon after a loss are not believed, ms.
const DISTRUST_MS: u64 = 1000;
const MS: Duration = Duration::from_millis(1);

/// What the module learns on a connection. Times in ms.
#[derive(Clone, Debug, Default)]
struct Learnt {
    /// ACKs per packet of growth.
    per_packet: u32,
    /// Window before the last loss, lowered by fast convergence; 0: none.
    last_max: u32,
    /// Window and time of the last update.
    last_update: (u32, u64),
    origin: u32,
    /// From the beginning of the epoch to the plateau, 1024ths of a second.
    k: u64,
    /// Least RTT, ms; 0: unknown.
    delay_min: u64,
    epoch: Option<u64>,
    /// Sixteenths of a packet per ACK.
    delayed_ack: u32,
    /// ACKs towards the next packet of the Reno window.
    acks: u32,
    /// What Reno would have.
    reno: u32,
}

/// Linux's Cubic.
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    settings: LinuxCubicSettings,
    window: LinuxWindow,
    learnt: Learnt,
    hystart: Hystart,
}

impl LinuxCubic {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: LinuxCubicSettings) -> LinuxCubic {
        LinuxCubic {
            settings,
            window: LinuxWindow::new(settings.initial_window),
            learnt: Learnt { delayed_ack: settings.delayed_ack.max(1), ..Learnt::default() },
            hystart: Hystart::default(),
        }
    }

    /// A running mean over 16 ACKs in whole sixteenths; it cannot fall below 31 by one packet per ACK.
    fn estimate_delayed_acks(&mut self, acked: u32) {
        let old = self.learnt.delayed_ack;
        self.learnt.delayed_ack = old.saturating_add(acked).saturating_sub(old / ACK_RATIO).max(1);
    }

    /// The timestamps of those kernels tick in milliseconds.
    fn measure_delay(&mut self, ack: &Ack) {
        let now = ack.received / MS;
        if self.learnt.epoch.is_some_and(|epoch| now.saturating_sub(epoch) < DISTRUST_MS) {
            return;
        }
        let delay = now.saturating_sub((ack.sent + MS / 2) / MS).max(1);
        if self.learnt.delay_min == 0 || delay < self.learnt.delay_min {
            self.learnt.delay_min = delay;
        }
    }

    fn begin(&mut self, now: u64) {
        let cwnd = self.window.cwnd;
        let learnt = &mut self.learnt;
        learnt.epoch = Some(now);
        learnt.acks = 1;
        learnt.reno = cwnd;
        learnt.origin = learnt.last_max.max(cwnd);
        // K = cbrt((last window - window) / C), in 1024ths of a second.
        let short = f64::from(learnt.origin - cwnd) * f64::from(ONE) / f64::from(self.settings.c.max(1));
        learnt.k = (f64::from(ONE) * libm::cbrt(short)) as u64;
    }

    /// Where the curve will be one RTT on.
    fn target(&self, t: u64) -> u32 {
        let away = t.abs_diff(self.learnt.k) as f64 / f64::from(ONE);
        let rise = (f64::from(self.settings.c) / f64::from(ONE) * away * away * away) as u32;
        if t < self.learnt.k {
            self.learnt.origin.saturating_sub(rise)
        } else {
            self.learnt.origin.saturating_add(rise)
        }
    }

    fn update(&mut self, now: u64) {
        let cwnd = self.window.cwnd;
        self.learnt.acks = self.learnt.acks.saturating_add(1);
        let (last_cwnd, last_time) = self.learnt.last_update;
        if last_cwnd == cwnd && now.saturating_sub(last_time) <= UPDATE_MS {
            return;
        }
        self.learnt.last_update = (cwnd, now);
        if self.learnt.epoch.is_none() {
            self.begin(now);
        }
        let since = (now + self.learnt.delay_min).saturating_sub(self.learnt.epoch.unwrap_or(now));
        let t = since * u64::from(ONE) / 1000;
        let target = self.target(t);
        let curve = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        let curve = if t >= self.learnt.k { curve.max(self.least(cwnd)) } else { curve };
        let curve = match self.settings.unknown {
            Unknown::Fixed(count) if self.learnt.last_max == 0 => count,
            Unknown::AtMost(count) if self.learnt.last_max == 0 => curve.min(count),
            _ => curve,
        };
        let count = u64::from(curve.min(self.reno(cwnd)));
        self.learnt.per_packet = (count * u64::from(ACK_RATIO) / u64::from(self.learnt.delayed_ack)).max(1) as u32;
    }

    /// ACKs per packet at the limit of growth per 100 ms.
    fn least(&self, cwnd: u32) -> u32 {
        if self.settings.max_increment == 0 || self.learnt.delay_min == 0 {
            return 0;
        }
        (u64::from(cwnd) * 100 / (u64::from(self.settings.max_increment) * self.learnt.delay_min)) as u32
    }

    /// ACKs per packet with which the window catches up with Reno's; none: it is ahead of Reno.
    fn reno(&mut self, cwnd: u32) -> u32 {
        if !self.settings.tcp_friendliness {
            return u32::MAX;
        }
        let beta = self.settings.beta.min(ONE - 1);
        // 8 (1 + beta) / (3 (1 - beta)), in whole eighths as the module has it: 15 at 717, 23 at 819.
        let scale = 8 * (ONE + beta) / 3 / (ONE - beta);
        let acks_per_packet = (u64::from(cwnd) * u64::from(scale) / 8).clamp(1, u64::from(u32::MAX)) as u32;
        while self.learnt.acks > acks_per_packet {
            self.learnt.acks -= acks_per_packet;
            self.learnt.reno = self.learnt.reno.saturating_add(1);
        }
        if self.learnt.reno > cwnd { cwnd / (self.learnt.reno - cwnd) } else { u32::MAX }
    }

    /// The epoch ends; returns ssthresh.
    fn reduced(&mut self) -> u32 {
        let (cwnd, beta) = (u64::from(self.window.cwnd), u64::from(self.settings.beta));
        self.learnt.epoch = None;
        let short = self.window.cwnd < self.learnt.last_max && self.settings.fast_convergence;
        let one = u64::from(ONE);
        self.learnt.last_max = if short { cwnd * (one + beta) / (2 * one) } else { cwnd } as u32;
        (cwnd * beta / one).max(2) as u32
    }
}

impl Default for LinuxCubic {
    fn default() -> Self {
        LinuxCubic::new(LinuxCubicSettings::default())
    }
}

impl Scheme for LinuxCubic {
    fn start(&mut self, _now: Instant) {
        *self = LinuxCubic::new(self.settings);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.acked == 0 || ack.in_recovery {
            return;
        }
        self.window.moderate(ack);
        // `bictcp_acked` counts in the state Open alone.
        if !ack.in_loss {
            self.estimate_delayed_acks(ack.acked);
        }
        self.measure_delay(ack);
        if !ack.window_limited {
            return;
        }
        if self.window.in_slow_start() {
            self.window.slow_start();
            if self.settings.hystart && self.hystart.full(ack, self.window.cwnd) {
                self.window.ssthresh = self.window.cwnd;
            }
            return;
        }
        self.update(ack.received / MS);
        // The module compares before it counts: one ACK more than `per_packet`.
        if self.window.count >= self.learnt.per_packet {
            self.window.cwnd = self.window.cwnd.saturating_add(1);
            self.window.count = 0;
        } else {
            self.window.count += 1;
        }
    }

    fn on_loss(&mut self, _loss: &Congestion) {
        let ssthresh = self.reduced();
        self.window.lose(ssthresh, false);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_recovered(&mut self, _now: Instant, limit: Option<u32>) {
        self.window.recovered(limit);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        if timeout.idle {
            self.window.time_out(timeout, 0, self.settings.idle_window);
            return;
        }
        let ssthresh = self.reduced();
        self.window.time_out(timeout, ssthresh, self.settings.idle_window);
        if self.settings.forgets_on_rto {
            self.learnt = Learnt { delayed_ack: self.settings.delayed_ack.max(1), ..Learnt::default() };
            self.hystart = Hystart::default();
        }
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
    fn after_a_loss(settings: LinuxCubicSettings) -> (LinuxCubic, Driver) {
        let mut cubic = LinuxCubic::new(settings);
        cubic.window = LinuxWindow::new(1000);
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.05));
        path.lose(&mut cubic);
        while cubic.learnt.epoch.is_none() {
            path.ack(&mut cubic);
        }
        (cubic, path)
    }

    #[test]
    fn follows_the_cubic_through_its_plateau() {
        // C = 0.4, beta = 717/1024: K = cbrt(300 / 0.4) = 9.08 s. The module aims one RTT ahead.
        let (mut cubic, mut path) = after_a_loss(LinuxCubicSettings::linux_2_6());
        let k = libm::cbrt(f64::from(1000 - cubic.window()) * 1024.0 / 410.0);
        assert!((cubic.learnt.k as f64 / 1024.0 - k).abs() < 0.002);
        let began = path.now;
        for second in 1..=16 {
            path.run(&mut cubic, began + second * Duration::SECOND);
            let x = (path.now - began).as_s() - k;
            let law = 0.4 * x * x * x + 1000.0;
            assert!((f64::from(cubic.window()) / law - 1.0).abs() < 0.02, "{second} s: {} v {law}", cubic.window());
        }
    }

    #[test]
    fn reduces_by_beta_and_converges_fast() {
        let (mut cubic, _) = after_a_loss(LinuxCubicSettings::linux_2_6_22());
        // At ssthresh itself one more ACK of slow start is due.
        assert_eq!((cubic.window(), cubic.ssthresh(), cubic.learnt.last_max), (800, 799.0, 1000));
        cubic.on_loss(&Congestion::default());
        assert_eq!((cubic.window(), cubic.learnt.last_max), (639, 719), "800 * 819 / 1024; 800 * 1843 / 2048");
    }

    #[test]
    fn the_estimate_of_delayed_acks_sticks_at_31_sixteenths() {
        let mut cubic = LinuxCubic::default();
        (0..100).for_each(|_| cubic.estimate_delayed_acks(1));
        assert_eq!(cubic.learnt.delayed_ack, 31);
        (0..100).for_each(|_| cubic.estimate_delayed_acks(2));
        assert_eq!(cubic.learnt.delayed_ack, 32, "every other packet acknowledged: right");
    }

    #[test]
    fn grows_by_its_rule_of_thumb_before_the_first_loss() {
        // 2.6.22: 50 ACKs a packet, times 16/31 and plus one for the comparison: 26. Here 1000 ACKs.
        let mut cubic = LinuxCubic::new(LinuxCubicSettings { tcp_friendliness: false, ..Default::default() });
        cubic.window = LinuxWindow::new(200);
        cubic.window.ssthresh = 50;
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.1));
        (0..1000).for_each(|_| _ = path.ack(&mut cubic));
        assert_eq!(cubic.window() - 200, 1000 / 26);
    }

    #[test]
    fn growth_beyond_the_plateau_is_capped() {
        // 16 packets per 100 ms at most; the estimate of delayed ACKs doubles it.
        let free = LinuxCubicSettings { max_increment: 0, ..LinuxCubicSettings::linux_2_6_22() };
        let fastest = |settings: LinuxCubicSettings| {
            let (mut cubic, mut path) = after_a_loss(settings);
            path.run(&mut cubic, path.now + Duration::from_secs(22));
            let before = cubic.window();
            path.run(&mut cubic, path.now + Duration::SECOND);
            cubic.window() - before
        };
        let (capped, uncapped) = (fastest(LinuxCubicSettings::linux_2_6_22()), fastest(free));
        assert!((140..=330).contains(&capped) && uncapped > capped, "{capped} v {uncapped} packets in a second");
    }

    #[test]
    fn a_timeout_wipes_out_the_plateau() {
        let (mut cubic, path) = after_a_loss(LinuxCubicSettings::linux_2_6());
        let reduced = cubic.window() * 717 / 1024;
        cubic.on_rto(&path.congestion());
        assert_eq!((cubic.window(), cubic.learnt.last_max), (1, 0));
        assert_eq!(cubic.ssthresh(), f64::from(reduced));
        cubic.begin(0);
        assert_eq!((cubic.learnt.k, cubic.learnt.origin), (0, 1));
        cubic.start(Instant::START);
        assert!(cubic.ssthresh().is_infinite());
    }

    #[test]
    fn keeps_up_with_reno_on_a_small_path() {
        // 15 eighths of a window of ACKs per packet: 3 (1 - beta) / (1 + beta) = 0.53 packets per RTT.
        let mut cubic = LinuxCubic::new(LinuxCubicSettings::linux_2_6());
        cubic.window = LinuxWindow::new(30);
        let mut path = Driver::new(Duration::from_ms(10.0), Duration::from_ms(0.1));
        path.lose(&mut cubic);
        path.round(&mut cubic);
        let before = cubic.window();
        (0..20).for_each(|_| path.round(&mut cubic));
        let grown = cubic.window() - before;
        assert!((9..=13).contains(&grown), "{grown} packets in 20 RTTs");
    }
}
