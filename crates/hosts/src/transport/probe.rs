//! Tail loss probes (RFC 8985 §7): a packet sent early to learn from its ACK what became of the last ones.

use exmachina_net::time::{Duration, Instant};

/// The longest that a receiver may keep an ACK back, as far as the sender knows (§7.2: TLP.max_ack_delay; Linux: 200 ms).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// The probe timer and the probe that is out.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// When a probe is to be sent.
    pub timer: Instant,
    /// The probe that is not answered yet: TLP.end_seq and TLP.is_retrans.
    out: Option<Out>,
}

#[derive(Clone, Copy, Debug)]
struct Out {
    end: u32,
    again: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Probe { timer: Instant::NEVER, out: None }
    }
}

impl Probe {
    /// Whether there is a probe that was not answered yet: there is but one at a time (§7.3).
    #[must_use]
    pub fn is_out(&self) -> bool {
        self.out.is_some()
    }

    /// §7.2, TLP_calc_PTO: the timer is set, for so many packets outstanding, and no later than the retransmission timer.
    pub fn schedule(&mut self, srtt: Duration, flight: u32, rto_at: Instant, now: Instant) {
        let after = match (srtt, flight) {
            (Duration::ZERO, _) => Duration::SECOND,
            (srtt, 1) => 2 * srtt + MAX_ACK_DELAY,
            (srtt, _) => 2 * srtt,
        };
        self.timer = now.saturating_add(after).min(rto_at);
    }

    /// §7.3: a probe goes; `end` is one more than the highest number sent, `again` whether it is a packet sent before.
    pub fn on_send(&mut self, end: u32, again: bool) {
        *self = Probe { timer: Instant::NEVER, out: Some(Out { end, again }) };
    }

    /// §7.4: an ACK of all packets before `next`, which may report one that the receiver had already. Whether a probe
    /// repaired a loss: its packet arrived once only, and nothing else tells of it.
    ///
    /// A receiver here always reports duplicates, so that §7.4.2's case of an ACK that repeats without saying why is
    /// none.
    pub fn on_ack(&mut self, next: u32, duplicate: Option<u32>) -> bool {
        let Some(Out { end, again }) = self.out.filter(|out| next >= out.end) else { return false };
        let needless = !again || duplicate.is_some_and(|seq| seq + 1 == end);
        let repaired = !needless && next > end;
        if needless || repaired {
            self.out = None;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_after_two_rtts_but_not_after_the_retransmission_timer() {
        let mut probe = Probe::default();
        let mut at = |srtt, flight, rto_at| {
            probe.schedule(srtt, flight, rto_at, Instant::from_nanos(1000));
            probe.timer
        };
        assert_eq!(at(Duration::from_nanos(100), 5, Instant::NEVER), Instant::from_nanos(1200));
        assert_eq!(at(Duration::from_nanos(100), 1, Instant::NEVER), Instant::from_nanos(1200) + MAX_ACK_DELAY);
        assert_eq!(at(Duration::from_nanos(100), 5, Instant::from_nanos(1150)), Instant::from_nanos(1150));
        assert_eq!(at(Duration::ZERO, 5, Instant::NEVER), Instant::from_nanos(1000) + Duration::SECOND);
    }

    #[test]
    fn a_repair_that_alone_arrived_shows_a_loss() {
        let sent = |again| {
            let mut probe = Probe::default();
            probe.on_send(10, again);
            probe
        };
        // New data: whatever comes, RACK sees it.
        let mut probe = sent(false);
        assert!(!probe.on_ack(9, None) && probe.is_out());
        assert!(!probe.on_ack(10, None) && !probe.is_out());
        // Both arrived.
        let mut probe = sent(true);
        assert!(!probe.on_ack(10, None) && probe.is_out(), "the second may be on its way");
        assert!(!probe.on_ack(10, Some(9)) && !probe.is_out());
        // Later packets are acknowledged, and no second came.
        let mut probe = sent(true);
        assert!(!probe.on_ack(10, None) && probe.on_ack(11, None) && !probe.is_out());
    }
}
