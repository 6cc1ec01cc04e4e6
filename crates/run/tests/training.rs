//! What a design trains with, on known answers: ACKs for several packets, receivers that take few at first, flows that are upset, links that stop, others
//! beside them.

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::Scheme;
use exmachina_hosts::scheme::{Mixed, Remy, SchemeName, Surroundings};
use exmachina_hosts::transport::{Preset, Settings};
use exmachina_net::network::{Acks, FlowPlan, HopPlan, Network, On, Roughness, Upsets, Workload};
use exmachina_net::observe::{Observer, Unwatched};
use exmachina_net::outcome::Outcome;
use exmachina_net::packet::Packet;
use exmachina_net::queue::Limit;
use exmachina_net::random::Seed;
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, RuleTable, Signal, first_signals};
use exmachina_run::design_simulator::{beside, dumbbell};
use exmachina_run::sender::Sender;
use exmachina_scenario::neighbour::{Kind, Neighbour};
use exmachina_scenario::world::{Host, World};

const SEED: Seed = Seed { root: 11, specimen: 4 };

/// 10 Mbit/s (a packet each millisecond), 100 ms, senders that never stop.
fn for_ever(senders: usize) -> Network {
    Network::dumbbell(10.0, 100.0, senders, Workload::new(On::Forever, 0.1))
}

/// The same with room for so many packets.
fn with_room(packets: u32, network: Network) -> Network {
    let hop = HopPlan { limit: Limit::Packets(packets), ..network.hops[0].clone() };
    Network { hops: vec![hop], ..network }
}

fn table(action: Action) -> FlatTable {
    FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap()
}

fn window(packets: i32) -> Action {
    Action { multiple: 0.0, increment: packets, intersend_ms: 0.01 }
}

fn watched<O: for<'t> Observer<Sender<Remy<'t>>>>(network: &Network, action: Action, observer: &mut O) -> Outcome {
    let table = table(action);
    let mut engine = dumbbell(network, SEED, |_| Remy::new(&table));
    engine.run(Instant::from_s(100.0), observer);
    engine.outcome()
}

fn run(network: &Network, action: Action) -> Outcome {
    watched(network, action, &mut Unwatched)
}

fn mbps(outcome: &Outcome) -> f64 {
    outcome.flows.iter().map(|flow| flow.throughput_mbps()).sum()
}

/// A window of 50 of the link's 101 packets: half the link, whoever waits for whom. One of one packet waits for the timer:
/// 100 ms and its own millisecond, and 40 ms more.
#[test]
fn acks_of_two_packets() {
    let each = for_ever(1);
    let two = Network { acks: Acks { packets: 2, delay_ms: 40.0 }, ..each.clone() };
    let (one_by_one, in_pairs) = (mbps(&run(&each, window(50))), mbps(&run(&two, window(50))));
    assert!((one_by_one / (10.0 * 50.0 / 101.0) - 1.0).abs() < 0.01, "{one_by_one}");
    // The first of a pair waits for the second.
    assert!((in_pairs / one_by_one - 1.0).abs() < 0.03, "{in_pairs}");
    let lone = run(&two, window(1));
    assert!((lone.flows[0].delivered as f64 * 0.141 / lone.flows[0].on_s - 1.0).abs() < 0.01, "{lone:?}");
    // How long an ACK waits is not a delay of the network.
    assert!((lone.flows[0].mean_rtt_ms().unwrap() - 101.0).abs() < 1e-6);
}

/// Window + 1 per packet: the same after as many packets, whether they are acknowledged one by one or not.
#[test]
fn a_rule_acts_as_often() {
    #[derive(Default)]
    struct Windows(Vec<u32>);
    impl<S: Scheme> Observer<Sender<S>> for Windows {
        fn acked(&mut self, _: Instant, _: usize, packet: &Packet, sender: &Sender<S>) {
            if packet.seq % 8 == 7 {
                self.0.push(sender.scheme.window());
            }
        }
    }
    let grows = Action { multiple: 1.0, increment: 1, intersend_ms: 0.5 };
    let windows = |packets| {
        let mut seen = Windows::default();
        watched(&Network { acks: Acks { packets, delay_ms: 1e4 }, ..for_ever(1) }, grows, &mut seen);
        seen.0
    };
    let each = windows(1);
    assert!(each.len() > 1000);
    for packets in [2, 4, 8] {
        // The first window of one packet waits for the timer; all multiples of 8 packets after that end an ACK, or none does.
        let stretched = windows(packets);
        let off = each.iter().zip(&stretched).filter(|(a, b)| a.abs_diff(**b) >= packets).count();
        assert_eq!(off, 0, "{packets} at a time");
    }
}

/// How many packets were sent before each ACK.
#[derive(Default)]
struct Flights(Vec<u64>);

impl<S: Scheme> Observer<Sender<S>> for Flights {
    fn sent(&mut self, _: Instant, _: usize, _: &Packet, _: Option<Instant>, sender: &Sender<S>) {
        let before = sender.delivered as usize;
        self.0.resize(self.0.len().max(before + 1), 0);
        self.0[before] += 1;
    }
}

/// Until the first ACK as many packets as the receiver takes, and from then on as many as the window; of transfers by bytes,
/// which end, as of others; and an ACK that waits is none yet.
#[test]
fn receivers_take_few_packets_until_their_first_ack() {
    let sent = |first_receive_window, acks, on| {
        let network =
            Network { first_receive_window, acks, ..Network::dumbbell(10.0, 100.0, 1, Workload::new(on, 0.1)) };
        let mut seen = Flights::default();
        watched(&network, window(50), &mut seen);
        seen.0
    };
    let each = Acks { packets: 1, delay_ms: 40.0 };
    assert_eq!(sent(0, each, On::Forever)[..3], [50, 1, 1]);
    assert_eq!(sent(60, each, On::Forever)[..3], [50, 1, 1]);
    assert_eq!(sent(20, each, On::Forever)[..3], [20, 31, 1]);
    assert_eq!(sent(20, Acks { packets: 2, ..each }, On::Forever)[..4], [20, 0, 32, 0]);
    let transfers = sent(20, each, On::Bytes(150_000.0));
    assert_eq!(transfers.iter().max(), Some(&31));
    assert!(transfers.len() > 1000 && transfers.iter().filter(|n| **n == 20).count() > 3, "{}", transfers.len());
}

/// All of a first flight is lost: the receiver has still taken nothing.
#[test]
fn a_receiver_that_took_nothing_yet_takes_no_more() {
    let hop = HopPlan { loss: 1.0, ..for_ever(1).hops[0].clone() };
    let network = Network { hops: vec![hop], first_receive_window: 20, ..for_ever(1) };
    #[derive(Default)]
    struct UnderWay(Vec<u32>);
    impl<S: Scheme> Observer<Sender<S>> for UnderWay {
        fn sent(&mut self, _: Instant, _: usize, _: &Packet, _: Option<Instant>, sender: &Sender<S>) {
            self.0.push(sender.outstanding());
        }
    }
    let mut seen = UnderWay::default();
    watched(&network, window(50), &mut seen);
    assert!(seen.0.len() > 10_000);
    assert!(seen.0.iter().zip((1..=20).cycle()).all(|(under_way, expected)| *under_way == expected));
}

#[test]
fn a_gap_is_acknowledged_at_once() {
    // Room for two packets: most of a burst of eight is lost, and the timer of a minute would stop the sender.
    let network = Network { acks: Acks { packets: 64, delay_ms: 6e4 }, ..with_room(2, for_ever(1)) };
    let outcome = run(&network, window(8));
    assert!(outcome.flows[0].delivered > 100, "{outcome:?}");
}

/// A rule that keeps its window keeps what upsets make of it; one that sets it is back at the next ACK.
#[test]
fn flows_are_upset_at_the_same_instants_whatever_they_run() {
    #[derive(Default)]
    struct Upset(Vec<Instant>, u32);
    impl<S: Scheme> Observer<Sender<S>> for Upset {
        fn acked(&mut self, now: Instant, _: usize, _: &Packet, sender: &Sender<S>) {
            if self.1 != 0 && sender.scheme.window() != self.1 {
                self.0.push(now);
            }
            self.1 = sender.scheme.window();
        }
    }
    let upset = Network { upsets: Upsets { flow_s: 2.0, link_s: 0.0 }, ..for_ever(1) };
    let instants = |intersend_ms| {
        // 30 packets at the beginning, where there is no RTT ratio yet; then whatever it is.
        let mut keeps = RuleTable::single(&Signal::ALL[..4], Action { intersend_ms, ..window(30) });
        keeps.split(0, &first_signals(&[0.0, 0.0, 0.5]), &[Signal::RttRatio]);
        keeps.set_action(1, Action { multiple: 1.0, increment: 0, intersend_ms });
        let (table, mut seen) = (FlatTable::new(&keeps).unwrap(), Upset::default());
        let mut engine = dumbbell(&upset, SEED, |_| Remy::new(&table));
        engine.run(Instant::from_s(60.0), &mut seen);
        seen.0
    };
    let (fast, slow) = (instants(1.2), instants(4.0));
    assert!((15..50).contains(&fast.len()), "{fast:?}");
    // Heard of at the next ACK: of a window of one packet that takes an RTT.
    let apart = |(a, b): (&Instant, &Instant)| a.abs_diff(*b) > Duration::from_s(0.12);
    assert!(fast.len() == slow.len() && !fast.iter().zip(&slow).any(apart), "{fast:?} {slow:?}");
    let calm = run(&for_ever(1), window(50));
    let set = run(&upset, window(50));
    assert!((mbps(&set) / mbps(&calm) - 1.0).abs() < 0.05);
}

/// A stop is half a second on the mean, and every second change is one; a step of the rate is level on the mean of its
/// logarithm.
#[test]
fn a_link_stops_and_steps() {
    let weather = |link_s| run(&Network { upsets: Upsets { flow_s: 0.0, link_s }, ..for_ever(1) }, window(400));
    let (calm, rough) = (weather(0.0), weather(2.0));
    assert!((mbps(&calm) / 10.0 - 1.0).abs() < 0.01);
    assert!((5.0..9.9).contains(&mbps(&rough)), "{}", mbps(&rough));
    assert_eq!(weather(2.0), rough, "it repeats");
    // What one sender does changes nothing about when the link stops.
    let less = Network { upsets: Upsets { flow_s: 0.0, link_s: 2.0 }, ..for_ever(1) };
    assert!(mbps(&run(&less, window(20))) < 10.0 * 21.0 / 101.0);
}

/// What a late timer cost is made up for by the next packet.
#[test]
fn late_timers_keep_the_pace() {
    let pace = Action { multiple: 1.0, increment: 1, intersend_ms: 2.0 };
    let late =
        |late_ms| run(&Network { roughness: Roughness { late_ms, ..Roughness::default() }, ..for_ever(1) }, pace);
    let (exact, late) = (late(0.0), late(1.5));
    assert!((mbps(&exact) / 5.0 - 1.0).abs() < 0.01);
    assert!(exact != late && (mbps(&late) / mbps(&exact) - 1.0).abs() < 0.001);
}

/// A policer drops what comes faster than the link's rate, and delays nothing.
#[test]
fn a_policed_link_has_no_queue() {
    let roughness = Roughness { policed: true, ..Roughness::default() };
    let policed = Network { roughness, ..with_room(20, for_ever(2)) };
    let outcome = run(&policed, window(300));
    // Of two windows of 300 packets each 100 ms, 100 pass and what the bucket holds.
    assert!(outcome.lost > 0 && (1.0..10.1).contains(&mbps(&outcome)), "{}", mbps(&outcome));
    let rtts: Duration = outcome.flows.iter().map(|flow| flow.delay).sum();
    assert_eq!(rtts, Duration::from_millis(101) * outcome.flows.iter().map(|flow| flow.delivered).sum::<u64>());
}

/// A rate that wanders by 30 % is the usual one on the mean, but for what the mean of a logarithm leaves.
#[test]
fn a_rate_wanders_about_the_usual_one() {
    let wander =
        |wander| run(&Network { roughness: Roughness { wander, ..Roughness::default() }, ..for_ever(1) }, window(400));
    let (calm, wild) = (wander(0.0), wander(0.3));
    assert!(calm != wild && (mbps(&wild) / mbps(&calm) - 1.0).abs() < 0.15, "{}", mbps(&wild));
    assert_eq!(wander(0.3), wild, "it repeats");
}

/// Jitter of less than what is between two packets keeps their order, and needs no sorting: as with a finite buffer that is
/// never full, which has it sorted.
#[test]
fn a_little_jitter_is_the_same_in_order_and_sorted() {
    let ordered = Network { jitter_ms: 0.3, ..for_ever(3) };
    let sorted = with_room(1_000_000, ordered.clone());
    assert_eq!(run(&ordered, window(70)), run(&sorted, window(70)));
}

/// The same schemes, transport and link as evaluations have, packet for packet.
#[test]
fn neighbours_are_those_of_evaluations() {
    let kinds = [(Kind::Cubic, "cubic"), (Kind::NewReno, "newreno"), (Kind::Bbr, "bbr3"), (Kind::Cubic, "cubic")];
    for on in [On::Forever, On::Seconds(2.0), On::Bytes(2e5)] {
        let (workload, library) = (Workload::new(on, 0.5), Library::default());
        let flow = |i| FlowPlan { route: vec![0], rtt_ms: 41.37 * f64::from(i), workload: workload.clone() };
        let neighbours = kinds.iter().zip(1..).map(|(&(kind, _), i)| Neighbour { kind, flow: flow(i) });
        let neighbours: Vec<Neighbour> = neighbours.collect();
        let nobody = with_room(80, for_ever(0));
        let sender = |(i, neighbour): (usize, &Neighbour)| {
            let (transport, preset) = (Settings::today(), Preset::Today);
            let luck = Stream::new(SEED.root, SEED.specimen, i as u64, Purpose::Scheme);
            let around = Surroundings { preset, transport, ecn: false, library: &library };
            let scheme = SchemeName::parse(kinds[i].1).unwrap().sender(&around, luck).unwrap();
            (neighbour.flow.clone(), Host { scheme, transport })
        };
        let world = World::clean(nobody.hops.clone(), neighbours.iter().enumerate().map(sender).collect());
        let (mut here, mut there) = (beside(&nobody, &neighbours, SEED, |_| unreachable!()), world.engine(SEED));
        here.run(Instant::from_s(60.0), &mut Unwatched);
        there.run(Instant::from_s(60.0), &mut Unwatched);
        let (here, there) = (here.outcome(), there.outcome());
        assert_eq!(here.flows, there.flows);
        assert!(here.lost > 0 && here.lost == there.lost && mbps(&here) > 8.0, "{} {}", here.lost, mbps(&here));
    }
}

/// A table that takes 4 of 10 Mbit/s whatever happens leaves the rest to its neighbour, and is told of the packets that
/// find no room; its neighbour repairs its own.
#[test]
fn a_neighbour_takes_what_is_left() {
    let table = table(Action { multiple: 1.0, increment: 200, intersend_ms: 2.5 });
    let network = with_room(100, for_ever(1));
    let cubic = [Neighbour { kind: Kind::Cubic, flow: network.flows[0].clone() }];
    let mut engine = beside(&network, &cubic, SEED, |_| Mixed::Remy(Remy::new(&table)));
    engine.run(Instant::from_s(100.0), &mut Unwatched);
    let outcome = engine.outcome();
    let [ours, theirs] = [0, 1].map(|i| outcome.flows[i].throughput_mbps());
    assert!((3.7..=4.01).contains(&ours) && (5.3..6.1).contains(&theirs), "{ours} {theirs}");
    assert!(outcome.flows[1].mean_rtt_ms().unwrap() > 120.0 && outcome.lost > 20);
}
