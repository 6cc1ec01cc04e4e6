//! A RemyCC sender: memory, window and pacing of one flow under one table. This is what a transport embeds.

use crate::flat::FlatTable;
use crate::memory::Memory;

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
}

impl Controller {
    /// A new flow: memory all zero, and the action looked up there applied to a window of 0 (Remy'13 §4.1).
    #[must_use]
    pub fn start(table: &FlatTable) -> Controller {
        let mut flow = Controller { memory: Memory::default(), window: 0, rule: 0, intersend_ns: 0 };
        flow.act(table);
        flow
    }

    /// Takes in an ACK; arguments as in [`Memory::on_ack`].
    #[inline(always)]
    pub fn on_ack(&mut self, table: &FlatTable, sent_ns: u64, received_ns: u64, tick_ns: u64, advance: u32) {
        self.memory.on_ack(sent_ns, received_ns, tick_ns, advance);
        self.act(table);
    }

    /// Looks up the rule for the present memory and carries it out.
    #[inline(always)]
    pub fn act(&mut self, table: &FlatTable) {
        let (number, rule) = table.lookup(&self.memory, self.rule as usize);
        self.rule = number as u32;
        self.window = rule.window(self.window);
        self.intersend_ns = rule.intersend_ns;
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
