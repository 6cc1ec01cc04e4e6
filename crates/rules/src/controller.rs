//! A RemyCC sender: memory, window and pacing of one flow under one table. This is what a transport embeds.

use crate::flat::FlatTable;
use crate::law_flow::LawFlow;
use crate::memory::Memory;

/// Packets of one ACK that count one by one, at most: by then the averages are those of their spacing.
pub const MOST_IN_ONE: u32 = 1024;

/// Ways in ns, 104 days, so many of which are a number of 64 bits.
const LONG_WAY: i64 = i64::MAX / MOST_IN_ONE as i64;

/// The state of one flow.
///
/// ```
/// use exmachina_rules::{Action, Controller, FlatTable, RuleTable, Signal};
/// let rule = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
/// let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
/// let mut flow = Controller::start(&table);
/// assert_eq!((flow.window(), flow.intersend_ns()), (1, 3_000_000));
/// flow.on_ack(&table, 0, 100_000_000, 1, 1); // sent at 0, ACK at 100 ms, on a clock of nanoseconds
/// assert_eq!(flow.window(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    memory: Memory,
    window: u32,
    rule: u32,
    intersend_ns: u64,
    /// What there is to remember under a law.
    law: Option<Box<LawFlow>>,
}

impl Controller {
    /// A new flow: memory all zero, and the action looked up there applied to a window of 0 (Remy'13 §4.1).
    #[must_use]
    pub fn start(table: &FlatTable) -> Controller {
        let law = table.law().map(|law| Box::new(LawFlow::start(law)));
        let mut flow = Controller { memory: Memory::default(), window: 0, rule: 0, intersend_ns: 0, law };
        flow.act(table);
        flow
    }

    /// Takes in an ACK; arguments as in [`Memory::on_ack`].
    #[inline(always)]
    pub fn on_ack(&mut self, table: &FlatTable, sent_ns: u64, received_ns: u64, tick_ns: u64, advance: u32) {
        if table.law().is_some() {
            return self.on_stretched_ack(table, sent_ns, received_ns, tick_ns, advance, 1);
        }
        self.memory.on_ack(sent_ns, received_ns, tick_ns, advance);
        self.act(table);
    }

    /// Takes in that so many packets were lost; before the ACK that shows it.
    pub fn on_loss(&mut self, packets: u32) {
        self.memory.on_loss(packets);
        if let Some(flow) = &mut self.law {
            flow.on_loss(packets);
        }
    }

    /// Takes in an ACK of so many `packets`, which a receiver acknowledged together (RFC 1122 §4.2.3.2): it is as many
    /// packets' worth of news. Memory and window are those of as many ACKs, spaced evenly from the one before it to this
    /// one, in the times of sending and of arrival both. So a rule means the same whatever receivers do. Other arguments
    /// as in [`Memory::on_ack`].
    #[inline(always)]
    pub fn on_stretched_ack(
        &mut self,
        table: &FlatTable,
        sent_ns: u64,
        received_ns: u64,
        tick_ns: u64,
        advance: u32,
        packets: u32,
    ) {
        if let (Some(law), Some(flow)) = (table.law(), &mut self.law) {
            flow.on_ack(law, sent_ns, received_ns, tick_ns, packets);
            return self.act(table);
        }
        let mut advance = advance;
        if packets > 1 {
            self.all_but_the_last(table, sent_ns, received_ns, tick_ns, packets.min(MOST_IN_ONE));
            advance = advance.min(advance.saturating_sub(packets - 1).max(1));
        }
        self.on_ack(table, sent_ns, received_ns, tick_ns, advance);
    }

    #[inline(never)]
    fn all_but_the_last(&mut self, table: &FlatTable, sent_ns: u64, received_ns: u64, tick_ns: u64, packets: u32) {
        let from = self.memory.last();
        for k in 1..packets {
            match from {
                Some((sent, received)) => {
                    let at = |from, to| between(from, to, k, packets);
                    self.on_ack(table, at(sent, sent_ns), at(received, received_ns), tick_ns, 1);
                }
                // Nothing is known of the spacing of a flow's first packets.
                None => self.act(table),
            }
        }
    }

    /// Sets it elsewhere: window and averages are multiplied by these factors, and the rule for that sets the pace. What a
    /// design must find its way back from.
    pub fn upset(&mut self, table: &FlatTable, window: f64, averages: f64) {
        if let Some(flow) = &mut self.law {
            flow.upset(window, averages);
            return self.act(table);
        }
        self.memory.scale_averages(averages);
        let window = (f64::from(self.window) * window).clamp(1.0, f64::from(crate::MAX_WINDOW)) as u32;
        self.act(table);
        self.window = window;
    }

    /// Looks up the rule for the present memory and carries it out; under a law, which changes nothing without an ACK, does
    /// nothing.
    #[inline(always)]
    pub fn act(&mut self, table: &FlatTable) {
        if let (Some(law), Some(flow)) = (table.law(), &self.law) {
            (self.window, self.intersend_ns) = (flow.window(law), flow.intersend_ns());
            return;
        }
        let (number, rule) = table.lookup(&self.memory, self.rule as usize);
        self.rule = number as u32;
        self.window = rule.window(self.window);
        self.intersend_ns = rule.intersend_ns;
    }

    /// Memory, window, and number of the rule that was used last.
    #[inline(always)]
    pub(crate) fn parts(&self) -> (&Memory, u32, u32) {
        (&self.memory, self.window, self.rule)
    }

    /// What there is to remember under a law.
    #[inline(always)]
    pub(crate) fn law_flow(&mut self) -> Option<&mut LawFlow> {
        self.law.as_deref_mut()
    }

    /// One of these parts.
    #[inline(always)]
    pub(crate) fn of(memory: Memory, window: u32, rule: u32, intersend_ns: u64) -> Controller {
        Controller { memory, window, rule, intersend_ns, law: None }
    }

    /// Packets that may be outstanding.
    #[must_use]
    #[inline(always)]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Sets the window, which the next rule starts from: some transports do so for a loss.
    pub fn set_window(&mut self, packets: u32) {
        self.window = packets;
        if let Some(flow) = &mut self.law {
            flow.set_window(packets);
        }
    }

    /// Takes back what the window grew by since the flow was as `before`: some transports do so where something else held
    /// it back, so that nothing is known of a larger one.
    pub fn keep_window(&mut self, before: &Controller) {
        self.window = self.window.min(before.window);
        if let (Some(flow), Some(before)) = (&mut self.law, &before.law) {
            flow.keep_window(before);
        }
    }

    /// Least time between two sends, ns.
    #[must_use]
    #[inline(always)]
    pub fn intersend_ns(&self) -> u64 {
        self.intersend_ns
    }

    /// Number of the rule that was used last.
    #[must_use]
    #[inline(always)]
    pub fn rule(&self) -> usize {
        self.rule as usize
    }

    /// What the flow remembers.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// The instant `k` of `n` parts of the way from one to another, which may be earlier on clocks that are set back.
#[inline(always)]
pub(crate) fn between(from: u64, to: u64, k: u32, n: u32) -> u64 {
    let way = to.wrapping_sub(from) as i64;
    if (-LONG_WAY..LONG_WAY).contains(&way) {
        // In registers: `k` is at most `MOST_IN_ONE`.
        return from.wrapping_add((way * i64::from(k) / i64::from(n)) as u64);
    }
    far_between(from, way, k, n)
}

/// The same of any way: on clocks that are set.
#[cold]
#[inline(never)]
fn far_between(from: u64, way: i64, k: u32, n: u32) -> u64 {
    from.wrapping_add((i128::from(way) * i128::from(k) / i128::from(n)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, RuleTable, SIGNALS, Signal, first_signals};

    const MS: u64 = 1_000_000;

    fn table() -> FlatTable {
        let mut table = RuleTable::single(&Signal::ALL[..4], Action { multiple: 1.0, increment: 1, intersend_ms: 1.0 });
        table.split(0, &first_signals(&[0.0, 2.0]), &[Signal::AckEwma]);
        table.set_action(1, Action { multiple: 0.9, increment: 3, intersend_ms: 2.0 });
        FlatTable::new(&table).unwrap()
    }

    #[test]
    fn an_ack_of_k_packets_is_k_evenly_spaced_acks() {
        let table = table();
        for k in [2u64, 3, 8] {
            let (mut each, mut together) = (Controller::start(&table), Controller::start(&table));
            for flow in [&mut each, &mut together] {
                flow.on_ack(&table, 0, 100 * MS, 1, 1);
            }
            for block in 0..40u64 {
                for i in 1..=k {
                    let n = block * k + i;
                    each.on_ack(&table, n * 3 * MS, 100 * MS + n * 4 * MS, 1, 1);
                }
                let n = (block + 1) * k;
                together.on_stretched_ack(&table, n * 3 * MS, 100 * MS + n * 4 * MS, 1, k as u32, k as u32);
                assert_eq!(each, together, "{k} at a time");
            }
        }
    }

    #[test]
    fn one_packet_is_an_ack_and_first_packets_act_only() {
        let table = table();
        let (mut a, mut b) = (Controller::start(&table), Controller::start(&table));
        a.on_ack(&table, 5, 100, 1, 7);
        b.on_stretched_ack(&table, 5, 100, 1, 7, 1);
        assert_eq!(a, b);
        let mut first = Controller::start(&table);
        first.on_stretched_ack(&table, 5, 100, 1, 3, 3);
        assert_eq!((first.window(), first.memory().point()), (4, [0.0; SIGNALS]));
    }

    #[test]
    fn no_ack_takes_for_ever_and_odd_clocks_do_no_harm() {
        let table = table();
        let mut flow = Controller::start(&table);
        for (sent, received) in [(0, 100), (u64::MAX, 3), (1, u64::MAX / 2), (7, 7)] {
            flow.on_stretched_ack(&table, sent, received, 1, u32::MAX, u32::MAX);
            assert!(flow.memory().point().iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn an_upset_flow_has_another_window_pace_and_memory() {
        let table = table();
        let mut flow = Controller::start(&table);
        (0..10).for_each(|i| flow.on_ack(&table, i * MS, 100 * MS + i * MS, 1, 1));
        let (window, [_, ack, ratio, ..]) = (flow.window(), flow.memory().point());
        flow.upset(&table, 0.5, 8.0);
        let [_, upset, same, ..] = flow.memory().point();
        assert_eq!((flow.window(), flow.intersend_ns()), (window / 2, 2 * MS));
        assert_eq!((upset, same), (8.0 * ack, ratio));
    }
}
