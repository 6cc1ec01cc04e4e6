//! What a table gets on a clock that rounds otherwise: `units MODEL.toml TABLE.dna [MODEL.toml TABLE.dna ...]`.
//!
//! The simulator counts whole nanoseconds. Whether a table stands on that is seen by counting the same network in another
//! unit: all times of network, table and run are so many times as long, all rates as much slower, and it is the same system
//! but for how its instants are rounded. An eighth of a nanosecond is nearer to the doubles of the authors' simulator, the
//! others put every instant elsewhere.
//!
//! Prints a line of CSV for each table and unit: mean throughput and mean delay over those in nanoseconds. Networks are 30
//! held-out ones of the model, as they are: nothing trembles here.

use std::path::Path;

use exmachina_design::cast::Cast;
use exmachina_design::model::Model;
use exmachina_rules::{FlatTable, Node, NodeKind, RuleTable, Signal};
use exmachina_sim::engine::Seed;
use exmachina_sim::network::{Network, On};
use exmachina_sim::observe::Unwatched;
use rayon::prelude::*;

const NETWORKS: usize = 30;
const SEED: u64 = 27_182_818;
/// Units of so many nanoseconds: an eighth, and one over the golden ratio and its inverse.
const UNITS: [f64; 3] = [0.125, 0.618_033_988_749_894_8, 1.618_033_988_749_894_8];
/// As long as the smallest unit allows.
const SECONDS: f64 = 300.0;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    println!("table,unit_ns,throughput,delay");
    for pair in args.chunks(2) {
        let read = |path: &str| std::fs::read(path).expect("a file");
        let model = Model::parse(&String::from_utf8(read(&pair[0])).expect("text"), &pair[0]).expect("a model");
        let table = RuleTable::from_dna(&read(&pair[1])).expect("a table");
        let name = Path::new(&pair[1]).file_stem().expect("a name").to_string_lossy();
        let usual = means(&model, &table, 1.0);
        for unit in UNITS {
            let [throughput, delay] = means(&model, &table, 1.0 / unit);
            println!("{name},{unit},{:.6},{:.6}", throughput / usual[0], delay / usual[1]);
        }
    }
}

/// Mean throughput of the senders that were on, Mbit/s, and mean RTT of packets, ms, in true time.
fn means(model: &Model, table: &RuleTable, times: f64) -> [f64; 2] {
    let table = FlatTable::new(&stretched(table, times)).expect("a usable table");
    let set = model.held_out(SEED, NETWORKS);
    let run = |specimen: &exmachina_sim::scenario::Specimen| {
        let network = slowed(&specimen.network, times);
        let seed = Seed { root: set.seed, specimen: specimen.index };
        Cast::Everybody(&table).run(&network, seed, SECONDS * times, &mut Unwatched).flows
    };
    let flows: Vec<_> = set.specimens.par_iter().map(run).collect::<Vec<_>>().concat();
    let sum = |of: fn(&exmachina_sim::outcome::Flow) -> f64| flows.iter().map(of).sum::<f64>();
    let packets = sum(|flow| flow.delivered as f64);
    [packets / sum(|flow| flow.on_s) * times, sum(|flow| flow.delay_ns as f64) / packets / times]
}

/// The same table for times that many times as long.
fn stretched(table: &RuleTable, times: f64) -> RuleTable {
    let mut table = table.clone();
    stretch(&mut table.root, times);
    table
}

fn stretch(node: &mut Node, times: f64) {
    for signal in [Signal::SendEwma, Signal::AckEwma, Signal::SlowAckEwma, Signal::RttDiff, Signal::QueueingDelay] {
        node.cell.lower[signal as usize] *= times;
        node.cell.upper[signal as usize] *= times;
    }
    match &mut node.kind {
        NodeKind::Leaf(action) => action.intersend_ms *= times,
        NodeKind::Split(children) => children.iter_mut().for_each(|child| stretch(child, times)),
    }
}

/// The same network, so many times as slow.
fn slowed(network: &Network, times: f64) -> Network {
    let mut slow = network.clone();
    slow.rate_mbps /= times;
    slow.rtt_ms.iter_mut().for_each(|rtt| *rtt *= times);
    slow.jitter_ms *= times;
    slow.clock_ms *= times;
    slow.workload.off_s *= times;
    if let On::Seconds(mean) | On::FixedSeconds(mean) = &mut slow.workload.on {
        *mean *= times;
    }
    for link in slow.lot.iter_mut().flat_map(|lot| &mut lot.links) {
        link.rate_mbps /= times;
        link.delay_ms *= times;
    }
    slow
}
