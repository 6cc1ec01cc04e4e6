#![doc = include_str!("../README.md")]

mod beginning;
#[cfg(any(feature = "noq", feature = "quinn"))]
mod controller;
mod flow;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;
mod rtt;

#[cfg(any(feature = "noq", feature = "quinn"))]
pub use controller::{TableConfig, TableController};
pub use flow::Flow;
