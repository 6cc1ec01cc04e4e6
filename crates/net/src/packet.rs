//! A packet on its way: what queues and routers may read and mark, and what the receiver echoes.

use crate::time::Instant;

/// Packets that a sender can number in one run: half of what a `u32` holds, so that sums of numbers and windows fit.
pub const NUMBERS: u32 = 1 << 31;

/// Holds that a sender's next packet has a number; asked at the end of on-periods, which end when there is none.
///
/// # Panics
/// If there is none. Durations are checked against rates before a run (`scenario/`), so that no link carries so many.
pub fn check_numbers(next_seq: u32) {
    assert!(next_seq < NUMBERS, "a sender sent {NUMBERS} packets in one run, as many as have numbers: make it shorter");
}

/// The two ECN bits (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The sender does not understand marks: a queue that would mark it drops it.
    #[default]
    NotCapable,
    /// May be marked.
    Capable,
    /// Congestion was experienced.
    Marked,
}

/// The congestion header of XCP (Katabi et al. 2002 §3.1), in bytes and seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct XcpHeader {
    /// The sender's window, bytes.
    pub window_bytes: f64,
    /// The sender's smoothed RTT, s; 0 while it knows none.
    pub rtt_s: f64,
    /// What the sender asks for, and what routers left of it: change of the window, bytes.
    pub feedback_bytes: f64,
}

/// A data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// When it was sent, which the ACK echoes.
    pub sent: Instant,
    /// When it entered the queue that it is in.
    pub enqueued: Instant,
    /// Its number in the sender's stream.
    pub seq: u32,
    /// Whose it is.
    pub sender: u16,
    /// Its size on the wire.
    pub bytes: u16,
    /// The next hop of its route.
    pub hop: u8,
    /// May it be marked, was it?
    pub ecn: Ecn,
    /// It was dropped or lost, and is the gap where it would have been: on the paths of senders that are told of losses.
    pub lost: bool,
    /// Read and written by XCP's routers only.
    pub xcp: XcpHeader,
}
