//! The transport of evaluations: a reliable stream of packets as real stacks send it, under every scheme alike.
//!
//! A scheme says how much may be in flight and how fast it leaves. Everything else is here: what was lost
//! (`scoreboard.rs`, `scoreboard/detection.rs`, and today `rack.rs`, `probe.rs`), whether that was an error (`undo.rs`),
//! when it is sent again (`connection/recovery.rs`), how long to wait for an ACK (`rtt.rs`, `connection/timer.rs`), when the
//! receiver sends one (`receiver.rs`), ECN echo, the end of a transfer. What is the same in all stacks is set in `settings.rs`,
//! which stack it is in `stack.rs`.

mod connection;
mod ends;
mod linux_rtt;
pub mod ns2;
mod pacing;
mod polled;
mod probe;
mod rack;
mod rational_remy13;
mod rational_tao14;
mod receiver;
mod rtt;
mod sack_blocks;
mod scoreboard;
#[cfg(test)]
mod scripts;
mod settings;
mod stack;
mod steps;
mod undo;

pub use connection::Connection;
pub use ends::Ends;
pub use rtt::RttEstimator;
pub use sack_blocks::SACK_BLOCK_BYTES;
pub use settings::{Connections, HEADER_BYTES, Opening, Preset, Settings};
pub use stack::{LossThreshold, Modular, Recovery, Repair, RtoFloor, RttSamples, Stack, TimerSettings};
