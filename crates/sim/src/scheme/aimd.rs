//! The AIMD sender that Tao'14 §4.5 trains against: slow start, +1 per window, halved at most once per RTT.

use super::{Ack, Scheme};
use crate::time::Time;

/// Additive increase, multiplicative decrease. The window is kept from one on-period to the next.
#[derive(Clone, Debug)]
pub struct Aimd {
    window: f64,
    slow_start: bool,
    /// Losses of packets before this one belong to a window that was halved already.
    recover: u32,
}

impl Default for Aimd {
    fn default() -> Self {
        Aimd { window: 1.0, slow_start: true, recover: 0 }
    }
}

impl Scheme for Aimd {
    fn start(&mut self) {}

    fn on_ack(&mut self, ack: &Ack) {
        if ack.advance > 1 && ack.seq >= self.recover {
            self.window = (self.window / 2.0).max(1.0);
            self.slow_start = false;
            self.recover = ack.next_seq;
        } else if self.slow_start {
            self.window += 1.0;
        } else {
            self.window += 1.0 / self.window;
        }
    }

    fn window(&self) -> u32 {
        self.window as u32
    }

    fn intersend(&self) -> Time {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(seq: u32, next_seq: u32, advance: u32) -> Ack {
        Ack { sent: 0, received: 1, seq, next_seq, advance }
    }

    #[test]
    fn doubles_then_halves_once_then_adds_one_per_window() {
        let mut aimd = Aimd::default();
        (0..9).for_each(|i| aimd.on_ack(&ack(i, 2 * i, 1)));
        assert_eq!(aimd.window(), 10);
        aimd.on_ack(&ack(10, 20, 2));
        aimd.on_ack(&ack(12, 20, 2));
        assert_eq!(aimd.window(), 5);
        (13..19).for_each(|i| aimd.on_ack(&ack(i, 25, 1)));
        assert_eq!(aimd.window(), 6);
        aimd.start();
        assert_eq!(aimd.window(), 6);
    }
}
