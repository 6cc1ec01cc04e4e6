//! Runs: who sends on what network, what came of it, what that is worth, and what could have been had.
//!
//! A [`exmachina_scenario::Specimen`] is run by a [`assignment::Assignment`] in the design simulator, a
//! [`exmachina_scenario::world::World`] by its own schemes on the transports of evaluations ([`runs`]).

pub mod assignment;
pub mod beside;
pub mod design_simulator;
pub mod disturbance;
#[cfg(test)]
mod model;
pub mod omniscient;
pub mod packet_log;
pub mod record;
pub mod reference;
pub mod runs;
pub mod scoring;
pub mod sender;
pub mod units;
pub mod usage;
pub mod worth;
