//! What a flow under a law does where others fill the queue: it shares the link with them as they do, by a window like Cubic's
//! (RFC 9438 §4), until they are gone.

use super::law::{LAW_UNIT, Law};
use super::law_flow::{FIRST_MOST, LEAST_WINDOW, LawFlow, MORE_PACKETS, MOST_WINDOW, share, times};

/// A flow that shares a link begins to with half as much again in each RTT, until the first loss,
const SHARED_FIRST: u64 = 2;
/// sends at three quarters of the RTT over the window,
const SHARED_PACE: u32 = LAW_UNIT / 4 * 3;
/// and grows by half a packet in an RTT at least: RFC 9438 §4.3 has 0.53.
const SHARED_LEAST: u64 = (LAW_UNIT / 2) as u64;
/// For how long a queue of two targets has stood is in 2^22 ns, a good 4 ms, of which an RTT is four at most: so 16 ms of shorter RTTs
/// are as one of longer ones. Whoever fills a queue does so for seconds. Without it, it is forgotten as slowly.
const STOOD_SHIFT: u32 = 22;
const STOOD_IN_RTT: u64 = 4;
const LONG_QUEUE: u64 = 2 * LAW_UNIT as u64;
/// So long a queue must have stood, eight such RTTs, until others are taken to be there; and so long is remembered.
const STOOD: u32 = 32;
const MOST_STOOD: u32 = 160;
/// Of smaller windows, eight packets, the smallest one is too much to tell: it is two.
const TELLING_WINDOW: u64 = 8 << 16;
/// RTTs are in 2^12 ns where they are compared with that of when the queue came, up to 28 bits.
const RTT_SHIFT: u32 = 12;
const MOST_RTT: u64 = (1 << TURN_BITS) - 1;
/// It is tried so many times as late as at first whether others have gone, at most.
const MOST_PATIENCE: u32 = 16;
/// Others have gone when so many RTTs ended without a queue.
const CLEAR_ROUNDS: u32 = 3;
/// The time of turning of a window of Cubic is in 2^20 ns, a good millisecond. Of it 28 bits are kept, three days.
const TURN_SHIFT: u32 = 20;
const TURN_BITS: u32 = 28;
/// So many of them from where it turns the window is as it is farther away.
const FAR: u64 = 1 << 15;
/// How many of their cubes are a cubic second.
const CUBES: u64 = 867_361_738;

impl LawFlow {
    /// An RTT ends: how many in a row did so without a queue, and how long a long one has stood.
    pub(crate) fn note_queue(&mut self, length: u64, now: u64) {
        self.clear = if length < u64::from(LAW_UNIT) { (self.clear + 1).min(CLEAR_ROUNDS) } else { 0 };
        let passed = (now >> STOOD_SHIFT).wrapping_sub(self.round_from_ns >> STOOD_SHIFT).min(STOOD_IN_RTT) as u32;
        let longer = (self.stood + passed).min(MOST_STOOD);
        self.stood = if length >= LONG_QUEUE { longer } else { self.stood.saturating_sub(passed) };
    }

    /// While it does not share: the window when the queue came, the longest RTT since, and whether others fill that queue. Where
    /// all give way alike RTTs go down with windows, and nobody gets less of the link for it. Whoever does has others beside.
    pub(crate) fn watch(&mut self, law: &Law, length: u64, now: u64) {
        let rtt = self.rtt_for_watch();
        if length < u64::from(LAW_UNIT) {
            (self.top, self.patience) = (0, 1);
            return;
        }
        if self.top == 0 {
            (self.top, self.turn) = (self.window, rtt);
            return;
        }
        self.turn = self.turn.max(rtt);
        let left = share(self.window, self.top) * u64::from(self.turn);
        let gets_less = left <= u64::from(law.shared_below) * u64::from(rtt);
        if gets_less && self.stood >= STOOD && self.top >= TELLING_WINDOW {
            (self.shares, self.was_cut, self.rounds, self.clear) = (true, true, 0, 0);
            (self.window, self.turn) = (self.top, turn_at(now, 0));
        }
    }

    fn rtt_for_watch(&self) -> u32 {
        (self.standing_ns() >> RTT_SHIFT).min(MOST_RTT) as u32
    }

    /// What an ACK does where others fill the queue: the window is Cubic's.
    pub(crate) fn share(&mut self, law: &Law, now: u64, packets: u64, lost: bool) {
        if self.clear >= CLEAR_ROUNDS || self.rounds >= law.shared_rtts * self.patience {
            self.patience = (2 * self.patience).min(MOST_PATIENCE);
            (self.shares, self.rounds, self.top, self.turn) = (false, 0, self.window, self.rtt_for_watch());
            return;
        }
        if lost && !self.was_cut {
            self.cut(law, now);
        }
        let growth = if self.rises {
            packets * u64::from(LAW_UNIT) / SHARED_FIRST
        } else {
            let next =
                self.cubic(law, now.wrapping_add(self.srtt_ns)).clamp(self.window, self.window + self.window / 2);
            let growth = packets * (((next - self.window) << 16) / self.window);
            growth.max(((packets * SHARED_LEAST) << 16) / self.window)
        };
        let most = FIRST_MOST * self.delivered + MORE_PACKETS;
        self.window = (self.window + growth).min(most).clamp(LEAST_WINDOW, MOST_WINDOW);
        self.set_pace(SHARED_PACE);
    }

    /// A loss: fast convergence (RFC 9438 §4.7), the window, and when it will be back (§4.2).
    fn cut(&mut self, law: &Law, now: u64) {
        let cut = u64::from(law.shared_cut);
        let is_less = !self.rises && self.window < self.top;
        self.top = if is_less { times(self.window, (u64::from(LAW_UNIT) + cut) / 2) } else { self.window };
        self.window = times(self.window, cut).max(LEAST_WINDOW);
        let below = self.top.saturating_sub(self.window);
        let away = cube_root(((below << 14) / u64::from(law.shared_scale)) * (CUBES >> 14)).min(FAR);
        self.turn = turn_at(now, away);
        (self.rises, self.was_cut) = (false, true);
        (self.arrived, self.round_from_ns) = (0, now);
    }

    /// The window of RFC 9438 §4.2 at some time.
    fn cubic(&self, law: &Law, at: u64) -> u64 {
        let past = (turn_at(at, 0).wrapping_sub(self.turn) << (32 - TURN_BITS)) as i32 >> (32 - TURN_BITS);
        let away = u64::from(past.unsigned_abs()).min(FAR);
        let off = away * away * away * u64::from(law.shared_scale) / CUBES;
        if past < 0 { self.top.saturating_sub(off) } else { self.top + off }
    }
}

/// So much later than a time, as times of turning are kept.
fn turn_at(now: u64, later: u64) -> u32 {
    (((now >> TURN_SHIFT) + later) & ((1 << TURN_BITS) - 1)) as u32
}

/// The whole part of the cube root of a number below 2^57.
fn cube_root(number: u64) -> u64 {
    let mut root = 0;
    for bit in (0..19).rev() {
        let next = root + (1 << bit);
        if next * next * next <= number {
            root = next;
        }
    }
    root
}
