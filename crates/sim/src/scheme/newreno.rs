//! NewReno: slow start, +1 per RTT, halved on a loss (RFC 5681; what is sent in recovery, RFC 6582, is the transport's).

use super::idle::decayed;
use super::linux::{LinuxWindow, NO_THRESHOLD};
use super::{Ack, Capabilities, Congestion, Scheme};
use crate::time::{NEVER, Time};

/// What a multiplicative decrease is taken of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// The congestion window (ns-2, Linux).
    #[default]
    Window,
    /// The packets outstanding (RFC 5681 eq. 4; RFC 9438 §4.6), no more than the window: what limited transmit added does
    /// not count (RFC 5681 §3.2), and after a long recovery most of what is outstanding has arrived.
    Flight,
}

impl Basis {
    /// Packets.
    pub(super) fn of(self, cwnd: f64, event: &Congestion) -> f64 {
        match self {
            Basis::Window => cwnd,
            Basis::Flight => f64::from(event.outstanding).min(cwnd),
        }
    }

    /// Whether a timeout leaves ssthresh as it is: that of a packet that a timeout sent again (RFC 5681 §3.1).
    pub(super) fn holds(self, cwnd: f64) -> bool {
        self == Basis::Flight && cwnd <= 1.0
    }
}

/// Which NewReno.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewRenoSettings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// Window after a timeout that found nothing outstanding, packets. ns-2: 1; its Linux agent: the initial window.
    pub idle_window: u32,
    /// Growth counts packets acknowledged, at most 2 per ACK in slow start (RFC 3465), rather than ACKs.
    pub bytes_counted: bool,
    /// What is halved on a loss.
    pub halved: Basis,
    /// The window grows also on ACKs at which the application, not the window, held the sender back. ns-2 does not ask.
    pub grows_unused: bool,
    /// The window is a whole number of packets, with a count of ACKs towards the next ("Linux Reno").
    pub integer: bool,
    /// Linux Reno: half of ssthresh during recovery (kernels up to 2.6.25, ns-2's Linux agent).
    pub undershoot: bool,
    /// An on-period that begins after so long a pause starts with the initial window at most, ns (RFC 5681 §4.1, where it
    /// is the RTO).
    pub restart_after: Time,
    /// Its packets may be marked; a mark counts as a loss (RFC 3168 §6.1.2).
    pub ecn: bool,
}

impl NewRenoSettings {
    /// ns-2's Agent/TCP/Newreno: ACKs are counted, the window is halved.
    #[must_use]
    pub fn ns2(initial_window: u32) -> NewRenoSettings {
        NewRenoSettings {
            initial_window,
            idle_window: 1,
            bytes_counted: false,
            halved: Basis::Window,
            grows_unused: true,
            integer: false,
            undershoot: false,
            restart_after: NEVER,
            ecn: false,
        }
    }

    /// By the letter of RFC 5681, with RFC 3465 and a restart after 1 s of silence (the least RTO of RFC 6298).
    #[must_use]
    pub fn rfc5681(initial_window: u32) -> NewRenoSettings {
        NewRenoSettings {
            bytes_counted: true,
            halved: Basis::Flight,
            grows_unused: false,
            restart_after: crate::time::SECOND,
            ..NewRenoSettings::ns2(initial_window)
        }
    }

    /// Reno of Linux 2.6.22, as ns-2's Linux agent ran it.
    #[must_use]
    pub fn linux(initial_window: u32) -> NewRenoSettings {
        NewRenoSettings {
            idle_window: initial_window,
            grows_unused: false,
            integer: true,
            undershoot: true,
            ..NewRenoSettings::ns2(initial_window)
        }
    }
}

impl Default for NewRenoSettings {
    /// ns-2's, with the initial window of 2 packets of the published runs.
    fn default() -> Self {
        NewRenoSettings::ns2(2)
    }
}

/// NewReno's congestion control.
#[derive(Clone, Debug)]
pub struct NewReno {
    settings: NewRenoSettings,
    cwnd: f64,
    ssthresh: f64,
    /// Used instead of the two above if `integer`.
    linux: LinuxWindow,
    /// Window and threshold before the last reduction, as long as that may be undone.
    kept: Option<(f64, f64)>,
}

impl NewReno {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: NewRenoSettings) -> NewReno {
        NewReno {
            settings,
            cwnd: f64::from(settings.initial_window.max(1)),
            ssthresh: f64::INFINITY,
            linux: LinuxWindow::new(settings.initial_window),
            kept: None,
        }
    }

    fn grow(&mut self, acked: u32) {
        // RFC 3465 §2.3: L = 2; ns-2 counts ACKs, whatever they acknowledge.
        let (burst, packets) = if self.settings.bytes_counted { (acked.min(2), acked) } else { (1, 1) };
        if self.cwnd < self.ssthresh {
            self.cwnd += f64::from(burst);
        } else {
            self.cwnd += f64::from(packets) / self.cwnd;
        }
    }
}

impl Default for NewReno {
    fn default() -> Self {
        NewReno::new(NewRenoSettings::default())
    }
}

impl Scheme for NewReno {
    fn start(&mut self, _now: Time) {
        *self = NewReno::new(self.settings);
    }

    fn resume(&mut self, _now: Time, idle: Time) {
        if idle > self.settings.restart_after {
            self.cwnd = self.cwnd.min(f64::from(self.settings.initial_window.max(1)));
            self.linux.cwnd = self.linux.cwnd.min(self.settings.initial_window.max(1));
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.linux.moderate(ack);
        let used = ack.window_limited || self.settings.grows_unused;
        if ack.in_recovery || !used || ack.acked == 0 {
            return;
        }
        if self.settings.integer {
            self.linux.reno();
        } else {
            self.grow(ack.acked);
        }
    }

    fn on_loss(&mut self, loss: &Congestion) {
        let half = self.settings.halved.of(self.cwnd, loss) / 2.0;
        // ns-2 halves cwnd exactly and keeps the whole part as the threshold; RFC 5681 eq. 4: two packets at least.
        self.cwnd = half.max(2.0);
        self.ssthresh = half.floor().max(2.0);
        self.linux.lose(self.linux.half(), self.settings.undershoot);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        let half = self.linux.half();
        self.linux.time_out(timeout, half, self.settings.idle_window);
        if timeout.idle {
            self.cwnd = f64::from(self.settings.idle_window.max(1));
        } else {
            if !self.settings.halved.holds(self.cwnd) {
                self.ssthresh = (self.settings.halved.of(self.cwnd, timeout) / 2.0).floor().max(2.0);
            }
            self.cwnd = 1.0;
        }
    }

    fn on_recovered(&mut self, _now: Time, limit: Option<u32>) {
        if self.settings.undershoot {
            self.linux.recovered(limit);
        }
    }

    fn on_partial_ack(&mut self, deflate: u32) {
        self.cwnd = (self.cwnd - f64::from(deflate)).max(1.0);
    }

    fn keep(&mut self) {
        self.kept = Some((self.cwnd, self.ssthresh));
        self.linux.keep();
    }

    fn on_spurious(&mut self, _now: Time) {
        if let Some((cwnd, ssthresh)) = self.kept.take() {
            (self.cwnd, self.ssthresh) = (cwnd.max(self.cwnd), ssthresh.max(self.ssthresh));
        }
        self.linux.restore();
    }

    fn after_idle(&mut self, timeouts: u32, initial_window: u32) {
        (self.cwnd, self.ssthresh) = decayed(self.cwnd, self.ssthresh, timeouts, initial_window);
        self.linux.after_idle(timeouts, initial_window);
    }

    fn window(&self) -> u32 {
        if self.settings.integer { self.linux.cwnd } else { self.cwnd as u32 }
    }

    fn intersend(&self) -> Time {
        0
    }

    fn ssthresh(&self) -> f64 {
        if !self.settings.integer {
            self.ssthresh
        } else if self.linux.ssthresh == NO_THRESHOLD {
            f64::INFINITY
        } else {
            f64::from(self.linux.ssthresh)
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { ecn: self.settings.ecn, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::time::from_ms;

    fn path() -> Driver {
        Driver::new(from_ms(100.0), from_ms(0.01))
    }

    fn all() -> [NewRenoSettings; 3] {
        [NewRenoSettings::ns2(2), NewRenoSettings::rfc5681(2), NewRenoSettings::linux(2)]
    }

    #[test]
    fn doubles_per_rtt_in_slow_start() {
        // RFC 5681 §3.1: at most one segment per segment acknowledged.
        for settings in all() {
            let (mut reno, mut path) = (NewReno::new(settings), path());
            assert!(reno.ssthresh().is_infinite());
            (0..5).for_each(|_| path.round(&mut reno));
            assert_eq!(reno.window(), 2 << 5, "{settings:?}");
        }
    }

    #[test]
    fn halves_on_a_loss_and_then_adds_one_per_rtt() {
        for settings in all() {
            let (mut reno, mut path) = (NewReno::new(settings), path());
            (0..5).for_each(|_| path.round(&mut reno));
            path.lose(&mut reno);
            assert_eq!(reno.ssthresh(), 32.0);
            path.round(&mut reno);
            // Linux: one RTT of slow start, since what is in flight bounded the window at the end of recovery.
            (0..3).for_each(|_| path.round(&mut reno));
            let before = reno.window();
            assert!((32..=36).contains(&before), "{settings:?}: {before}");
            (0..40).for_each(|_| path.round(&mut reno));
            let grown = reno.window() - before;
            assert!((39..=41).contains(&grown), "RFC 5681 §3.1: {settings:?} grew by {grown} in 40 RTTs");
        }
    }

    #[test]
    fn keeps_the_half_packet_as_ns2_does() {
        let mut reno = NewReno { cwnd: 685.0, ..NewReno::default() };
        reno.on_loss(&Congestion { outstanding: 600, ..Congestion::default() });
        assert_eq!((reno.cwnd, reno.ssthresh()), (342.5, 342.0));
        let mut by_flight = NewReno { cwnd: 685.0, ..NewReno::new(NewRenoSettings::rfc5681(2)) };
        by_flight.on_loss(&Congestion { outstanding: 600, ..Congestion::default() });
        assert_eq!((by_flight.cwnd, by_flight.ssthresh()), (300.0, 300.0));
        // Twice the window is outstanding when a recovery follows another: a loss never raises the window.
        by_flight.on_loss(&Congestion { outstanding: 700, ..Congestion::default() });
        assert_eq!((by_flight.cwnd, by_flight.ssthresh()), (150.0, 150.0));
        // RFC 5681 §3.1: the second timeout in a row leaves ssthresh alone.
        for _ in 0..2 {
            by_flight.on_rto(&Congestion { outstanding: 150, ..Congestion::default() });
            assert_eq!((by_flight.cwnd, by_flight.ssthresh()), (1.0, 75.0));
        }
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_an_idle_one_the_threshold() {
        // RFC 5681 §3.1: loss window of one segment.
        for settings in all() {
            let (mut reno, mut path) = (NewReno::new(settings), path());
            (0..5).for_each(|_| path.round(&mut reno));
            reno.on_rto(&Congestion { outstanding: 64, ..Congestion::default() });
            assert_eq!((reno.window(), reno.ssthresh()), (1, 32.0));
            reno.on_rto(&Congestion { idle: true, ..Congestion::default() });
            assert_eq!((reno.window(), reno.ssthresh()), (settings.idle_window, 32.0));
            reno.start(0);
            assert_eq!(reno.window(), 2);
            assert!(reno.ssthresh().is_infinite());
        }
    }

    #[test]
    fn counts_packets_but_two_at_most_in_slow_start() {
        // RFC 3465 §2.3.
        let mut reno = NewReno::new(NewRenoSettings::rfc5681(10));
        let stretch = Ack { acked: 5, window_limited: true, ..Ack::default() };
        reno.on_ack(&stretch);
        assert_eq!(reno.window(), 12);
        reno.cwnd = 20.0;
        reno.on_loss(&Congestion { outstanding: 20, ..Congestion::default() });
        reno.on_ack(&stretch);
        reno.on_ack(&Ack { acked: 6, ..stretch });
        assert_eq!(reno.window(), 11);
        let mut classic = NewReno::new(NewRenoSettings::ns2(10));
        classic.on_ack(&Ack { window_limited: false, ..stretch });
        assert_eq!(classic.window(), 11, "ns-2 counts ACKs, and asks not whether the window was used");
    }

    #[test]
    fn does_not_grow_in_recovery_nor_when_the_application_limits() {
        for settings in all() {
            let mut reno = NewReno::new(settings);
            if !settings.grows_unused {
                reno.on_ack(&Ack { acked: 1, window_limited: false, ..Ack::default() });
            }
            reno.on_ack(&Ack { acked: 1, window_limited: true, in_recovery: true, ..Ack::default() });
            reno.on_ack(&Ack { acked: 0, window_limited: true, ..Ack::default() });
            assert_eq!(reno.window(), 2);
        }
    }

    #[test]
    fn a_reduction_that_was_none_is_undone() {
        for settings in all() {
            let (mut reno, mut path) = (NewReno::new(settings), path());
            (0..5).for_each(|_| path.round(&mut reno));
            path.lose(&mut reno);
            let before = (reno.window(), reno.ssthresh());
            reno.keep();
            reno.on_rto(&Congestion { outstanding: 64, ..Congestion::default() });
            reno.on_rto(&Congestion { outstanding: 1, ..Congestion::default() });
            assert_eq!(reno.window(), 1);
            reno.on_spurious(path.now);
            assert_eq!((reno.window(), reno.ssthresh()), before, "{settings:?}");
            reno.after_idle(1, 2);
            assert_eq!(reno.window(), before.0 / 2);
        }
    }

    #[test]
    fn restarts_with_the_initial_window_after_a_pause() {
        // RFC 5681 §4.1.
        let (mut reno, mut path) = (NewReno::new(NewRenoSettings::rfc5681(4)), path());
        (0..3).for_each(|_| path.round(&mut reno));
        reno.resume(path.now, from_ms(900.0));
        assert_eq!(reno.window(), 32);
        reno.resume(path.now, from_ms(1100.0));
        assert_eq!(reno.window(), 4);
    }
}
