//! The AIMD sender that Tao'14 §4.5 trains against: slow start, +1 per window, halved at most once per RTT.

use exmachina_net::time::{Duration, Instant};

use super::{Ack, Congestion, Scheme};

/// Additive increase, multiplicative decrease. The window is kept from one on-period to the next.
#[derive(Clone, Debug)]
pub struct Aimd {
    window: f64,
    slow_start: bool,
    /// Losses of packets before this one belong to a window that was halved already.
    recover: u32,
    /// The ACK to come is the one that told of a loss.
    halved: bool,
}

impl Default for Aimd {
    fn default() -> Self {
        Aimd { window: 1.0, slow_start: true, recover: 0, halved: false }
    }
}

impl Scheme for Aimd {
    fn start(&mut self, _now: Instant) {}

    fn on_loss(&mut self, loss: &Congestion) {
        if loss.seq >= self.recover {
            self.window = (self.window / 2.0).max(1.0);
            self.slow_start = false;
            self.recover = loss.next_seq;
            self.halved = true;
        }
    }

    /// What was sent since the last halving, an RTT ago or more, is lost as well.
    fn on_rto(&mut self, timeout: &Congestion) {
        self.recover = 0;
        self.on_loss(timeout);
        self.halved = false;
    }

    fn on_ack(&mut self, ack: &Ack) {
        if std::mem::take(&mut self.halved) || ack.in_recovery {
            return;
        }
        if self.slow_start {
            self.window += 1.0;
        } else {
            self.window += 1.0 / self.window;
        }
    }

    fn window(&self) -> u32 {
        self.window as u32
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(seq: u32, next_seq: u32, advance: u32) -> Ack {
        Ack { received: Instant::from_nanos(1), seq, next_seq, advance, ..Ack::default() }
    }

    #[test]
    fn doubles_then_halves_once_then_adds_one_per_window() {
        let mut aimd = Aimd::default();
        (0..9).for_each(|i| aimd.on_ack(&ack(i, 2 * i, 1)));
        assert_eq!(aimd.window(), 10);
        for seq in [10, 12] {
            aimd.on_loss(&Congestion { seq, next_seq: 20, ..Congestion::default() });
            aimd.on_ack(&ack(seq, 20, 2));
        }
        assert_eq!(aimd.window(), 5);
        (13..19).for_each(|i| aimd.on_ack(&ack(i, 25, 1)));
        assert_eq!(aimd.window(), 6);
        aimd.start(Instant::START);
        assert_eq!(aimd.window(), 6);
    }

    /// It halved once, for all that it had sent before: what it sent again at the same window overflowed a queue that drops from
    /// its head, and the first packet was never repaired.
    #[test]
    fn each_timeout_halves() {
        let mut aimd = Aimd { window: 47.0, slow_start: false, ..Aimd::default() };
        let timeout = Congestion { seq: 142, next_seq: 189, ..Congestion::default() };
        let windows: Vec<u32> = (0..6).map(|_| (aimd.on_rto(&timeout), aimd.window()).1).collect();
        assert_eq!(windows, [23, 11, 5, 2, 1, 1]);
    }
}
