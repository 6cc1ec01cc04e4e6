//! A sender that follows a rule table, through a round of ordinary ACKs and sends: what `receive`, `ready` and `act` come to
//! then, with all that changes in registers.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::packet::NUMBERS;
use exmachina_net::path::Entry;
use exmachina_net::rounds::{Answered, Course, Light};
use exmachina_net::time::{NEVER, Time};
use exmachina_rules::Streak;

use super::Sender;

impl<S: Scheme> Sender<S> {
    /// Goes along until something is not ordinary: a loss that is told, an ACK that shows one, the first ACK of a flow, the last one, packets that
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
        self.go_along_by(course, |flow, sent, at| flow.on_ack(sent, at))
    }

    /// Counts ACKs that come while it is off.
    fn hear_late(&mut self, course: &mut Course<'_>) {
        let (bound, mut rtts) = (course.bound, 0);
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
        self.go_along_by(course, |flow, sent, at| flow.on_ack_avx(sent, at))
    }

    #[inline(always)]
    fn go_along_by(
        &mut self,
        course: &mut Course<'_>,
        on_ack: impl Fn(&mut Streak<'_>, Time, Time),
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
            // No other is: an ACK that passes over packets tells the scheme of losses, and the last one ends the period.
            let last = NUMBERS.min(self.end - 1);
            let next = |number: u32, acked: u32| number == acked && number != last;
            go_along_from(next, window, flow, course, |flow, ack, acked| {
                on_ack(flow, ack.item.sent, ack.at);
                acked + 1
            })
        } else {
            // ACKs of an earlier flow: the action is carried out once more.
            let first = self.first_seq;
            go_along_from(
                |number, _| number < first,
                window,
                flow,
                course,
                |flow, _, acked| {
                    flow.act();
                    acked
                },
            )
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
    last_send: Time,
}

/// What came of going along: the sum of the RTTs, and the ACK that was not followed up, if there is one.
struct Gone<'t> {
    window: Window,
    flow: Streak<'t>,
    delay: Time,
    stopped_at: Option<Answered>,
}

/// Goes along ACKs of packets whose numbers are ordinary after those acknowledged; `hear` takes one in and says up to which number
/// all is acknowledged then.
#[inline(always)]
fn go_along_from<'t>(
    ordinary: impl Fn(u32, u32) -> bool,
    window: Window,
    mut flow: Streak<'t>,
    course: &mut Course<'_>,
    hear: impl Fn(&mut Streak<'_>, &Entry<Light>, u32) -> u32,
) -> Gone<'t> {
    let Window { mut next_seq, mut acked, mut limit, end, mut last_send } = window;
    let (mut acks, bound) = (course.acks.iter(), course.bound);
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
        let Some(ack) = next.filter(|ack| ordinary(ack.item.number, acked)) else { break None };
        if !departing.has_room() {
            break None;
        }
        acks.next();
        delay += ack.at - ack.item.sent;
        acked = hear(&mut flow, ack, acked);
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
    Gone { window: Window { next_seq, acked, limit, end, last_send }, flow, delay, stopped_at }
}
