//! A sender that follows a rule table, through a round of ordinary ACKs and sends: what `receive`, `ready` and `act` come to
//! then, with all that changes in registers.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::packet::NUMBERS;
use exmachina_net::rounds::{Answered, Course};
use exmachina_net::time::{NEVER, Time};
use exmachina_rules::Streak;

use super::Sender;

impl<S: Scheme> Sender<S> {
    /// Goes along until something is not ordinary: a loss that is told, an ACK of an earlier flow or the first of this one, the
    /// end of the on-period, packets that nothing spaces, no room.
    #[inline(always)]
    pub(super) fn go_along(&mut self, course: &mut Course<'_>) -> Option<Answered> {
        if self.training.is_some() || !self.in_flow() {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these features.
            return unsafe { self.go_along_avx2(course) };
        }
        self.go_along_by(course, |flow, sent, at, advance| flow.on_ack(sent, at, advance))
    }

    /// The same code with wider registers. A function of its own, since the registers are just enough for it.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn go_along_avx2(&mut self, course: &mut Course<'_>) -> Option<Answered> {
        self.go_along_by(course, |flow, sent, at, advance| flow.on_ack_avx(sent, at, advance))
    }

    #[inline(always)]
    fn go_along_by(
        &mut self,
        course: &mut Course<'_>,
        on_ack: impl Fn(&mut Streak<'_>, Time, Time, u32),
    ) -> Option<Answered> {
        let (table, kept) = self.scheme.flow()?;
        let mut flow = kept.streak(table).filter(|flow| flow.intersend_ns() > 0)?;
        let (mut acks, bound) = (course.acks.iter(), course.bound);
        let (first_seq, end) = (self.first_seq, self.end);
        let (mut next_seq, mut acked, mut limit, mut last_send) =
            (self.next_seq, self.acked, self.limit, self.last_send);
        // The number of a loss is larger than any, that of an earlier flow's packet smaller; the last one ends the period.
        let ordinary = NUMBERS.min(end - 1) - first_seq;
        let mut departing = course.departing();
        let mut delay = 0;
        let stopped_at = loop {
            let next = acks.as_slice().first().filter(|ack| ack.at < bound);
            let until = next.map_or(bound, |ack| ack.at);
            while departing.due < until && departing.has_room() {
                last_send = departing.due;
                next_seq += 1;
                departing.send(next_seq - 1, (next_seq < limit).then_some(flow.intersend_ns()));
            }
            let Some(ack) = next.filter(|ack| ack.item.number.wrapping_sub(first_seq) < ordinary) else { break None };
            if !departing.has_room() {
                break None;
            }
            acks.next();
            delay += ack.at - ack.item.sent;
            on_ack(&mut flow, ack.item.sent, ack.at, ack.item.number + 1 - acked);
            acked = ack.item.number + 1;
            limit = (acked + flow.window()).min(end);
            let pause = flow.intersend_ns();
            if pause == 0 {
                break Some(Answered::of(ack));
            }
            departing.due = if next_seq < limit { last_send + pause } else { NEVER };
            if departing.due <= ack.at {
                departing.answer(next_seq, Answered::of(ack));
                next_seq += 1;
                last_send = ack.at;
                departing.due = if next_seq < limit { ack.at + pause } else { NEVER };
            }
        };
        let left = acks.len();
        course.due = departing.finish();
        course.dealt = course.acks.len() - left;
        kept.go_on_from(flow);
        (self.next_seq, self.acked, self.limit, self.last_send) = (next_seq, acked, limit, last_send);
        self.delivered += course.dealt as u64;
        self.delay += delay;
        self.planned = course.due;
        stopped_at
    }
}
