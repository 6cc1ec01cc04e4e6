//! The network simulator: one engine for design and for evaluation (Remy'13 §4.3).
//!
//! No I/O but the parsing of scenario text, no clock, no globals: time and randomness are arguments.
//! Start at `engine.rs`; a scenario file becomes a [`network::Network`] in `scenario/`, a run becomes an
//! [`outcome::Outcome`], and `objective.rs` says what that is worth.

pub mod beside;
pub mod endpoint;
pub mod engine;
pub mod library;
pub mod mrg32k3a;
pub mod network;
pub mod normal;
pub mod objective;
pub mod observe;
pub mod omniscient;
pub mod outcome;
pub mod packet;
pub mod packet_trace;
pub mod path;
pub mod queue;
pub mod random;
pub mod record;
pub mod replay;
pub mod role;
pub mod scenario;
pub mod schedule;
pub mod scheme;
pub mod sender;
pub mod service;
pub mod time;
pub mod traffic;
pub mod transport;
pub mod world;
