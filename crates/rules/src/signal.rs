//! The congestion signals that a rule table may look at (Remy'13 §4.1, Tao'14 §3).
//!
//! A signal is described here, and how it follows from ACKs in `memory.rs`; all else asks these two. The first four stand
//! in one SIMD register of the memory, and are what most tables look at: the others cost those tables nothing.

/// Number of signals.
pub const SIGNALS: usize = Signal::ALL.len();

/// Number of those that stand in the memory's register: the first.
pub const FIRST_SIGNALS: usize = 4;

/// A value of every signal, indexed by `Signal as usize`; times in ms.
pub type Point = [f64; SIGNALS];

/// A point with these values of the first signals, and 0 for the others.
#[must_use]
pub fn first_signals(values: &[f64]) -> Point {
    let mut point = [0.0; SIGNALS];
    point[..values.len()].copy_from_slice(values);
    point
}

/// One axis of memory space. The discriminants are places in a [`Point`].
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
    /// The share of this flow's packets that were lost: EWMA (weight 1/256) over packets whose fate is known.
    LossRate = 6,
}

/// What is to be known of a signal, apart from how it follows from ACKs.
#[derive(Clone, Copy, Debug)]
struct Description {
    /// In model files and pictures.
    name: &'static str,
    /// What it is, in words of a person.
    words: &'static str,
    /// It is a time: in ms, and as many times as long where all times are.
    is_time: bool,
    /// Where nothing waits and nothing is lost.
    at_rest: f64,
    /// Models that do not list signals look at it.
    by_default: bool,
    /// Its number among the active axes of `.dna` files.
    axis: i32,
    /// The field of its bounds in `.dna` files. The authors' are 21 to 26; ours are from 1000 on, which their tools pass over.
    field: u32,
}

impl Signal {
    /// Every signal, in axis order.
    pub const ALL: [Signal; 7] = [
        Signal::SendEwma,
        Signal::AckEwma,
        Signal::RttRatio,
        Signal::SlowAckEwma,
        Signal::RttDiff,
        Signal::QueueingDelay,
        Signal::LossRate,
    ];

    const fn description(self) -> Description {
        let time = Description {
            name: "",
            words: "",
            is_time: true,
            at_rest: 0.0,
            by_default: true,
            axis: self as i32,
            field: 21 + self as u32,
        };
        match self {
            Signal::SendEwma => Description { name: "send_ewma", words: "the time between sends, averaged", ..time },
            Signal::AckEwma => Description { name: "ack_ewma", words: "the time between ACKs, averaged", ..time },
            Signal::RttRatio => {
                Description { name: "rtt_ratio", words: "RTT over minimum RTT", is_time: false, at_rest: 1.0, ..time }
            }
            Signal::SlowAckEwma => {
                Description { name: "slow_ack_ewma", words: "the time between ACKs, averaged slowly", ..time }
            }
            Signal::RttDiff => {
                Description { name: "rtt_diff", words: "RTT less minimum RTT", by_default: false, ..time }
            }
            Signal::QueueingDelay => {
                let words = "an estimate of the queueing delay";
                Description { name: "queueing_delay", words, by_default: false, ..time }
            }
            Signal::LossRate => Description {
                name: "loss_rate",
                words: "the share of packets lost, averaged",
                is_time: false,
                by_default: false,
                axis: 1027,
                field: 1027,
                ..time
            },
        }
    }

    /// The name used in model files and pictures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// What it is, in words of a person.
    #[must_use]
    pub const fn words(self) -> &'static str {
        self.description().words
    }

    /// Whether it is a time, in ms; else it is a ratio.
    #[must_use]
    pub const fn is_time(self) -> bool {
        self.description().is_time
    }

    /// Its value where nothing waits and nothing is lost.
    #[must_use]
    pub const fn at_rest(self) -> f64 {
        self.description().at_rest
    }

    /// Those that rules look at where a model does not say which.
    #[must_use]
    pub fn defaults() -> Vec<Signal> {
        Signal::ALL.into_iter().filter(|s| s.description().by_default).collect()
    }

    /// Its number among the active axes of `.dna` files.
    pub(crate) const fn axis(self) -> i32 {
        self.description().axis
    }

    /// The field of its bounds in `.dna` files.
    pub(crate) const fn field(self) -> u32 {
        self.description().field
    }

    /// The signal of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Signal> {
        Signal::ALL.into_iter().find(|s| s.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::{Action, RuleTable};

    #[test]
    fn a_signal_of_ours_is_in_files_and_the_authors_readers_pass_over_it() {
        let both = [Signal::RttRatio, Signal::LossRate];
        let mut table = RuleTable::single(&both, Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 });
        let mut at = [0.0; SIGNALS];
        at[Signal::LossRate as usize] = 0.02;
        table.split(0, &at, &both);
        let bytes = table.to_dna();
        let read = RuleTable::from_dna(&bytes).unwrap();
        assert_eq!((read.rules(), read.signals, read.root.cell), (table.rules(), both.to_vec(), table.root.cell));
        let theirs = AuthorsTree::decode(&bytes[..]).unwrap();
        let upper = theirs.domain.unwrap().upper.unwrap();
        assert_eq!((upper.rtt_ratio, theirs.children.len()), (Some(163_840.0), 2));
    }

    /// As much of the authors' schema as it takes to meet a field of ours.
    #[derive(Clone, PartialEq, Message)]
    struct AuthorsTree {
        #[prost(message, optional, tag = "1")]
        domain: Option<AuthorsDomain>,
        #[prost(message, repeated, tag = "2")]
        children: Vec<AuthorsTree>,
    }

    #[derive(Clone, PartialEq, Message)]
    struct AuthorsDomain {
        #[prost(message, optional, tag = "12")]
        upper: Option<AuthorsMemory>,
        #[prost(int32, repeated, packed = "false", tag = "13")]
        active_axis: Vec<i32>,
    }

    #[derive(Clone, PartialEq, Message)]
    struct AuthorsMemory {
        #[prost(double, optional, tag = "23")]
        rtt_ratio: Option<f64>,
    }

    #[test]
    fn signals_are_told_apart_by_name_axis_and_field() {
        for (i, a) in Signal::ALL.into_iter().enumerate() {
            assert_eq!((a as usize, Signal::from_name(a.name())), (i, Some(a)));
            assert!(!a.words().is_empty());
            for b in &Signal::ALL[..i] {
                assert!(a.axis() != b.axis() && a.field() != b.field());
            }
        }
        assert_eq!(Signal::defaults(), Signal::ALL[..FIRST_SIGNALS]);
    }
}
