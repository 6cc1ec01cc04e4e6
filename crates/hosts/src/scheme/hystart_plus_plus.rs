//! HyStart++ (RFC 9406): slow start that grows a quarter as fast once RTTs rise, and ends if they stay up for five rounds.

use exmachina_net::time::Duration;

use super::Ack;

/// §4.3, MIN_RTT_THRESH and MAX_RTT_THRESH: bounds of the rise in RTT that counts, ms.
const RISE_MS: (f64, f64) = (4.0, 16.0);
/// §4.3, MIN_RTT_DIVISOR: the share of the RTT that counts as a rise.
const RISE_DIVISOR: u64 = 8;
/// §4.3, N_RTT_SAMPLE: samples of a round before its smallest is believed.
const SAMPLES: u32 = 8;
/// §4.3, CSS_GROWTH_DIVISOR: how much slower conservative slow start grows.
const CSS_DIVISOR: f64 = 4.0;
/// §4.3, CSS_ROUNDS: rounds of conservative slow start, the one in which it began included.
const CSS_ROUNDS: u32 = 5;
/// §4.3, L: packets that one ACK may add where sending is not paced.
const ACK_LIMIT: u32 = 8;

/// Conservative slow start (§4.2).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The smallest RTT of the round in which it began: a smaller one says that the rise was none.
    baseline: Duration,
    /// Rounds that it has seen, the present one included.
    rounds: u32,
}

/// The state of one slow start.
#[derive(Clone, Debug)]
pub(super) struct HystartPlusPlus {
    /// The round ends with the ACK of this packet; none before the first ACK.
    end: Option<u32>,
    samples: u32,
    /// The smallest RTT of the present round and of the one before; `Instant::NEVER`: none.
    current: Duration,
    last: Duration,
    conservative: Option<Conservative>,
}

impl Default for HystartPlusPlus {
    fn default() -> Self {
        HystartPlusPlus { end: None, samples: 0, current: Duration::MAX, last: Duration::MAX, conservative: None }
    }
}

impl HystartPlusPlus {
    /// An ACK of slow start: packets by which the window grows; none: slow start is over.
    pub fn growth(&mut self, ack: &Ack) -> Option<f64> {
        if self.end.is_none_or(|end| ack.seq >= end) && self.end_round(ack) {
            return None;
        }
        if ack.rtt > Duration::ZERO {
            self.current = self.current.min(ack.rtt);
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            self.judge();
        }
        // §4.2: N is limited to L packets, and to a quarter of that in conservative slow start.
        let packets = f64::from(ack.acked.min(ACK_LIMIT));
        Some(if self.conservative.is_some() { packets / CSS_DIVISOR } else { packets })
    }

    /// §4.2: a round ends with the ACK of what was sent when it began. True: it was the last of conservative slow start.
    fn end_round(&mut self, ack: &Ack) -> bool {
        self.end = Some(ack.next_seq);
        self.last = self.current;
        self.current = Duration::MAX;
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds > CSS_ROUNDS
    }

    /// §4.2: enters conservative slow start where this round's least RTT is above the last one's, and leaves it where it
    /// is below that of the round in which it entered.
    fn judge(&mut self) {
        match self.conservative {
            Some(Conservative { baseline, .. }) if self.current < baseline => self.conservative = None,
            None if self.last != Duration::MAX => {
                let rise = (self.last / RISE_DIVISOR).clamp(Duration::from_ms(RISE_MS.0), Duration::from_ms(RISE_MS.1));
                if self.current >= self.last.saturating_add(rise) {
                    self.conservative = Some(Conservative { baseline: self.current, rounds: 1 });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 20 ACKs with these RTTs, ms: how much each round adds, and whether slow start goes on.
    fn rounds(rtts_ms: &[f64]) -> Vec<Option<f64>> {
        let mut hystart = HystartPlusPlus::default();
        rtts_ms
            .iter()
            .enumerate()
            .map(|(round, &rtt)| {
                (0..20).try_fold(0.0, |sum, i| {
                    let seq = 20 * round as u32 + i;
                    let ack = Ack { seq, next_seq: seq + 20, acked: 1, rtt: Duration::from_ms(rtt), ..Ack::default() };
                    hystart.growth(&ack).map(|packets| sum + packets)
                })
            })
            .collect()
    }

    #[test]
    fn five_rounds_of_conservative_slow_start_end_it_4_2() {
        // An eighth of 80 ms. The eighth sample enters: 7 whole packets, 13 quarters, then four rounds of 20 quarters.
        let mixed = 7.0 + 13.0 / 4.0;
        let full = rounds(&[80.0, 80.0, 90.0, 90.0, 90.0, 90.0, 90.0, 90.0]);
        assert_eq!(full[..7], [Some(20.0), Some(20.0), Some(mixed), Some(5.0), Some(5.0), Some(5.0), Some(5.0)]);
        assert_eq!(full[7], None);
        assert!(rounds(&[80.0, 89.9, 89.9, 89.9, 89.9, 89.9, 89.9]).iter().all(|round| *round == Some(20.0)));
    }

    #[test]
    fn a_rise_that_passes_resumes_slow_start_4_2() {
        let jitter = rounds(&[80.0, 100.0, 99.0, 80.0, 80.0, 80.0, 80.0, 80.0]);
        assert_eq!(jitter[1], Some(7.0 + 13.0 / 4.0));
        // Below the baseline at the eighth sample: 7 quarters, then whole packets again.
        assert_eq!(jitter[2], Some(7.0 / 4.0 + 13.0));
        assert!(jitter[3..].iter().all(|round| *round == Some(20.0)));
    }

    #[test]
    fn the_rise_that_counts_is_4_to_16_ms_4_3() {
        let enters = |from: f64, to: f64| rounds(&[from, to])[1] != Some(20.0);
        assert!(!enters(10.0, 13.9) && enters(10.0, 14.0));
        assert!(!enters(400.0, 415.9) && enters(400.0, 416.0));
    }

    #[test]
    fn an_ack_adds_eight_packets_at_most_4_3() {
        let ack = Ack { next_seq: 20, acked: 9, rtt: Duration::from_ms(80.0), ..Ack::default() };
        assert_eq!(HystartPlusPlus::default().growth(&ack), Some(8.0));
    }
}
