//! What BBR knows of the path: rounds, bandwidth, aggregation of ACKs, and the bounds that losses teach (draft §5.5).

use exmachina_net::time::{Duration, Instant};

use super::{AckPhase, Bbr3, FULL_GROWTH, FULL_ROUNDS, MIN_PIPE, State};
use crate::scheme::{Ack, RateSample};

/// Draft §2.8: the share of losses that is tolerated.
pub(super) const LOSS_THRESHOLD: f64 = 0.02;
/// Draft §2.8: the factor of a reduction.
pub(super) const BETA: f64 = 0.7;
/// Draft §2.8: the share of `inflight_hi` that is left to others.
const HEADROOM: f64 = 0.15;
/// Draft §5.5.9: rounds that an aggregate of ACKs is remembered.
const EXTRA_ACKED_ROUNDS: u64 = 10;

/// Draft §5.5.10.2, `IsInflightTooHigh`: more was lost since the packet was sent than is tolerated.
pub(super) fn too_high(rate: &RateSample) -> bool {
    f64::from(rate.lost) > f64::from(rate.tx_in_flight) * LOSS_THRESHOLD
}

/// Draft §5.5.10.2, `InflightAtLoss`: what was in flight when losses crossed the threshold, where `size` packets were
/// lost last of the `lost` since `tx_in_flight` were in flight.
pub(super) fn inflight_at_loss(tx_in_flight: u32, lost: u32, size: u32) -> f64 {
    let inflight_before = f64::from(tx_in_flight.saturating_sub(size));
    let lost_before = f64::from(lost.saturating_sub(size));
    let prefix = (LOSS_THRESHOLD * inflight_before - lost_before) / (1.0 - LOSS_THRESHOLD);
    inflight_before + prefix.max(0.0)
}

/// Packets/s; 0 where there is no sample.
pub(super) fn delivery_rate(rate: &RateSample) -> f64 {
    if rate.interval == Duration::ZERO { 0.0 } else { f64::from(rate.delivered) * 1e9 / rate.interval.as_nanos_f64() }
}

/// What was in flight when the ACK came.
pub(super) fn in_flight_before(ack: &Ack) -> u32 {
    ack.in_flight.saturating_add(ack.newly_delivered).saturating_add(ack.lost)
}

impl Bbr3 {
    /// Packets, at this bandwidth (draft §5.6.4.2).
    pub(super) fn bdp(&self, bw: f64) -> f64 {
        if self.min_rtt == Duration::MAX {
            f64::from(self.initial_window)
        } else {
            bw * self.min_rtt.as_nanos_f64() * 1e-9
        }
    }

    /// Draft §5.6.4.2, `Inflight` with its `QuantizationBudget`, packets.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(gain * self.bdp(bw))
    }

    fn quantized(&self, inflight: f64) -> f64 {
        let probing = if self.state == State::Up { 2.0 } else { 0.0 };
        inflight.max(MIN_PIPE) + probing
    }

    /// Draft §5.6.4.2, `UpdateMaxInflight`, packets.
    pub(super) fn max_inflight(&self) -> f64 {
        self.quantized(self.cwnd_gain() * self.bdp(self.bw) + self.extra_acked.get().unwrap_or(0.0))
    }

    /// Draft §5.3.3.8.3, `TargetInflight`, packets.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.bw).min(self.cwnd)
    }

    /// Draft §5.3.3.9, packets.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_hi).max(1.0);
        if self.inflight_hi.is_finite() { (self.inflight_hi - headroom).max(MIN_PIPE) } else { f64::INFINITY }
    }

    /// The application or ProbeRTT held the rate down (draft §5.5.4, and `MarkConnectionAppLimited` of §5.3.4.3).
    pub(super) fn app_limited(&self, ack: &Ack) -> bool {
        ack.rate.app_limited || (self.quiet.0..self.quiet.1).contains(&ack.rate.prior_delivered)
    }

    /// Draft §5.5.1, `StartRound`.
    pub(super) fn start_round(&mut self, delivered: u64) {
        self.next_round = delivered;
    }

    /// Draft §5.5.10.2, `HandleLostPacket`. The draft looks at what was in flight when the lost packet left; here the
    /// packet whose ACK told of it stands for it, which left a few packets later.
    pub(super) fn note_losses(&mut self, ack: &Ack) {
        if ack.lost == 0 {
            return;
        }
        if !self.loss_in_round {
            self.loss_round = ack.delivered;
        }
        self.loss_in_round = true;
        if self.probing_samples && too_high(&ack.rate) {
            let inflight = inflight_at_loss(ack.rate.tx_in_flight, ack.rate.lost, ack.lost);
            self.inflight_too_high(ack, inflight);
        }
    }

    /// Draft §5.5.10.2, `HandleInflightTooHigh`: once per probe.
    fn inflight_too_high(&mut self, ack: &Ack, inflight: f64) {
        self.probed_too_high = true;
        self.probing_samples = false;
        if !self.app_limited(ack) {
            self.inflight_hi = inflight.max(self.target_inflight() * BETA);
        }
        if self.state == State::Up {
            self.start_down(ack);
        }
    }

    /// Draft §5.5.10.3, `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, ack: &Ack) {
        self.bw_latest = self.bw_latest.max(delivery_rate(&ack.rate));
        self.inflight_latest = self.inflight_latest.max(f64::from(ack.rate.delivered));
        self.loss_round_start = ack.rate.prior_delivered >= self.loss_round && ack.newly_delivered > 0;
        if self.loss_round_start {
            self.loss_round = ack.delivered;
        }
    }

    /// Draft §5.5.10.3, `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest(&mut self, ack: &Ack) {
        if self.loss_round_start {
            self.bw_latest = delivery_rate(&ack.rate);
            self.inflight_latest = f64::from(ack.rate.delivered);
        }
    }

    /// Draft §5.5.10.3, `ResetCongestionSignals`.
    pub(super) fn reset_congestion(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// Draft §5.5.10.3, `UpdateCongestionSignals`: once per round with losses, outside of probes, the lower bounds
    /// come down to what was delivered, but by no more than beta.
    pub(super) fn update_congestion(&mut self, ack: &Ack) {
        self.update_bandwidth(ack);
        if !self.loss_round_start {
            return;
        }
        let probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if self.loss_in_round && !probing {
            let bw = if self.bw_lo.is_finite() { self.bw_lo } else { self.bandwidth() };
            let inflight = if self.inflight_lo.is_finite() { self.inflight_lo } else { self.cwnd };
            self.bw_lo = self.bw_latest.max(BETA * bw);
            self.inflight_lo = self.inflight_latest.max(BETA * inflight);
        }
        self.loss_in_round = false;
    }

    /// Draft §5.5.10.3, `ResetShortTermModel`.
    pub(super) fn reset_lower_bounds(&mut self) {
        self.bw_lo = f64::INFINITY;
        self.inflight_lo = f64::INFINITY;
    }

    /// Draft §5.5.1 and §5.5.5: rounds, and the greatest delivery rate of this and the last cycle of ProbeBW.
    fn update_bandwidth(&mut self, ack: &Ack) {
        self.round_start = ack.newly_delivered > 0 && ack.rate.prior_delivered >= self.next_round;
        if self.round_start {
            self.start_round(ack.delivered);
            self.round += 1;
            self.rounds_since_probe += 1;
            self.limited = (false, self.limited.0);
        }
        self.limited.0 |= in_flight_before(ack) >= self.cwnd as u32;
        let sample = delivery_rate(&ack.rate);
        if sample > 0.0 && (sample >= self.bandwidth() || !self.app_limited(ack)) {
            self.max_bw.update(self.cycle, sample, 1);
        }
    }

    /// The window was full at some time of this round or of the last.
    pub(super) fn cwnd_limited(&self) -> bool {
        self.limited.0 || self.limited.1
    }

    /// Draft §5.5.9.
    pub(super) fn update_aggregation(&mut self, ack: &Ack) {
        let elapsed = |since: Instant| ack.received.since(since).as_nanos_f64() * 1e-9;
        let mut expected = self.bw * elapsed(self.extra_since);
        if self.extra_delivered <= expected {
            self.extra_delivered = 0.0;
            self.extra_since = ack.received;
            expected = 0.0;
        }
        self.extra_delivered += f64::from(ack.newly_delivered);
        let extra = (self.extra_delivered - expected).min(self.cwnd);
        // In Startup one round: the rate grows too fast for an older aggregate to say anything.
        let rounds = if self.full_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.update(self.round, extra, rounds);
    }

    /// Draft §5.3.1.2, `CheckFullBWReached`.
    pub(super) fn check_full(&mut self, ack: &Ack) {
        if self.full_now || !self.round_start || self.app_limited(ack) {
            return;
        }
        let rate = delivery_rate(&ack.rate);
        if rate >= self.full_bw * FULL_GROWTH {
            self.reset_full(rate);
            return;
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= FULL_ROUNDS;
        self.full_reached |= self.full_now;
    }

    /// Draft §5.3.1.2, `ResetFullBW`: the search for a plateau begins anew, above this rate.
    pub(super) fn reset_full(&mut self, rate: f64) {
        self.full_bw = rate;
        self.full_rounds = 0;
        self.full_now = false;
    }

    /// Draft §5.3.3.9, `AdaptLongTermModel`: whether it has decided that the next probe begins.
    pub(super) fn adapt_upper_bound(&mut self, ack: &Ack) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.ack_phase = AckPhase::Ordinary;
            self.probing_samples = false;
            if self.in_probe_bw() && !self.app_limited(ack) {
                self.cycle += 1;
            }
            // Draft §5.3.3.6: the brief probe lost little, so one of full length follows at once.
            if self.in_probe_bw() && self.precautionary && !self.probed_too_high {
                self.start_refill(ack);
                return true;
            }
        }
        if too_high(&ack.rate) || self.inflight_hi.is_infinite() {
            return false;
        }
        self.inflight_hi = self.inflight_hi.max(f64::from(ack.rate.tx_in_flight));
        if self.state == State::Up {
            self.probe_upwards(ack);
        }
        false
    }
}
