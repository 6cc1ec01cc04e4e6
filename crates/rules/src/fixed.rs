//! A table in whole numbers, for senders without floating point: kernels, and whatever must repeat on any processor.
//!
//! Quantising rounds the table, not the sender: what is exported is a table like any other, which the simulator runs and scores.
//! All is rounded up. So a signal that is a whole number of units has the rule that it had (it lies below a split if and only
//! if it lies below the split rounded up), an RTT ratio of exactly 1 stays below a split just above 1, and a window of which a
//! multiple such as 0.9 makes a whole number of packets is not cut to one packet less.

use crate::action::Action;
use crate::cell::Cell;
use crate::flat::FlatTable;
use crate::signal::Signal;
use crate::table::{Node, NodeKind, RuleTable, TableError};

/// Units of a split of times in a millisecond: 1/64 µs.
pub const TIME_UNITS_PER_MS: f64 = 64_000.0;
/// Units of a split of ratios in 1.
pub const RATIO_UNITS: f64 = 65_536.0;
/// Units of a window multiple in 1.
pub const MULTIPLE_UNITS: f64 = 1_048_576.0;

/// What quantising did to the splits of one signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The signal.
    pub signal: Signal,
    /// Places at which the table is split along it, apart from the ends of its domain.
    pub splits: usize,
    /// How far the one that moved farthest moved, in the signal's unit.
    pub farthest: f64,
}

/// A table rounded to whole units, and what that changed.
#[derive(Clone, Debug)]
pub struct Quantised {
    /// The rounded table.
    pub table: RuleTable,
    /// One for each signal of the table, in axis order.
    pub moved: Vec<Moved>,
    /// Rules whose boxes lay between two splits that are one now: nothing can match them any more.
    pub closed: usize,
    /// The largest change of a multiple.
    pub multiple: f64,
    /// The largest change of the least time between two sends, ms.
    pub intersend_ms: f64,
}

impl Quantised {
    /// Rounds a table. What is rounded already stays as it is.
    #[must_use]
    pub fn of(table: &RuleTable) -> Quantised {
        let mut rounded = table.clone();
        round_node(&mut rounded.root);
        let pairs: Vec<_> = table.rules().into_iter().zip(rounded.rules()).collect();
        let largest =
            |of: fn(&Action) -> f64| pairs.iter().map(|((_, a), (_, b))| (of(b) - of(a)).abs()).fold(0.0, f64::max);
        Quantised {
            moved: table.signals.iter().map(|&signal| moved(table, signal)).collect(),
            closed: pairs.iter().filter(|((a, _), (b, _))| !a.is_empty() && b.is_empty()).count(),
            multiple: largest(|action| action.multiple),
            intersend_ms: largest(|action| action.intersend_ms),
            table: rounded,
        }
    }
}

fn moved(table: &RuleTable, signal: Signal) -> Moved {
    let (axis, domain) = (signal as usize, table.root.cell);
    let mut splits: Vec<f64> = table.rules().iter().map(|(cell, _)| cell.lower[axis]).collect();
    splits.sort_unstable_by(f64::total_cmp);
    splits.dedup();
    splits.retain(|&at| domain.lower[axis] < at && at < domain.upper[axis]);
    let farthest = splits.iter().map(|&at| round_split(signal, at) - at).fold(0.0, f64::max);
    Moved { signal, splits: splits.len(), farthest }
}

fn round_node(node: &mut Node) {
    let cell = round_cell(&node.cell);
    if cell != node.cell {
        (node.cell, node.carried) = (cell, None);
    }
    match &mut node.kind {
        NodeKind::Leaf(action) => {
            action.multiple = ceil_to(action.multiple, MULTIPLE_UNITS);
            action.intersend_ms = (action.intersend_ms * 1e6).round() / 1e6;
        }
        NodeKind::Split(children) => children.iter_mut().for_each(round_node),
    }
}

fn round_cell(cell: &Cell) -> Cell {
    let mut rounded = *cell;
    for signal in Signal::ALL {
        for bound in [&mut rounded.lower, &mut rounded.upper] {
            bound[signal as usize] = round_split(signal, bound[signal as usize]);
        }
    }
    rounded
}

fn units(signal: Signal) -> f64 {
    if signal.is_time() { TIME_UNITS_PER_MS } else { RATIO_UNITS }
}

fn round_split(signal: Signal, at: f64) -> f64 {
    ceil_to(at, units(signal))
}

/// The least whole number of units that is no less, in ones: whatever the product rounds to.
fn ceil_to(value: f64, units: f64) -> f64 {
    let near = (value * units).ceil();
    let up = |whole: f64| whole / units;
    [near - 1.0, near].into_iter().map(up).find(|&rounded| rounded >= value).unwrap_or_else(|| up(near + 1.0))
}

/// `signal < at` leads to `next[0]`, else to `next[1]`; a leaf is the complement of its rule's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedPlane {
    /// What is compared.
    pub signal: Signal,
    /// In units: 1/64 µs of times, 2^-16 of ratios.
    pub at: i64,
    /// Below it, and from it on.
    pub next: [i32; 2],
}

/// An action in whole numbers: `window = clamp((multiple * window >> 20) + increment, 0, 1e6)`, rounded after the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedAction {
    /// In 2^-20.
    pub multiple: u64,
    /// Packets.
    pub increment: i32,
    /// Least time between two sends, ns.
    pub intersend_ns: u64,
}

/// A table in whole numbers: planes to walk from the root, and the action of each rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTable {
    /// The planes, a parent before its children.
    pub planes: Vec<FixedPlane>,
    /// Where a walk begins: a plane, or the complement of the only rule's number.
    pub root: i32,
    /// The most planes that a walk meets.
    pub depth: usize,
    /// The actions; their numbers are those of the table's rules.
    pub rules: Vec<FixedAction>,
}

impl FixedTable {
    /// The whole numbers of a table, which is rounded first.
    ///
    /// # Errors
    /// As [`FlatTable::new`].
    pub fn new(table: &RuleTable) -> Result<FixedTable, TableError> {
        let table = Quantised::of(table).table;
        let flat = FlatTable::new(&table)?;
        let planes: Vec<_> = flat.planes().map(|(axis, at, next)| plane(Signal::ALL[axis], at, next)).collect();
        let rules = table.rules().into_iter().enumerate().map(|(number, (_, action))| FixedAction {
            multiple: (action.multiple * MULTIPLE_UNITS) as u64,
            increment: action.increment,
            intersend_ns: flat.rule(number).intersend_ns,
        });
        Ok(FixedTable { depth: depth(&planes), rules: rules.collect(), planes, root: flat.root() })
    }
}

fn plane(signal: Signal, at: f64, next: [i32; 2]) -> FixedPlane {
    FixedPlane { signal, at: (at * units(signal)).round() as i64, next }
}

/// How many planes the longest way has; children stand behind their parents.
fn depth(planes: &[FixedPlane]) -> usize {
    let mut below = vec![1; planes.len()];
    for (number, plane) in planes.iter().enumerate().rev() {
        let deepest = plane.next.iter().filter_map(|&next| below.get(usize::try_from(next).ok()?)).max();
        below[number] = 1 + deepest.copied().unwrap_or(0);
    }
    below.first().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT_DOMAIN, Memory, first_signals};
    use proptest::prelude::*;

    fn action(multiple: f64, intersend_ms: f64) -> Action {
        Action { multiple, increment: 1, intersend_ms }
    }

    fn split(at: &[f64; 4], axes: &[Signal]) -> RuleTable {
        let mut table = RuleTable::single(&Signal::ALL[..4], action(1.0, 1.0));
        table.split(0, &first_signals(at), axes);
        table
    }

    #[test]
    fn splits_go_up_to_the_next_unit_and_stay_there() {
        let quantised = Quantised::of(&split(&[1e-9, 3.0, 1.000_000_000_001_3, 0.0], &Signal::ALL[..3]));
        let moved: Vec<_> = quantised.moved.iter().map(|m| (m.splits, m.farthest)).collect();
        let at = |signal: Signal| quantised.table.rules()[0].0.upper[signal as usize];
        assert_eq!(
            [Signal::SendEwma, Signal::AckEwma, Signal::RttRatio].map(at),
            [1.0 / 64_000.0, 3.0, 1.0 + 1.0 / 65_536.0]
        );
        assert_eq!(moved[1..2], [(1, 0.0)]);
        assert!(moved[0].0 == 1 && moved[0].1 > 1.5e-5 && moved[2].1 > 1.5e-5 && moved[3] == (0, 0.0));
        assert_eq!(Quantised::of(&quantised.table).table, quantised.table);
        assert_eq!(quantised.table.root.cell.upper[0], DEFAULT_DOMAIN);
    }

    #[test]
    fn two_splits_within_a_unit_close_what_was_between_them() {
        let mut table = split(&[0.0, 0.0, 1.500_001, 0.0], &[Signal::RttRatio]);
        table.split(1, &first_signals(&[0.0, 0.0, 1.500_002]), &[Signal::RttRatio]);
        let quantised = Quantised::of(&table);
        assert_eq!((quantised.table.len(), quantised.closed), (3, 1));
        let fixed = FixedTable::new(&table).unwrap();
        assert_eq!((fixed.planes.len(), fixed.depth, fixed.planes[0].at), (1, 1, 98_305));
        assert_eq!(fixed.planes[0].next, [!0, !2]);
    }

    #[test]
    fn a_window_that_a_multiple_keeps_whole_is_kept() {
        for percent in 0..200_u32 {
            let fixed =
                FixedTable::new(&RuleTable::single(&Signal::ALL[..1], action(f64::from(percent) / 100.0, 0.123_456_7)));
            let rule = fixed.unwrap().rules[0];
            assert_eq!(rule.intersend_ns, 123_457);
            for window in 0..10_000 {
                let kept = u64::from(percent) * window / 100;
                assert_eq!((rule.multiple * window) >> 20, kept, "{percent} % of {window}");
            }
        }
    }

    proptest! {
        /// RTTs of whole units give ratios that are none, so that times it is: averages on the grid have the rule that they had.
        #[test]
        fn what_is_on_the_grid_has_the_rule_that_it_had(
            at in prop::array::uniform4(0.0001f64..4.0),
            units in prop::array::uniform4(0u32..400_000),
        ) {
            let table = split(&at, &Signal::ALL[..4]);
            let flat = [&table, &Quantised::of(&table).table].map(|table| FlatTable::new(table).unwrap());
            let [a, b, c, d] = units.map(f64::from);
            let point = [a / 64_000.0, b / 64_000.0, c / 65_536.0, d / 64_000.0];
            let [before, after] = flat.map(|flat| flat.lookup(&Memory::of(point), 0).0);
            prop_assert_eq!(before, after);
        }

        #[test]
        fn rounding_twice_is_rounding_once(at in prop::array::uniform4(0.0f64..200_000.0), m in 0.0f64..3.0, r in 0.0f64..1e4) {
            let mut table = split(&at, &Signal::ALL[..4]);
            table.set_action(0, action(m, r));
            let once = Quantised::of(&table);
            let twice = Quantised::of(&once.table);
            prop_assert_eq!(&twice.table, &once.table);
            prop_assert!(twice.moved.iter().all(|moved| moved.farthest == 0.0) && twice.multiple == 0.0 && twice.closed == 0);
            prop_assert!(once.moved.iter().all(|m| m.farthest <= 1.0 / 64_000.0));
        }
    }
}
