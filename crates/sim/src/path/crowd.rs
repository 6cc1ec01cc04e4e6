//! Packets on a stretch of a delay that is not constant, where some overtake others: a heap by time of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::{NEVER, Time};

/// Something, when it arrives, and how many were added before it. Ordered by the two numbers.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: Reverse<(Time, u64)>,
    item: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Entries in no order but that of their arrival; those of one instant in the order of their adding.
#[derive(Clone, Debug)]
pub struct Crowd<T> {
    heap: BinaryHeap<Entry<T>>,
    added: u64,
}

impl<T> Default for Crowd<T> {
    fn default() -> Self {
        Crowd { heap: BinaryHeap::new(), added: 0 }
    }
}

impl<T: Copy> Crowd<T> {
    /// When the next entry arrives; [`NEVER`] where there is none.
    #[must_use]
    pub fn next(&self) -> Time {
        self.heap.peek().map_or(NEVER, |entry| entry.key.0.0)
    }

    /// Adds an entry.
    pub fn push(&mut self, at: Time, item: T) {
        self.heap.push(Entry { key: Reverse((at, self.added)), item });
        self.added += 1;
    }

    /// Takes the next entry; there must be one.
    pub fn pop(&mut self) -> T {
        self.heap.pop().expect("an entry").item
    }

    /// The entries, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.heap.iter().map(|entry| &entry.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_in_order_of_arrival_and_first_come_first_served() {
        let mut crowd = Crowd::default();
        for (at, item) in [(5, 'a'), (7, 'b'), (6, 'c'), (5, 'd'), (4, 'e')] {
            crowd.push(at, item);
        }
        assert_eq!((crowd.next(), crowd.iter().count()), (4, 5));
        assert_eq!(std::iter::from_fn(|| (crowd.next() < NEVER).then(|| crowd.pop())).collect::<String>(), "eadcb");
    }
}
