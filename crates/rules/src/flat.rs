//! The flat form of a table, for looking up: rules in one array, and a binary tree of planes in another.
//!
//! The rule that matched last is tried first, and matches most of the time; then a grid of ranks is asked (`grid.rs`), and
//! where that would be too large, the planes are walked.

use crate::action::Action;
use crate::cell::Cell;
use crate::grid::Grid;
use crate::law::Law;
use crate::memory::Memory;
use crate::rule::Rule;
use crate::signal::{FIRST_SIGNALS, Point, SIGNALS, first_signals};
use crate::table::{RuleTable, TableError};

/// `point[axis] < at` leads to `next[0]`, else to `next[1]`; a leaf is the complement of its rule's number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub at: f64,
    pub axis: u32,
    pub next: [i32; 2],
}

/// A table ready for lookups.
#[derive(Clone, Debug)]
pub struct FlatTable {
    pub(crate) rules: Vec<Rule>,
    pub(crate) planes: Vec<Plane>,
    pub(crate) root: i32,
    /// The same in a form for the first four signals, unless it would be too large.
    grid: Option<Grid>,
    /// Where rules look at more than the first four signals, the boxes of all, in whose place the rules have some that nothing
    /// lies in. So the guess at a rule need not ask which kind of table this is.
    pub(crate) boxes: Vec<Cell>,
    /// Whether every rule spaces packets.
    pub(crate) paces: bool,
    /// What flows follow in place of the rules.
    pub(crate) law: Option<Law>,
}

impl FlatTable {
    /// Flattens a table.
    ///
    /// # Errors
    /// If an action is unusable or the boxes do not divide the domain.
    pub fn new(table: &RuleTable) -> Result<FlatTable, TableError> {
        table.check()?;
        let cells: Vec<(usize, Cell)> = table.rules().into_iter().map(|(c, _)| c).enumerate().collect();
        let mut planes = Vec::new();
        // Published tables hold boxes of no width (split at their own edge): nothing can match them.
        let inhabited = cells.iter().copied().filter(|(_, c)| !c.is_empty()).collect();
        let root = divide(&table.root.cell, inhabited, &mut planes, 0)?;
        let open: Vec<Cell> = cells.iter().map(|(_, c)| open_edges(c, &table.root.cell)).collect();
        let looks_further = table.signals.iter().any(|&s| s as usize >= FIRST_SIGNALS);
        let first4 = |p: &Point| if looks_further { [f64::NAN; FIRST_SIGNALS] } else { [p[0], p[1], p[2], p[3]] };
        let rules = open
            .iter()
            .zip(table.rules())
            .map(|(c, (_, action))| Rule::new(first4(&c.lower), first4(&c.upper), action));
        let flat = FlatTable::of_parts(rules.collect(), planes, root, if looks_further { open } else { vec![] });
        Ok(FlatTable { law: table.law, ..flat })
    }

    /// What follows from the rules, the planes and, where rules look further, the boxes.
    pub(crate) fn of_parts(rules: Vec<Rule>, planes: Vec<Plane>, root: i32, boxes: Vec<Cell>) -> FlatTable {
        let mut flat = FlatTable { rules, planes, root, grid: None, boxes, paces: false, law: None };
        flat.paces = flat.all_pace();
        if !flat.looks_further() {
            let bounds: Vec<[f64; 4]> = flat.rules.iter().map(|rule| rule.lower).collect();
            flat.grid = Grid::new(&bounds, |point| flat.walk(point));
        }
        flat
    }

    /// Number of rules; their numbers are those of the [`RuleTable`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// A rule by its number.
    #[must_use]
    #[inline(always)]
    pub fn rule(&self, number: usize) -> &Rule {
        &self.rules[number]
    }

    /// The planes in order, each as axis, place, and what stands below it and from it on.
    pub(crate) fn planes(&self) -> impl Iterator<Item = (usize, f64, [i32; 2])> {
        self.planes.iter().map(|plane| (plane.axis as usize, plane.at, plane.next))
    }

    /// Where a walk begins.
    pub(crate) fn root(&self) -> i32 {
        self.root
    }

    /// The law that flows follow in place of the rules, if there is one.
    #[must_use]
    #[inline(always)]
    pub fn law(&self) -> Option<&Law> {
        self.law.as_ref()
    }

    /// Whether every rule spaces packets.
    #[must_use]
    #[inline(always)]
    pub fn paces(&self) -> bool {
        self.paces
    }

    pub(crate) fn all_pace(&self) -> bool {
        self.rules.iter().all(|rule| rule.intersend_ns > 0)
    }

    /// Replaces the action of one rule.
    pub fn set_action(&mut self, number: usize, action: Action) {
        self.rules[number].set_action(action);
        self.paces = self.all_pace();
    }

    /// The rule for this memory and its number; `last` is a guess at the number, usually the previous answer. Every memory has
    /// a rule: what lies beyond the domain is clamped to it, infinities too, and what is no number counts as its lower end.
    #[must_use]
    #[inline(always)]
    pub fn lookup(&self, memory: &Memory, last: usize) -> (usize, &Rule) {
        if let Some(rule) = self.rules.get(last)
            && rule.matches(memory.fast())
        {
            return (last, rule);
        }
        let number = self.find(memory, last);
        (number, &self.rules[number])
    }

    /// The number of the rule for this memory; `last` is a guess that need not be tried by the first four signals any more.
    #[inline(always)]
    pub(crate) fn find(&self, memory: &Memory, last: usize) -> usize {
        match &self.grid {
            Some(grid) => grid.rule(memory.fast()),
            None => self.find_by_all(memory, last),
        }
    }

    #[inline(never)]
    fn find_by_all(&self, memory: &Memory, last: usize) -> usize {
        if !self.looks_further() {
            // The others take a while to compute, and no plane asks for them.
            return self.walk(&first_signals(memory.fast()));
        }
        let point = memory.point();
        if self.boxes.get(last).is_some_and(|guess| guess.contains(&point)) { last } else { self.walk(&point) }
    }

    /// Whether a rule looks at more than the first four signals.
    #[inline(always)]
    pub(crate) fn looks_further(&self) -> bool {
        !self.boxes.is_empty()
    }

    #[inline(never)]
    fn walk(&self, point: &Point) -> usize {
        let mut next = self.root;
        while next >= 0 {
            let plane = &self.planes[next as usize];
            next = plane.next[usize::from(point[plane.axis as usize] >= plane.at)];
        }
        !next as usize
    }
}

/// The most planes one after another: boxes of halves of halves need as many as the tree is deep, which is 100 at most in
/// a file. What needs more was made to be trouble.
const MAX_DEPTH: usize = 1000;

/// The cell with infinity in place of the domain's own bounds.
fn open_edges(cell: &Cell, domain: &Cell) -> Cell {
    let mut open = *cell;
    for a in 0..SIGNALS {
        if cell.lower[a] == domain.lower[a] {
            open.lower[a] = f64::NEG_INFINITY;
        }
        if cell.upper[a] == domain.upper[a] {
            open.upper[a] = f64::INFINITY;
        }
    }
    open
}

/// Appends the planes that tell `cells` apart inside `region`, the most balanced one first; returns the entry point.
fn divide(region: &Cell, cells: Vec<(usize, Cell)>, planes: &mut Vec<Plane>, depth: usize) -> Result<i32, TableError> {
    if let [(number, cell)] = cells[..]
        && cell == *region
    {
        return Ok(!(number as i32));
    }
    let Some((axis, at)) = best_plane(region, &cells).filter(|_| depth < MAX_DEPTH) else {
        let names: Vec<String> = cells.iter().take(8).map(|(n, _)| n.to_string()).collect();
        return Err(TableError::NotAPartition(names.join(", ")));
    };
    let here = planes.len();
    planes.push(Plane { at, axis: axis as u32, next: [0; 2] });
    let (below, above) = cells.into_iter().partition(|(_, c)| c.upper[axis] <= at);
    let (region_below, region_above) = region.cut(axis, at);
    let next = [divide(&region_below, below, planes, depth + 1)?, divide(&region_above, above, planes, depth + 1)?];
    planes[here].next = next;
    Ok(here as i32)
}

/// The plane strictly inside the region that no cell straddles and that halves the cells best.
fn best_plane(region: &Cell, cells: &[(usize, Cell)]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, usize, f64)> = None;
    for axis in 0..SIGNALS {
        let sorted = |bound: fn(&Cell) -> &Point| {
            let mut bounds: Vec<f64> = cells.iter().map(|(_, c)| bound(c)[axis]).collect();
            bounds.sort_unstable_by(f64::total_cmp);
            bounds
        };
        let (lowers, uppers) = (sorted(|c| &c.lower), sorted(|c| &c.upper));
        let mut bounds = lowers.clone();
        bounds.dedup();
        for at in bounds.into_iter().filter(|&b| region.lower[axis] < b && b < region.upper[axis]) {
            let below = uppers.partition_point(|&upper| upper <= at);
            let above = cells.len() - lowers.partition_point(|&lower| lower < at);
            let larger = below.max(above);
            if below > 0 && below + above == cells.len() && best.is_none_or(|(b, ..)| larger < b) {
                best = Some((larger, axis, at));
            }
        }
    }
    best.map(|(_, axis, at)| (axis, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::MAX_WINDOW;
    use crate::signal::Signal;
    use crate::table::DEFAULT_DOMAIN;
    use proptest::prelude::*;
    use std::array::from_fn;

    fn grown(splits: &[(usize, [f64; 4])]) -> RuleTable {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let mut table = RuleTable::single(&Signal::ALL[..4], action);
        for (rule, at) in splits {
            let n = table.len();
            table.split(rule % n, &first_signals(at), &Signal::ALL[..4]);
        }
        table
    }

    fn memory(spacing: &[(u64, u64)]) -> Memory {
        let (mut m, mut sent, mut queue) = (Memory::default(), 0, 0);
        for &(gap, wait) in spacing {
            (sent, queue) = (sent + gap, queue + wait);
            m.on_ack(sent, sent + 50_000_000 + queue, 1, 1);
        }
        m
    }

    /// Any bits at all, and those that matter more often than chance has them.
    fn wild() -> impl Strategy<Value = f64> {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1.0, -0.0, 0.0, 163_840.0, f64::MIN_POSITIVE];
        prop_oneof![any::<u64>().prop_map(f64::from_bits), prop::sample::select(odd.to_vec()), 0.0f64..4.0]
    }

    /// A point inside the domain that is looked up alike: clamped, and a NaN at the lower end.
    fn clamped(point: Point) -> Point {
        let last = f64::from_bits(DEFAULT_DOMAIN.to_bits() - 1);
        point.map(|x| if x.is_nan() { 0.0 } else { x.clamp(0.0, last) })
    }

    proptest! {
        /// Whatever stands in a memory, and whatever is guessed, a lookup finds the box of the clamped point: by the grid, by the
        /// planes, and by trying the boxes in turn.
        #[test]
        fn every_memory_has_a_rule(
            splits in prop::collection::vec((any::<usize>(), prop::array::uniform4(0.01f64..4.0)), 0..6),
            signals in prop::array::uniform4(wild()),
            guess in any::<usize>(),
            rare in any::<bool>(),
        ) {
            let mut table = grown(&splits);
            if rare {
                table = RuleTable::single(&Signal::ALL, Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 });
                splits.iter().for_each(|(rule, [a, b, c, d])| {
                    let n = table.len();
                    table.split(rule % n, &from_fn(|i| [*a, *b, *c, *d][i % 4]), &Signal::ALL[2..]);
                });
            }
            let flat = FlatTable::new(&table).unwrap();
            let memory = Memory::of(signals);
            let at = clamped(memory.point());
            let inside = |cell: &Cell| table.signals.iter().all(|&s| {
                cell.lower[s as usize] <= at[s as usize] && at[s as usize] < cell.upper[s as usize]
            });
            let expected = table.rules().iter().position(|(cell, _)| inside(cell)).unwrap();
            prop_assert_eq!(flat.lookup(&memory, guess).0, expected);
            prop_assert_eq!(flat.lookup(&memory, guess % flat.len()).0, expected);
            prop_assert_eq!(flat.walk(&memory.point()), expected);
        }

        /// The planes, the guess and the boxes themselves agree.
        #[test]
        fn lookup_finds_the_box(
            splits in prop::collection::vec((0usize..1000, prop::array::uniform4(0.01f64..4.0)), 0..6),
            spacing in prop::collection::vec((1u64..9_000_000, 0u64..3_000_000), 0..20),
            guess in 0usize..10_000,
        ) {
            let table = grown(&splits);
            let flat = FlatTable::new(&table).unwrap();
            let m = memory(&spacing);
            let (found, _) = flat.lookup(&m, guess % flat.len());
            prop_assert!(table.rules()[found].0.contains(&m.point()));
            prop_assert_eq!(found, flat.walk(&m.point()));
        }
    }

    #[test]
    fn window_truncates_and_clamps() {
        let window = |multiple, increment, from| {
            let action = Action { multiple, increment, intersend_ms: 1.0 };
            FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap().rule(0).window(from)
        };
        assert_eq!(window(0.5, 2, 5), 4);
        assert_eq!(window(1.0, -7, 5), 0);
        assert_eq!(window(1.0, 256, 999_900), MAX_WINDOW);
        assert_eq!(window(0.0, 3, MAX_WINDOW), 3);
    }

    #[test]
    fn memory_beyond_the_domain_is_clamped() {
        let flat = FlatTable::new(&grown(&[(0, [1.0, 1.0, 1.5, 1.0])])).unwrap();
        let mut m = Memory::default();
        m.on_ack(0, 1, 1, 1);
        m.on_ack(u64::MAX / 4, u64::MAX / 3, 1, 1);
        assert_eq!(flat.lookup(&m, 0).1.upper, [f64::INFINITY; 4]);
    }

    /// Rules in a row: told apart by planes that halve them, in a time that hardly grows faster than their number.
    #[test]
    fn forty_thousand_rules_are_sorted_out() {
        use crate::table::{Node, NodeKind};
        let mut table = grown(&[]);
        let (NodeKind::Leaf(action), mut rest) = (&table.root.kind, table.root.cell) else { panic!("one rule") };
        let mut children = Vec::new();
        for i in 1..40_000 {
            let (below, above) = rest.cut(0, f64::from(i));
            children.push(Node::leaf(below, *action));
            rest = above;
        }
        children.push(Node::leaf(rest, *action));
        table.root.kind = NodeKind::Split(children);
        let flat = FlatTable::new(&table).unwrap();
        assert_eq!((flat.planes.len(), flat.walk(&first_signals(&[31_234.5]))), (39_999, 31_234));
        let read = RuleTable::from_dna(&table.to_dna()).unwrap();
        assert_eq!(read.len(), 40_000);
    }

    #[test]
    fn infinite_signals_find_the_edge_of_the_grid() {
        // Four bounds and more on an axis: whole groups of them, which an infinite signal has all reached.
        let splits: Vec<(usize, [f64; 4])> =
            (1..=7).map(|i| (usize::MAX, [1.0 + f64::from(i), 1.0, 1.5, 1.0])).collect();
        let flat = FlatTable::new(&grown(&splits)).unwrap();
        let at = |x| flat.lookup(&Memory::of([x; 4]), 0).1;
        assert_eq!(at(f64::INFINITY).upper, [f64::INFINITY; 4]);
        assert_eq!((at(f64::NEG_INFINITY).lower, at(f64::NAN).lower), ([f64::NEG_INFINITY; 4], [f64::NEG_INFINITY; 4]));
    }

    #[test]
    fn a_gap_is_an_error() {
        use crate::table::NodeKind;
        let mut table = grown(&[(0, [1.0; 4])]);
        if let NodeKind::Split(children) = &mut table.root.kind {
            children.pop();
        }
        assert!(matches!(FlatTable::new(&table), Err(TableError::NotAPartition(_))));
    }
}
