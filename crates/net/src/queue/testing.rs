//! What the tests of all queues share.

use crate::packet::Packet;
use crate::random::{Purpose, Stream};

/// A packet of the usual size.
pub fn packet(sender: u16, seq: u32) -> Packet {
    Packet { sender, seq, bytes: 1250, ..Packet::default() }
}

/// A stream for a queue.
pub fn stream() -> Stream {
    Stream::new(1, 2, 3, Purpose::Queue)
}
