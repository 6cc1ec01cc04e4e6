//! Every term of an objective is in every score: what a table is told to be worth, what a search goes by, and what senders
//! get by the scorer of evaluations.

use std::sync::atomic::AtomicBool;

use exmachina_design::model::Model;
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};
use exmachina_run::scoring::{Scorable, outcomes, scores};
use exmachina_run::worth::{Fared, fared};

/// A network where packets are lost, where they wait, and where some arrive after their sender was switched off.
const NETWORK: &str = "[link]\nrate_mbps = 5\nbuffer = { packets = 20 }\n[path]\nrtt_ms = 100\n[senders]\ncount = 2\n\
                       [workload]\non = { seconds = 1 }\noff = { seconds = 1 }\n";

#[test]
fn no_user_of_a_score_drops_a_term() {
    let rule = Action { multiple: 1.0, increment: 100, intersend_ms: 1.5 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let scorable = Scorable::Table(Box::new(table));
    let each = |objective: &str| -> Vec<f64> {
        let model = Model::parse(&format!("{NETWORK}[objective]\n{objective}\n"), "x.toml").unwrap();
        let set = model.held_out(1, 4);
        let told = scores(&scorable, &set, &model.objective, 20.0);
        let runs = outcomes(&scorable, &set, 20.0, &AtomicBool::new(false));
        let told: Vec<f64> = told.iter().map(|score| score.mean.unwrap()).collect();
        for ((specimen, outcome), told) in set.specimens.iter().zip(&runs).zip(&told) {
            assert_eq!(model.worth(specimen, outcome).mean, Some(*told), "what a search goes by: {objective}");
            let utility = |fared: Fared| if let Fared::Utility(utility) = fared { utility } else { 0.0 };
            let senders = fared(outcome, &specimen.roles, &model.objective);
            let mean = senders.iter().copied().map(utility).sum::<f64>() / senders.len() as f64;
            assert!((mean - told).abs() < 1e-12, "what senders get: {objective}");
        }
        told
    };
    let usual = each("");
    for term in
        ["alpha = 2", "beta = 2", "delta = 0.5", "loss_weight = 1", "throughput = 'on-time'", "deliveries = 'while-on'"]
    {
        assert!(each(term).iter().zip(&usual).all(|(with, without)| with != without), "{term} changes nothing");
    }
}
