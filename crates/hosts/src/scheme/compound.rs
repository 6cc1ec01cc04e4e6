//! Compound TCP (Tan, Song, Zhang and Sridharan 2006): Reno's window plus one that follows the queueing delay.
//!
//! The default is the Linux module that ns-2.35 carries, by which the papers measured it; `paper()` is the algorithm as
//! published. The window is cwnd + dwnd. Once per RTT dwnd grows by alpha * window^k - 1 while fewer than gamma packets
//! are queued, and shrinks by zeta times the packets queued otherwise.

use exmachina_net::time::{Duration, Instant};

use super::linux::LinuxWindow;
use super::rounds::{AfterRecovery, Rounds};
use super::{Ack, Congestion, Scheme};

/// Who wrote it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompoundForm {
    /// Its authors (Tan et al. 2006): dwnd is a real number, slow start is Reno's alone, and a loss takes beta off the window.
    Published,
    /// The module of Linux 2.6.22: dwnd is a whole number, grows in slow start too, and is what yields when the window falls; the
    /// first RTT after a recovery counts all packets of the recovery; ssthresh / 2 during recovery.
    Linux2622,
}

/// Which Compound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompoundSettings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// Window after a timeout that found nothing outstanding, packets (ns-2's Linux agent: the initial window).
    pub idle_window: u32,
    /// alpha of the increase (1/8).
    pub alpha: f64,
    /// What a loss takes off the window (1/2); the Linux module halves whatever this says.
    pub beta: f64,
    /// Exponent of the increase: 3/4; 0.8 would match HighSpeed TCP.
    pub k: f64,
    /// Packets queued from which dwnd shrinks (30).
    pub gamma: f64,
    /// Weight of the packets queued in that decrease (1).
    pub zeta: f64,
    /// Below this window, packets, it is Reno (41; in whole packets alpha and k alone come to the same).
    pub low_window: f64,
    /// As published, or as the Linux module.
    pub form: CompoundForm,
    /// A pause makes it forget dwnd and the smallest RTT (kernels; ns-2's Linux agent does not tell the module of pauses).
    pub forgets_when_idle: bool,
}

impl CompoundSettings {
    /// The module of Linux 2.6.22 as ns-2.35 ran it.
    #[must_use]
    pub fn linux_2_6_22() -> CompoundSettings {
        CompoundSettings {
            initial_window: 2,
            idle_window: 2,
            alpha: 0.125,
            beta: 0.5,
            k: 0.75,
            gamma: 30.0,
            zeta: 1.0,
            low_window: 41.0,
            form: CompoundForm::Linux2622,
            forgets_when_idle: false,
        }
    }

    /// As published.
    #[must_use]
    pub fn paper() -> CompoundSettings {
        CompoundSettings { idle_window: 1, form: CompoundForm::Published, ..CompoundSettings::linux_2_6_22() }
    }
}

impl Default for CompoundSettings {
    fn default() -> Self {
        CompoundSettings::linux_2_6_22()
    }
}

/// Compound.
#[derive(Clone, Debug)]
pub struct Compound {
    settings: CompoundSettings,
    /// The sum of both windows.
    window: LinuxWindow,
    /// Reno's window (the paper's cwnd).
    reno: u32,
    /// The delay-based window.
    dwnd: f64,
    rounds: Rounds,
}

impl Compound {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: CompoundSettings) -> Compound {
        Compound {
            settings,
            window: LinuxWindow::new(settings.initial_window),
            reno: settings.initial_window.max(1),
            dwnd: 0.0,
            rounds: Rounds::new(match settings.form {
                CompoundForm::Linux2622 => AfterRecovery::All,
                CompoundForm::Published => AfterRecovery::Anew,
            }),
        }
    }

    /// The sum was lowered behind the back of its parts: Reno's gives way, dwnd only if it must.
    fn divide(&mut self) {
        let window = self.window.cwnd;
        if self.reno as u64 + self.dwnd as u64 <= u64::from(window) {
            return;
        }
        if self.reno > window || self.dwnd > f64::from(window) {
            self.reno = window;
            self.dwnd = 0.0;
        } else {
            self.reno = window - self.dwnd as u32;
        }
    }

    fn grow_reno(&mut self) {
        if self.reno <= self.window.ssthresh {
            self.reno = self.reno.saturating_add(1);
            return;
        }
        self.window.count = self.window.count.saturating_add(1);
        if self.window.count >= self.window.cwnd {
            self.window.count = 0;
            self.reno = self.reno.saturating_add(1);
        }
    }

    /// What dwnd gains in an RTT that found no queue: with Reno's packet the window gains alpha * window^k.
    fn gain(&self, packets: f64) -> f64 {
        if packets < self.settings.low_window {
            return 0.0;
        }
        let power = libm::pow(packets, self.settings.k);
        let gain = match self.settings.form {
            CompoundForm::Linux2622 => (power.floor() * self.settings.alpha).floor(),
            CompoundForm::Published => power * self.settings.alpha,
        };
        (gain - 1.0).max(0.0)
    }

    fn once_per_rtt(&mut self, packets: f64, rtt: Duration) {
        let queued = self.rounds.queued(packets, rtt);
        match self.settings.form {
            // Slow start is Reno's.
            CompoundForm::Published if self.reno <= self.window.ssthresh => {}
            CompoundForm::Published => self.dwnd = self.adjusted(packets, queued),
            // The module reckons in half packets, and keeps whole ones.
            CompoundForm::Linux2622 => self.dwnd = self.adjusted(packets, (queued * 2.0).ceil() / 2.0).floor(),
        }
    }

    /// dwnd after an RTT of so many packets, of which so many were queued.
    fn adjusted(&self, packets: f64, queued: f64) -> f64 {
        if queued < self.settings.gamma {
            self.dwnd + self.gain(packets)
        } else {
            (self.dwnd - self.settings.zeta * queued).max(0.0)
        }
    }

    /// As published: the window falls to 1 - beta of itself, cwnd to half, and dwnd is what remains.
    fn lose_as_published(&mut self) {
        let window = f64::from(self.window.cwnd) * (1.0 - self.settings.beta);
        self.reno = (self.reno / 2).max(1);
        self.dwnd = (window - f64::from(self.reno)).max(0.0);
        self.window.lose((window as u32).max(2), false);
    }
}

impl Default for Compound {
    fn default() -> Self {
        Compound::new(CompoundSettings::default())
    }
}

impl Scheme for Compound {
    fn start(&mut self, _now: Instant) {
        *self = Compound::new(self.settings);
    }

    fn resume(&mut self, _now: Instant, _idle: Duration) {
        if self.settings.forgets_when_idle {
            self.rounds.forget();
            self.dwnd = 0.0;
            self.reno = self.window.cwnd;
        }
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
        self.divide();
        if !ack.window_limited {
            return;
        }
        self.grow_reno();
        if self.rounds.measuring()
            && let Some(round) = self.rounds.ended(ack)
            && let Some(rtt) = round.rtt
        {
            self.once_per_rtt(f64::from(round.packets), rtt);
        }
        self.window.cwnd = self.reno.saturating_add(self.dwnd as u32);
    }

    fn on_loss(&mut self, loss: &Congestion) {
        self.rounds.suspend(loss);
        match self.settings.form {
            CompoundForm::Linux2622 => self.window.lose(self.window.half(), true),
            CompoundForm::Published => self.lose_as_published(),
        }
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        if !timeout.idle {
            self.rounds.suspend(timeout);
        }
        self.window.time_out(timeout, self.window.half(), self.settings.idle_window);
        self.reno = self.window.cwnd;
        self.dwnd = 0.0;
    }

    fn on_recovered(&mut self, _now: Instant, limit: Option<u32>) {
        self.rounds.recovered();
        if self.settings.form == CompoundForm::Linux2622 {
            self.window.recovered(limit);
        }
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
    use super::*;

    fn at(settings: CompoundSettings, window: u32) -> Compound {
        let mut compound = Compound { reno: window, ..Compound::new(settings) };
        compound.window = LinuxWindow::new(window);
        compound.window.ssthresh = 2;
        compound
    }

    #[test]
    fn grows_as_the_binomial_on_an_empty_path() {
        // Tan et al. §III: dW/dn = W^(3/4) / 8 per RTT, so W^(1/4) gains 1/32 per RTT: from 256 to 625 packets in 32.
        let mut compound = at(CompoundSettings::paper(), 256);
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.01));
        (0..2).for_each(|_| path.round(&mut compound));
        let from = libm::sqrt(libm::sqrt(f64::from(compound.window())));
        (0..32).for_each(|_| path.round(&mut compound));
        let law = (from + 1.0) * (from + 1.0) * (from + 1.0) * (from + 1.0);
        let grown = f64::from(compound.window());
        assert!((grown / law - 1.0).abs() < 0.03, "{grown} v {law}");
    }

    #[test]
    fn is_reno_below_the_low_window() {
        for settings in [CompoundSettings::linux_2_6_22(), CompoundSettings::paper()] {
            let mut compound = at(settings, 10);
            let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.01));
            (0..20).for_each(|_| path.round(&mut compound));
            assert_eq!(compound.dwnd, 0.0);
            assert!((29..=30).contains(&compound.window()), "{}", compound.window());
        }
    }

    #[test]
    fn gains_what_the_module_gains_in_slow_start() {
        // ns-2.35: dwnd 1, 3 and 7 packets after RTTs of 64, 128 and 256 packets.
        let compound = Compound::default();
        assert_eq!([40.0, 41.0, 64.0, 128.0, 256.0].map(|w| compound.gain(w)), [0.0, 1.0, 1.0, 3.0, 7.0]);
    }

    #[test]
    fn rides_on_slow_start_as_in_ns2() {
        // ns-2.35, 15 Mbit/s, 150 ms, endless buffer: the window is ahead of Reno's by 1, 4, 11 packets, then by none.
        let (mut compound, mut path) =
            (Compound::default(), Driver::new(Duration::from_ms(150.0), Duration::from_ms(0.8)));
        let mut ahead = vec![0];
        while path.now < Instant::from_s(3.0) {
            path.ack(&mut compound);
            if compound.dwnd as u32 != ahead[ahead.len() - 1] {
                ahead.push(compound.dwnd as u32);
            }
        }
        assert_eq!(ahead, [0, 1, 4, 11, 0]);
    }

    #[test]
    fn retreats_when_gamma_packets_are_queued() {
        // Tan et al. eq. 5. The path holds 101 packets; 60 of the window are dwnd's.
        for settings in [CompoundSettings::linux_2_6_22(), CompoundSettings::paper()] {
            let mut compound = Compound { reno: 100, dwnd: 60.0, ..at(settings, 160) };
            let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(1.0));
            path.run(&mut compound, Instant::from_s(2.0));
            assert!(compound.dwnd < 30.0, "{settings:?}: {}", compound.dwnd);
            path.run(&mut compound, Instant::from_s(10.0));
            assert!(compound.reno > 120, "Reno's part goes on: {}", compound.reno);
        }
    }

    #[test]
    fn keeps_a_queue_of_about_gamma_until_reno_alone_fills_it() {
        let mut compound = at(CompoundSettings::default(), 60);
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(1.0));
        path.run(&mut compound, Instant::from_s(3.0));
        let mut most = 0;
        while path.now < Instant::from_s(6.0) {
            path.ack(&mut compound);
            most = most.max(compound.window());
        }
        assert!((101 + 20..101 + 45).contains(&most), "{most}");
    }

    #[test]
    fn halves_the_sum_on_a_loss() {
        let mut linux = Compound { reno: 100, dwnd: 60.0, ..at(CompoundSettings::default(), 160) };
        linux.on_loss(&Congestion { next_seq: 0, ..Congestion::default() });
        assert_eq!((linux.window(), linux.ssthresh()), (40, 80.0));
        linux.on_recovered(Instant::START, None);
        linux.on_ack(&Ack { acked: 1, in_flight: 100, window_limited: true, ..Ack::default() });
        linux.on_ack(&Ack { acked: 1, in_flight: 80, ..Ack::default() });
        assert_eq!((linux.window(), linux.reno, linux.dwnd), (80, 80, 0.0), "Reno's part alone was more");
        (linux.reno, linux.dwnd) = (60, 30.0);
        linux.divide();
        assert_eq!((linux.reno, linux.dwnd), (50, 30.0), "Reno's part gives way");
        let mut paper = Compound { reno: 100, dwnd: 60.0, ..at(CompoundSettings::paper(), 160) };
        paper.on_loss(&Congestion::default());
        assert_eq!((paper.window(), paper.reno, paper.dwnd), (80, 50, 30.0));
        paper.on_rto(&Congestion::default());
        assert_eq!((paper.window(), paper.dwnd, paper.ssthresh()), (1, 0.0, 40.0));
        paper.start(Instant::START);
        assert!(paper.ssthresh().is_infinite());
    }
}
