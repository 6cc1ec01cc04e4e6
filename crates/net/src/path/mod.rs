//! What lies between a sender and its ACKs: queues, links and delays.
//!
//! [`Dumbbell`] is the design simulator's one bottleneck, as fast as it can be; [`Topology`] is everything else: queue
//! disciplines, links that change, several hops.

mod bottleneck;
mod crowd;
mod delay_line;
mod dumbbell;
mod hop;
mod link;
mod rough;
mod topology;
mod transmitter;
mod weather;

pub use bottleneck::{Bottleneck, Passage};
pub use crowd::Crowd;
pub use delay_line::{DelayLine, Entry};
pub use dumbbell::Dumbbell;
pub use hop::{Hop, HopEvent, HopEventKind, HopTotals};
pub use link::Link;
pub use topology::{Topology, Wire};
pub use transmitter::{Pipe, Transmitter};

use crate::packet::Packet;
use crate::time::{Duration, Instant};

/// A path, or many that share queues, in motion.
///
/// Methods have a plain form, which a path may answer faster by leaving out what [`Path::is_plain`] rules out.
pub trait Path: Clone {
    /// Nothing happens here that the plain forms leave out.
    fn is_plain(&self) -> bool {
        false
    }
    /// When something happens next; [`crate::time::NEVER`] if nothing does.
    fn next<const PLAIN: bool>(&self) -> Instant;
    /// Lets what happens at [`Path::next`] happen: the packet whose ACK then reaches its sender, if it is that.
    fn step<const PLAIN: bool>(&mut self, now: Instant) -> Option<Packet>;
    /// Takes a packet in: when it leaves the bottleneck, if it is not dropped and that is known already.
    fn send<const PLAIN: bool>(&mut self, packet: Packet, now: Instant) -> Option<Instant>;
    /// The tick of the senders' clocks.
    fn clock<const PLAIN: bool>(&self) -> Duration;
    /// Packets dropped or lost so far.
    fn lost(&self) -> u64;
    /// Packets on their way.
    fn in_flight(&self) -> u64;
    /// Packets in the first bottleneck's queue and on its link.
    fn backlog(&self, now: Instant) -> u64;
}
