//! Queue disciplines under long flows: the delay that they aim at, with the link in use.

use exmachina_hosts::scheme::{AnyScheme, Cubic, CubicSettings, Dctcp};
use exmachina_net::queue::{
    CoDelSettings, FqCoDelSettings, Limit, PieSettings, QueueKind, RedSettings, SfqCoDelSettings, StepSettings,
};

use crate::probe::{FULL, dumbbell, flows, hop, measure, newreno, plain, within};

fn cubic() -> AnyScheme<'static> {
    AnyScheme::Cubic(Cubic::new(CubicSettings::default()))
}

const ROOM: Limit = Limit::Packets(1000);

/// RFC 8289: the standing queue is held near the target of 5 ms, for any number of flows. A flow alone in such a queue
/// halves to half a BDP and a little: NewReno's sawtooth then leaves up to a quarter of the link unused.
#[test]
fn codel_holds_the_queue_near_its_target() {
    let queues = [
        ("CoDel", QueueKind::CoDel(CoDelSettings::default())),
        ("sfqCoDel", QueueKind::SfqCoDel(SfqCoDelSettings::default())),
        ("FQ-CoDel", QueueKind::FqCoDel(FqCoDelSettings::default())),
    ];
    for (name, queue) in queues {
        for (scheme_name, scheme) in [("NewReno", newreno()), ("Cubic", cubic())] {
            for n in [1, 4] {
                let hop = hop(20.0, queue.clone(), ROOM);
                let measured = measure(&dumbbell(hop, flows(n, &scheme, plain(), 50.0)), 20.0, 120.0);
                let case = format!("{n} {scheme_name} through {name}");
                within(&format!("{case}, wait"), measured.wait_ms, 0.5, 7.0);
                let least = if scheme_name == "Cubic" { 0.9 } else { 0.8 };
                within(&format!("{case}, use"), measured.utilisation, least, FULL);
            }
        }
    }
}

/// RFC 8033 §4: 15 ms.
#[test]
fn pie_holds_the_queue_at_its_target() {
    for (scheme_name, scheme) in [("NewReno", newreno()), ("Cubic", cubic())] {
        for n in [4, 10] {
            let hop = hop(20.0, QueueKind::Pie(PieSettings::default()), ROOM);
            let measured = measure(&dumbbell(hop, flows(n, &scheme, plain(), 50.0)), 30.0, 130.0);
            within(&format!("{n} {scheme_name} through PIE, wait"), measured.wait_ms, 10.0, 20.0);
            within("use", measured.utilisation, 0.95, FULL);
        }
    }
}

/// Floyd and Jacobson 1993: the average queue stays between the thresholds, with enough flows that one loss more or less
/// is not half of all traffic.
#[test]
fn red_keeps_the_queue_between_its_thresholds() {
    let settings = RedSettings { min_threshold: 15.0, max_threshold: 45.0, ..RedSettings::default() };
    for n in [16, 32] {
        let hop = hop(20.0, QueueKind::Red(settings), ROOM);
        let measured = measure(&dumbbell(hop, flows(n, &newreno(), plain(), 50.0)), 50.0, 150.0);
        // 0.5 ms each.
        within(&format!("{n} NewReno through RED, packets"), measured.wait_ms / 0.5, 15.0, 45.0);
        within("use", measured.utilisation, 0.97, FULL);
    }
}

/// Alizadeh et al. 2010 §3.3: with K above a seventh of the BDP the queue stays about K (N flows: at most K + N) and the
/// link full, and nothing is dropped.
#[test]
fn dctcp_keeps_the_queue_at_the_mark() {
    for n in [1, 2, 10] {
        // 10 Gbit/s, 100 us and packets of 1250 bytes, a hundredth as fast: a BDP of 100 packets.
        let hop = hop(100.0, QueueKind::Step(StepSettings { threshold: 30 }), ROOM);
        let scheme = AnyScheme::Dctcp(Dctcp::new(2));
        let measured = measure(&dumbbell(hop, flows(n, &scheme, plain(), 10.0)), 20.0, 60.0);
        // 0.1 ms each.
        within(&format!("{n} DCTCP, packets"), measured.wait_ms / 0.1, 15.0, 30.0 + n as f64);
        within("use", measured.utilisation, 0.999, FULL);
        within("shares", measured.jain(), 0.95, 1.0);
        assert_eq!(measured.dropped, 0);
    }
}

/// FQ-CoDel and sfqCoDel give equal shares to flows that ask for unequal ones.
#[test]
fn fair_queues_give_equal_shares() {
    let queues = [QueueKind::SfqCoDel(SfqCoDelSettings::default()), QueueKind::FqCoDel(FqCoDelSettings::default())];
    for queue in queues {
        let mut senders = flows(3, &newreno(), plain(), 50.0);
        (senders[1].1.scheme, senders[2].1.scheme) = (cubic(), cubic());
        let measured = measure(&dumbbell(hop(20.0, queue.clone(), ROOM), senders), 20.0, 120.0);
        within("shares", measured.jain(), 0.98, 1.0);
    }
}
