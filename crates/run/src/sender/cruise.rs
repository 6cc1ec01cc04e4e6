//! A sender that follows a rule table or a law, through a round of ordinary ACKs and sends: what `receive`, `ready` and `act`
//! come to then, with what changes in registers.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::packet::NUMBERS;
use exmachina_net::rounds::{Course, Departing};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Rule, Streak};

use super::{Sender, Training};

mod trained;

impl<S: Scheme> Sender<S> {
    /// Goes along until something is not ordinary: a loss that is told, an ACK that shows one, the first ACK of a flow, or the
    /// last one.
    #[inline(always)]
    pub(super) fn go_along(&mut self, course: &mut Course<'_>) {
        if !self.in_flow() {
            self.hear_late(course);
            return;
        }
        let mut is_clean = course.clock <= Duration::NANOSECOND;
        if let Some(training) = &self.training {
            is_clean = training.only_upsets;
            // What comes once a flow is to be upset is not ordinary.
            course.bound = course.bound.min(training.upset_at);
        }
        let is_law = self.scheme.flow().is_some_and(|(table, _)| table.law().is_some());
        #[cfg(target_arch = "x86_64")]
        if !is_law && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these features.
            unsafe { if is_clean { self.go_along_avx2(course) } else { self.go_along_trained_avx2(course) } };
            return;
        }
        match (is_law, is_clean) {
            (true, true) => self.go_along_law(course),
            (true, false) => self.go_along_law_trained(course),
            (false, true) => self.go_along_table(course, Rule::matches),
            (false, false) => self.go_along_table_trained(course, Rule::matches),
        }
    }

    /// Counts ACKs that come while it is off.
    fn hear_late(&mut self, course: &mut Course<'_>) {
        let (bound, mut rtts) = (course.bound, Duration::ZERO);
        for ack in course.acks.iter().take_while(|ack| ack.at < bound && !ack.item.is_lost()) {
            rtts += ack.at - ack.item.sent;
            course.dealt += 1;
        }
        let count = course.dealt as u64;
        (self.delivered, self.delay) = (self.delivered + count, self.delay + rtts);
        self.late = (self.late.0 + count, self.late.1 + rtts);
    }

    /// The same code with wider registers. A function of its own, since the registers are just enough for it.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn go_along_avx2(&mut self, course: &mut Course<'_>) {
        self.go_along_table(course, |rule, point| rule.matches_avx(point));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn go_along_trained_avx2(&mut self, course: &mut Course<'_>) {
        self.go_along_table_trained(course, |rule, point| rule.matches_avx(point));
    }

    #[inline(always)]
    fn go_along_table(&mut self, course: &mut Course<'_>, matches: impl Fn(&Rule, &[f64; 4]) -> bool) {
        let (mut place, last, first) = (self.place(), self.last(), self.first_seq);
        let Some((table, kept)) = self.scheme.flow() else { return };
        let Some(mut flow) = kept.table_streak(table, matches) else { return };
        place.follow(&mut flow, course, last, first);
        kept.go_on_from(flow);
        self.keep(place, course);
    }

    #[inline(never)]
    fn go_along_law(&mut self, course: &mut Course<'_>) {
        let (mut place, last, first) = (self.place(), self.last(), self.first_seq);
        let Some((table, kept)) = self.scheme.flow() else { return };
        let Some(mut flow) = kept.law_streak(table) else { return };
        place.follow(&mut flow, course, last, first);
        kept.act(table);
        self.keep(place, course);
    }

    /// Its first packet whose ACK is not ordinary, but for those that pass over packets, which tell the scheme of losses: the last
    /// one ends the period.
    #[inline(always)]
    fn last(&self) -> u32 {
        NUMBERS.min(self.end.wrapping_sub(1))
    }

    /// Where it stands.
    #[inline(always)]
    fn place(&self) -> Place {
        Place {
            next_seq: self.next_seq,
            acked: self.acked,
            limit: self.limit,
            end: self.end,
            last_send: self.last_send,
            rtts: Duration::ZERO,
        }
    }

    /// It stands there, at the end of this.
    #[inline(always)]
    fn keep(&mut self, place: Place, course: &Course<'_>) {
        let Place { next_seq, acked, limit, last_send, rtts, .. } = place;
        (self.next_seq, self.acked, self.limit, self.last_send) = (next_seq, acked, limit, last_send);
        self.delivered += course.dealt as u64;
        self.delay += rtts;
        self.planned = course.due;
    }
}

/// What a sender may send: as of [`Sender`].
struct Place {
    next_seq: u32,
    acked: u32,
    limit: u32,
    end: u32,
    last_send: Instant,
    /// Sum of the RTTs.
    rtts: Duration,
}

impl Place {
    /// Goes along ACKs before the `last` packet; or, before the first of its flow, along those of an earlier one.
    #[inline(always)]
    fn follow(&mut self, flow: &mut impl Streak, course: &mut Course<'_>, last: u32, first: u32) {
        if flow.has_begun() {
            self.go_along::<false>(last, flow, course);
        } else {
            self.go_along::<true>(first, flow, course);
        }
    }

    /// Goes along ACKs of the next packets, or of those of an earlier flow, up to this number.
    #[inline(always)]
    fn go_along<const STALE: bool>(&mut self, before: u32, flow: &mut impl Streak, course: &mut Course<'_>) {
        let (acks, bound) = (course.acks, course.bound);
        let mut departing = course.departing();
        let (mut dealt, mut pause) = (0, intersend(flow));
        let until = loop {
            let Some(ack) = acks.get(dealt) else { break bound };
            let number = ack.item.number;
            if ack.at >= bound || number >= before || !STALE && number != self.acked {
                break ack.at.min(bound);
            }
            self.send_before(ack.at, pause, &mut departing);
            dealt += 1;
            self.rtts += ack.at - ack.item.sent;
            if STALE {
                // The action is carried out once more.
                flow.act();
            } else {
                flow.on_ack(ack.item.sent.as_nanos(), ack.at.as_nanos(), 1);
                self.acked += 1;
            }
            pause = intersend(flow);
            self.open(flow);
            departing.due = if self.next_seq < self.limit { self.last_send + pause } else { Instant::NEVER };
            if departing.due <= ack.at {
                departing.answer(self.next_seq, ack);
                self.next_seq += 1;
                self.last_send = ack.at;
                departing.due = if self.next_seq < self.limit { ack.at + pause } else { Instant::NEVER };
            }
        };
        self.send_before(until, pause, &mut departing);
        course.due = departing.finish();
        course.dealt = dealt;
    }

    /// So many packets may be under way.
    #[inline(always)]
    fn open(&mut self, flow: &impl Streak) {
        self.limit = (self.acked + flow.window()).min(self.end);
    }

    /// Sends what is due before an instant.
    #[inline(always)]
    fn send_before(&mut self, until: Instant, pause: Duration, departing: &mut Departing<'_>) {
        while departing.due < until {
            self.last_send = departing.due;
            self.next_seq += 1;
            departing.send(self.next_seq - 1, (self.next_seq < self.limit).then_some(pause));
        }
    }
}

/// Least time between two packets.
#[inline(always)]
fn intersend(flow: &impl Streak) -> Duration {
    Duration::from_nanos(flow.intersend_ns())
}
