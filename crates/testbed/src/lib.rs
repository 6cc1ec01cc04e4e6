//! Scenarios on a real kernel: its TCP, between two network namespaces, over the simulator's own path run by the clock.
//!
//! What is between the two is [`exmachina_net::path::Topology`], the same code that evaluations simulate: the queue disciplines,
//! links, recordings, losses, delays and random streams of a scenario are those of its simulation, and only the ends differ.
//! When senders are on and off is drawn from the simulator's streams, too. A measured run gives the rows of a simulated one.
//!
//! Each run has namespaces without a name, which only its threads and sockets hold: they vanish with the process, however
//! that ends. Nothing outside them is touched.

#[cfg(target_os = "linux")]
mod account;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod lateness;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod pair;
mod possible;
#[cfg(target_os = "linux")]
mod segment;

#[cfg(target_os = "linux")]
pub use lateness::Lateness;
#[cfg(target_os = "linux")]
pub use measure::{Measured, Run, measure};
pub use possible::{KernelNames, check};
