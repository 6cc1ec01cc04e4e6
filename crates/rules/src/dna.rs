//! Reading and writing `.dna` files.

use prost::Message;

use crate::action::Action;
use crate::cell::Cell;
use crate::digest::digest;
use crate::flat::FlatTable;
use crate::law_message::LawMessage;
use crate::proto::{self, Kept};
use crate::provenance::Provenance;
use crate::signal::{Point, Signal};
use crate::table::{DEFAULT_DOMAIN, Node, NodeKind, RuleTable, TableError};

/// The signals of files from before `active_axis`.
const TAGGED_AXES: [Signal; 4] = [Signal::SendEwma, Signal::AckEwma, Signal::RttRatio, Signal::SlowAckEwma];

/// Why a file is no rule table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DnaError {
    /// The bytes are not of this format.
    #[error("not a .dna file (protocol buffer expected): {0}")]
    Decode(#[from] prost::DecodeError),
    /// Something in it has changed since it was written.
    #[error(
        "damaged, or written by another version: what it holds is not what its digest was made of; use another copy"
    )]
    Damaged,
    /// A node without children or rule.
    #[error("{0}: expected children (field 2) or one rule (field 3)")]
    EmptyNode(String),
    /// A field that must be there is not.
    #[error("{path}: {field} is missing")]
    Missing {
        /// Place in the tree.
        path: String,
        /// Name of the field.
        field: &'static str,
    },
    /// An axis number that we do not know.
    #[error("unknown signal: active_axis {0}, expected {axes}", axes = axes())]
    UnknownAxis(i32),
    /// The boxes or actions are unusable.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl RuleTable {
    /// Reads a `.dna` file.
    ///
    /// # Errors
    /// If the bytes are not such a file, or the table in it is unusable.
    pub fn from_dna(bytes: &[u8]) -> Result<RuleTable, DnaError> {
        let tree = proto::Tree::decode(bytes)?;
        check_digest(&tree)?;
        let signals = signals_of(&tree)?;
        let domain = read_cell(&tree, &signals, &Cell::domain(&signals, DEFAULT_DOMAIN));
        let provenance = tree.known.provenance.as_deref().map(Provenance::decode).transpose()?;
        let levels = || DnaError::Missing { path: "root.law".into(), field: "a level of the queue (fields 4 to 7)" };
        let law = tree.known.law.as_ref().map(|law| law.law().ok_or_else(levels)).transpose()?;
        let root = read_node(tree, &signals, &domain, "root")?;
        let table = RuleTable { signals, root, law, provenance };
        FlatTable::new(&table)?;
        Ok(table)
    }

    /// Writes a `.dna` file, with a digest of it. What was read and not changed is written as it was, with or without.
    #[must_use]
    pub fn to_dna(&self) -> Vec<u8> {
        let mut tree = write_node(&self.root, &self.signals);
        if let Some(p) = &self.provenance {
            tree.known.provenance = Some(p.encode_to_vec());
            // The authors' tools print these.
            tree.known.config = p.config.as_ref().map(Message::encode_to_vec).or(tree.known.config);
            tree.known.optimizer = p.optimizer.as_ref().map(Message::encode_to_vec).or(tree.known.optimizer);
        }
        tree.known.law = self.law.as_ref().map(LawMessage::of);
        let read = self.root.carried.as_deref().map(|carried| &carried.known);
        let without = |read: &proto::WhiskerTree| read.digest.is_none() && read.provenance == tree.known.provenance;
        if !read.is_some_and(without) {
            tree.known.digest = None;
            tree.known.digest = Some(digest(&tree.encode_to_vec()).into());
        }
        tree.encode_to_vec()
    }

    /// The networks that the authors' file says the table was designed for.
    #[must_use]
    pub fn config(&self) -> Option<proto::ConfigRange> {
        let carried = self.root.carried.as_ref()?;
        proto::ConfigRange::decode(carried.known.config.as_deref()?).ok()
    }
}

/// Refuses a file that says what it should hold and does not hold it. The authors' files do not say.
fn check_digest(tree: &proto::Tree) -> Result<(), DnaError> {
    let Some(written) = &tree.known.digest else { return Ok(()) };
    let mut rest = tree.clone();
    rest.known.digest = None;
    if *written == digest(&rest.encode_to_vec()) { Ok(()) } else { Err(DnaError::Damaged) }
}

/// The active axes; in old files without them, those of the first four that the domain has a bound for.
fn signals_of(tree: &proto::Tree) -> Result<Vec<Signal>, DnaError> {
    let missing = || DnaError::Missing { path: "root".into(), field: "domain (field 1)" };
    let domain = &tree.known.domain.as_ref().ok_or_else(missing)?.known;
    let upper = domain.upper.as_ref().map(|m| m.known.bounds).unwrap_or_default();
    if domain.active_axis.is_empty() {
        return Ok(TAGGED_AXES.into_iter().filter(|&s| upper[s as usize].is_some()).collect());
    }
    let named = domain
        .active_axis
        .iter()
        .map(|&a| Signal::ALL.into_iter().find(|s| s.axis() == a).ok_or(DnaError::UnknownAxis(a)));
    let mut signals = named.collect::<Result<Vec<_>, _>>()?;
    signals.sort_unstable();
    signals.dedup();
    Ok(signals)
}

/// The axis numbers that there are.
fn axes() -> String {
    Signal::ALL.map(|s| s.axis().to_string()).join(", ")
}

/// A node's box; a bound that is not there is the parent's.
fn read_cell(tree: &proto::Tree, signals: &[Signal], parent: &Cell) -> Cell {
    let mut cell = *parent;
    let range = tree.known.domain.as_ref().map(|d| &d.known);
    let bounds = |m: Option<&Option<Kept<proto::Memory>>>| {
        m.and_then(Option::as_ref).map(|m| m.known.bounds).unwrap_or_default()
    };
    let (lower, upper) = (bounds(range.map(|r| &r.lower)), bounds(range.map(|r| &r.upper)));
    for axis in signals.iter().map(|&s| s as usize) {
        cell.lower[axis] = lower[axis].unwrap_or(cell.lower[axis]);
        cell.upper[axis] = upper[axis].unwrap_or(cell.upper[axis]);
    }
    cell
}

fn read_node(mut tree: proto::Tree, signals: &[Signal], parent: &Cell, path: &str) -> Result<Node, DnaError> {
    let cell = read_cell(&tree, signals, parent);
    let children = std::mem::take(&mut tree.known.children);
    let kind = if !children.is_empty() {
        let nodes = children.into_iter().enumerate();
        let nodes = nodes.map(|(i, child)| read_node(child, signals, &cell, &format!("{path}.{i}")));
        NodeKind::Split(nodes.collect::<Result<_, _>>()?)
    } else if let Some(leaf) = &tree.known.leaf {
        let missing = |field| DnaError::Missing { path: path.into(), field };
        let w = &leaf.known;
        NodeKind::Leaf(Action {
            multiple: w.window_multiple.ok_or_else(|| missing("window_multiple (field 32)"))?,
            increment: w.window_increment.ok_or_else(|| missing("window_increment (field 31)"))?,
            intersend_ms: w.intersend.ok_or_else(|| missing("intersend (field 33)"))?,
        })
    } else {
        return Err(DnaError::EmptyNode(path.into()));
    };
    Ok(Node { cell, kind, carried: Some(Box::new(tree)) })
}

fn write_node(node: &Node, signals: &[Signal]) -> proto::Tree {
    let mut tree = match &node.carried {
        Some(carried) => (**carried).clone(),
        None => proto::Tree::from(proto::WhiskerTree {
            domain: Some(write_cell(&node.cell, signals)),
            ..Default::default()
        }),
    };
    match &node.kind {
        NodeKind::Split(children) => {
            tree.known.children = children.iter().map(|c| write_node(c, signals)).collect();
        }
        NodeKind::Leaf(action) => {
            let leaf = tree.known.leaf.get_or_insert_with(|| {
                let domain = Some(write_cell(&node.cell, signals));
                proto::Whisker { domain, ..Default::default() }.into()
            });
            leaf.known.window_increment = Some(action.increment);
            leaf.known.window_multiple = Some(action.multiple);
            leaf.known.intersend = Some(action.intersend_ms);
        }
    }
    tree
}

fn write_cell(cell: &Cell, signals: &[Signal]) -> Kept<proto::MemoryRange> {
    let point =
        |p: &Point| proto::Memory { bounds: Signal::ALL.map(|s| signals.contains(&s).then_some(p[s as usize])) };
    let active_axis = signals.iter().map(|s| s.axis()).collect();
    let (lower, upper) = (Some(point(&cell.lower).into()), Some(point(&cell.upper).into()));
    proto::MemoryRange { lower, upper, active_axis }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::first_signals;

    fn table() -> RuleTable {
        let action = Action { multiple: 0.9, increment: 5, intersend_ms: 1.0 };
        let mut table = RuleTable::single(&[Signal::AckEwma, Signal::RttRatio], action);
        table.split(0, &first_signals(&[0.0, 3.0, 1.5]), &[Signal::RttRatio]);
        table.provenance = Some(Provenance { model: "a model".into(), seed: 7, ..Provenance::default() });
        table
    }

    /// As the authors' tools read it, which pass over what they do not know.
    fn without_ours(bytes: &[u8]) -> proto::Tree {
        let mut tree = proto::Tree::decode(bytes).unwrap();
        (tree.known.digest, tree.known.provenance) = (None, None);
        tree
    }

    #[test]
    fn no_flipped_bit_gives_another_table() {
        let (table, bytes) = (table(), table().to_dna());
        assert_eq!(RuleTable::from_dna(&bytes).unwrap().to_dna(), bytes);
        let rules = |t: &RuleTable| (t.rules(), t.provenance.clone().map(|p| (p.model, p.seed)));
        let mut damaged = 0;
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match RuleTable::from_dna(&flipped) {
                // Where the digest itself became a field that nobody knows, all else is as it was.
                Ok(read) => assert_eq!(rules(&read), rules(&table), "bit {bit}"),
                Err(DnaError::Damaged) => damaged += 1,
                Err(_) => {}
            }
        }
        assert!(damaged > 4 * bytes.len(), "{damaged} of {} bits", 8 * bytes.len());
        assert!(DnaError::Damaged.to_string().starts_with("damaged, "));
    }

    #[test]
    fn a_changed_table_gets_its_own_digest() {
        let mut table = RuleTable::from_dna(&table().to_dna()).unwrap();
        table.set_action(1, Action { multiple: 0.5, increment: 0, intersend_ms: 2.0 });
        assert_eq!(RuleTable::from_dna(&table.to_dna()).unwrap().rules(), table.rules());
        // An action written by somebody else, who keeps the old digest: not the table that it was made of.
        let mut tree = proto::Tree::decode(&table.to_dna()[..]).unwrap();
        tree.known.children[0].known.leaf.as_mut().unwrap().known.intersend = Some(3.0);
        assert_eq!(RuleTable::from_dna(&tree.encode_to_vec()), Err(DnaError::Damaged));
    }

    #[test]
    fn a_file_without_a_digest_stays_without() {
        let foreign = without_ours(&table().to_dna()).encode_to_vec();
        let mut read = RuleTable::from_dna(&foreign).unwrap();
        assert_eq!(read.to_dna(), foreign);
        // Once a design has said how it was made, the file is ours.
        read.provenance = table().provenance;
        assert!(proto::Tree::decode(&read.to_dna()[..]).unwrap().known.digest.is_some());
    }

    #[test]
    fn a_split_that_was_moved_is_written_where_it_is() {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let mut table = RuleTable::single(&Signal::ALL[..4], action);
        table.split(0, &first_signals(&[1.0, 2.0, 1.5, 4.0]), &Signal::ALL[..2]);
        let mut read = RuleTable::from_dna(&table.to_dna()).unwrap();
        read.move_bound(Signal::AckEwma, 2.0, 2.5);
        let again = RuleTable::from_dna(&read.to_dna()).unwrap();
        assert_eq!(again.rules(), read.rules());
        assert!(again.rules().iter().any(|(cell, _)| cell.lower[1] == 2.5) && crate::FlatTable::new(&again).is_ok());
    }

    #[test]
    fn a_table_needs_signals() {
        let mut tree = without_ours(&RuleTable::single(&Signal::ALL[..1], table().rules()[0].1).to_dna());
        tree.known.domain = Some(proto::MemoryRange::default().into());
        let error = RuleTable::from_dna(&tree.encode_to_vec()).unwrap_err();
        assert_eq!(error.to_string(), "expected at least one signal that rules look at, got none");
    }
}
