//! What a RemyCC sender remembers of its ACKs (Remy'13 §4.1; slow_ack_ewma: Tao'14 §3).

use crate::signal::{Point, Signal};

/// Weight of a new sample in the fast averages (Remy'13 §4.1).
const FAST: f64 = 1.0 / 8.0;
/// Weight of a new sample in the slow average (Tao'14 §3).
const SLOW: f64 = 1.0 / 256.0;
/// Nanoseconds to milliseconds.
const MS_PER_NS: f64 = 1e-6;

/// The memory of one flow. Times come in nanoseconds of any monotonic clock; signals are in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The four signals that most tables use, in axis order: one SIMD register.
    fast: [f64; 4],
    last_sent_ns: u64,
    last_received_ns: u64,
    min_rtt_ns: u64,
    last_rtt_ns: u64,
    /// Packets from the largest ACK to the latest one.
    advance: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            fast: [0.0; 4],
            last_sent_ns: 0,
            last_received_ns: 0,
            min_rtt_ns: u64::MAX,
            last_rtt_ns: 0,
            advance: 0,
        }
    }
}

impl Memory {
    /// Takes in the ACK of a packet sent at `sent_ns` that arrived at `received_ns`; `advance` packets after the largest
    /// ACK before it (1 where nothing was lost). The first ACK of a flow only sets the time stamps and the smallest RTT.
    #[inline(always)]
    pub fn on_ack(&mut self, sent_ns: u64, received_ns: u64, advance: u32) {
        let rtt = received_ns - sent_ns;
        if self.min_rtt_ns == u64::MAX {
            self.min_rtt_ns = rtt;
        } else {
            self.min_rtt_ns = self.min_rtt_ns.min(rtt);
            // Signed, because that is the conversion that processors have.
            let sent = sent_ns.wrapping_sub(self.last_sent_ns) as i64 as f64;
            let received = received_ns.wrapping_sub(self.last_received_ns) as i64 as f64;
            // A weight of 1 keeps the ratio as it is, so that all four go through the same two operations.
            let ratio = rtt as i64 as f64 / self.min_rtt_ns as i64 as f64;
            let sample = [sent, received, ratio, received];
            const NEW: [f64; 4] = [FAST * MS_PER_NS, FAST * MS_PER_NS, 1.0, SLOW * MS_PER_NS];
            const OLD: [f64; 4] = [1.0 - FAST, 1.0 - FAST, 0.0, 1.0 - SLOW];
            for i in 0..4 {
                self.fast[i] = OLD[i] * self.fast[i] + NEW[i] * sample[i];
            }
        }
        self.last_sent_ns = sent_ns;
        self.last_received_ns = received_ns;
        self.last_rtt_ns = rtt;
        self.advance = advance;
    }

    /// The first four signals, in axis order.
    #[must_use]
    #[inline(always)]
    pub fn fast(&self) -> &[f64; 4] {
        &self.fast
    }

    /// The signals that few tables use: `[rtt_diff, queueing_delay]`. Zero until the second ACK, like the others.
    #[must_use]
    #[inline]
    pub fn rare(&self) -> [f64; 2] {
        if self.fast[2] == 0.0 {
            return [0.0; 2];
        }
        let diff = (self.last_rtt_ns - self.min_rtt_ns) as f64 * MS_PER_NS;
        [diff, self.fast[Signal::AckEwma as usize] * f64::from(self.advance)]
    }

    /// All the signals.
    #[must_use]
    pub fn point(&self) -> Point {
        let [a, b, c, d] = self.fast;
        let [e, f] = self.rare();
        [a, b, c, d, e, f]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn first_ack_only_initialises() {
        let mut m = Memory::default();
        m.on_ack(5 * MS, 105 * MS, 1);
        assert_eq!(m.point(), [0.0; 6]);
    }

    #[test]
    fn second_ack_gives_an_eighth_of_its_sample() {
        let mut m = Memory::default();
        m.on_ack(0, 100 * MS, 1);
        m.on_ack(8 * MS, 116 * MS, 1);
        assert_eq!(m.point(), [1.0, 2.0, 1.08, 16.0 / 256.0, 8.0, 2.0]);
    }

    #[test]
    fn averages_settle_on_the_spacing() {
        let mut m = Memory::default();
        for i in 0..5000 {
            m.on_ack(i * 3 * MS, i * 3 * MS + 50 * MS, 1);
        }
        let [send, ack, ratio, slow] = *m.fast();
        assert!((send - 3.0).abs() < 1e-9 && (ack - 3.0).abs() < 1e-9 && (slow - 3.0).abs() < 1e-6);
        assert_eq!(ratio, 1.0);
    }
}
