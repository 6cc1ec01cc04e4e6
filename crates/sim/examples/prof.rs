use exmachina_rules::{FlatTable, RuleTable};
use exmachina_sim::engine::{Engine, Seed};
use exmachina_sim::network::*;
use exmachina_sim::observe::*;
use exmachina_sim::scheme::Remy;
use exmachina_sim::sender::Sender;
use exmachina_sim::time::*;
#[derive(Default)]
struct C { acks: u64, sends: u64, last: Option<(u64, bool)>, imm: u64, alt: u64, rulechg: u64, rule: [usize; 16], prev: [usize; 16], back: u64, acks_with_pending: u64 }
impl Observer<Remy<'_>> for C {
    fn acked(&mut self, now: Time, i: usize, _r: Time, s: &Sender<Remy<'_>>) { self.acks += 1; let r = s.scheme.controller.rule(); if r != self.rule[i] { self.rulechg += 1; if r == self.prev[i] { self.back += 1; } self.prev[i] = self.rule[i]; self.rule[i] = r; } self.last = Some((now, true)); if s.ready() <= now { self.imm += 1; } else if s.ready() < NEVER { self.acks_with_pending += 1 } }
    fn sent(&mut self, now: Time, _i: usize, _d: Option<Time>) { self.sends += 1; let _ = now; }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (name, n, rate, on, secs): (_, usize, f64, f64, f64) = (&a[1], a[2].parse().unwrap(), a[3].parse().unwrap(), a[4].parse().unwrap(), a[5].parse().unwrap());
    let t = FlatTable::new(&RuleTable::from_dna(&std::fs::read(format!("../shared/reference/remycc/{name}.dna")).unwrap()).unwrap()).unwrap();
    let net = Network { rate_mbps: rate, rtt_ms: vec![150.0; n], buffer: Buffer::Infinite, loss: 0.0, jitter_ms: 0.0, clock_ms: 0.0, workload: Workload { on: On::Seconds(on), off_s: on } };
    let mut e = Engine::new(&net, Seed { root: 1, specimen: 0 }, |_| Remy::new(&t));
    if a.len() > 6 {
        let mut c = C::default();
        e.run(from_s(secs), &mut c);
        println!("acks {} sends {} immediate {} ({:.2}) pending {:.2} rulechange {:.2} back {:.2}", c.acks, c.sends, c.imm, c.imm as f64 / c.acks as f64, c.acks_with_pending as f64 / c.acks as f64, c.rulechg as f64 / c.acks as f64, c.back as f64 / c.rulechg as f64);
    } else {
        e.run(from_s(secs), &mut Unwatched);
        let o = e.outcome();
        println!("{}", o.flows.iter().map(|f| f.delivered).sum::<u64>());
    }
}
