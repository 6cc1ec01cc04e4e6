//! CoDel, controlled delay (RFC 8289): drops on departure while the least time that packets waited in an interval
//! stays above a target, more often the longer that lasts.
//!
//! [`CoDelState`] is the law alone; fair queueing keeps one per flow.

use std::collections::VecDeque;

use super::{Backlog, Fifo, Limit, Queue, mark};
use crate::packet::Packet;
use crate::time::{Duration, Instant};

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
    pub target: Duration,
    /// Time over which that least is taken, ns: about the largest common RTT (RFC 8289 §4.3).
    pub interval: Duration,
    /// Which text of the law.
    pub law: CoDelLaw,
    /// Mark packets that can be marked instead of dropping them.
    pub ecn: bool,
}

impl Default for CoDelSettings {
    fn default() -> Self {
        CoDelSettings {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            law: CoDelLaw::Rfc8289,
            ecn: false,
        }
    }
}

/// The state of the law for one FIFO (RFC 8289 §5.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct CoDelState {
    /// When dropping may begin if the time in the queue stays above the target; none while below.
    first_above: Option<Instant>,
    /// When the next packet is to be dropped.
    drop_next: Instant,
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
        now: Instant,
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

    /// The FIFO is empty: it is below the target, and what comes next begins anew.
    #[inline]
    pub fn rest(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

    /// Takes the oldest packet and says whether the queue has been too long for an interval ("dodequeue" in §5.6).
    #[inline]
    fn pop(
        &mut self,
        settings: &CoDelSettings,
        now: Instant,
        waiting: &mut VecDeque<Packet>,
        backlog: &mut Backlog,
    ) -> (Option<Packet>, bool) {
        let Some(packet) = waiting.pop_front() else {
            self.first_above = None;
            return (None, false);
        };
        backlog.remove(&packet);
        // With no more than a packet left a drop could idle the link (§4.4).
        let short = now.since(packet.enqueued) < settings.target;
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
    fn patience(&self, settings: &CoDelSettings, now: Instant) -> Instant {
        let recent = now.since(self.drop_next) < settings.interval.saturating_mul(8);
        if settings.law == CoDelLaw::Nichols2012 && recent && self.count > 1 {
            return control_law(settings, now, self.count);
        }
        now.saturating_add(settings.interval)
    }

    /// Enters the dropping state. If it was left a short while ago, the drop rate that controlled the queue then is
    /// a good one to begin with (§5.5).
    fn enter(&mut self, settings: &CoDelSettings, now: Instant) {
        let ago = now.since(self.drop_next);
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
        now: Instant,
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
fn control_law(settings: &CoDelSettings, from: Instant, count: u32) -> Instant {
    let wait = settings.interval.as_nanos_f64() / f64::from(count.max(1)).sqrt();
    // At least 1 ns, so that drops that are due come to an end.
    from.saturating_add(Duration::from_nanos_f64(wait.round()).max(Duration::NANOSECOND))
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
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        if self.limit.fits(self.fifo.backlog(), packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Packet>) -> Option<Packet> {
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
mod tests;
