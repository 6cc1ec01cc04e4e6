//! When each sender may send next.
//!
//! One key per sender: `time, packets already sent at that instant, sender`. The smallest key is the next
//! send, and senders that are ready at one instant take turns, a packet each (the first to be served would otherwise fill
//! the queue before the others: an early simulator's results were biased by that). An instant has room for 64 turns: a key's
//! 65th is the first of the next nanosecond, where all go on in turn.

use crate::time::Instant;
use crate::tournament::{IDLE, Tournament};

const SENDER_BITS: u32 = 12;
const TURN_BITS: u32 = 6;
const TIME_SHIFT: u32 = SENDER_BITS + TURN_BITS;

/// Senders that a schedule has room for.
pub const MAX_SENDERS: usize = 1 << SENDER_BITS;
/// The latest instant that a key can hold: 19.5 hours.
pub const MAX_TIME: Instant = Instant::from_nanos((1 << (64 - TIME_SHIFT)) - 2);
/// The longest run: half of that, so that what is planned before its end may be due after it.
pub const LONGEST_RUN: Instant = Instant::from_nanos(MAX_TIME.as_nanos() / 2);
/// When a sender acts next, and after how many packets of its own at that instant: the smaller goes first.
#[must_use]
#[inline(always)]
pub fn turn_at(at: Instant, turn: u32) -> u64 {
    debug_assert!(at <= MAX_TIME || at == Instant::NEVER && turn == 0);
    // Instant::NEVER loses its high bits here and stays later than MAX_TIME. A sum: turns beyond an instant's carry into its time.
    (at.as_nanos() << TIME_SHIFT) + (u64::from(turn) << SENDER_BITS)
}

/// The time of such a turn; later than [`MAX_TIME`] if there is none.
#[must_use]
#[inline(always)]
pub fn time_of(turn: u64) -> Instant {
    Instant::from_nanos(turn >> TIME_SHIFT)
}

/// How many packets the sender sent at that instant before.
#[must_use]
#[inline(always)]
pub fn number_of(turn: u64) -> u32 {
    (turn >> SENDER_BITS) as u32 & ((1 << TURN_BITS) - 1)
}

/// The senders' keys.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The smallest key.
    first: u64,
    senders: Tournament,
}

impl Schedule {
    /// Nobody is to send.
    #[must_use]
    pub fn new(senders: usize) -> Schedule {
        Schedule { first: IDLE, senders: Tournament::new(senders) }
    }

    /// When the next send is; later than [`MAX_TIME`] if nobody is to send.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Instant {
        time_of(self.first)
    }

    /// Who sends next.
    #[inline(always)]
    #[must_use]
    pub fn sender(&self) -> usize {
        self.first as usize & (MAX_SENDERS - 1)
    }

    /// Lets a sender send at `at` (`Instant::NEVER`: not at all, and `turn` is 0), after `turn` packets of its own at that instant.
    #[inline(always)]
    pub fn set(&mut self, sender: usize, at: Instant, turn: u32) {
        // SAFETY: the engine names only its own senders.
        self.first = unsafe { self.senders.set(sender, turn_at(at, turn) + sender as u64) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_senders_take_turns() {
        let mut schedule = Schedule::new(3);
        let mut turns = [0; 3];
        (0..3).for_each(|s| schedule.set(s, Instant::from_nanos(7), 0));
        let order: Vec<usize> = (0..9)
            .map(|_| {
                let s = schedule.sender();
                turns[s] += 1;
                schedule.set(s, Instant::from_nanos(7), turns[s]);
                s
            })
            .collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(schedule.next(), Instant::from_nanos(7));
    }

    #[test]
    fn turns_beyond_an_instant_are_taken_a_nanosecond_later() {
        let mut schedule = Schedule::new(2);
        let mut served: [Vec<Instant>; 2] = Default::default();
        (0..2).for_each(|s| schedule.set(s, Instant::from_nanos(7), 0));
        for _ in 0..400 {
            let (s, now) = (schedule.sender(), schedule.next());
            served[s].push(now);
            assert!(served[0].len() - served[1].len() <= 1, "{served:?}");
            let turn = served[s].iter().filter(|&&t| t == now).count();
            schedule.set(s, now, turn as u32);
        }
        let times: Vec<Instant> = (0..200).map(|i| Instant::from_nanos(7 + i / 64)).collect();
        assert_eq!(served, [times.clone(), times]);
        (0..2).for_each(|s| schedule.set(s, Instant::NEVER, 0));
        assert!(schedule.next() > MAX_TIME);
    }
}
