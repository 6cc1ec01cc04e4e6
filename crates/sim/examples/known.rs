use exmachina_rules::{FlatTable, RuleTable};
use exmachina_sim::engine::{Engine, Seed};
use exmachina_sim::network::*;
use exmachina_sim::observe::Unwatched;
use exmachina_sim::scheme::Remy;
use exmachina_sim::time::from_s;
fn main() {
    let secs: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    for (name, n, rate, on, t0, d0) in [("RemyCC-2013-delta10", 8, 15.0, 10.0, 0.65, 1.006), ("RemyCC-2013-delta1", 8, 15.0, 10.0, 0.81, 1.015), ("RemyCC-2013-delta0.1", 8, 15.0, 10.0, 0.91, 1.112), ("tao-100x", 2, 9.93, 1.0, 0.808, 1.1), ("tao-100x", 2, 185.04, 1.0, 0.663, 1.043)] {
        let t = FlatTable::new(&RuleTable::from_dna(&std::fs::read(format!("../shared/reference/remycc/{name}.dna")).unwrap()).unwrap()).unwrap();
        let net = Network { rate_mbps: rate, rtt_ms: vec![150.0; n], buffer: Buffer::Infinite, loss: 0.0, jitter_ms: 0.0, clock_ms: 0.0, workload: Workload { on: On::Seconds(on), off_s: on } };
        let mut e = Engine::new(&net, Seed { root: 1, specimen: 0 }, |_| Remy::new(&t));
        e.run(from_s(secs), &mut Unwatched);
        let o = e.outcome();
        let tp: f64 = o.flows.iter().map(|f| f.normalised_throughput(rate)).sum::<f64>() / n as f64;
        let d: f64 = o.flows.iter().map(|f| f.delay_ratio().unwrap()).sum::<f64>() / n as f64;
        println!("{name} {rate}: {tp:.4} ({t0}: {:+.2}%)  {d:.4} ({d0}: {:+.2}%)", (tp / t0 - 1.) * 100., (d / d0 - 1.) * 100.);
    }
}
