//! The cycle of ProbeBW: down, cruise, refill, up (draft §5.3.3).

use exmachina_net::time::Duration;

use super::model::{delivery_rate, in_flight_before};
use super::{AckPhase, Bbr3, State};
use crate::scheme::Ack;

/// Draft §5.3.3.8.3: the most rounds between two probes, so that Reno and CUBIC fill small paths as well.
const RENO_ROUNDS: f64 = 63.0;
/// Draft §5.3.3.8.2: seconds between two probes, at least, and the random part on top of it.
const WAIT_S: f64 = 2.0;
const WAIT_RANDOM_S: f64 = 1.0;
/// Draft §5.3.3.9: doublings of the upward slope.
const MAX_UP_ROUNDS: u32 = 30;

impl Bbr3 {
    /// Draft §5.3.3.9, `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw(&mut self, ack: &Ack) {
        if !self.full_reached {
            return;
        }
        if self.adapt_upper_bound(ack) {
            return;
        }
        let go_down = self.state == State::Up && self.time_to_go_down(ack);
        match self.state {
            State::Down | State::Cruise if self.time_to_probe(ack) => self.start_refill(ack),
            State::Down if self.time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.round_start => {
                self.probing_samples = true;
                self.start_up(ack);
            }
            State::Up if go_down => {
                self.probed_too_high = false;
                self.start_down(ack);
            }
            _ => {}
        }
    }

    pub(super) fn start_down(&mut self, ack: &Ack) {
        self.reset_congestion();
        self.up_count = f64::INFINITY;
        self.rounds_since_probe = self.luck.below(2);
        self.probe_wait = Duration::from_s(WAIT_S + WAIT_RANDOM_S * self.luck.uniform());
        self.cycle_at = ack.received;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round(ack.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self, ack: &Ack) {
        self.reset_lower_bounds();
        self.up_rounds = 0;
        self.up_acks = 0.0;
        self.precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round(ack.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, ack: &Ack) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round(ack.delivered);
        self.reset_full(delivery_rate(&ack.rate));
        self.state = State::Up;
        self.raise_slope();
    }

    /// Draft §5.3.3.8.3: after two to three seconds, or after as many rounds as Reno needs to grow by one BDP.
    fn time_to_probe(&self, ack: &Ack) -> bool {
        let reno_rounds = self.target_inflight().min(RENO_ROUNDS);
        ack.received > self.cycle_at + self.probe_wait || self.rounds_since_probe as f64 >= reno_rounds
    }

    /// Draft §5.3.3.1: headroom, and no queue.
    fn time_to_cruise(&self, ack: &Ack) -> bool {
        let in_flight = f64::from(ack.in_flight);
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.bandwidth(), 1.0)
    }

    /// Draft §5.3.3.7, `IsTimeToGoDown`: after a probe that lost too much, as soon as so much is in flight again; else when
    /// the rate has stopped to grow, and not because of `inflight_hi`. What is in flight is told as of before the ACK, as in
    /// Linux: after it, it is always below the window.
    fn time_to_go_down(&mut self, ack: &Ack) -> bool {
        if self.probed_too_high && f64::from(in_flight_before(ack)) >= self.inflight_hi.floor() {
            self.precautionary = true;
            return true;
        }
        if self.cwnd_limited() && self.cwnd >= self.inflight_hi {
            self.reset_full(delivery_rate(&ack.rate));
            return false;
        }
        self.full_now
    }

    /// Draft §5.3.3.9, `RaiseInflightLongtermSlope`: `inflight_hi` grows by 1, 2, 4, ... packets per round.
    pub(super) fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(MAX_UP_ROUNDS);
        self.up_count = (self.cwnd / growth).max(1.0);
    }

    /// Draft §5.3.3.9, `ProbeInflightLongtermUpward`.
    pub(super) fn probe_upwards(&mut self, ack: &Ack) {
        if !self.cwnd_limited() || self.cwnd < self.inflight_hi {
            return;
        }
        self.up_acks += f64::from(ack.newly_delivered);
        if self.up_acks >= self.up_count {
            let steps = (self.up_acks / self.up_count).floor();
            self.up_acks -= steps * self.up_count;
            self.inflight_hi += steps;
        }
        if self.round_start {
            self.raise_slope();
        }
    }
}
