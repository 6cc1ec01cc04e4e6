//! A sender that follows a rule table, through a round of ordinary ACKs and sends: what `receive`, `ready` and `act` come to
//! then, with all that changes in registers.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::packet::NUMBERS;
use exmachina_net::path::Entry;
use exmachina_net::rounds::{Answered, Course, Light};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::Streak;

use super::Sender;

impl<S: Scheme> Sender<S> {
    /// Goes along until something is not ordinary: a loss that is told, the first ACK of a flow, the last one, packets that
    /// nothing spaces, no room.
    #[inline(always)]
    pub(super) fn go_along(&mut self, course: &mut Course<'_>) -> Option<Answered> {
        if self.training.is_some() {
            return None;
        }
        if !self.in_flow() {
            self.hear_late(course);
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these features.
            return unsafe { self.go_along_avx2(course) };
        }
        self.go_along_by(course, |flow, sent, at, advance| flow.on_ack(sent.as_nanos(), at.as_nanos(), advance))
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
    unsafe fn go_along_avx2(&mut self, course: &mut Course<'_>) -> Option<Answered> {
        self.go_along_by(course, |flow, sent, at, advance| flow.on_ack_avx(sent.as_nanos(), at.as_nanos(), advance))
    }

    #[inline(always)]
    fn go_along_by(
        &mut self,
        course: &mut Course<'_>,
        on_ack: impl Fn(&mut Streak<'_>, Instant, Instant, u32),
    ) -> Option<Answered> {
        let (table, kept) = self.scheme.flow()?;
        let flow = kept.streak(table).filter(|flow| flow.intersend_ns() > 0)?;
        let window = Window {
            next_seq: self.next_seq,
            acked: self.acked,
            limit: self.limit,
            end: self.end,
            last_send: self.last_send,
        };
        let gone = if flow.has_begun() {
            // The number of a loss is larger than any, that of an earlier flow's packet smaller; the last one ends the period.
            let (first, end) = (self.first_seq, NUMBERS.min(self.end - 1));
            go_along_from(first, end - first, window, flow, course, |flow, ack, acked| {
                let next = ack.item.number + 1;
                on_ack(flow, ack.item.sent, ack.at, next - acked);
                next
            })
        } else {
            // ACKs of an earlier flow: the action is carried out once more.
            go_along_from(0, self.first_seq, window, flow, course, |flow, _, acked| {
                flow.act();
                acked
            })
        };
        kept.go_on_from(gone.flow);
        let Window { next_seq, acked, limit, last_send, .. } = gone.window;
        (self.next_seq, self.acked, self.limit, self.last_send) = (next_seq, acked, limit, last_send);
        self.delivered += course.dealt as u64;
        self.delay += gone.delay;
        self.planned = course.due;
        gone.stopped_at
    }
}

/// What a sender may send: as of [`Sender`].
struct Window {
    next_seq: u32,
    acked: u32,
    limit: u32,
    end: u32,
    last_send: Instant,
}

/// What came of going along: the sum of the RTTs, and the ACK that was not followed up, if there is one.
struct Gone<'t> {
    window: Window,
    flow: Streak<'t>,
    delay: Duration,
    stopped_at: Option<Answered>,
}

/// Goes along ACKs of packets with so many numbers from the first one; `hear` takes one in and says up to which number all is
/// acknowledged.
#[inline(always)]
fn go_along_from<'t>(
    first: u32,
    numbers: u32,
    window: Window,
    mut flow: Streak<'t>,
    course: &mut Course<'_>,
    hear: impl Fn(&mut Streak<'_>, &Entry<Light>, u32) -> u32,
) -> Gone<'t> {
    let Window { mut next_seq, mut acked, mut limit, end, mut last_send } = window;
    let (mut acks, bound) = (course.acks.iter(), course.bound);
    let mut departing = course.departing();
    let mut delay = Duration::ZERO;
    let stopped_at = loop {
        let next = acks.as_slice().first().filter(|ack| ack.at < bound);
        let until = next.map_or(bound, |ack| ack.at);
        while departing.due < until && departing.has_room() {
            last_send = departing.due;
            next_seq += 1;
            departing.send(next_seq - 1, (next_seq < limit).then_some(intersend(&flow)));
        }
        let Some(ack) = next.filter(|ack| ack.item.number.wrapping_sub(first) < numbers) else { break None };
        if !departing.has_room() {
            break None;
        }
        acks.next();
        delay += ack.at - ack.item.sent;
        acked = hear(&mut flow, ack, acked);
        limit = (acked + flow.window()).min(end);
        let pause = intersend(&flow);
        if pause == Duration::ZERO {
            break Some(Answered::of(ack));
        }
        departing.due = if next_seq < limit { last_send + pause } else { Instant::NEVER };
        if departing.due <= ack.at {
            departing.answer(next_seq, Answered::of(ack));
            next_seq += 1;
            last_send = ack.at;
            departing.due = if next_seq < limit { ack.at + pause } else { Instant::NEVER };
        }
    };
    let left = acks.len();
    course.due = departing.finish();
    course.dealt = course.acks.len() - left;
    Gone { window: Window { next_seq, acked, limit, end, last_send }, flow, delay, stopped_at }
}

/// Least time between two packets.
#[inline(always)]
fn intersend(flow: &Streak<'_>) -> Duration {
    Duration::from_nanos(flow.intersend_ns())
}
