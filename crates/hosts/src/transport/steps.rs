//! What the engine asks of every stack in the same words.

/// All of [`Endpoint`](exmachina_net::endpoint::Endpoint) but `start` and `receive`, for a stack with the fields `on`, `end`,
/// `planned`, `turn` and `totals`, and the methods `una`, `next_seq`, `due` (when it wants to act next) and `step` (its time has
/// come: a packet to send, if it has one).
macro_rules! acts_in_steps {
    () => {
        /// The application gives no more; what is outstanding is still repaired.
        fn stop(&mut self, _now: Instant) {
            exmachina_net::packet::check_numbers(self.next_seq());
            self.on = false;
            self.end = self.next_seq();
        }

        fn is_on(&self) -> bool {
            self.on
        }

        fn finished(&self) -> bool {
            self.on && self.una() == self.end
        }

        fn ready(&self) -> Instant {
            let at = self.due();
            // A schedule has no keys between MAX_TIME and Instant::NEVER; a scheme's pace may be as slow as it likes.
            if at > exmachina_net::schedule::MAX_TIME { Instant::NEVER } else { at }
        }

        fn planned(&self) -> Instant {
            self.planned
        }

        fn plan(&mut self, at: Instant) {
            self.planned = at;
        }

        fn act(&mut self, now: Instant) -> (Option<Packet>, Instant, u32) {
            let packet = self.step(now);
            self.planned = self.ready().max(now);
            let turn = if self.planned == now { self.turn } else { 0 };
            (packet, self.planned, turn)
        }

        fn totals(&self) -> Totals {
            self.totals
        }
    };
}
pub(super) use acts_in_steps;
