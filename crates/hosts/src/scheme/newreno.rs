//! NewReno by RFC 5681: slow start, +1 per RTT, halved on a loss. What is sent in recovery (RFC 6582) is the transport's.

use exmachina_net::time::{Duration, Instant};

use super::decrease::Basis;
use super::reno_window::RenoWindow;
use super::{Ack, Capabilities, Congestion, Scheme};

/// Which NewReno.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewRenoSettings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// An on-period that begins after so long a pause starts with the initial window at most, ns (RFC 5681 §4.1, where it
    /// is the RTO).
    pub restart_after: Duration,
    /// Its packets may be marked; a mark counts as a loss (RFC 3168 §6.1.2).
    pub ecn: bool,
}

impl NewRenoSettings {
    /// With this initial window; what a pause does is the transport's to say, and no packets are marked.
    #[must_use]
    pub fn new(initial_window: u32) -> NewRenoSettings {
        NewRenoSettings { initial_window, restart_after: Duration::MAX, ecn: false }
    }
}

/// NewReno's congestion control, with packets counted instead of ACKs (RFC 3465).
#[derive(Clone, Debug)]
pub struct NewReno {
    settings: NewRenoSettings,
    window: RenoWindow,
}

impl NewReno {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: NewRenoSettings) -> NewReno {
        NewReno { settings, window: RenoWindow::new(settings.initial_window) }
    }
}

impl Scheme for NewReno {
    fn start(&mut self, _now: Instant) {
        *self = NewReno::new(self.settings);
    }

    fn resume(&mut self, _now: Instant, idle: Duration) {
        if idle > self.settings.restart_after {
            self.window.cwnd = self.window.cwnd.min(f64::from(self.settings.initial_window.max(1)));
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.in_recovery && ack.window_limited && ack.acked > 0 {
            self.window.grow_by_packets(ack.acked);
        }
    }

    fn on_loss(&mut self, loss: &Congestion) {
        self.window.halve(Basis::Flight.of(self.window.cwnd, loss) / 2.0);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        let cwnd = self.window.cwnd;
        if !timeout.idle && !Basis::Flight.holds(cwnd) {
            self.window.ssthresh = (Basis::Flight.of(cwnd, timeout) / 2.0).floor().max(2.0);
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
        Capabilities { ecn: self.settings.ecn, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::Duration;

    use super::super::driver::Driver;
    use super::*;

    fn at(cwnd: f64) -> NewReno {
        let mut reno = NewReno::new(NewRenoSettings::new(10));
        reno.window.cwnd = cwnd;
        reno
    }

    #[test]
    fn halves_what_is_outstanding_rfc_5681_eq_4() {
        let mut reno = at(685.0);
        reno.on_loss(&Congestion { outstanding: 600, ..Congestion::default() });
        assert_eq!((reno.window.cwnd, reno.ssthresh()), (300.0, 300.0));
        // Twice the window is outstanding when a recovery follows another: a loss never raises the window.
        reno.on_loss(&Congestion { outstanding: 700, ..Congestion::default() });
        assert_eq!((reno.window.cwnd, reno.ssthresh()), (150.0, 150.0));
        // RFC 5681 §3.1: the second timeout in a row leaves ssthresh alone.
        for _ in 0..2 {
            reno.on_rto(&Congestion { outstanding: 150, ..Congestion::default() });
            assert_eq!((reno.window.cwnd, reno.ssthresh()), (1.0, 75.0));
        }
    }

    #[test]
    fn counts_packets_but_two_at_most_in_slow_start() {
        // RFC 3465 §2.3, "Choosing the Limit": L = 2 packets for each ACK.
        let mut reno = at(10.0);
        let stretch = Ack { acked: 5, window_limited: true, ..Ack::default() };
        reno.on_ack(&stretch);
        assert_eq!(reno.window(), 12);
        reno.window.cwnd = 20.0;
        reno.on_loss(&Congestion { outstanding: 20, ..Congestion::default() });
        reno.on_ack(&stretch);
        reno.on_ack(&Ack { acked: 6, ..stretch });
        assert_eq!(reno.window(), 11);
    }

    #[test]
    fn restarts_with_the_initial_window_after_a_pause() {
        // RFC 5681 §4.1, "Restarting Idle Connections".
        let settings = NewRenoSettings { restart_after: Duration::SECOND, ..NewRenoSettings::new(4) };
        let (mut reno, mut path) =
            (NewReno::new(settings), Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.01)));
        (0..3).for_each(|_| path.round(&mut reno));
        reno.resume(path.now, Duration::from_ms(900.0));
        assert_eq!(reno.window(), 32);
        reno.resume(path.now, Duration::from_ms(1100.0));
        assert_eq!(reno.window(), 4);
    }
}
