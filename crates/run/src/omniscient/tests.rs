//! The closed forms of Tao'14 and others, and agreement with the engine's own accounts of time.

use exmachina_hosts::scheme::{AnyScheme, ConstantWindow};
use exmachina_hosts::transport::Settings;
use exmachina_net::network::{FirstOff, HopPlan, LinkPlan, On, Workload};
use exmachina_net::observe::Unwatched;
use exmachina_net::service::{Cellular, Trace};
use exmachina_scenario::world::Host;

use super::*;

const SEED: Seed = Seed { root: 5, specimen: 1 };

fn hop(mbps: f64) -> HopPlan {
    HopPlan::constant(mbps)
}

fn world(hops: Vec<HopPlan>, routes: &[&[u8]], workload: &Workload) -> World<'static> {
    let scheme = AnyScheme::ConstantWindow(ConstantWindow { packets: 10 });
    let host = Host { scheme, transport: Settings::tao14() };
    let flow = |route: &&[u8]| FlowPlan { route: route.to_vec(), rtt_ms: 150.0, workload: workload.clone() };
    World::clean(hops, routes.iter().map(|route| (flow(route), host.clone())).collect())
}

/// RTT of an empty network of one such link: 1250 bytes there, 40 back.
fn rtt_ms(mbps: f64) -> f64 {
    150.0 + 1290.0 * 8e-3 / mbps
}

/// On one link at half duty: `C * 2 (1 - 2^-n) / n` on the mean, and never any delay.
#[test]
fn a_dumbbell_at_half_duty_has_the_closed_form() {
    for n in [1, 2, 5, 20] {
        let world = world(vec![hop(15.0)], &vec![&[0][..]; n], &Workload::new(On::Seconds(1.0), 1.0));
        let outcome = omniscient(&world, SEED, 20_000.0, &AtomicBool::new(false));
        let on: f64 = outcome.flows.iter().map(|f| f.on_s).sum();
        let mbits: f64 = outcome.flows.iter().map(|f| f.throughput_mbps() * f.on_s).sum();
        let n = n as f64;
        let expected = 15.0 * 2.0 * (1.0 - libm::exp2(-n)) / n;
        assert!((mbits / on / expected - 1.0).abs() < 0.015, "{n} senders: {}, expected {expected}", mbits / on);
        for flow in &outcome.flows {
            assert!((flow.mean_rtt_ms().unwrap() - rtt_ms(15.0)).abs() < 1e-6, "no queue");
            // Every share is an equal one, but for what is on its way at the end.
            let missing = 1.0 - flow.normalised_throughput(15.0);
            assert!((-1e-6..0.16 / flow.share_s).contains(&missing), "{missing}");
        }
    }
}

/// The parking lot of Tao'14: flow 1 over two links of 10 Mbit/s, each with a flow of its own, gets 10 alone, 5 beside one and 10/3
/// beside both: 5.8333 on the mean. The others get 10, or 5, or 20/3 as flow 1 and the third have it.
#[test]
fn the_parking_lot_has_the_published_mean() {
    let world = world(vec![hop(10.0), hop(10.0)], &[&[0, 1], &[0], &[1]], &Workload::new(On::Seconds(1.0), 1.0));
    let outcome = omniscient(&world, SEED, 40_000.0, &AtomicBool::new(false));
    let mbps: Vec<f64> = outcome.flows.iter().map(|f| f.throughput_mbps()).collect();
    let other = (2.0 * 10.0 + 5.0 + 20.0 / 3.0) / 4.0;
    for (found, expected) in mbps.iter().zip([(10.0 + 2.0 * 5.0 + 10.0 / 3.0) / 4.0, other, other]) {
        assert!((found / expected - 1.0).abs() < 0.012, "{mbps:?}, expected {expected}");
    }
}

/// The times on are those of a run in the same world, to the nanosecond where they end by time.
#[test]
fn meets_the_traffic_of_a_run() {
    let world = world(vec![hop(15.0)], &[&[0][..]; 4], &Workload::new(On::Seconds(2.0), 3.0));
    let mut engine = world.engine(SEED);
    engine.run(Instant::from_s(200.0), &mut Unwatched);
    for (ran, ideal) in
        engine.outcome().flows.iter().zip(&omniscient(&world, SEED, 200.0, &AtomicBool::new(false)).flows)
    {
        assert!((ran.on_s - ideal.on_s).abs() < 1e-6 && (ran.share_s - ideal.share_s).abs() < 1e-6);
        assert!(ran.delivered <= ideal.delivered && ran.mean_rtt_ms() > ideal.mean_rtt_ms());
    }
}

/// A lone transfer takes its transmission and a minimum RTT.
#[test]
fn a_lone_transfer_takes_its_transmission_and_an_rtt() {
    let workload = Workload::new(On::Bytes(100_000.0), 0.5);
    let outcome = omniscient(&world(vec![hop(15.0)], &[&[0]], &workload), SEED, 1000.0, &AtomicBool::new(false));
    let mut traffic = Traffic::new(workload, SEED.root, SEED.specimen, 0);
    let (mut on_s, mut packets, mut now) = (0.0, 0.0, traffic.next);
    while now < Instant::from_s(1000.0) {
        let n = f64::from(traffic.begin_on_period(now));
        let took_s = n / 1500.0 + rtt_ms(15.0) / 1e3;
        on_s += took_s.min(1000.0 - now.as_s());
        packets += n;
        traffic.end_on_period(now + Duration::from_s(took_s));
        now = traffic.next;
    }
    assert!((outcome.flows[0].on_s - on_s).abs() < 1e-3, "{} not {on_s}", outcome.flows[0].on_s);
    assert!((outcome.flows[0].delivered as f64 - packets).abs() < 300.0, "all but what the end cut off");
}

/// What is lost is sent again, and uses the links up to where it is lost.
#[test]
fn losses_take_their_part() {
    let lossy = HopPlan { loss: 0.2, ..hop(10.0) };
    let workload = Workload::new(On::Forever, 0.0);
    let outcome =
        omniscient(&world(vec![lossy, hop(8.0)], &[&[0, 1]], &workload), SEED, 100.0, &AtomicBool::new(false));
    // The first link is full at 10; 8 reach the second, which is just full, and the receiver: all but the last RTT's.
    let on_their_way = (800.0_f64 * (0.15 + 1290.0 * 8e-6 * (1.0 / 10.0 + 1.0 / 8.0))).round() as u64;
    assert_eq!((outcome.flows[0].sent, outcome.lost, outcome.in_flight), (100_000, 20_000, on_their_way));
    assert_eq!(outcome.flows[0].delivered, 80_000 - on_their_way);
}

/// Links that vary count with their long-term average.
#[test]
fn varying_links_count_with_their_mean() {
    let trace = Trace::parse("5\n10\n10\n30\n", "test").unwrap();
    let mbps = trace.mean_mbps();
    for (link, expected) in
        [(LinkPlan::Trace(trace, 0), mbps), (LinkPlan::Cellular(Cellular::default()), Cellular::default().mean_mbps)]
    {
        let workload = Workload { first_off: FirstOff::At(0.0), ..Workload::new(On::Forever, 0.0) };
        let outcome = omniscient(
            &world(vec![HopPlan { link, ..hop(1.0) }], &[&[0][..]; 2], &workload),
            SEED,
            100.0,
            &AtomicBool::new(false),
        );
        // All but what is on its way at the end.
        let share = 1.0 - 0.15 / 100.0;
        assert!(outcome.flows.iter().all(|f| (f.throughput_mbps() / (share * expected / 2.0) - 1.0).abs() < 1e-4));
        assert!((outcome.rate_mbps - expected).abs() < 1e-6 * expected);
    }
}

/// On a link of a packet a second, what is left of one at the end counts for nothing: neither for one sender nor for the sum of
/// many.
#[test]
fn nothing_is_delivered_that_a_slow_link_cannot_carry() {
    for n in [1, 7, 40] {
        let workload = Workload { first_off: FirstOff::At(0.6), ..Workload::new(On::Forever, 0.0) };
        let world = world(vec![hop(0.01)], &vec![&[0][..]; n], &workload);
        let outcome = omniscient(&world, SEED, 39.5, &AtomicBool::new(false));
        let delivered: u64 = outcome.flows.iter().map(|f| f.delivered).sum();
        // 38.9 packets are sent, and 37.7 of them are there by then.
        assert!(delivered as usize == 37 / n * n, "{n} senders: {delivered}");
    }
}

/// One rule for all who are compared: a packet counts when its ACK is back, on or off, and if the run is not over by then;
/// and time while on. One on-period of 2 s, and a window of twice what the path holds, so that a queue is left behind.
#[test]
fn tables_schemes_and_the_reference_are_accounted_for_alike() {
    use exmachina_net::network::{Arrival, Network, Stop};

    let at = |start_s| Arrival { start_s, stop: Stop::Seconds(2.0) };
    let workload = Workload::new(On::At(vec![at(1.0), at(20.0)].into()), 0.0);
    let run = |seconds| {
        let mut world = world(vec![hop(10.0)], &[&[0]], &workload);
        world.hosts[0].scheme = AnyScheme::ConstantWindow(ConstantWindow { packets: 300 });
        world.hosts[0].transport.ack_bytes = 0;
        let network = Network::dumbbell(10.0, 150.0, 1, workload.clone());
        let mut design = crate::design_simulator::dumbbell(&network, SEED, |_| ConstantWindow { packets: 300 });
        let mut transport = world.engine(SEED);
        design.run(Instant::from_s(seconds), &mut Unwatched);
        transport.run(Instant::from_s(seconds), &mut Unwatched);
        [design.outcome(), transport.outcome(), omniscient(&world, SEED, seconds, &AtomicBool::new(false))]
    };
    for outcome in run(10.0) {
        let flow = &outcome.flows[0];
        assert!((flow.on_s - 2.0).abs() < 1e-9 && (flow.share_s - 2.0).abs() < 1e-9, "{flow:?}");
        assert_eq!((flow.delivered, outcome.lost, outcome.in_flight), (flow.sent, 0, 0));
        // Nothing is delivered in the first RTT, and as much after switch-off as was on its way then.
        assert!(flow.delivered.abs_diff(flow.late + 1849) <= 2, "{flow:?}");
    }
    let [table, scheme, reference] = run(10.0).map(|outcome| outcome.flows[0]);
    assert!(table.late == 300 && scheme.late == 300, "a whole window: {table:?} {scheme:?}");
    assert_eq!(reference.late, 151, "no more than the path holds");
    assert!(table.delivered > reference.delivered && scheme.delivered > reference.delivered, "which is no bound");
    // What is on its way at the end counts for nobody.
    for outcome in run(21.0) {
        let flow = &outcome.flows[0];
        assert!((flow.on_s - 3.0).abs() < 1e-9 && outcome.in_flight >= 151, "{flow:?}");
        assert_eq!(flow.delivered, flow.sent - outcome.in_flight);
    }
}
