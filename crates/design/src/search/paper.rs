//! The procedure of Remy'13 §4.3, step by step, with the two economies of the authors' code: the worse half of the
//! candidates is dropped after a tenth of the run, and at the end of a round the old table and the new one are compared
//! at ten times the length and the better one is kept.

use exmachina_rules::{FlatTable, RuleTable};
use exmachina_scenario::SpecimenSet;
use serde::{Deserialize, Serialize};

use super::evaluator::Stopped;
use super::measure::Total;
use super::{Bench, Done, checkpoint, moves};

/// Epochs between splits: K of step 4.
const K: u32 = 4;

/// State of the procedure beside the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    epoch: u32,
    /// Epoch of each rule.
    epochs: Vec<u32>,
    /// The rule under improvement and the root seed of its specimens.
    focus: Option<(usize, u64)>,
    /// The table at the beginning of the round.
    #[serde(with = "checkpoint::optional_table")]
    round_start: Option<RuleTable>,
}

impl Paper {
    /// Goes on with the rule under improvement, or finds the next one, or ends the epoch.
    pub fn step(&mut self, bench: &Bench) -> Result<Done, Stopped> {
        // Step 1: new rules begin in the current epoch.
        self.epochs.resize(bench.table.len(), self.epoch);
        if self.round_start.is_none() {
            self.round_start = Some(bench.table.clone());
        }
        if let Some((rule, root)) = self.focus {
            return self.improve(bench, rule, root);
        }
        // Step 2: the most used rule of this epoch.
        let set = specimens(bench, bench.root);
        let uses = bench.evaluator.watched(bench.flat, &set, bench.model.design.duration_s)?.total_uses();
        let current = |&rule: &usize| self.epochs[rule] == self.epoch && uses[rule] > 0;
        let most_used = (0..uses.len()).filter(current).max_by_key(|&rule| (uses[rule], std::cmp::Reverse(rule)));
        match most_used {
            Some(rule) => {
                self.focus = Some((rule, bench.root));
                Ok(Done { table: None, doing: format!("epoch {}: rule {rule}", self.epoch) })
            }
            None => self.end_epoch(bench, &uses),
        }
    }

    /// Step 3: the best of all candidates on the same specimens and random numbers, if it is an improvement.
    fn improve(&mut self, bench: &Bench, rule: usize, root: u64) -> Result<Done, Stopped> {
        let seconds = bench.model.design.duration_s;
        let set = specimens(bench, root);
        let (_, action) = bench.table.rules()[rule];
        let mut actions = moves::product(action, &bench.model.design);
        let tables = |actions: &[_]| -> Vec<FlatTable> {
            let changed = actions.iter().map(|&a| {
                let mut flat = bench.flat.clone();
                flat.set_action(rule, a);
                flat
            });
            changed.collect()
        };
        let totals = |tables: &[FlatTable], seconds| -> Result<Vec<Total>, Stopped> {
            let scores = bench.evaluator.scores(tables, &set, seconds, |_, _| None)?;
            Ok(scores.iter().map(|worths| Total::new(worths)).collect())
        };
        let heat = totals(&tables(&actions), seconds / 10.0)?;
        let mut order: Vec<usize> = (0..actions.len()).collect();
        order.sort_by(|&a, &b| heat[b].compare(&heat[a]));
        order.truncate(order.len().div_ceil(2));
        actions = order.into_iter().map(|i| actions[i]).collect();
        let full = totals(&tables(&actions), seconds)?;
        let present = totals(std::slice::from_ref(bench.flat), seconds)?[0];
        let best = (0..full.len()).max_by(|&a, &b| full[a].compare(&full[b]).then(b.cmp(&a)));
        if let Some(best) = best.filter(|&b| full[b].compare(&present).is_gt()) {
            let mut table = bench.table.clone();
            table.set_action(rule, actions[best]);
            let gain = (full[best].worth - present.worth) / set.specimens.len() as f64;
            let by = match present.starved - full[best].starved {
                0 => format!("gains {gain:.4} per specimen"),
                fewer => format!("starves {fewer} senders fewer"),
            };
            let doing = format!("epoch {}: rule {rule} {by}", self.epoch);
            return Ok(Done { table: Some(table), doing });
        }
        self.epochs[rule] += 1;
        self.focus = None;
        Ok(Done { table: None, doing: format!("epoch {}: rule {rule} is done", self.epoch) })
    }

    /// Step 4, and every K epochs step 5.
    fn end_epoch(&mut self, bench: &Bench, uses: &[u64]) -> Result<Done, Stopped> {
        let old = self.round_start.take();
        let mut table = better_of_round(old, bench)?;
        self.epoch += 1;
        self.epochs = vec![self.epoch; table.len()];
        let mut doing = format!("epoch {}", self.epoch);
        if self.epoch.is_multiple_of(K) {
            let most_used = (0..uses.len()).max_by_key(|&rule| (uses[rule], std::cmp::Reverse(rule))).unwrap_or(0);
            let flat = FlatTable::new(&table).expect("the search makes usable tables");
            let set = specimens(bench, bench.root);
            let median = bench.usage(&flat, &set, bench.model.design.duration_s)?.rules[most_used].median;
            let made = table.split(most_used, &median, &bench.model.design.signals);
            self.epochs = vec![self.epoch; table.len()];
            doing = format!("{doing}: rule {most_used} split into {made}");
        }
        Ok(Done { table: Some(table), doing })
    }
}

/// The table of the beginning of the round or the present one, whichever scores better at ten times the length.
fn better_of_round(old: Option<RuleTable>, bench: &Bench) -> Result<RuleTable, Stopped> {
    let Some(old) = old.filter(|old| old != bench.table) else { return Ok(bench.table.clone()) };
    let flat = FlatTable::new(&old).expect("the search makes usable tables");
    let set = specimens(bench, bench.root);
    let seconds = 10.0 * bench.model.design.duration_s;
    let scores = bench.evaluator.scores(&[flat, bench.flat.clone()], &set, seconds, |_, _| None)?;
    let total = |i: usize| Total::new(&scores[i]);
    Ok(if total(0).compare(&total(1)).is_gt() { old } else { bench.table.clone() })
}

fn specimens(bench: &Bench, root: u64) -> SpecimenSet {
    bench.model.specimens(root, bench.model.design.specimens)
}
