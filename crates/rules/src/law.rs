//! A law: what a flow does, by how long the queue is in terms of its own path, in place of a table's boxes.
//!
//! Nothing in it is in milliseconds or packets of one link: RTTs count by the smallest of the flow, windows by what an RTT
//! delivers, paces by the window. So one law serves links of any rate, where a table needs boxes for each decade. And where
//! there is no queue a window grows, whatever it is ([`Law::check`]): no state without a queue holds itself.
//!
//! All is in whole numbers, so that a kernel, which has no others, does what a simulator does, to the bit. Divisions are of
//! what is not negative, and signed numbers are shifted: BPF can do both.

use crate::MAX_WINDOW;

/// What is 1 in shares, windows and multiples: they are in 2^-16.
pub const LAW_UNIT: u32 = 1 << 16;
/// Lengths of the queue at which a law says what is done: 0, 1/2, 1, 2 and 4 targets. Between them what is done is between, too.
pub const LEVELS: usize = 5;
/// Where they are, and the logarithms to base 2 of how far the next one is.
const LEVEL_AT: [u64; LEVELS] = [0, 1 << 15, 1 << 16, 1 << 17, 1 << 18];
const LEVEL_WIDTH: [u32; LEVELS - 1] = [15, 15, 16, 17];
/// The smallest window, two packets. The ACK of one may wait at the receiver for another (RFC 1122 §4.2.3.2), and a flow that takes
/// that for a queue would stay there.
const LEAST_WINDOW: u64 = 2 << 16;
/// The least that an RTT delivers: a packet in sixteen RTTs.
const LEAST_DELIVERED: u64 = (LAW_UNIT / 16) as u64;
const MOST_WINDOW: u64 = (MAX_WINDOW as u64) << 16;
/// A window may be that of what was delivered times a multiple, and so many packets more: few say little.
const MORE_PACKETS: u64 = 10 << 16;
/// While a flow begins its window is at most so many times what was delivered.
const FIRST_MOST: u64 = 4;
/// RTTs that are longer count as 18 minutes, and pauses as ten seconds.
const LONGEST_NS: u64 = 1 << 40;
const LONGEST_PAUSE_NS: u64 = 10_000_000_000;

/// What makes a law unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("law: {field} is {value}, expected {expected}")]
pub struct LawError {
    /// Which of its numbers.
    pub field: &'static str,
    /// What stood there.
    pub value: i64,
    /// What would have been right.
    pub expected: &'static str,
}

/// A law. Shares, multiples and packets are in 2^-16 ([`LAW_UNIT`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Law {
    /// The queueing delay that a flow strives for is the sum of three: a share of the smallest RTT,
    pub target_of_rtt: u32,
    /// a multiple of the time between its own packets,
    pub target_of_gap: u32,
    /// and a multiple of the RTT's mean deviation.
    pub target_of_spread: u32,
    /// What the window grows by in an RTT at each of the levels, as a share of it.
    pub growth: [i32; LEVELS],
    /// Packets added in an RTT.
    pub packets: [u32; LEVELS],
    /// The time between two sends, as a share of the standing RTT over the window.
    pub pace: [u32; LEVELS],
    /// The largest window, as a multiple of what an RTT delivered.
    pub most: [u32; LEVELS],
    /// So many packets, not in 2^-16, are what the standing RTT is the least of at least: of few, each may have been unlucky.
    pub least_packets: u32,
    /// In each quarter of an RTT below the target growth gets so many times faster,
    pub faster: u32,
    /// up to so many times.
    pub fastest: u32,
    /// The window of a flow that begins,
    pub first_window: u32,
    /// the time between two sends until an RTT is known, ns,
    pub first_pause_ns: u32,
    /// packets added by each that is acknowledged,
    pub first_growth: u32,
    /// the pace,
    pub first_pace: u32,
    /// the length of the queue, in targets, that ends the beginning,
    pub first_until: u32,
    /// and the window then, as a multiple of what an RTT would deliver without the queue.
    pub then_window: u32,
    /// So many packets more than the window may be outstanding: bursts are no reason to wait.
    pub room: u32,
}

impl Law {
    /// Checks that it can be followed: that a window without a queue grows, which wants a largest window above what the window
    /// delivers in an RTT at its pace, and that no number is so large that a sum of them is none.
    ///
    /// # Errors
    /// Names the first number that is out of range.
    pub fn check(&self) -> Result<(), LawError> {
        const MOST: u32 = 1 << 22;
        const SHARE: i32 = LAW_UNIT as i32;
        let in_range = |field, value: i64, lo: i64, hi: i64, expected| {
            if (lo..=hi).contains(&value) { Ok(()) } else { Err(LawError { field, value, expected }) }
        };
        in_range("growth", self.growth[0].into(), 1, SHARE.into(), "above 0 where there is no queue, and at most 1")?;
        for growth in self.growth {
            in_range("growth", growth.into(), (-SHARE).into(), SHARE.into(), "-1 to 1")?;
        }
        let delivering = self.pace[0].max(LAW_UNIT);
        in_range(
            "most",
            self.most[0].into(),
            i64::from(delivering) + 1,
            MOST.into(),
            "above 1, and above pace, where there is no queue, and at most 64",
        )?;
        in_range("first_growth", self.first_growth.into(), 1, MOST.into(), "above 0 and at most 64")?;
        let first_most = FIRST_MOST as i64 * i64::from(LAW_UNIT);
        in_range("first_pace", self.first_pace.into(), 1, first_most - 1, "above 0 and below 4")?;
        for pace in self.pace {
            in_range("pace", pace.into(), 1, 1 << 20, "above 0 and at most 16")?;
        }
        let multiples = [
            ("target_of_rtt", self.target_of_rtt),
            ("target_of_gap", self.target_of_gap),
            ("target_of_spread", self.target_of_spread),
            ("faster", self.faster),
            ("fastest", self.fastest),
            ("first_until", self.first_until),
            ("then_window", self.then_window),
            ("room", self.room),
        ];
        let levels = self.packets.map(|packets| ("packets", packets)).into_iter();
        for (field, value) in multiples.into_iter().chain(levels).chain(self.most.map(|most| ("most", most))) {
            in_range(field, value.into(), 0, MOST.into(), "0 to 64")?;
        }
        in_range(
            "first_window",
            self.first_window.into(),
            LEAST_WINDOW as i64,
            i64::from(LAW_UNIT) << 10,
            "2 to 1024",
        )?;
        in_range("least_packets", self.least_packets.into(), 1, 64, "1 to 64")?;
        in_range("faster", self.faster.into(), LAW_UNIT.into(), MOST.into(), "1 to 64")?;
        in_range("fastest", self.fastest.into(), LAW_UNIT.into(), MOST.into(), "1 to 64")
    }
}

/// One flow under a law. Windows and packets are in 2^-16, times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawFlow {
    window: u64,
    pause_ns: u64,
    /// The smallest RTT; [`u64::MAX`] before the first ACK.
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

impl LawFlow {
    /// A new flow.
    #[must_use]
    pub fn start(law: &Law) -> LawFlow {
        let window = u64::from(law.first_window);
        LawFlow {
            window,
            pause_ns: u64::from(law.first_pause_ns),
            min_rtt_ns: u64::MAX,
            srtt_ns: 0,
            spread_ns: 0,
            low_ns: u64::MAX,
            low_before_ns: u64::MAX,
            low_from_ns: 0,
            low_packets: 0,
            arrived: 0,
            round_from_ns: 0,
            delivered: window,
            boost: u64::from(LAW_UNIT),
            begins: true,
        }
    }

    /// Packets that may be outstanding.
    #[must_use]
    pub fn window(&self, law: &Law) -> u32 {
        ((self.window + u64::from(law.room)) >> 16).min(u64::from(MAX_WINDOW)) as u32
    }

    /// Least time between two sends, ns.
    #[must_use]
    pub fn intersend_ns(&self) -> u64 {
        self.pause_ns
    }

    /// Sets the window, in packets.
    pub fn set_window(&mut self, packets: u32) {
        self.window = (u64::from(packets) << 16).clamp(LEAST_WINDOW, MOST_WINDOW);
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
        if self.min_rtt_ns != u64::MAX {
            self.set_pace(LAW_UNIT);
        }
    }

    /// Takes in an ACK, of so many packets, the last of which was sent at `sent_ns`: on a clock that ticks every `tick_ns`.
    pub fn on_ack(&mut self, law: &Law, sent_ns: u64, received_ns: u64, tick_ns: u64, packets: u32) {
        let rtt = (received_ns.wrapping_sub(sent_ns) as i64).max(tick_ns.clamp(1, LONGEST_NS) as i64) as u64;
        let packets = u64::from(packets.max(1));
        self.see(rtt.min(LONGEST_NS), received_ns, packets);
        let length = self.queue(law);
        let is_seen = self.low_packets >= u64::from(law.least_packets);
        if is_seen && received_ns.wrapping_sub(self.low_from_ns) >= self.srtt_ns / 4 {
            self.next_quarter(law, length, received_ns);
        }
        if received_ns.wrapping_sub(self.round_from_ns) >= self.srtt_ns {
            self.next_round(received_ns);
        }
        if self.begins && length < u64::from(law.first_until) {
            self.window += packets * u64::from(law.first_growth);
            self.window = self.window.min(FIRST_MOST * self.delivered + MORE_PACKETS).clamp(LEAST_WINDOW, MOST_WINDOW);
            self.set_pace(law.first_pace);
            return;
        }
        if self.begins {
            self.begins = false;
            let without_queue = times(self.delivered, share(self.min_rtt_ns, self.srtt_ns));
            self.window = self.window.min(times(without_queue, law.then_window.into()));
        }
        self.go_on(law, length, packets);
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
    fn queue(&self, law: &Law) -> u64 {
        let gap = (self.srtt_ns << 16) / self.delivered;
        let target = times(self.min_rtt_ns, law.target_of_rtt.into())
            + times(gap.min(LONGEST_NS), law.target_of_gap.into())
            + times(self.spread_ns, law.target_of_spread.into());
        let queue = self.standing_ns() - self.min_rtt_ns;
        ((queue << 16) / target.max(1)).min(LEVEL_AT[LEVELS - 1])
    }

    fn next_quarter(&mut self, law: &Law, length: u64, now: u64) {
        (self.low_before_ns, self.low_ns) = (self.low_ns, u64::MAX);
        (self.low_from_ns, self.low_packets) = (now, 0);
        let faster = times(self.boost, law.faster.into()).min(law.fastest.into());
        self.boost = if length < u64::from(LAW_UNIT) { faster } else { u64::from(LAW_UNIT) };
    }

    fn next_round(&mut self, now: u64) {
        let elapsed = now.wrapping_sub(self.round_from_ns).clamp(1, LONGEST_NS);
        let arrived = self.arrived.min(MAX_WINDOW.into());
        self.delivered = (arrived * share(self.srtt_ns, elapsed)).clamp(LEAST_DELIVERED, MOST_WINDOW);
        (self.arrived, self.round_from_ns) = (0, now);
    }

    /// What an ACK does once a flow has begun.
    fn go_on(&mut self, law: &Law, length: u64, packets: u64) {
        let level = Level::of(length);
        let mut growth = level.signed(&law.growth);
        if growth > 0 {
            growth = times(growth as u64, self.boost) as i64;
        }
        let added = (level.of_all(&law.packets) << 16) / self.window.max(LAW_UNIT.into());
        let change = packets as i64 * (growth + added as i64);
        self.window = if change < 0 {
            (self.window.saturating_sub(change.unsigned_abs())).max(self.window / 2)
        } else {
            self.window + change as u64
        };
        let most = times(self.delivered, level.of_all(&law.most)) + MORE_PACKETS;
        self.window = self.window.min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
        self.set_pace(level.of_all(&law.pace) as u32);
    }

    fn set_pace(&mut self, pace: u32) {
        let standing = self.standing_ns().min(LONGEST_NS);
        self.pause_ns = (standing * u64::from(pace) / self.window).clamp(1, LONGEST_PAUSE_NS);
    }
}

/// A number times a multiple in 2^-16.
fn times(number: u64, multiple: u64) -> u64 {
    (number * multiple) >> 16
}

/// A share of another number that is no smaller, in 2^-16; both are at most [`LONGEST_NS`].
fn share(part: u64, whole: u64) -> u64 {
    ((part << 16) / whole.max(1)).min(LAW_UNIT.into())
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

    fn signed(self, values: &[i32; LEVELS]) -> i64 {
        let [low, high] = [values[self.below], values[self.below + 1]].map(i64::from);
        low + (((high - low) * self.past) >> LEVEL_WIDTH[self.below])
    }

    fn of_all(self, values: &[u32; LEVELS]) -> u64 {
        self.signed(&values.map(|value| value as i32)) as u64
    }
}

#[cfg(test)]
mod tests;
