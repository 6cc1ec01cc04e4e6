//! What must hold in any network: packets are conserved, queues are FIFO, clocks never run back, runs repeat exactly,
//! and a saved state goes on as if nothing had happened.

use exmachina_hosts::scheme::Scheme;
use exmachina_hosts::scheme::{Aimd, AnyScheme, Remy};
use exmachina_net::network::{
    Acks, Arrival, EACH_PACKET, FlowPlan, HopPlan, Network, On, Roughness, Stop, Upsets, Workload,
};
use exmachina_net::observe::{Observer, Unwatched};
use exmachina_net::outcome::{Flow, Outcome};
use exmachina_net::packet::Packet;
use exmachina_net::queue::Limit;
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, RuleTable, Signal, first_signals};
use exmachina_run::design_simulator::{DesignEngine, dumbbell};
use exmachina_run::sender::Sender;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct World {
    network: Network,
    action: Action,
    aimd: bool,
    seed: u64,
}

fn roughness() -> impl Strategy<Value = Roughness> {
    let or_none = |most: f64| prop_oneof![3 => Just(0.0), 1 => 0.0..most];
    // A policer holds nobody back, which makes it one for the fuzzer too.
    (or_none(20.0), or_none(100.0), or_none(30.0), or_none(20.0), or_none(1.0)).prop_map(
        |(loss_burst, jitter_every_ms, batch_ms, late_ms, wander)| Roughness {
            loss_burst,
            jitter_every_ms: if jitter_every_ms > 0.0 { jitter_every_ms.max(1.0) } else { 0.0 },
            batch_ms: if batch_ms > 0.0 { batch_ms.max(0.1) } else { 0.0 },
            late_ms,
            wander,
            policed: false,
        },
    )
}

fn network() -> impl Strategy<Value = Network> {
    let on = prop_oneof![(0.05f64..3.0).prop_map(On::Seconds), (1e3f64..1e6).prop_map(On::Bytes)];
    let parts = (
        0.5f64..60.0,
        prop::collection::vec(1.0f64..300.0, 1..6),
        any::<bool>(),
        prop_oneof![Just(Limit::Infinite), (0u32..80).prop_map(Limit::Packets)],
        prop_oneof![Just(0.0), 0.0f64..0.3],
        prop_oneof![Just(0.0), 0.0f64..20.0],
        prop_oneof![Just(0.0), 0.0f64..5.0],
        (on, 0.05f64..3.0),
        (prop_oneof![Just(1u32), 1u32..9], 0.0f64..100.0),
        (prop_oneof![Just(0.0), 0.05f64..3.0], prop_oneof![Just(0.0), 0.05f64..3.0], roughness()),
    );
    parts.prop_map(|(rate_mbps, mut rtt_ms, alike, limit, loss, jitter_ms, clock_ms, (on, off_s), acks, upsets)| {
        if alike {
            let first = rtt_ms[0];
            rtt_ms.fill(first);
        }
        let workload = Workload::new(on, off_s);
        let flow = |rtt_ms| FlowPlan { route: vec![0], rtt_ms, workload: workload.clone() };
        let hop = HopPlan { limit, loss, ..HopPlan::constant(rate_mbps) };
        Network {
            jitter_ms,
            clock_ms,
            acks: if acks.0 > 1 { Acks { packets: acks.0, delay_ms: acks.1 } } else { EACH_PACKET },
            upsets: Upsets { flow_s: upsets.0, link_s: upsets.1 },
            roughness: upsets.2,
            ..Network::clean(vec![hop], rtt_ms.into_iter().map(flow).collect())
        }
    })
}

fn world() -> impl Strategy<Value = World> {
    // Larger windows than links can carry are the fuzzer's: a burst of a million packets an RTT takes long.
    let action = (0.0f64..1.0, 0i32..60, prop_oneof![Just(0.0), 0.001f64..5.0])
        .prop_map(|(multiple, increment, intersend_ms)| Action { multiple, increment, intersend_ms });
    (network(), action, any::<bool>(), any::<u64>()).prop_map(|(network, action, aimd, seed)| World {
        network,
        action,
        aimd,
        seed,
    })
}

fn table(world: &World) -> FlatTable {
    let mut table = RuleTable::single(&Signal::ALL, world.action);
    table.split(0, &first_signals(&[1.0, 1.0, 1.2, 1.0, 10.0, 10.0]), &Signal::ALL[1..]);
    FlatTable::new(&table).unwrap()
}

fn engine<'t>(world: &World, table: &'t FlatTable) -> DesignEngine<AnyScheme<'t>> {
    dumbbell(&world.network, Seed { root: world.seed, specimen: 3 }, |i| {
        if world.aimd && i % 2 == 1 { AnyScheme::Aimd(Aimd::default()) } else { AnyScheme::Remy(Remy::new(table)) }
    })
}

/// Checks every event as it happens.
#[derive(Default)]
struct Checker {
    now: Instant,
    last_departure: Instant,
    last_sent: Vec<Instant>,
    min_rtt: Vec<Duration>,
}

impl Checker {
    fn new(network: &Network) -> Checker {
        let min_rtt = network.rtts_ms().map(|ms| Duration::from_nanos_f64(ms * 1e6)).collect();
        Checker { last_sent: vec![Instant::START; network.senders()], min_rtt, ..Default::default() }
    }

    fn tick(&mut self, now: Instant) {
        assert!(now >= self.now, "time ran back from {} to {now}", self.now);
        self.now = now;
    }
}

impl<S: Scheme> Observer<Sender<S>> for Checker {
    fn started(&mut self, now: Instant, _: usize, _: &Sender<S>) {
        self.tick(now);
    }

    fn stopped(&mut self, now: Instant, _: usize) {
        self.tick(now);
    }

    fn sent(&mut self, now: Instant, _: usize, _: &Packet, departs: Option<Instant>, _: &Sender<S>) {
        self.tick(now);
        if let Some(departs) = departs {
            assert!(departs > now && departs > self.last_departure, "the queue is not FIFO");
            self.last_departure = departs;
        }
    }

    fn acked(&mut self, now: Instant, sender: usize, packet: &Packet, _: &Sender<S>) {
        let rtt = now - packet.sent;
        self.tick(now);
        assert!(rtt > self.min_rtt[sender], "an RTT below the minimum");
        assert!(now - rtt >= self.last_sent[sender], "a sender's packets were reordered");
        self.last_sent[sender] = now - rtt;
    }
}

fn conserved(outcome: &Outcome) -> bool {
    let sum = |f: fn(&Flow) -> u64| outcome.flows.iter().map(f).sum::<u64>();
    sum(|f| f.sent) == sum(|f| f.delivered) + outcome.lost + outcome.in_flight
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn events_are_in_order_and_packets_are_conserved(world in world()) {
        let table = table(&world);
        let mut engine = engine(&world, &table);
        engine.run(Instant::from_s(6.0), &mut Checker::new(&world.network));
        prop_assert!(conserved(&engine.outcome()), "{:?}", engine.outcome());
    }

    #[test]
    fn runs_repeat_and_saved_states_go_on_alike(world in world(), pause in 0.0f64..5.0) {
        let table = table(&world);
        let mut whole = engine(&world, &table);
        whole.run(Instant::from_s(5.0), &mut Unwatched);
        let mut parts = engine(&world, &table);
        parts.run(Instant::from_s(pause), &mut Unwatched);
        let mut copy = parts.clone();
        for engine in [&mut parts, &mut copy] {
            engine.run(Instant::from_s(5.0), &mut Unwatched);
            prop_assert_eq!(engine.outcome(), whole.outcome());
        }
    }

    /// The code for plain networks and the code for all others are one simulator.
    #[test]
    fn the_fast_path_is_the_general_path(world in world()) {
        let mut plain = world.network.clone();
        let first = plain.flows[0].rtt_ms;
        plain.flows.iter_mut().for_each(|flow| flow.rtt_ms = first);
        let hops = vec![HopPlan::constant(plain.rate_mbps())];
        plain = Network { hops, jitter_ms: 0.0, clock_ms: 0.0, ..plain };
        plain.upsets.link_s = 0.0;
        plain.roughness = Roughness { late_ms: plain.roughness.late_ms, ..Roughness::default() };
        let general = Network { clock_ms: 1e-6, ..plain.clone() };
        let run = |network: Network| {
            let world = World { network, ..world.clone() };
            let table = table(&world);
            let mut engine = engine(&world, &table);
            engine.run(Instant::from_s(4.0), &mut Unwatched);
            engine.outcome()
        };
        prop_assert_eq!(run(plain), run(general));
    }
}

/// A dumbbell whose senders all follow one rule.
fn run_rule<O: for<'t> Observer<Sender<Remy<'t>>>>(
    action: Action,
    network: &Network,
    seconds: f64,
    observer: &mut O,
) -> Outcome {
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap();
    let mut engine = dumbbell(network, Seed { root: 5, specimen: 0 }, |_| Remy::new(&table));
    engine.run(Instant::from_s(seconds), observer);
    engine.outcome()
}

fn one_link(senders: usize, loss: f64, workload: Workload) -> Network {
    let hops = vec![HopPlan { loss, ..HopPlan::constant(10.0) }];
    Network { hops, ..Network::dumbbell(10.0, 20.0, senders, workload) }
}

/// Senders that are alike get alike, whichever comes first in the list.
#[test]
fn ready_senders_take_turns() {
    let network = one_link(4, 0.0, Workload::new(On::Seconds(50.0), 0.01));
    let action = Action { multiple: 0.0, increment: 50, intersend_ms: 0.0 };
    let outcome = run_rule(action, &network, 500.0, &mut Unwatched);
    let delivered: Vec<u64> = outcome.flows.iter().map(|f| f.delivered).collect();
    let mean = delivered.iter().sum::<u64>() as f64 / 4.0;
    assert!(delivered.iter().all(|&d| (d as f64 / mean - 1.0).abs() < 0.01), "{delivered:?}");
}

/// A transfer by bytes ends when its last packet is acknowledged, also where packets are lost.
#[test]
fn transfers_by_bytes_deliver_all_their_packets() {
    #[derive(Default)]
    struct Transfers(u64);
    impl<S: Scheme> Observer<Sender<S>> for Transfers {
        fn stopped(&mut self, _: Instant, _: usize) {
            self.0 += 1;
        }
    }
    for loss in [0.0, 0.05] {
        let network = one_link(1, loss, Workload::new(On::Bytes(100_000.0), 0.2));
        let action = Action { multiple: 0.0, increment: 20, intersend_ms: 0.1 };
        let mut transfers = Transfers::default();
        let outcome = run_rule(action, &network, 2000.0, &mut transfers);
        let per_transfer = outcome.flows[0].delivered as f64 / transfers.0 as f64;
        // The mean of an exponential of 80 packets, rounded up to whole ones.
        assert!(transfers.0 > 2000 && (per_transfer - 80.5).abs() < 6.0, "{} of {per_transfer}", transfers.0);
    }
}

/// Given arrivals are served one after the other, also those that come while another is under way.
#[test]
fn given_arrivals_are_served_in_turn() {
    #[derive(Default)]
    struct Times(Vec<Instant>);
    impl<S: Scheme> Observer<Sender<S>> for Times {
        fn started(&mut self, now: Instant, _: usize, _: &Sender<S>) {
            self.0.push(now);
        }
        fn stopped(&mut self, now: Instant, _: usize) {
            self.0.push(now);
        }
    }
    let arrival = |start_s, stop| Arrival { start_s, stop };
    let arrivals = [
        arrival(1.0, Stop::Bytes(100.0 * 1250.0)),
        arrival(1.0, Stop::Seconds(0.5)),
        arrival(5.0, Stop::Bytes(1250.0)),
        arrival(6.0, Stop::Never),
    ];
    let network = one_link(1, 0.0, Workload::new(On::At(arrivals.into()), 0.0));
    let mut times = Times::default();
    let outcome = run_rule(Action { multiple: 0.0, increment: 40, intersend_ms: 0.0 }, &network, 8.0, &mut times);
    // 100 packets at 1 ms each, and the RTT of 20 ms; then 0.5 s; one packet takes 21 ms.
    assert_eq!(times.0, [1.0, 1.12, 1.12, 1.62, 5.0, 5.021, 6.0].map(Instant::from_s));
    // In time on, the last until the end of the run.
    assert!((outcome.flows[0].on_s - (0.12 + 0.5 + 0.021 + 2.0)).abs() < 1e-9, "{}", outcome.flows[0].on_s);
}

/// A lone sender that always has a full window gets the whole link, and its queue is what the window leaves over.
#[test]
fn a_full_window_fills_the_link() {
    let network = one_link(1, 0.0, Workload::new(On::Seconds(1e6), 1e-3));
    // 10 Mbit/s and 20 ms are 20 packets; 30 more wait: 30 ms, and 1 ms of its own transmission.
    let outcome =
        run_rule(Action { multiple: 0.0, increment: 51, intersend_ms: 0.0 }, &network, 1000.0, &mut Unwatched);
    let flow = outcome.flows[0];
    assert!((flow.throughput_mbps() - 10.0).abs() < 0.01, "{}", flow.throughput_mbps());
    assert!((flow.mean_rtt_ms().unwrap() - 51.0).abs() < 0.1, "{:?}", flow.mean_rtt_ms());
}
