//! The smallest of several keys, where one key at a time changes.

/// The key of whom nothing is to come from.
pub const IDLE: u64 = u64::MAX;

/// Keys as the leaves of a tree: each node above holds the smaller of its two children.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// Number of leaves, a power of two.
    leaves: usize,
    /// Node 1 is the root, node i has children 2i and 2i + 1; the leaves are the second half.
    nodes: Box<[u64]>,
}

impl Tournament {
    /// One for so many, all of them idle.
    #[must_use]
    pub fn new(number: usize) -> Tournament {
        let leaves = number.next_power_of_two();
        Tournament { leaves, nodes: vec![IDLE; 2 * leaves].into_boxed_slice() }
    }

    /// Sets a key; returns the smallest one.
    ///
    /// # Safety
    /// `number` is below the number of leaves.
    #[inline(always)]
    pub unsafe fn set(&mut self, number: usize, key: u64) -> u64 {
        debug_assert!(number < self.leaves && self.nodes.len() == 2 * self.leaves);
        let (mut node, mut least) = (self.leaves + number, key);
        // SAFETY: `node` is a leaf, as the caller promises; its ancestors and their siblings are nodes too.
        unsafe {
            *self.nodes.get_unchecked_mut(node) = least;
            while node > 1 {
                least = least.min(*self.nodes.get_unchecked(node ^ 1));
                node /= 2;
                *self.nodes.get_unchecked_mut(node) = least;
            }
        }
        least
    }
}
