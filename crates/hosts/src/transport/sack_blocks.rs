//! How many blocks ns-2's SACK receiver puts into an ACK (RFC 2018 §4, as its `Sacker` does it): each makes the ACK 8 bytes longer.
//!
//! What the blocks say does not matter here, as senders learn of each packet that arrives. Their number does: it sets at which
//! moment between two departures from a full queue the packets arrive that ACKs let go.

use super::receiver::Receiver;

/// Bytes of a block (RFC 2018 §3: two numbers of 32 bits).
pub const SACK_BLOCK_BYTES: u16 = 8;
/// The most blocks of an ACK that has a time stamp (RFC 2018 §3).
const MOST: usize = 3;

/// The blocks that a receiver reported last, newest first: first number, and one past the last.
#[derive(Clone, Debug, Default)]
pub struct SackBlocks {
    recent: Vec<(u32, u32)>,
}

impl SackBlocks {
    /// How many blocks the ACK of a packet has that the receiver has just taken.
    pub fn report(&mut self, seq: u32, receiver: &Receiver) -> u32 {
        let next = receiver.next();
        if receiver.edge() == next {
            self.recent.clear();
            return 0;
        }
        // "The first SACK block MUST specify the contiguous block of data containing the segment which triggered this ACK,
        // unless that segment advanced the Acknowledgment Number field."
        let first = (seq >= next).then(|| self.run(seq, receiver));
        let (left, right) = first.unwrap_or((0, next));
        let mut blocks = usize::from(first.is_some());
        // "The SACK option SHOULD be filled out by repeating the most recently reported SACK blocks that are not subsets of a
        // SACK block already included."
        let mut k = 0;
        while blocks < MOST && k < self.recent.len() {
            if left <= self.recent[k].0 && self.recent[k].1 <= right {
                self.recent.remove(k);
            } else {
                (blocks, k) = (blocks + 1, k + 1);
            }
        }
        if let Some(first) = first {
            self.recent.insert(0, first);
            self.recent.truncate(MOST);
        }
        blocks as u32
    }

    /// The packets around one that has arrived, without a gap.
    fn run(&self, seq: u32, receiver: &Receiver) -> (u32, u32) {
        let left = match self.recent.first() {
            Some(&(left, right)) if right == seq => left,
            _ => (receiver.next()..seq).rev().find(|&s| !receiver.has(s)).map_or(seq, |gap| gap + 1),
        };
        (left, (seq..receiver.edge()).find(|&s| !receiver.has(s)).unwrap_or(receiver.edge()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_three_blocks_the_newest_first() {
        let (mut receiver, mut blocks) = (Receiver::new(0), SackBlocks::default());
        let mut arrive = |seq| {
            receiver.takes(seq);
            blocks.report(seq, &receiver)
        };
        // In order; a gap; the same block grows; more gaps, of whose blocks the oldest is forgotten.
        assert_eq!([0, 2, 3, 5, 7, 9, 10].map(&mut arrive), [0, 1, 1, 2, 3, 3, 3]);
        // Up to 3 in order: the block of 2 and 3 was forgotten, three others are left.
        assert_eq!(arrive(1), 3);
        // Joins 5 and 7.
        assert_eq!(arrive(6), 2);
        assert_eq!(arrive(4), 1, "9 and 10");
        assert_eq!((arrive(8), arrive(11)), (0, 0));
    }

    #[test]
    fn a_block_that_was_forgotten_is_not_reported() {
        let (mut receiver, mut blocks) = (Receiver::new(0), SackBlocks::default());
        for seq in [1, 3, 5, 7] {
            receiver.takes(seq);
            blocks.report(seq, &receiver);
        }
        for (seq, left) in [(0, 3), (2, 2), (4, 1)] {
            receiver.takes(seq);
            assert_eq!(blocks.report(seq, &receiver), left);
        }
    }
}
