//! NewReno as ns-2 has it (`Agent/TCP/Newreno`): ACKs are counted, whatever they acknowledge, and the window is halved, not
//! what is outstanding. It does not ask whether the window was used.

use exmachina_net::time::{Duration, Instant};

use super::reno_window::RenoWindow;
use super::{Ack, Capabilities, Congestion, Scheme};

/// ns-2's NewReno.
#[derive(Clone, Debug)]
pub struct NewRenoNs2 {
    initial_window: u32,
    ecn: bool,
    window: RenoWindow,
}

impl NewRenoNs2 {
    /// A sender that has not started; connections begin with this window. With `ecn` its packets may be marked, and a mark
    /// counts as a loss.
    #[must_use]
    pub fn new(initial_window: u32, ecn: bool) -> NewRenoNs2 {
        NewRenoNs2 { initial_window, ecn, window: RenoWindow::new(initial_window) }
    }
}

impl Scheme for NewRenoNs2 {
    fn start(&mut self, _now: Instant) {
        *self = NewRenoNs2::new(self.initial_window, self.ecn);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.in_recovery && ack.acked > 0 {
            self.window.grow_by_ack();
        }
    }

    fn on_loss(&mut self, _loss: &Congestion) {
        self.window.halve(self.window.cwnd / 2.0);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        if !timeout.idle {
            self.window.ssthresh = (self.window.cwnd / 2.0).floor().max(2.0);
        }
        self.window.cwnd = 1.0;
    }

    fn on_partial_ack(&mut self, deflate: u32) {
        self.window.deflate(deflate);
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
        self.window.cwnd as u32
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { ecn: self.ecn, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cwnd: f64) -> NewRenoNs2 {
        let mut reno = NewRenoNs2::new(2, false);
        reno.window.cwnd = cwnd;
        reno
    }

    #[test]
    fn keeps_the_half_packet() {
        let mut reno = at(685.0);
        reno.on_loss(&Congestion { outstanding: 600, ..Congestion::default() });
        assert_eq!((reno.window.cwnd, reno.ssthresh()), (342.5, 342.0));
    }

    #[test]
    fn counts_acks_and_asks_not_whether_the_window_was_used() {
        let mut reno = at(10.0);
        reno.on_ack(&Ack { acked: 5, window_limited: false, ..Ack::default() });
        assert_eq!(reno.window(), 11);
    }
}
