//! The sender of XCP (Katabi, Handley, Rohrs 2002, §3.1 and §3.2): the routers say by how much its window changes.

use exmachina_net::time::{Duration, Instant};

use super::{Ack, Capabilities, Congestion, Scheme};

/// An XCP sender. What it asks for, and what it tells routers of itself, the transport writes into its packets.
#[derive(Clone, Debug)]
pub struct Xcp {
    initial_window: u32,
    cwnd: f64,
}

impl Xcp {
    /// A sender that has not started; its connections start with this window, packets.
    #[must_use]
    pub fn new(initial_window: u32) -> Xcp {
        Xcp { initial_window, cwnd: f64::from(initial_window.max(1)) }
    }
}

impl Default for Xcp {
    /// With the initial window of ns-2, 2 packets.
    fn default() -> Self {
        Xcp::new(2)
    }
}

impl Scheme for Xcp {
    fn start(&mut self, _now: Instant) {
        *self = Xcp::new(self.initial_window);
    }

    /// §3.2: cwnd = max(cwnd + feedback, one packet), on every ACK: feedback is a sum over packets, and none may be
    /// left out, whatever state the sender is in.
    fn on_ack(&mut self, ack: &Ack) {
        if ack.xcp_feedback.is_finite() {
            self.cwnd = (self.cwnd + ack.xcp_feedback).max(1.0);
        }
    }

    /// §3.2: losses are answered as by TCP. In an XCP network they are rare, and say that a queue elsewhere overflows.
    fn on_loss(&mut self, _loss: &Congestion) {
        self.cwnd = (self.cwnd / 2.0).max(1.0);
    }

    fn on_rto(&mut self, _timeout: &Congestion) {
        self.cwnd = 1.0;
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { xcp: true, ..Capabilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(xcp: &mut Xcp, xcp_feedback: f64) {
        xcp.on_ack(&Ack { xcp_feedback, acked: 1, ..Ack::default() });
    }

    #[test]
    fn the_window_is_the_sum_of_what_routers_allow_and_at_least_one_packet_katabi_3_2() {
        let mut xcp = Xcp::default();
        (0..16).for_each(|_| told(&mut xcp, 0.5));
        assert_eq!(xcp.window(), 10);
        told(&mut xcp, -3.25);
        assert_eq!(xcp.cwnd, 6.75);
        told(&mut xcp, f64::NAN);
        assert_eq!(xcp.cwnd, 6.75);
        told(&mut xcp, -100.0);
        assert_eq!(xcp.window(), 1);
        told(&mut xcp, 2.0);
        assert_eq!(xcp.window(), 3);
        assert!(xcp.capabilities().xcp);
    }

    #[test]
    fn losses_are_answered_as_by_tcp_katabi_3_2() {
        let mut xcp = Xcp::new(20);
        xcp.on_loss(&Congestion::default());
        assert_eq!(xcp.window(), 10);
        xcp.on_rto(&Congestion::default());
        assert_eq!(xcp.window(), 1);
        xcp.start(Instant::START);
        assert_eq!(xcp.window(), 20);
    }
}
