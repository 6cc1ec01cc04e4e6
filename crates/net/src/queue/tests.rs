//! What every queue discipline must keep, whatever comes: packets are conserved, those of a sender stay in order, the
//! counts are right and the limit holds.

use crate::time::Duration;
use proptest::prelude::*;

use super::testing::stream;
use super::*;
use crate::packet::{Ecn, XcpHeader};

/// All kinds, with settings under which they drop and mark soon.
fn kinds() -> Vec<QueueKind> {
    let codel = CoDelSettings {
        target: Duration::from_millis(2),
        interval: Duration::from_millis(10),
        ..CoDelSettings::default()
    };
    let old = CoDelSettings { law: CoDelLaw::Nichols2012, ..codel };
    let marking = CoDelSettings { ecn: true, ..codel };
    let sfq = SfqCoDelSettings { bins: 3, codel: old, ..SfqCoDelSettings::default() };
    let red = RedSettings { weight: 0.3, max_threshold: 9.0, ..RedSettings::default() };
    let pie = PieSettings { burst: Duration::ZERO, alpha: 60.0, beta: 200.0, ..PieSettings::default() };
    vec![
        QueueKind::DropTail,
        QueueKind::Step(StepSettings { threshold: 4 }),
        QueueKind::Red(red),
        QueueKind::Red(RedSettings { ecn: true, wait: false, gentle: false, ..red }),
        QueueKind::CoDel(codel),
        QueueKind::CoDel(old),
        QueueKind::CoDel(marking),
        QueueKind::Cobalt(CobaltSettings { codel }),
        QueueKind::Cobalt(CobaltSettings { codel: marking }),
        QueueKind::SfqCoDel(sfq),
        QueueKind::SfqCoDel(SfqCoDelSettings { overflow: Overflow::Arrival, new_first: false, ..sfq }),
        QueueKind::FqCoDel(FqCoDelSettings { queues: 3, codel, ..FqCoDelSettings::default() }),
        QueueKind::FqCoDel(FqCoDelSettings {
            quantum: 100,
            drop_batch: 3,
            codel: marking,
            ..FqCoDelSettings::default()
        }),
        QueueKind::Pie(pie),
        QueueKind::Pie(PieSettings { ecn: true, ..pie }),
        QueueKind::Xcp(XcpSettings::default()),
    ]
}

/// What happens to a queue, some time after the last.
#[derive(Clone, Copy, Debug)]
struct Event {
    wait: Duration,
    /// Sender, bytes and whether it can be marked; none: the link takes a packet.
    arrival: Option<(u16, u16, bool)>,
}

fn steps() -> impl Strategy<Value = Vec<Event>> {
    let wait = prop_oneof![8 => 0..2_000_000u64, 2 => 0..30_000_000u64, 1 => 0..5_000_000_000u64];
    let arrival = (0..5u16, prop_oneof![Just(1250u16), 1..1500u16], any::<bool>());
    let step = (wait, prop::option::weighted(0.6, arrival))
        .prop_map(|(wait, arrival)| Event { wait: Duration::from_nanos(wait), arrival });
    prop::collection::vec(step, 0..300)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![Just(Limit::Infinite), (0..40u32).prop_map(Limit::Packets), (0..40_000u64).prop_map(Limit::Bytes)]
}

/// Packets that wait, by a model: those that came and have neither left nor been dropped, in order.
struct Model {
    waiting: Vec<(u16, u32, u16)>,
}

impl Model {
    fn remove(&mut self, packet: &Packet) -> Result<(), TestCaseError> {
        let key = (packet.sender, packet.seq, packet.bytes);
        let at = self.waiting.iter().position(|w| *w == key);
        prop_assert!(at.is_some(), "{key:?} left twice or never came");
        self.waiting.remove(at.unwrap_or(0));
        Ok(())
    }

    fn agrees(&self, queue: &AnyQueue) -> Result<(), TestCaseError> {
        prop_assert_eq!(queue.packets(), self.waiting.len());
        prop_assert_eq!(queue.bytes(), self.waiting.iter().map(|w| u64::from(w.2)).sum::<u64>());
        Ok(())
    }
}

fn check(kind: &QueueKind, limit: Limit, steps: &[Event]) -> Result<(), TestCaseError> {
    let mut queue = AnyQueue::new(kind, limit, 1.25e6, stream());
    let (mut model, mut dropped, mut now) = (Model { waiting: vec![] }, vec![], Instant::START);
    let mut last_left = [None; 5];
    // All that happens, and then the link empties the queue.
    let drain = std::iter::repeat(Event { wait: Duration::from_nanos(100_000), arrival: None });
    for (seq, step) in (0u32..).zip(steps.iter().copied().chain(drain)) {
        if seq as usize >= steps.len() && queue.packets() == 0 {
            break;
        }
        now += step.wait;
        if let Some((sender, bytes, capable)) = step.arrival {
            model.waiting.push((sender, seq, bytes));
            let ecn = if capable { Ecn::Capable } else { Ecn::NotCapable };
            let xcp = XcpHeader { window_bytes: 5e3, rtt_s: f64::from(sender) * 0.01, feedback_bytes: 1e9 };
            queue.enqueue(Packet { sender, seq, bytes, ecn, xcp, sent: now, ..Packet::default() }, now, &mut dropped);
        } else {
            let waited = queue.packets() > 0;
            let left = queue.dequeue(now, &mut dropped);
            prop_assert!(waited || left.is_none());
            prop_assert!(left.is_some() || queue.packets() == 0, "the link idles while packets wait");
            if let Some(p) = left {
                model.remove(&p)?;
                let last = &mut last_left[usize::from(p.sender)];
                prop_assert!(last.is_none_or(|last| last < p.seq), "sender {} reordered", p.sender);
                prop_assert_eq!(p.enqueued, p.sent);
                *last = Some(p.seq);
            }
        }
        for p in dropped.drain(..) {
            prop_assert!(p.ecn != Ecn::Marked, "dropped a marked packet");
            model.remove(&p)?;
        }
        model.agrees(&queue)?;
        let fits = match limit {
            Limit::Infinite => true,
            Limit::Packets(n) => queue.packets() <= n as usize,
            Limit::Bytes(n) => queue.bytes() <= n,
        };
        prop_assert!(fits, "more waits than there is room for");
    }
    Ok(())
}

proptest! {
    #[test]
    fn packets_are_conserved_in_order_and_within_the_limit(limit in limits(), steps in steps()) {
        for kind in kinds() {
            check(&kind, limit, &steps).map_err(|e| TestCaseError::fail(format!("{kind:?}: {e}")))?;
        }
    }
}

/// Drops and marks of a queue under an overload of senders of which every other can be marked.
fn interventions(kind: &QueueKind) -> (usize, usize) {
    let mut queue = AnyQueue::new(kind, Limit::Infinite, 1.25e6, stream());
    let (mut dropped, mut marked) = (vec![], 0);
    for ms in 0..1000u64 {
        for sender in 0..2u16 {
            let ecn = if sender == 1 { Ecn::Capable } else { Ecn::NotCapable };
            let p = Packet { ecn, ..testing::packet(sender, ms as u32) };
            queue.enqueue(p, Instant::from_nanos(ms * 1_000_000), &mut dropped);
        }
        let left = queue.dequeue(Instant::from_nanos(ms * 1_000_000), &mut dropped);
        marked += usize::from(left.is_some_and(|p| p.ecn == Ecn::Marked));
    }
    (dropped.len(), marked)
}

#[test]
fn the_settings_of_the_property_test_drop_and_mark() {
    // Or it would show nothing.
    for kind in kinds() {
        let (drops, marks) = interventions(&kind);
        let quiet = matches!(kind, QueueKind::DropTail | QueueKind::Xcp(_));
        assert_eq!(drops > 0, !quiet, "{kind:?}: {drops} drops");
        let marking = match kind {
            QueueKind::Step(_) => true,
            QueueKind::Red(s) => s.ecn,
            QueueKind::CoDel(s) => s.ecn,
            QueueKind::Cobalt(s) => s.codel.ecn,
            QueueKind::FqCoDel(s) => s.codel.ecn,
            QueueKind::Pie(s) => s.ecn,
            _ => false,
        };
        assert_eq!(marks > 0, marking, "{kind:?}: {marks} marks");
    }
}

#[test]
fn the_same_stream_gives_the_same_run() {
    for kind in kinds() {
        assert_eq!(interventions(&kind), interventions(&kind), "{kind:?}");
    }
}
