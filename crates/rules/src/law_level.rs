//! Where a law's lists are read: at the length of the queue, between its levels.

use super::law::LEVELS;

/// Where the levels are, and the logarithms to base 2 of how far the next one is.
pub const LEVEL_AT: [u64; LEVELS] = [0, 1 << 15, 1 << 16, 1 << 17, 1 << 18];
pub const LEVEL_WIDTH: [u32; LEVELS - 1] = [15, 15, 16, 17];
/// More than so long no queue counts as.
pub const LONGEST_QUEUE: u64 = LEVEL_AT[LEVELS - 1];

/// A place between two lengths of the queue.
#[derive(Clone, Copy)]
pub struct Level {
    below: usize,
    past: i64,
}

impl Level {
    #[inline]
    pub fn of(length: u64) -> Level {
        let below = LEVEL_AT[1..LEVELS - 1].iter().map(|&at| usize::from(length >= at)).sum();
        Level { below, past: (length - LEVEL_AT[below]) as i64 }
    }

    #[inline]
    pub fn signed(self, values: &[i32; LEVELS]) -> i64 {
        self.between(values[self.below].into(), values[self.below + 1].into())
    }

    #[inline]
    pub fn of_all(self, values: &[u32; LEVELS]) -> u64 {
        self.between(values[self.below].into(), values[self.below + 1].into()) as u64
    }

    /// What lies as far between these as the length of the queue between its levels.
    #[inline]
    fn between(self, low: i64, high: i64) -> i64 {
        low + (((high - low) * self.past) >> LEVEL_WIDTH[self.below])
    }
}
