//! What a connection has just heard, and whether losses are being repaired.

use exmachina_net::time::Instant;

use super::prr::Prr;

/// What an ACK told, beside what the records of packets hold now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// The oldest packet outstanding before it, and how many from there on it acknowledges.
    pub(super) una: u32,
    pub(super) acked: u32,
    /// Packets that it tells to have arrived.
    pub(super) delivered: u32,
    /// A packet that arrived twice.
    pub(super) duplicate: Option<u32>,
    /// The time stamp that it echoes.
    pub(super) echo: Instant,
    /// A packet that was never sent again arrived after one with a higher number.
    pub(super) reordered: bool,
    /// After a timeout: one of the packets outstanding then arrived that was never sent again.
    pub(super) originals: bool,
    /// When the last sent of the packets was sent that it tells of.
    pub(super) newest: Option<Instant>,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// Nothing is known to be missing.
    Open,
    /// Fast recovery (RFC 5681 §3.2, RFC 6675 §5), with a window in proportion to what is delivered, for schemes that leave that
    /// to the transport.
    Recovery(Prr),
    /// After a timeout, until all that was outstanding then is acknowledged; or after going back to a gap.
    Loss,
}

impl Phase {
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Phase::Open)
    }

    #[inline]
    pub(super) fn is_recovery(&self) -> bool {
        matches!(self, Phase::Recovery(_))
    }

    #[inline]
    pub(super) fn is_loss(&self) -> bool {
        matches!(self, Phase::Loss)
    }
}
