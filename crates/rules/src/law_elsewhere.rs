//! What is asked of flows under laws, and done to them, besides ACKs: by transports that had nothing to send, and by
//! simulators that disturb them.

use crate::law::LAW_UNIT;
use crate::law_flow::{LEAST_DELIVERED, LEAST_WINDOW, LONGEST_NS, LawFlow, MOST_WINDOW};

impl LawFlow {
    /// Whether it had its first ACK.
    #[inline(always)]
    pub(crate) fn has_begun(&self) -> bool {
        self.min_rtt_ns != u64::MAX
    }

    /// Sets the window, in packets.
    pub fn set_window(&mut self, packets: u32) {
        let before = core::mem::replace(&mut self.window, (u64::from(packets) << 16).clamp(LEAST_WINDOW, MOST_WINDOW));
        // A queue did not make it smaller: that it was larger when one came says nothing of others.
        if !self.shares {
            self.top = (self.top * (self.window >> 16) / (before >> 16)).min(MOST_WINDOW);
        }
    }

    /// Takes back what the window grew by since it was that of `before`.
    pub fn keep_window(&mut self, before: &LawFlow) {
        self.window = self.window.min(before.window);
    }

    /// Sets it elsewhere: window and averages are multiplied by these factors.
    pub fn upset(&mut self, window: f64, averages: f64) {
        let set = |value: u64, factor: f64, lo: u64, hi: u64| ((value as f64 * factor) as u64).clamp(lo, hi);
        self.window = set(self.window, window, LEAST_WINDOW, MOST_WINDOW);
        self.delivered = set(self.delivered, averages, LEAST_DELIVERED, MOST_WINDOW);
        self.spread_ns = set(self.spread_ns, averages, 0, LONGEST_NS);
        if self.has_begun() {
            self.set_pace(LAW_UNIT);
        }
    }
}
