//! What a flow under a law takes for jitter, and not for a queue: of packets that keep their order all that were sent since arrive
//! with a late one, so that the RTT leaps, and then falls as fast as time goes on.

use super::law::{LAW_UNIT, Law};
use super::law_flow::{LONGEST_NS, share, times};

/// Leaps of the RTT are counted in 2^8 ns, so many of them in an RTT at most;
const LEAP_SHIFT: u32 = 8;
pub(crate) const LONGEST_LEAP: u64 = (1 << (40 - LEAP_SHIFT)) - 1;
const MOST_RISEN: u64 = (1 << 30) - 1;
/// how fast it forgets them: by half of the share of an RTT that one is;
const LEAP_WEIGHT: u64 = 2;
/// above the share of an RTT that is little they count for ever more, in full a quarter above it;
const STEEP_RANGE: u64 = 4;
/// the RTTs of late stay below the latest by so many leaps.
const LEAP_BELOW: u64 = (LAW_UNIT / 4 * 5) as u64;
/// There are so many packets in a leap at most,
const MOST_LEAP_PACKETS: u64 = (64 * LAW_UNIT) as u64;
/// and jitter makes a target longer by so many of the smallest RTT at most.
const MOST_LONGER: u64 = (4 * LAW_UNIT) as u64;

/// How a flow's RTT leaps. Heights of leaps are in 2^8 ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Jitter {
    /// The RTT before; 0 if there was none.
    last: u64,
    /// How high it leaps, and how high it did in all in this RTT.
    pub(crate) leap: u64,
    risen: u64,
}

impl Jitter {
    /// Notes an RTT: each leap counts for as much as it is long.
    pub(crate) fn see(&mut self, rtt_ns: u64, srtt_ns: u64) {
        let now = (rtt_ns >> LEAP_SHIFT).clamp(1, LONGEST_LEAP);
        let rise = if self.last > 0 { now.saturating_sub(self.last) } else { 0 };
        if rise > 0 {
            let weight = share(rise, srtt_ns >> LEAP_SHIFT) / LEAP_WEIGHT;
            if rise > self.leap {
                self.leap += times(rise - self.leap, weight);
            } else {
                self.leap -= times(self.leap - rise, weight);
            }
            self.risen = (self.risen + rise).min(MOST_RISEN);
        }
        self.last = now;
    }

    /// An RTT has ended that took `elapsed_ns`. Packets are `gap_ns` apart, and their RTTs `queue_ns` longer than the smallest.
    /// What the target is longer by for leaps, as a share of the smallest RTT, in 2^-16.
    pub(crate) fn next_round(
        &mut self,
        law: &Law,
        elapsed_ns: u64,
        gap_ns: u64,
        queue_ns: u64,
        min_rtt_ns: u64,
    ) -> u64 {
        let risen = core::mem::take(&mut self.risen) << LEAP_SHIFT;
        let steep = share(risen.min(elapsed_ns), elapsed_ns).saturating_sub(law.jitter_steep.into());
        let leap = self.leap << LEAP_SHIFT;
        let packets = ((leap << 16) / gap_ns.max(1)).min(MOST_LEAP_PACKETS);
        let expected = times(leap, packets.saturating_sub(LEAP_BELOW)).min(LONGEST_NS);
        if queue_ns < times(expected, law.jitter_queue.into()) {
            return 0;
        }
        let of_packets = times(times(leap, packets).min(LONGEST_NS), law.jitter_packets.into());
        let longer = times(leap, law.jitter_most.into()).min(of_packets);
        let longer = times(longer, (STEEP_RANGE * steep).min(LAW_UNIT.into())).min(LONGEST_NS);
        ((longer << 16) / min_rtt_ns).min(MOST_LONGER)
    }
}
