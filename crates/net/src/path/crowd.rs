//! Packets on a stretch of a delay that is not constant: each sender's mostly in order, and others' pass them.
//!
//! Only the first of each sender's stand in a heap, by time of arrival; those that were added in order wait behind it. One
//! that overtakes stands in the heap by itself.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use crate::time::Instant;

/// Leads no file.
const NOBODY: u16 = u16::MAX;

/// Something, when it arrives, and how many were added before it. Ordered by the two numbers.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: Reverse<(Instant, u64)>,
    /// Whose file it leads, or [`NOBODY`].
    leads: u16,
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

/// Entries of one sender, in order, behind the one in the heap that leads them.
#[derive(Clone, Debug)]
struct File<T> {
    behind: VecDeque<Entry<T>>,
    /// When the last of them arrives; [`Instant::NEVER`] where nobody leads.
    last: Instant,
}

/// Entries in no order but that of their arrival; those of one instant in the order of their adding.
#[derive(Clone, Debug)]
pub struct Crowd<T> {
    heap: BinaryHeap<Entry<T>>,
    files: Vec<File<T>>,
    added: u64,
}

impl<T> Default for File<T> {
    fn default() -> Self {
        File { behind: VecDeque::new(), last: Instant::NEVER }
    }
}

impl<T> Default for Crowd<T> {
    fn default() -> Self {
        Crowd { heap: BinaryHeap::new(), files: Vec::new(), added: 0 }
    }
}

impl<T: Copy> Crowd<T> {
    /// When the next entry arrives; [`Instant::NEVER`] where there is none.
    #[must_use]
    #[inline(always)]
    pub fn next(&self) -> Instant {
        self.heap.peek().map_or(Instant::NEVER, |entry| entry.key.0.0)
    }

    /// Adds an entry of a sender.
    #[inline]
    pub fn push(&mut self, sender: u16, at: Instant, item: T) {
        let mut entry = Entry { key: Reverse((at, self.added)), leads: sender, item };
        self.added += 1;
        if usize::from(sender) >= self.files.len() {
            self.files.resize_with(usize::from(sender) + 1, File::default);
        }
        let file = &mut self.files[usize::from(sender)];
        if file.last == Instant::NEVER {
            file.last = at;
        } else if at >= file.last {
            file.last = at;
            file.behind.push_back(entry);
            return;
        } else {
            entry.leads = NOBODY;
        }
        self.heap.push(entry);
    }

    /// Takes the next entry; there must be one.
    #[inline]
    pub fn pop(&mut self) -> T {
        let mut first = self.heap.peek_mut().expect("an entry");
        let item = first.item;
        match self.files.get_mut(usize::from(first.leads)) {
            Some(file) => match file.behind.pop_front() {
                Some(next) => *first = next,
                None => {
                    file.last = Instant::NEVER;
                    PeekMut::pop(first);
                }
            },
            None => {
                PeekMut::pop(first);
            }
        }
        item
    }

    /// The entries, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.heap.iter().chain(self.files.iter().flat_map(|file| &file.behind)).map(|entry| &entry.item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn leaves_in_order_of_arrival_and_first_come_first_served() {
        let mut crowd = Crowd::default();
        for (sender, at, item) in [(0, 5, 'a'), (0, 7, 'b'), (1, 6, 'c'), (1, 5, 'd'), (0, 4, 'e')] {
            crowd.push(sender, Instant::from_nanos(at), item);
        }
        assert_eq!((crowd.next(), crowd.iter().count()), (Instant::from_nanos(4), 5));
        assert_eq!(
            std::iter::from_fn(|| (crowd.next() < Instant::NEVER).then(|| crowd.pop())).collect::<String>(),
            "eadcb"
        );
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_one_list(ops in prop::collection::vec((0..4_u16, 0..30_u64, 0..3_u8), 0..200)) {
            let (mut crowd, mut list) = (Crowd::default(), Vec::new());
            for (number, (sender, at, pops)) in ops.into_iter().enumerate() {
                crowd.push(sender, Instant::from_nanos(at), number);
                list.push((at, number));
                for _ in 0..pops.min(list.len() as u8) {
                    list.sort_unstable();
                    let (at, number) = list.remove(0);
                    prop_assert_eq!((crowd.next(), crowd.pop()), (Instant::from_nanos(at), number));
                }
                prop_assert_eq!(crowd.iter().count(), list.len());
            }
        }
    }
}
