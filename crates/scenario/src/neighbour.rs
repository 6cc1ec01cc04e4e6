//! Senders beside those that are designed for: cross-traffic of designs.

/// What a neighbour runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By RFC 9438, with HyStart++.
    Cubic,
    /// By RFC 5681 and 3465.
    NewReno,
    /// Version 3.
    Bbr,
}

/// A sender that is not under design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// What it runs.
    pub kind: Kind,
    /// Its minimum RTT without the packet's own transmission, ms.
    pub rtt_ms: f64,
}
