//! The state of one flow under a law: what is done by the length of the queue on its own path.
//!
//! Divisions are of what is not negative, and signed numbers are shifted, as where there are no others. No sum can overflow.

use super::law::{LAW, LEVELS, MAX_WINDOW};
use super::Ack;

/// What is 1 in shares, windows and multiples: they are in 2^-16.
const UNIT: u64 = 1 << 16;
/// The levels of the queue, and the logarithms to base 2 of how far the next one is.
const LEVEL_AT: [u64; LEVELS] = [0, 1 << 15, 1 << 16, 1 << 17, 1 << 18];
const LEVEL_WIDTH: [u32; LEVELS - 1] = [15, 15, 16, 17];
/// The smallest window: of one packet the ACK may wait at the receiver for another.
const LEAST_WINDOW: u64 = 2 * UNIT;
/// The least that an RTT delivers: a packet in sixteen RTTs.
const LEAST_DELIVERED: u64 = UNIT / 16;
const MOST_WINDOW: u64 = (MAX_WINDOW as u64) << 16;
/// A window may be that of what was delivered times a multiple, and so many packets more: few say little.
const MORE_PACKETS: u64 = 10 * UNIT;
/// While a flow begins its window is at most so many times what was delivered.
const FIRST_MOST: u64 = 4;
/// RTTs that are longer count as 18 minutes, and pauses as ten seconds.
const LONGEST_NS: u64 = 1 << 40;
const LONGEST_PAUSE_NS: u64 = 10_000_000_000;

/// The state of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// In 2^-16, like what was delivered.
    window: u64,
    pause_ns: u64,
    /// [`u64::MAX`] before the first ACK.
    min_rtt_ns: u64,
    srtt_ns: u64,
    spread_ns: u64,
    /// The smallest RTT of this quarter of an RTT and of the one before; when this one began.
    low_ns: u64,
    low_before_ns: u64,
    low_from_ns: u64,
    low_packets: u64,
    /// What the present RTT has delivered, in whole packets, and since when; what the one before did.
    arrived: u64,
    round_from_ns: u64,
    delivered: u64,
    /// How many times faster than at first it grows.
    boost: u64,
    begins: bool,
}

impl Flow {
    /// A new flow, or one that goes on after a pause.
    #[must_use]
    pub fn start() -> Flow {
        Flow {
            window: LAW.first_window,
            pause_ns: LAW.first_pause_ns,
            min_rtt_ns: u64::MAX,
            srtt_ns: 0,
            spread_ns: 0,
            low_ns: u64::MAX,
            low_before_ns: u64::MAX,
            low_from_ns: 0,
            low_packets: 0,
            arrived: 0,
            round_from_ns: 0,
            delivered: LAW.first_window,
            boost: UNIT,
            begins: true,
        }
    }

    /// An ACK of new packets.
    pub fn on_ack(&mut self, ack: &Ack) {
        let (now, packets) = (ack.received_ns, u64::from(ack.packets.max(1)));
        self.see(rtt(ack), now, packets);
        let length = self.queue();
        let is_seen = self.low_packets >= LAW.least_packets;
        if is_seen && now.wrapping_sub(self.low_from_ns) >= self.srtt_ns / 4 {
            self.next_quarter(length, now);
        }
        if now.wrapping_sub(self.round_from_ns) >= self.srtt_ns {
            self.next_round(now);
        }
        if self.begins && length < LAW.first_until {
            return self.begin(packets);
        }
        if self.begins {
            self.begins = false;
            let without_queue = (self.delivered * share(self.min_rtt_ns, self.srtt_ns)) >> 16;
            self.window = self.window.min((without_queue * LAW.then_window) >> 16);
        }
        self.go_on(length, packets);
    }

    /// So many packets were lost. A law looks at the queue alone.
    pub fn on_loss(&mut self, _packets: u32) {}

    /// Packets that may be outstanding.
    #[must_use]
    pub fn window(&self) -> u32 {
        ((self.window + LAW.room) >> 16).min(u64::from(MAX_WINDOW)) as u32
    }

    /// Least time between two packets, ns.
    #[must_use]
    pub fn intersend_ns(&self) -> u64 {
        self.pause_ns
    }

    /// Notes an RTT.
    fn see(&mut self, rtt: u64, now: u64, packets: u64) {
        if self.min_rtt_ns == u64::MAX {
            (self.min_rtt_ns, self.srtt_ns) = (rtt, rtt);
            (self.low_from_ns, self.round_from_ns) = (now, now);
        }
        self.min_rtt_ns = self.min_rtt_ns.min(rtt);
        let off = rtt.abs_diff(self.srtt_ns);
        if rtt > self.srtt_ns {
            self.srtt_ns += off / 8;
        } else {
            self.srtt_ns -= off / 8;
        }
        self.spread_ns = self.spread_ns - self.spread_ns / 8 + off / 8;
        self.low_ns = self.low_ns.min(rtt);
        self.low_packets += packets;
        self.arrived += packets;
    }

    /// The RTT of those that stood in the queue as long as all did: the smallest of the last quarter or two.
    fn standing_ns(&self) -> u64 {
        self.low_ns.min(self.low_before_ns)
    }

    /// How long the queue is, in targets of 2^-16; at most four.
    fn queue(&self) -> u64 {
        let gap = (self.srtt_ns << 16) / self.delivered;
        let target = ((self.min_rtt_ns * LAW.target_of_rtt) >> 16)
            + ((gap.min(LONGEST_NS) * LAW.target_of_gap) >> 16)
            + ((self.spread_ns * LAW.target_of_spread) >> 16);
        let queue = self.standing_ns() - self.min_rtt_ns;
        ((queue << 16) / target.max(1)).min(LEVEL_AT[LEVELS - 1])
    }

    fn next_quarter(&mut self, length: u64, now: u64) {
        (self.low_before_ns, self.low_ns) = (self.low_ns, u64::MAX);
        (self.low_from_ns, self.low_packets) = (now, 0);
        let faster = ((self.boost * LAW.faster) >> 16).min(LAW.fastest);
        self.boost = if length < UNIT { faster } else { UNIT };
    }

    fn next_round(&mut self, now: u64) {
        let elapsed = now.wrapping_sub(self.round_from_ns).clamp(1, LONGEST_NS);
        let arrived = self.arrived.min(MAX_WINDOW.into());
        self.delivered = (arrived * share(self.srtt_ns, elapsed)).clamp(LEAST_DELIVERED, MOST_WINDOW);
        (self.arrived, self.round_from_ns) = (0, now);
    }

    /// What an ACK does while a flow begins.
    fn begin(&mut self, packets: u64) {
        let most = FIRST_MOST * self.delivered + MORE_PACKETS;
        self.window = (self.window + packets * LAW.first_growth).min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
        self.set_pace(LAW.first_pace);
    }

    /// And once a flow has begun.
    fn go_on(&mut self, length: u64, packets: u64) {
        let level = Level::of(length);
        let mut growth = level.at(&LAW.growth);
        if growth > 0 {
            growth = (growth * self.boost as i64) >> 16;
        }
        let added = ((level.at(&LAW.packets) as u64) << 16) / self.window.max(UNIT);
        let change = packets as i64 * (growth + added as i64);
        self.window = if change < 0 {
            self.window.saturating_sub(change.unsigned_abs()).max(self.window / 2)
        } else {
            self.window + change as u64
        };
        let most = ((level.at(&LAW.most) as u64 * self.delivered) >> 16) + MORE_PACKETS;
        self.window = self.window.min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
        self.set_pace(level.at(&LAW.pace) as u64);
    }

    fn set_pace(&mut self, pace: u64) {
        let standing = self.standing_ns().min(LONGEST_NS);
        self.pause_ns = (standing * pace / self.window).clamp(1, LONGEST_PAUSE_NS);
    }
}

fn rtt(ack: &Ack) -> u64 {
    let shown = (ack.received_ns.wrapping_sub(ack.sent_ns) as i64).max(0) as u64;
    shown.clamp(ack.tick_ns.clamp(1, LONGEST_NS), LONGEST_NS)
}

/// A share of another number that is no smaller, in 2^-16; both are at most [`LONGEST_NS`].
fn share(part: u64, whole: u64) -> u64 {
    ((part << 16) / whole.max(1)).min(UNIT)
}

/// A place between two lengths of the queue.
#[derive(Clone, Copy)]
struct Level {
    below: usize,
    past: i64,
}

impl Level {
    fn of(length: u64) -> Level {
        let below = (1..LEVELS - 1).rev().find(|&k| length >= LEVEL_AT[k]).unwrap_or(0);
        Level { below, past: (length - LEVEL_AT[below]) as i64 }
    }

    fn at(self, values: &[i64; LEVELS]) -> i64 {
        let (low, high) = (values[self.below], values[self.below + 1]);
        low + (((high - low) * self.past) >> LEVEL_WIDTH[self.below])
    }
}
