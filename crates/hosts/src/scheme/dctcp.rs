//! DCTCP (RFC 8257): Reno that lowers its window in proportion to the share of packets marked.
//!
//! It needs queues that mark on the instantaneous length (RFC 8257 §3.1). The state machine of §3.2 has a receiver of delayed
//! ACKs tell which packets were marked with one bit, by an ACK at once wherever marks begin or end. Here an ACK says how many
//! of the packets that it answers were marked, so that none is needed.

use exmachina_net::time::{Duration, Instant};

use super::reno_window::RenoWindow;
use super::{Ack, Capabilities, Congestion, Scheme};

/// Weight of a window's share of marks in the estimate (RFC 8257 §4.2, and the authors' patch of ns-2).
const GAIN: f64 = 1.0 / 16.0;
/// The least ssthresh, packets (RFC 5681 eq. 4).
const LEAST_SSTHRESH: f64 = 2.0;

/// DCTCP's congestion control.
#[derive(Clone, Debug)]
pub struct Dctcp {
    initial_window: u32,
    window: RenoWindow,
    /// Estimated share of packets that are marked.
    alpha: f64,
    /// The packets acknowledged and marked in the present observation window.
    acked: u32,
    marked: u32,
    /// The observation window ends with the ACK of this packet.
    window_end: u32,
}

impl Dctcp {
    /// A sender that has not started; its connections start with this window, packets.
    #[must_use]
    pub fn new(initial_window: u32) -> Dctcp {
        Dctcp {
            initial_window,
            window: RenoWindow::new(initial_window),
            // RFC 8257 §3.3: 1, so that the first mark halves the window as in RFC 3168.
            alpha: 1.0,
            acked: 0,
            marked: 0,
            window_end: 0,
        }
    }

    /// The estimated share of packets that are marked.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// RFC 8257 §3.3, "Processing Echoed Congestion Indications on the Sender": once per window alpha moves towards the share
    /// of the bytes acknowledged in it that were marked.
    fn observe(&mut self, ack: &Ack) {
        self.acked = self.acked.saturating_add(ack.acked);
        self.marked = self.marked.saturating_add(ack.marked.min(ack.acked));
        if self.acked > 0 && ack.seq >= self.window_end {
            let share = f64::from(self.marked) / f64::from(self.acked);
            self.alpha = (1.0 - GAIN) * self.alpha + GAIN * share;
            self.acked = 0;
            self.marked = 0;
            self.window_end = ack.next_seq;
        }
    }
}

impl Default for Dctcp {
    /// With the initial window of ns-2, 2 packets.
    fn default() -> Self {
        Dctcp::new(2)
    }
}

impl Scheme for Dctcp {
    fn start(&mut self, _now: Instant) {
        *self = Dctcp::new(self.initial_window);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.observe(ack);
        // RFC 3168 §6.1.2: an ACK that echoes a mark does not open the window.
        if ack.in_recovery || !ack.window_limited || ack.acked == 0 || ack.marked > 0 {
            return;
        }
        // RFC 8257 §3.4, "Handling of Congestion Window Growth": as in conventional TCP (RFC 5681), by what is acknowledged, so
        // that delayed ACKs change nothing.
        self.window.grow_by_packets(ack.acked);
    }

    /// RFC 8257 §3.3: the window is lowered by half of alpha, once per window of data. That it is once is the transport's to
    /// see to (RFC 3168 §6.1.2, "The TCP Sender").
    fn on_ecn(&mut self, _mark: &Congestion) {
        self.window.cwnd = (self.window.cwnd * (1.0 - self.alpha / 2.0)).max(1.0);
        self.window.ssthresh = self.window.cwnd.max(LEAST_SSTHRESH);
    }

    /// RFC 8257 §3.5, "Handling of Packet Loss": as in conventional TCP, which halves the window.
    fn on_loss(&mut self, _loss: &Congestion) {
        self.window.ssthresh = (self.window.cwnd / 2.0).max(LEAST_SSTHRESH);
        self.window.cwnd = self.window.ssthresh;
    }

    /// RFC 5681 §3.1: after a timeout ssthresh is half of what was in flight, and the window is one packet. Where nothing was
    /// outstanding nothing tells of congestion: ssthresh stays.
    fn on_rto(&mut self, timeout: &Congestion) {
        if !timeout.idle {
            self.window.ssthresh = (self.window.cwnd / 2.0).max(LEAST_SSTHRESH);
        }
        self.window.cwnd = 1.0;
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
        Capabilities { ecn: true, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::loopback::{Loopback, Path};
    use super::*;

    fn ack(seq: u32, marked: u32) -> Ack {
        Ack { seq, next_seq: seq + 10, acked: 1, marked, window_limited: true, ..Ack::default() }
    }

    fn at(cwnd: f64, ssthresh: f64) -> Dctcp {
        let mut dctcp = Dctcp::default();
        (dctcp.window.cwnd, dctcp.window.ssthresh) = (cwnd, ssthresh);
        dctcp
    }

    #[test]
    fn alpha_moves_by_a_sixteenth_once_per_window_rfc_8257_3_3() {
        let mut dctcp = Dctcp::new(10);
        dctcp.on_ack(&ack(0, 0));
        assert_eq!(dctcp.alpha(), 15.0 / 16.0);
        // The window runs to packet 10: packets 1 to 9 only count, 3 of 10 are marked.
        (1..10).for_each(|seq| dctcp.on_ack(&ack(seq, u32::from(seq < 4))));
        assert_eq!(dctcp.alpha(), 15.0 / 16.0);
        dctcp.on_ack(&ack(10, 0));
        assert!((dctcp.alpha() - (15.0 / 16.0 * 15.0 / 16.0 + 0.3 / 16.0)).abs() < 1e-12);
    }

    #[test]
    fn a_mark_takes_half_of_alpha_and_ends_slow_start_rfc_8257_3_4() {
        let mut dctcp = Dctcp { alpha: 0.5, ..at(40.0, f64::INFINITY) };
        dctcp.on_ecn(&Congestion::default());
        assert_eq!((dctcp.window.cwnd, dctcp.window.ssthresh), (30.0, 30.0));
        dctcp.on_ack(&ack(1, 1));
        assert_eq!(dctcp.window.cwnd, 30.0);
        dctcp.on_ack(&ack(2, 0));
        assert_eq!(dctcp.window.cwnd, 30.0 + 1.0 / 30.0);
    }

    #[test]
    fn grows_by_packets_not_by_acks_rfc_5681_3_1() {
        // The same packets, each acknowledged, or every other one.
        for ssthresh in [f64::INFINITY, 10.0] {
            let grown = |acked: u32, acks: u32| {
                let mut dctcp = at(40.0, ssthresh);
                (1..=acks).for_each(|i| dctcp.on_ack(&Ack { acked, ..ack(acked * i, 0) }));
                dctcp.window.cwnd - 40.0
            };
            let (each, other) = (grown(1, 40), grown(2, 20));
            assert!((other / each - 1.0).abs() < 0.02, "{each} and {other}");
        }
    }

    #[test]
    fn a_loss_halves_and_a_timeout_restarts_rfc_8257_3_5() {
        let mut dctcp = Dctcp { alpha: 0.0, ..at(40.0, f64::INFINITY) };
        dctcp.on_loss(&Congestion::default());
        assert_eq!(dctcp.window.cwnd, 20.0);
        dctcp.on_rto(&Congestion::default());
        assert_eq!((dctcp.window(), dctcp.window.ssthresh), (1, 10.0));
        dctcp.on_rto(&Congestion { idle: true, ..Congestion::default() });
        assert_eq!(dctcp.window.ssthresh, 10.0);
    }

    #[test]
    fn the_queue_stays_near_the_marking_threshold() {
        // Alizadeh et al. 2010 §3.3: one flow, K = 20: the queue tops out just above K, and its swing A is
        // sqrt(2 (C RTT + K)) / 2 packets, here 6.
        let path = Path { mark_above: 20, ..Path::clean(10_000.0, Duration::from_ms(5.0)) };
        let mut flow = Loopback::new(Dctcp::default(), path);
        flow.run(Instant::from_s(2.0));
        flow.reset_meter();
        let (mut low, mut high) = (usize::MAX, 0);
        flow.watch(Instant::from_s(6.0), |f| {
            let queue = f.queue();
            (low, high) = (low.min(queue), high.max(queue));
        });
        assert!(flow.utilization() > 0.99, "{}", flow.utilization());
        assert!((21..=24).contains(&high) && low >= 10, "{low} to {high}");
        // §3.3: alpha is about sqrt(2 / (C RTT + K)) = 0.17.
        assert!((0.1..0.25).contains(&flow.scheme.alpha()), "{}", flow.scheme.alpha());
    }
}
