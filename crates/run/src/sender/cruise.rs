//! A sender that follows a rule table, through a round of ordinary ACKs and sends: what `receive`, `ready` and `act` come to
//! then, with all that changes in registers.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::packet::NUMBERS;
use exmachina_net::path::Entry;
use exmachina_net::rounds::{Course, Departing, Light};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Rule, Streak, Window};

use super::Sender;

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
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these features.
            unsafe { if is_clean { self.go_along_avx2(course) } else { self.go_along_trained_avx2(course) } };
            return;
        }
        if is_clean {
            self.go_along_by(course, Rule::matches);
        } else {
            self.go_along_trained(course, Rule::matches);
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
        self.go_along_by(course, |rule, point| rule.matches_avx(point));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn go_along_trained_avx2(&mut self, course: &mut Course<'_>) {
        self.go_along_trained(course, |rule, point| rule.matches_avx(point));
    }

    #[inline(always)]
    fn go_along_by(&mut self, course: &mut Course<'_>, matches: impl Fn(&Rule, &[f64; 4]) -> bool + Copy) {
        let mut place = self.place();
        let Some((table, kept)) = self.scheme.flow() else { return };
        if !table.paces() {
            return;
        }
        let Some((mut flow, window)) = kept.streak(table) else { return };
        place.window = window;
        if flow.has_begun() {
            // No other is: an ACK that passes over packets tells the scheme of losses, and the last one ends the period.
            let last = NUMBERS.min(self.end - 1);
            place.go_along::<false>(last, &mut flow, course, |flow, ack| {
                flow.on_ack(ack.item.sent.as_nanos(), ack.at.as_nanos(), 1, matches)
            });
        } else {
            // The action is carried out once more.
            place.go_along::<true>(self.first_seq, &mut flow, course, |flow, _| flow.rule());
        }
        kept.go_on_from(flow, place.window);
        self.keep(place, course);
    }

    /// Where it stands; the window is the scheme's to say.
    #[inline(always)]
    fn place(&self) -> Place {
        Place {
            next_seq: self.next_seq,
            acked: self.acked,
            limit: self.limit,
            end: self.end,
            last_send: self.last_send,
            window: Window::default(),
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
    window: Window,
    /// Sum of the RTTs.
    rtts: Duration,
}

impl Place {
    /// Goes along ACKs of the next packets, or of those of an earlier flow, up to this number; `hear` takes one in and finds the rule.
    #[inline(always)]
    fn go_along<'t, const STALE: bool>(
        &mut self,
        before: u32,
        flow: &mut Streak<'t>,
        course: &mut Course<'_>,
        hear: impl Fn(&mut Streak<'t>, &Entry<Light>) -> &'t Rule,
    ) {
        let (acks, bound) = (course.acks, course.bound);
        let mut departing = course.departing();
        let (mut dealt, mut pause) = (0, intersend(flow.rule()));
        let until = loop {
            let Some(ack) = acks.get(dealt) else { break bound };
            let number = ack.item.number;
            if ack.at >= bound || number >= before || !STALE && number != self.acked {
                break ack.at.min(bound);
            }
            self.send_before(ack.at, pause, &mut departing);
            dealt += 1;
            self.rtts += ack.at - ack.item.sent;
            let rule = hear(flow, ack);
            self.acked += u32::from(!STALE);
            self.window.act(rule);
            pause = intersend(rule);
            self.open();
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
    fn open(&mut self) {
        self.limit = (self.acked + self.window.packets()).min(self.end);
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
fn intersend(rule: &Rule) -> Duration {
    Duration::from_nanos(rule.intersend_ns)
}
