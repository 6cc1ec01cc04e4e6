//! Queue disciplines: which packets wait, in what order they leave, which are dropped or marked.
//!
//! A queue holds the packets that wait; the one being transmitted has left it. Dropped packets go to `dropped`, never
//! nowhere: packets are conserved. Packets of one sender leave in the order in which they came.

mod cobalt;
mod codel;
mod drop_tail;
mod fifo;
mod flows;
mod fq_codel;
mod pie;
mod red;
mod sfq_codel;
mod step;
mod xcp;

pub use cobalt::{Cobalt, CobaltSettings};
pub use codel::{CoDel, CoDelLaw, CoDelSettings, CoDelState};
pub use drop_tail::DropTail;
pub use fifo::{Backlog, Fifo, Limit, mark};
pub use fq_codel::{FqCoDel, FqCoDelSettings};
pub use pie::{Pie, PieSettings};
pub use red::{Red, RedSettings};
pub use sfq_codel::{Overflow, SfqCoDel, SfqCoDelSettings};
pub use step::{Step, StepSettings};
pub use xcp::{Xcp, XcpSettings};

use crate::packet::Packet;
use crate::random::Stream;
use crate::time::Instant;

/// A queue discipline.
pub trait Queue {
    /// A packet arrives; its `enqueued` is set. It, or others in its place, may be dropped.
    fn enqueue(&mut self, packet: Packet, now: Instant, dropped: &mut Vec<Packet>);
    /// The link is free: the packet to transmit next. `None` only where no packet waits any more.
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Packet>) -> Option<Packet>;
    /// Packets that wait.
    fn packets(&self) -> usize;
    /// Bytes that wait.
    fn bytes(&self) -> u64;
}

/// A queue discipline and its settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum QueueKind {
    /// Drop tail.
    #[default]
    DropTail,
    /// Step marking, for DCTCP.
    Step(StepSettings),
    /// RED.
    Red(RedSettings),
    /// CoDel.
    CoDel(CoDelSettings),
    /// COBALT: CAKE's, without its shaper.
    Cobalt(CobaltSettings),
    /// Stochastic fair queueing with CoDel, as in Remy'13 and Tao'14.
    SfqCoDel(SfqCoDelSettings),
    /// FQ-CoDel.
    FqCoDel(FqCoDelSettings),
    /// PIE.
    Pie(PieSettings),
    /// XCP's router.
    Xcp(XcpSettings),
}

/// One enum over all disciplines, dispatched without pointers.
macro_rules! any_queue {
    ($($(#[$doc:meta])* $name:ident($queue:ty),)*) => {
        /// Any of the queue disciplines.
        #[derive(Clone, Debug)]
        pub enum AnyQueue {
            $($(#[$doc])* $name($queue),)*
        }

        impl Queue for AnyQueue {
            #[inline]
            fn enqueue(&mut self, packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
                match self { $(AnyQueue::$name(q) => q.enqueue(packet, now, dropped),)* }
            }

            #[inline]
            fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Packet>) -> Option<Packet> {
                match self { $(AnyQueue::$name(q) => q.dequeue(now, dropped),)* }
            }

            #[inline]
            fn packets(&self) -> usize {
                match self { $(AnyQueue::$name(q) => q.packets(),)* }
            }

            #[inline]
            fn bytes(&self) -> u64 {
                match self { $(AnyQueue::$name(q) => q.bytes(),)* }
            }
        }
    };
}

any_queue! {
    /// Drop tail.
    DropTail(DropTail),
    /// Step marking.
    Step(Step),
    /// RED.
    Red(Red),
    /// CoDel.
    CoDel(CoDel),
    /// COBALT.
    Cobalt(Cobalt),
    /// sfqCoDel.
    SfqCoDel(SfqCoDel),
    /// FQ-CoDel.
    FqCoDel(FqCoDel),
    /// PIE.
    Pie(Pie),
    /// XCP's router.
    Xcp(Xcp),
}

impl AnyQueue {
    /// An empty queue with this room, before a link that carries `link` bytes per second in the long-term average.
    /// `random` decides over drops, marks and hashes.
    #[must_use]
    pub fn new(kind: &QueueKind, limit: Limit, link: f64, random: Stream) -> AnyQueue {
        match kind {
            QueueKind::DropTail => AnyQueue::DropTail(DropTail::new(limit)),
            QueueKind::Step(s) => AnyQueue::Step(Step::new(*s, limit)),
            QueueKind::Red(s) => AnyQueue::Red(Red::new(*s, limit, link, random)),
            QueueKind::CoDel(s) => AnyQueue::CoDel(CoDel::new(*s, limit)),
            QueueKind::Cobalt(s) => AnyQueue::Cobalt(Cobalt::new(*s, limit, random)),
            QueueKind::SfqCoDel(s) => AnyQueue::SfqCoDel(SfqCoDel::new(*s, limit, random)),
            QueueKind::FqCoDel(s) => AnyQueue::FqCoDel(FqCoDel::new(*s, limit, random)),
            QueueKind::Pie(s) => AnyQueue::Pie(Pie::new(*s, limit, random)),
            QueueKind::Xcp(s) => AnyQueue::Xcp(Xcp::new(*s, limit, link)),
        }
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
