//! Watching a run without slowing the runs that nobody watches: the engine is compiled once for each observer.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::packet::Packet;
use crate::time::Time;

/// Told of what happens in a run.
pub trait Observer<E> {
    /// A flow of a sender started.
    fn started(&mut self, _now: Time, _sender: usize, _state: &E) {}
    /// A sender's on-period ended.
    fn stopped(&mut self, _now: Time, _sender: usize) {}
    /// A sender dealt with an ACK of its present flow or an earlier one.
    fn acked(&mut self, _now: Time, _sender: usize, _packet: &Packet, _state: &E) {}
    /// A packet was sent; it leaves the bottleneck at `departs`, if it was not dropped and that is known already.
    fn sent(&mut self, _now: Time, _sender: usize, _packet: &Packet, _departs: Option<Time>, _state: &E) {}
    /// Whether the run is to pause here.
    #[inline(always)]
    fn pause(&self) -> bool {
        false
    }
    /// Whether nobody wants the run any more. Asked now and then only, so that it may cost something.
    fn abandoned(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl<E> Observer<E> for Unwatched {}

/// Watches nothing, and has the run end early once the flag is set.
#[derive(Clone, Copy, Debug)]
pub struct Unless<'a>(pub &'a AtomicBool);

impl<E> Observer<E> for Unless<'_> {
    fn abandoned(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Seed};
    use crate::network::{Network, On, Workload};
    use crate::scheme::{AnyScheme, ConstantWindow};
    use crate::time::from_s;

    #[test]
    fn a_run_that_nobody_wants_ends_long_before_its_time() {
        let network = Network::dumbbell(1000.0, 10.0, 1, Workload::new(On::Forever, 1e-3));
        let run = |abandoned| {
            let scheme = |_| AnyScheme::ConstantWindow(ConstantWindow { packets: 2000 });
            let mut engine = Engine::new(&network, Seed { root: 1, specimen: 0 }, scheme);
            let early = engine.run(from_s(10.0), &mut Unless(&AtomicBool::new(abandoned)));
            (early, engine.outcome().flows[0].sent)
        };
        let (early, sent) = run(true);
        assert!(early && sent < 100_000, "{sent}");
        let (early, sent) = run(false);
        assert!(!early && sent > 900_000, "{sent}");
    }
}
