//! Vegas as ns-2's Agent/TCP/Vegas has it, close to the original of Brakmo and Peterson (1995): slow start doubles every
//! other RTT, and the window moves in fractions of a packet within an RTT.

use exmachina_net::time::{Duration, Instant};

use super::{Ack, Congestion, Scheme};

/// Constants of ns-2's Vegas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasNs2Settings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// The connection's first packet stands for its SYN: the window is one packet until the ACK after the SYN's.
    pub first_is_syn: bool,
    /// Below so many packets queued (rounded) it adds one per RTT.
    pub alpha: i64,
    /// Above so many it takes one away.
    pub beta: i64,
    /// Above so many slow start ends.
    pub gamma: i64,
}

impl Default for VegasNs2Settings {
    /// ns-2's defaults.
    fn default() -> Self {
        VegasNs2Settings { initial_window: 2, first_is_syn: true, alpha: 1, beta: 3, gamma: 1 }
    }
}

/// ns-2's Vegas.
#[derive(Clone, Debug)]
pub struct VegasNs2 {
    settings: VegasNs2Settings,
    cwnd: f64,
    ssthresh: f64,
    base_rtt: Duration,
    /// First packet sent after the present RTT began; its ACK ends it.
    begin: u32,
    rtt_sum: Duration,
    rtt_count: u64,
    /// What each ACK of this RTT adds.
    increase: f64,
    /// Slow start grows in this RTT.
    doubling: bool,
    acks: u32,
}

/// No packets fewer than this after it has slowed down.
const LEAST: f64 = 2.0;

impl VegasNs2 {
    /// A sender that has not started.
    #[must_use]
    pub fn new(settings: VegasNs2Settings) -> VegasNs2 {
        let window = if settings.first_is_syn { 1 } else { settings.initial_window.max(1) };
        VegasNs2 {
            settings,
            cwnd: f64::from(window),
            ssthresh: f64::INFINITY,
            base_rtt: Duration::MAX,
            begin: 0,
            rtt_sum: Duration::ZERO,
            rtt_count: 0,
            increase: 0.0,
            doubling: true,
            acks: 0,
        }
    }

    /// Packets queued: those outstanding less those that the last RTT carried in the time of the smallest one, rounded.
    fn queued(&self, ack: &Ack, rtt: Duration) -> i64 {
        let sent = f64::from(ack.next_seq.saturating_sub(self.begin));
        let outstanding = f64::from(ack.in_flight) + 1.0;
        (outstanding - sent * self.base_rtt.as_nanos_f64() / rtt.as_nanos_f64() + 0.5) as i64
    }

    fn once_per_rtt(&mut self, ack: &Ack) {
        let rtt = if self.rtt_count > 0 { self.rtt_sum / self.rtt_count } else { ack.rtt };
        (self.rtt_sum, self.rtt_count) = (Duration::ZERO, 0);
        if rtt > Duration::ZERO {
            // With one packet outstanding there is no queue of its own: the RTT is the path's.
            if rtt < self.base_rtt || ack.next_seq.saturating_sub(self.begin) <= 1 {
                self.base_rtt = rtt;
            }
            let queued = self.queued(ack, rtt);
            if self.cwnd < self.ssthresh {
                self.slow_start(queued);
            } else {
                self.avoid(queued);
            }
        }
        self.begin = ack.next_seq;
    }

    fn slow_start(&mut self, queued: i64) {
        self.doubling = !self.doubling;
        self.increase = 0.0;
        if self.doubling && queued > self.settings.gamma {
            self.ssthresh = 2.0;
            self.cwnd = (self.cwnd - self.cwnd / 8.0).max(LEAST);
        } else if self.doubling {
            self.increase = 1.0;
        }
    }

    fn avoid(&mut self, queued: i64) {
        self.increase = 0.0;
        if queued > self.settings.beta {
            self.cwnd = (self.cwnd - 1.0).max(LEAST);
        } else if queued < self.settings.alpha {
            self.increase = 1.0 / self.cwnd;
        }
    }
}

impl Default for VegasNs2 {
    fn default() -> Self {
        VegasNs2::new(VegasNs2Settings::default())
    }
}

impl Scheme for VegasNs2 {
    fn start(&mut self, _now: Instant) {
        *self = VegasNs2::new(self.settings);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.acked == 0 || ack.in_recovery {
            return;
        }
        if self.acks == 1 && self.settings.first_is_syn {
            self.cwnd = f64::from(self.settings.initial_window.max(1));
        }
        self.acks = self.acks.saturating_add(1);
        if ack.seq >= self.begin {
            self.once_per_rtt(ack);
        }
        if self.increase == 1.0 && self.cwnd >= self.ssthresh {
            self.increase = 0.0;
        }
        // Its own rule for senders that do not fill the window: no growth more than 2 packets ahead of what is outstanding.
        if self.cwnd - (f64::from(ack.in_flight) + 1.0) <= 2.0 {
            self.cwnd += self.increase;
        }
        if ack.rtt > Duration::ZERO {
            self.rtt_sum += ack.rtt;
            self.rtt_count += 1;
            self.base_rtt = self.base_rtt.min(ack.rtt);
        }
    }

    /// A quarter less, of whole packets; the threshold is of no use but in slow start.
    fn on_loss(&mut self, _loss: &Congestion) {
        let window = self.window();
        self.cwnd = if window <= 3 { LEAST } else { f64::from(window - window / 4) };
        self.ssthresh = 2.0;
        self.increase = 0.0;
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    /// Unlike ns-2's other TCPs it halves the threshold also when nothing was outstanding.
    fn on_rto(&mut self, _timeout: &Congestion) {
        self.ssthresh = (self.cwnd / 2.0).floor().max(2.0);
        self.cwnd = LEAST;
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
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::driver::Driver;
    use super::*;

    #[test]
    fn doubles_every_other_rtt_and_leaves_slow_start_with_seven_eighths() {
        // ns-2.35, 15 Mbit/s, 0.8 ms per packet, 150 ms: windows seen at these instants, in s.
        let seen = [(0.25, 1.0), (0.4, 3.0), (0.7, 6.0), (1.0, 12.0), (1.3, 24.0), (1.6, 48.0)];
        let after = [(1.9, 42.0), (2.0, 43.0), (2.2, 44.0), (2.4, 45.0)];
        let (mut vegas, mut path) =
            (VegasNs2::default(), Driver::new(Duration::from_ms(150.0), Duration::from_ms(0.8)));
        let mut trace = vec![(0.0, vegas.cwnd)];
        while path.now < Instant::from_s(3.0) {
            path.ack(&mut vegas);
            trace.push((path.now.as_s(), vegas.cwnd));
        }
        for (at, window) in seen.into_iter().chain(after) {
            let ours = trace.iter().rfind(|(t, _)| *t <= at).unwrap().1;
            assert!((ours - window).abs() < 0.05, "{at} s: {ours} v {window}");
        }
        assert_eq!(vegas.ssthresh(), 2.0);
    }

    #[test]
    fn holds_alpha_to_beta_packets_in_the_queue() {
        let (mut vegas, mut path) =
            (VegasNs2::default(), Driver::new(Duration::from_ms(100.0), Duration::from_ms(1.0)));
        path.run(&mut vegas, Instant::from_s(40.0));
        let queued = vegas.cwnd - 101.0;
        assert!((0.5..=3.5).contains(&queued), "{queued} queued");
    }

    #[test]
    fn gives_up_a_quarter_on_a_loss() {
        let mut vegas = VegasNs2 { cwnd: 43.7, ..VegasNs2::default() };
        vegas.on_loss(&Congestion::default());
        assert_eq!((vegas.cwnd, vegas.ssthresh()), (33.0, 2.0));
        vegas.cwnd = 3.9;
        vegas.on_loss(&Congestion::default());
        assert_eq!(vegas.cwnd, 2.0);
        vegas.cwnd = 50.0;
        vegas.on_rto(&Congestion { idle: true, ..Congestion::default() });
        assert_eq!((vegas.cwnd, vegas.ssthresh()), (2.0, 25.0));
        vegas.start(Instant::START);
        assert_eq!(vegas.window(), 1);
    }

    #[test]
    fn does_not_run_ahead_of_what_is_outstanding() {
        let mut vegas = VegasNs2 { cwnd: 20.0, increase: 1.0, begin: 100, ..VegasNs2::default() };
        vegas.acks = 5;
        let ack = |in_flight| Ack {
            acked: 1,
            in_flight,
            rtt: Duration::from_nanos(1000),
            seq: 50,
            next_seq: 51 + in_flight,
            ..Ack::default()
        };
        vegas.on_ack(&ack(5));
        assert_eq!(vegas.cwnd, 20.0);
        vegas.on_ack(&ack(17));
        assert_eq!(vegas.cwnd, 21.0);
    }
}
