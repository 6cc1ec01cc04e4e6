//! `make bench`: ns of CPU per delivered packet, for named cases of design and of evaluation. Published tables are used
//! where they are at hand.
//!
//! `EXMACHINA_BENCH_SECONDS` runs each case once, for so many simulated seconds: under callgrind the difference of two such
//! runs, over the packets between them, is the number of instructions per packet, which no other load disturbs.

use std::path::Path;

use cpu_time::ProcessTime;
use exmachina_hosts::scheme::{AnyScheme, Cubic, CubicSettings, LinuxCubic, LinuxCubicSettings, Remy, SchemeName};
use exmachina_hosts::transport::{Preset, Settings};
use exmachina_net::network::{Acks, FlowPlan, HopPlan, Network, On, Workload};
use exmachina_net::observe::Unwatched;
use exmachina_net::queue::{Limit, QueueKind, SfqCoDelSettings};
use exmachina_net::random::Seed;
use exmachina_net::time::Instant;
use exmachina_reference::reference;
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};
use exmachina_run::design_simulator::in_rounds;
use exmachina_scenario::world::{Host, World};

struct Case {
    name: &'static str,
    table: &'static str,
    senders: usize,
    rate_mbps: f64,
    on_s: f64,
    /// What makes it less clean.
    blur: fn(&mut Network),
}

const CASES: [Case; 24] = [
    case_of("2013-delta1, n = 8, 15 Mbit/s", "RemyCC-2013-delta1", 8, 15.0, 10.0),
    case_of("tao-100x, n = 2, 9.93 Mbit/s", "tao-100x", 2, 9.93, 1.0),
    case_of("tao-100x, n = 2, 99.3 Mbit/s", "tao-100x", 2, 99.3, 1.0),
    case_of("tao-100x, n = 2, 185 Mbit/s", "tao-100x", 2, 185.0, 1.0),
    case_of("one rule, n = 2, 15 Mbit/s", "one rule", 2, 15.0, 1.0),
    case_of("one rule, n = 100, 15 Mbit/s", "one rule", 100, 15.0, 1.0),
    case_of("one rule, n = 1000, 150 Mbit/s", "one rule", 1000, 150.0, 1.0),
    case_of("wide rule, n = 2, 9.93 Gbit/s", "wide rule", 2, 9930.0, 1.0),
    blurred("  ... with 1 us of jitter", |network| network.jitter_ms = 0.001),
    blurred("  ... with 1 ms of jitter", |network| network.jitter_ms = 1.0),
    blurred("  ... with room for 1 BDP", |network| network.hops[0].limit = Limit::Packets(1490)),
    blurred("  ... with 0.1 % of loss", |network| network.hops[0].loss = 0.001),
    blurred("  ... in batches, 5 ms apart", |network| network.roughness.batch_ms = 5.0),
    blurred("  ... with an ACK for two packets", |network| network.acks = IN_PAIRS),
    blurred("  ... with timers up to 1 ms late", |network| network.roughness.late_ms = 1.0),
    blurred("  ... with clocks of 1 ms", |network| network.clock_ms = 1.0),
    blurred("  ... with an upset every 5 s", |network| network.upsets.flow_s = 5.0),
    blurred("  ... with all but batches", all_but_batches),
    Case {
        blur: all_but_batches,
        ..case_of("2013-delta1, n = 8, all but batches", "RemyCC-2013-delta1", 8, 15.0, 10.0)
    },
    case_of("a law, n = 2, 99.3 Mbit/s", A_LAW, 2, 99.3, 1.0),
    case_of("a law, n = 8, 15 Mbit/s", A_LAW, 8, 15.0, 10.0),
    Case { blur: |network| network.jitter_ms = 0.001, ..case_of("a law, n = 2, 1 us of jitter", A_LAW, 2, 99.3, 1.0) },
    Case { blur: all_but_batches, ..case_of("a law, n = 2, all but batches", A_LAW, 2, 99.3, 1.0) },
    Case { blur: all_but_batches, ..case_of("a law, n = 8, all but batches", A_LAW, 8, 15.0, 10.0) },
];

/// The law of ours that most of the cases above would suit.
const A_LAW: &str = "general-1-robust";

const IN_PAIRS: Acks = Acks { packets: 2, delay_ms: 40.0 };

const fn case_of(name: &'static str, table: &'static str, senders: usize, rate_mbps: f64, on_s: f64) -> Case {
    Case { name, table, senders, rate_mbps, on_s, blur: clean }
}

/// The third again, less clean.
const fn blurred(name: &'static str, blur: fn(&mut Network)) -> Case {
    Case { name, table: "tao-100x", senders: 2, rate_mbps: 99.3, on_s: 1.0, blur }
}

fn all_but_batches(network: &mut Network) {
    network.jitter_ms = 0.1;
    network.hops[0].limit = Limit::Packets(1490);
    network.hops[0].loss = 0.001;
    network.acks = IN_PAIRS;
    network.roughness.late_ms = 1.0;
    network.clock_ms = 1.0;
    network.upsets.flow_s = 5.0;
}

fn clean(_: &mut Network) {}

fn table(name: &str) -> Option<FlatTable> {
    // Windows of 50 packets, and of 80,000: two of these are more than 10 Gbit/s and 150 ms hold.
    let rule = match name {
        "one rule" => Some(Action { multiple: 0.9, increment: 5, intersend_ms: 1.0 }),
        "wide rule" => Some(Action { multiple: 0.9, increment: 8000, intersend_ms: 0.001 }),
        _ => None,
    };
    if let Some(rule) = rule {
        return FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).ok();
    }
    let path = if name == A_LAW {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../python/exmachina/algorithms/{name}.dna"))
    } else {
        reference(&format!("remycc/{name}.dna"))?
    };
    let bytes = std::fs::read(path).unwrap();
    FlatTable::new(&RuleTable::from_dna(&bytes).unwrap()).ok()
}

/// CPU time of one run and the packets it delivered.
fn run(case: &Case, table: &FlatTable, seconds: f64) -> (f64, u64) {
    let workload = Workload::new(On::Seconds(case.on_s), case.on_s);
    let mut network = Network::dumbbell(case.rate_mbps, 150.0, case.senders, workload);
    (case.blur)(&mut network);
    let start = ProcessTime::now();
    let mut rounds = in_rounds(&network, Seed { root: 1, specimen: 0 }, |_| Remy::new(table));
    rounds.run(Instant::from_s(seconds), &mut Unwatched);
    let outcome = rounds.outcome();
    (start.elapsed().as_secs_f64(), outcome.flows.iter().map(|f| f.delivered).sum())
}

/// A case of evaluation: Cubic over 15 Mbit/s, 150 ms and 1000 packets of room.
struct Evaluated {
    name: &'static str,
    stack: fn() -> (AnyScheme<'static>, Settings),
    queue: fn() -> QueueKind,
    senders: usize,
    on: On,
}

/// Remy'13's dumbbell of eight senders, transfers of 100 kB on average every half a second; and flows for ever.
const EVALUATED: [Evaluated; 9] = [
    case("Cubic, polled, drop tail, R4 n = 8", remy13, drop_tail, 8, On::Bytes(100e3)),
    case("Cubic, drop tail, R4 n = 8", tao14, drop_tail, 8, On::Bytes(100e3)),
    case("Cubic, sfqCoDel, R4 n = 8", tao14, sfq_codel, 8, On::Bytes(100e3)),
    case("Cubic, drop tail, n = 2 for ever", tao14, drop_tail, 2, On::Forever),
    case("Cubic, sfqCoDel, n = 2 for ever", tao14, sfq_codel, 2, On::Forever),
    case("today, drop tail, R4 n = 8", today, drop_tail, 8, On::Bytes(100e3)),
    case("today, sfqCoDel, R4 n = 8", today, sfq_codel, 8, On::Bytes(100e3)),
    case("today, drop tail, n = 2 for ever", today, drop_tail, 2, On::Forever),
    case("today, sfqCoDel, n = 2 for ever", today, sfq_codel, 2, On::Forever),
];

const fn case(
    name: &'static str,
    stack: fn() -> (AnyScheme<'static>, Settings),
    queue: fn() -> QueueKind,
    senders: usize,
    on: On,
) -> Evaluated {
    Evaluated { name, stack, queue, senders, on }
}

/// Cubic in ns-2's agent for Linux's modules.
fn tao14() -> (AnyScheme<'static>, Settings) {
    let cubic = AnyScheme::LinuxCubic(LinuxCubic::new(LinuxCubicSettings::linux_2_6_22()));
    (cubic, SchemeName::Cubic.transport(Preset::Tao14))
}

/// The same, looked at every 5 ms, which takes more events than packets do.
fn remy13() -> (AnyScheme<'static>, Settings) {
    (tao14().0, SchemeName::Cubic.transport(Preset::Remy13))
}

/// Cubic by that of today.
fn today() -> (AnyScheme<'static>, Settings) {
    (AnyScheme::Cubic(Cubic::new(CubicSettings::default())), Settings::today())
}

fn drop_tail() -> QueueKind {
    QueueKind::DropTail
}

fn sfq_codel() -> QueueKind {
    QueueKind::SfqCoDel(SfqCoDelSettings::default())
}

/// CPU time of one run and the packets it delivered.
fn evaluate(case: &Evaluated, seconds: f64) -> (f64, u64) {
    let (scheme, transport) = (case.stack)();
    let flow = FlowPlan { route: vec![0], rtt_ms: 150.0, workload: Workload::new(case.on.clone(), 0.5) };
    let hop = HopPlan { queue: (case.queue)(), limit: Limit::Packets(1000), ..HopPlan::constant(15.0) };
    let world = World::clean(vec![hop], vec![(flow, Host { scheme, transport }); case.senders]);
    let start = ProcessTime::now();
    let mut engine = world.engine(Seed { root: 1, specimen: 0 });
    engine.run(Instant::from_s(seconds), &mut Unwatched);
    let outcome = engine.outcome();
    (start.elapsed().as_secs_f64(), outcome.flows.iter().map(|f| f.delivered).sum())
}

/// Measures and prints a case, given as what runs it for so many simulated seconds.
fn report(name: &str, run: impl Fn(f64) -> (f64, u64)) {
    let fixed = std::env::var("EXMACHINA_BENCH_SECONDS").ok().and_then(|text| text.parse().ok());
    let (time, packets) = if let Some(seconds) = fixed {
        run(seconds)
    } else {
        // A length that takes a fifth of a second or so; the best of nine, since noise only ever adds.
        let (trial, _) = run(100.0);
        let seconds = (100.0 * 0.2 / trial).clamp(100.0, 35_000.0);
        (0..9).map(|_| run(seconds)).min_by(|a, b| a.0.total_cmp(&b.0)).expect("nine runs")
    };
    let ns = time * 1e9 / packets as f64;
    println!("{name:34} {ns:9.1} {:11.2e} {packets:12}", 1e9 / ns);
}

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    println!("{:34} {:>9} {:>11} {:>12}", "case", "ns/packet", "packets/s", "packets");
    for case in CASES.iter().filter(|c| c.name.contains(&filter)) {
        match table(case.table) {
            Some(table) => report(case.name, |seconds| run(case, &table, seconds)),
            None => println!("{:34} {:>9}", case.name, "no table"),
        }
    }
    for case in EVALUATED.iter().filter(|c| c.name.contains(&filter)) {
        report(case.name, |seconds| evaluate(case, seconds));
    }
}
