//! Copa (Arun and Balakrishnan, NSDI 2018): a window that steers the rate to 1 / (delta dq), dq being the queueing delay.
//!
//! Beside flows that fill buffers it notices that the queue never empties and raises 1/delta as they raise their windows.
//!
//! Where the paper leaves off: the window is two packets at least; the velocity is bounded so that the window grows by no more
//! than a packet per ACK, and falls back to 1 at the first ACK that asks for the other direction (in the paper, at the end of
//! the RTT); a timeout starts over, as in TCP; what the application holds back does not grow the window. A loss in the
//! default mode changes nothing, and 1/delta in the competitive mode grows by one per RTT without loss, as in §2.2.

use exmachina_net::time::{Duration, Instant};

use super::filter::Extreme;
use super::{Ack, Capabilities, Congestion, Scheme};

/// 1/delta of the default mode: packets that a flow keeps in the queue (§2.1: delta = 0.5).
const DEFAULT_PACKETS: f64 = 2.0;
/// How long RTTmin looks back (§2.1).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// RTTs without a nearly empty queue that tell of a buffer-filling flow (§2.2).
const EMPTY_WITHIN_RTTS: u64 = 5;
/// RTTs over which RTTmax is taken (§2.2).
const MAX_RTT_RTTS: u64 = 4;
/// The queue is nearly empty below this share of its swing (§2.2).
const NEARLY_EMPTY: f64 = 0.1;
/// RTTs in one direction before the velocity begins to double (§2.1).
const STEADY_RTTS: u32 = 3;
/// Packets; the paper names no least window.
const MIN_CWND: f64 = 2.0;

/// Copa's congestion control.
#[derive(Clone, Debug)]
pub struct Copa {
    initial_window: u32,
    cwnd: f64,
    slow_start: bool,
    /// 1/delta, packets.
    packets: f64,
    competitive: bool,
    velocity: f64,
    /// The window grew in the last RTT.
    upwards: bool,
    /// RTTs that it has gone this way.
    steady: u32,
    /// Window at the beginning of this RTT, which ends with the ACK of packet `window_end`.
    window_began: f64,
    window_end: u32,
    /// Packets were lost in this RTT.
    lost: bool,
    /// When the queue was nearly empty last.
    empty_at: Option<Instant>,
    /// ns, over half an RTT.
    standing: Extreme,
    /// ns, over 10 s.
    min_rtt: Extreme,
    /// ns, over four RTTs.
    max_rtt: Extreme,
}

impl Copa {
    /// A sender that has not started; its connections start with this window, packets.
    #[must_use]
    pub fn new(initial_window: u32) -> Copa {
        let cwnd = f64::from(initial_window).max(MIN_CWND);
        Copa {
            initial_window,
            cwnd,
            slow_start: true,
            packets: DEFAULT_PACKETS,
            competitive: false,
            velocity: 1.0,
            upwards: true,
            steady: 0,
            window_began: cwnd,
            window_end: 0,
            lost: false,
            empty_at: None,
            standing: Extreme::least(),
            min_rtt: Extreme::least(),
            max_rtt: Extreme::greatest(),
        }
    }

    /// It competes with buffer-filling flows at present (§2.2).
    #[must_use]
    pub fn is_competitive(&self) -> bool {
        self.competitive
    }

    /// Takes in an RTT; returns the queueing delay and the standing RTT, ns.
    fn measure(&mut self, ack: &Ack) -> Option<(f64, f64)> {
        if ack.rtt > Duration::ZERO {
            let rtt = ack.rtt.as_nanos_f64();
            // §2.1: long enough to skip the jitter of ACKs, short enough to see the queue of now.
            let at = ack.received.as_nanos();
            self.standing.update(at, rtt, (ack.srtt / 2).as_nanos());
            self.min_rtt.update(at, rtt, MIN_RTT_WINDOW.as_nanos());
            self.max_rtt.update(at, rtt, ack.srtt.saturating_mul(MAX_RTT_RTTS).as_nanos());
        }
        let standing = self.standing.get()?;
        Some(((standing - self.min_rtt.get()?).max(0.0), standing))
    }

    /// §2.2: with Copa flows only, the queue empties every five RTTs.
    fn choose_mode(&mut self, ack: &Ack, queueing: f64) {
        let swing = self.max_rtt.get().unwrap_or(0.0) - self.min_rtt.get().unwrap_or(0.0);
        let empty_at = self.empty_at.get_or_insert(ack.received);
        if queueing <= NEARLY_EMPTY * swing {
            *empty_at = ack.received;
        }
        let competitive = ack.received.since(*empty_at) > ack.srtt.saturating_mul(EMPTY_WITHIN_RTTS);
        if competitive != self.competitive {
            self.competitive = competitive;
            self.packets = DEFAULT_PACKETS;
        }
    }

    /// Once per RTT: the velocity (§2.1, step 4), and 1/delta in competitive mode (§2.2).
    fn end_window(&mut self, ack: &Ack) {
        if ack.seq < self.window_end {
            return;
        }
        let upwards = self.cwnd > self.window_began;
        if self.cwnd != self.window_began {
            if upwards == self.upwards {
                self.steady += 1;
            } else {
                self.upwards = upwards;
                self.steady = 0;
                self.velocity = 1.0;
            }
        }
        if self.steady >= STEADY_RTTS && !self.slow_start {
            // No faster than slow start, which is one packet per ACK; the paper sets no limit.
            self.velocity = (2.0 * self.velocity).min((self.cwnd / self.packets).max(1.0));
        }
        if self.competitive && !self.lost {
            self.packets += 1.0;
        }
        self.lost = false;
        self.window_began = self.cwnd;
        self.window_end = ack.next_seq;
    }

    /// §2.1, steps 2 and 3: towards the rate 1 / (delta dq).
    fn steer(&mut self, ack: &Ack, queueing: f64, standing: f64) {
        let acked = f64::from(ack.newly_delivered.max(ack.acked));
        // cwnd / standing <= packets / queueing, without a division by 0.
        let too_slow = self.cwnd * queueing <= self.packets * standing;
        if too_slow && ack.rate.app_limited {
            return;
        }
        if self.slow_start {
            if too_slow {
                self.cwnd += acked;
                return;
            }
            self.slow_start = false;
            self.steady = 0;
        }
        let change = (self.velocity * self.packets / self.cwnd).min(1.0) * acked;
        if too_slow {
            self.cwnd += change;
        } else {
            self.cwnd = (self.cwnd - change).max(MIN_CWND);
        }
        // Against the direction of the last RTTs the velocity does not hold (§2.1: it is 1 when the direction changes).
        if too_slow != self.upwards && self.velocity > 1.0 {
            self.velocity = 1.0;
            self.steady = 0;
            self.upwards = too_slow;
        }
    }
}

impl Default for Copa {
    /// With an initial window of 10 packets.
    fn default() -> Self {
        Copa::new(10)
    }
}

impl Scheme for Copa {
    fn start(&mut self, _now: Instant) {
        *self = Copa::new(self.initial_window);
    }

    /// The RTTs of before the pause say nothing of the queue of now.
    fn resume(&mut self, now: Instant, _idle: Duration) {
        self.empty_at = Some(now);
        self.velocity = 1.0;
        self.steady = 0;
    }

    /// The rule knows no recovery: it runs on every ACK that tells of packets delivered.
    fn on_ack(&mut self, ack: &Ack) {
        let Some((queueing, standing)) = self.measure(ack) else { return };
        self.choose_mode(ack, queueing);
        self.end_window(ack);
        self.steer(ack, queueing, standing);
    }

    /// In the default mode a loss changes nothing; in the competitive mode 1/delta is halved (§2.2).
    fn on_loss(&mut self, _loss: &Congestion) {
        self.lost = true;
        if self.competitive {
            self.packets = (self.packets / 2.0).max(DEFAULT_PACKETS);
        }
    }

    /// The paper says nothing of timeouts: here they start over, as in TCP.
    fn on_rto(&mut self, _timeout: &Congestion) {
        self.cwnd = MIN_CWND;
        self.slow_start = true;
        self.velocity = 1.0;
        self.steady = 0;
        self.packets = DEFAULT_PACKETS;
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }

    /// §2.1: paced at 2 cwnd / RTTstanding.
    fn intersend(&self) -> Duration {
        self.standing.get().map_or(Duration::ZERO, |standing| Duration::from_nanos_f64(standing / (2.0 * self.cwnd)))
    }

    /// Losses are no signal to it: the transport must not lower the window for them.
    fn capabilities(&self) -> Capabilities {
        Capabilities { owns_recovery: true, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::loopback::{Loopback, Path};
    use super::*;

    #[test]
    fn it_fills_the_link_with_a_few_packets_of_queue_2_1() {
        for (rate, rtt_ms) in [(1000.0, 50.0), (4000.0, 100.0)] {
            let mut flow = Loopback::new(Copa::default(), Path::clean(rate, Duration::from_ms(rtt_ms)));
            flow.run(Instant::from_s(20.0));
            flow.reset_meter();
            let (mut acks, mut competitive) = (0, 0);
            flow.watch(Instant::from_s(60.0), |f| {
                acks += 1;
                competitive += u32::from(f.scheme.is_competitive());
            });
            assert!(flow.utilization() > 0.98, "{}", flow.utilization());
            // §3: the queue swings between nothing and 2.5 / delta, half of which is 2.5 packets on the mean.
            assert!((1.0..5.0).contains(&flow.mean_queue()), "{}", flow.mean_queue());
            // §2.2: alone, it must nearly always see its own queue empty.
            assert!(competitive * 20 < acks, "{competitive} of {acks}");
        }
    }

    #[test]
    fn random_losses_do_not_slow_it_2_1() {
        let path = Path { loss: 0.01, ..Path::clean(1000.0, Duration::from_ms(50.0)) };
        let mut flow = Loopback::new(Copa::default(), path);
        flow.run(Instant::from_s(10.0));
        flow.reset_meter();
        flow.run(Instant::from_s(40.0));
        assert!(flow.utilization() > 0.95, "{}", flow.utilization());
    }

    fn ack(seq: u32, received_ms: f64, rtt_ms: f64) -> Ack {
        let (rtt, received) = (Duration::from_ms(rtt_ms), Duration::from_ms(received_ms));
        Ack {
            seq,
            next_seq: seq + 10,
            received: Instant::START + received,
            rtt,
            srtt: rtt,
            acked: 1,
            newly_delivered: 1,
            ..Ack::default()
        }
    }

    #[test]
    fn a_queue_that_never_empties_turns_it_competitive_and_one_that_does_turns_it_back_2_2() {
        let mut copa = Copa::default();
        copa.on_ack(&ack(0, 50.0, 50.0));
        // Another's queue of 50 ms stands from now on.
        let mut seq = 0;
        let mut feed = |copa: &mut Copa, from: u32, to: u32, rtt: f64| {
            for ms in (from..to).step_by(10) {
                seq += 1;
                copa.on_ack(&ack(seq, f64::from(ms), rtt));
            }
        };
        feed(&mut copa, 60, 540, 100.0);
        assert!(!copa.is_competitive());
        feed(&mut copa, 540, 3000, 100.0);
        assert!(copa.is_competitive());
        assert!(copa.packets > 10.0, "{}", copa.packets);
        let before = copa.packets;
        copa.on_loss(&Congestion::default());
        assert_eq!(copa.packets, before / 2.0);
        feed(&mut copa, 3000, 3100, 50.0);
        assert!(!copa.is_competitive());
        assert_eq!(copa.packets, DEFAULT_PACKETS);
    }

    #[test]
    fn the_window_moves_by_v_over_delta_per_rtt_and_v_doubles_after_three_rtts_2_1() {
        let mut copa = Copa { slow_start: false, cwnd: 100.0, window_began: 100.0, ..Copa::default() };
        copa.on_ack(&ack(0, 50.0, 50.0));
        assert_eq!(copa.cwnd, 100.02);
        // No queue: upwards. Ends of windows: packets 0, 10, 20, ...
        let velocity: Vec<f64> = (1..80)
            .map(|i| {
                copa.on_ack(&ack(i, 50.0 + f64::from(i), 50.0));
                copa.velocity
            })
            .collect();
        let at = |seq: usize| velocity[seq - 1];
        assert_eq!([at(15), at(25), at(35), at(45), at(55)], [1.0, 1.0, 2.0, 4.0, 8.0]);
        let change = -copa.cwnd;
        copa.on_ack(&ack(81, 135.0, 50.0));
        assert!(change + copa.cwnd > 0.1);
        // A standing queue of 50 ms: downwards, with the velocity reset.
        (82..100).for_each(|i| copa.on_ack(&ack(i, 500.0 + f64::from(i), 100.0)));
        assert_eq!(copa.velocity, 1.0);
    }
}
