//! A flow through ordinary ACKs, one after another: what [`Controller::on_ack`] and [`Controller::act`] come to then, with
//! nothing looked at that cannot have changed. For simulators, which have billions of them.

use std::hint::black_box;

use crate::controller::{Controller, MOST_IN_ONE, between};
use crate::flat::FlatTable;
use crate::law::Law;
use crate::law_flow::LawFlow;
use crate::memory::{Memory, rtt_ns};
use crate::rule::Rule;

/// A flow that goes through ordinary ACKs, whatever it follows.
pub trait Streak {
    /// Whether it had its first ACK: what takes in ACKs here is for the others.
    fn has_begun(&self) -> bool;
    /// Takes in an ACK before which nothing was lost; arguments as in [`Memory::on_ack`].
    fn on_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64);
    /// Takes in an ACK of so many packets, none of which was lost: as [`Controller::on_stretched_ack`] does.
    fn on_stretched_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64, packets: u32);
    /// An ACK of an earlier flow: as [`Controller::act`].
    fn act(&mut self);
    /// Packets that may be outstanding.
    fn window(&self) -> u32;
    /// Least time between two sends, ns.
    fn intersend_ns(&self) -> u64;
}

/// One under a table of the first four signals: its memory, window and rule; and what says whether a rule matches,
/// [`Rule::matches`] or the same with wider registers.
#[derive(Clone, Debug)]
pub struct TableStreak<'t, M> {
    table: &'t FlatTable,
    memory: Memory,
    window: Window,
    number: u32,
    rule: &'t Rule,
    matches: M,
}

/// One under a law.
#[derive(Debug)]
pub struct LawStreak<'t, 'f> {
    law: &'t Law,
    flow: &'f mut LawFlow,
}

/// A window in whole packets.
#[derive(Clone, Copy, Debug)]
struct Window(f64);

impl Controller {
    /// The flow from here on; none where the table looks at other signals, is a law, or has rules that space nothing.
    #[must_use]
    #[inline(always)]
    pub fn table_streak<'t, M>(&self, table: &'t FlatTable, matches: M) -> Option<TableStreak<'t, M>>
    where
        M: Fn(&Rule, &[f64; 4]) -> bool,
    {
        if table.looks_further() || table.law().is_some() || !table.paces() {
            return None;
        }
        let (memory, window, number) = self.parts();
        let (window, rule) = (Window(f64::from(window)), table.rule(number as usize));
        Some(TableStreak { table, memory: memory.clone(), window, number, rule, matches })
    }

    /// The flow is where a streak of it ended.
    #[inline(always)]
    pub fn go_on_from<M>(&mut self, streak: TableStreak<'_, M>) {
        let TableStreak { memory, window, number, rule, .. } = streak;
        *self = Controller::of(memory, window.packets(), number, rule.intersend_ns);
    }

    /// The flow from here on, if it is under a law and spaces what it sends; at the end of it, [`Controller::act`] makes the
    /// flow go on from there.
    #[must_use]
    #[inline(always)]
    pub fn law_streak<'t>(&mut self, table: &'t FlatTable) -> Option<LawStreak<'t, '_>> {
        let (law, flow) = (table.law()?, self.law_flow()?);
        (flow.intersend_ns() > 0).then_some(LawStreak { law, flow })
    }
}

impl<M: Fn(&Rule, &[f64; 4]) -> bool> Streak for TableStreak<'_, M> {
    #[inline(always)]
    fn has_begun(&self) -> bool {
        self.memory.has_begun()
    }

    #[inline(always)]
    fn on_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64) {
        self.memory.on_later_ack(sent_ns, received_ns, rtt_ns(sent_ns, received_ns, tick_ns), 1);
        if !(self.matches)(self.rule, self.memory.fast()) {
            let number = self.table.find(&self.memory, self.number as usize);
            (self.number, self.rule) = (number as u32, self.table.rule(number));
        }
        self.act();
    }

    #[inline(always)]
    fn on_stretched_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64, packets: u32) {
        let (packets, from) = (packets.min(MOST_IN_ONE), self.memory.latest());
        for k in 1..packets {
            let at = |from, to| between(from, to, k, packets);
            self.on_ack(at(from.0, sent_ns), at(from.1, received_ns), tick_ns);
        }
        self.on_ack(sent_ns, received_ns, tick_ns);
    }

    #[inline(always)]
    fn act(&mut self) {
        self.window.act(self.rule);
    }

    #[inline(always)]
    fn window(&self) -> u32 {
        self.window.packets()
    }

    #[inline(always)]
    fn intersend_ns(&self) -> u64 {
        self.rule.intersend_ns
    }
}

impl Streak for LawStreak<'_, '_> {
    #[inline(always)]
    fn has_begun(&self) -> bool {
        self.flow.has_begun()
    }

    #[inline(always)]
    fn on_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64) {
        self.flow.on_ack(self.law, sent_ns, received_ns, tick_ns, 1);
    }

    #[inline(always)]
    fn on_stretched_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64, packets: u32) {
        self.flow.on_ack(self.law, sent_ns, received_ns, tick_ns, packets);
    }

    /// A law changes nothing without an ACK.
    #[inline(always)]
    fn act(&mut self) {}

    #[inline(always)]
    fn window(&self) -> u32 {
        self.flow.window(self.law)
    }

    #[inline(always)]
    fn intersend_ns(&self) -> u64 {
        self.flow.intersend_ns()
    }
}

impl Window {
    /// Carries out a rule.
    #[inline(always)]
    fn act(&mut self, rule: &Rule) {
        let window = rule.window_exact(self.0);
        // Most rules leave most windows as they are. A processor that is asked guesses so, and need not wait for the sum, of which
        // each ACK's follows from the one before; that it is asked takes a branch that no compiler may leave out.
        if window != self.0 {
            self.0 = black_box(window);
        }
    }

    /// Packets that may be outstanding.
    #[inline(always)]
    fn packets(self) -> u32 {
        // SAFETY: windows are from 0 to 1e6.
        unsafe { self.0.to_int_unchecked::<i32>() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, RuleTable, Signal, first_signals};
    use proptest::prelude::*;

    proptest! {
        /// Whatever comes, and wherever a streak begins and ends.
        #[test]
        fn a_streak_is_one_ack_after_another(
            acks in prop::collection::vec((0..3_000_000_u64, 0..5_000_000_u64, prop_oneof![4 => Just(0), 1 => 1..3_u32], any::<bool>()), 1..200),
        ) {
            let mut table = RuleTable::single(&Signal::ALL[..4], Action { multiple: 1.0, increment: 1, intersend_ms: 1.0 });
            table.split(0, &first_signals(&[1.0, 1.5, 1.02, 0.7]), &Signal::ALL[..4]);
            for (number, multiple) in (0..table.len()).zip([0.5, 0.9, 1.0, 1.5, 0.0].into_iter().cycle()) {
                let increment = if number % 3 == 2 { -7 } else { 2 };
                table.set_action(number, Action { multiple, increment, intersend_ms: 0.1 * (number + 1) as f64 });
            }
            let table = FlatTable::new(&table).unwrap();
            let (mut one_by_one, mut in_streaks) = (Controller::start(&table), Controller::start(&table));
            let (mut sent, mut received) = (0, 100_000_000);
            let mut streak = None;
            for (gap, spacing, lost, ends) in acks {
                (sent, received) = (sent + gap, received + spacing);
                if lost > 0 {
                    streak.take().into_iter().for_each(|streak| in_streaks.go_on_from(streak));
                    one_by_one.on_loss(lost);
                    in_streaks.on_loss(lost);
                }
                one_by_one.on_ack(&table, sent, received, 1, 1 + lost);
                match &mut streak {
                    Some(streak) => {
                        streak.on_ack(sent, received, 1);
                        if gap % 2 == 0 {
                            streak.act();
                            one_by_one.act(&table);
                        }
                    }
                    None => in_streaks.on_ack(&table, sent, received, 1, 1 + lost),
                }
                if ends {
                    streak.take().into_iter().for_each(|streak| in_streaks.go_on_from(streak));
                    prop_assert_eq!(&in_streaks, &one_by_one);
                    streak = in_streaks.table_streak(&table, Rule::matches).filter(Streak::has_begun);
                }
            }
        }
    }
}
