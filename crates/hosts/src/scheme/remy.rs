//! A RemyCC: a rule table behind the scheme trait.

use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Controller, FlatTable};

use super::{Ack, Capabilities, Congestion, Scheme};

/// A sender that follows a rule table.
#[derive(Clone, Debug)]
pub struct Remy<'t> {
    /// The table.
    pub table: &'t FlatTable,
    /// Memory, window and pace of the present flow.
    pub controller: Controller,
}

impl<'t> Remy<'t> {
    /// A sender that has not started.
    #[must_use]
    pub fn new(table: &'t FlatTable) -> Remy<'t> {
        Remy { table, controller: Controller::start(table) }
    }
}

impl Scheme for Remy<'_> {
    fn start(&mut self, _now: Instant) {
        self.controller = Controller::start(self.table);
    }

    fn resume(&mut self, now: Instant, _idle: Duration) {
        self.start(now);
    }

    /// Each on-period is a flow of its own (Remy'13 §5.1), on an open connection too.
    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack) {
        let Ack { sent, received, tick, advance, stretch, lost, .. } = *ack;
        if lost > 0 {
            self.on_lost(lost);
        }
        let [sent, received] = [sent, received].map(Instant::as_nanos);
        self.controller.on_stretched_ack(self.table, sent, received, tick.as_nanos(), advance, stretch.max(1));
    }

    /// The memory knows nothing of it, but its rule is carried out once more. Tao'14's ns-2 curves show that theirs did:
    /// docs/validation.md.
    fn on_stale_ack(&mut self) {
        self.controller.act(self.table);
    }

    /// A table may look at how much is lost: transports say it with each ACK, the design simulator's senders here.
    fn on_lost(&mut self, packets: u32) {
        self.controller.on_loss(packets);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        self.on_lost(timeout.lost);
    }

    fn upset(&mut self, window: f64, averages: f64) {
        self.controller.upset(self.table, window, averages);
    }

    fn collapse(&mut self) {
        self.controller.set_window(1);
    }

    #[inline(always)]
    fn window(&self) -> u32 {
        self.controller.window()
    }

    /// A rule table looks at ACKs only: what is lost is sent again within its window, which no loss changes.
    fn capabilities(&self) -> Capabilities {
        Capabilities { owns_recovery: true, forgets: true, ..Capabilities::default() }
    }

    #[inline(always)]
    fn flow(&mut self) -> Option<(&FlatTable, &mut Controller)> {
        Some((self.table, &mut self.controller))
    }

    #[inline(always)]
    fn intersend(&self) -> Duration {
        Duration::from_nanos(self.controller.intersend_ns())
    }
}

#[cfg(test)]
mod tests {
    use exmachina_rules::{Action, RuleTable, Signal};

    use super::*;

    #[test]
    fn a_flow_remembers_losses_whoever_tells_it_and_the_next_one_does_not() {
        let rule = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
        let (mut told, mut heard, mut timed_out) = (Remy::new(&table), Remy::new(&table), Remy::new(&table));
        told.on_lost(2);
        told.on_ack(&Ack::default());
        heard.on_ack(&Ack { lost: 2, ..Ack::default() });
        timed_out.on_rto(&Congestion { lost: 2, ..Congestion::default() });
        timed_out.on_ack(&Ack::default());
        let share = |remy: &Remy<'_>| remy.controller.memory().loss_share();
        let (lost, arrived) = (1.0 / 256.0, 255.0 / 256.0);
        assert!((share(&told) - arrived * lost * (1.0 + arrived)).abs() < 1e-12);
        assert_eq!((share(&heard), share(&timed_out)), (share(&told), share(&told)));
        told.start(Instant::START);
        assert_eq!(share(&told), 0.0);
    }
}
