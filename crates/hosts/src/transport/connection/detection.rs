//! How a connection finds what is lost, each way with what it keeps for that.

use super::rack_tlp::RackTlp;
use crate::transport::{LossThreshold, Repair};

/// The largest threshold that reordering may lead to (Linux: 127).
const MAX_DUP_THRESHOLD: u32 = 127;

/// One of the ways of [`Repair`], at work.
#[derive(Clone, Debug)]
pub(super) enum Detection {
    /// By duplicate ACKs.
    GoBackN(Duplicates),
    /// By order of transmission: so many sent later must have arrived, and more of them where packets turn out to be late.
    Proportional(LossThreshold),
    /// By time (RACK-TLP).
    Rack(RackTlp),
}

/// A count of duplicate ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Duplicates {
    /// Those since the last ACK that was none.
    pub(super) seen: u32,
    /// Those that show a loss.
    pub(super) threshold: u32,
}

impl Detection {
    /// That of a connection that begins.
    pub(super) fn new(repair: Repair) -> Detection {
        match repair {
            Repair::GoBackN { dup_threshold } => Detection::GoBackN(Duplicates { seen: 0, threshold: dup_threshold }),
            Repair::Proportional(threshold) => Detection::Proportional(threshold),
            Repair::Rack(threshold) => Detection::Rack(RackTlp::new(threshold)),
        }
    }

    /// Whether losses are looked for among the transmissions, in their order.
    pub(super) fn looks_by_order(&self) -> bool {
        !self.goes_back()
    }

    /// Duplicate ACKs are all that it learns of losses by, and one is answered by sending all that follows again.
    #[inline]
    pub(super) fn goes_back(&self) -> bool {
        matches!(self, Detection::GoBackN(_))
    }

    /// Whether it is today's.
    #[inline]
    pub(super) fn is_by_time(&self) -> bool {
        matches!(self, Detection::Rack(_))
    }

    /// Today's, if that is it.
    #[inline]
    pub(super) fn rack(&self) -> Option<&RackTlp> {
        if let Detection::Rack(today) = self { Some(today) } else { None }
    }

    /// Today's, if that is it.
    #[inline]
    pub(super) fn rack_mut(&mut self) -> Option<&mut RackTlp> {
        if let Detection::Rack(today) = self { Some(today) } else { None }
    }

    /// A packet was late, not lost, by so many transmissions: waits for more of them before the next is taken for lost.
    pub(super) fn on_late(&mut self, behind: u64) {
        if let Detection::Proportional(LossThreshold { packets, adapts: true }) = self {
            *packets = (*packets).max((behind as u32).saturating_add(1)).min(MAX_DUP_THRESHOLD);
        }
    }

    /// A recovery ends, or all is sent again: duplicate ACKs are counted anew.
    pub(super) fn forget_duplicates(&mut self) {
        if let Detection::GoBackN(duplicates) = self {
            duplicates.seen = 0;
        }
    }
}
