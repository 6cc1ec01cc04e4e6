//! Racing: all candidates on a few fresh specimens, the better ones on more, until one is clearly better or none is.
//!
//! Every comparison is with the present table on the same specimens and the same random numbers, and a gain counts only
//! where it is larger than its paired standard error allows for. Specimens are fresh in every race, so that the search
//! cannot fit the luck of a fixed set.
//!
//! That a candidate starves senders is no part of its gain, but comes before it: one that clearly starves more than the
//! present table is out, and one that clearly starves fewer wins. One specimen alone makes nothing clear.

use std::cmp::Ordering;
use std::fmt;

use exmachina_rules::FlatTable;
use exmachina_run::scoring::mean;
use exmachina_run::worth::Score;
use exmachina_scenario::SpecimenSet;

use super::Bench;
use super::evaluator::Stopped;
use super::measure::by_number;
use crate::model::Model;

/// A race with more candidates than this begins with a shorter heat.
const CROWD: usize = 60;

/// A candidate wins by starving fewer senders if it does so by this many times what would make another lose for more.
const CLEARLY_FEWER: f64 = 2.0;

/// A winner runs on at most this many times the specimens of the race before it counts as one.
const MOST_AGAIN: usize = 16;

/// How long and how strict a race is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Specimens of the first heat (rounded up to whole grids).
    pub first: usize,
    /// Specimens of a whole race at most.
    pub most: usize,
    /// Simulated seconds of each run.
    pub seconds: f64,
    /// A winner's mean gain is at least this many standard errors.
    pub confidence: f64,
    /// A winner must win once more, on specimens that had no part in choosing it.
    pub confirm: bool,
    /// Runs in which a candidate's rule never fires are taken from the present table.
    pub skip_unused: bool,
    /// Names the specimens.
    pub root: u64,
}

/// A candidate that won.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Winner {
    /// Which one.
    pub candidate: usize,
    /// By what.
    pub by: By,
}

/// What a candidate won by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    /// Mean gain per specimen over the present table; and the same as a share of what the present table is off a score
    /// of 0.
    Gain(f64, f64),
    /// It starves fewer senders: by so large a share of those that are on.
    Starving(f64),
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Gain(gain, _) => write!(f, "gains {gain:.4}"),
            By::Starving(share) => write!(f, "starves {:.2} % fewer senders", 100.0 * share),
        }
    }
}

/// A candidate: a table, and the rule of the *present* table without which it cannot differ from it.
pub struct Candidate {
    /// The table.
    pub table: FlatTable,
    /// Number of a rule of the present table.
    pub rule: usize,
}

/// Paired differences, one for each whole grid of specimens.
#[derive(Clone, Debug, Default)]
struct Differences(Vec<f64>);

impl Differences {
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The mean, where there is a difference.
    fn known(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.mean())
    }

    fn standard_error(&self) -> f64 {
        let (n, mean) = (self.0.len() as f64, self.mean());
        if n < 2.0 {
            return f64::INFINITY;
        }
        let variance = self.0.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
        (variance / n).sqrt()
    }

    /// The standard error, widened where few differences are a poor estimate of it (about as Student's t is).
    fn margin(&self) -> f64 {
        self.standard_error() * (1.0 + 4.0 / (self.0.len() as f64 - 1.0).max(1.0))
    }
}

/// Whether a candidate starves fewer senders than the present table, alike, or more; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Starves {
    Fewer,
    Alike,
    More,
}

/// What a candidate does better than the present table.
#[derive(Clone, Debug, Default)]
struct Gains {
    /// Of what specimens are worth, where they have a worth under both.
    worth: Differences,
    /// Of the share of senders that starve.
    starved: Differences,
}

impl Gains {
    /// Takes in what the candidate and the present table are worth on some more whole grids.
    fn extend(&mut self, own: &[Score], base: &[Score], group: usize) {
        for (own, base) in own.chunks(group).zip(base.chunks(group)) {
            let pairs = || own.iter().zip(base);
            let worth: Vec<f64> = pairs().filter_map(|(a, b)| difference(a, b)).collect();
            if !worth.is_empty() {
                self.worth.0.push(worth.iter().sum::<f64>() / worth.len() as f64);
            }
            let starved: f64 = pairs().map(|(a, b)| a.starved_share() - b.starved_share()).sum();
            self.starved.0.push(starved / own.len() as f64);
        }
    }

    /// A share that is the same everywhere is clear however few specimens there are. One that stems from a single
    /// specimen is just its own standard error, and so less than the margin.
    fn starves(&self, confidence: f64) -> Starves {
        let (more, margin) = (self.starved.mean(), confidence * self.starved.margin());
        if more > margin {
            Starves::More
        } else if -more > CLEARLY_FEWER * margin {
            Starves::Fewer
        } else {
            Starves::Alike
        }
    }

    /// From better to worse. One that has no worth where the present table has is behind all that have.
    fn compare(&self, other: &Gains, confidence: f64) -> Ordering {
        let (own, others) = (self.starves(confidence), other.starves(confidence));
        let fewer = self.starved.mean().total_cmp(&other.starved.mean());
        let first = if own == Starves::Fewer && own == others { fewer } else { Ordering::Equal };
        let worth = by_number(other.worth.known(), self.worth.known());
        own.cmp(&others).then(first).then(worth).then(fewer)
    }

    /// Whether it may still turn out to be better than the present table.
    fn goes_on(&self, confidence: f64) -> bool {
        match (self.starves(confidence), self.worth.known()) {
            (Starves::Fewer, _) => true,
            (Starves::Alike, Some(gain)) => gain > -0.5 * self.worth.standard_error().min(1.0),
            (Starves::Alike, None) => self.starved.mean() <= 0.0,
            (Starves::More, _) => false,
        }
    }

    /// What it wins by, if the race were over; `off` is what the present table is off a score of 0.
    fn win(&self, confidence: f64, off: f64) -> Option<By> {
        let (gain, margin) = (self.worth.mean(), confidence * self.worth.margin());
        match self.starves(confidence) {
            Starves::Fewer => Some(By::Starving(-self.starved.mean())),
            Starves::Alike if gain > margin && gain > 0.0 => Some(By::Gain(gain, gain / off)),
            _ => None,
        }
    }
}

/// What a specimen is worth more under one table than under another; none where it has no worth under one of them. The mean
/// of a run from which a starved sender is missing is no gain over one that it is in.
fn difference(own: &Score, base: &Score) -> Option<f64> {
    let difference = own.mean? - base.mean?;
    Some(match own.starved.cmp(&base.starved) {
        Ordering::Less => difference.max(0.0),
        Ordering::Equal => difference,
        Ordering::Greater => difference.min(0.0),
    })
}

/// Specimens number `from..from + count` of a root seed.
pub fn fresh(model: &Model, root: u64, from: usize, count: usize) -> SpecimenSet {
    let mut set = model.specimens(root, from + count);
    set.specimens.drain(..from);
    set
}

/// Races candidates against the present table.
pub fn race(bench: &Bench, candidates: &[Candidate], rules: &Rules) -> Result<Option<Winner>, Stopped> {
    let group = bench.model.group();
    let most = rules.most.next_multiple_of(group);
    let mut alive: Vec<usize> = (0..candidates.len()).collect();
    let mut gains = vec![Gains::default(); candidates.len()];
    let mut base = Vec::new();
    // Many candidates are thinned out on less.
    let first = if candidates.len() > CROWD { rules.first.div_ceil(2) } else { rules.first };
    let (mut done, mut spent) = (0, 0);
    while !alive.is_empty() && done < most {
        let count = done.max(first).next_multiple_of(group).min(most - done);
        base.extend(heat(bench, candidates, rules, &alive, &mut gains, done..done + count)?);
        done += count;
        spent += count * alive.len();
        // The better third goes on, less those that are worse than the present table by now.
        alive.sort_by(|&a, &b| gains[a].compare(&gains[b], rules.confidence));
        alive.truncate(alive.len().div_ceil(3));
        alive.retain(|&c| gains[c].goes_on(rules.confidence));
        let Some(&best) = alive.first() else { break };
        let (gain, margin) = (gains[best].worth.mean(), rules.confidence * gains[best].worth.margin());
        let fewer = gains[best].starves(rules.confidence) == Starves::Fewer;
        let decided = alive.len() == 1 || done >= most || fewer || gain > 2.0 * margin;
        let off = mean(&base).map_or(0.0, f64::abs);
        if let Some(by) = gains[best].win(rules.confidence, off).filter(|_| decided) {
            if !rules.confirm {
                return Ok(Some(Winner { candidate: best, by }));
            }
            let by = confirm(bench, candidates, rules, best, unseen(done, spent, group), off)?;
            return Ok(by.map(|by| Winner { candidate: best, by }));
        }
    }
    Ok(None)
}

/// Numbers of the specimens that a winner is confirmed on, after a race of `done` specimens and `spent` runs: none of those that
/// chose it, and as many runs again as that took, the winner's and the present table's.
fn unseen(done: usize, spent: usize, group: usize) -> std::ops::Range<usize> {
    done..done + (spent / 2).clamp(done, MOST_AGAIN * done).next_multiple_of(group)
}

/// Runs the winner of a race once more, on specimens that had no part in choosing it: the best of many looks better than
/// it is, and without this most of what late races find is luck. Only two tables run, so that many specimens cost little;
/// and the more there are, the smaller is the step that is taken because it was lucky here too. Returns what it wins by
/// there, if it wins again.
fn confirm(
    bench: &Bench,
    candidates: &[Candidate],
    rules: &Rules,
    winner: usize,
    specimens: std::ops::Range<usize>,
    off: f64,
) -> Result<Option<By>, Stopped> {
    let mut gains = vec![Gains::default(); candidates.len()];
    heat(bench, candidates, rules, &[winner], &mut gains, specimens)?;
    Ok(gains[winner].win(rules.confidence, off))
}

/// Adds the paired differences of the candidates still in the race on some more specimens. Returns what the present table
/// is worth there.
fn heat(
    bench: &Bench,
    candidates: &[Candidate],
    rules: &Rules,
    alive: &[usize],
    gains: &mut [Gains],
    specimens: std::ops::Range<usize>,
) -> Result<Vec<Score>, Stopped> {
    let set = fresh(bench.model, rules.root, specimens.start, specimens.len());
    let base = bench.evaluator.watched(bench.flat, &set, rules.seconds)?;
    let tables: Vec<FlatTable> = alive.iter().map(|&c| candidates[c].table.clone()).collect();
    // A table that differs in one rule alone does the same wherever that rule never fires.
    let unchanged = |table: usize, specimen: usize| {
        let fired = base.uses[specimen][candidates[alive[table]].rule] > 0;
        (rules.skip_unused && !fired).then_some(base.scores[specimen])
    };
    let scores = bench.evaluator.scores(&tables, &set, rules.seconds, unchanged)?;
    for (&c, scores) in alive.iter().zip(&scores) {
        gains[c].extend(scores, &base.scores, bench.model.group());
    }
    Ok(base.scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_differences_have_a_wide_margin() {
        let few = Differences(vec![1.0, 3.0]);
        assert_eq!((few.mean(), few.standard_error(), few.margin()), (2.0, 1.0, 5.0));
        let many = Differences([1.0, 3.0].repeat(50));
        assert!((many.margin() / many.standard_error() - 1.04).abs() < 0.001);
        assert_eq!(Differences(vec![5.0]).margin(), f64::INFINITY);
    }

    /// What chose a winner flatters it: the specimens that confirm it are others, down to their networks.
    #[test]
    fn a_winner_is_not_confirmed_on_the_specimens_that_chose_it() {
        let text = "[link]\nrate_mbps = { log_uniform = [1, 100] }\n[path]\nrtt_ms = 100\n[senders]\ncount = 1\n[workload]\n\
                    on = { seconds = 1 }\noff = { seconds = 1 }\n";
        let model = Model::parse(text, "x.toml").unwrap();
        let rates = |numbers: std::ops::Range<usize>| -> Vec<u64> {
            let set = fresh(&model, 6, numbers.start, numbers.len());
            set.specimens.iter().map(|specimen| specimen.network.rate_mbps().to_bits()).collect()
        };
        for (done, spent) in [(4, 100), (16, 20), (32, 2000)] {
            let (chose, confirm) = (rates(0..done), rates(unseen(done, spent, 1)));
            assert!(confirm.len() >= done && confirm.iter().all(|rate| !chose.contains(rate)), "{done}, {spent}");
        }
        assert_eq!((unseen(4, 100, 1), unseen(32, 2000, 1), unseen(6, 7, 4)), (4..54, 32..544, 6..14));
    }

    /// A run of two senders.
    fn run(mean: f64, starved: u32) -> Score {
        Score { mean: (starved < 2).then_some(mean), starved, on: 2 }
    }

    fn gains(own: &[Score], base: &[Score]) -> Gains {
        let mut gains = Gains::default();
        gains.extend(own, base, 1);
        gains
    }

    #[test]
    fn where_nobody_starves_the_mean_gain_decides() {
        let base: Vec<Score> = (0..16).map(|i| run(-1.0 - f64::from(i % 3), 0)).collect();
        let better: Vec<Score> = base.iter().map(|b| run(b.mean.unwrap() + 0.25, 0)).collect();
        assert_eq!(gains(&better, &base).win(1.0, 0.5), Some(By::Gain(0.25, 0.5)));
        assert_eq!(gains(&base, &better).win(1.0, 0.5), None);
        assert_eq!(gains(&better, &base).compare(&gains(&base, &base), 1.0), Ordering::Less);
    }

    #[test]
    fn one_unlucky_specimen_does_not_decide() {
        for n in [2, 4, 16, 64] {
            let base = vec![run(-1.0, 0); n];
            let mut unlucky = vec![run(-0.5, 0); n];
            unlucky[1] = run(-0.1, 2);
            assert_eq!(gains(&unlucky, &base).starves(1.0), Starves::Alike, "{n}");
            assert!(n < 4 || matches!(gains(&unlucky, &base).win(1.0, 1.0), Some(By::Gain(gain, _)) if gain == 0.5));
            assert_eq!(gains(&base, &unlucky).starves(1.0), Starves::Alike, "{n}");
            assert_eq!(gains(&base, &unlucky).win(1.0, 1.0), None, "{n}");
        }
    }

    #[test]
    fn who_starves_senders_does_not_win_by_what_is_missing_from_the_mean() {
        let base = vec![run(-3.0, 0); 16];
        // One of two senders starves in every run, or in half of them; the mean of the rest is far better.
        for every in [1, 2] {
            let own: Vec<Score> = (0..16).map(|i| run(-0.1, u32::from(i % every == 0))).collect();
            let gains = gains(&own, &base);
            assert_eq!((gains.starves(1.0), gains.win(1.0, 1.0)), (Starves::More, None));
        }
        // Once is luck, and worth nothing.
        let mut own = base.clone();
        own[3] = run(-0.1, 1);
        assert_eq!((gains(&own, &base).worth.mean(), gains(&own, &base).win(1.0, 1.0)), (0.0, None));
        assert_eq!(gains(&base, &own).worth.mean(), 0.0);
    }

    #[test]
    fn who_starves_everybody_is_last_on_a_single_specimen_too() {
        let base = [run(-1.0, 0)];
        let [worse, nothing] = [[run(-70.0, 0)], [run(0.0, 2)]].map(|own| gains(&own, &base));
        assert_eq!(worse.compare(&nothing, 1.0), Ordering::Less);
        assert_eq!((worse.goes_on(1.0), nothing.goes_on(1.0)), (false, false));
        assert!(gains(&[run(-1.2, 0)], &base).goes_on(1.0));
        // Where the present table starves everybody, who does not is first.
        let [same, cured] = [[run(0.0, 2)], [run(-70.0, 0)]].map(|own| gains(&own, &[run(0.0, 2)]));
        assert_eq!(cured.compare(&same, 1.0), Ordering::Less);
        assert!(cured.goes_on(1.0) && same.goes_on(1.0) && cured.win(1.0, 0.0).is_none());
    }

    #[test]
    fn who_clearly_starves_fewer_wins_whatever_the_mean() {
        let (base, own) = (vec![run(0.0, 2); 16], vec![run(-9.0, 1); 16]);
        let better = gains(&own, &base);
        assert_eq!(better.win(1.0, 0.0), Some(By::Starving(0.5)));
        assert_eq!(By::Starving(0.5).to_string(), "starves 50.00 % fewer senders");
        assert_eq!(gains(&base, &own).starves(1.0), Starves::More);
        // And of two the one that starves fewest.
        let best = gains(&vec![run(-99.0, 0); 16], &base);
        assert_eq!(best.compare(&better, 1.0), Ordering::Less);
        assert_eq!(better.compare(&gains(&base, &base), 1.0), Ordering::Less);
    }
}
