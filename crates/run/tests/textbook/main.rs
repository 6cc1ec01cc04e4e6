//! The whole engine against the textbook: long flows whose windows, queues and rates follow from published rules.
//!
//! Each test states its closed form or the paper's claim, and how far from it a packet simulator may be.

mod delay_based;
mod loss_based;
mod paths;
mod probe;
mod queues;
mod rate_based;
mod transport;

#[allow(dead_code)]
#[path = "../worlds/contenders.rs"]
mod contenders;
