//! One flow under a law (`law.rs`): what it remembers of its path, and what an ACK does.
//!
//! All is in whole numbers, so that a kernel, which has no others, does what a simulator does, to the bit. Divisions are of
//! what is not negative, and signed numbers are shifted: BPF can do both. No sum can overflow. The Rust form of an export is this
//! very file: it needs nothing but a law's numbers beside it, and reads no clock.

use super::MAX_WINDOW;
use super::law::{LAW_UNIT, Law};
use super::law_level::{LONGEST_QUEUE, Level};
use super::law_silence::{ALL_SILENT, SILENT_RTT, Silence};

/// The smallest window, two packets. The ACK of one may wait at the receiver for another (RFC 1122 §4.2.3.2), and a flow that takes
/// that for a queue would stay there.
pub const LEAST_WINDOW: u64 = 2 << 16;
/// The least that an RTT delivers: a packet in sixteen RTTs.
pub const LEAST_DELIVERED: u64 = (LAW_UNIT / 16) as u64;
pub const MOST_WINDOW: u64 = (MAX_WINDOW as u64) << 16;
/// A window may be that of what was delivered times a multiple, and so many packets more: few say little.
pub(crate) const MORE_PACKETS: u64 = 10 << 16;
/// While a flow begins its window is at most so many times what was delivered.
pub const FIRST_MOST: u64 = 4;
/// What one ACK answers is counted in fours, from three packets on (every receiver may answer two, RFC 1122 §4.2.3.2), up to sixty.
const STRETCH: u64 = 4;
const MOST_STRETCH: u64 = 15;
/// In what time the packets came that the first ACK answers is not known: no more than these two of them say how fast they come.
const OF_FIRST_ACK: u64 = 2;
/// ACKs of so many packets say how far apart the path lets packets come.
const TRAIN: u64 = 8;
/// Where a flow begins again, an RTT must deliver so many times what it did.
const AGAIN_GAIN: u64 = 2;
/// RTTs are counted to here.
const MOST_ROUNDS: u32 = (1 << 16) - 1;
/// RTTs that are longer count as 18 minutes, and pauses as ten seconds.
pub const LONGEST_NS: u64 = 1 << 40;
pub const LONGEST_PAUSE_NS: u64 = 10_000_000_000;

/// One flow under a law. Windows and packets are in 2^-16, times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawFlow {
    pub(crate) window: u64,
    pub(crate) pause_ns: u64,
    /// The smallest RTT, or what is taken for it; [`u64::MAX`] before the first ACK.
    pub(crate) min_rtt_ns: u64,
    pub(crate) srtt_ns: u64,
    pub(crate) spread_ns: u64,
    /// How long no ACK came.
    pub(crate) silence: Silence,
    /// What the target is longer by for that, and where an RTT delivers little, as a share of the smallest RTT, in 2^-16.
    pub(crate) longer: u64,
    /// How silent the RTT before was, of [`ALL_SILENT`].
    pub(crate) silent: u64,
    /// The smallest RTT of this quarter of an RTT and of the one before; when this one began.
    pub(crate) low_ns: u64,
    pub(crate) low_before_ns: u64,
    pub(crate) low_from_ns: u64,
    pub(crate) low_packets: u64,
    /// What the present RTT has delivered, in whole packets, and since when; what the one before counts as having delivered.
    pub(crate) arrived: u64,
    pub(crate) round_from_ns: u64,
    pub(crate) delivered: u64,
    /// How many times faster than at first it grows.
    pub(crate) boost: u64,
    pub(crate) begins: bool,
    /// What an RTT delivered when the flow began again, in whole packets, and the smallest RTT until then; 0 otherwise.
    pub(crate) delivered_before: u64,
    pub(crate) min_before_ns: u64,
    /// RTTs since it began, or began to share, or last tried whether it still must.
    pub(crate) rounds: u32,
    /// It shares the link with others that fill the queue, and has lost none since.
    pub(crate) shares: bool,
    pub(crate) rises: bool,
    /// There was a loss since the last ACK; one was answered in this RTT.
    pub(crate) lost: bool,
    pub(crate) was_cut: bool,
    /// Packets lost in this RTT; whether in the one before they were too many.
    pub(crate) losses: u64,
    pub(crate) crowded: bool,
    /// The window when the queue came, or before the last loss; 0 if there is no queue. And the longest RTT since it came or, while
    /// the flow shares, when the window is back there.
    pub(crate) top: u64,
    pub(crate) turn: u32,
    /// How many times as long as at first until it is tried whether others have gone.
    pub(crate) patience: u32,
    /// RTTs in a row that ended without a queue, and for how long a long one has stood.
    pub(crate) clear: u32,
    pub(crate) stood: u32,
    /// The most packets, in fours, that one ACK of more than half a window answered, half as many after each RTT. So many more may
    /// be outstanding: else all of a small window wait until the receiver's timer ends, and it stays small.
    pub(crate) stretch: u64,
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
            silence: Silence::default(),
            longer: of_roots(law, window),
            silent: 0,
            low_ns: u64::MAX,
            low_before_ns: u64::MAX,
            low_from_ns: 0,
            low_packets: 0,
            arrived: 0,
            round_from_ns: 0,
            delivered: window,
            boost: u64::from(LAW_UNIT),
            begins: true,
            delivered_before: 0,
            min_before_ns: 0,
            rounds: 0,
            shares: false,
            rises: true,
            lost: false,
            was_cut: false,
            losses: 0,
            crowded: false,
            top: 0,
            turn: 0,
            patience: 1,
            clear: 0,
            stood: 0,
            stretch: 0,
        }
    }

    /// Packets that may be outstanding.
    #[must_use]
    pub fn window(&self, law: &Law) -> u32 {
        let held = (self.stretch * STRETCH) << 16;
        ((self.window + u64::from(law.room) + held) >> 16).min(u64::from(MAX_WINDOW)) as u32
    }

    /// Least time between two sends, ns.
    #[must_use]
    pub fn intersend_ns(&self) -> u64 {
        self.pause_ns
    }

    /// Takes in that so many packets were lost; before the ACK that shows it.
    pub fn on_loss(&mut self, packets: u32) {
        self.lost = true;
        self.losses = (self.losses + u64::from(packets)).min(MAX_WINDOW.into());
    }

    /// Takes in an ACK, of so many packets, the last of which was sent at `sent_ns`, on a clock that ticks every `tick_ns`.
    pub fn on_ack(&mut self, law: &Law, sent_ns: u64, received_ns: u64, tick_ns: u64, packets: u32) {
        let rtt = (received_ns.wrapping_sub(sent_ns) as i64).max(tick_ns.clamp(1, LONGEST_NS) as i64) as u64;
        let packets = u64::from(packets.max(1));
        self.see(law, rtt.min(LONGEST_NS), received_ns, packets);
        if law.silence_most > 0 {
            self.silence.see(received_ns, rtt.min(LONGEST_NS));
        }
        let mut length = self.queue(law);
        let is_seen = self.low_packets >= u64::from(law.least_packets);
        if is_seen && received_ns.wrapping_sub(self.low_from_ns) >= self.srtt_ns / 4 {
            self.next_quarter(law, length, received_ns);
        }
        if received_ns.wrapping_sub(self.round_from_ns) >= self.srtt_ns {
            if law.shared_below > 0 {
                self.note_queue(length, received_ns);
            }
            self.next_round(law, received_ns);
            if !self.begins && !self.shares && drains(law, length) {
                let most = times(self.without_queue(), law.most_of_path.into()) + MORE_PACKETS;
                self.window = self.window.min(most);
            }
            if !self.begins && !self.shares && law.again_rtts > 0 && self.rounds >= law.again_rtts {
                self.begin_again();
                length = self.queue(law);
            }
        }
        self.hold(packets);
        let lost = core::mem::take(&mut self.lost);
        if self.shares {
            return self.share(law, received_ns, packets, lost);
        }
        if self.begins && length < u64::from(law.first_until) {
            let train = self.train(law, received_ns);
            self.window = (self.window + packets * u64::from(law.first_growth)).max(train);
            self.delivered = self.delivered.max(train / 2);
            let most = FIRST_MOST * self.delivered + MORE_PACKETS + of_ms(self.min_rtt_ns, law.first_rate);
            self.window = self.window.min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
            self.set_pace(law.first_pace);
            return;
        }
        if self.begins {
            self.end_beginning(law);
        }
        self.go_on(law, length, packets);
        if law.shared_below > 0 {
            self.watch(law, length, received_ns);
        }
    }

    /// Notes an RTT.
    fn see(&mut self, law: &Law, rtt: u64, now: u64, packets: u64) {
        let mut arrived = packets;
        if self.min_rtt_ns == u64::MAX {
            arrived = packets.min(OF_FIRST_ACK);
            (self.min_rtt_ns, self.srtt_ns) = (rtt, rtt);
            (self.low_from_ns, self.round_from_ns) = (now, now);
            let most = if law.first_most > 0 { of_ms(rtt, law.first_most) } else { MOST_WINDOW };
            self.window = (self.window + of_ms(rtt, law.first_rate)).min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
        }
        if rtt < self.min_rtt_ns {
            self.min_rtt_ns = rtt + times(self.min_rtt_ns - rtt, law.min_rtt_keeps.into());
        }
        let off = rtt.abs_diff(self.srtt_ns);
        self.srtt_ns = if rtt > self.srtt_ns { self.srtt_ns + off / 8 } else { self.srtt_ns - off / 8 };
        self.spread_ns = self.spread_ns - self.spread_ns / 8 + off / 8;
        self.low_ns = self.low_ns.min(rtt);
        self.low_packets += packets;
        self.arrived += arrived;
    }

    /// An ACK has answered so many. Whoever has more than twice as many under way need not wait for a timer.
    fn hold(&mut self, packets: u64) {
        if self.window < packets << 17 {
            self.stretch = self.stretch.max(((packets + 1) / STRETCH).min(MOST_STRETCH));
        }
    }

    /// The time between two packets of the flow.
    fn gap_ns(&self) -> u64 {
        ((self.srtt_ns << 16) / self.delivered).min(LONGEST_NS)
    }

    /// The RTT of those that stood in the queue as long as all did: the smallest of the last quarter or two.
    pub(crate) fn standing_ns(&self) -> u64 {
        self.low_ns.min(self.low_before_ns)
    }

    /// How much longer that is than the smallest.
    fn queue_ns(&self) -> u64 {
        self.standing_ns().saturating_sub(self.min_rtt_ns)
    }

    /// How long the queue is, in targets of 2^-16; at most four.
    fn queue(&self, law: &Law) -> u64 {
        if self.crowded {
            return LONGEST_QUEUE;
        }
        let target = times(self.min_rtt_ns, u64::from(law.target_of_rtt) + self.longer)
            + times(self.gap_ns(), law.target_of_gap.into())
            + times(self.spread_ns, law.target_of_spread.into());
        ((self.queue_ns() << 16) / target.max(1)).min(LONGEST_QUEUE)
    }

    fn next_quarter(&mut self, law: &Law, length: u64, now: u64) {
        (self.low_before_ns, self.low_ns) = (self.low_ns, u64::MAX);
        (self.low_from_ns, self.low_packets) = (now, 0);
        let faster = times(self.boost, law.faster.into()).min(law.fastest.into());
        self.boost = if length < u64::from(LAW_UNIT) { faster } else { u64::from(LAW_UNIT) };
    }

    fn next_round(&mut self, law: &Law, now: u64) {
        let elapsed = now.wrapping_sub(self.round_from_ns).clamp(1, LONGEST_NS);
        let arrived = self.arrived.min(MAX_WINDOW.into());
        // What was sent by what the first packets said arrives in the next RTT.
        let by_train = self.is_first_round() && self.delivered > law.first_window.into();
        let keeps = if by_train { LAW_UNIT } else { law.delivered_keeps };
        let least = times(self.delivered, keeps.into()).max(LEAST_DELIVERED);
        self.delivered = (arrived * share(self.srtt_ns, elapsed)).clamp(least, MOST_WINDOW);
        (self.arrived, self.round_from_ns) = (0, now);
        self.rounds = (self.rounds + 1).min(MOST_ROUNDS);
        self.was_cut = false;
        self.stretch /= 2;
        self.crowded = law.loss_most > 0 && self.losses << 16 > (self.losses + arrived) * u64::from(law.loss_most);
        self.losses = 0;
        self.longer = of_roots(law, self.delivered);
        if law.silence_most > 0 {
            let longer = self.silence.next_round(law, self.gap_ns(), self.min_rtt_ns);
            self.silent = (longer * ALL_SILENT / SILENT_RTT).min(ALL_SILENT);
            self.longer += if self.begins { 0 } else { longer };
        }
    }

    /// A share of what the path holds, if packets go on to come as those of a beginning's first window do: who sends them at once is
    /// told by the slowest link how far apart they can be.
    fn train(&self, law: &Law, now: u64) -> u64 {
        let elapsed = now.wrapping_sub(self.round_from_ns).min(LONGEST_NS) + u64::from(law.first_train_ns);
        if law.first_train == 0 || !self.is_first_round() || self.arrived < TRAIN || elapsed == 0 {
            return 0;
        }
        let in_an_rtt = (self.arrived.min(MAX_WINDOW.into()) - 1) * ((self.min_rtt_ns << 16) / elapsed).min(1 << 32);
        times(in_an_rtt.min(MOST_WINDOW), law.first_train.into()).min(MOST_WINDOW)
    }

    /// Nothing is known of this RTT yet but how long it is.
    fn is_first_round(&self) -> bool {
        self.begins && self.rounds == 0 && self.delivered_before == 0
    }

    /// What the RTT is now is taken for what it is without a queue.
    fn begin_again(&mut self) {
        (self.begins, self.rounds, self.top) = (true, 0, 0);
        self.delivered_before = (self.delivered >> 16).max(1);
        (self.min_before_ns, self.min_rtt_ns) = (self.min_rtt_ns, self.standing_ns());
    }

    /// There is a queue. If an RTT delivers little more than before a flow began again, it was one then, too.
    fn end_beginning(&mut self, law: &Law) {
        let in_vain = (self.delivered >> 16) < AGAIN_GAIN * self.delivered_before;
        if in_vain {
            self.min_rtt_ns = self.min_rtt_ns.min(self.min_before_ns);
        }
        let then_window = if in_vain { LAW_UNIT } else { law.then_window };
        self.window = self.window.min(times(self.without_queue(), then_window.into()));
        (self.begins, self.delivered_before, self.top) = (false, 0, 0);
    }

    /// What the smallest RTT would deliver.
    fn without_queue(&self) -> u64 {
        times(self.delivered, share(self.min_rtt_ns, self.srtt_ns))
    }

    /// What an ACK does once a flow has begun.
    fn go_on(&mut self, law: &Law, length: u64, packets: u64) {
        let level = Level::of(length);
        let mut growth = level.signed(&law.growth);
        if growth > 0 {
            growth = times(growth as u64, self.boost) as i64;
        }
        let more = u64::from(law.silence_adds) * self.silent / ALL_SILENT;
        let packets_at = times(level.of_all(&law.packets), u64::from(LAW_UNIT) + more);
        let added = (packets_at << 16) / self.window.max(LAW_UNIT.into());
        let change = packets as i64 * (growth + added as i64);
        self.window = if change < 0 {
            let part = if drains(law, length) { share(self.window, self.delivered) } else { LAW_UNIT.into() };
            let less = times(change.unsigned_abs().min(MOST_WINDOW), part);
            self.window.saturating_sub(less).max(self.window / 2)
        } else {
            self.window + change as u64
        };
        let most = times(self.delivered, level.of_all(&law.most)) + MORE_PACKETS;
        self.window = self.window.min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
        self.set_pace(level.of_all(&law.pace) as u32);
    }

    pub(crate) fn set_pace(&mut self, pace: u32) {
        let standing = self.standing_ns().min(LONGEST_NS);
        self.pause_ns = (standing * u64::from(pace) / self.window).clamp(1, LONGEST_PAUSE_NS);
    }
}

/// The queue is to be left at once: RTTs in it end with a window of the path.
#[inline]
fn drains(law: &Law, length: u64) -> bool {
    law.most_of_path > 0 && length == LONGEST_QUEUE
}

/// What a target is longer by where an RTT delivers so much, as a share of the smallest RTT: of two flows in one queue the one
/// with the smaller window strives for a longer queue, and wins (Swift, SIGCOMM 2020, §3.5).
pub(crate) fn of_roots(law: &Law, delivered: u64) -> u64 {
    let root = delivered.max(LAW_UNIT.into()).isqrt();
    (u64::from(law.target_of_root) << 8) / root + (u64::from(law.target_of_fourth) << 12) / (root << 16).isqrt()
}

/// Packets that an RTT is worth, at so many for each ms.
fn of_ms(rtt_ns: u64, packets: u32) -> u64 {
    rtt_ns * u64::from(packets) / 1_000_000
}

/// A number times a multiple in 2^-16.
#[inline]
pub(crate) fn times(number: u64, multiple: u64) -> u64 {
    (number * multiple) >> 16
}

/// A share of another number, in 2^-16 and at most all of it; both are at most [`LONGEST_NS`].
#[inline]
pub(crate) fn share(part: u64, whole: u64) -> u64 {
    ((part << 16) / whole.max(1)).min(LAW_UNIT.into())
}
