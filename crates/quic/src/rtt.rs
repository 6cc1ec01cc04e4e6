//! How long a path takes to answer: what a pause is measured by.

use std::time::Duration;

/// How long a receiver may hold an ACK back unless it says otherwise (RFC 9000 §18.2, `max_ack_delay`).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// The least that timers resolve (RFC 9002 §6.1.2, `kGranularity`).
const GRANULARITY: Duration = Duration::from_millis(1);
/// The RTT of a path that has not answered yet (RFC 9002 §6.2.2, `kInitialRtt`).
const INITIAL: Duration = Duration::from_millis(333);

/// The smoothed RTT and its variation (RFC 9002 §5.3). The stacks keep the same, but show no variation to a controller; the delay
/// of ACKs, which they take off, is not shown either, and stays in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rtt {
    smoothed: Option<Duration>,
    variation: Duration,
}

impl Rtt {
    pub(crate) const UNKNOWN: Rtt = Rtt { smoothed: None, variation: Duration::ZERO };

    /// RFC 9002 §5.3: the first sample is the smoothed RTT, and half of it the variation; later ones have weights of 1/8 and 1/4.
    pub(crate) fn update(&mut self, sample: Duration) {
        let Some(smoothed) = self.smoothed else {
            *self = Rtt { smoothed: Some(sample), variation: sample / 2 };
            return;
        };
        self.variation = (3 * self.variation + smoothed.abs_diff(sample)) / 4;
        self.smoothed = Some((7 * smoothed + sample) / 8);
    }

    /// None before the first sample.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// RFC 9002 §6.2.1: `PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay`. It is for QUIC what the retransmission
    /// timeout is for TCP.
    pub(crate) fn probe_timeout(&self) -> Duration {
        let Some(smoothed) = self.smoothed else { return INITIAL + 2 * INITIAL + MAX_ACK_DELAY };
        smoothed + (4 * self.variation).max(GRANULARITY) + MAX_ACK_DELAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn samples_are_smoothed_as_rfc_9002_does() {
        let mut rtt = Rtt::UNKNOWN;
        assert_eq!((rtt.smoothed(), rtt.probe_timeout()), (None, ms(1024)));
        rtt.update(ms(80));
        assert_eq!((rtt.smoothed(), rtt.probe_timeout()), (Some(ms(80)), ms(80 + 4 * 40 + 25)));
        rtt.update(ms(160));
        assert_eq!((rtt.smoothed(), rtt.probe_timeout()), (Some(ms(90)), ms(90 + 4 * 50 + 25)));
    }

    #[test]
    fn the_variation_counts_as_a_millisecond_at_least() {
        let mut rtt = Rtt::UNKNOWN;
        (0..200).for_each(|_| rtt.update(ms(40)));
        assert_eq!(rtt.probe_timeout(), ms(40 + 1 + 25));
    }
}
