//! The default search: greedy like the paper's (Remy'13 §4.3), with races in place of full comparisons.
//!
//! Rules are improved in order of use, by steps of shrinking size. When no rule in use improves any more, the most used
//! ones are split in two, along the one signal and with the one change of action that gain most; a split that gains
//! nothing is not made. When that fails too, the next level looks closer, at more specimens.

use exmachina_rules::{Action, FlatTable, Point, RuleTable, Signal};
use exmachina_scenario::OnPeriod;
use serde::{Deserialize, Serialize};

use super::clearance::{clear_action, edges};
use super::evaluator::Stopped;
use super::policy_search::PolicySearch;
use super::race::{By, Candidate, Rules, Winner, fresh, race};
use super::splits::halves;
use super::tuning::Tuning;
use super::{Bench, Done, moves, shifts};

/// Step size at which a rule starts, and below which it rests.
const FIRST_STEP: f64 = 1.0;
const LAST_STEP: f64 = 0.06;
/// Step size at the beginning of a further level, and of the halves of a split rule.
const NEXT_STEP: f64 = 0.5;
const CHILD_STEP: f64 = 0.6;
/// Step size of the change that comes with a split, at even and odd levels.
const BOLD_SPLIT: f64 = 0.7;
const FINE_SPLIT: f64 = 0.25;
/// Rules that have less than this share of the firings of a specimen, on the mean, are left alone.
const LEAST_USE: f64 = 0.003;
/// Splits tried, most used rule first, before the next level.
const SPLITS_TRIED: usize = 12;
/// Random steps tried beside the systematic ones: with a rule, and with each half of a rule in each place.
const LEAPS: usize = 12;
const LEAPS_PER_HALF: usize = 4;
/// A rule that gained less than this share of |mean worth| of the present table looks closer next time.
const SMALL_GAIN: f64 = 0.007;
/// Length of a run, in simulated seconds, that race sizes are meant for.
const USUAL_S: f64 = 100.0;
/// By how much runs are shorter where all networks are known in advance. Short runs flatter what is good at starting up, but there is
/// less to be said of such networks.
const QUICKER: f64 = 4.0;
/// Steps between two counts of the uses of rules.
const LOOK_EVERY: u32 = 8;

/// What the search knows of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Size of the next steps; at rest once below [`LAST_STEP`].
    step_size: f64,
    /// A split of it gained nothing at this level.
    whole: bool,
}

impl Default for Note {
    fn default() -> Self {
        Note { step_size: FIRST_STEP, whole: false }
    }
}

/// A table of so many rules has its beginnings behind it, and is worked on from a further level: what little it still gains is lost
/// in races of a few runs, which then do more harm than good.
const HAS_GROWN: usize = 4;
const FURTHER_LEVEL: u32 = 1;

/// State of the search beside the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Greedy {
    /// The search for a policy to begin with, while it lasts.
    policy: Option<PolicySearch>,
    /// It began with little.
    began_small: bool,
    notes: Vec<Note>,
    /// How closely it looks: at longer races, and at smaller splits.
    level: u32,
    /// Share of each rule in the firings of a specimen, from the last look.
    uses: Vec<f64>,
    /// Improvements since the last look at the uses.
    stale: u32,
    /// Kinds of shifts that gained nothing more at this level.
    #[serde(default)]
    shifted: usize,
}

impl Greedy {
    /// A search that begins with a table, or with a policy in its place.
    pub fn from(start: &RuleTable, policies: bool) -> Greedy {
        if start.len() < HAS_GROWN {
            let policy = policies.then(PolicySearch::default);
            return Greedy { policy, began_small: true, ..Greedy::default() };
        }
        let mut grown = Greedy::default();
        grown.has_grown(start.len());
        grown
    }

    fn has_grown(&mut self, rules: usize) {
        self.level = FURTHER_LEVEL;
        self.notes = vec![Note { step_size: NEXT_STEP, whole: false }; rules];
    }

    /// One step: a rule improved, a rule split, or the next level.
    pub fn step(&mut self, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        if let Some(search) = self.policy.take() {
            return self.seek_policy(search, bench);
        }
        self.notes.resize(bench.table.len(), Note::default());
        self.look(bench, tuning)?;
        let in_use = |rule: &usize| self.uses[*rule] >= LEAST_USE;
        let mut order: Vec<usize> = (0..bench.table.len()).filter(in_use).collect();
        order.sort_by(|&a, &b| self.uses[b].total_cmp(&self.uses[a]));
        let shift = shifts::kinds(bench.table).nth(self.shifted);
        if let Some(kind) = shift.filter(|_| tuning.shifts && self.level > 0) {
            return self.shift(kind, bench, tuning);
        }
        if let Some(&rule) = order.iter().find(|&&r| self.notes[r].step_size >= self.last_step()) {
            return self.improve(rule, bench, tuning);
        }
        if let Some(&rule) = order.iter().take(SPLITS_TRIED).find(|&&r| !self.notes[r].whole) {
            return self.split(rule, bench, tuning);
        }
        self.level += 1;
        self.notes.fill(Note { step_size: NEXT_STEP, whole: false });
        self.shifted = 0;
        Ok(Done { table: None, doing: format!("level {}: longer races", self.level) })
    }

    /// A step of the search for a policy. What it ends with has grown.
    fn seek_policy(&mut self, mut search: PolicySearch, bench: &Bench) -> Result<Done, Stopped> {
        let (done, at_rest) = search.step(bench)?;
        match &done.table {
            Some(table) if at_rest => self.has_grown(table.len()),
            _ => self.policy = Some(search),
        }
        Ok(done)
    }

    /// Moves edges of a signal, or changes what all rules do; when nothing of this kind gains, the next kind's turn has come.
    fn shift(&mut self, kind: Option<Signal>, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let of = kind.map_or("actions", Signal::name);
        let tables = shifts::shifted(kind, bench.table, &self.uses, bench.model);
        match self.best_of(tables, bench, tuning)? {
            Some((table, by, _)) => {
                self.stale += 1;
                if matches!(by, By::Gain(_, share) if share < SMALL_GAIN) {
                    self.shifted += 1;
                }
                Ok(Done { table: Some(table), doing: format!("shift of {of}: {by}") })
            }
            None => {
                self.shifted += 1;
                Ok(Done { table: None, doing: format!("no shift of {of} gains") })
            }
        }
    }

    /// Races whole tables: the one that wins, by what, and which it was.
    fn best_of(
        &self,
        tables: Vec<RuleTable>,
        bench: &Bench,
        tuning: &Tuning,
    ) -> Result<Option<(RuleTable, By, usize)>, Stopped> {
        let flat = |table| FlatTable::new(table).expect("whole tables that race are usable");
        let candidates: Vec<Candidate> = tables.iter().map(|t| Candidate { table: flat(t), rule: 0 }).collect();
        let rules = Rules { skip_unused: false, ..self.rules(bench, tuning) };
        let winner = race(bench, &candidates, &rules)?;
        Ok(winner
            .and_then(|Winner { candidate, by }| tables.into_iter().nth(candidate).map(|table| (table, by, candidate))))
    }

    /// Counts how often each rule fires, if that may have changed since the last time.
    fn look(&mut self, bench: &Bench, tuning: &Tuning) -> Result<(), Stopped> {
        if self.uses.len() != bench.table.len() || self.stale >= LOOK_EVERY {
            let rules = self.rules(bench, tuning);
            let set = fresh(bench.model, rules.root, 0, rules.first.max(8));
            self.uses = bench.evaluator.watched(bench.flat, &set, rules.seconds)?.shares();
            self.stale = 0;
        }
        Ok(())
    }

    fn last_step(&self) -> f64 {
        if self.level == 0 { 0.3 } else { LAST_STEP }
    }

    /// How races are run at the present level.
    fn rules(&self, bench: &Bench, tuning: &Tuning) -> Rules {
        let level = if tuning.levels { self.level } else { self.level + 2 };
        // Where all networks are known in advance only their traffic varies, and less shows what is better.
        let few = if bench.model.scenario.grid().is_some() { 2 } else { 4 * bench.model.group() };
        let whole = bench.model.design.duration_s;
        // Shorter runs say less each, unless it is transfers that make up a run.
        let timed = matches!(bench.model.scenario.workload.on, OnPeriod::Seconds(_) | OnPeriod::FixedSeconds(_));
        let few = if timed { few * libm::sqrt(USUAL_S / whole).round().clamp(1.0, 4.0) as usize } else { few };
        let most = (4 * few) << level.min(5);
        let quick = tuning.quick_start && self.began_small && bench.model.scenario.grid().is_some();
        Rules {
            first: if tuning.races { few << level.min(2) } else { most },
            most,
            seconds: if quick { whole / QUICKER } else { whole },
            confidence: tuning.confidence,
            // At the first level gains are large, and drifting costs less than asking twice.
            confirm: self.level > 0,
            skip_unused: tuning.skip_unused,
            root: if tuning.fresh_specimens { bench.root } else { 0 },
        }
    }

    fn improve(&mut self, rule: usize, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let (design, (_, action)) = (&bench.model.design, bench.table.rules()[rule]);
        let step_size = self.notes[rule].step_size;
        let actions = if tuning.steps {
            let leaps = moves::leaps(action, (2.0 * step_size).min(1.0), LEAPS, design, &mut bench.stream());
            [moves::steps(action, step_size, design), moves::steps(action, step_size / 3.0, design), leaps].concat()
        } else {
            moves::product(action, design)
        };
        let edges = edges(bench.table);
        let actions: Vec<Action> = actions.into_iter().map(|a| clear_action(a, &edges, design)).collect();
        let candidate = |&a: &Action| {
            let mut table = bench.flat.clone();
            table.set_action(rule, a);
            Candidate { table, rule }
        };
        let candidates: Vec<Candidate> = actions.iter().map(candidate).collect();
        self.stale += 1;
        let Some(Winner { candidate, by }) = race(bench, &candidates, &self.rules(bench, tuning))? else {
            self.notes[rule].step_size = if tuning.steps { step_size / 3.0 } else { 0.0 };
            return Ok(Done { table: None, doing: format!("rule {rule}: no better step of size {step_size:.2}") });
        };
        if matches!(by, By::Gain(_, share) if share < SMALL_GAIN) {
            self.notes[rule].step_size = step_size / 3.0;
        }
        let mut table = bench.table.clone();
        table.set_action(rule, actions[candidate]);
        Ok(Done { table: Some(table), doing: format!("rule {rule}: {by}") })
    }

    fn split(&mut self, rule: usize, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let rules = self.rules(bench, tuning);
        let set = fresh(bench.model, rules.root, 0, 16);
        if !tuning.chosen_splits {
            let seen = bench.usage(bench.flat, &set, rules.seconds)?;
            return Ok(self.split_everywhere(rule, &seen.rules[rule].median, bench));
        }
        let seen = bench.memories(rule, &set, rules.seconds)?;
        let step_size = if self.level.is_multiple_of(2) { BOLD_SPLIT } else { FINE_SPLIT };
        let mut stream = bench.stream();
        let mut variants = Vec::new();
        for halved in halves(rule, &seen, bench) {
            let edges = edges(&halved);
            let flat = FlatTable::new(&halved).expect("a split leaves a partition");
            for child in [rule, rule + 1] {
                let (old, design) = (bench.table.rules()[rule].1, &bench.model.design);
                let leaps = moves::leaps(old, 1.0, LEAPS_PER_HALF, design, &mut stream);
                for action in [moves::few_steps(old, step_size, design), leaps].concat() {
                    let action = clear_action(action, &edges, design);
                    let mut table = flat.clone();
                    table.set_action(child, action);
                    let mut changed = halved.clone();
                    changed.set_action(child, action);
                    variants.push((changed, Candidate { table, rule }));
                }
            }
        }
        let (tables, candidates): (Vec<RuleTable>, Vec<Candidate>) = variants.into_iter().unzip();
        self.stale += 1;
        let Some(Winner { candidate, by }) = race(bench, &candidates, &rules)? else {
            self.notes[rule].whole = true;
            return Ok(Done { table: None, doing: format!("rule {rule}: no split gains") });
        };
        self.notes[rule] = Note { step_size: CHILD_STEP, whole: false };
        self.notes.insert(rule, self.notes[rule].clone());
        let table = tables.into_iter().nth(candidate);
        Ok(Done { table, doing: format!("rule {rule}: a split {by}") })
    }

    /// The paper's split (Remy'13 §4.3 step 5), for comparison.
    fn split_everywhere(&mut self, rule: usize, median: &Point, bench: &Bench) -> Done {
        let mut table = bench.table.clone();
        let made = table.split(rule, median, &table.signals.clone());
        self.notes[rule] = Note { step_size: CHILD_STEP, whole: made == 1 };
        for _ in 1..made {
            self.notes.insert(rule, self.notes[rule].clone());
        }
        Done { table: Some(table), doing: format!("rule {rule}: split into {made}") }
    }
}
