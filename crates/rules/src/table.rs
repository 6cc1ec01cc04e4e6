//! The rule table: a tree of boxes over memory space with an action at each leaf (Remy'13 §4.2-4.3).

use crate::action::{Action, MAX_INTERSEND_MS, MAX_MULTIPLE};
use crate::cell::Cell;
use crate::law::{Law, LawError};
use crate::proto;
use crate::provenance::Provenance;
use crate::signal::{Point, Signal};

/// Upper end of each signal's domain in the files of Tao'14 (Remy'13 used 16384).
pub const DEFAULT_DOMAIN: f64 = 163_840.0;

/// What makes a table unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// Rules that look at nothing.
    #[error("expected at least one signal that rules look at, got none")]
    NoSignals,
    /// The children of a box do not divide it by planes without gap or overlap.
    #[error("the boxes of rules {0} leave a gap, overlap, or cannot be told apart by planes")]
    NotAPartition(String),
    /// A law that cannot be followed.
    #[error(transparent)]
    BadLaw(#[from] LawError),
    /// A law, and boxes besides.
    #[error("a law: expected one rule, got {0}")]
    LawAndBoxes(usize),
    /// A number that no action can have.
    #[error("rule {rule}: {field} is {value}, expected {expected}")]
    BadAction {
        /// Index of the leaf in depth-first order.
        rule: usize,
        /// Which part of the action.
        field: &'static str,
        /// What stood there.
        value: f64,
        /// What would have been right.
        expected: &'static str,
    },
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The box of memory space that it covers.
    pub cell: Cell,
    /// Leaf or inner node.
    pub kind: NodeKind,
    /// The message that it was read from, less its children, so that what we do not understand is written back.
    pub(crate) carried: Option<Box<proto::Tree>>,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A rule.
    Leaf(Action),
    /// Boxes that divide this one.
    Split(Vec<Node>),
}

/// A whole table. Rules are numbered in depth-first order.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleTable {
    /// The signals that are looked at, in axis order.
    pub signals: Vec<Signal>,
    /// The tree.
    pub root: Node,
    /// What flows follow in place of the rules, where it is a law: then there is one rule, whose action is how a flow begins.
    pub law: Option<Law>,
    /// How the table was designed, where it is one of ours.
    pub provenance: Option<Provenance>,
}

impl Node {
    /// A leaf.
    #[must_use]
    pub fn leaf(cell: Cell, action: Action) -> Node {
        Node { cell, kind: NodeKind::Leaf(action), carried: None }
    }

    fn move_bound(&mut self, axis: usize, from: f64, to: f64) {
        for bound in [&mut self.cell.lower[axis], &mut self.cell.upper[axis]] {
            if *bound == from {
                *bound = to;
                self.carried = None;
            }
        }
        if let NodeKind::Split(children) = &mut self.kind {
            children.iter_mut().for_each(|child| child.move_bound(axis, from, to));
        }
    }

    fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Cell, &'a Action)) {
        match &self.kind {
            NodeKind::Leaf(action) => f(&self.cell, action),
            NodeKind::Split(children) => children.iter().for_each(|c| c.visit(f)),
        }
    }

    /// The node of leaf number `index`, counted down as leaves go by.
    fn find_leaf(&mut self, index: &mut usize) -> Option<&mut Node> {
        if let NodeKind::Leaf(_) = self.kind {
            if *index == 0 {
                return Some(self);
            }
            *index -= 1;
            return None;
        }
        match &mut self.kind {
            NodeKind::Split(children) => children.iter_mut().find_map(|c| c.find_leaf(index)),
            NodeKind::Leaf(_) => None,
        }
    }
}

impl RuleTable {
    /// A table with one rule over the whole domain.
    #[must_use]
    pub fn single(signals: &[Signal], action: Action) -> RuleTable {
        let mut signals = signals.to_vec();
        signals.sort_unstable();
        signals.dedup();
        let root = Node::leaf(Cell::domain(&signals, DEFAULT_DOMAIN), action);
        RuleTable { signals, root, law: None, provenance: None }
    }

    /// A law. Who knows tables only sees one rule: the window and the pace that a flow begins with.
    #[must_use]
    pub fn of_law(signals: &[Signal], law: Law) -> RuleTable {
        let increment = law.first_window.div_ceil(crate::LAW_UNIT) as i32;
        let action = Action { multiple: 0.0, increment, intersend_ms: f64::from(law.first_pause_ns) / 1e6 };
        RuleTable { law: Some(law), ..RuleTable::single(signals, action) }
    }

    /// Box and action of every rule, in order.
    #[must_use]
    pub fn rules(&self) -> Vec<(Cell, Action)> {
        let mut out = Vec::new();
        self.root.visit(&mut |cell, action| out.push((*cell, *action)));
        out
    }

    /// Number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules().len()
    }

    /// Whether there is no rule (never so in a table that was checked).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces the action of one rule.
    ///
    /// # Panics
    /// If there is no such rule.
    pub fn set_action(&mut self, rule: usize, action: Action) {
        self.leaf_mut(rule).kind = NodeKind::Leaf(action);
    }

    /// Splits a rule at `at` along each of `axes`: `2^axes` rules with the old action take its place (Remy'13 §4.3 step 5).
    /// Axes on which the point does not lie strictly inside the box are left whole. Returns the number of rules made.
    ///
    /// # Panics
    /// If there is no such rule.
    pub fn split(&mut self, rule: usize, at: &Point, axes: &[Signal]) -> usize {
        let leaf = self.leaf_mut(rule);
        let NodeKind::Leaf(action) = leaf.kind else { unreachable!("leaf_mut finds leaves") };
        let mut cells = vec![leaf.cell];
        for axis in axes.iter().map(|&s| s as usize) {
            if leaf.cell.lower[axis] < at[axis] && at[axis] < leaf.cell.upper[axis] {
                let (below, above): (Vec<_>, Vec<_>) = cells.iter().map(|c| c.cut(axis, at[axis])).unzip();
                cells = below.into_iter().chain(above).collect();
            }
        }
        let made = cells.len();
        if made > 1 {
            let children = cells.into_iter().map(|c| Node::leaf(c, action)).collect();
            *leaf = Node { cell: leaf.cell, kind: NodeKind::Split(children), carried: None };
        }
        made
    }

    /// Where the table is split along a signal, in order.
    #[must_use]
    pub fn edges(&self, signal: Signal) -> Vec<f64> {
        let (axis, rest) = (signal as usize, signal.at_rest());
        let mut edges: Vec<f64> = self.rules().iter().map(|(cell, _)| cell.lower[axis]).filter(|&e| e > rest).collect();
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        edges
    }

    /// Moves a place at which the table is split along a signal: `to` must lie between the two places beside it. What a file had
    /// besides of boxes that begin or end there is not kept.
    pub fn move_bound(&mut self, signal: Signal, from: f64, to: f64) {
        self.root.move_bound(signal as usize, from, to);
    }

    /// Checks that there is something to look at, and that every action is usable.
    ///
    /// # Errors
    /// Names the first rule that is not.
    pub fn check(&self) -> Result<(), TableError> {
        if self.signals.is_empty() {
            return Err(TableError::NoSignals);
        }
        if let Some(law) = &self.law {
            law.check()?;
            if self.len() != 1 {
                return Err(TableError::LawAndBoxes(self.len()));
            }
        }
        for (rule, (_, a)) in self.rules().iter().enumerate() {
            let bad = |field, value, expected| Err(TableError::BadAction { rule, field, value, expected });
            if !(0.0..=MAX_MULTIPLE).contains(&a.multiple) {
                return bad("window_multiple", a.multiple, "0 to 1e6");
            }
            if !(0.0..=MAX_INTERSEND_MS).contains(&a.intersend_ms) {
                return bad("intersend", a.intersend_ms, "0 to 1e7 ms");
            }
        }
        Ok(())
    }

    fn leaf_mut(&mut self, rule: usize) -> &mut Node {
        let mut index = rule;
        self.root.find_leaf(&mut index).unwrap_or_else(|| panic!("no rule {rule}"))
    }
}
