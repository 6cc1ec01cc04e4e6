//! For tests: instants and durations in ns, in few letters.

use exmachina_net::time::{Duration, Instant};

pub const fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

pub const fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}
