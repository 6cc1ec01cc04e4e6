//! `make bench`: ns of CPU per delivered packet, for named cases. Published tables are used where they are at hand.

use std::path::PathBuf;

use cpu_time::ProcessTime;
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};
use exmachina_sim::engine::{Engine, Seed};
use exmachina_sim::network::{Network, On, Workload};
use exmachina_sim::observe::Unwatched;
use exmachina_sim::scheme::Remy;
use exmachina_sim::time::from_s;

struct Case {
    name: &'static str,
    table: &'static str,
    senders: usize,
    rate_mbps: f64,
    on_s: f64,
}

const CASES: [Case; 6] = [
    Case {
        name: "2013-delta1, n = 8, 15 Mbit/s",
        table: "RemyCC-2013-delta1",
        senders: 8,
        rate_mbps: 15.0,
        on_s: 10.0,
    },
    Case { name: "tao-100x, n = 2, 9.93 Mbit/s", table: "tao-100x", senders: 2, rate_mbps: 9.93, on_s: 1.0 },
    Case { name: "tao-100x, n = 2, 99.3 Mbit/s", table: "tao-100x", senders: 2, rate_mbps: 99.3, on_s: 1.0 },
    Case { name: "tao-100x, n = 2, 185 Mbit/s", table: "tao-100x", senders: 2, rate_mbps: 185.0, on_s: 1.0 },
    Case { name: "one rule, n = 2, 15 Mbit/s", table: "one rule", senders: 2, rate_mbps: 15.0, on_s: 1.0 },
    Case { name: "one rule, n = 100, 15 Mbit/s", table: "one rule", senders: 100, rate_mbps: 15.0, on_s: 1.0 },
];

fn table(name: &str) -> Option<FlatTable> {
    if name == "one rule" {
        let rule = Action { multiple: 0.9, increment: 5, intersend_ms: 1.0 };
        return FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).ok();
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../../shared/reference/remycc/{name}.dna"));
    FlatTable::new(&RuleTable::from_dna(&std::fs::read(path).ok()?).ok()?).ok()
}

/// CPU time of one run and the packets it delivered.
fn run(case: &Case, table: &FlatTable, seconds: f64) -> (f64, u64) {
    let workload = Workload::new(On::Seconds(case.on_s), case.on_s);
    let network = Network::dumbbell(case.rate_mbps, 150.0, case.senders, workload);
    let start = ProcessTime::now();
    let mut engine = Engine::new(&network, Seed { root: 1, specimen: 0 }, |_| Remy::new(table));
    engine.run(from_s(seconds), &mut Unwatched);
    let outcome = engine.outcome();
    (start.elapsed().as_secs_f64(), outcome.flows.iter().map(|f| f.delivered).sum())
}

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    println!("{:34} {:>9} {:>11} {:>12}", "case", "ns/packet", "packets/s", "packets");
    for case in CASES.iter().filter(|c| c.name.contains(&filter)) {
        let Some(table) = table(case.table) else {
            println!("{:34} {:>9}", case.name, "no table");
            continue;
        };
        // A length that takes a fifth of a second or so; the best of nine, since noise only ever adds.
        let (trial, _) = run(case, &table, 100.0);
        let seconds = (100.0 * 0.2 / trial).clamp(100.0, 50_000.0);
        let runs = (0..9).map(|_| run(case, &table, seconds));
        let (time, packets) = runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("nine runs");
        let ns = time * 1e9 / packets as f64;
        println!("{:34} {:9.1} {:11.2e} {:12}", case.name, ns, 1e9 / ns, packets);
    }
}
