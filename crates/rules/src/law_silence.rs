//! What a flow under a law takes for batches and jitter, and not for a queue: while packets are outstanding no ACK comes, and then
//! many at once. So do links that send now and then all that has come (aggregates of Wi-Fi, grants of cable), and so does a late
//! packet on a path that keeps packets in order. Who waits there stands in no queue.

use super::law::{LAW_UNIT, Law};
use super::law_flow::{LONGEST_NS, times};

/// Silences are in 2^10 ns; of times 28 bits of these are kept, four minutes, and a silence counts up to a quarter of a second.
const SILENCE_SHIFT: u32 = 10;
const SILENCE_TIMES: u64 = (1 << 28) - 1;
const LONGEST_SILENCE: u64 = (1 << 18) - 1;
/// So many packets may stand in one though nothing is amiss: a receiver may acknowledge every second, and others send, too;
const EVEN: u64 = 3 << 16;
/// more than so many say no more,
const MOST_PACKETS: u64 = 64 << 16;
/// and silences make a target longer by so many of the smallest RTT at most.
const MOST_LONGER: u64 = (4 * LAW_UNIT) as u64;

/// A target that is longer by this share of the smallest RTT, in 2^-16, is as silent as it gets, which is so many parts.
pub(crate) const SILENT_RTT: u64 = (LAW_UNIT / 16) as u64;
pub(crate) const ALL_SILENT: u64 = 1 << 8;

/// How long no ACK came, in 2^10 ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Silence {
    /// When the latest did.
    from: u64,
    /// The longest silence of this RTT, and of the one before.
    longest: u64,
    before: u64,
}

impl Silence {
    /// Notes an ACK, of a packet that took so long: before it was sent nothing may have been outstanding.
    pub(crate) fn see(&mut self, now_ns: u64, rtt_ns: u64) {
        let now = (now_ns >> SILENCE_SHIFT) & SILENCE_TIMES;
        let silence = now.wrapping_sub(self.from) & SILENCE_TIMES;
        self.longest = self.longest.max(silence.min(rtt_ns >> SILENCE_SHIFT).min(LONGEST_SILENCE));
        self.from = now;
    }

    /// An RTT has ended, of packets that are `gap_ns` apart. What the target is longer by for what was silent in both, this one and
    /// the one before: a share of the smallest RTT, in 2^-16.
    pub(crate) fn next_round(&mut self, law: &Law, gap_ns: u64, min_rtt_ns: u64) -> u64 {
        let silence = self.longest.min(self.before) << SILENCE_SHIFT;
        (self.before, self.longest) = (self.longest, 0);
        let packets = ((silence << 16) / gap_ns.max(1)).saturating_sub(EVEN).min(MOST_PACKETS);
        let of_packets = times(times(silence, packets), law.silence_packets.into());
        let longer = times(silence, law.silence_most.into()).min(of_packets).min(LONGEST_NS);
        ((longer << 16) / min_rtt_ns).min(MOST_LONGER)
    }
}
