//! Reno of Linux 2.6.22 (`tcp_cong.c`), as ns-2's agent for Linux's modules ran it: whole packets, and half of ssthresh during
//! recovery.

use exmachina_net::time::{Duration, Instant};

use super::linux::LinuxWindow;
use super::{Ack, Capabilities, Congestion, Scheme};

/// Linux's Reno.
#[derive(Clone, Debug)]
pub struct LinuxReno {
    initial_window: u32,
    ecn: bool,
    window: LinuxWindow,
}

impl LinuxReno {
    /// A sender that has not started; connections, and what follows a timeout of a pause, begin with this window. With `ecn` its
    /// packets may be marked, and a mark counts as a loss.
    #[must_use]
    pub fn new(initial_window: u32, ecn: bool) -> LinuxReno {
        LinuxReno { initial_window, ecn, window: LinuxWindow::new(initial_window) }
    }
}

impl Scheme for LinuxReno {
    fn start(&mut self, _now: Instant) {
        *self = LinuxReno::new(self.initial_window, self.ecn);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window.moderate(ack);
        if !ack.in_recovery && ack.window_limited && ack.acked > 0 {
            self.window.reno();
        }
    }

    fn on_loss(&mut self, _loss: &Congestion) {
        self.window.lose(self.window.half(), true);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        self.window.time_out(timeout, self.window.half(), self.initial_window);
    }

    fn on_recovered(&mut self, _now: Instant, limit: Option<u32>) {
        self.window.recovered(limit);
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
        Capabilities { ecn: self.ecn, ..Capabilities::default() }
    }
}
