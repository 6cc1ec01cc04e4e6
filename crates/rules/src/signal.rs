//! The congestion signals that a rule table may look at (Remy'13 §4.1, Tao'14 §3).

/// Number of signals.
pub const SIGNALS: usize = 6;

/// A value of every signal, indexed by `Signal as usize`; times in ms.
pub type Point = [f64; SIGNALS];

/// One axis of memory space. The discriminants are the axis numbers of `.dna` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// EWMA (weight 1/8) of the time between the sender timestamps echoed in successive ACKs, ms.
    SendEwma = 0,
    /// EWMA (weight 1/8) of the time between ACK arrivals, ms.
    AckEwma = 1,
    /// Latest RTT over the smallest RTT of this flow.
    RttRatio = 2,
    /// EWMA (weight 1/256) of the time between ACK arrivals, ms.
    SlowAckEwma = 3,
    /// Latest RTT less the smallest RTT of this flow, ms.
    RttDiff = 4,
    /// `ack_ewma` times the number of packets from the largest ACK to this one: the time that they take to drain, ms.
    QueueingDelay = 5,
}

impl Signal {
    /// Every signal, in axis order.
    pub const ALL: [Signal; SIGNALS] = [
        Signal::SendEwma,
        Signal::AckEwma,
        Signal::RttRatio,
        Signal::SlowAckEwma,
        Signal::RttDiff,
        Signal::QueueingDelay,
    ];

    /// The name used in model files and pictures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Signal::SendEwma => "send_ewma",
            Signal::AckEwma => "ack_ewma",
            Signal::RttRatio => "rtt_ratio",
            Signal::SlowAckEwma => "slow_ack_ewma",
            Signal::RttDiff => "rtt_diff",
            Signal::QueueingDelay => "queueing_delay",
        }
    }

    /// The signal of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Signal> {
        Signal::ALL.into_iter().find(|s| s.name() == name)
    }
}
