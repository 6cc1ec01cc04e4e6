//! What a design does side by side and what one after the other: `tasks MODEL.toml CPU_SECONDS [SEED]`, on one thread.
//!
//! Prints the CPU time of every simulation, and of every table that is made of a policy, ms, with its step and its batch in that step:
//! those of a batch do not wait for each other, a batch waits for the one before it, a step for the step before it. Steps are said on
//! stderr: their number, CPU time and what of it was in no batch, s, whether the last batch measured the table, which no later step
//! waits for, and what was done. Environment: `START` (a table to begin with).

use std::sync::atomic::AtomicBool;

use exmachina_design::model::Model;
use exmachina_design::search::{Designer, Meter, Settings, Times};
use exmachina_rules::RuleTable;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (path, budget) = (&args[1], args[2].parse::<f64>().expect("CPU seconds"));
    let seed = args.get(3).map(|s| s.parse().expect("a seed"));
    let model = Model::parse(&std::fs::read_to_string(path).expect("a model file"), path).expect("a model");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let settings = Settings { seed, ..Settings::default() };
    let designer = match std::env::var("START") {
        Ok(path) => {
            let table = RuleTable::from_dna(&std::fs::read(path).expect("a table")).expect("a table");
            Designer::with_start(model, settings, &[table]).expect("a table for this model")
        }
        Err(_) => Designer::new(model, settings),
    };
    pool.install(|| design(designer, budget));
}

fn design(mut designer: Designer, budget: f64) {
    let (stop, meter) = (AtomicBool::new(false), Meter { times: Some(Times::default()), ..Meter::default() });
    println!("step,batch,ms");
    eprintln!("step,cpu_s,rest_s,measured,doing");
    let mut before = 0.0;
    while before < budget {
        designer.step(&stop, &meter, None).expect("nobody stops it");
        let batches = meter.times.as_ref().expect("they are asked for").take();
        let progress = designer.progress();
        for (number, batch) in batches.iter().enumerate() {
            batch.iter().for_each(|s| println!("{},{number},{:.3}", progress.step, 1e3 * s));
        }
        let (cpu_s, simulated_s) = (progress.cpu_s - before, batches.iter().flatten().sum::<f64>());
        let measured = designer.history().last().is_some_and(|point| point.step == progress.step);
        let doing = progress.doing.replace(',', ";");
        eprintln!("{},{cpu_s:.4},{:.4},{measured},{doing}", progress.step, cpu_s - simulated_s);
        before = progress.cpu_s;
    }
}
