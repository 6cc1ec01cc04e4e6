//! Scenarios on a real kernel: its TCP, between two network namespaces, over the simulator's own path run by the clock.
//!
//! What is between the two is [`exmachina_net::path::Topology`], the same code that evaluations simulate: the queue disciplines,
//! links, recordings, losses, delays and random streams of a scenario are those of its simulation, and only the ends differ.
//! When senders are on and off is drawn from the simulator's streams, too. A measured run gives the rows of a simulated one.
//!
//! Each run has namespaces without a name, which only its threads and sockets hold: they vanish with the process, however
//! that ends. Nothing outside them is touched.

#![cfg(target_os = "linux")]

mod account;
mod capture;
mod clock;
mod ends;
mod lateness;
mod link;
mod measure;
mod namespace;
mod pair;
mod possible;
mod segment;

pub use lateness::Lateness;
pub use measure::{Measured, Run, measure};
pub use possible::{KernelNames, check};
