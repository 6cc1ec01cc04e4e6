//! RTprop, and PROBE_RTT, which looks for it anew (draft §4.1.2, §4.3.5).

use exmachina_net::time::{Duration, Instant};

use super::{Bbr1, MIN_PIPE, Mode};
use crate::scheme::Ack;

/// Draft §4.1.2.3: how long RTprop is remembered.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Draft §4.3.5: time in PROBE_RTT.
const PROBE_RTT_MS: f64 = 200.0;

impl Bbr1 {
    /// Draft §4.1.2 and §4.3.5: RTprop, and PROBE_RTT when it was not seen for ten seconds.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let now = ack.received;
        let expired = self.min_rtt != Duration::MAX && now > self.min_rtt_at + MIN_RTT_WINDOW;
        if ack.rtt > Duration::ZERO && (ack.rtt <= self.min_rtt || expired) {
            self.min_rtt = ack.rtt;
            self.min_rtt_at = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done = None;
            self.quiet.0 = ack.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(ack);
        }
        if ack.newly_delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Draft §4.3.5: 200 ms and one round with four packets in flight.
    fn probe_rtt(&mut self, ack: &Ack) {
        self.quiet.1 = ack.delivered + u64::from(ack.in_flight) + 1;
        match self.probe_rtt_done {
            None if f64::from(ack.in_flight) <= MIN_PIPE => {
                self.probe_rtt_done = Some(ack.received + Duration::from_ms(PROBE_RTT_MS));
                self.probe_rtt_round = false;
                self.next_round = ack.delivered;
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(ack.received);
                }
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt_done.is_some_and(|done| now > done) {
            self.min_rtt_at = now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            if self.full {
                self.enter_probe_bw(now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }
}
