//! CoDel, controlled delay (RFC 8289): drops on departure while the least time that packets waited in an interval
//! stays above a target, more often the longer that lasts.
//!
//! [`CoDelState`] is the law alone; fair queueing keeps one per flow.

use std::collections::VecDeque;

use super::{Backlog, Fifo, Limit, Queue, mark};
use crate::packet::Packet;
use crate::time::Time;

/// Which text of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoDelLaw {
    /// RFC 8289 §5. On entering the dropping state within 16 intervals of the last one, the count resumes where
    /// that one added to it.
    Rfc8289,
    /// Nichols's code for ns-2 of 2012 (sfqcodel.cc). The count resumes 2 lower within 8 intervals, the wait before the
    /// first drop is shortened too, and the count does not grow on the drop that ends the dropping state.
    Nichols2012,
}

/// The settings of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelSettings {
    /// Acceptable least time in the queue, ns (RFC 8289 §4.4).
    pub target: Time,
    /// Time over which that least is taken, ns: about the largest common RTT (RFC 8289 §4.3).
    pub interval: Time,
    /// Which text of the law.
    pub law: CoDelLaw,
    /// Mark packets that can be marked instead of dropping them.
    pub ecn: bool,
}

impl Default for CoDelSettings {
    fn default() -> Self {
        CoDelSettings { target: 5_000_000, interval: 100_000_000, law: CoDelLaw::Rfc8289, ecn: false }
    }
}

/// The state of the law for one FIFO (RFC 8289 §5.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct CoDelState {
    /// When dropping may begin if the time in the queue stays above the target; none while below.
    first_above: Option<Time>,
    /// When the next packet is to be dropped.
    drop_next: Time,
    /// Drops in this dropping state, and those it resumed from.
    count: u32,
    /// `count` when the dropping state was entered.
    last_count: u32,
    /// In the dropping state.
    dropping: bool,
}

impl CoDelState {
    /// Takes the next packet to send from `waiting`, dropping or marking as the law says (RFC 8289 §5.5). `backlog` is
    /// that of the whole queue, of which `waiting` may be one flow.
    #[inline]
    pub fn dequeue(
        &mut self,
        settings: &CoDelSettings,
        now: Time,
        waiting: &mut VecDeque<Packet>,
        backlog: &mut Backlog,
        dropped: &mut Vec<Packet>,
    ) -> Option<Packet> {
        let (packet, above) = self.pop(settings, now, waiting, backlog);
        if self.dropping {
            if !above {
                self.dropping = false;
                return packet;
            }
            return self.drop_due(settings, now, packet, waiting, backlog, dropped);
        }
        if !above {
            return packet;
        }
        self.enter(settings, now);
        match refuse(settings, packet, dropped) {
            None => self.pop(settings, now, waiting, backlog).0,
            marked => marked,
        }
    }

    /// Takes the oldest packet and says whether the queue has been too long for an interval ("dodequeue" in §5.6).
    #[inline]
    fn pop(
        &mut self,
        settings: &CoDelSettings,
        now: Time,
        waiting: &mut VecDeque<Packet>,
        backlog: &mut Backlog,
    ) -> (Option<Packet>, bool) {
        let Some(packet) = waiting.pop_front() else {
            self.first_above = None;
            return (None, false);
        };
        backlog.remove(&packet);
        // With no more than a packet left a drop could idle the link (§4.4).
        let short = now.saturating_sub(packet.enqueued) < settings.target;
        if short || backlog.bytes <= u64::from(backlog.largest) {
            self.first_above = None;
            return (Some(packet), false);
        }
        let above = match self.first_above {
            None => {
                self.first_above = Some(self.patience(settings, now));
                false
            }
            Some(from) => now >= from,
        };
        (Some(packet), above)
    }

    /// When dropping may begin for a queue that has just become too long.
    fn patience(&self, settings: &CoDelSettings, now: Time) -> Time {
        let recent = now.saturating_sub(self.drop_next) < settings.interval.saturating_mul(8);
        if settings.law == CoDelLaw::Nichols2012 && recent && self.count > 1 {
            return control_law(settings, now, self.count);
        }
        now.saturating_add(settings.interval)
    }

    /// Enters the dropping state. If it was left a short while ago, the drop rate that controlled the queue then is
    /// a good one to begin with (§5.5).
    fn enter(&mut self, settings: &CoDelSettings, now: Time) {
        let ago = now.saturating_sub(self.drop_next);
        let (resumed, intervals) = match settings.law {
            CoDelLaw::Rfc8289 => (self.count - self.last_count, 16),
            CoDelLaw::Nichols2012 => (self.count.saturating_sub(2), 8),
        };
        let recent = ago < settings.interval.saturating_mul(intervals);
        let few = match settings.law {
            CoDelLaw::Rfc8289 => resumed <= 1,
            CoDelLaw::Nichols2012 => resumed == 0,
        };
        self.count = if recent && !few { resumed } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(settings, now, self.count);
        self.dropping = true;
    }

    /// In the dropping state: drops what is due. More than one drop may be, where the rate is high (§5.5).
    fn drop_due(
        &mut self,
        settings: &CoDelSettings,
        now: Time,
        mut packet: Option<Packet>,
        waiting: &mut VecDeque<Packet>,
        backlog: &mut Backlog,
        dropped: &mut Vec<Packet>,
    ) -> Option<Packet> {
        while self.dropping && now >= self.drop_next {
            let more = self.count.saturating_add(1);
            if settings.law == CoDelLaw::Rfc8289 {
                self.count = more;
            }
            let marked = refuse(settings, packet, dropped);
            if marked.is_some() {
                self.count = more;
                self.drop_next = control_law(settings, self.drop_next, more);
                return marked;
            }
            let (next, above) = self.pop(settings, now, waiting, backlog);
            packet = next;
            if above {
                self.count = more;
                self.drop_next = control_law(settings, self.drop_next, more);
            } else {
                self.dropping = false;
            }
        }
        packet
    }
}

/// Drops a packet, or returns it marked.
fn refuse(settings: &CoDelSettings, packet: Option<Packet>, dropped: &mut Vec<Packet>) -> Option<Packet> {
    let mut packet = packet?;
    if settings.ecn && mark(&mut packet) {
        return Some(packet);
    }
    dropped.push(packet);
    None
}

/// When the next drop is due: the interval shrinks with the square root of the drops so far, which lowers the
/// throughput of TCP linearly (RFC 8289 §4.3).
fn control_law(settings: &CoDelSettings, from: Time, count: u32) -> Time {
    let wait = settings.interval as f64 / f64::from(count.max(1)).sqrt();
    // At least 1 ns, so that drops that are due come to an end.
    from.saturating_add((wait.round() as Time).max(1))
}

/// A FIFO under CoDel.
#[derive(Clone, Debug)]
pub struct CoDel {
    settings: CoDelSettings,
    limit: Limit,
    state: CoDelState,
    fifo: Fifo,
}

impl CoDel {
    /// An empty queue with this room.
    #[must_use]
    pub fn new(settings: CoDelSettings, limit: Limit) -> CoDel {
        CoDel { settings, limit, state: CoDelState::default(), fifo: Fifo::default() }
    }
}

impl Queue for CoDel {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        if self.limit.fits(self.fifo.backlog(), packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet> {
        let (waiting, backlog) = self.fifo.parts();
        self.state.dequeue(&self.settings, now, waiting, backlog, dropped)
    }

    fn packets(&self) -> usize {
        self.fifo.backlog().packets
    }

    fn bytes(&self) -> u64 {
        self.fifo.backlog().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::packet;

    const MS: Time = 1_000_000;

    /// An unresponsive source at `rate` packets per ms into a link of 1 packet per ms; the drop times in ms.
    fn overload(queue: &mut CoDel, rate: f64, from_ms: Time, to_ms: Time) -> Vec<Time> {
        let (mut drops, mut dropped, mut owed) = (vec![], vec![], 0.0);
        for ms in from_ms..to_ms {
            owed += rate;
            while owed >= 1.0 {
                owed -= 1.0;
                queue.enqueue(packet(0, ms as u32), ms * MS, &mut dropped);
            }
            queue.dequeue(ms * MS, &mut dropped);
            drops.extend(dropped.drain(..).map(|_| ms));
        }
        drops
    }

    fn codel(settings: CoDelSettings) -> CoDel {
        CoDel::new(settings, Limit::Infinite)
    }

    #[test]
    fn drops_follow_the_control_law() {
        // RFC 8289 §5.5: the first drop an interval after the delay rose above the target, then interval/sqrt(count).
        let drops = overload(&mut codel(CoDelSettings::default()), 1.5, 0, 2000);
        let first = drops[0];
        // At 1.5 packets/ms the delay grows by 1 ms in 3 ms: 5 ms are reached by 15 ms.
        assert!((110..=120).contains(&first), "{first}");
        let mut due = first as f64;
        for (count, &at) in drops.iter().enumerate().skip(1).take(60) {
            due += 100.0 / (count as f64).sqrt();
            assert!((at as f64 - due).abs() <= 1.0, "drop {count} at {at}, due {due}");
        }
    }

    #[test]
    fn below_the_target_nothing_is_dropped() {
        let mut queue = codel(CoDelSettings::default());
        overload(&mut queue, 1.5, 0, 9); // 4 packets wait
        assert!(overload(&mut queue, 1.0, 9, 5000).is_empty());
    }

    #[test]
    fn a_burst_shorter_than_an_interval_is_spared() {
        // §3.2: good queue is that which goes away within an interval.
        let mut queue = codel(CoDelSettings::default());
        let mut drops = overload(&mut queue, 3.0, 0, 30);
        drops.extend(overload(&mut queue, 0.0, 30, 500));
        assert!(drops.is_empty() && queue.packets() == 0);
    }

    #[test]
    fn the_dropping_state_ends_when_the_delay_is_below_the_target() {
        let mut queue = codel(CoDelSettings::default());
        overload(&mut queue, 1.5, 0, 500);
        assert!(queue.state.dropping);
        let rest = overload(&mut queue, 0.0, 500, 2000);
        assert!(!queue.state.dropping && queue.packets() == 0);
        // Packets left without an arrival drain; drops stop with the delay of the last that waited 5 ms.
        assert!(rest.iter().all(|&ms| ms < 750), "{rest:?}");
    }

    #[test]
    fn a_last_packet_is_never_dropped() {
        // §4.4: no drop where no more than a packet's bytes are left, however long that packet waited.
        let (mut queue, mut dropped) = (codel(CoDelSettings::default()), vec![]);
        for round in 0..50 {
            let now = round * 1000 * MS;
            queue.enqueue(packet(0, 0), now, &mut dropped);
            queue.enqueue(packet(0, 1), now, &mut dropped);
            assert!(queue.dequeue(now + 500 * MS, &mut dropped).is_some());
            assert!(queue.dequeue(now + 900 * MS, &mut dropped).is_some());
        }
        assert!(dropped.is_empty());
    }

    /// A state that left dropping at 1 s, with this many drops behind it.
    fn left(count: u32, last_count: u32) -> CoDelState {
        CoDelState { drop_next: 1000 * MS, count, last_count, ..CoDelState::default() }
    }

    #[test]
    fn the_drop_rate_resumes_soon_after_it_was_left() {
        // RFC 8289 §5.5: the drops that the last cycle added, within 16 intervals.
        let rfc = CoDelSettings::default();
        let count = |mut state: CoDelState, settings: &CoDelSettings, at: Time| {
            state.enter(settings, at * MS);
            state.count
        };
        assert_eq!(count(left(30, 10), &rfc, 1100), 20);
        assert_eq!(count(left(30, 10), &rfc, 2599), 20);
        assert_eq!(count(left(30, 10), &rfc, 2600), 1);
        assert_eq!(count(left(11, 10), &rfc, 1100), 1);
        // The code of 2012: 2 fewer, within 8 intervals.
        let old = CoDelSettings { law: CoDelLaw::Nichols2012, ..rfc };
        assert_eq!(count(left(30, 10), &old, 1799), 28);
        assert_eq!(count(left(30, 10), &old, 1800), 1);
        assert_eq!(count(left(2, 1), &old, 1100), 1);
    }

    #[test]
    fn the_code_of_2012_waits_less_before_it_drops_again() {
        let old = CoDelSettings { law: CoDelLaw::Nichols2012, ..CoDelSettings::default() };
        assert_eq!(left(4, 1).patience(&old, 1100 * MS), 1150 * MS);
        assert_eq!(left(4, 1).patience(&old, 1800 * MS), 1900 * MS);
        assert_eq!(left(1, 1).patience(&old, 1100 * MS), 1200 * MS);
        assert_eq!(left(4, 1).patience(&CoDelSettings::default(), 1100 * MS), 1200 * MS);
    }

    #[test]
    fn capable_packets_are_marked_when_others_would_be_dropped() {
        // RFC 8289 §4.2 allows a mark in place of a drop: the packet leaves, and the law goes on.
        let mut queue = codel(CoDelSettings { ecn: true, ..CoDelSettings::default() });
        let (mut marks, mut dropped) = (vec![], vec![]);
        for ms in 0..2000 {
            for _ in 0..1 + ms % 2 {
                queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(0, 0) }, ms * MS, &mut dropped);
            }
            let sent = queue.dequeue(ms * MS, &mut dropped);
            if sent.is_some_and(|p| p.ecn == Ecn::Marked) {
                marks.push(ms);
            }
        }
        assert!(dropped.is_empty());
        let gaps: Vec<_> = marks.windows(2).map(|w| w[1] - w[0]).collect();
        assert!((gaps[0] as i64 - 100).abs() <= 1 && (gaps[3] as i64 - 50).abs() <= 1, "{gaps:?}");
    }

    #[test]
    fn an_elastic_source_settles_with_a_short_standing_queue() {
        // A sender with a window that halves on a drop, once per RTT, and else grows by one packet in an RTT of 100 ms:
        // CoDel holds the delay low where drop tail would let it grow without end.
        let mut queue = codel(CoDelSettings::default());
        let (mut window, mut in_flight, mut cut_at) = (10.0f64, 0u32, 0u64);
        let (mut acks, mut dropped) = (VecDeque::new(), vec![]);
        let (mut delay, mut sent, mut seconds_above) = (0.0, 0.0, 0);
        for ms in 0..60_000u64 {
            while acks.front().is_some_and(|&at| at <= ms) {
                acks.pop_front();
                in_flight -= 1;
                window += 1.0 / window;
            }
            while f64::from(in_flight) < window.floor() {
                in_flight += 1;
                queue.enqueue(packet(0, 0), ms * MS, &mut dropped);
            }
            if let Some(p) = queue.dequeue(ms * MS, &mut dropped) {
                acks.push_back(ms + 100);
                if ms > 20_000 {
                    let waited = (ms * MS - p.enqueued) as f64 / 1e6;
                    (delay, sent) = (delay + waited, sent + 1.0);
                    seconds_above += u32::from(waited > 60.0);
                }
            }
            for _ in dropped.drain(..) {
                in_flight -= 1;
                if ms >= cut_at {
                    window = (window / 2.0).max(2.0);
                    cut_at = ms + 100;
                }
            }
        }
        assert!(delay / sent < 15.0, "mean delay {}", delay / sent);
        assert!(sent > 0.75 * 40_000.0, "sent {sent}");
        assert_eq!(seconds_above, 0);
    }
}
