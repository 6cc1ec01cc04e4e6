//! Scenarios in real time: this kernel's TCP, or QUIC, over the simulator's own path run by the clock.
//!
//! What is between the hosts is [`exmachina_net::path::Topology`], the same code that evaluations simulate: the queue disciplines,
//! links, recordings, losses, delays and random streams of a scenario are those of its simulation, and only the ends differ.
//! When senders are on and off is drawn from the simulator's streams, too. A measured run gives the rows of a simulated one.
//!
//! `ends.rs` switches connections on and off and `link.rs` runs the path, whoever the hosts are: those of `kernel`, or of `quic`.

#![cfg(target_os = "linux")]

mod clock;
mod ends;
mod kernel;
mod lateness;
mod link;
mod measure;
mod quic;
mod stack;

pub use lateness::Lateness;
pub use measure::{Measured, Record, Run, measure};
pub use stack::{KernelNames, Stack, check};
