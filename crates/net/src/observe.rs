//! Watching a run without slowing the runs that nobody watches: the engine is compiled once for each observer.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::packet::Packet;
use crate::time::Instant;

/// Told of what happens in a run.
pub trait Observer<E> {
    /// It may be told of one sender's ACKs after another's, though they came before, and need not be told of packets that are
    /// sent: its run may be cut into rounds (`rounds.rs`).
    const IN_ANY_ORDER: bool = false;
    /// It is told of ACKs. Who does without is done sooner.
    const SEES_ACKS: bool = true;
    /// A flow of a sender started.
    fn started(&mut self, _now: Instant, _sender: usize, _state: &E) {}
    /// A sender's on-period ended.
    fn stopped(&mut self, _now: Instant, _sender: usize) {}
    /// A sender dealt with an ACK of its present flow or an earlier one.
    fn acked(&mut self, _now: Instant, _sender: usize, _packet: &Packet, _state: &E) {}
    /// A packet was sent; it leaves the bottleneck at `departs`, if it was not dropped and that is known already.
    fn sent(&mut self, _now: Instant, _sender: usize, _packet: &Packet, _departs: Option<Instant>, _state: &E) {}
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

impl<E> Observer<E> for Unwatched {
    const IN_ANY_ORDER: bool = true;
    const SEES_ACKS: bool = false;
}

/// Watches nothing, and has the run end early once the flag is set.
#[derive(Clone, Copy, Debug)]
pub struct Unless<'a>(pub &'a AtomicBool);

impl<E> Observer<E> for Unless<'_> {
    const IN_ANY_ORDER: bool = true;
    const SEES_ACKS: bool = false;

    fn abandoned(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
