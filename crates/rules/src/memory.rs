//! What a RemyCC sender remembers of its ACKs (Remy'13 §4.1; slow_ack_ewma: Tao'14 §3).

use crate::signal::{self, Point, SIGNALS, Signal};

/// Weight of a new sample in the fast averages (Remy'13 §4.1).
pub const FAST_WEIGHT: f64 = 1.0 / 8.0;
/// Weight of a new sample in the slow average (Tao'14 §3).
pub const SLOW_WEIGHT: f64 = 1.0 / 256.0;
/// Weight of a packet in the share of those that are lost.
pub const LOSS_WEIGHT: f64 = 1.0 / 256.0;
/// Nanoseconds to milliseconds.
const MS_PER_NS: f64 = 1e-6;

/// The memory of one flow. Times come in nanoseconds of any clock; signals are in milliseconds, and always finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The four signals that most tables use, in axis order: one SIMD register.
    fast: [f64; 4],
    last_sent_ns: u64,
    last_received_ns: u64,
    /// The smallest RTT, ns; infinite before the first ACK. Whole numbers, which are exact up to 104 days.
    min_rtt_ns: f64,
    /// Packets from the largest ACK to the latest one.
    advance: u32,
    /// The share of packets that were lost, as of the latest loss.
    loss: f64,
    /// Packets acknowledged since then.
    since_loss: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            fast: [0.0; 4],
            last_sent_ns: 0,
            last_received_ns: 0,
            min_rtt_ns: f64::INFINITY,
            advance: 0,
            loss: 0.0,
            since_loss: 0,
        }
    }
}

impl Memory {
    /// Takes in the ACK of a packet sent at `sent_ns` that arrived at `received_ns`, both read off a clock that ticks every
    /// `tick_ns` (1: it shows nanoseconds); `advance` packets after the largest ACK before it (1 where nothing was lost). The
    /// first ACK of a flow only sets the time stamps and the smallest RTT.
    ///
    /// An RTT is at least one tick, as in stacks that count it in ticks: a clock that shows the same time twice has measured
    /// less than a tick, not nothing. So the ratio is 1 as long as all RTTs stay below a tick, never below 1, and always
    /// a number. RTTs are counted so where the clock was set back meanwhile, too.
    #[inline(always)]
    pub fn on_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64, advance: u32) {
        let rtt = rtt_ns(sent_ns, received_ns, tick_ns);
        if self.min_rtt_ns == f64::INFINITY {
            self.min_rtt_ns = rtt;
            self.keep(sent_ns, received_ns, advance);
        } else {
            self.on_later_ack(sent_ns, received_ns, rtt, advance);
        }
    }

    /// The same for any ACK but the first of a flow.
    #[inline(always)]
    pub(crate) fn on_later_ack(&mut self, sent_ns: u64, received_ns: u64, rtt: f64, advance: u32) {
        // No NaN is among them, so that this is the smaller.
        self.min_rtt_ns = if rtt < self.min_rtt_ns { rtt } else { self.min_rtt_ns };
        let sent = sent_ns.wrapping_sub(self.last_sent_ns) as i64 as f64;
        let received = received_ns.wrapping_sub(self.last_received_ns) as i64 as f64;
        // A weight of 1 keeps the ratio as it is, so that all four go through the same two operations.
        let ratio = rtt / self.min_rtt_ns;
        let sample = [sent, received, ratio, received];
        const NEW: [f64; 4] = [FAST_WEIGHT * MS_PER_NS, FAST_WEIGHT * MS_PER_NS, 1.0, SLOW_WEIGHT * MS_PER_NS];
        const OLD: [f64; 4] = [1.0 - FAST_WEIGHT, 1.0 - FAST_WEIGHT, 0.0, 1.0 - SLOW_WEIGHT];
        for i in 0..4 {
            self.fast[i] = OLD[i] * self.fast[i] + NEW[i] * sample[i];
        }
        self.keep(sent_ns, received_ns, advance);
    }

    #[inline(always)]
    fn keep(&mut self, sent_ns: u64, received_ns: u64, advance: u32) {
        self.last_sent_ns = sent_ns;
        self.last_received_ns = received_ns;
        self.advance = advance;
        self.since_loss += 1;
    }

    /// Takes in that so many packets were lost; before the ACK that shows it.
    #[inline(always)]
    pub fn on_loss(&mut self, packets: u32) {
        self.loss = share_after(self.loss, self.since_loss, packets);
        self.since_loss = 0;
    }

    /// The share of packets that were lost: of all whose fate is known, averaged with weight 1/256. A flow begins with 0.
    #[must_use]
    pub fn loss_share(&self) -> f64 {
        // What each packet that arrived takes off it is reckoned here, so that ACKs need not do so.
        share_after(self.loss, self.since_loss, 0)
    }

    /// Whether there was an ACK.
    pub(crate) fn has_begun(&self) -> bool {
        self.min_rtt_ns != f64::INFINITY
    }

    /// When the latest packet acknowledged was sent and its ACK arrived; none before a flow's first ACK.
    #[inline]
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.has_begun().then(|| self.latest())
    }

    /// The same where there was one.
    #[inline(always)]
    pub(crate) fn latest(&self) -> (u64, u64) {
        (self.last_sent_ns, self.last_received_ns)
    }

    /// Multiplies the averages of times.
    pub(crate) fn scale_averages(&mut self, factor: f64) {
        for signal in [Signal::SendEwma, Signal::AckEwma, Signal::SlowAckEwma] {
            let average = &mut self.fast[signal as usize];
            *average = (*average * factor).min(f64::MAX);
        }
    }

    /// One with these first four signals, whatever they are.
    #[cfg(test)]
    pub(crate) fn of(fast: [f64; 4]) -> Memory {
        Memory { fast, min_rtt_ns: 1.0, advance: 1, ..Memory::default() }
    }

    /// The first four signals, in axis order.
    #[must_use]
    #[inline(always)]
    pub fn fast(&self) -> &[f64; 4] {
        &self.fast
    }

    /// The signals that few tables use, in axis order. Zero until the second ACK, like the others.
    #[must_use]
    #[inline]
    pub fn rare(&self) -> [f64; SIGNALS - signal::FIRST_SIGNALS] {
        if self.fast[2] == 0.0 {
            return Default::default();
        }
        // An RTT that is taken for a tick, being less, is the smallest.
        let rtt = self.last_received_ns.wrapping_sub(self.last_sent_ns) as i64 as f64;
        let diff = (rtt - self.min_rtt_ns).max(0.0) * MS_PER_NS;
        [diff, self.fast[Signal::AckEwma as usize] * f64::from(self.advance), self.loss_share()]
    }

    /// All the signals.
    #[must_use]
    pub fn point(&self) -> Point {
        let mut point = signal::first_signals(&self.fast);
        point[signal::FIRST_SIGNALS..].copy_from_slice(&self.rare());
        point
    }
}

/// A share of losses, after so many packets that arrived, and then so many that were lost. By value, so that a memory may stay in
/// registers.
#[cold]
#[inline(never)]
fn share_after(share: f64, arrived: u64, lost: u32) -> f64 {
    if share == 0.0 && lost == 0 {
        return 0.0;
    }
    let share = share * libm::pow(1.0 - LOSS_WEIGHT, arrived as f64);
    1.0 - (1.0 - share) * libm::pow(1.0 - LOSS_WEIGHT, f64::from(lost))
}

/// An RTT as a memory has it.
#[inline(always)]
pub(crate) fn rtt_ns(sent_ns: u64, received_ns: u64, tick_ns: u64) -> f64 {
    // Signed, because that is the conversion that processors have.
    (received_ns.wrapping_sub(sent_ns) as i64 as f64).max(tick_ns.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn first_ack_only_initialises() {
        let mut m = Memory::default();
        m.on_ack(5 * MS, 105 * MS, 1, 1);
        assert_eq!(m.point(), [0.0; SIGNALS]);
    }

    #[test]
    fn second_ack_gives_an_eighth_of_its_sample() {
        let mut m = Memory::default();
        m.on_ack(0, 100 * MS, 1, 1);
        m.on_ack(8 * MS, 116 * MS, 1, 1);
        assert_eq!(m.point(), signal::first_signals(&[1.0, 2.0, 1.08, 16.0 / 256.0, 8.0, 2.0]));
    }

    #[test]
    fn averages_settle_on_the_spacing() {
        let mut m = Memory::default();
        for i in 0..5000 {
            m.on_ack(i * 3 * MS, i * 3 * MS + 50 * MS, 1, 1);
        }
        let [send, ack, ratio, slow] = *m.fast();
        assert!((send - 3.0).abs() < 1e-9 && (ack - 3.0).abs() < 1e-9 && (slow - 3.0).abs() < 1e-6);
        assert_eq!(ratio, 1.0);
    }

    /// RTTs of 4 and 12 ms on a clock of 10 ms read 0 or 10, and 10 or 20.
    #[test]
    fn an_rtt_below_a_tick_counts_as_one() {
        let ratio = |acks: &[(u64, u64)]| {
            let mut m = Memory::default();
            acks.iter().for_each(|&(sent, received)| m.on_ack(sent * MS, received * MS, 10 * MS, 1));
            m.fast()[Signal::RttRatio as usize]
        };
        assert_eq!(
            (ratio(&[(0, 0), (10, 10)]), ratio(&[(0, 0), (10, 20)]), ratio(&[(0, 10), (20, 20)])),
            (1.0, 1.0, 1.0)
        );
        assert_eq!((ratio(&[(0, 0), (10, 30)]), ratio(&[(0, 0), (10, 110)])), (2.0, 10.0));
        // What no clock shows: an ACK before its packet, and a caller that knows no tick.
        assert_eq!((ratio(&[(20, 0), (30, 30)]), ratio(&[(0, 0), (30, 10)])), (1.0, 1.0));
        let mut m = Memory::default();
        (0..2).for_each(|_| m.on_ack(7, 7, 0, 1));
        assert_eq!(m.point(), signal::first_signals(&[0.0, 0.0, 1.0]));
    }

    /// Packet by packet, as the average is defined.
    #[test]
    fn the_share_of_losses_is_an_average_over_packets() {
        let (mut m, mut share) = (Memory::default(), 0.0);
        for i in 0..3000_u64 {
            let lost = if i % 10 == 9 { 1 + i as u32 % 3 } else { 0 };
            if lost > 0 {
                m.on_loss(lost);
            }
            m.on_ack(i * MS, i * MS + 50 * MS, 1, 1 + lost);
            (0..lost).for_each(|_| share += LOSS_WEIGHT * (1.0 - share));
            share -= LOSS_WEIGHT * share;
            assert!((m.loss_share() - share).abs() < 1e-12, "{i}: {share}");
            assert_eq!(m.point()[Signal::LossRate as usize], if i == 0 { 0.0 } else { m.loss_share() });
        }
        assert!((share - 0.17).abs() < 0.03, "{share}");
        m.on_loss(u32::MAX);
        assert!(m.loss_share() <= 1.0);
    }

    proptest! {
        #[test]
        fn signals_are_finite_whatever_the_clock_shows(
            acks in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>()), 2..20),
        ) {
            let mut m = Memory::default();
            for (sent, received, tick, advance) in acks {
                m.on_ack(sent, received, tick, advance);
                prop_assert!(m.point().iter().all(|x| x.is_finite()), "{m:?}");
            }
            prop_assert!(m.fast()[Signal::RttRatio as usize] >= 1.0 && m.rare()[0] >= 0.0);
        }
    }
}
