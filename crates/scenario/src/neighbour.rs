//! Senders beside those that are designed for: cross-traffic of designs.

use exmachina_net::network::FlowPlan;

/// What a neighbour runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As Linux 6 has it.
    Cubic,
    /// By RFC 5681 and 3465.
    NewReno,
    /// Version 3.
    Bbr,
}

/// A sender that is not under design.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// What it runs.
    pub kind: Kind,
    /// Its way, and when it has something to send.
    pub flow: FlowPlan,
}
