//! BBR version 3, as draft-ietf-ccwg-bbr-06 (July 2026) specifies it ("the draft" in these files).
//!
//! Like version 1 it measures the path and keeps about its BDP in flight; unlike it, it learns from losses how much may
//! be in flight: an upper bound found while probing (`inflight_hi`, the draft's inflight_longterm), and lower bounds
//! that hold until the next probe (`bw_lo`, `inflight_lo`; the draft's ..._shortterm).
//!
//! The state machine is here; what it knows of the path is in `model.rs`, the states of ProbeBW in `probe_bw.rs`,
//! ProbeRTT in `probe_rtt.rs`. There is no segmentation offload in the simulator: the send quantum is one packet, the
//! smallest feasible one, as draft §5.6.3 asks.

mod model;
mod probe_bw;
mod probe_rtt;
#[cfg(test)]
mod tests;

use exmachina_net::random::Stream;
use exmachina_net::time::{Duration, Instant};

use super::filter::Extreme;
use super::{Ack, Capabilities, Congestion, Scheme};

/// Draft §2.5 and §5.3.1.1: 4 ln 2.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// Draft §2.5 and §5.3.2.
const DRAIN_PACING_GAIN: f64 = 0.5;
/// Draft §5.3.2: rounds after which Drain ends, whatever is in flight: the bandwidth may have been overestimated.
const DRAIN_ROUNDS: u64 = 3;
/// Draft §5.6.1.
const CWND_GAIN: f64 = 2.0;
/// Draft §5.6.2: 1 % below the estimate.
const MARGIN: f64 = 0.99;
/// Draft §5.6.4.3: packets.
const MIN_PIPE: f64 = 4.0;
/// Draft §5.3.1.3: losses in one round that end Startup.
const STARTUP_LOSSES: u32 = 6;
/// Draft §5.3.1.2: growth of the bandwidth that shows that the pipe is not full, and rounds without it.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

/// Where the state machine is (draft §5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Doubles the rate each round.
    Startup,
    /// Removes the queue that Startup left.
    Drain,
    /// ProbeBW: below the bandwidth, until the queue is gone.
    Down,
    /// ProbeBW: at the bandwidth, until it is time to probe.
    Cruise,
    /// ProbeBW: at the bandwidth without the lower bounds, for one round.
    Refill,
    /// ProbeBW: above the bandwidth.
    Up,
    /// Half a BDP in flight, to see the RTT without a queue.
    ProbeRtt,
}

/// What the ACKs that come now tell of (draft §5.3.3.9, ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Ordinary,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR's congestion control.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    initial_window: u32,
    luck: Stream,
    state: State,
    cwnd: f64,
    /// Packets/s; 0 before the first RTT.
    pacing: f64,
    /// The window before recovery or ProbeRTT.
    prior_cwnd: f64,
    recovering: bool,
    idle_restart: bool,

    // Rounds (draft §5.5.1).
    round: u64,
    round_start: bool,
    next_round: u64,
    /// The window was full in this round, in the last one.
    limited: (bool, bool),

    // Bandwidth, packets/s (draft §5.5.2 to §5.5.6).
    max_bw: Extreme,
    cycle: u64,
    /// The lesser of the greatest and the lower bound.
    bw: f64,
    /// Search for a plateau (draft §5.3.1.2).
    full_bw: f64,
    full_rounds: u32,
    full_now: bool,
    full_reached: bool,
    /// The round in which Drain began (draft §2.7).
    drain_start: u64,

    // RTT, ns (draft §5.3.4.3).
    min_rtt: Duration,
    min_rtt_at: Instant,
    probe_rtt_min: Duration,
    probe_rtt_min_at: Instant,
    probe_rtt_expired: bool,
    probe_rtt_done: Option<Instant>,
    probe_rtt_round: bool,
    /// Samples of packets sent between these counts of delivered packets are low because of ProbeRTT.
    quiet: (u64, u64),

    // Aggregation of ACKs, packets (draft §5.5.9).
    extra_acked: Extreme,
    extra_since: Instant,
    extra_delivered: f64,

    // Bounds, packets and packets/s (draft §5.5.10).
    inflight_hi: f64,
    inflight_lo: f64,
    bw_lo: f64,
    bw_latest: f64,
    inflight_latest: f64,
    loss_in_round: bool,
    losses_in_round: u32,
    loss_round: u64,
    loss_round_start: bool,

    // ProbeBW (draft §5.3.3.9).
    ack_phase: AckPhase,
    probing_samples: bool,
    /// The last probe lost too much (draft §5.3.3.6).
    probed_too_high: bool,
    /// This probe or the last was a brief one because of that.
    precautionary: bool,
    cycle_at: Instant,
    probe_wait: Duration,
    rounds_since_probe: u64,
    up_rounds: u32,
    up_acks: f64,
    up_count: f64,
}

impl Bbr3 {
    /// A sender that has not started; `luck` decides when it probes.
    #[must_use]
    pub fn new(initial_window: u32, luck: Stream) -> Bbr3 {
        Bbr3 {
            initial_window,
            luck,
            state: State::Startup,
            cwnd: f64::from(initial_window.max(1)),
            pacing: 0.0,
            prior_cwnd: 0.0,
            recovering: false,
            idle_restart: false,
            round: 0,
            round_start: false,
            next_round: 0,
            limited: (false, false),
            max_bw: Extreme::greatest(),
            cycle: 0,
            bw: 0.0,
            full_bw: 0.0,
            full_rounds: 0,
            full_now: false,
            full_reached: false,
            drain_start: 0,
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::START,
            probe_rtt_min: Duration::MAX,
            probe_rtt_min_at: Instant::START,
            probe_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round: false,
            quiet: (0, 0),
            extra_acked: Extreme::greatest(),
            extra_since: Instant::START,
            extra_delivered: 0.0,
            inflight_hi: f64::INFINITY,
            inflight_lo: f64::INFINITY,
            bw_lo: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_in_round: false,
            losses_in_round: 0,
            loss_round: 0,
            loss_round_start: false,
            ack_phase: AckPhase::Ordinary,
            probing_samples: false,
            probed_too_high: false,
            precautionary: false,
            cycle_at: Instant::START,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            up_rounds: 0,
            up_acks: 0.0,
            up_count: f64::INFINITY,
        }
    }

    /// Where the state machine is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Estimate of the bandwidth, packets/s.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.max_bw.get().unwrap_or(0.0)
    }

    /// Estimate of the RTT without a queue; [`Instant::NEVER`] before the first RTT.
    #[must_use]
    pub fn min_rtt(&self) -> Duration {
        self.min_rtt
    }

    /// What losses showed to be the most that may be in flight, packets; infinite before.
    #[must_use]
    pub fn inflight_hi(&self) -> f64 {
        self.inflight_hi
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Draft §5.6.1.
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    /// Draft §5.6.1.
    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => 2.25,
            State::ProbeRtt => probe_rtt::CWND_GAIN,
            _ => CWND_GAIN,
        }
    }

    /// Draft §5.3.1.3: losses say that the pipe is full.
    fn check_startup_loss(&mut self, ack: &Ack) {
        self.losses_in_round += u32::from(ack.lost > 0);
        if self.loss_round_start {
            let many = self.recovering && self.losses_in_round >= STARTUP_LOSSES && model::too_high(&ack.rate);
            if self.state == State::Startup && !self.full_reached && many {
                self.full_reached = true;
                self.inflight_hi = self.bdp(self.bw).max(self.inflight_latest);
            }
            self.losses_in_round = 0;
        }
    }

    /// Draft §5.3.1.1 and §5.3.2.
    fn check_startup_and_drain(&mut self, ack: &Ack) {
        self.check_startup_loss(ack);
        if self.state == State::Startup && self.full_reached {
            self.state = State::Drain;
            self.drain_start = self.round;
        }
        let drained = f64::from(ack.in_flight) <= self.inflight(self.bw, 1.0);
        if self.state == State::Drain && (drained || self.round > self.drain_start + DRAIN_ROUNDS) {
            self.start_down(ack);
        }
    }

    /// Draft §5.6.2: never slower before the pipe is full.
    fn set_pacing(&mut self, ack: &Ack) {
        if self.pacing == 0.0 && ack.srtt > Duration::ZERO {
            self.pacing = STARTUP_PACING_GAIN * f64::from(self.initial_window.max(1)) * 1e9 / ack.srtt.as_nanos_f64();
        }
        self.set_pacing_with_gain(self.pacing_gain());
    }

    fn set_pacing_with_gain(&mut self, gain: f64) {
        let rate = MARGIN * gain * self.bw;
        if rate > 0.0 && (self.full_reached || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    /// Draft §5.6.4.6.
    fn set_cwnd(&mut self, ack: &Ack) {
        let acked = f64::from(ack.newly_delivered);
        let most = self.max_inflight();
        if self.full_reached {
            self.cwnd = (self.cwnd + acked).min(most);
        } else if self.cwnd < most || ack.delivered < u64::from(self.initial_window) {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Draft §5.6.4.7.
    fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_hi,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_lo).max(MIN_PIPE));
    }

    /// Draft §5.6.4.4.
    fn save_cwnd(&mut self) {
        let kept = if self.recovering || self.state == State::ProbeRtt { self.prior_cwnd } else { 0.0 };
        self.prior_cwnd = kept.max(self.cwnd);
    }
}

impl Scheme for Bbr3 {
    /// The stream of random numbers runs on.
    fn start(&mut self, now: Instant) {
        *self = Bbr3::new(self.initial_window, self.luck.clone());
        self.extra_since = now;
    }

    /// Draft §5.4.1: it goes on at the estimated rate; a pause is as good as ProbeRTT.
    fn resume(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.extra_since = now;
        self.extra_delivered = 0.0;
        if self.in_probe_bw() {
            self.set_pacing_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, self.next_round);
        }
    }

    /// Draft §5.2.3 and, for the packets lost, §5.2.4.
    fn on_ack(&mut self, ack: &Ack) {
        self.note_losses(ack);
        self.update_latest(ack);
        self.update_congestion(ack);
        self.update_aggregation(ack);
        self.check_full(ack);
        self.check_startup_and_drain(ack);
        self.update_probe_bw(ack);
        self.update_min_rtt(ack);
        self.update_probe_rtt(ack);
        self.advance_latest(ack);
        self.bw = self.bandwidth().min(self.bw_lo);
        self.set_pacing(ack);
        self.set_cwnd(ack);
    }

    /// Draft §5.6.4.4: the window is the model's business, in recovery too.
    fn on_loss(&mut self, _loss: &Congestion) {
        self.save_cwnd();
        self.recovering = true;
    }

    /// Draft §5.6.4.4: one packet more than is in flight.
    fn on_rto(&mut self, timeout: &Congestion) {
        self.save_cwnd();
        self.recovering = true;
        self.cwnd = f64::from(timeout.in_flight) + 1.0;
    }

    /// Draft §5.6.4.4: the window of before, within the bounds.
    fn on_recovered(&mut self, _now: Instant, _limit: Option<u32>) {
        self.recovering = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.bound_cwnd();
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
