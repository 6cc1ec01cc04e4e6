//! FQ-CoDel (RFC 8290): deficit round robin over flows, each under CoDel; flows that come anew are served first.

use std::collections::VecDeque;

use super::flows::Bins;
use super::{CoDelSettings, Limit, Queue};
use crate::packet::Packet;
use crate::random::Stream;
use crate::time::Instant;

/// The settings of FQ-CoDel (RFC 8290 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelSettings {
    /// Number of queues.
    pub queues: u32,
    /// Bytes that a flow may send in a round.
    pub quantum: u32,
    /// Most packets that are dropped at once when there is no room (§4.1).
    pub drop_batch: u32,
    /// CoDel in each queue.
    pub codel: CoDelSettings,
}

impl FqCoDelSettings {
    /// The room that RFC 8290 §5.2.3 sets: 10240 packets.
    pub const LIMIT: Limit = Limit::Packets(10_240);
}

impl Default for FqCoDelSettings {
    fn default() -> Self {
        FqCoDelSettings { queues: 1024, quantum: 1514, drop_batch: 64, codel: CoDelSettings::default() }
    }
}

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    settings: FqCoDelSettings,
    limit: Limit,
    bins: Bins,
    /// Flows that have not used up their first quantum.
    new: VecDeque<u16>,
    /// The other flows that have packets or had some lately.
    old: VecDeque<u16>,
}

impl FqCoDel {
    /// An empty queue with this room; the stream salts the hash.
    #[must_use]
    pub fn new(settings: FqCoDelSettings, limit: Limit, mut random: Stream) -> FqCoDel {
        // A quantum of 0 would never let a flow send.
        let settings = FqCoDelSettings { quantum: settings.quantum.max(1), ..settings };
        let bins = Bins::new(settings.queues, &mut random);
        FqCoDel { settings, limit, bins, new: VecDeque::new(), old: VecDeque::new() }
    }

    /// Makes room: drops from the head of the fattest flow until half of it or a batch has gone (§4.1). In batches
    /// because finding that flow is slow.
    fn make_room(&mut self, dropped: &mut Vec<Packet>) {
        let Some(fattest) = self.bins.longest(self.new.iter().chain(&self.old)) else { return };
        let half = self.bins.get(fattest).bytes / 2;
        for _ in 0..self.settings.drop_batch.max(1) {
            self.bins.drop_head(fattest, dropped);
            if self.bins.get(fattest).bytes <= half {
                break;
            }
        }
    }
}

impl Queue for FqCoDel {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        let id = self.bins.of(packet.sender);
        self.bins.push(id, packet);
        let bin = self.bins.get(id);
        if !bin.listed {
            bin.listed = true;
            bin.credit = i64::from(self.settings.quantum);
            self.new.push_back(id);
        }
        while self.limit.exceeded(self.bins.backlog) {
            self.make_room(dropped);
        }
    }

    /// The scheduler of §4.2.
    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Packet>) -> Option<Packet> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let id = *list.front()?;
            let bin = self.bins.get(id);
            if bin.credit <= 0 {
                bin.credit += i64::from(self.settings.quantum);
                list.pop_front();
                self.old.push_back(id);
                continue;
            }
            if let Some(packet) = self.bins.pop(id, &self.settings.codel, now, dropped) {
                self.bins.get(id).credit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if from_new {
                // Not forgotten at once: a flow that sends a packet whenever it was served would always be new, and
                // starve the old ones.
                self.old.push_back(id);
            } else {
                self.bins.get(id).listed = false;
            }
        }
    }

    fn packets(&self) -> usize {
        self.bins.backlog.packets
    }

    fn bytes(&self) -> u64 {
        self.bins.backlog.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::{packet, stream};

    fn fq(limit: Limit) -> FqCoDel {
        FqCoDel::new(FqCoDelSettings::default(), limit, stream())
    }

    fn next(queue: &mut FqCoDel) -> u16 {
        queue.dequeue(Instant::START, &mut vec![]).map_or(99, |p| p.sender)
    }

    #[test]
    fn a_sparse_flow_is_served_first() {
        // RFC 8290 §4.2: new flows before old ones.
        let mut queue = fq(Limit::Infinite);
        for seq in 0..20 {
            (0..2).for_each(|sender| queue.enqueue(packet(sender, seq), Instant::START, &mut vec![]));
        }
        (0..8).for_each(|_| _ = next(&mut queue));
        queue.enqueue(packet(7, 0), Instant::START, &mut vec![]);
        assert_eq!(next(&mut queue), 7);
    }

    #[test]
    fn flows_that_return_at_once_are_not_new_again() {
        // §4.2: an emptied new flow goes to the end of the old ones first. Else three flows that send a packet each,
        // whenever their last has gone, would be new for ever and starve the fourth.
        let mut queue = fq(Limit::Infinite);
        (0..40).for_each(|seq| queue.enqueue(packet(0, seq), Instant::START, &mut vec![]));
        (0..4).for_each(|_| _ = next(&mut queue));
        let mut served = [0; 4];
        for seq in 0..60 {
            queue.enqueue(packet(1 + (seq % 3) as u16, seq), Instant::START, &mut vec![]);
            served[usize::from(next(&mut queue).min(3))] += 1;
        }
        assert!(served[0] >= 12, "{served:?}");
    }

    #[test]
    fn shares_are_equal_in_bytes() {
        // Deficit round robin: a flow of small packets gets as many bytes as one of large packets.
        let (mut queue, mut dropped) = (fq(Limit::Infinite), vec![]);
        for seq in 0..4000 {
            queue.enqueue(Packet { bytes: 1500, ..packet(0, seq) }, Instant::START, &mut dropped);
            queue.enqueue(Packet { bytes: 300, ..packet(1, seq) }, Instant::START, &mut dropped);
        }
        let mut bytes = [0u64; 2];
        for _ in 0..1800 {
            let sent = queue.dequeue(Instant::START, &mut dropped).expect("packets wait");
            bytes[usize::from(sent.sender)] += u64::from(sent.bytes);
        }
        let ratio = bytes[0] as f64 / bytes[1] as f64;
        assert!((ratio - 1.0).abs() < 0.02 && dropped.is_empty(), "{bytes:?}");
    }

    #[test]
    fn the_fattest_flow_loses_half_of_it_or_a_batch_from_its_head() {
        // §4.1.
        let (mut queue, mut dropped) = (fq(Limit::Packets(20)), vec![]);
        (0..20).for_each(|seq| queue.enqueue(packet(0, seq), Instant::START, &mut dropped));
        queue.enqueue(packet(1, 0), Instant::START, &mut dropped);
        assert_eq!(
            dropped.iter().map(|p| (p.sender, p.seq)).collect::<Vec<_>>(),
            (0..10).map(|s| (0, s)).collect::<Vec<_>>()
        );
        let (mut queue, mut dropped) = (fq(Limit::Packets(1000)), vec![]);
        (0..1001).for_each(|seq| queue.enqueue(packet(0, seq), Instant::START, &mut dropped));
        assert_eq!((dropped.len(), queue.packets()), (64, 937));
    }

    #[test]
    fn codel_marks_capable_flows_and_drops_from_others() {
        let settings = CoDelSettings { ecn: true, ..CoDelSettings::default() };
        let mut queue =
            FqCoDel::new(FqCoDelSettings { codel: settings, ..FqCoDelSettings::default() }, Limit::Infinite, stream());
        let (mut dropped, mut marked) = (vec![], 0);
        for ms in 0..2000 {
            queue.enqueue(packet(0, 0), Instant::from_millis(ms), &mut dropped);
            queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(1, 0) }, Instant::from_millis(ms), &mut dropped);
            let sent = queue.dequeue(Instant::from_millis(ms), &mut dropped);
            marked += u32::from(sent.is_some_and(|p| p.sender == 1 && p.ecn == Ecn::Marked));
        }
        assert!(marked > 10 && dropped.len() > 10 && dropped.iter().all(|p| p.sender == 0));
    }
}
