//! The default search: greedy like the paper's (Remy'13 §4.3), with races in place of full comparisons.
//!
//! Rules are improved in order of use, by steps of shrinking reach. When no rule in use improves any more, the most used
//! ones are split in two, along the one signal and with the one change of action that gain most; a split that gains
//! nothing is not made. When that fails too, the next level looks closer, at more specimens.

use exmachina_rules::{Action, FlatTable, Point, RuleTable, SIGNALS, Signal};
use exmachina_scenario::OnPeriod;
use serde::{Deserialize, Serialize};

use super::arena::Stopped;
use super::clearance::{clear_action, clear_table, edges};
use super::laws::Law;
use super::measure::Measure;
use super::race::{By, Candidate, Rules, Winner, fresh, race};
use super::splits::halves;
use super::{Bench, Done, checkpoint, moves, shifts};

/// Reach at which a rule starts, and below which it rests.
const FIRST_REACH: f64 = 1.0;
const LAST_REACH: f64 = 0.06;
/// Reach at the beginning of a further level, and of the halves of a split rule.
const NEXT_REACH: f64 = 0.5;
const CHILD_REACH: f64 = 0.6;
/// Reach of the change that comes with a split, at even and odd levels.
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
/// Steps between two counts of the uses of rules.
const LOOK_EVERY: u32 = 8;

/// What the search knows of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Size of the next steps; at rest once below [`LAST_REACH`].
    reach: f64,
    /// A split of it gained nothing at this level.
    whole: bool,
}

impl Default for Note {
    fn default() -> Self {
        Note { reach: FIRST_REACH, whole: false }
    }
}

/// Laws that are tried anywhere, and near the last one; and the reach at which the search for them ends.
const LAWS_ANYWHERE: usize = 120;
const LAWS_NEARBY: usize = 40;
const LAST_LAW_REACH: f64 = 0.2;

/// The search for a law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LawSearch {
    /// The best so far.
    law: Option<Law>,
    /// How far from it others are tried.
    reach: f64,
}

impl Default for LawSearch {
    fn default() -> Self {
        LawSearch { law: None, reach: 1.0 }
    }
}

/// Lines of descent that are tried in each phase, every one with its own luck.
const TRIALS: [usize; 3] = [3, 2, 2];
/// Lines of the first phase that do not begin with one rule.
const FEEDBACK_LINE: usize = 1;
const LAW_LINE: usize = 2;
/// A line has grown in a phase once it has this many rules, or nothing more to gain at its level.
const GROWN: [usize; 3] = [4, 12, 36];

/// State of the search beside the table.
///
/// How far a greedy search gets is largely luck, the more so the fewer rules there are. So it begins several times, goes
/// on with the best beginning, from there several times again, and so on for some phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ours {
    line: Line,
    /// Phases done.
    phase: usize,
    /// Where the lines of this phase begin, if not where the search began.
    origin: Option<Grown>,
    /// The lines of this phase that have grown.
    grown: Vec<Grown>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Grown {
    line: Line,
    #[serde(with = "checkpoint::table")]
    table: RuleTable,
    measure: Measure,
}

impl Ours {
    /// The search that begins with a table. One of many rules has its beginnings behind it.
    pub fn new(start: &RuleTable) -> Ours {
        let phase = GROWN.iter().take_while(|&&rules| start.len() >= rules).count();
        Ours { line: Line::from(start), phase, ..Ours::default() }
    }

    /// Whether there has been more than one beginning.
    pub fn has_choice(&self) -> bool {
        self.phase > 0 || !self.grown.is_empty()
    }

    /// One step of the present line; when it has grown, the next begins, or the best of all goes on.
    pub fn step(&mut self, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let small = bench.model.scenario.grid().is_some();
        self.line.quick = tuning.quick_start && self.phase == 0 && (small || self.grown.is_empty());
        let done = self.line.step(bench, tuning)?;
        let table = done.table.as_ref().unwrap_or(bench.table);
        let first_level = self.origin.as_ref().map_or(Line::from(bench.start).level, |origin| origin.line.level);
        // Where all networks are known in advance, one line gets as far, and sooner.
        if !tuning.lines
            || small
            || self.phase >= TRIALS.len()
            || self.line.law.is_some()
            || (table.len() < GROWN[self.phase] && self.line.level == first_level)
        {
            return Ok(done);
        }
        let (table, measure) = (table.clone(), bench.measure(table)?);
        self.grown.push(Grown { line: std::mem::take(&mut self.line), table: table.clone(), measure });
        let measured = Some((table, measure));
        let (phase, trials) = (self.phase + 1, TRIALS[self.phase]);
        let doing = format!("phase {phase}, line {} of {trials}: {measure}", self.grown.len());
        if self.grown.len() == trials {
            let best =
                self.grown.drain(..).reduce(|best, g| if g.measure.compare(&best.measure).is_gt() { g } else { best });
            self.origin = best;
            self.phase += 1;
        }
        let next = match &self.origin {
            Some(origin) => {
                self.line = origin.line.clone();
                origin.table.clone()
            }
            None => {
                self.line = Line::from(bench.start);
                self.line.law = (self.grown.len() == LAW_LINE && bench.start.len() == 1).then(LawSearch::default);
                beginning(self.grown.len(), bench)
            }
        };
        Ok(Done { table: Some(next), measured, doing })
    }
}

/// Where line number `line` of the first phase begins. One begins with two rules: a window that grows while there is no
/// queue and shrinks where there is one. From a single rule, which has no feedback, a greedy search is drawn to fixed
/// windows, and can be a long time finding its way back from there. Another one begins with a law, which it searches for.
fn beginning(line: usize, bench: &Bench) -> RuleTable {
    let mut table = bench.start.clone();
    if line != FEEDBACK_LINE || table.len() > 1 || !table.signals.contains(&Signal::RttRatio) {
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

/// State of one line of descent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Line {
    /// The search for a law to begin with, while it lasts.
    law: Option<LawSearch>,
    notes: Vec<Note>,
    level: u32,
    /// Runs are a quarter as long. A good start in a hurry; but short runs flatter what is good at starting up, so that
    /// much of what they show as gains is none.
    quick: bool,
    /// Share of each rule in the firings of a specimen, from the last look.
    uses: Vec<f64>,
    /// Improvements since the last look at the uses.
    stale: u32,
    /// Kinds of shifts that gained nothing more at this level.
    #[serde(default)]
    shifted: usize,
}

/// Parts of the procedure, each of which can be switched off to measure what it is worth (docs/search.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    /// Candidates are raced; otherwise all run in full.
    pub races: bool,
    /// Each step draws its own specimens; otherwise all steps share one set.
    pub fresh_specimens: bool,
    /// Runs in which the changed rule never fires are not repeated.
    pub skip_unused: bool,
    /// A gain must exceed this many paired standard errors.
    pub confidence: f64,
    /// Candidates are steps along what a flow feels; otherwise the Cartesian product of Remy'13.
    pub steps: bool,
    /// Boxes are split in two along the signal that gains most; otherwise at the median of all signals at once.
    pub chosen_splits: bool,
    /// Begin with few runs in a race and add to them; otherwise many at once.
    pub levels: bool,
    /// The very first line makes do with short runs.
    pub quick_start: bool,
    /// Begin several times and go on with the best beginning.
    pub lines: bool,
    /// Edges move, and all rules change at once.
    pub shifts: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            races: true,
            fresh_specimens: true,
            skip_unused: true,
            confidence: 1.0,
            steps: true,
            chosen_splits: true,
            levels: true,
            quick_start: true,
            lines: true,
            shifts: true,
        }
    }
}

impl Line {
    /// A line that begins with a table. One that has grown is worked on from the second level: what little it still gains
    /// is lost in races of a few runs, which then do more harm than good.
    fn from(start: &RuleTable) -> Line {
        if start.len() < GROWN[0] {
            return Line::default();
        }
        Line { level: 1, notes: vec![Note { reach: NEXT_REACH, whole: false }; start.len()], ..Line::default() }
    }

    /// One step: a rule improved, a rule split, or the next level.
    pub fn step(&mut self, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        if let Some(search) = self.law.take() {
            return self.seek_law(search, bench, tuning);
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
        if let Some(&rule) = order.iter().find(|&&r| self.notes[r].reach >= self.last_reach()) {
            return self.improve(rule, bench, tuning);
        }
        if let Some(&rule) = order.iter().take(SPLITS_TRIED).find(|&&r| !self.notes[r].whole) {
            return self.split(rule, bench, tuning);
        }
        self.level += 1;
        self.notes.fill(Note { reach: NEXT_REACH, whole: false });
        self.shifted = 0;
        Ok(Done { table: None, measured: None, doing: format!("level {}: longer races", self.level) })
    }

    /// Looks for a law better than the present table: anywhere at first, then near the last.
    fn seek_law(&mut self, search: LawSearch, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let LawSearch { law, reach } = search;
        let stream = &mut bench.stream();
        let laws: Vec<Law> = match &law {
            None => (0..LAWS_ANYWHERE).map(|_| Law::draw(stream)).collect(),
            Some(law) => (0..LAWS_NEARBY).map(|_| law.near(reach, stream)).collect(),
        };
        let clear = |table: RuleTable| clear_table(&table, bench.model);
        let tabled = laws.into_iter().filter_map(|law| law.table(bench.model).map(|table| (law, clear(table))));
        let (laws, tables): (Vec<Law>, Vec<RuleTable>) = tabled.unzip();
        let (next, table, doing) = match self.best_of(tables, bench, tuning)? {
            Some((table, by, candidate)) => {
                let found = LawSearch { law: Some(laws[candidate].clone()), reach };
                (Some(found), Some(table), format!("law: {by}"))
            }
            None => {
                let on = law.is_some() && reach > LAST_LAW_REACH;
                let closer = on.then(|| LawSearch { law, reach: reach / 2.0 });
                (closer, None, format!("law: none better of reach {reach:.2}"))
            }
        };
        self.law = next;
        Ok(Done { table, measured: None, doing })
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
                Ok(Done { table: Some(table), measured: None, doing: format!("shift of {of}: {by}") })
            }
            None => {
                self.shifted += 1;
                Ok(Done { table: None, measured: None, doing: format!("no shift of {of} gains") })
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
            self.uses = bench.arena.watched(bench.flat, &set, rules.seconds)?.shares();
            self.stale = 0;
        }
        Ok(())
    }

    fn last_reach(&self) -> f64 {
        if self.level == 0 { 0.3 } else { LAST_REACH }
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
        Rules {
            first: if tuning.races { few << level.min(2) } else { most },
            most,
            seconds: if self.quick { whole / 4.0 } else { whole },
            confidence: tuning.confidence,
            // At the first level gains are large, and drifting costs less than asking twice.
            confirm: self.level > 0,
            skip_unused: tuning.skip_unused,
            root: if tuning.fresh_specimens { bench.root } else { 0 },
        }
    }

    fn improve(&mut self, rule: usize, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let (design, (_, action)) = (&bench.model.design, bench.table.rules()[rule]);
        let reach = self.notes[rule].reach;
        let actions = if tuning.steps {
            let leaps = moves::leaps(action, (2.0 * reach).min(1.0), LEAPS, design, &mut bench.stream());
            [moves::steps(action, reach, design), moves::steps(action, reach / 3.0, design), leaps].concat()
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
            self.notes[rule].reach = if tuning.steps { reach / 3.0 } else { 0.0 };
            return Ok(Done {
                table: None,
                measured: None,
                doing: format!("rule {rule}: no better step of reach {reach:.2}"),
            });
        };
        if matches!(by, By::Gain(_, share) if share < SMALL_GAIN) {
            self.notes[rule].reach = reach / 3.0;
        }
        let mut table = bench.table.clone();
        table.set_action(rule, actions[candidate]);
        Ok(Done { table: Some(table), measured: None, doing: format!("rule {rule}: {by}") })
    }

    fn split(&mut self, rule: usize, bench: &Bench, tuning: &Tuning) -> Result<Done, Stopped> {
        let rules = self.rules(bench, tuning);
        let set = fresh(bench.model, rules.root, 0, 16);
        if !tuning.chosen_splits {
            let seen = bench.usage(bench.flat, &set, rules.seconds)?;
            return Ok(self.split_everywhere(rule, &seen.rules[rule].median, bench));
        }
        let seen = bench.memories(rule, &set, rules.seconds)?;
        let reach = if self.level.is_multiple_of(2) { BOLD_SPLIT } else { FINE_SPLIT };
        let mut stream = bench.stream();
        let mut variants = Vec::new();
        for halved in halves(rule, &seen, bench) {
            let edges = edges(&halved);
            let flat = FlatTable::new(&halved).expect("a split leaves a partition");
            for child in [rule, rule + 1] {
                let (old, design) = (bench.table.rules()[rule].1, &bench.model.design);
                let leaps = moves::leaps(old, 1.0, LEAPS_PER_HALF, design, &mut stream);
                for action in [moves::few_steps(old, reach, design), leaps].concat() {
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
            return Ok(Done { table: None, measured: None, doing: format!("rule {rule}: no split gains") });
        };
        self.notes[rule] = Note { reach: CHILD_REACH, whole: false };
        self.notes.insert(rule, self.notes[rule].clone());
        let table = tables.into_iter().nth(candidate);
        Ok(Done { table, measured: None, doing: format!("rule {rule}: a split {by}") })
    }

    /// The paper's split (Remy'13 §4.3 step 5), for comparison.
    fn split_everywhere(&mut self, rule: usize, median: &Point, bench: &Bench) -> Done {
        let mut table = bench.table.clone();
        let made = table.split(rule, median, &table.signals.clone());
        self.notes[rule] = Note { reach: CHILD_REACH, whole: made == 1 };
        for _ in 1..made {
            self.notes.insert(rule, self.notes[rule].clone());
        }
        Done { table: Some(table), measured: None, doing: format!("rule {rule}: split into {made}") }
    }
}
