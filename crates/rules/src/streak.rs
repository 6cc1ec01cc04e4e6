//! A flow through ordinary ACKs, one after another and an ACK for each packet: what [`Controller::on_ack`] and
//! [`Controller::act`] come to then, with nothing looked at that cannot have changed. For simulators, which have billions of
//! them.

use std::hint::black_box;

use crate::controller::{Controller, MOST_IN_ONE, between};
use crate::flat::FlatTable;
use crate::memory::{Memory, rtt_ns};
use crate::rule::Rule;

/// The memory of a flow, and its rule, under a table of the first four signals.
#[derive(Clone, Debug)]
pub struct Streak<'t> {
    table: &'t FlatTable,
    memory: Memory,
    number: u32,
    rule: &'t Rule,
}

/// A window in whole packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window(f64);

impl Controller {
    /// The flow from here on; none where the table looks at other signals, or is a law.
    #[must_use]
    #[inline(always)]
    pub fn streak<'t>(&self, table: &'t FlatTable) -> Option<(Streak<'t>, Window)> {
        let (memory, window, number) = self.parts();
        let rule = table.rule(number as usize);
        let streak = || Streak { table, memory: memory.clone(), number, rule };
        (!table.looks_further() && table.law().is_none()).then(|| (streak(), Window(f64::from(window))))
    }

    /// The flow is where a streak of it ended.
    #[inline(always)]
    pub fn go_on_from(&mut self, streak: Streak<'_>, window: Window) {
        let Streak { memory, number, rule, .. } = streak;
        *self = Controller::of(memory, window.packets(), number, rule.intersend_ns);
    }
}

impl<'t> Streak<'t> {
    /// Whether it had its first ACK, which only begins the memory: [`Streak::on_ack`] is for the others.
    #[must_use]
    #[inline(always)]
    pub fn has_begun(&self) -> bool {
        self.memory.has_begun()
    }

    /// The rule that fired last.
    #[must_use]
    #[inline(always)]
    pub fn rule(&self) -> &'t Rule {
        self.rule
    }

    /// Takes in an ACK before which nothing was lost, and finds its rule; arguments as in [`Memory::on_ack`], and what says whether
    /// a rule matches: [`Rule::matches`], or the same with wider registers.
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        sent_ns: u64,
        received_ns: u64,
        tick_ns: u64,
        matches: impl Fn(&Rule, &[f64; 4]) -> bool,
    ) -> &'t Rule {
        self.memory.on_later_ack(sent_ns, received_ns, rtt_ns(sent_ns, received_ns, tick_ns), 1);
        if !matches(self.rule, self.memory.fast()) {
            let number = self.table.find(&self.memory, self.number as usize);
            (self.number, self.rule) = (number as u32, self.table.rule(number));
        }
        self.rule
    }

    /// Takes in an ACK of so many packets, none of which was lost, and carries out the rules: as
    /// [`Controller::on_stretched_ack`] does.
    #[inline(always)]
    pub fn on_stretched_ack(
        &mut self,
        window: &mut Window,
        [sent_ns, received_ns, tick_ns]: [u64; 3],
        packets: u32,
        matches: impl Fn(&Rule, &[f64; 4]) -> bool + Copy,
    ) {
        let (packets, from) = (packets.min(MOST_IN_ONE), self.memory.latest());
        for k in 1..packets {
            let at = |from, to| between(from, to, k, packets);
            window.act(self.on_ack(at(from.0, sent_ns), at(from.1, received_ns), tick_ns, matches));
        }
        window.act(self.on_ack(sent_ns, received_ns, tick_ns, matches));
    }
}

impl Window {
    /// Carries out a rule.
    #[inline(always)]
    pub fn act(&mut self, rule: &Rule) {
        let window = rule.window_exact(self.0);
        // Most rules leave most windows as they are. A processor that is asked guesses so, and need not wait for the sum, of which
        // each ACK's follows from the one before; that it is asked takes a branch that no compiler may leave out.
        if window != self.0 {
            self.0 = black_box(window);
        }
    }

    /// Packets that may be outstanding.
    #[must_use]
    #[inline(always)]
    pub fn packets(self) -> u32 {
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
            let mut streak: Option<(Streak, Window)> = None;
            for (gap, spacing, lost, ends) in acks {
                (sent, received) = (sent + gap, received + spacing);
                if lost > 0 {
                    streak.take().into_iter().for_each(|(streak, window)| in_streaks.go_on_from(streak, window));
                    one_by_one.on_loss(lost);
                    in_streaks.on_loss(lost);
                }
                one_by_one.on_ack(&table, sent, received, 1, 1 + lost);
                match &mut streak {
                    Some((streak, window)) => {
                        window.act(streak.on_ack(sent, received, 1, Rule::matches));
                        if gap % 2 == 0 {
                            window.act(streak.rule());
                            one_by_one.act(&table);
                        }
                    }
                    None => in_streaks.on_ack(&table, sent, received, 1, 1 + lost),
                }
                if ends {
                    streak.take().into_iter().for_each(|(streak, window)| in_streaks.go_on_from(streak, window));
                    prop_assert_eq!(&in_streaks, &one_by_one);
                    streak = in_streaks.streak(&table).filter(|(streak, _)| streak.has_begun());
                }
            }
        }
    }
}
