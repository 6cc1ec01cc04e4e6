//! Several beginnings of the default search, and the best of them goes on.

use exmachina_rules::{Action, RuleTable, SIGNALS, Signal};
use serde::{Deserialize, Serialize};

use super::evaluator::Stopped;
use super::greedy::{Greedy, HAS_GROWN, PolicySearch};
use super::measure::Measure;
use super::tuning::Tuning;
use super::{Bench, Done, checkpoint, moves};

/// Restarts that are tried in each phase, every one with its own luck.
const TRIALS: [usize; 3] = [3, 2, 2];
/// Restarts of the first phase that do not begin with one rule.
const FEEDBACK_RESTART: usize = 1;
const POLICY_RESTART: usize = 2;
/// A restart has grown in a phase once it has this many rules, or nothing more to gain at its level.
const GROWN: [usize; 3] = [HAS_GROWN, 12, 36];

/// State of the search beside the table.
///
/// How far a greedy search gets is largely luck, the more so the fewer rules there are. So it begins several times, goes
/// on with the best beginning, from there several times again, and so on for some phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Restarts {
    greedy: Greedy,
    /// Phases done.
    phase: usize,
    /// Where the restarts of this phase begin, if not where the search began.
    origin: Option<Grown>,
    /// The restarts of this phase that have grown.
    grown: Vec<Grown>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Grown {
    greedy: Greedy,
    #[serde(with = "checkpoint::table")]
    table: RuleTable,
    measure: Measure,
}

impl Restarts {
    /// The search that begins with a table. One of many rules has its beginnings behind it.
    pub fn new(start: &RuleTable) -> Restarts {
        let phase = GROWN.iter().take_while(|&&rules| start.len() >= rules).count();
        Restarts { greedy: Greedy::from(start), phase, ..Restarts::default() }
    }

    /// Whether there has been more than one beginning.
    pub fn has_choice(&self) -> bool {
        self.phase > 0 || !self.grown.is_empty()
    }

    /// One step of the present restart; when it has grown, the next begins, or the best of all goes on.
    pub fn step(&mut self, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let small = bench.model.scenario.grid().is_some();
        self.greedy.quick = tuning.quick_start && self.phase == 0 && (small || self.grown.is_empty());
        let done = self.greedy.step(bench, tuning)?;
        let table = done.table.as_ref().unwrap_or(bench.table);
        let first_level = self.origin.as_ref().map_or(Greedy::from(bench.start).level, |origin| origin.greedy.level);
        // Where all networks are known in advance, one gets as far, and sooner.
        if !tuning.restarts
            || small
            || self.phase >= TRIALS.len()
            || self.greedy.policy.is_some()
            || (table.len() < GROWN[self.phase] && self.greedy.level == first_level)
        {
            return Ok(done);
        }
        let (table, measure) = (table.clone(), bench.measure(table)?);
        self.grown.push(Grown { greedy: std::mem::take(&mut self.greedy), table: table.clone(), measure });
        let measured = Some((table, measure));
        let (phase, trials) = (self.phase + 1, TRIALS[self.phase]);
        let doing = format!("phase {phase}, restart {} of {trials}: {measure}", self.grown.len());
        if self.grown.len() == trials {
            let best =
                self.grown.drain(..).reduce(|best, g| if g.measure.compare(&best.measure).is_gt() { g } else { best });
            self.origin = best;
            self.phase += 1;
        }
        let next = match &self.origin {
            Some(origin) => {
                self.greedy = origin.greedy.clone();
                origin.table.clone()
            }
            None => {
                self.greedy = Greedy::from(bench.start);
                self.greedy.policy =
                    (self.grown.len() == POLICY_RESTART && bench.start.len() == 1).then(PolicySearch::default);
                start_of(self.grown.len(), bench)
            }
        };
        Ok(Done { table: Some(next), measured, doing })
    }
}

/// Where restart number `restart` of the first phase begins. One begins with two rules: a window that grows while there is no
/// queue and shrinks where there is one. From a single rule, which has no feedback, a greedy search is drawn to fixed
/// windows, and can be a long time finding its way back from there. Another one begins with a policy, which it searches for.
fn start_of(restart: usize, bench: &Bench) -> RuleTable {
    let mut table = bench.start.clone();
    if restart != FEEDBACK_RESTART || table.len() > 1 || !table.signals.contains(&Signal::RttRatio) {
        return table;
    }
    let (_, start) = table.rules()[0];
    let stream = &mut bench.stream();
    let mut at = [0.0; SIGNALS];
    at[Signal::RttRatio as usize] = 1.0 + stream.log_between(0.01, 0.3);
    table.split(0, &at, &[Signal::RttRatio]);
    let pace = bench.model.design.intersend_ms;
    let intersend_ms = start.intersend_ms.min(libm::sqrt(pace.min * pace.max));
    for (rule, multiple, increment) in [(0, 1.0, 1), (1, 0.9, 1)] {
        table.set_action(rule, moves::legal(Action { multiple, increment, intersend_ms }, &bench.model.design));
    }
    table
}
