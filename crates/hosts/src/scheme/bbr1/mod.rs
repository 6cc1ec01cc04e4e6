//! BBR version 1 (Cardwell et al. 2016; draft-cardwell-iccrg-bbr-congestion-control-00, "the draft" below; where it leaves
//! something open, as Linux's tcp_bbr.c).
//!
//! It measures the bottleneck's rate and the RTT without a queue, and keeps about their product in flight, with room for
//! three send quanta, though here packets leave one by one. Not here: Linux's detection of policers and its allowance for
//! aggregated ACKs, neither of which is in the draft.

mod probe_rtt;

use exmachina_net::random::Stream;
use exmachina_net::time::{Duration, Instant};

use super::filter::Extreme;
use super::{Ack, Capabilities, Congestion, Scheme};

/// Draft §4.3.2.1: 2 / ln 2, the least gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// Draft §4.3.4.2: the gains of PROBE_BW's phases, each of one RTprop.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Draft §4.2.3.2: twice the BDP, for delayed and aggregated ACKs.
const CWND_GAIN: f64 = 2.0;
/// Draft §4.1.1.3: rounds that a bandwidth is remembered.
const BW_ROUNDS: u64 = 10;
/// Draft §4.2.3.3: packets.
const MIN_PIPE: f64 = 4.0;
/// Draft §4.3.2.2: growth of the bandwidth that shows that the pipe is not full, and rounds without it.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Linux, `bbr_pacing_margin_percent`: 1 % below the estimate.
const MARGIN: f64 = 0.99;
/// Draft §4.2.3.2: room for one quantum at the sender's queue, one at its offload engine, one at the receiver's.
const QUANTA: f64 = 3.0;
/// Draft §4.2.2: below this rate a quantum is one packet, Mbit/s.
const SLOW_MBPS: f64 = 1.2;
/// Draft §4.2.2: above this one it is what leaves in a millisecond, Mbit/s.
const FAST_MBPS: f64 = 24.0;
/// Draft §4.2.2: but no more than this, bytes.
const MAX_QUANTUM: f64 = 65_536.0;
/// Linux, `bbr_quantization_budget`: packets more in flight in the phase of 1.25, so that small paths are probed, too.
const PROBE_EXTRA: f64 = 2.0;

/// Where the state machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Doubles the rate each round.
    Startup,
    /// Removes the queue that STARTUP left.
    Drain,
    /// Cycles through gains around 1; the number is the phase.
    ProbeBw(usize),
    /// Four packets in flight, to see the RTT without a queue.
    ProbeRtt,
}

/// BBR's congestion control.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    initial_window: u32,
    packet_bytes: f64,
    luck: Stream,
    mode: Mode,
    cwnd: f64,
    /// Packets/s; 0 before the first RTT.
    pacing: f64,
    /// Packets/s, by round.
    bw: Extreme,
    min_rtt: Duration,
    min_rtt_at: Instant,
    round: u64,
    round_start: bool,
    next_round: u64,
    full: bool,
    full_bw: f64,
    full_rounds: u32,
    /// When the phase of PROBE_BW began.
    phase_at: Instant,
    /// When PROBE_RTT may end; `None` until so little is in flight.
    probe_rtt_done: Option<Instant>,
    probe_rtt_round: bool,
    /// Samples of packets sent between these counts of delivered packets are low because of PROBE_RTT.
    quiet: (u64, u64),
    idle_restart: bool,
    /// The window before recovery or PROBE_RTT.
    prior_cwnd: f64,
    recovering: bool,
    /// Recovery begins with the ACK to come.
    entering: bool,
    /// No more is sent than is delivered: the first round of recovery.
    conservation: bool,
}

impl Bbr1 {
    /// A sender of packets of this size that has not started; `luck` picks the phases that PROBE_BW begins with.
    #[must_use]
    pub fn new(initial_window: u32, packet_bytes: u16, luck: Stream) -> Bbr1 {
        Bbr1 {
            initial_window,
            packet_bytes: f64::from(packet_bytes.max(1)),
            luck,
            mode: Mode::Startup,
            cwnd: f64::from(initial_window.max(1)),
            pacing: 0.0,
            bw: Extreme::greatest(),
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::START,
            round: 0,
            round_start: false,
            next_round: 0,
            full: false,
            full_bw: 0.0,
            full_rounds: 0,
            phase_at: Instant::START,
            probe_rtt_done: None,
            probe_rtt_round: false,
            quiet: (0, 0),
            idle_restart: false,
            prior_cwnd: 0.0,
            recovering: false,
            entering: false,
            conservation: false,
        }
    }

    /// Estimate of the bottleneck's rate, packets/s.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bw.get().unwrap_or(0.0)
    }

    /// Estimate of the RTT without a queue; [`Instant::NEVER`] before the first RTT.
    #[must_use]
    pub fn min_rtt(&self) -> Duration {
        self.min_rtt
    }

    /// Where the state machine is.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw(phase) => CYCLE[phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw(_) => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Draft §4.2.2, packets: what leaves the sender in one piece.
    fn quantum(&self) -> f64 {
        let mbps = self.pacing * self.packet_bytes * 8e-6;
        if mbps < SLOW_MBPS {
            1.0
        } else if mbps < FAST_MBPS {
            2.0
        } else {
            (mbps * 1e3 / 8.0).min(MAX_QUANTUM).max(2.0 * self.packet_bytes) / self.packet_bytes
        }
    }

    /// Draft §4.2.3.2, `BBRInflight`, packets; whole and even, as in Linux (`bbr_quantization_budget`).
    fn target(&self, gain: f64) -> f64 {
        if self.min_rtt == Duration::MAX {
            return f64::from(self.initial_window);
        }
        // A product of doubles may be a hair above a whole number.
        let bdp = (gain * self.bandwidth() * self.min_rtt.as_nanos_f64() * 1e-9 - 1e-6).ceil();
        let even = ((bdp + QUANTA * self.quantum().floor()) / 2.0).ceil() * 2.0;
        if self.mode == Mode::ProbeBw(0) { even + PROBE_EXTRA } else { even }
    }

    /// Draft §4.1.1: rounds, and the greatest delivery rate of ten of them.
    fn update_bandwidth(&mut self, ack: &Ack) {
        let rate = &ack.rate;
        self.round_start = rate.interval > Duration::ZERO && rate.prior_delivered >= self.next_round;
        if self.round_start {
            self.next_round = ack.delivered;
            self.round += 1;
            self.conservation = false;
        }
        if rate.interval == Duration::ZERO {
            return;
        }
        let sample = f64::from(rate.delivered) * 1e9 / rate.interval.as_nanos_f64();
        // Draft §4.1.1.4: a rate that the application or PROBE_RTT held down says nothing, unless it is above the estimate.
        if sample >= self.bandwidth() || !self.app_limited(ack) {
            self.bw.update(self.round, sample, BW_ROUNDS);
        }
    }

    fn app_limited(&self, ack: &Ack) -> bool {
        ack.rate.app_limited || (self.quiet.0..self.quiet.1).contains(&ack.rate.prior_delivered)
    }

    /// Draft §4.3.2.2: three rounds without 25 % of growth.
    fn check_full(&mut self, ack: &Ack) {
        if self.full || !self.round_start || self.app_limited(ack) {
            return;
        }
        if self.bandwidth() >= FULL_GROWTH * self.full_bw {
            self.full_bw = self.bandwidth();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Draft §4.3.3.
    fn check_drain(&mut self, ack: &Ack) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && f64::from(ack.in_flight) <= self.target(1.0) {
            self.enter_probe_bw(ack.received);
        }
    }

    /// Draft §4.3.4.3: begins in a random phase, but not in the one of 0.75, for there is no queue to remove.
    fn enter_probe_bw(&mut self, now: Instant) {
        let phase = (2 + self.luck.below(CYCLE.len() as u64 - 1) as usize) % CYCLE.len();
        self.mode = Mode::ProbeBw(phase);
        self.phase_at = now;
    }

    /// Draft §4.3.4.3: a phase lasts one RTprop; that of 1.25 until a queue has been made or packets are lost, that of
    /// 0.75 no longer than the queue. Both go by what was in flight before the ACK (`BBR.prior_inflight` of the draft's
    /// `BBRIsNextCyclePhase`; `rs->prior_in_flight` in Linux).
    fn update_phase(&mut self, ack: &Ack) {
        let Mode::ProbeBw(phase) = self.mode else { return };
        let long = ack.received.since(self.phase_at) > self.min_rtt;
        let before = f64::from(ack.in_flight) + f64::from(ack.newly_delivered) + f64::from(ack.lost);
        let gain = CYCLE[phase];
        let next = if gain > 1.0 {
            long && (ack.lost > 0 || before >= self.target(gain))
        } else if gain < 1.0 {
            long || before <= self.target(1.0)
        } else {
            long
        };
        if next {
            self.mode = Mode::ProbeBw((phase + 1) % CYCLE.len());
            self.phase_at = ack.received;
        }
    }

    /// Draft §4.2.1: never slower before the pipe is full.
    fn set_pacing(&mut self, ack: &Ack) {
        if self.pacing == 0.0 && ack.srtt > Duration::ZERO {
            self.pacing = HIGH_GAIN * self.cwnd * 1e9 / ack.srtt.as_nanos_f64();
        }
        let rate = MARGIN * self.pacing_gain() * self.bandwidth();
        if rate > 0.0 && (self.full || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    /// Draft §4.2.3.4.
    fn save_cwnd(&mut self) {
        self.prior_cwnd =
            if self.recovering || self.mode == Mode::ProbeRtt { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// Draft §4.2.3.6 and, in recovery, §4.2.3.4.
    fn set_cwnd(&mut self, ack: &Ack) {
        let acked = f64::from(ack.newly_delivered);
        if ack.lost > 0 {
            self.cwnd = (self.cwnd - f64::from(ack.lost)).max(1.0);
        }
        let delivering = f64::from(ack.in_flight) + acked;
        if std::mem::take(&mut self.entering) {
            self.conservation = true;
            self.next_round = ack.delivered;
            self.cwnd = delivering;
        }
        if self.conservation {
            self.cwnd = self.cwnd.max(delivering);
        } else {
            let target = self.target(self.cwnd_gain());
            if self.full {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || ack.delivered < u64::from(self.initial_window) {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE);
        }
    }
}

impl Scheme for Bbr1 {
    /// The stream of random numbers runs on.
    fn start(&mut self, _now: Instant) {
        *self = Bbr1::new(self.initial_window, self.packet_bytes as u16, self.luck.clone());
    }

    /// Draft §4.3.4.4: it goes on at the estimated rate; a pause is as good as PROBE_RTT.
    fn resume(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        match self.mode {
            Mode::ProbeBw(_) => self.pacing = MARGIN * self.bandwidth(),
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.update_bandwidth(ack);
        self.update_phase(ack);
        self.check_full(ack);
        self.check_drain(ack);
        self.update_min_rtt(ack);
        self.set_pacing(ack);
        self.set_cwnd(ack);
    }

    fn on_loss(&mut self, _loss: &Congestion) {
        self.save_cwnd();
        self.recovering = true;
        self.entering = true;
    }

    /// Draft §4.2.3.4: one packet, and up again by what is delivered. Linux starts its search for the plateau anew.
    fn on_rto(&mut self, _timeout: &Congestion) {
        self.save_cwnd();
        self.recovering = true;
        self.entering = false;
        self.conservation = false;
        self.full_bw = 0.0;
        self.cwnd = 1.0;
    }

    /// Draft §4.2.3.4: the window of before.
    fn on_recovered(&mut self, _now: Instant, _limit: Option<u32>) {
        self.recovering = false;
        self.entering = false;
        self.conservation = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }

    fn intersend(&self) -> Duration {
        if self.pacing > 0.0 { Duration::from_nanos_f64(1e9 / self.pacing) } else { Duration::ZERO }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { owns_recovery: true, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests;
