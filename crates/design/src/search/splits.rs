//! Where a rule might be split in two.

use exmachina_rules::{RuleTable, SIGNALS, Signal};
use exmachina_run::usage::Seen;

use super::Bench;
use super::clearance::{clear_of, is_average, settled};
use crate::model::Model;

/// A rule seen less often than this is not split: its quantiles would be luck.
const LEAST_SEEN: usize = 10;
/// Two places closer than this share of their value are one.
const CLOSE: f64 = 0.02;

/// Where all networks are known in advance, and all senders alike, a search begins with two rules: for where there is a queue, and
/// for where there is none. One rule for both gets as good as it can with a queue that always stands, and from there no split
/// shows what it is good for.
pub fn split_at_the_queue(table: &mut RuleTable, model: &Model) {
    let axis = Signal::RttRatio;
    let suits = model.scenario.grid().is_some() && model.scenario.classes().len() == 1;
    if suits && table.signals.contains(&axis) {
        let mut point = [0.0; SIGNALS];
        point[axis as usize] = 1.0 + model.design.min_split_width;
        table.split(0, &point, &[axis]);
    }
}

/// The table with one rule halved, for each signal and each place worth trying.
pub fn halves(rule: usize, seen: &[Seen], bench: &Bench) -> Vec<RuleTable> {
    let (cell, _) = bench.table.rules()[rule];
    let settled = settled(bench.table, bench.model);
    let mut out = Vec::new();
    for &axis in &bench.table.signals {
        let a = axis as usize;
        let mut values: Vec<(f64, f64)> = seen.iter().map(|seen| (seen.memory[a], seen.weight)).collect();
        for at in split_points(axis, cell.lower[a], cell.upper[a], &mut values, bench.model.design.min_split_width) {
            let mut point = [0.0; SIGNALS];
            point[a] = if is_average(axis) { clear_of(at, &settled) } else { at };
            if !(cell.lower[a] < point[a] && point[a] < cell.upper[a]) {
                continue;
            }
            let mut table = bench.table.clone();
            table.split(rule, &point, &[axis]);
            out.push(table);
        }
    }
    out
}

/// Where a box might be split along one signal: at quantiles of what was seen there, and halfway between the extremes
/// (a signal that is the same most of the time has all its quantiles in one place). What was seen are values and weights.
///
/// Neither half may be narrower than `least_width` times the place itself: the published tables have boxes that only a
/// simulator without noise can tell apart, and lose most of their throughput to 50 us of jitter.
fn split_points(axis: Signal, lower: f64, upper: f64, seen: &mut [(f64, f64)], least_width: f64) -> Vec<f64> {
    if seen.len() < LEAST_SEEN {
        return vec![];
    }
    seen.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |q: f64| quantile(seen, q);
    // No RTT is below the smallest: a box that begins at 0 begins at 1 in truth.
    let floor = if axis == Signal::RttRatio { lower.max(1.0) } else { lower };
    let wanted = [quantile(0.5), (quantile(0.05) + quantile(0.95)) / 2.0, quantile(0.2), quantile(0.8)];
    let mut points: Vec<f64> = Vec::new();
    for at in wanted {
        let width = least_width * at.max(floor).max(1e-9);
        let at = at.max(floor + width).min(upper - width);
        let far = |p: &f64| (p - at).abs() > CLOSE * at;
        if at >= floor + width && at < upper && points.iter().all(far) {
            points.push(at);
        }
    }
    points
}

/// The value below which a share of the weight is; values are in order.
fn quantile(seen: &[(f64, f64)], share: f64) -> f64 {
    let mut left = share * seen.iter().map(|(_, weight)| weight).sum::<f64>();
    let reaches = |(_, weight): &&(f64, f64)| {
        left -= weight;
        left <= 0.0
    };
    seen.iter().find(reaches).or(seen.last()).map_or(f64::NAN, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
        values.into_iter().map(|value| (value, 0.5)).collect()
    }

    #[test]
    fn what_counts_more_has_more_of_the_quantiles() {
        let seen = [(1.0, 1.0), (2.0, 6.0), (3.0, 1.0), (4.0, 2.0)];
        assert_eq!(
            [0.0, 0.1, 0.11, 0.7, 0.75, 0.9, 1.0].map(|q| quantile(&seen, q)),
            [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0]
        );
    }

    #[test]
    fn places_are_quantiles_and_the_middle() {
        let mut seen = alike((0..100).rev().map(|i| f64::from(i + 1) / 10.0));
        let points = split_points(Signal::AckEwma, 0.0, 100.0, &mut seen, 0.001);
        assert_eq!(points, [5.0, 2.0, 8.0]);
    }

    #[test]
    fn a_signal_with_two_values_is_split_between_them() {
        let mut seen = alike([vec![0.667; 90], vec![1.333; 10]].concat());
        let points = split_points(Signal::AckEwma, 0.0, 100.0, &mut seen, 0.001);
        assert!(points.iter().any(|&p| (p - 1.0).abs() < 0.01), "{points:?}");
    }

    #[test]
    fn no_knife_edges() {
        // RTT ratios of a link without queue: a nanosecond or so above 1.
        let mut seen = alike((0..100).map(|i| 1.0 + f64::from(i) * 1e-12));
        let points = split_points(Signal::RttRatio, 0.0, 163_840.0, &mut seen, 0.001);
        assert!(points.len() == 1 && (points[0] - 1.001).abs() < 1e-9, "{points:?}");
        // A box that has no room for two halves.
        assert!(split_points(Signal::RttRatio, 1.0, 1.0015, &mut seen, 0.001).is_empty());
        let mut few = alike(vec![1.0; LEAST_SEEN - 1]);
        assert!(split_points(Signal::RttRatio, 0.0, 163_840.0, &mut few, 0.001).is_empty());
    }
}
