//! LEDBAT (RFC 6817): a background sender that yields as soon as it sees 100 ms of queue.
//!
//! The RFC reads one-way delays off timestamps. Here the path of the ACKs has no queue, so what the RTT exceeds its
//! base by is the queueing delay of the data's way, and no clocks have to agree. It has no slow start: RFC 6817 §2.4.2 grows the
//! window from its first value on, by the rule of §2.4.2 alone.

use std::collections::VecDeque;

use exmachina_net::time::{Duration, Instant};

use super::{Ack, Congestion, Scheme};

/// RFC 6817 §2.5: at most 100 ms.
const TARGET_MS: f64 = 100.0;
/// RFC 6817 §2.5: at most 1: no faster than Reno in congestion avoidance.
const GAIN: f64 = 1.0;
/// RFC 6817 §2.5: minutes that the base delay is remembered.
const BASE_HISTORY: usize = 10;
/// RFC 6817 §2.5: samples of which the least is the current delay.
const CURRENT_FILTER: usize = 4;
/// RFC 6817 §2.5: packets by which the window may exceed what is in flight.
const ALLOWED_INCREASE: f64 = 1.0;
/// RFC 6817 §2.5, packets; the initial window too.
const MIN_CWND: f64 = 2.0;
/// What a base delay is the least of.
const MINUTE: Duration = Duration::from_secs(60);

/// LEDBAT's congestion control.
#[derive(Clone, Debug)]
pub struct Ledbat {
    cwnd: f64,
    /// Least RTT of each of the last minutes, the present one last.
    bases: VecDeque<Duration>,
    /// The minute of the last sample.
    minute: u64,
    /// The last RTTs.
    current: VecDeque<Duration>,
}

impl Default for Ledbat {
    fn default() -> Self {
        Ledbat { cwnd: MIN_CWND, bases: VecDeque::new(), minute: 0, current: VecDeque::new() }
    }
}

impl Ledbat {
    /// RFC 6817 §2.4.2, `update_base_delay` and `update_current_delay`.
    fn learn(&mut self, ack: &Ack) {
        let minute = ack.received / MINUTE;
        match self.bases.back_mut() {
            Some(base) if minute == self.minute => *base = (*base).min(ack.rtt),
            _ => self.bases.push_back(ack.rtt),
        }
        self.minute = minute;
        if self.bases.len() > BASE_HISTORY {
            self.bases.pop_front();
        }
        self.current.push_back(ack.rtt);
        if self.current.len() > CURRENT_FILTER {
            self.current.pop_front();
        }
    }

    /// Queueing delay; `None` before the first RTT.
    fn queueing(&self) -> Option<Duration> {
        let base = self.bases.iter().min()?;
        let current = self.current.iter().min()?;
        Some(current.saturating_sub(*base))
    }
}

impl Scheme for Ledbat {
    fn start(&mut self, _now: Instant) {
        *self = Ledbat::default();
    }

    /// RFC 6817 §2.4.2. Its own limit, one packet above what was in flight, stands for "growth only if window-limited".
    fn on_ack(&mut self, ack: &Ack) {
        if ack.rtt > Duration::ZERO {
            self.learn(ack);
        }
        let Some(queueing) = self.queueing() else { return };
        let acked = f64::from(ack.newly_delivered.max(ack.acked));
        let off_target = (TARGET_MS - queueing.as_ms()) / TARGET_MS;
        let change = GAIN * off_target * acked / self.cwnd;
        if change > 0.0 && ack.in_recovery {
            return;
        }
        let in_flight_before = f64::from(ack.in_flight) + acked;
        self.cwnd = (self.cwnd + change).min(in_flight_before + ALLOWED_INCREASE).max(MIN_CWND);
    }

    /// RFC 6817 §2.4.2: halved at most once per RTT, which is when the transport calls this.
    fn on_loss(&mut self, _loss: &Congestion) {
        self.cwnd = self.cwnd.min((self.cwnd / 2.0).max(MIN_CWND));
    }

    /// RFC 6817 §2.4.2: one packet.
    fn on_rto(&mut self, _timeout: &Congestion) {
        self.cwnd = 1.0;
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::loopback::{Loopback, Path};
    use super::*;

    fn ack(received: Instant, rtt_ms: f64) -> Ack {
        Ack { received, rtt: Duration::from_ms(rtt_ms), acked: 1, newly_delivered: 1, in_flight: 100, ..Ack::default() }
    }

    #[test]
    fn it_holds_100_ms_of_queue_rfc_6817_2_5() {
        let mut flow = Loopback::new(Ledbat::default(), Path::clean(1000.0, Duration::from_ms(40.0)));
        flow.run(Instant::from_s(60.0));
        flow.reset_meter();
        flow.run(Instant::from_s(100.0));
        assert!(flow.utilization() > 0.999, "{}", flow.utilization());
        // 100 ms of a link of 1000 packets/s.
        assert!((95.0..102.0).contains(&flow.mean_queue()), "{}", flow.mean_queue());
    }

    #[test]
    fn growth_is_in_proportion_to_the_distance_from_the_target_rfc_6817_2_4_2() {
        let mut ledbat = Ledbat { cwnd: 10.0, ..Ledbat::default() };
        ledbat.on_ack(&ack(Instant::START, 50.0));
        assert!((ledbat.cwnd - 10.1).abs() < 1e-12);
        // Four samples of 200 ms: 50 ms above the target, once the 50 ms sample has left the filter of four.
        (0..3).for_each(|_| ledbat.on_ack(&ack(Instant::START, 200.0)));
        let before = ledbat.cwnd;
        ledbat.on_ack(&ack(Instant::START, 200.0));
        assert!((ledbat.cwnd - (before - 0.5 / before)).abs() < 1e-12);
        // In recovery it shrinks but does not grow.
        ledbat.on_ack(&Ack { in_recovery: true, ..ack(Instant::START, 200.0) });
        assert!(ledbat.cwnd < before - 0.5 / before);
        let before = ledbat.cwnd;
        ledbat.on_ack(&Ack { in_recovery: true, ..ack(Instant::START, 50.0) });
        assert_eq!(ledbat.cwnd, before);
    }

    #[test]
    fn an_idle_sender_does_not_save_up_window_rfc_6817_2_4_2() {
        let mut ledbat = Ledbat { cwnd: 50.0, ..Ledbat::default() };
        ledbat.on_ack(&Ack { in_flight: 9, ..ack(Instant::START, 50.0) });
        assert_eq!(ledbat.cwnd, 11.0);
    }

    #[test]
    fn base_delays_are_minima_of_ten_minutes_rfc_6817_2_4_2() {
        let mut ledbat = Ledbat::default();
        ledbat.on_ack(&ack(Instant::START, 10.0));
        (1..10).for_each(|m| ledbat.on_ack(&ack(Instant::START + m * MINUTE, 60.0)));
        assert_eq!(ledbat.queueing(), Some(Duration::from_ms(50.0)));
        ledbat.on_ack(&ack(Instant::START + 10 * MINUTE, 60.0));
        assert_eq!(ledbat.queueing(), Some(Duration::ZERO));
    }

    #[test]
    fn losses_halve_down_to_two_packets_and_a_timeout_leaves_one_rfc_6817_2_4_2() {
        let mut ledbat = Ledbat { cwnd: 9.0, ..Ledbat::default() };
        ledbat.on_loss(&Congestion::default());
        assert_eq!(ledbat.cwnd, 4.5);
        (0..2).for_each(|_| ledbat.on_loss(&Congestion::default()));
        assert_eq!(ledbat.cwnd, 2.0);
        ledbat.on_rto(&Congestion::default());
        assert_eq!(ledbat.window(), 1);
        ledbat.on_loss(&Congestion::default());
        assert_eq!(ledbat.window(), 1);
    }
}
