//! How late packets were that the link handed over: by how much the path in real time is not the one of the scenario.

use exmachina_net::time::Duration;

/// Of the packets of a run, by how much each was handed over after its time, ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lateness {
    /// Mean.
    pub mean_ms: f64,
    /// What one packet in a hundred exceeds.
    pub p99_ms: f64,
    /// What one packet in a thousand exceeds.
    pub p999_ms: f64,
    /// The largest.
    pub max_ms: f64,
}

impl Lateness {
    /// Of a run of which a packet was lost on this machine, and not on the path.
    pub const NEVER: Lateness =
        Lateness { mean_ms: f64::INFINITY, p99_ms: f64::INFINITY, p999_ms: f64::INFINITY, max_ms: f64::INFINITY };

    /// Of these packets; all 0 if there are none.
    #[must_use]
    pub fn of(mut late: Vec<Duration>) -> Lateness {
        if late.is_empty() {
            return Lateness::default();
        }
        late.sort_unstable();
        let beyond = |part: usize| late[late.len() - 1 - (late.len() - 1) / part].as_ms();
        let sum: f64 = late.iter().map(|late| late.as_ms()).sum();
        Lateness {
            mean_ms: sum / late.len() as f64,
            p99_ms: beyond(100),
            p999_ms: beyond(1000),
            max_ms: late[late.len() - 1].as_ms(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_in_a_hundred_is_later_than_the_percentile() {
        let late = (0..=1000).rev().map(Duration::from_millis).collect();
        let found = Lateness::of(late);
        assert_eq!(found, Lateness { mean_ms: 500.0, p99_ms: 990.0, p999_ms: 999.0, max_ms: 1000.0 });
        assert_eq!(Lateness::of(Vec::new()), Lateness::default());
    }
}
