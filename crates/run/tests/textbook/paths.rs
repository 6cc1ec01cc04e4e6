//! Paths: several hops, jitter, reordering, recorded links.

use exmachina_hosts::scheme::{AnyScheme, ConstantRate, ConstantWindow, Cubic, CubicSettings};
use exmachina_hosts::transport::{LossThreshold, Repair, Settings};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::{FirstOff, HopPlan, LinkPlan, Reordering};
use exmachina_net::queue::{CoDelSettings, Limit, QueueKind};
use exmachina_net::service::Trace;
use exmachina_net::time::Duration;
use exmachina_scenario::world::World;

use crate::probe::{Log, close, dumbbell, flow, hop, log, mean, newreno, plain, run, within};

fn window(packets: u32) -> AnyScheme<'static> {
    AnyScheme::ConstantWindow(ConstantWindow { packets })
}

/// Two links of 10 Mbit/s, 75 ms apart: flow 0 crosses both, flow 1 the first, flow 2 the second.
fn parking_lot(schemes: [AnyScheme<'static>; 3], queue: &QueueKind, limit: Limit) -> World<'static> {
    let link = HopPlan { delay_ms: 75.0, ..hop(10.0, queue.clone(), limit) };
    let [both, first, second] = schemes;
    let mut senders = vec![flow(both, plain(), 150.0), flow(first, plain(), 150.0), flow(second, plain(), 150.0)];
    (senders[0].0.route, senders[1].0.route, senders[2].0.route) = (vec![0, 1], vec![0], vec![1]);
    World::clean(vec![link.clone(), link], senders)
}

/// Constant rates that fit get what they send, and each link carries the sum of its two.
#[test]
fn rates_add_up_on_a_parking_lot() {
    let rate = |mbps| AnyScheme::ConstantRate(ConstantRate::mbps(mbps, 1250));
    for queue in [QueueKind::DropTail, QueueKind::CoDel(CoDelSettings::default())] {
        let mut world = parking_lot([rate(2.5), rate(5.0), rate(6.25)], &queue, Limit::Packets(100));
        world.network.flows.iter_mut().for_each(|f| f.workload.first_off = FirstOff::At(1.0));
        let engine = run(&world, 101.0, &mut Log::default());
        let outcome = engine.outcome();
        // 250, 500 and 625 packets/s for 100 s.
        let sent: Vec<u64> = outcome.flows.iter().map(|f| f.sent).collect();
        assert_eq!((sent, outcome.lost), (vec![25_000, 50_000, 62_500], 0));
        let hops = engine.path().hop_totals(engine.now());
        assert_eq!((hops[0].arrived, hops[1].arrived), (75_000, 87_500 - hops[0].backlog - 19));
        // The first link: two packets may meet. Minimum RTT and one or two transmissions of 1 ms.
        let rtt = |i: usize| outcome.flows[i].mean_rtt_ms().unwrap();
        within("two hops", rtt(0), 152.0, 154.0);
        within("first hop", rtt(1), 151.0, 152.0);
        within("second hop", rtt(2), 151.0, 152.0);
    }
}

/// Nothing waits: an RTT is the minimum and a transmission per hop, to the nanosecond.
#[test]
fn unloaded_rtts_are_exact() {
    for queue in [QueueKind::DropTail, QueueKind::CoDel(CoDelSettings::default())] {
        let mut world = parking_lot([window(10), window(7), window(5)], &queue, Limit::Infinite);
        for (sender, other) in [(0, 152.0), (1, 151.0), (2, 151.0)] {
            let mut lone = world.clone();
            lone.network.flows = vec![world.network.flows[sender].clone()];
            lone.hosts = vec![world.hosts[sender].clone()];
            let sent = log(&lone, 10.0);
            assert!(sent.iter().skip(100).all(|s| (s.rtt_ms - other).abs() < 1e-6), "sender {sender}");
            // An ACK of 50 bytes takes 0.04 ms on each link that its packet took a millisecond for.
            lone.hosts[0].transport.ack_bytes = 50;
            let with_acks = other + 0.04 * lone.network.flows[0].route.len() as f64;
            let sent = log(&lone, 10.0);
            assert!(sent.iter().skip(100).all(|s| (s.rtt_ms - with_acks).abs() < 1e-6), "sender {sender}");
        }
        // The delay between the hops is part of the RTT, not added to it.
        world.hosts.truncate(1);
        world.network.flows.truncate(1);
        world.network.flows[0].rtt_ms = 20.0;
        assert!(log(&world, 1.0).iter().skip(100).all(|s| (s.rtt_ms - 22.0).abs() < 1e-6));
    }
}

/// The flow that meets losses at two links gets less than those that meet them at one.
#[test]
fn the_long_flow_of_a_parking_lot_gets_less() {
    let cubic = || AnyScheme::Cubic(Cubic::new(CubicSettings::default()));
    for (name, scheme) in [("NewReno", newreno()), ("Cubic", cubic())] {
        let schemes = [scheme.clone(), scheme.clone(), scheme.clone()];
        let mut world = parking_lot(schemes, &QueueKind::DropTail, Limit::Packets(190));
        // Against phase effects (Floyd and Jacobson 1992).
        world.network.jitter_ms = 3.0;
        let outcome = run(&world, 1000.0, &mut Log::default()).outcome();
        let [both, first, second] = std::array::from_fn(|i| outcome.flows[i].throughput_mbps());
        within(&format!("{name}, both links, Mbit/s"), both, 1.0, 4.5);
        within("the first", both + first, 9.3, 10.0);
        within("the second", both + second, 9.3, 10.0);
        assert!(both < first && both < second, "{both}, {first}, {second}");
    }
}

/// Uniform jitter on each packet's way adds half of itself on the mean, or somewhat more, and never reorders.
#[test]
fn jitter_delays_and_does_not_reorder() {
    let mut world = dumbbell(hop(10.0, QueueKind::DropTail, Limit::Infinite), vec![flow(window(1), plain(), 50.0)]);
    world.network.jitter_ms = 10.0;
    let alone = log(&world, 200.0);
    close("RTT of lone packets, ms", mean(alone.iter().map(|s| s.rtt_ms)), 51.0 + 5.0, 0.01);
    world.hosts[0].scheme = window(40);
    let many = log(&world, 200.0);
    assert!(many.windows(2).all(|w| w[0].seq < w[1].seq), "reordered");
    within("RTT, ms", mean(many.iter().map(|s| s.rtt_ms)), 56.0, 61.0);
}

/// Packets that are held back are overtaken, and only those.
#[test]
fn reordering_reorders_what_it_should() {
    let mut world = dumbbell(hop(10.0, QueueKind::DropTail, Limit::Infinite), vec![flow(window(40), plain(), 50.0)]);
    // The sender would take what is late for lost.
    world.hosts[0].transport =
        plain().with_parts(|parts| parts.repair = Repair::Proportional(LossThreshold { packets: 100, adapts: false }));
    world.network.reordering = Reordering { probability: 0.05, delay: Duration::from_ms(4.5) };
    let log = log(&world, 100.0);
    let late = log.windows(2).filter(|w| w[1].seq < w[0].seq).count() as f64;
    // Of a packet held back while the one before is not.
    within("late packets", late / log.len() as f64, 0.04, 0.055);
    let held = log.iter().filter(|s| s.rtt_ms > 55.0).count() as f64;
    close("packets held back", held / log.len() as f64, 0.05, 0.05);
}

/// What Linux does about reordering: after the first mistakes the threshold has grown, and repairs cease.
#[test]
fn an_adaptive_threshold_does_not_repair_what_is_late() {
    let repairs = |adapts| {
        let mut world =
            dumbbell(hop(10.0, QueueKind::DropTail, Limit::Infinite), vec![flow(window(40), plain(), 50.0)]);
        world.hosts[0].transport = Settings::today()
            .with_parts(|parts| parts.repair = Repair::Proportional(LossThreshold { packets: 3, adapts }));
        world.network.reordering = Reordering { probability: 0.02, delay: Duration::from_ms(8.0) };
        let engine = run(&world, 100.0, &mut Log::default());
        engine.senders()[0].totals().retransmitted as f64 / engine.senders()[0].totals().sent as f64
    };
    within("repaired, adaptive", repairs(true), 0.0, 0.001);
    within("repaired, not adaptive", repairs(false), 0.01, 0.025);
}

/// No link carries more than its opportunities, and one that always has something to carry wastes none.
#[test]
fn a_recorded_link_carries_its_opportunities() {
    let mut ms = 0;
    let line = |i: u32| {
        ms += [0, 1, 0, 3, 7, 0, 0, 2, 30, 1][(i % 10) as usize] + i % 3;
        format!("{ms}\n")
    };
    let trace = Trace::parse(&(1..1000).map(line).collect::<String>(), "test").unwrap();
    let most = trace.mean_mbps();
    for queue in [QueueKind::DropTail, QueueKind::CoDel(CoDelSettings::default())] {
        let link = LinkPlan::Trace(trace.clone(), 0);
        let hop = HopPlan { link, ..hop(1.0, queue, Limit::Packets(500)) };
        let world = dumbbell(hop, vec![flow(window(400), plain(), 20.0)]);
        let periods = f64::from(trace.period_ms()) * 1e-3 * 20.0;
        let engine = run(&world, periods, &mut Log::default());
        let bytes = engine.path().hop_totals(engine.now())[0].sent_bytes as f64;
        within("use of opportunities", bytes * 8e-6 / periods / most, 0.99, 1.0);
    }
}
