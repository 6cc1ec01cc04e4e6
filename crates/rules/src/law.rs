//! A law: what a flow does, by how long the queue is in terms of its own path, in place of a table's boxes.
//!
//! Nothing in it is in milliseconds or packets of one link: RTTs count by the smallest of the flow, windows by what an RTT
//! delivers, paces by the window. So one law serves links of any rate, where a table needs boxes for each decade. And where
//! there is no queue a window grows, whatever it is ([`Law::check`]): no state without a queue holds itself. Two go by seconds: a flow
//! that begins, which knows no more than its RTT, and one that shares its link with others, as Cubic does, which it must keep up with.
//!
//! Here are its numbers; `law_level.rs` is where its lists are read, `law_flow.rs` what a flow does by them, `law_silence.rs` what is
//! no queue, and `law_sharing.rs` what it does where others fill the queue.

use crate::law_flow::{FIRST_MOST, LEAST_WINDOW};

/// What is 1 in shares, windows and multiples: they are in 2^-16.
pub const LAW_UNIT: u32 = 1 << 16;
/// Lengths of the queue at which a law says what is done: 0, 1/2, 1, 2 and 4 targets. Between them what is done is between, too.
pub const LEVELS: usize = 5;

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
    /// The queueing delay that a flow strives for is the sum of five: a share of the smallest RTT,
    pub target_of_rtt: u32,
    /// one that is smaller by the root of the packets that an RTT delivers,
    pub target_of_root: u32,
    /// one that is smaller by their fourth root, which a thousand packets still feel,
    pub target_of_fourth: u32,
    /// a multiple of the time between its own packets,
    pub target_of_gap: u32,
    /// and a multiple of the RTT's mean deviation.
    pub target_of_spread: u32,
    /// And where no ACK came for some time, and then many, packets waited without a queue: the target is longer by this multiple of
    /// that time (never if 0),
    pub silence_most: u32,
    /// and at most by this one for each packet that has come in it.
    pub silence_packets: u32,
    /// Where that makes it longer by a sixteenth of the smallest RTT or more, packets are added 1 plus this multiple as fast, in
    /// proportion where it is less: who is told of the queue late and coarsely finds what is free, and a fair share, by larger steps.
    pub silence_adds: u32,
    /// Whoever lost more than this share of an RTT's packets takes the queue for the longest (never if 0): a full buffer may hold
    /// less than a target.
    pub loss_most: u32,
    /// What the window grows by in an RTT at each of the levels, as a share of it.
    pub growth: [i32; LEVELS],
    /// Packets added in an RTT.
    pub packets: [u32; LEVELS],
    /// The time between two sends, as a share of the standing RTT over the window.
    pub pace: [u32; LEVELS],
    /// The largest window, as a multiple of what an RTT delivered.
    pub most: [u32; LEVELS],
    /// The largest window that an RTT ends with where the queue is the longest, as a multiple of what the smallest RTT would deliver
    /// (any if 0): in a queue of many RTTs one delivers many times what the path holds, and to give way by the RTT is slow. What was
    /// sent by a larger window comes back after that: meanwhile the window gives way by the RTT, not by the ACK.
    pub most_of_path: u32,
    /// An RTT counts as one that delivered at least this share of what the one before it counts as: where ACKs come in batches,
    /// one may see all of a batch and the next nothing (0: it is what it is).
    pub delivered_keeps: u32,
    /// The smallest RTT stays this share of the way above a smaller one, for each ACK: jitter that keeps packets in order lets few by,
    /// the fewer the more are sent (0: it is the smallest at once).
    pub min_rtt_keeps: u32,
    /// So many packets, not in 2^-16, are what the standing RTT is the least of at least: of few, each may have been unlucky.
    pub least_packets: u32,
    /// After so many RTTs, a whole number, a flow begins again, and takes the RTT as it is now for the smallest: if nothing
    /// comes of that, it goes back. What has become a longer path is no queue. Never if 0.
    pub again_rtts: u32,
    /// In each quarter of an RTT below the target growth gets so many times faster,
    pub faster: u32,
    /// up to so many times.
    pub fastest: u32,
    /// The window of a flow that begins,
    pub first_window: u32,
    /// packets that it has more for each ms of its RTT, once that is known: who is far away cannot wait for as many RTTs,
    pub first_rate: u32,
    /// and packets for each ms of it that it has then at most (0: any number): near by a rate is few packets, and a buffer fewer,
    pub first_most: u32,
    /// the share that its window has at least of what the path holds, by how far apart ACKs of its first packets are, until an RTT
    /// has passed after the first (0: none), half of which counts as delivered until what is sent by it has come,
    pub first_train: u32,
    /// where the time that they took counts as so much more, ns: what comes in batches comes at once,
    pub first_train_ns: u32,
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
    /// So many packets more than the window may be outstanding: bursts are no reason to wait. Stretch ACKs let out some more.
    pub room: u32,
    /// Whoever has shrunk, and gets no more than this share of the link of what it got when a queue came that still stands, takes it
    /// that others fill it, and shares the link with them as they do (never if 0): a window as of Cubic (RFC 9438 §4),
    pub shared_below: u32,
    /// which grows by its constant C, packets/s³,
    pub shared_scale: u32,
    /// and of which a loss leaves this share.
    pub shared_cut: u32,
    /// After so many RTTs, a whole number, it is tried whether the queue goes; in vain, after twice as many the next time.
    pub shared_rtts: u32,
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
        // Without a queue a beginning goes on. One that ended at once would take back what the window grew by since the last.
        in_range("first_until", self.first_until.into(), 1, MOST.into(), "above 0 and at most 64")?;
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
            ("silence_most", self.silence_most),
            ("silence_packets", self.silence_packets),
            ("silence_adds", self.silence_adds),
            ("most_of_path", self.most_of_path),
            ("faster", self.faster),
            ("fastest", self.fastest),
            ("first_rate", self.first_rate),
            ("first_most", self.first_most),
            ("first_train", self.first_train),
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
        in_range("target_of_root", self.target_of_root.into(), 0, 4 * i64::from(LAW_UNIT), "0 to 4")?;
        in_range("target_of_fourth", self.target_of_fourth.into(), 0, 4 * i64::from(LAW_UNIT), "0 to 4")?;
        in_range("loss_most", self.loss_most.into(), 0, LAW_UNIT.into(), "0 to 1")?;
        in_range("min_rtt_keeps", self.min_rtt_keeps.into(), 0, i64::from(LAW_UNIT) / 64 * 63, "0 to 63/64")?;
        in_range("delivered_keeps", self.delivered_keeps.into(), 0, i64::from(LAW_UNIT) / 64 * 63, "0 to 63/64")?;
        in_range("least_packets", self.least_packets.into(), 1, 64, "1 to 64")?;
        in_range("again_rtts", self.again_rtts.into(), 0, 1 << 15, "0 to 32768")?;
        in_range("shared_below", self.shared_below.into(), 0, i64::from(LAW_UNIT) / 2, "0 to 1/2")?;
        if self.shared_below > 0 {
            in_range("shared_scale", self.shared_scale.into(), 1 << 10, 1 << 18, "1/64 to 4")?;
            in_range("shared_cut", self.shared_cut.into(), 1 << 14, i64::from(LAW_UNIT), "1/4 to 1")?;
            in_range("shared_rtts", self.shared_rtts.into(), 1, 1 << 12, "1 to 4096")?;
        }
        in_range("faster", self.faster.into(), LAW_UNIT.into(), MOST.into(), "1 to 64")?;
        in_range("fastest", self.fastest.into(), LAW_UNIT.into(), MOST.into(), "1 to 64")
    }
}
