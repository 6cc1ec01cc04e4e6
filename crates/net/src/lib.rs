//! The physics of a network: time, random numbers, packets, traffic, queues, links, paths, and the event loop.
//!
//! No I/O, no clock, no globals: time and randomness are arguments. Who sends is somebody else's: [`engine::Engine`] runs
//! whatever is an [`endpoint::Endpoint`] on whatever is a [`path::Path`]. Start there.

pub mod endpoint;
pub mod engine;
pub mod file_error;
pub mod network;
mod normal;
pub mod observe;
pub mod on_time;
pub mod outcome;
pub mod packet;
pub mod path;
pub mod queue;
pub mod random;
pub mod rounds;
pub mod schedule;
pub mod service;
pub mod time;
mod tournament;
pub mod traffic;
