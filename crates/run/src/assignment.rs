//! Who runs what on a specimen: tables, the same or different ones, and AIMD where the network has such senders.

use exmachina_hosts::scheme::{Aimd, Mixed, Remy, Scheme};
use exmachina_net::network::Network;
use exmachina_net::observe::Observer;
use exmachina_net::outcome::Outcome;
use exmachina_net::random::Seed;
use exmachina_net::rounds::Rounds;
use exmachina_net::time::Instant;
use exmachina_rules::FlatTable;
use exmachina_scenario::Specimen;
use exmachina_scenario::role::Runs;

use crate::beside::Beside;
use crate::design_simulator::{beside, dumbbell, in_rounds, routed};
use crate::sender::Sender;

/// The tables that senders run.
#[derive(Clone, Copy, Debug)]
pub enum Assignment<'t> {
    /// All of them this one, whatever their class.
    Everybody(&'t FlatTable),
    /// Those of each class the one at its place (of a class that has none, the last).
    Classes(&'t [FlatTable]),
    /// Those of one class the table under design, the others the ones at their places.
    Lead {
        /// The class.
        class: usize,
        /// Its table.
        table: &'t FlatTable,
        /// The tables of all classes; that of the class itself does not matter. None where there is one class.
        others: &'t [FlatTable],
    },
}

impl<'t> Assignment<'t> {
    fn table(&self, class: usize) -> &'t FlatTable {
        match *self {
            Assignment::Everybody(table) => table,
            Assignment::Classes(tables) => &tables[class.min(tables.len() - 1)],
            Assignment::Lead { class: own, table, others } if class == own || others.is_empty() => table,
            Assignment::Lead { others, .. } => &others[class.min(others.len() - 1)],
        }
    }

    /// By sender, whether it runs the table that is looked at: the one under design, or any. Empty: all do.
    #[must_use]
    pub fn watched(&self, specimen: &Specimen) -> Vec<bool> {
        let runs = |runs| match (self, runs) {
            (_, Runs::Aimd) => false,
            (Assignment::Lead { class, others, .. }, Runs::Table(of)) => of == *class || others.is_empty(),
            _ => true,
        };
        specimen.roles.iter().map(|role| runs(role.runs)).collect()
    }

    /// Runs a specimen, of the set that has this root seed.
    pub fn run(&self, specimen: &Specimen, root: u64, duration_s: f64, observer: &mut impl Watches<'t>) -> Outcome {
        let Specimen { network, roles, neighbours, .. } = specimen;
        if roles.is_empty() && neighbours.is_empty() && network.is_dumbbell() {
            // Most models: nobody pays for what there may be elsewhere.
            let table = self.table(0);
            return run_one_link(network, specimen.seed(root), |_| Remy::new(table), duration_s, observer);
        }
        let scheme = |i: usize| match roles.get(i).map_or(Runs::Table(0), |role| role.runs) {
            Runs::Table(class) => Mixed::Remy(Remy::new(self.table(class))),
            Runs::Aimd => Mixed::Aimd(Aimd::default()),
        };
        run_mixed(specimen, root, scheme, duration_s, observer)
    }
}

/// Watches a run whatever its senders are.
pub trait Watches<'t>: Observer<Sender<Remy<'t>>> + Observer<Sender<Mixed<'t>>> + Observer<Beside<'t>> {}

impl<'t, W> Watches<'t> for W where W: Observer<Sender<Remy<'t>>> + Observer<Sender<Mixed<'t>>> + Observer<Beside<'t>> {}

/// Runs any network with any of the schemes of a design. Neighbours are not among the flows of its outcome.
pub fn run_mixed<'t>(
    specimen: &Specimen,
    root: u64,
    scheme: impl Fn(usize) -> Mixed<'t>,
    duration_s: f64,
    observer: &mut impl Watches<'t>,
) -> Outcome {
    let (network, seed) = (&specimen.network, specimen.seed(root));
    if !specimen.neighbours.is_empty() {
        let mut engine = beside(network, &specimen.neighbours, seed, scheme);
        engine.run(Instant::from_s(duration_s), observer);
        let mut outcome = engine.outcome();
        outcome.flows.truncate(network.senders());
        return outcome;
    }
    if network.is_dumbbell() {
        return run_one_link(network, seed, scheme, duration_s, observer);
    }
    let mut engine = routed(network, seed, scheme);
    engine.run(Instant::from_s(duration_s), observer);
    engine.outcome()
}

/// Runs a network of one link: an RTT at a time, unless somebody watches what comes after what.
fn run_one_link<S: Scheme, O: Observer<Sender<S>>>(
    network: &Network,
    seed: Seed,
    scheme: impl Fn(usize) -> S,
    duration_s: f64,
    observer: &mut O,
) -> Outcome {
    if O::IN_ANY_ORDER && Rounds::<Sender<S>>::suits(network) {
        let mut rounds = in_rounds(network, seed, scheme);
        rounds.run(Instant::from_s(duration_s), observer);
        return rounds.outcome();
    }
    let mut engine = dumbbell(network, seed, scheme);
    engine.run(Instant::from_s(duration_s), observer);
    engine.outcome()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use exmachina_net::observe::Unwatched;
    use exmachina_rules::{Action, RuleTable, Signal};

    use super::*;
    use crate::model::Model;
    use crate::reference::reference;
    use crate::scoring::{Scorable, mean, scores};
    use crate::usage::usage_in;

    const REST: &str = "[workload]\non = { seconds = 5 }\noff = { seconds = 1 }\n";
    const PARKING_LOT: &str = "\
[[links]]
name = 'A'
rate_mbps = 10
delay_ms = 75
[[links]]
name = 'B'
rate_mbps = 40
delay_ms = 75
[[senders]]
count = 1
[[senders]]
count = 1
links = ['A']
[[senders]]
count = 1
links = ['B']
";

    fn table(intersend_ms: f64, increment: i32) -> FlatTable {
        let action = Action { multiple: 0.9, increment, intersend_ms };
        FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap()
    }

    fn model(text: &str) -> Model {
        Model::parse(&format!("{text}{REST}"), "x.toml").unwrap()
    }

    /// Whatever runs the network, it gives the same: also where packets are dropped, of which senders by bytes are told, in the
    /// same place among their ACKs.
    #[test]
    fn any_path_of_one_link_is_a_dumbbell() {
        let bytes = "[workload]\non = { bytes = 1e6 }\noff = { seconds = 0.5 }\n";
        let table = table(0.5, 10);
        let remy = |_| Remy::new(&table);
        for (buffer, lossy) in [("'infinite'", false), ("{ bdp = 0.2 }", true)] {
            for (noise, workload) in
                ["", "jitter_ms = 3", "jitter_ms = 3\nclock_ms = 20"].iter().flat_map(|n| [(n, REST), (n, bytes)])
            {
                let path = format!("buffer = {buffer}\n[path]\nrtt_ms_each = [50, 100, 50]\n{noise}");
                let set = Model::parse(&format!("[link]\nrate_mbps = 10\n{path}\n{workload}\n"), "x.toml")
                    .unwrap()
                    .held_out(1, 3);
                for specimen in &set.specimens {
                    let (network, seed) = (&specimen.network, specimen.seed(set.seed));
                    let (mut fast, mut general) = (dumbbell(network, seed, remy), routed(network, seed, remy));
                    fast.run(Instant::from_s(60.0), &mut Unwatched);
                    general.run(Instant::from_s(60.0), &mut Unwatched);
                    assert_eq!(fast.outcome(), general.outcome());
                    let assigned = Assignment::Everybody(&table).run(specimen, set.seed, 60.0, &mut Unwatched);
                    assert_eq!(assigned, general.outcome());
                    assert!(!lossy || fast.outcome().lost > 1000);
                }
            }
        }
    }

    #[test]
    fn mixed_schemes_on_a_dumbbell_are_the_same_tables() {
        let set = model("[link]\nrate_mbps = 10\n[path]\nrtt_ms = 100\n[senders]\ncount = 3\n").held_out(1, 2);
        let table = table(0.5, 10);
        for specimen in &set.specimens {
            let fast = Assignment::Everybody(&table).run(specimen, set.seed, 30.0, &mut Unwatched);
            let mixed = run_mixed(specimen, set.seed, |_| Mixed::Remy(Remy::new(&table)), 30.0, &mut Unwatched);
            assert_eq!(fast, mixed);
        }
    }

    #[test]
    fn aimd_senders_get_their_share_of_what_a_table_leaves() {
        let text =
            "[link]\nrate_mbps = 10\nbuffer = { bdp = 2 }\n[path]\nrtt_ms = 100\n[senders]\ncount = 2\naimd = 1\n";
        let model = model(text);
        let set = model.held_out(1, 8);
        // 1 packet each 4 ms is a quarter of the link; AIMD takes most of the rest.
        let modest = Scorable::Table(Box::new(table(4.0, 100)));
        let (mut table_mbps, mut aimd_mbps) = (0.0, 0.0);
        for specimen in &set.specimens {
            let outcome = modest.run(specimen, set.seed, 100.0, &AtomicBool::new(false));
            table_mbps += outcome.flows[0].throughput_mbps() / 8.0;
            aimd_mbps += outcome.flows[1].throughput_mbps() / 8.0;
        }
        assert!((2.3..=2.5).contains(&table_mbps) && (6.0..8.0).contains(&aimd_mbps), "{table_mbps} {aimd_mbps}");
        // Both sides count: a table that takes all the room is worth less than the sum of the two says.
        let score = |contender: &Scorable| mean(&scores(contender, &set, &model.objective, 100.0)).unwrap();
        let greedy = Scorable::Table(Box::new(table(0.1, 256)));
        assert!(score(&modest) > score(&greedy) + 1.0);
        // The reference: half of the link for each while both are on, and no queue for either.
        let best = reference(&set.specimens[0], set.seed, 100.0, &AtomicBool::new(false));
        let best = crate::worth::score(&best, &set.specimens[0].roles, &model.objective);
        assert!((-0.1..0.0).contains(&best.mean.unwrap()), "{best:?}");
    }

    #[test]
    fn only_the_senders_of_its_class_use_a_table() {
        let group = |name: &str| format!("[[senders]]\nname = '{name}'\ncount = 1\n");
        let text = ["[link]\nrate_mbps = 10\n[path]\nrtt_ms = 100\n", &group("a"), &group("b")].concat();
        let set = model(&text).held_out(1, 2);
        let tables = [table(2.0, 100), table(50.0, 100)];
        let uses = |class: usize| {
            let assignment = Assignment::Lead { class, table: &tables[class], others: &tables };
            usage_in(assignment, &tables[class], &set, 20.0, &AtomicBool::new(false)).rules[0].uses
        };
        let all = usage_in(Assignment::Classes(&tables), &tables[0], &set, 20.0, &AtomicBool::new(false)).rules[0].uses;
        assert!(uses(0) > 10 * uses(1) && uses(1) > 0);
        assert_eq!(uses(0) + uses(1), all);
        let outcome = Scorable::Tables(tables.to_vec()).run(&set.specimens[0], set.seed, 20.0, &AtomicBool::new(false));
        assert!(outcome.flows[0].sent > 10 * outcome.flows[1].sent);
    }

    #[test]
    fn a_parking_lot_and_its_reference() {
        let model = model(PARKING_LOT);
        let set = model.held_out(1, 4);
        let table = table(1.0, 100);
        for specimen in &set.specimens {
            let outcome =
                Scorable::Table(Box::new(table.clone())).run(specimen, set.seed, 100.0, &AtomicBool::new(false));
            let [both, first, second] = &outcome.flows[..] else { panic!("three senders") };
            assert_eq!(outcome.flows.iter().map(|f| f.min_rtt_ms).collect::<Vec<_>>(), [300.0, 150.0, 150.0]);
            // The slow link is full, and no more; the fast one is not, and nothing waits there.
            assert!(both.throughput_mbps() < 10.0 && first.throughput_mbps() < 10.0);
            assert!(both.throughput_mbps() + second.throughput_mbps() < 40.0);
            assert!(first.delay_ratio().unwrap() > 1.5 && second.delay_ratio().unwrap() < 1.05);
            let ideal = reference(specimen, set.seed, 100.0, &AtomicBool::new(false));
            assert_eq!(ideal.flows.iter().map(|f| f.on_s).collect::<Vec<_>>().len(), 3);
            for (ran, ideal) in outcome.flows.iter().zip(&ideal.flows) {
                assert!((ran.on_s - ideal.on_s).abs() < 1e-6 && (ran.share_s - ideal.share_s).abs() < 1e-6);
            }
            // 1 ms on the slow link and 0.25 ms on the fast one.
            let rtts = ideal.flows.iter().map(|f| f.mean_rtt_ms().unwrap()).collect::<Vec<_>>();
            assert_eq!(rtts, [301.25, 151.0, 150.25]);
            let score = |outcome| crate::worth::score(outcome, &specimen.roles, &model.objective).mean;
            assert!(score(&ideal) > score(&outcome));
        }
    }
}
