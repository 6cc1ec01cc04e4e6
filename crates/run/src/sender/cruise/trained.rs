//! The same where receivers acknowledge several packets at a time, pacing timers are late or clocks are coarse: what
//! `training.rs` does packet by packet. An ACK that waited until it was due is not ordinary. A loop of its own, since that of
//! clean networks has no register left.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::path::Entry;
use exmachina_net::random::Stream;
use exmachina_net::rounds::{Course, Departing, Light};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Rule, Streak};

use super::{Place, Sender, Training, intersend};

impl<S: Scheme> Sender<S> {
    /// As [`Sender::go_along_table`], of one that is trained.
    #[inline(always)]
    pub(super) fn go_along_table_trained(
        &mut self,
        course: &mut Course<'_>,
        matches: impl Fn(&Rule, &[f64; 4]) -> bool,
    ) {
        let (mut place, last, first) = (self.place(), self.last(), self.first_seq);
        let (Some((table, kept)), Some(training)) = (self.scheme.flow(), &mut self.training) else { return };
        let Some(mut flow) = kept.table_streak(table, matches) else { return };
        if training.never_waits() {
            return;
        }
        follow(&mut place, &mut flow, training, (&mut self.due, &mut self.late_by), course, [last, first]);
        kept.go_on_from(flow);
        self.keep(place, course);
    }

    /// As [`Sender::go_along_law`], of one that is trained.
    #[inline(never)]
    pub(super) fn go_along_law_trained(&mut self, course: &mut Course<'_>) {
        let (mut place, last, first) = (self.place(), self.last(), self.first_seq);
        let (Some((table, kept)), Some(training)) = (self.scheme.flow(), &mut self.training) else { return };
        let Some(mut flow) = kept.law_streak(table) else { return };
        if training.never_waits() {
            return;
        }
        follow(&mut place, &mut flow, training, (&mut self.due, &mut self.late_by), course, [last, first]);
        kept.act(table);
        self.keep(place, course);
    }
}

impl Training {
    /// Whether ACKs are said to wait and do not: each is due as it comes.
    fn never_waits(&self) -> bool {
        self.delay == Duration::ZERO && self.acks.packets > 1
    }
}

/// As [`Place::follow`]; between what is kept of the receiver and of the timer before and after.
#[inline(always)]
fn follow(
    place: &mut Place,
    flow: &mut impl Streak,
    training: &mut Training,
    (due, late_by): (&mut Instant, &mut Duration),
    course: &mut Course<'_>,
    [last, first]: [u32; 2],
) {
    let has_begun = flow.has_begun();
    let mut ends = Ends {
        place,
        flow,
        held: training.held,
        last_sent: training.last.1,
        due: *due,
        late_by: *late_by,
        tick: training.clock,
        packets: training.acks.packets,
        delay: training.delay,
        latest: training.latest,
        timers: &mut training.timers,
    };
    if has_begun {
        ends.go_along::<false>(last, course);
    } else {
        ends.go_along::<true>(first, course);
    }
    (*due, *late_by) = (ends.due, ends.late_by);
    (training.held, training.last.1) = (ends.held, ends.last_sent);
    training.last.0 = (place.acked + training.held).wrapping_sub(1);
}

/// Sender and receiver.
struct Ends<'a, F> {
    place: &'a mut Place,
    flow: &'a mut F,
    /// Packets that are not acknowledged yet, when the last of them was sent, and when they are at the latest.
    held: u32,
    last_sent: Instant,
    due: Instant,
    /// As of [`Sender`].
    late_by: Duration,
    /// The tick of the clock.
    tick: Duration,
    /// So many packets are acknowledged at a time, or what there is after so long.
    packets: u32,
    delay: Duration,
    /// How late timers are at most, ns.
    latest: f64,
    timers: &'a mut Stream,
}

impl<F: Streak> Ends<'_, F> {
    /// As [`Place::go_along`], and up to an ACK that waited until it was due.
    #[inline(always)]
    fn go_along<const STALE: bool>(&mut self, before: u32, course: &mut Course<'_>) {
        let acks = course.acks;
        let (whole, mut dealt) = (course.bound, 0);
        let mut bound = whole.min(self.due);
        let mut departing = course.departing();
        // Planned is the earlier of a held ACK and a send; and that is when it is ready, or at once where that has passed.
        departing.due = self.ready().max(departing.due);
        let until = loop {
            let Some(ack) = acks.get(dealt) else { break bound };
            let number = ack.item.number;
            if ack.at >= bound || number >= before || !STALE && number != self.place.acked + self.held {
                break ack.at.min(bound);
            }
            self.send_before(ack.at, &mut departing);
            dealt += 1;
            self.place.rtts += ack.at - ack.item.sent;
            if STALE {
                // The action is carried out once more.
                self.flow.act();
                self.place.open(self.flow);
                departing.due = self.ready();
            } else if self.must_hold(ack) {
                bound = bound.min(self.due);
            } else {
                self.take_in(ack);
                bound = whole;
                departing.due = self.ready();
            }
            if departing.due <= ack.at {
                departing.answer(self.place.next_seq, ack);
                departing.due = self.sent(ack.at);
            }
        };
        self.send_before(until, &mut departing);
        course.due = departing.finish().min(self.due);
        course.dealt = dealt;
    }

    /// When it may send.
    #[inline(always)]
    fn ready(&self) -> Instant {
        let &mut Place { next_seq, limit, last_send, .. } = self.place;
        if next_seq < limit { last_send + intersend(self.flow) + self.late_by } else { Instant::NEVER }
    }

    /// Sends what is due before an instant.
    #[inline(always)]
    fn send_before(&mut self, until: Instant, departing: &mut Departing<'_>) {
        while departing.due < until {
            let now = departing.due;
            departing.send(self.place.next_seq, None);
            departing.due = self.sent(now);
        }
    }

    /// A packet is sent now: when the next one is.
    #[inline(always)]
    fn sent(&mut self, now: Instant) -> Instant {
        self.place.next_seq += 1;
        self.place.last_send = now - self.late_by;
        if self.latest > 0.0 {
            self.late_by = Duration::from_few_nanos_f64(self.timers.uniform() * self.latest);
        }
        self.ready().max(now)
    }

    /// A packet of the present flow arrives: whether its ACK waits for others.
    #[inline(always)]
    fn must_hold(&mut self, ack: &Entry<Light>) -> bool {
        self.held += 1;
        let holds = self.held < self.packets;
        if holds {
            self.last_sent = ack.item.sent;
            self.due = self.due.min(ack.at + self.delay);
        }
        holds
    }

    /// Takes in the ACK of all that is held.
    #[inline(always)]
    fn take_in(&mut self, ack: &Entry<Light>) {
        let [sent, received] = [ack.item.sent, ack.at].map(|at| at.ticked(self.tick).as_nanos());
        self.flow.on_stretched_ack(sent, received, self.tick.as_nanos(), self.held);
        self.place.acked += self.held;
        (self.held, self.due) = (0, Instant::NEVER);
        self.place.open(self.flow);
    }
}
