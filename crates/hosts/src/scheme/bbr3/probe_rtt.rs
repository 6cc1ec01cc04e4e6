//! The RTT without a queue, and ProbeRTT, which makes it visible (draft §5.3.4).

use exmachina_net::time::{Duration, Instant};

use super::{AckPhase, Bbr3, MIN_PIPE, State};
use crate::scheme::Ack;

/// Draft §5.3.4.1: in flight during ProbeRTT, in BDP.
pub(super) const CWND_GAIN: f64 = 0.5;
/// Draft §5.3.4.1: ProbeRTT comes this long after the last low RTT.
const INTERVAL: Duration = Duration::from_secs(5);
/// Draft §5.3.4.1.
const DURATION_MS: f64 = 200.0;
/// Draft §5.5.7.2.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

impl Bbr3 {
    /// Draft §5.3.4.3, `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let now = ack.received;
        self.probe_rtt_expired = self.probe_rtt_min != Duration::MAX && now > self.probe_rtt_min_at + INTERVAL;
        if ack.rtt > Duration::ZERO && (ack.rtt < self.probe_rtt_min || self.probe_rtt_expired) {
            self.probe_rtt_min = ack.rtt;
            self.probe_rtt_min_at = now;
        }
        if self.probe_rtt_min < self.min_rtt || now > self.min_rtt_at + MIN_RTT_WINDOW {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }

    /// Draft §5.3.4.3, `CheckProbeRTT`.
    pub(super) fn update_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round(ack.delivered);
            self.quiet.0 = ack.delivered;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        if ack.newly_delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// 200 ms and one round with half a BDP in flight.
    fn handle_probe_rtt(&mut self, ack: &Ack) {
        self.quiet.1 = ack.delivered + u64::from(ack.in_flight) + 1;
        match self.probe_rtt_done {
            None if f64::from(ack.in_flight) <= self.probe_rtt_cwnd() => {
                self.probe_rtt_done = Some(ack.received + Duration::from_ms(DURATION_MS));
                self.probe_rtt_round = false;
                self.start_round(ack.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(ack.received, ack.delivered);
                }
            }
        }
    }

    /// Draft §5.3.4.4: back with the window of before, and with a full wait before the next probe for bandwidth.
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant, delivered: u64) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_lower_bounds();
        if self.full_reached {
            self.start_down(&Ack { received: now, delivered, ..Ack::default() });
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// Draft §5.6.4.5, packets.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        (CWND_GAIN * self.bdp(self.bw)).max(MIN_PIPE)
    }
}
