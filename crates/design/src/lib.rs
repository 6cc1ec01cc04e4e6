//! The design search: from a network model to a rule table (Remy'13 §4.3).
//!
//! `model.rs` is what a person asks for, `evaluate.rs` says what a table is worth there.

pub mod authors;
pub mod model;
pub mod search;
