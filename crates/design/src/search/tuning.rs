//! Parts of the default search that can be switched off, to measure what each is worth.

use serde::{Deserialize, Serialize};

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
    /// Where all networks are known in advance, runs are short.
    pub quick_start: bool,
    /// Begin with two rules in place of one, where all networks are known in advance.
    pub two_rules: bool,
    /// Begin with a policy in place of one rule, where networks are drawn from ranges.
    pub policies: bool,
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
            two_rules: true,
            policies: true,
            shifts: true,
        }
    }
}
