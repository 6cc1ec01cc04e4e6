//! When a flow begins: with the application's data, and not with the handshake.
//!
//! A stack has one controller for all of a path (RFC 9002 §6), so that it is told of Initial and Handshake packets, too, and of the few
//! small ones that follow them: new connection IDs, tickets, HANDSHAKE_DONE. They are an RTT apart, and their ACKs wait for
//! cryptography, or for the receiver's 25 ms (RFC 9000 §13.2.1). A table that takes these for ACKs of its flow has left the beginning that was
//! designed for it before there are data: it remembers that ACKs are far between, so that the link is slow.
//!
//! Controllers are not told what a packet holds, nor that the handshake is done (RFC 9001 §4.1.1). But they are told its size and its
//! number, of each ACK whether there was too little to send, and when each acknowledged packet was sent. So
//!
//! - a packet whose number is not larger than that of the one before it is in another packet number space (RFC 9000 §12.3: each begins with 0,
//!   and grows). All before was handshake, and the flow is still to begin. Handshake packets that are sent again between data do the
//!   same, once more than is needed. Nothing is lost by it as long as the peer waits for the handshake: it acknowledges no data then (RFC 9001 §5.7),
//!   and keys of handshakes are dropped soon after (§4.9.2);
//! - within a space the flow begins with the packet by which as much as one of full size is outstanding. No window is less than
//!   that, so nobody is held up by one, or sends more than one lets pass, before;
//! - it begins as well where neither happens, and the stack says that window or pace held the sender up (RFC 9002 §7.8), as for data in packets
//!   just below full size, one at a time.

use std::time::Instant;

/// Whether a flow has begun, and when, or what there is to tell it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// Packets that were sent before are none of the flow's.
    since: Instant,
    has_begun: bool,
    /// Bytes that are outstanding of those that count, before it begins.
    outstanding: u64,
    /// Number of the packet that was sent last.
    number: Option<u64>,
}

impl Beginning {
    /// Nothing was sent yet.
    pub(crate) fn awaited(now: Instant) -> Beginning {
        Beginning { since: now, has_begun: false, outstanding: 0, number: None }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// When packets were sent that count.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// The flow is still to begin, and what was sent until now is none of its.
    pub(crate) fn wait(&mut self, now: Instant) {
        (self.since, self.has_begun, self.outstanding) = (now, false, 0);
    }

    /// Whether a packet of this number, which is sent next, is in another space than the one before it.
    pub(crate) fn is_another_space(&self, number: u64) -> bool {
        self.number.is_some_and(|last| number <= last)
    }

    /// A packet is sent, or some at once. The first of a space may share its datagram with the end of the handshake (RFC 9000 §12.2), and
    /// stacks that tell of datagrams tell of both: it counts for nothing.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64, number: u64, full: u64) {
        if self.is_another_space(number) {
            self.wait(now);
        } else if !self.has_begun {
            self.outstanding += bytes;
            if self.outstanding >= full {
                (self.since, self.has_begun) = (now, true);
            }
        }
        self.number = Some(number);
    }

    /// An ACK arrives. `is_news`: it acknowledges packets that were sent since. What held them up may have been the handshake's, a server's limit
    /// for an address that is not validated (RFC 9000 §8.1), unless others were sent after the first of a space.
    pub(crate) fn on_ack(&mut self, received: Instant, outstanding: u64, app_limited: bool, is_news: bool) {
        if self.has_begun {
            return;
        }
        if app_limited {
            // Data come later than this.
            (self.since, self.outstanding) = (received, self.outstanding.min(outstanding));
        } else {
            self.has_begun = is_news && self.outstanding > 0;
        }
    }
}
