//! sfqCoDel: stochastic fair queueing with CoDel in each bin, after Nichols's ns-2 code of 2012 (sfqcodel.cc), which
//! Remy'13 and Tao'14 ran Cubic over.
//!
//! Senders hash to bins and the bins that hold packets are served in turn, one packet each. Unlike FQ-CoDel there are
//! no credits in bytes; a bin that was empty joins the schedule before those already served. One thing differs unless
//! set so: when the queue is full the longest bin gives way, not the arrival (the code of 2013 did as much).

use std::collections::VecDeque;

use super::flows::Bins;
use super::{CoDelLaw, CoDelSettings, Limit, Queue};
use crate::packet::Packet;
use crate::random::Stream;
use crate::time::Instant;

/// What gives way when an arrival finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The arrival, as in the code of 2012.
    Arrival,
    /// The head of the bin with the most bytes, which protects light senders from heavy ones.
    LongestHead,
}

/// The settings of sfqCoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqCoDelSettings {
    /// Number of bins.
    pub bins: u32,
    /// CoDel in each bin.
    pub codel: CoDelSettings,
    /// A bin that was empty joins the schedule behind other such bins and before all that have been served since they
    /// joined; otherwise behind all.
    pub new_first: bool,
    /// What gives way when the queue is full.
    pub overflow: Overflow,
}

impl Default for SfqCoDelSettings {
    fn default() -> Self {
        SfqCoDelSettings {
            bins: 1024,
            codel: CoDelSettings { law: CoDelLaw::Nichols2012, ..CoDelSettings::default() },
            new_first: true,
            overflow: Overflow::LongestHead,
        }
    }
}

/// An sfqCoDel queue.
#[derive(Clone, Debug)]
pub struct SfqCoDel {
    settings: SfqCoDelSettings,
    limit: Limit,
    bins: Bins,
    /// The bins in turn. A bin that was emptied stays until its turn comes.
    schedule: VecDeque<u16>,
}

impl SfqCoDel {
    /// An empty queue with this room; the stream salts the hash.
    #[must_use]
    pub fn new(settings: SfqCoDelSettings, limit: Limit, mut random: Stream) -> SfqCoDel {
        let bins = Bins::new(settings.bins, &mut random);
        SfqCoDel { settings, limit, bins, schedule: VecDeque::new() }
    }

    /// Puts a bin on the schedule.
    fn list(&mut self, bin: u16) {
        let last = self.schedule.len().saturating_sub(1);
        let bins = &mut self.bins;
        let fresh = self.schedule.iter().take_while(|&&b| bins.get(b).fresh).count();
        // The code of 2012 never looks past the last bin, so with one bin on the schedule a new one is second.
        if self.settings.new_first && fresh < last {
            self.schedule.insert(fresh, bin);
        } else {
            self.schedule.push_back(bin);
        }
        let bin = self.bins.get(bin);
        (bin.listed, bin.fresh) = (true, true);
    }

    /// Takes the bin whose turn it is off the schedule.
    fn unlist_first(&mut self) {
        if let Some(bin) = self.schedule.pop_front() {
            self.bins.get(bin).listed = false;
        }
    }
}

impl Queue for SfqCoDel {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        if self.settings.overflow == Overflow::Arrival && !self.limit.fits(self.bins.backlog, packet.bytes) {
            dropped.push(packet);
            return;
        }
        let bin = self.bins.of(packet.sender);
        self.bins.push(bin, packet);
        if !self.bins.get(bin).listed {
            self.list(bin);
        }
        while self.limit.exceeded(self.bins.backlog) {
            let Some(longest) = self.bins.longest(self.schedule.iter()) else { break };
            self.bins.drop_head(longest, dropped);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Packet>) -> Option<Packet> {
        while let Some(&bin) = self.schedule.front() {
            let packet = self.bins.pop(bin, &self.settings.codel, now, dropped);
            if packet.is_some() {
                self.bins.get(bin).fresh = false;
                self.schedule.rotate_left(1);
                return packet;
            }
            // Empty, or emptied by drops: new again on its next arrival.
            self.unlist_first();
        }
        None
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
    use crate::queue::testing::{packet, stream};

    fn sfq(settings: SfqCoDelSettings, limit: Limit) -> SfqCoDel {
        SfqCoDel::new(settings, limit, stream())
    }

    /// Senders of these packets per ms before a link of one packet per ms; what each got, and lost.
    fn share(queue: &mut SfqCoDel, rates: &[f64], ms: u64) -> (Vec<u32>, Vec<u32>) {
        let (mut got, mut lost) = (vec![0; rates.len()], vec![0; rates.len()]);
        let (mut owed, mut dropped) = (vec![0.0; rates.len()], vec![]);
        for now in 0..ms {
            for (sender, rate) in rates.iter().enumerate() {
                owed[sender] += rate;
                while owed[sender] >= 1.0 {
                    owed[sender] -= 1.0;
                    queue.enqueue(packet(sender as u16, 0), Instant::from_millis(now), &mut dropped);
                }
            }
            let sent = queue.dequeue(Instant::from_millis(now), &mut dropped);
            sent.iter().for_each(|p| got[usize::from(p.sender)] += 1);
            dropped.drain(..).for_each(|p| lost[usize::from(p.sender)] += 1);
        }
        (got, lost)
    }

    #[test]
    fn unequal_loads_get_equal_service() {
        let (got, _) = share(&mut sfq(SfqCoDelSettings::default(), Limit::Infinite), &[2.0, 0.8], 10_000);
        assert!((f64::from(got[0]) / f64::from(got[1]) - 1.0).abs() < 0.02, "{got:?}");
    }

    #[test]
    fn a_sender_below_its_share_loses_nothing() {
        for overflow in [Overflow::LongestHead, Overflow::Arrival] {
            let settings = SfqCoDelSettings { overflow, ..SfqCoDelSettings::default() };
            let (got, lost) = share(&mut sfq(settings, Limit::Packets(10_000)), &[2.0, 0.2], 4_000);
            assert!(got[1] >= 795 && lost[1] == 0 && lost[0] > 0, "{got:?} {lost:?}");
        }
    }

    #[test]
    fn the_longest_bin_loses_its_head_when_the_queue_is_full() {
        let (mut queue, mut dropped) = (sfq(SfqCoDelSettings::default(), Limit::Packets(5)), vec![]);
        for seq in 0..5 {
            queue.enqueue(packet(0, seq), Instant::START, &mut dropped);
        }
        queue.enqueue(packet(1, 0), Instant::START, &mut dropped);
        assert_eq!(dropped.iter().map(|p| (p.sender, p.seq)).collect::<Vec<_>>(), [(0, 0)]);
        let settings = SfqCoDelSettings { overflow: Overflow::Arrival, ..SfqCoDelSettings::default() };
        let (mut queue, mut dropped) = (sfq(settings, Limit::Packets(5)), vec![]);
        (0..6).for_each(|seq| queue.enqueue(packet(0, seq), Instant::START, &mut dropped));
        assert_eq!(dropped.iter().map(|p| p.seq).collect::<Vec<_>>(), [5]);
    }

    /// The senders in the order in which their packets leave.
    fn order(queue: &mut SfqCoDel, packets: usize) -> Vec<u16> {
        (0..packets).filter_map(|_| queue.dequeue(Instant::START, &mut vec![])).map(|p| p.sender).collect()
    }

    #[test]
    fn bins_are_served_in_turn_and_new_ones_before_those_served() {
        for (new_first, expected) in [(true, [2, 0, 1, 2]), (false, [0, 1, 2, 0])] {
            let mut queue = sfq(SfqCoDelSettings { new_first, ..SfqCoDelSettings::default() }, Limit::Infinite);
            for seq in 0..4 {
                (0..2).for_each(|sender| queue.enqueue(packet(sender, seq), Instant::START, &mut vec![]));
            }
            assert_eq!(order(&mut queue, 4), [0, 1, 0, 1]);
            (0..2).for_each(|seq| queue.enqueue(packet(2, seq), Instant::START, &mut vec![]));
            assert_eq!(order(&mut queue, 4), expected);
        }
    }

    #[test]
    fn each_bin_has_a_codel_of_its_own() {
        // The heavy sender is dropped from at a growing rate while the light one's CoDel rests.
        let mut queue = sfq(SfqCoDelSettings::default(), Limit::Infinite);
        let (_, lost) = share(&mut queue, &[1.5, 0.1], 2_000);
        assert!(lost[0] > 30 && lost[1] == 0, "{lost:?}");
    }
}
