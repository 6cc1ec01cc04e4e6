//! Tests of CoDel against RFC 8289: when drops begin, how they follow each other, and when they end.

use super::*;
use crate::packet::Ecn;
use crate::queue::testing::packet;

const MS: Duration = Duration::from_millis(1);

/// An unresponsive source at `rate` packets per ms into a link of 1 packet per ms; the drop times in ms.
fn overload(queue: &mut CoDel, rate: f64, from_ms: u64, to_ms: u64) -> Vec<u64> {
    let (mut drops, mut dropped, mut owed) = (vec![], vec![], 0.0);
    for ms in from_ms..to_ms {
        owed += rate;
        while owed >= 1.0 {
            owed -= 1.0;
            queue.enqueue(packet(0, ms as u32), Instant::from_millis(ms), &mut dropped);
        }
        queue.dequeue(Instant::from_millis(ms), &mut dropped);
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
        queue.enqueue(packet(0, 0), Instant::START + now, &mut dropped);
        queue.enqueue(packet(0, 1), Instant::START + now, &mut dropped);
        assert!(queue.dequeue(Instant::START + now + 500 * MS, &mut dropped).is_some());
        assert!(queue.dequeue(Instant::START + now + 900 * MS, &mut dropped).is_some());
    }
    assert!(dropped.is_empty());
}

/// A state that left dropping at 1 s, with this many drops behind it.
fn left(count: u32, last_count: u32) -> CoDelState {
    CoDelState { drop_next: Instant::from_millis(1000), count, last_count, ..CoDelState::default() }
}

#[test]
fn the_drop_rate_resumes_soon_after_it_was_left() {
    // RFC 8289 §5.5: the drops that the last cycle added, within 16 intervals.
    let rfc = CoDelSettings::default();
    let count = |mut state: CoDelState, settings: &CoDelSettings, at: u64| {
        state.enter(settings, Instant::from_millis(at));
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
    assert_eq!(left(4, 1).patience(&old, Instant::from_millis(1100)), Instant::from_millis(1150));
    assert_eq!(left(4, 1).patience(&old, Instant::from_millis(1800)), Instant::from_millis(1900));
    assert_eq!(left(1, 1).patience(&old, Instant::from_millis(1100)), Instant::from_millis(1200));
    assert_eq!(left(4, 1).patience(&CoDelSettings::default(), Instant::from_millis(1100)), Instant::from_millis(1200));
}

#[test]
fn capable_packets_are_marked_when_others_would_be_dropped() {
    // RFC 8289 §4.2 allows a mark in place of a drop: the packet leaves, and the law goes on.
    let mut queue = codel(CoDelSettings { ecn: true, ..CoDelSettings::default() });
    let (mut marks, mut dropped) = (vec![], vec![]);
    for ms in 0..2000 {
        for _ in 0..1 + ms % 2 {
            queue.enqueue(Packet { ecn: Ecn::Capable, ..packet(0, 0) }, Instant::from_millis(ms), &mut dropped);
        }
        let sent = queue.dequeue(Instant::from_millis(ms), &mut dropped);
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
            queue.enqueue(packet(0, 0), Instant::from_millis(ms), &mut dropped);
        }
        if let Some(p) = queue.dequeue(Instant::from_millis(ms), &mut dropped) {
            acks.push_back(ms + 100);
            if ms > 20_000 {
                let waited = (Instant::from_millis(ms) - p.enqueued).as_nanos_f64() / 1e6;
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
