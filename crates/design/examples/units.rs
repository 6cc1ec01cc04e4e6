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

use exmachina_design::model::Model;
use exmachina_net::observe::Unwatched;
use exmachina_rules::{FlatTable, RuleTable};
use exmachina_run::assignment::Assignment;
use exmachina_run::units::{slowed, stretched};
use exmachina_scenario::Specimen;
use rayon::prelude::*;

const NETWORKS: usize = 30;
const SEED: u64 = 27_182_818;
/// Units of so many nanoseconds: an eighth, and others in which instants are rounded elsewhere.
const UNITS: [f64; 6] =
    [0.125, 0.618_033_988_749_894_8, 0.707_106_781_186_547_5, 0.91, 1.234_567, 1.618_033_988_749_895];
/// So many times as long as the model's runs, and at most what the smallest unit allows, s.
const LONGER: f64 = 15.0;
const LONGEST_S: f64 = 300.0;

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
    let seconds = (LONGER * model.design.duration_s).min(LONGEST_S);
    let run = |specimen: &Specimen| {
        let slow = Specimen { network: slowed(&specimen.network, times), ..specimen.clone() };
        Assignment::Everybody(&table).run(&slow, set.seed, seconds * times, &mut Unwatched).flows
    };
    let flows: Vec<_> = set.specimens.par_iter().map(run).collect::<Vec<_>>().concat();
    let sum = |of: fn(&exmachina_net::outcome::Flow) -> f64| flows.iter().map(of).sum::<f64>();
    let packets = sum(|flow| flow.delivered as f64);
    [packets / sum(|flow| flow.on_s) * times, sum(|flow| flow.delay.as_nanos_f64()) / packets / times]
}
