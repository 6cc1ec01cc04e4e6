//! Packets are conserved, order is kept, time runs forward and runs repeat, whatever is combined with whatever.

#[allow(dead_code, reason = "some of its worlds are the fuzzer's alone")]
mod worlds;

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::transport::{Recovery, Settings};
use exmachina_net::network::{FlowPlan, HopPlan, LinkPlan, On, Workload};
use exmachina_net::observe::Unwatched;
use exmachina_net::path::Path;
use exmachina_net::queue::{Limit, QueueKind};
use exmachina_net::random::Seed;
use exmachina_net::service::{Cellular, Trace};
use exmachina_net::time::{Duration, Instant};
use exmachina_scenario::world::{Host, World};
use proptest::prelude::*;
use worlds::Checker;

const SEED: Seed = Seed { root: 11, specimen: 4 };

fn links() -> [LinkPlan; 3] {
    let trace: String = (0..500).map(|i| format!("{}\n", i * 3 / 2 + i % 7 / 6)).collect();
    [
        LinkPlan::Rate(8.0),
        LinkPlan::Trace(Trace::parse(&trace, "steady").expect("a trace"), 17),
        LinkPlan::Cellular(Cellular::default()),
    ]
}

/// Two senders that are alike, on one hop.
fn pair(
    scheme: &AnyScheme<'static>,
    transport: Settings,
    link: &LinkPlan,
    queue: &QueueKind,
    on: On,
) -> World<'static> {
    let workload = Workload::new(on, 0.3);
    let sender = |rtt_ms| {
        let flow = FlowPlan { route: vec![0], rtt_ms, workload: workload.clone() };
        (flow, Host { scheme: scheme.clone(), transport })
    };
    let (limit, queue) = (Limit::Packets(40), queue.clone());
    let hop = HopPlan { link: link.clone(), queue, limit, loss: 0.01, delay_ms: 0.0 };
    World::clean(vec![hop], vec![sender(40.0), sender(60.0)])
}

fn presets() -> [Settings; 4] {
    // RemyCCs' transports in ns-2, one of them polled: its clock once ran back after pauses.
    let remy13 = Settings::remy13().with_recovery(Recovery::RationalRemy13);
    let tao14 = Settings::tao14().with_recovery(Recovery::RationalTao14);
    [Settings::tao14(), Settings::today(), remy13, tao14]
}

/// Every scheme over every queue, link, preset and kind of workload.
#[test]
fn every_combination_conserves_packets() {
    for transport in presets() {
        for (scheme_name, scheme) in worlds::schemes(&transport) {
            for (queue_name, queue) in worlds::queues() {
                for link in links() {
                    for on in [On::Seconds(0.5), On::Bytes(1e5), On::Forever] {
                        let world = pair(&scheme, transport, &link, &queue, on);
                        let mut engine = world.engine(SEED);
                        let mut checker = Checker::new(&world, u64::MAX);
                        engine.run(Instant::from_s(3.0), &mut checker);
                        checker.verdict(&engine);
                        let delivered: u64 = engine.outcome().flows.iter().map(|f| f.delivered).sum();
                        assert!(delivered > 20, "{scheme_name} over {queue_name}: {delivered}");
                    }
                }
            }
        }
    }
}

/// All that a run gives.
fn summary(engine: &exmachina_scenario::world::EvaluationEngine<'static>) -> String {
    let hops = engine.path().hop_totals(engine.now());
    let totals: Vec<_> = engine.senders().iter().map(exmachina_net::endpoint::Endpoint::totals).collect();
    format!("{:?} {hops:?} {totals:?} {} {}", engine.outcome(), engine.path().in_flight(), engine.now().as_s())
}

/// A fast link would take long: the end, at most, of so many packets.
fn duration(world: &World<'_>) -> f64 {
    let fastest = world.network.hops.iter().map(|hop| hop.link.nominal_mbps()).fold(0.0, f64::max);
    (100.0 / fastest).clamp(0.02, 8.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Also where nothing tame is left: several hops, jitter, reordering, tiny buffers.
    #[test]
    fn packets_are_conserved_in_any_world(seed in any::<u64>()) {
        let (world, _) = worlds::world(seed);
        let mut engine = world.engine(Seed { root: seed, specimen: 1 });
        let mut checker = Checker::new(&world, 200_000);
        let _ = engine.run(Instant::from_s(duration(&world)), &mut checker);
        checker.verdict(&engine);
    }

    #[test]
    fn runs_repeat_and_saved_states_go_on_alike(seed in any::<u64>(), pause in 0.0f64..1.0) {
        let (world, _) = worlds::world(seed);
        // What an erratic sender sends at once has no bound.
        prop_assume!(world.hosts.iter().all(|host| !matches!(host.scheme, AnyScheme::Own(_))));
        let end = duration(&world);
        let mut whole = world.engine(SEED);
        whole.run(Instant::from_s(end), &mut Unwatched);
        let mut parts = world.engine(SEED);
        parts.run(Instant::from_s(end * pause), &mut Unwatched);
        let mut copy = parts.clone();
        for engine in [&mut parts, &mut copy] {
            engine.run(Instant::from_s(end), &mut Unwatched);
            prop_assert_eq!(summary(engine), summary(&whole));
        }
    }
}

/// These worlds have BBRv3 or Copa with the recovery of the papers' rule tables, in queues that drop nearly all: they once
/// sent hundreds of packets a microsecond, because what was lost looked delivered.
#[test]
fn a_scheme_that_answers_losses_hears_of_them_whatever_the_recovery() {
    for seed in [16707921791175891763, 13204206599552145104, 928665992624660200, 10775450383859009523] {
        let (world, _) = worlds::world(seed);
        let (mut engine, end) = (world.engine(SEED), Duration::from_s(duration(&world)));
        let _ = engine.run(Instant::START + end, &mut Checker::new(&world, 1_000_000));
        assert!(engine.now() >= Instant::START + end, "{seed}: a million events in {} s", engine.now().as_s());
    }
}

/// A tail-drop queue whose departures are told on arrival gives what the stored one gives.
#[test]
fn the_two_tail_drop_queues_are_one() {
    for transport in presets() {
        for (name, scheme) in worlds::schemes(&transport) {
            for limit in [Limit::Packets(1), Limit::Packets(30), Limit::Infinite] {
                let mut world = pair(&scheme, transport, &LinkPlan::Rate(8.0), &QueueKind::DropTail, On::Bytes(2e5));
                world.network.hops[0].limit = limit;
                let run = |world: &World<'static>| {
                    let mut engine = world.engine(SEED);
                    engine.run(Instant::from_s(10.0), &mut Unwatched);
                    let mut flows = engine.outcome().flows;
                    flows.truncate(2);
                    flows
                };
                let told = run(&world);
                // A sender of another packet size that never sends makes the queue a stored one.
                let mut other = world.hosts[0].clone();
                other.transport.packet_bytes += 1;
                world.hosts.push(other);
                let workload = Workload::new(On::At([].into()), 1.0);
                world.network.flows.push(FlowPlan { workload, ..world.network.flows[0].clone() });
                assert_eq!(told, run(&world), "{name}, {limit:?}");
            }
        }
    }
}
