//! When each sender may send next.
//!
//! One key per sender: `time, packets already sent at that instant, sender`. The smallest key is the next
//! send, and senders that are ready at one instant take turns, a packet each (the first to be served would otherwise fill
//! the queue before the others: an early simulator's results were biased by that). An instant has room for 64 turns: a key's
//! 65th is the first of the next nanosecond, where all go on in turn.

use crate::time::{NEVER, Time};

const SENDER_BITS: u32 = 12;
const TURN_BITS: u32 = 6;
const TIME_SHIFT: u32 = SENDER_BITS + TURN_BITS;

/// Senders that a schedule has room for.
pub const MAX_SENDERS: usize = 1 << SENDER_BITS;
/// The latest instant that a key can hold: 19.5 hours.
pub const MAX_TIME: Time = (1 << (64 - TIME_SHIFT)) - 2;
/// The longest run: half of that, so that what is planned before its end may be due after it.
pub const LONGEST_RUN: Time = MAX_TIME / 2;
/// The key of a sender that is not to send.
const IDLE: u64 = u64::MAX;

/// The senders' keys, as the leaves of a tournament: each node above holds the smaller of its two children.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The smallest key.
    first: u64,
    /// Number of leaves, a power of two.
    leaves: usize,
    /// Node 1 is the root, node i has children 2i and 2i + 1; the leaves are the second half.
    nodes: Box<[u64]>,
}

impl Schedule {
    /// Nobody is to send.
    #[must_use]
    pub fn new(senders: usize) -> Schedule {
        let leaves = senders.next_power_of_two();
        Schedule { first: IDLE, leaves, nodes: vec![IDLE; 2 * leaves].into_boxed_slice() }
    }

    /// When the next send is; later than [`MAX_TIME`] if nobody is to send.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Time {
        self.first >> TIME_SHIFT
    }

    /// Who sends next.
    #[inline(always)]
    #[must_use]
    pub fn sender(&self) -> usize {
        self.first as usize & (MAX_SENDERS - 1)
    }

    /// Lets a sender send at `at` (`NEVER`: not at all, and `turn` is 0), after `turn` packets of its own at that instant.
    #[inline(always)]
    pub fn set(&mut self, sender: usize, at: Time, turn: u32) {
        debug_assert!(sender < self.leaves && self.nodes.len() == 2 * self.leaves);
        debug_assert!(at <= MAX_TIME || at == NEVER && turn == 0);
        // NEVER loses its high bits here and stays later than MAX_TIME. A sum: turns beyond an instant's carry into its time.
        let mut least = (at << TIME_SHIFT) + (u64::from(turn) << SENDER_BITS) + sender as u64;
        let mut node = self.leaves + sender;
        // SAFETY: the engine names only its own senders, which are fewer than the leaves, so that `node` is a leaf;
        // its ancestors and their siblings are nodes too.
        unsafe {
            *self.nodes.get_unchecked_mut(node) = least;
            while node > 1 {
                least = least.min(*self.nodes.get_unchecked(node ^ 1));
                node /= 2;
                *self.nodes.get_unchecked_mut(node) = least;
            }
        }
        self.first = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_senders_take_turns() {
        let mut schedule = Schedule::new(3);
        let mut turns = [0; 3];
        (0..3).for_each(|s| schedule.set(s, 7, 0));
        let order: Vec<usize> = (0..9)
            .map(|_| {
                let s = schedule.sender();
                turns[s] += 1;
                schedule.set(s, 7, turns[s]);
                s
            })
            .collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(schedule.next(), 7);
    }

    #[test]
    fn turns_beyond_an_instant_are_taken_a_nanosecond_later() {
        let mut schedule = Schedule::new(2);
        let mut served: [Vec<Time>; 2] = Default::default();
        (0..2).for_each(|s| schedule.set(s, 7, 0));
        for _ in 0..400 {
            let (s, now) = (schedule.sender(), schedule.next());
            served[s].push(now);
            assert!(served[0].len() - served[1].len() <= 1, "{served:?}");
            let turn = served[s].iter().filter(|&&t| t == now).count();
            schedule.set(s, now, turn as u32);
        }
        let times: Vec<Time> = (0..200).map(|i| 7 + i / 64).collect();
        assert_eq!(served, [times.clone(), times]);
        (0..2).for_each(|s| schedule.set(s, NEVER, 0));
        assert!(schedule.next() > MAX_TIME);
    }
}
