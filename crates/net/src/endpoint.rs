//! What the engine asks of the two ends of a connection, sender and receiver in one.
//!
//! ACKs are never lost or queued and take a constant time back, so the receiver's part may be done when its ACK reaches
//! the sender: `receive` is told of a packet at that moment. There are two kinds: the sender of the design simulator
//! (`sender.rs`), and the transport of real stacks (`transport/`).

use crate::packet::Packet;
use crate::rounds::Course;
use crate::time::{Duration, Instant};

/// What a sender delivered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets delivered, each counted once.
    pub delivered: u64,
    /// Sum of their RTTs, ns.
    pub delay: Duration,
    /// Those of them that were delivered while the sender was off.
    pub late: u64,
    /// Sum of the RTTs of the late ones, ns.
    pub late_delay: Duration,
    /// ACKs that came back once there was an RTT sample.
    pub acks: u64,
    /// Sum over them of the sender's latest RTT sample, ns: how the papers' ns-2 scripts measured delay. While something is
    /// missing, samples by time stamps echo the packet before the gap (RFC 7323 §4.3), and are longer than any packet
    /// was on its way.
    pub sampled: Duration,
    /// Polls that saw another RTT sample or cumulative ACK than the one before (Remy'13's scripts).
    pub polls: u64,
    /// Sum over them of the sender's latest RTT sample, ns.
    pub polled: Duration,
    /// Packets delivered to the application: those that arrived, and all before them. What Tao'14's ns-2 scripts counted.
    pub in_order: u64,
    /// Packets sent, those sent again included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Times that the retransmission timer expired with packets outstanding.
    pub timeouts: u64,
    /// Times that the window was lowered for a loss or a mark.
    pub reductions: u64,
    /// Times that it was restored, since what was taken for lost was late.
    pub undone: u64,
    /// Packets that arrived with an ECN mark.
    pub marked: u64,
}

impl Totals {
    /// Counts a packet that is delivered for the first time.
    pub fn deliver(&mut self, rtt: Duration, is_on: bool) {
        self.delivered += 1;
        self.delay += rtt;
        if !is_on {
            self.late += 1;
            self.late_delay += rtt;
        }
    }

    /// Counts a packet that arrived, for the first time or not, and so many that are in order by it. A SYN holds no data; one of
    /// a connection long gone, which nobody puts in order any more, is in order for none.
    pub fn arrive(&mut self, rtt: Duration, is_on: bool, is_new: bool, is_syn: bool, in_order: u32) {
        self.in_order += u64::from(in_order.saturating_sub(u32::from(is_new && is_syn)));
        if is_new && !is_syn {
            self.deliver(rtt, is_on);
        }
    }
}

/// All of [`Endpoint`] but `receive`, for an enum whose variants are endpoints: the same of whichever it is.
#[macro_export]
macro_rules! whichever {
    ($any:ident { $($variant:ident),* }) => {
        fn start(&mut self, now: Instant, packets: u32) {
            match self { $($any::$variant(ends) => ends.start(now, packets),)* }
        }

        fn stop(&mut self, now: Instant) {
            match self { $($any::$variant(ends) => ends.stop(now),)* }
        }

        #[inline]
        fn is_on(&self) -> bool {
            match self { $($any::$variant(ends) => ends.is_on(),)* }
        }

        #[inline]
        fn finished(&self) -> bool {
            match self { $($any::$variant(ends) => ends.finished(),)* }
        }

        #[inline]
        fn ready(&self) -> Instant {
            match self { $($any::$variant(ends) => ends.ready(),)* }
        }

        #[inline]
        fn planned(&self) -> Instant {
            match self { $($any::$variant(ends) => ends.planned(),)* }
        }

        #[inline]
        fn plan(&mut self, at: Instant) {
            match self { $($any::$variant(ends) => ends.plan(at),)* }
        }

        #[inline]
        fn act(&mut self, now: Instant) -> (Option<Packet>, Instant, u32) {
            match self { $($any::$variant(ends) => ends.act(now),)* }
        }

        fn totals(&self) -> Totals {
            match self { $($any::$variant(ends) => ends.totals(),)* }
        }
    };
}
pub use whichever;

/// Both ends of one sender's connections.
pub trait Endpoint: Clone {
    /// An on-period of `packets` begins (`u32::MAX`: until it is stopped).
    fn start(&mut self, now: Instant, packets: u32);
    /// The on-period ends.
    fn stop(&mut self, now: Instant);
    /// Whether an on-period is under way.
    fn is_on(&self) -> bool;
    /// A packet reached the receiver, and what it answers the sender.
    fn receive(&mut self, packet: &Packet, now: Instant, clock: Duration);
    /// Whether all of the on-period's packets were acknowledged.
    fn finished(&self) -> bool;
    /// When it wants to act next, if no packet arrives before: possibly in the past; [`crate::time::NEVER`] if not at
    /// all.
    fn ready(&self) -> Instant;
    /// When the schedule has it act next.
    fn planned(&self) -> Instant;
    /// Says when the schedule has it act next.
    fn plan(&mut self, at: Instant);
    /// Its time has come: a packet to send, if it has one; when it wants to act next (which it has planned); and how
    /// many packets it sent at this instant.
    fn act(&mut self, now: Instant) -> (Option<Packet>, Instant, u32);
    /// Goes through what is ordinary of a round, faster than by `receive`, `ready` and `act`, and to the same end: ACKs, and
    /// packets that are sent. Stops before what is not, or at once.
    #[inline(always)]
    fn cruise(&mut self, _course: &mut Course<'_>) {}
    /// What it delivered so far.
    fn totals(&self) -> Totals;
}
