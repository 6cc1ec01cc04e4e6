//! A flat table as bytes, for another process of the same program: the table that is made of them is the same to the last bit.
//!
//! Boxes stand apart from actions. Tables that are compared mostly have their boxes in common, which are then sent, and made a
//! grid of, once.

use prost::Message;

use crate::cell::Cell;
use crate::flat::{FlatTable, Plane};
use crate::law_message::LawMessage;
use crate::rule::Rule;
use crate::signal::SIGNALS;

/// What tables have in common that differ in actions alone.
#[derive(Clone, PartialEq, Message)]
struct Shape {
    /// Lower and upper bounds of each rule's box of the first four signals.
    #[prost(double, repeated, tag = "1")]
    bounds: Vec<f64>,
    /// Where each plane is.
    #[prost(double, repeated, tag = "2")]
    places: Vec<f64>,
    #[prost(uint32, repeated, tag = "3")]
    axes: Vec<u32>,
    /// What stands below each plane, and from it on.
    #[prost(sint32, repeated, tag = "4")]
    next: Vec<i32>,
    #[prost(sint32, tag = "5")]
    root: i32,
    /// Lower and upper bounds of the boxes of all signals, where rules look at more than the first four.
    #[prost(double, repeated, tag = "6")]
    boxes: Vec<f64>,
}

/// What the rules of a table do.
#[derive(Clone, PartialEq, Message)]
struct Actions {
    #[prost(double, repeated, tag = "1")]
    multiples: Vec<f64>,
    #[prost(double, repeated, tag = "2")]
    increments: Vec<f64>,
    #[prost(uint64, repeated, tag = "3")]
    intersends_ns: Vec<u64>,
    /// What flows follow in place of the rules.
    #[prost(message, optional, tag = "4")]
    law: Option<LawMessage>,
}

impl FlatTable {
    /// Where its rules hold, as bytes.
    #[must_use]
    pub fn shape_bytes(&self) -> Vec<u8> {
        let shape = Shape {
            bounds: self.rules.iter().flat_map(|rule| [rule.lower, rule.upper]).flatten().collect(),
            places: self.planes.iter().map(|plane| plane.at).collect(),
            axes: self.planes.iter().map(|plane| plane.axis).collect(),
            next: self.planes.iter().flat_map(|plane| plane.next).collect(),
            root: self.root,
            boxes: self.boxes.iter().flat_map(|cell| [cell.lower, cell.upper]).flatten().collect(),
        };
        shape.encode_to_vec()
    }

    /// What its rules do, as bytes.
    #[must_use]
    pub fn action_bytes(&self) -> Vec<u8> {
        let actions = Actions {
            multiples: self.rules.iter().map(|rule| rule.multiple).collect(),
            increments: self.rules.iter().map(|rule| rule.increment).collect(),
            intersends_ns: self.rules.iter().map(|rule| rule.intersend_ns).collect(),
            law: self.law.as_ref().map(LawMessage::of),
        };
        actions.encode_to_vec()
    }

    /// A table of rules that hold there, and do nothing yet; none if these are no such bytes.
    #[must_use]
    pub fn of_shape_bytes(bytes: &[u8]) -> Option<FlatTable> {
        let shape = Shape::decode(bytes).ok()?;
        let rules = shape.bounds.as_chunks::<4>().0.as_chunks::<2>().0.iter();
        let rules = rules.map(|&[lower, upper]| Rule { lower, upper, multiple: 0.0, increment: 0.0, intersend_ns: 0 });
        let next = shape.next.as_chunks::<2>().0.iter();
        let planes = shape.places.iter().zip(&shape.axes).zip(next);
        let planes = planes.map(|((&at, &axis), &next)| Plane { at, axis, next });
        let boxes = shape.boxes.as_chunks::<SIGNALS>().0.as_chunks::<2>().0.iter();
        let boxes = boxes.map(|&[lower, upper]| Cell { lower, upper });
        Some(FlatTable::of_parts(rules.collect(), planes.collect(), shape.root, boxes.collect()))
    }

    /// The same rules, doing what these bytes say; none if they do not say it for each.
    #[must_use]
    pub fn with_action_bytes(&self, bytes: &[u8]) -> Option<FlatTable> {
        let Actions { multiples, increments, intersends_ns, law } = Actions::decode(bytes).ok()?;
        let count = self.rules.len();
        if [multiples.len(), increments.len(), intersends_ns.len()] != [count; 3] {
            return None;
        }
        let mut table = self.clone();
        for (i, rule) in table.rules.iter_mut().enumerate() {
            (rule.multiple, rule.increment, rule.intersend_ns) = (multiples[i], increments[i], intersends_ns[i]);
        }
        table.law = match law {
            Some(law) => Some(law.law()?),
            None => None,
        };
        table.paces = table.all_pace();
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::signal::{Signal, first_signals};
    use crate::table::RuleTable;

    fn grown(signals: &[Signal]) -> FlatTable {
        let mut table = RuleTable::single(signals, Action { multiple: 0.9, increment: 3, intersend_ms: 0.123_456 });
        for (rule, at) in [(0, [0.1, 0.7, 1.5, 0.3]), (2, [0.3, 1.1, 1.7, 0.9]), (5, [1.0 / 3.0, 2.0, 1.2, 4.0])] {
            table.split(rule % table.len(), &first_signals(&at), signals);
        }
        table.set_action(1, Action { multiple: 1.0 / 3.0, increment: -4, intersend_ms: 0.0 });
        FlatTable::new(&table).unwrap()
    }

    #[test]
    fn what_is_sent_is_what_comes_out() {
        for signals in [&Signal::ALL[..4], &Signal::ALL[..]] {
            let table = grown(signals);
            let shape = FlatTable::of_shape_bytes(&table.shape_bytes()).unwrap();
            let same = shape.with_action_bytes(&table.action_bytes()).unwrap();
            // As text, because a NaN equals nothing: planes, boxes, actions and the grid.
            assert_eq!(format!("{same:?}"), format!("{table:?}"));
        }
    }

    #[test]
    fn what_is_no_table_is_none() {
        let table = grown(&Signal::ALL[..4]);
        assert!(FlatTable::of_shape_bytes(b"no shape").is_none());
        assert!(table.with_action_bytes(b"no actions").is_none());
        let few = FlatTable::new(&RuleTable::single(
            &[Signal::RttRatio],
            Action { multiple: 1.0, increment: 0, intersend_ms: 1.0 },
        ));
        assert!(table.with_action_bytes(&few.unwrap().action_bytes()).is_none());
    }
}
