//! Changes that many rules have part in: the edges between boxes, and what all rules do alike.
//!
//! Rules are improved one at a time, within boxes that stay where they were cut. A table whose edges are all a little too near,
//! as one from a clean world is in a rough one, cannot be mended rule by rule.

use exmachina_rules::{Action, RuleTable, Signal};

use super::clearance::clear_table;
use super::moves;
use crate::model::Model;

/// Edges of a signal that are moved one by one: those between the rules most used.
const EDGES: usize = 8;
/// By what an edge's distance from the signal's rest is multiplied, alone and with all others of the signal.
const ALONE: [f64; 4] = [0.6, 0.85, 1.18, 1.7];
const TOGETHER: [f64; 4] = [0.7, 0.88, 1.14, 1.4];
/// By what paces, and resting windows, of all rules are multiplied.
const ALIKE: [f64; 4] = [0.8, 0.94, 1.06, 1.25];

/// The kinds of shifts of a table: the edges of each of its signals, and last what rules do.
pub fn kinds(table: &RuleTable) -> impl Iterator<Item = Option<Signal>> {
    table.signals.clone().into_iter().map(Some).chain([None])
}

/// The tables that such a shift makes; `uses` are shares of the rules.
pub fn shifted(kind: Option<Signal>, table: &RuleTable, uses: &[f64], model: &Model) -> Vec<RuleTable> {
    let tables = match kind {
        Some(signal) => edges_moved(signal, table, uses, model.design.min_split_width),
        None => alike(table, model),
    };
    let mut tables: Vec<RuleTable> = tables.iter().map(|changed| clear_table(changed, model)).collect();
    tables.retain(|changed| changed != table);
    tables
}

fn edges_moved(signal: Signal, table: &RuleTable, uses: &[f64], narrowest: f64) -> Vec<RuleTable> {
    let (axis, rules, rest) = (signal as usize, table.rules(), signal.at_rest());
    let edges = table.edges(signal);
    let weight = |edge: f64| -> f64 {
        let beside =
            rules.iter().zip(uses).filter(|((cell, _), _)| cell.lower[axis] == edge || cell.upper[axis] == edge);
        beside.map(|(_, share)| share).sum()
    };
    let mut most_used: Vec<usize> = (0..edges.len()).collect();
    most_used.sort_by(|&a, &b| weight(edges[b]).total_cmp(&weight(edges[a])));
    let place = |edge: f64, factor: f64| rest + (edge - rest) * factor;
    let mut tables = Vec::new();
    for &i in most_used.iter().take(EDGES) {
        let below = if i == 0 { rest } else { edges[i - 1] };
        let above = edges.get(i + 1).copied().unwrap_or(f64::INFINITY);
        for factor in ALONE {
            let to = place(edges[i], factor);
            if to > below * (1.0 + narrowest) && to * (1.0 + narrowest) < above {
                tables.push(moved(table, signal, &[(edges[i], to)]));
            }
        }
    }
    if edges.len() > 1 {
        let all = |factor| edges.iter().map(|&edge| (edge, place(edge, factor))).collect::<Vec<_>>();
        tables.extend(TOGETHER.map(|factor| moved(table, signal, &all(factor))));
    }
    tables
}

/// Edges from places to others, none past the next. Those that come nearer go first, nearest first, so that none meets one that
/// has yet to make way.
fn moved(table: &RuleTable, signal: Signal, moves: &[(f64, f64)]) -> RuleTable {
    let mut table = table.clone();
    let (nearer, farther): (Vec<_>, Vec<_>) = moves.iter().partition(|(from, to)| to < from);
    for &(from, to) in nearer.into_iter().chain(farther.into_iter().rev()) {
        table.move_bound(signal, from, to);
    }
    table
}

/// All paces, all resting windows, and both against each other.
fn alike(table: &RuleTable, model: &Model) -> Vec<RuleTable> {
    let every = |change: &dyn Fn(Action) -> Action| {
        let mut table = table.clone();
        for (rule, (_, action)) in table.rules().into_iter().enumerate() {
            table.set_action(rule, moves::legal(change(action), &model.design));
        }
        table
    };
    let pace = |by: f64| move |a: Action| Action { intersend_ms: a.intersend_ms * by, ..a };
    let window = |by: f64| move |a: Action| Action { increment: (f64::from(a.increment) * by).round() as i32, ..a };
    let least = model.design.multiple.min;
    let mut tables = Vec::new();
    for by in ALIKE {
        tables.extend([
            every(&pace(by)),
            every(&window(by)),
            every(&|a| pace(1.0 / by)(window(by)(a))),
            every(&|a| pace(by)(window(by)(a))),
            every(&|a| hastened(a, by, least)),
        ]);
    }
    tables
}

/// The window comes to rest so many times as fast, where it did before: at b / (1 - m). No multiple is below `least`, so that
/// the share of the way that an ACK takes it is 1 - `least` at most.
fn hastened(a: Action, by: f64, least: f64) -> Action {
    let share = 1.0 - a.multiple;
    let share_now = (share * by).min((1.0 - least).max(share));
    let by = if share_now == share * by { by } else { share_now / share };
    Action { multiple: 1.0 - share_now, increment: (f64::from(a.increment) * by).round() as i32, ..a }
}

#[cfg(test)]
mod tests {
    use exmachina_rules::{FlatTable, SIGNALS};

    use super::*;

    fn model() -> Model {
        let text = "[link]\nrate_mbps = { uniform = [10, 20] }\n[path]\nrtt_ms = 100\n[senders]\ncount = 2\n\
                    [workload]\non = { seconds = 1 }\noff = { seconds = 1 }\n";
        Model::parse(text, "m.toml").unwrap()
    }

    /// Four rules along the RTT ratio, and the third cut in two along the time between ACKs.
    fn table() -> RuleTable {
        let action = Action { multiple: 0.9, increment: 10, intersend_ms: 0.7 };
        let mut table = RuleTable::single(&Signal::ALL[..4], action);
        for (rule, ratio) in [(0, 1.2), (0, 1.05), (2, 1.6)] {
            let mut at = [0.0; SIGNALS];
            at[Signal::RttRatio as usize] = ratio;
            table.split(rule, &at, &[Signal::RttRatio]);
        }
        let mut at = [0.0; SIGNALS];
        at[Signal::AckEwma as usize] = 3.0;
        table.split(2, &at, &[Signal::AckEwma]);
        table
    }

    fn ratios(table: &RuleTable) -> Vec<f64> {
        let mut all: Vec<f64> = table.rules().iter().map(|(cell, _)| cell.lower[Signal::RttRatio as usize]).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        all
    }

    #[test]
    fn every_shift_leaves_a_partition_with_as_many_rules() {
        let (table, model) = (table(), model());
        let all: Vec<RuleTable> = kinds(&table).flat_map(|kind| shifted(kind, &table, &[0.2; 5], &model)).collect();
        assert!(all.len() > 30, "{}", all.len());
        for changed in &all {
            assert!(
                changed.check().is_ok() && FlatTable::new(changed).is_ok() && changed.len() == 5 && *changed != table
            );
        }
    }

    #[test]
    fn edges_keep_their_order_alone_and_together() {
        let table = table();
        let places: Vec<Vec<f64>> =
            edges_moved(Signal::RttRatio, &table, &[0.2; 5], 0.001).iter().map(ratios).collect();
        let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(places.iter().any(|ratios| near(ratios, &[0.0, 1.05, 1.34, 1.6])), "{places:?}");
        assert!(places.iter().any(|ratios| near(ratios, &[0.0, 1.07, 1.28, 1.84])), "{places:?}");
        assert!(places.iter().any(|ratios| near(ratios, &[0.0, 1.035, 1.14, 1.42])), "{places:?}");
        assert!(places.iter().all(|ratios| ratios.len() == 4 && ratios.is_sorted()));
    }

    /// The resting window, b / (1 - m), by how much nearer it comes with each ACK: m = 0.1 can come no more than 1.11 times as fast.
    #[test]
    fn haste_leaves_resting_windows_where_they_are() {
        let rest = |a: Action| f64::from(a.increment) / (1.0 - a.multiple);
        for multiple in [0.0, 0.1, 0.19, 0.5, 0.9] {
            let before = Action { multiple, increment: 1000, intersend_ms: 0.7 };
            for by in ALIKE {
                let after = hastened(before, by, 0.0);
                // Increments are whole packets.
                assert!((rest(after) / rest(before) - 1.0).abs() < 2e-3, "{multiple} {by}: {after:?}");
                assert!((0.0..1.0).contains(&after.multiple), "{after:?}");
            }
        }
        // A model that keeps windows from being forgotten at once.
        assert_eq!(hastened(Action { multiple: 0.6, increment: 20, intersend_ms: 1.0 }, 2.0, 0.5).increment, 25);
        // Without a resting window it is the step that grows.
        assert_eq!(hastened(Action { multiple: 1.0, increment: 4, intersend_ms: 1.0 }, 1.25, 0.0).increment, 5);
    }

    #[test]
    fn a_signal_without_edges_and_rules_out_of_use_are_no_trouble() {
        let one = RuleTable::single(&Signal::ALL[..4], Action { multiple: 1.0, increment: 1, intersend_ms: 0.7 });
        assert!(shifted(Some(Signal::AckEwma), &one, &[], &model()).is_empty());
        assert!(!shifted(None, &one, &[], &model()).is_empty());
    }
}
