//! Watching a run without slowing the runs that nobody watches: the engine is compiled once for each observer.

use crate::sender::Sender;
use crate::time::Time;

/// Told of what happens in a run.
pub trait Observer<S> {
    /// A flow of a sender started.
    fn started(&mut self, _now: Time, _sender: usize, _state: &Sender<S>) {}
    /// A sender's on-period ended.
    fn stopped(&mut self, _now: Time, _sender: usize) {}
    /// A sender dealt with an ACK of its present flow or an earlier one.
    fn acked(&mut self, _now: Time, _sender: usize, _rtt: Time, _state: &Sender<S>) {}
    /// A packet was sent; it leaves the link at `departs`, or was dropped.
    fn sent(&mut self, _now: Time, _sender: usize, _departs: Option<Time>) {}
    /// Whether the run is to pause here.
    #[inline(always)]
    fn pause(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl<S> Observer<S> for Unwatched {}
