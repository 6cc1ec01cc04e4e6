//! Which of a fixed number of bins a sender's packets go to, and which bins are longest: what the fair queues share.

use std::collections::VecDeque;

use super::{Backlog, CoDelState};
use crate::packet::Packet;
use crate::random::Stream;

/// One bin of a fair queue: packets of the senders that hash to it, and their CoDel.
#[derive(Clone, Debug, Default)]
pub struct Bin {
    /// Packets that wait.
    pub waiting: VecDeque<Packet>,
    /// Bytes that may still be sent in this round.
    pub credit: i64,
    /// CoDel's state.
    pub codel: CoDelState,
    /// Bytes that wait.
    pub bytes: u64,
    /// In one of the scheduler's lists.
    pub listed: bool,
    /// Not yet served since it was listed.
    pub fresh: bool,
}

/// The bins of a fair queue.
#[derive(Clone, Debug)]
pub struct Bins {
    bins: Vec<Bin>,
    salt: u64,
    /// How much waits in all bins.
    pub backlog: Backlog,
}

impl Bins {
    /// This many empty bins (at least one, at most 65536), under a hash with a salt from the stream.
    #[must_use]
    pub fn new(bins: u32, random: &mut Stream) -> Bins {
        let bins = vec![Bin::default(); bins.clamp(1, 65_536) as usize];
        Bins { bins, salt: random.next_u64(), backlog: Backlog::default() }
    }

    /// The bin of a sender. Two senders may share one: that is the "stochastic" of stochastic fair queueing.
    #[inline]
    #[must_use]
    pub fn of(&self, sender: u16) -> u16 {
        // Multiply-shift (Dietzfelbinger et al. 1997) with an odd multiplier from the salt, folded and scaled to the bins.
        let mixed = (u64::from(sender) + 1).wrapping_mul(self.salt | 1);
        let folded = (mixed ^ (mixed >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((u128::from(folded) * self.bins.len() as u128) >> 64) as u16
    }

    /// Puts a packet at the end of its bin.
    #[inline]
    pub fn push(&mut self, bin: u16, packet: Packet) {
        self.backlog.add(&packet);
        let bin = &mut self.bins[usize::from(bin)];
        bin.bytes += u64::from(packet.bytes);
        bin.waiting.push_back(packet);
    }

    /// Drops the packet at the head of a bin.
    pub fn drop_head(&mut self, bin: u16, dropped: &mut Vec<Packet>) {
        let bin = &mut self.bins[usize::from(bin)];
        if let Some(packet) = bin.waiting.pop_front() {
            self.backlog.remove(&packet);
            bin.bytes -= u64::from(packet.bytes);
            dropped.push(packet);
        }
    }

    /// Takes a bin's next packet by CoDel, judging by the backlog of the whole queue as the codes of Nichols and of
    /// Linux do: a packet that is alone in its bin but waited behind others may be dropped.
    #[inline]
    pub fn pop(
        &mut self,
        bin: u16,
        settings: &super::CoDelSettings,
        now: crate::time::Instant,
        dropped: &mut Vec<Packet>,
    ) -> Option<Packet> {
        let Bin { waiting, codel, bytes, .. } = &mut self.bins[usize::from(bin)];
        if waiting.is_empty() {
            codel.rest();
            return None;
        }
        let before = self.backlog.bytes;
        let packet = codel.dequeue(settings, now, waiting, &mut self.backlog, dropped);
        *bytes -= before - self.backlog.bytes;
        packet
    }

    /// A bin.
    #[inline]
    pub fn get(&mut self, bin: u16) -> &mut Bin {
        &mut self.bins[usize::from(bin)]
    }

    /// The bin with the most bytes among these, the first of equals.
    #[must_use]
    pub fn longest<'a>(&self, listed: impl Iterator<Item = &'a u16>) -> Option<u16> {
        let bytes = |bin: u16| self.bins[usize::from(bin)].bytes;
        listed.copied().reduce(|best, bin| if bytes(bin) > bytes(best) { bin } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn senders_spread_over_the_bins_as_by_chance() {
        // Of 1000 senders in 1024 bins about 1024 (1 - exp(-1000/1024)) = 638 bins are used.
        for seed in 0..20 {
            let bins = Bins::new(1024, &mut Stream::new(seed, 0, 0, Purpose::Queue));
            let mut used = vec![false; 1024];
            (0..1000).for_each(|sender| used[usize::from(bins.of(sender))] = true);
            let used = used.iter().filter(|&&u| u).count();
            assert!((560..=720).contains(&used), "seed {seed}: {used}");
        }
    }

    #[test]
    fn two_senders_share_a_bin_about_once_in_1024_salts() {
        let shared = (0..50_000)
            .filter(|&seed| {
                let bins = Bins::new(1024, &mut Stream::new(seed, 0, 0, Purpose::Queue));
                bins.of(0) == bins.of(1)
            })
            .count();
        assert!((25..=80).contains(&shared), "{shared}");
    }
}
