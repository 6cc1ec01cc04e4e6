//! Time-to-score curves: `curve MODEL.toml CPU_SECONDS [default|paper] [SEED] [TUNING-JSON]`.
//!
//! Prints, each time that the CPU time has grown by a quarter, the score on held-out specimens with a microsecond of jitter (not
//! counted in the time).
//! Environment: `START` (a table to begin with), `OUT` (where to write the last one), `VERBOSE` (each step on stderr).

use std::sync::atomic::AtomicBool;

use exmachina_design::model::Model;
use exmachina_design::search::{Designer, Meter, Search, Settings};
use exmachina_rules::{FlatTable, RuleTable};
use exmachina_run::scoring::{Scorable, mean, scores, starved_share};

/// A microsecond.
const JITTER_MS: f64 = 0.001;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (path, budget) = (&args[1], args[2].parse::<f64>().expect("CPU seconds"));
    let search = if args.get(3).is_some_and(|s| s == "paper") { Search::Paper } else { Search::Default };
    let seed = args.get(4).map(|s| s.parse().expect("a seed"));
    let tuning = args.get(5).map_or_else(Default::default, |s| serde_json::from_str(s).expect("tuning as JSON"));
    let model = Model::parse(&std::fs::read_to_string(path).expect("a model file"), path).expect("a model");
    let points = model.scenario.grid().map_or(1, |g| g.len());
    let mut held_out = model.held_out(7, if points == 1 { 400 } else { 100 * points });
    // No table is to look good for how instants are rounded here.
    held_out.specimens.iter_mut().for_each(|s| s.network.jitter_ms = s.network.jitter_ms.max(JITTER_MS));
    let (objective, seconds) = (model.objective, model.design.duration_s);
    let settings = Settings { search, seed, tuning, ..Settings::default() };
    let mut designer = match std::env::var("START") {
        Ok(path) => {
            let table = RuleTable::from_dna(&std::fs::read(path).expect("a table")).expect("a table");
            Designer::with_start(model, settings, &[table]).expect("a table for this model")
        }
        Err(_) => Designer::new(model, settings),
    };
    let (stop, meter) = (AtomicBool::new(false), Meter::default());
    let mut next = 0.1;
    println!("cpu_s,step,packets,rules,score_per_specimen,starved_share");
    while designer.progress().cpu_s < budget {
        designer.step(&stop, &meter, None).expect("nobody stops it");
        let p = designer.progress();
        if std::env::var("VERBOSE").is_ok() {
            eprintln!("{:9.2} {:3} rules  {}", p.cpu_s, p.rules, p.doing);
        }
        if p.cpu_s >= next || p.cpu_s >= budget {
            next = p.cpu_s * 1.25;
            let table = Scorable::Table(Box::new(FlatTable::new(&designer.table()).expect("a usable table")));
            let all = scores(&table, &held_out, &objective, seconds);
            let (score, starved) = (mean(&all).unwrap_or(f64::NAN), starved_share(&all));
            println!("{:.2},{},{},{},{score:.4},{starved}", p.cpu_s, p.step, p.packets, p.rules);
        }
    }
    if let Ok(out) = std::env::var("OUT") {
        std::fs::write(out, designer.table().to_dna()).expect("a place to write");
    }
}
