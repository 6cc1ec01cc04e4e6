//! What a multiplicative decrease is taken of.

use super::Congestion;

/// What is multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// The congestion window (ns-2, Linux).
    #[default]
    Window,
    /// The packets outstanding (RFC 5681 eq. 4; RFC 9438 §4.6), no more than the window: what limited transmit added does
    /// not count (RFC 5681 §3.2), and after a long recovery most of what is outstanding has arrived.
    Flight,
}

impl Basis {
    /// Packets.
    pub(super) fn of(self, cwnd: f64, event: &Congestion) -> f64 {
        match self {
            Basis::Window => cwnd,
            Basis::Flight => f64::from(event.outstanding).min(cwnd),
        }
    }

    /// Whether a timeout leaves ssthresh as it is: that of a packet that a timeout sent again (RFC 5681 §3.1).
    pub(super) fn holds(self, cwnd: f64) -> bool {
        self == Basis::Flight && cwnd <= 1.0
    }
}
