//! Racing: all candidates on a few fresh specimens, the better ones on more, until one is clearly better or none is.
//!
//! Every comparison is with the present table on the same specimens and the same random numbers, and a gain counts only
//! where it is larger than its paired standard error allows for. Specimens are fresh in every race, so that the search
//! cannot fit the luck of a fixed set.

use exmachina_rules::FlatTable;
use exmachina_sim::scenario::SpecimenSet;

use super::Bench;
use super::arena::Stopped;
use crate::model::Model;

/// A race with more candidates than this begins with a shorter heat.
const CROWD: usize = 60;

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
    /// Mean gain per specimen over the present table.
    pub gain: f64,
    /// The same, as a share of what the present table is off a score of 0.
    pub share: f64,
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
struct Gains(Vec<f64>);

impl Gains {
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
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
        base.extend(heat(bench, candidates, rules, &alive, &mut gains, done..done + count, group)?);
        done += count;
        spent += count * alive.len();
        // The better third goes on, less those that are worse than the present table by now.
        alive.sort_by(|&a, &b| gains[b].mean().total_cmp(&gains[a].mean()));
        alive.truncate(alive.len().div_ceil(3));
        alive.retain(|&c| gains[c].mean() > -0.5 * gains[c].standard_error().min(1.0));
        let Some(&best) = alive.first() else { break };
        let (gain, margin) = (gains[best].mean(), rules.confidence * gains[best].margin());
        let decided = alive.len() == 1 || done >= most || gain > 2.0 * margin;
        if decided && gain > margin && gain > 0.0 {
            let off = base.iter().sum::<f64>().abs() / base.len() as f64;
            let winner = |gain| Winner { candidate: best, gain, share: gain / off };
            if !rules.confirm {
                return Ok(Some(winner(gain)));
            }
            // As many runs again as it took to choose: the winner's and the present table's.
            let again = (spent / 2).clamp(done, MOST_AGAIN * done).next_multiple_of(group);
            return Ok(confirm(bench, candidates, rules, best, done..done + again, group)?.map(winner));
        }
    }
    Ok(None)
}

/// Runs the winner of a race once more, on specimens that had no part in choosing it: the best of many looks better than
/// it is, and without this most of what late races find is luck. Only two tables run, so that many specimens cost little;
/// and the more there are, the smaller is the step that is taken because it was lucky here too. Returns what it gains
/// there, if it wins again.
fn confirm(
    bench: &Bench,
    candidates: &[Candidate],
    rules: &Rules,
    winner: usize,
    specimens: std::ops::Range<usize>,
    group: usize,
) -> Result<Option<f64>, Stopped> {
    let mut gains = vec![Gains::default(); candidates.len()];
    heat(bench, candidates, rules, &[winner], &mut gains, specimens, group)?;
    let gains = &gains[winner];
    let (gain, margin) = (gains.mean(), rules.confidence * gains.margin());
    Ok((gain > margin && gain > 0.0).then_some(gain))
}

/// Adds the paired differences of the candidates still in the race on some more specimens. Returns the present table's
/// scores there.
fn heat(
    bench: &Bench,
    candidates: &[Candidate],
    rules: &Rules,
    alive: &[usize],
    gains: &mut [Gains],
    specimens: std::ops::Range<usize>,
    group: usize,
) -> Result<Vec<f64>, Stopped> {
    let set = fresh(bench.model, rules.root, specimens.start, specimens.len());
    let base = bench.arena.watched(bench.flat, &set, rules.seconds)?;
    let tables: Vec<FlatTable> = alive.iter().map(|&c| candidates[c].table.clone()).collect();
    // A table that differs in one rule alone does the same wherever that rule never fires.
    let unchanged = |table: usize, specimen: usize| {
        let fired = base.uses[specimen][candidates[alive[table]].rule] > 0;
        (rules.skip_unused && !fired).then_some(base.scores[specimen])
    };
    let scores = bench.arena.scores(&tables, &set, rules.seconds, unchanged)?;
    for (&c, score) in alive.iter().zip(&scores) {
        let difference: Vec<f64> = score.iter().zip(&base.scores).map(|(a, b)| a - b).collect();
        gains[c].0.extend(difference.chunks(group).map(|g| g.iter().sum::<f64>() / g.len() as f64));
    }
    Ok(base.scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_differences_have_a_wide_margin() {
        let gains = Gains(vec![1.0, 3.0]);
        assert_eq!((gains.mean(), gains.standard_error(), gains.margin()), (2.0, 1.0, 5.0));
        let gains = Gains([1.0, 3.0].repeat(50));
        assert!((gains.margin() / gains.standard_error() - 1.04).abs() < 0.001);
        assert_eq!(Gains(vec![5.0]).margin(), f64::INFINITY);
    }
}
