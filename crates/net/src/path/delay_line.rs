//! Packets on a stretch of constant delay.
//!
//! A constant delay keeps packets in order, so each distinct one is a delay line: a ring in which the next to arrive is always
//! the oldest entry. Where packets overtake each other they are a crowd instead (`crowd.rs`).

use crate::time::Instant;

/// Something and when it arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry<T> {
    /// When.
    pub at: Instant,
    /// What.
    pub item: T,
}

/// A ring, in order of arrival.
#[derive(Clone, Debug)]
pub struct DelayLine<T> {
    /// When the oldest entry arrives; [`Instant::NEVER`] where there is none.
    next: Instant,
    /// Its length is a power of two.
    ring: Box<[Entry<T>]>,
    head: usize,
    tail: usize,
}

impl<T: Copy + Default> Default for DelayLine<T> {
    fn default() -> Self {
        DelayLine { next: Instant::NEVER, ring: vec![Entry::default(); 64].into_boxed_slice(), head: 0, tail: 0 }
    }
}

impl<T: Copy + Default> DelayLine<T> {
    /// When the oldest entry arrives; [`Instant::NEVER`] where there is none.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Adds an entry that arrives no earlier than any other.
    #[inline(always)]
    pub fn push(&mut self, at: Instant, item: T) {
        if self.tail - self.head == self.ring.len() {
            self.grow();
        }
        self.push_reserved(at, item);
    }

    /// The same where there is room for it.
    #[inline(always)]
    pub fn push_reserved(&mut self, at: Instant, item: T) {
        debug_assert!(self.tail - self.head < self.ring.len());
        if self.next == Instant::NEVER {
            self.next = at;
        }
        let mask = self.ring.len() - 1;
        debug_assert!(
            self.head == self.tail || self.ring[(self.tail - 1) & mask].at <= at,
            "a delay line keeps its order"
        );
        // SAFETY: the length is a power of two, so that the masked index is below it.
        unsafe { *self.ring.get_unchecked_mut(self.tail & mask) = Entry { at, item } };
        self.tail += 1;
    }

    /// Takes the oldest entry; there must be one.
    #[inline(always)]
    pub fn pop(&mut self) -> T {
        let mask = self.ring.len() - 1;
        // SAFETY: as in `push`.
        let item = unsafe { self.ring.get_unchecked(self.head & mask).item };
        self.head += 1;
        // SAFETY: as in `push`.
        let next = unsafe { self.ring.get_unchecked(self.head & mask).at };
        self.next = if self.head == self.tail { Instant::NEVER } else { next };
        item
    }

    /// The oldest entries that stand side by side, in order, and when the one after them arrives.
    #[must_use]
    #[inline(always)]
    pub fn front(&self) -> (&[Entry<T>], Instant) {
        let length = self.ring.len();
        let (count, head) = (self.tail - self.head, self.head & (length - 1));
        let end = length.min(head + count);
        let after = if end - head == count { Instant::NEVER } else { self.ring[0].at };
        (&self.ring[head..end], after)
    }

    /// Takes off so many of the oldest entries; there must be as many.
    #[inline(always)]
    pub fn skip(&mut self, entries: usize) {
        self.head += entries;
        debug_assert!(self.head <= self.tail);
        let first = self.ring[self.head & (self.ring.len() - 1)].at;
        self.next = if self.head == self.tail { Instant::NEVER } else { first };
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, entries: usize) {
        while self.ring.len() - (self.tail - self.head) < entries {
            self.grow();
        }
    }

    /// The entries, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (self.head..self.tail).map(|i| &self.ring[i & (self.ring.len() - 1)].item)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.ring.len();
        let mut ring = vec![Entry::default(); old * 2];
        for i in self.head..self.tail {
            ring[i & (old * 2 - 1)] = self.ring[i & (old - 1)];
        }
        self.ring = ring.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_keeps_order() {
        let mut line = DelayLine::default();
        (0..40).for_each(|i| line.push(Instant::from_nanos(i), i));
        (0..30).for_each(|i| assert_eq!(line.pop(), i));
        (40..300).for_each(|i| line.push(Instant::from_nanos(i), i));
        assert!((30..300).eq(line.iter().copied()));
    }
}
