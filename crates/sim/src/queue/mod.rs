//! Queue disciplines: which packets wait, in what order they leave, which are dropped or marked.
//!
//! A queue holds the packets that wait; the one being transmitted has left it. Dropped packets go to `dropped`, never
//! nowhere: packets are conserved. Packets of one sender leave in the order in which they came.

mod codel;
mod drop_tail;
mod fifo;
mod flows;
mod fq_codel;
mod red;
mod sfq_codel;
mod step;

pub use codel::{CoDel, CoDelLaw, CoDelSettings, CoDelState};
pub use drop_tail::DropTail;
pub use fifo::{Backlog, Fifo, Limit, mark};
pub use fq_codel::{FqCoDel, FqCoDelSettings};
pub use red::{Red, RedSettings};
pub use sfq_codel::{Overflow, SfqCoDel, SfqCoDelSettings};
pub use step::{Step, StepSettings};

use crate::packet::Packet;
use crate::time::Time;

/// A queue discipline.
pub trait Queue {
    /// A packet arrives; its `enqueued` is set. It, or others in its place, may be dropped.
    fn enqueue(&mut self, packet: Packet, now: Time, dropped: &mut Vec<Packet>);
    /// The link is free: the packet to transmit next. `None` only where no packet waits any more.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet>;
    /// Packets that wait.
    fn packets(&self) -> usize;
    /// Bytes that wait.
    fn bytes(&self) -> u64;
}

#[cfg(test)]
mod testing;
