//! The window of TCP by the book: fractions of a packet, and a threshold where slow start ends.

use super::idle::decayed;

/// Most packets that one ACK adds in slow start: L of RFC 3465 §2.3.
const MOST_PER_ACK: u32 = 2;

/// cwnd and ssthresh, packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenoWindow {
    pub cwnd: f64,
    pub ssthresh: f64,
    /// Both before the last reduction, as long as that may be undone.
    kept: Option<(f64, f64)>,
}

impl RenoWindow {
    /// That of a connection that begins.
    pub fn new(initial_window: u32) -> RenoWindow {
        RenoWindow { cwnd: f64::from(initial_window.max(1)), ssthresh: f64::INFINITY, kept: None }
    }

    /// An ACK of so many packets, of which each counts (appropriate byte counting, RFC 3465): in slow start as many more, two at
    /// most; in congestion avoidance one more for each window of them.
    pub fn grow_by_packets(&mut self, acked: u32) {
        self.grow(acked.min(MOST_PER_ACK), acked);
    }

    /// An ACK, whatever it acknowledges (ns-2).
    pub fn grow_by_ack(&mut self) {
        self.grow(1, 1);
    }

    /// RFC 5681 §3.1, "Slow Start and Congestion Avoidance".
    fn grow(&mut self, burst: u32, counted: u32) {
        if self.cwnd < self.ssthresh {
            self.cwnd += f64::from(burst);
        } else {
            self.cwnd += f64::from(counted) / self.cwnd;
        }
    }

    /// To this half: two packets at least (RFC 5681 eq. 4). ns-2 keeps the fraction in cwnd, and the whole part is the
    /// threshold.
    pub fn halve(&mut self, half: f64) {
        self.cwnd = half.max(2.0);
        self.ssthresh = half.floor().max(2.0);
    }

    /// A part of the window that was lost has been repaired (RFC 6582 §3.2, step 5).
    pub fn deflate(&mut self, packets: u32) {
        self.cwnd = (self.cwnd - f64::from(packets)).max(1.0);
    }

    /// A reduction comes that may have to be undone.
    pub fn keep(&mut self) {
        self.kept = Some((self.cwnd, self.ssthresh));
    }

    /// There was nothing to reduce it for.
    pub fn restore(&mut self) {
        if let Some((cwnd, ssthresh)) = self.kept.take() {
            (self.cwnd, self.ssthresh) = (cwnd.max(self.cwnd), ssthresh.max(self.ssthresh));
        }
    }

    /// A pause of so many timeouts and part of one more.
    pub fn after_idle(&mut self, timeouts: u32, initial_window: u32) {
        (self.cwnd, self.ssthresh) = decayed(self.cwnd, self.ssthresh, timeouts, initial_window);
    }
}
