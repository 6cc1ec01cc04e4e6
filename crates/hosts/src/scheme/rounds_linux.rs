//! RTT by RTT, as Vegas and Compound of Linux 2.6.22 see a connection: microseconds, in 32 bits, and half packets.

use super::Ack;
use exmachina_net::time::Duration;

/// Half packets (`V_PARAM_SHIFT`).
pub(super) const HALVES: u32 = 1;

/// Samples from which the least RTT of a round is believed, where ACKs may be delayed.
const TRUSTED: u32 = 2;

/// What a round that has ended was like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Packets sent in it.
    pub packets: u32,
    /// cwnd at its beginning.
    pub began_with: u32,
    /// Its packets that the path holds at its least RTT, in half packets; none: too few samples to tell.
    pub target: Option<u32>,
}

/// The present round.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// What was next to be sent when the round before began, and when this one did. After a change of state the former
    /// is what it was.
    left: Option<u32>,
    right: u32,
    began_with: u32,
    samples: u32,
    least_us: u32,
    base_us: u32,
    enabled: bool,
    /// What was next to be sent at the latest ACK.
    next_seq: u32,
}

impl Rounds {
    pub fn new() -> Rounds {
        Rounds {
            left: None,
            right: 0,
            began_with: 0,
            samples: 0,
            least_us: u32::MAX,
            base_us: u32::MAX,
            enabled: false,
            next_seq: 0,
        }
    }

    /// False while something is being repaired.
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    pub fn disable(&mut self) {
        self.enabled = false;
    }

    /// A round begins with what is sent next: at the first ACK, and with that by which all has been repaired.
    pub fn resume(&mut self) {
        self.enabled = true;
        self.right = self.next_seq;
        self.clear();
    }

    /// To be called for every ACK of new data.
    pub fn sample(&mut self, ack: &Ack) {
        self.next_seq = ack.next_seq;
        if self.left.is_none() {
            // The stream's beginning.
            self.left = Some((ack.seq + 1).saturating_sub(ack.acked));
            self.resume();
        }
        if ack.rtt > Duration::ZERO {
            // Never 0.
            let us = u32::try_from(ack.rtt.as_nanos() / 1000).unwrap_or(u32::MAX).saturating_add(1);
            self.base_us = self.base_us.min(us);
            self.least_us = self.least_us.min(us);
            self.samples += 1;
        }
    }

    /// Whether this ACK ends the round, and what it was like.
    pub fn ended(&mut self, ack: &Ack, cwnd: u32) -> Option<Round> {
        if ack.seq < self.right {
            return None;
        }
        let packets = self.right.saturating_sub(self.left.unwrap_or(self.right));
        // 32 bits, as there: beyond 14,000 packets of 150 ms it overflows.
        let target =
            (self.samples > TRUSTED).then(|| (packets.wrapping_mul(self.base_us) << HALVES) / self.least_us.max(1));
        let round = Round { packets, began_with: self.began_with, target };
        self.left = Some(self.right);
        self.right = ack.next_seq;
        self.began_with = cwnd;
        self.clear();
        Some(round)
    }

    fn clear(&mut self) {
        (self.samples, self.least_us) = (0, u32::MAX);
    }
}
