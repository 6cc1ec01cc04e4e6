//! Which rules of a table are used, how often, and at what memory: to explain a table (Remy'13 §6).
//!
//! Counts and means are exact. Medians are of every k-th use of a rule, where k doubles as uses become many: what is kept
//! is bounded, however long the runs are. The result does not depend on the number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_hosts::scheme::{MayFollowRules, Remy};
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::time::Instant;
use exmachina_rules::{FlatTable, Point, SIGNALS};
use exmachina_scenario::{Specimen, SpecimenSet};
use rayon::prelude::*;

use crate::assignment::Assignment;

/// Uses of one rule that one specimen remembers at most.
const PER_SPECIMEN: usize = 512;
/// Uses of one rule that are remembered at most.
const PER_RULE: usize = 4096;
/// Uses of all rules together that are remembered at most, in the order of the runs.
const OVERALL: usize = 8192;
/// Specimens that are run before what they remember is merged.
const BATCH: usize = 32;

/// One use of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// Number of the rule.
    pub rule: u32,
    /// Memory that it was looked up by.
    pub memory: Point,
    /// Window after its action, packets.
    pub window: u32,
}

/// How one rule was used.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleUsage {
    /// How often.
    pub uses: u64,
    /// Mean memory; NaN where it was never used.
    pub mean: Point,
    /// Median memory, signal by signal; NaN where it was never used.
    pub median: Point,
    /// Median window after its action, packets; NaN where it was never used.
    pub median_window: f64,
}

/// How a table was used on a set of specimens.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// By rule.
    pub rules: Vec<RuleUsage>,
    /// Uses of any rule, evenly spaced.
    pub sample: Vec<Use>,
}

/// Runs a table on every specimen and watches its rules. Where the model has classes of senders, all of them run it.
/// Once `stop` is set, what comes back is worth nothing.
#[must_use]
pub fn usage(table: &FlatTable, set: &SpecimenSet, duration_s: f64, stop: &AtomicBool) -> Usage {
    usage_in(Assignment::Everybody(table), table, set, duration_s, stop)
}

/// Watches the rules of a table where not all senders may run it.
#[must_use]
pub fn usage_in(
    assignment: Assignment<'_>,
    table: &FlatTable,
    set: &SpecimenSet,
    duration_s: f64,
    stop: &AtomicBool,
) -> Usage {
    let watch = |specimen| watch(assignment, table.len(), specimen, (set.seed, duration_s), stop);
    let mut total = Tally::new(table.len(), PER_RULE);
    for batch in set.specimens.chunks(BATCH) {
        let tallies: Vec<Tally> = batch.par_iter().map(watch).collect();
        tallies.into_iter().for_each(|tally| total.merge(tally));
    }
    total.finish()
}

/// A memory that a rule fires at, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The memory.
    pub memory: Point,
    /// Its share in the firings of all rules in its specimen.
    pub weight: f64,
}

/// Memories that one rule of a table fires at, evenly spaced in each specimen; there weights sum to the rule's share, so that
/// a slow link counts as much as a fast one.
#[must_use]
pub fn memories_in(
    assignment: Assignment<'_>,
    (table, rule): (&FlatTable, usize),
    set: &SpecimenSet,
    duration_s: f64,
    stop: &AtomicBool,
) -> Vec<Seen> {
    let watch = |specimen| {
        let rules = watch(assignment, table.len(), specimen, (set.seed, duration_s), stop).rules;
        let all = rules.iter().map(|rule| rule.uses).sum::<u64>().max(1) as f64;
        let RuleTally { uses, kept: Thinned { kept, .. }, .. } = &rules[rule];
        let weight = *uses as f64 / all / kept.len().max(1) as f64;
        kept.iter().map(|used| Seen { memory: used.memory, weight }).collect::<Vec<Seen>>()
    };
    set.specimens.par_iter().map(watch).collect::<Vec<_>>().concat()
}

fn watch(
    assignment: Assignment<'_>,
    rules: usize,
    specimen: &Specimen,
    (root, seconds): (u64, f64),
    stop: &AtomicBool,
) -> Tally {
    let since = vec![Instant::NEVER; specimen.network.senders() + specimen.neighbours.len()];
    let mut watcher =
        Watcher { since, watched: assignment.watched(specimen), tally: Tally::new(rules, PER_SPECIMEN), stop };
    // Nothing is simulated any more once it is set.
    let seconds = if stop.load(Ordering::Relaxed) { 0.0 } else { seconds };
    assignment.run(specimen, root, seconds, &mut watcher);
    watcher.tally
}

/// Every `stride`-th of the items that came by, at most `room` of them.
#[derive(Clone, Debug)]
struct Thinned<T> {
    room: usize,
    stride: u64,
    seen: u64,
    kept: Vec<T>,
}

impl<T: Copy> Thinned<T> {
    fn new(room: usize) -> Self {
        Thinned { room, stride: 1, seen: 0, kept: Vec::new() }
    }

    #[inline]
    fn push(&mut self, item: T) {
        if self.seen.is_multiple_of(self.stride) {
            self.kept.push(item);
            if self.kept.len() > self.room {
                self.thin();
            }
        }
        self.seen += 1;
    }

    fn thin(&mut self) {
        let mut index = 0;
        self.kept.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.stride *= 2;
    }

    /// Takes in what another kept. No items can be pushed afterwards.
    fn merge(&mut self, mut other: Self) {
        while self.stride < other.stride {
            self.thin();
        }
        while other.stride < self.stride {
            other.thin();
        }
        self.kept.append(&mut other.kept);
        while self.kept.len() > self.room {
            self.thin();
        }
    }
}

#[derive(Clone, Debug)]
struct RuleTally {
    uses: u64,
    sum: Point,
    kept: Thinned<Use>,
}

struct Tally {
    rules: Vec<RuleTally>,
    sample: Thinned<Use>,
}

impl Tally {
    fn new(rules: usize, room: usize) -> Tally {
        let rule = RuleTally { uses: 0, sum: [0.0; SIGNALS], kept: Thinned::new(room) };
        Tally { rules: vec![rule; rules], sample: Thinned::new(OVERALL) }
    }

    fn count(&mut self, used: Use) {
        let rule = &mut self.rules[used.rule as usize];
        rule.uses += 1;
        rule.sum.iter_mut().zip(used.memory).for_each(|(sum, signal)| *sum += signal);
        rule.kept.push(used);
        self.sample.push(used);
    }

    fn merge(&mut self, other: Tally) {
        for (mine, theirs) in self.rules.iter_mut().zip(other.rules) {
            mine.uses += theirs.uses;
            mine.sum.iter_mut().zip(theirs.sum).for_each(|(sum, signal)| *sum += signal);
            mine.kept.merge(theirs.kept);
        }
        self.sample.merge(other.sample);
    }

    fn finish(self) -> Usage {
        let rule = |tally: RuleTally| {
            let kept = &tally.kept.kept;
            RuleUsage {
                uses: tally.uses,
                mean: tally.sum.map(|sum| sum / tally.uses as f64),
                median: std::array::from_fn(|axis| median(kept.iter().map(|k| k.memory[axis]).collect())),
                median_window: median(kept.iter().map(|k| f64::from(k.window)).collect()),
            }
        };
        Usage { rules: self.rules.into_iter().map(rule).collect(), sample: self.sample.kept }
    }
}

/// The upper median; NaN of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { f64::NAN } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

struct Watcher<'s> {
    /// Start of the present flow of each sender.
    since: Vec<Instant>,
    /// By sender, whether its table is the one that is looked at; empty: all are.
    watched: Vec<bool>,
    tally: Tally,
    stop: &'s AtomicBool,
}

impl Watcher<'_> {
    fn count(&mut self, sender: usize, state: &impl MayFollowRules) {
        let watched = self.watched.get(sender).copied().unwrap_or(true);
        if let Some(Remy { controller, .. }) = state.rules().filter(|_| watched) {
            let (rule, memory) = (controller.rule() as u32, controller.memory().point());
            self.tally.count(Use { rule, memory, window: controller.window() });
        }
    }
}

impl<E: MayFollowRules> Observer<E> for Watcher<'_> {
    fn abandoned(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn started(&mut self, now: Instant, sender: usize, state: &E) {
        self.since[sender] = now;
        self.count(sender, state);
    }

    fn stopped(&mut self, _now: Instant, sender: usize) {
        self.since[sender] = Instant::NEVER;
    }

    fn acked(&mut self, _now: Instant, sender: usize, packet: &Packet, state: &E) {
        // An ACK of an earlier flow has the same rule act again, which says nothing new about where memories are.
        if packet.sent >= self.since[sender] {
            self.count(sender, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_rules::{Action, RuleTable, Signal, first_signals};

    use super::*;
    use crate::model::Model;

    fn table() -> FlatTable {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 0.8 };
        let mut table = RuleTable::single(&Signal::ALL[..4], action);
        table.split(0, &first_signals(&[2.0, 2.0, 1.1, 2.0]), &[Signal::RttRatio]);
        table.set_action(1, Action { multiple: 0.5, increment: 0, intersend_ms: 0.8 });
        FlatTable::new(&table).unwrap()
    }

    fn specimens(count: usize) -> SpecimenSet {
        let text = "[link]\nrate_mbps = 10\n[path]\nrtt_ms = 50\n[senders]\ncount = 2\n\
                    [workload]\non = { seconds = 1 }\noff = { seconds = 1 }\n";
        Model::parse(text, "test.toml").unwrap().held_out(1, count)
    }

    #[test]
    fn counts_every_use_and_keeps_to_the_box() {
        let used = usage(&table(), &specimens(3), 20.0, &AtomicBool::new(false));
        let [low, high] = &used.rules[..] else { panic!("two rules") };
        assert!(low.uses > 1000 && high.uses > 1000);
        assert!(low.median[2] < 1.1 && low.mean[2] < 1.1);
        assert!(high.median[2] >= 1.1 && high.mean[2] >= 1.1);
        assert!(used.sample.iter().all(|u| (u.memory[2] >= 1.1) == (u.rule == 1)));
        // A sample of a twentieth and more tells the shares to a few hundredths.
        let share = |part: f64, all: f64| part / all;
        let sampled = share(used.sample.iter().filter(|u| u.rule == 1).count() as f64, used.sample.len() as f64);
        assert!((sampled - share(high.uses as f64, (low.uses + high.uses) as f64)).abs() < 0.03);
    }

    #[test]
    fn slow_links_are_seen_as_much_as_fast_ones() {
        let text = "[link]\nrate_mbps = { log_uniform = [1, 1000] }\n[path]\nrtt_ms = 50\n[senders]\ncount = 2\n\
                    [workload]\non = { seconds = 1 }\noff = { seconds = 1 }\n";
        let (table, set) = (table(), Model::parse(text, "test.toml").unwrap().held_out(1, 12));
        let never = AtomicBool::new(false);
        let seen = |rule| memories_in(Assignment::Everybody(&table), (&table, rule), &set, 10.0, &never);
        let sum = |seen: &[Seen]| seen.iter().map(|s| s.weight).sum::<f64>();
        let (low, high) = (seen(0), seen(1));
        assert!((sum(&low) + sum(&high) - 12.0).abs() < 1e-9);
        assert!(low.iter().all(|s| s.memory[2] < 1.1) && high.iter().all(|s| s.memory[2] >= 1.1));
        assert!(low.len() <= 12 * (PER_SPECIMEN + 1));
    }

    #[test]
    fn threads_do_not_matter() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // As text, because a NaN equals nothing.
            format!("{:?}", pool.install(|| usage(&table(), &specimens(40), 5.0, &AtomicBool::new(false))))
        };
        assert!(run(1) == run(3));
    }

    #[test]
    fn thinning_keeps_every_kth() {
        let mut thinned = Thinned::new(4);
        (0..20).for_each(|i| thinned.push(i));
        assert_eq!((thinned.stride, &thinned.kept[..]), (8, &[0, 8, 16][..]));
        let mut other = Thinned::new(4);
        (100..103).for_each(|i| other.push(i));
        thinned.merge(other);
        assert_eq!(thinned.kept, [0, 8, 16, 100]);
    }

    #[test]
    fn a_rule_that_is_never_used_has_no_memory() {
        let mut table =
            RuleTable::single(&[Signal::RttRatio], Action { multiple: 1.0, increment: 1, intersend_ms: 9.0 });
        table.split(0, &first_signals(&[0.0, 0.0, 1e5]), &[Signal::RttRatio]);
        let used = usage(&FlatTable::new(&table).unwrap(), &specimens(1), 5.0, &AtomicBool::new(false));
        assert!(used.rules[1].uses == 0 && used.rules[1].median[2].is_nan() && used.rules[1].median_window.is_nan());
    }
}
