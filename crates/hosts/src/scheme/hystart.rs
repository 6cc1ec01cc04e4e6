//! HyStart (Ha and Rhee 2008) as the Linux module has it: a sign in the ACKs of slow start that the path is full. What came
//! of it in RFC 9406 is in `hystart_plus_plus.rs`.

use exmachina_net::time::{Duration, Instant};

use super::Ack;

/// No exit below this window, packets.
const LOW_WINDOW: u32 = 16;
/// RTT samples at the beginning of a round whose smallest stands for the round (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// ACKs no further apart than this belong to one train, ms.
const TRAIN_GAP_MS: f64 = 2.0;
/// Bounds of the rise in RTT that counts as queueing, ms (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const RISE_MS: (f64, f64) = (4.0, 16.0);

/// Whose module it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Module {
    /// That of Linux 2.6.3x: the first samples stand for the round.
    #[default]
    Linux26,
    /// That of Linux 6: all samples do, and the first so many do not end it.
    Linux6,
}

/// The state of one round.
#[derive(Clone, Debug, Default)]
pub(super) struct Hystart {
    module: Module,
    round_began: Instant,
    last_ack: Instant,
    /// The round ends with the ACK of this packet.
    end: u32,
    samples: u32,
    smallest: Duration,
}

impl Hystart {
    /// That of a module.
    pub fn of(module: Module) -> Hystart {
        Hystart { module, ..Hystart::default() }
    }

    /// Looks at an ACK of slow start; true: the path is full, leave slow start.
    pub fn full(&mut self, ack: &Ack, cwnd: u32) -> bool {
        if ack.seq >= self.end {
            *self = Hystart {
                module: self.module,
                round_began: ack.received,
                last_ack: ack.received,
                end: ack.next_seq,
                samples: 0,
                smallest: Duration::MAX,
            };
        }
        if cwnd < LOW_WINDOW || ack.rtt == Duration::ZERO {
            return false;
        }
        self.train(ack) || self.delayed(ack)
    }

    /// A burst whose ACKs come back to back for half of the min RTT has filled the forward path.
    fn train(&mut self, ack: &Ack) -> bool {
        if ack.received.since(self.last_ack) > Duration::from_ms(TRAIN_GAP_MS) {
            return false;
        }
        self.last_ack = ack.received;
        ack.received.since(self.round_began) >= ack.min_rtt / 2
    }

    /// The RTTs of the round exceed the min RTT by an eighth, bounded.
    fn delayed(&mut self, ack: &Ack) -> bool {
        let is_early = self.samples < SAMPLES;
        self.samples += u32::from(is_early);
        if is_early || self.module == Module::Linux6 {
            self.smallest = self.smallest.min(ack.rtt);
        }
        let rise = (ack.min_rtt / 8).clamp(Duration::from_ms(RISE_MS.0), Duration::from_ms(RISE_MS.1));
        let may_end = self.samples == SAMPLES && !(is_early && self.module == Module::Linux6);
        may_end && self.smallest >= ack.min_rtt.saturating_add(rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(at_ms: f64, rtt_ms: f64, seq: u32) -> Ack {
        Ack {
            received: Instant::from_ms(at_ms),
            rtt: Duration::from_ms(rtt_ms),
            min_rtt: Duration::from_ms(80.0),
            seq,
            next_seq: seq + 32,
            ..Ack::default()
        }
    }

    #[test]
    fn eight_late_acks_end_slow_start() {
        // `HYSTART_DELAY_THRESH`: an eighth of 80 ms, once 8 samples are in.
        let late = |extra: f64, gap: f64| {
            let mut hystart = Hystart::default();
            (0..32).position(|i| hystart.full(&ack(gap * f64::from(i), 80.0 + extra, i), 32))
        };
        assert_eq!(late(10.0, 3.0), Some(7));
        assert_eq!(late(9.9, 3.0), None);
    }

    #[test]
    fn of_linux_6_the_ninth_late_ack_ends_it_unless_one_of_the_round_was_early() {
        let ended = |early: u32| {
            let mut hystart = Hystart::of(Module::Linux6);
            let rtt = |i| if i == early { 80.0 } else { 90.0 };
            (0..32).position(|i| hystart.full(&ack(3.0 * f64::from(i), rtt(i), i), 32))
        };
        assert_eq!(ended(99), Some(8));
        assert_eq!((ended(0), ended(8)), (None, None));
    }

    #[test]
    fn a_train_of_half_an_rtt_ends_slow_start() {
        let mut hystart = Hystart::default();
        let found = (0..32).position(|i| hystart.full(&ack(1.5 * f64::from(i), 80.0, i), 32));
        assert_eq!(found, Some(27), "40 ms at 1.5 ms apart");
        let mut small = Hystart::default();
        assert!((0..32).all(|i| !small.full(&ack(1.5 * f64::from(i), 100.0, i), 15)));
    }
}
