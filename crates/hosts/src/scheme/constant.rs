//! Senders that listen to nothing: a constant window and a constant rate, for tests and as cross-traffic.

use exmachina_net::time::{Duration, Instant};

use super::{Ack, Scheme};

/// A window that never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantWindow {
    /// Packets in flight.
    pub packets: u32,
}

impl Default for ConstantWindow {
    fn default() -> Self {
        ConstantWindow { packets: 1 }
    }
}

impl Scheme for ConstantWindow {
    fn start(&mut self, _now: Instant) {}

    fn on_ack(&mut self, _ack: &Ack) {}

    fn window(&self) -> u32 {
        self.packets
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
}

/// A rate that never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantRate {
    /// Time between two packets, ns.
    intersend: Duration,
}

impl ConstantRate {
    /// Packets per second; nothing but a positive number is a rate, and stands for one packet per second.
    #[must_use]
    pub fn packets_per_second(rate: f64) -> ConstantRate {
        let rate = if rate > 0.0 { rate } else { 1.0 };
        ConstantRate { intersend: Duration::from_s(1.0 / rate) }
    }

    /// Mbit/s of packets of this many bytes on the wire.
    #[must_use]
    pub fn mbps(mbps: f64, packet_bytes: u32) -> ConstantRate {
        ConstantRate::packets_per_second(mbps * 1e6 / (8.0 * f64::from(packet_bytes.max(1))))
    }
}

impl Default for ConstantRate {
    fn default() -> Self {
        ConstantRate::packets_per_second(1.0)
    }
}

impl Scheme for ConstantRate {
    fn start(&mut self, _now: Instant) {}

    fn on_ack(&mut self, _ack: &Ack) {}

    /// None: a quarter of the range of numbers, so that sums with it do not overflow.
    fn window(&self) -> u32 {
        u32::MAX / 4
    }

    fn intersend(&self) -> Duration {
        self.intersend
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::Congestion;
    use super::*;

    #[test]
    fn nothing_moves_a_constant_window() {
        let mut constant = ConstantWindow { packets: 7 };
        constant.on_loss(&Congestion::default());
        constant.on_rto(&Congestion::default());
        constant.start(Instant::START);
        assert_eq!((constant.window(), constant.intersend()), (7, Duration::ZERO));
    }

    #[test]
    fn paces_packets_at_the_rate_asked_for() {
        // 10 Mbit/s of 1250-byte packets: one per ms.
        assert_eq!(ConstantRate::mbps(10.0, 1250).intersend(), Duration::from_ms(1.0));
        assert_eq!(ConstantRate::packets_per_second(4.0).intersend(), Duration::from_ms(250.0));
        assert_eq!(ConstantRate::packets_per_second(f64::NAN), ConstantRate::default());
    }
}
