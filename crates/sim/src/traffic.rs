//! When senders are on and off (Remy'13 §5.1): exponential off-periods, on-periods by time or by bytes.
//!
//! Each sender draws from its own stream, so that every candidate algorithm meets the same traffic.

use crate::network::{On, PACKET_BYTES, Workload};
use crate::random::{Purpose, Stream};
use crate::time::{NEVER, Time, from_s};

/// The switching process of one sender. Senders begin off.
#[derive(Clone, Debug)]
pub struct Traffic {
    stream: Stream,
    workload: Workload,
    /// When it switches next by itself (`NEVER` while a transfer by bytes is under way).
    pub next: Time,
}

impl Traffic {
    /// The process of sender number `sender`.
    #[must_use]
    pub fn new(workload: Workload, root_seed: u64, specimen: u64, sender: usize) -> Traffic {
        let stream = Stream::new(root_seed, specimen, sender as u64, Purpose::Workload);
        let mut traffic = Traffic { stream, workload, next: 0 };
        traffic.end_on_period(0);
        traffic
    }

    /// An on-period begins: returns how many packets it has (`u32::MAX`: it ends by time).
    pub fn begin_on_period(&mut self, now: Time) -> u32 {
        match self.workload.on {
            On::Seconds(mean) => {
                self.next = now + from_s(self.stream.exponential(mean));
                u32::MAX
            }
            On::Bytes(mean) => {
                self.next = NEVER;
                let packets = (self.stream.exponential(mean) / PACKET_BYTES).ceil();
                packets.clamp(1.0, f64::from(u32::MAX - 1)) as u32
            }
        }
    }

    /// An on-period ends.
    pub fn end_on_period(&mut self, now: Time) {
        self.next = now + from_s(self.stream.exponential(self.workload.off_s));
    }
}
