//! RemyCC rule tables: what a sender remembers, what it does about it, and the `.dna` files that hold both.
//!
//! A leaf crate: it depends on no simulator, reads no clock and does no I/O, so that a transport can embed it alone.
//! A transport keeps one [`Controller`] per connection and tells it of every ACK; see `controller.rs`.
//!
//! Guarantees: a lookup never fails (memory outside the domain is clamped to it, whatever it holds), signals are numbers
//! whatever a clock shows, a table that was read is written back without loss, and no operation depends on anything but its
//! arguments.

mod action;
mod cell;
mod controller;
mod digest;
mod dna;
mod fixed;
mod flat;
mod grid;
mod law;
mod law_elsewhere;
mod law_flow;
mod law_level;
mod law_message;
#[cfg(test)]
mod law_path_tests;
mod law_sharing;
mod law_silence;
#[cfg(test)]
mod law_tests;
mod memory;
mod proto;
mod provenance;
mod rule;
mod signal;
mod streak;
mod table;
mod wire;

/// The files of [`LawFlow`], by name, which exports of laws to Rust consist of.
pub const LAW_FLOW: [(&str, &str); 4] = [
    ("law_flow.rs", include_str!("law_flow.rs")),
    ("law_level.rs", include_str!("law_level.rs")),
    ("law_sharing.rs", include_str!("law_sharing.rs")),
    ("law_silence.rs", include_str!("law_silence.rs")),
];

pub use action::{Action, MAX_INTERSEND_MS, MAX_MULTIPLE, MAX_WINDOW};
pub use cell::Cell;
pub use controller::{Controller, MOST_IN_ONE};
pub use digest::digest;
pub use dna::DnaError;
pub use fixed::{
    FixedAction, FixedPlane, FixedTable, MULTIPLE_UNITS, Moved, Quantised, RATIO_UNITS, TIME_UNITS_PER_MS,
};
pub use flat::FlatTable;
pub use law::{LAW_UNIT, LEVELS, Law, LawError};
pub use law_flow::LawFlow;
pub use memory::{FAST_WEIGHT, LOSS_WEIGHT, Memory, SLOW_WEIGHT};
pub use proto::{ConfigRange, OptimizationSetting, OptimizationSettings, Range};
pub use provenance::Provenance;
pub use rule::Rule;
pub use signal::{FIRST_SIGNALS, Point, SIGNALS, Signal, first_signals};
pub use streak::{LawStreak, Streak, TableStreak};
pub use table::{DEFAULT_DOMAIN, Node, NodeKind, RuleTable, TableError};
