//! RTT by RTT, as Linux's Vegas and Compound see a connection: packets sent in it, its smallest RTT, the smallest ever.

use exmachina_net::time::Duration;

use super::{Ack, Congestion};

/// An RTT that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Round {
    /// Packets sent in it.
    pub packets: u32,
    /// Its smallest RTT; none: fewer than three samples, too few to trust where ACKs are delayed.
    pub rtt: Option<Duration>,
}

/// The present RTT.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// First packet of the previous RTT, and of the present one, whose ACK ends it. Before the first ACK nobody knows: the
    /// packets of a new connection go on where those of the last one ended.
    una: u32,
    next: Option<u32>,
    samples: u32,
    least: Duration,
    /// The smallest RTT so far.
    base: Duration,
    /// Losses are being repaired; measurement begins anew with the ACK of this packet.
    resume_at: Option<u32>,
    after_recovery: AfterRecovery,
}

/// Which packets the first RTT after a recovery counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterRecovery {
    /// Those of the whole recovery with its own (kernels of the papers' day).
    All,
    /// Its own.
    Anew,
}

impl Rounds {
    pub fn new(after_recovery: AfterRecovery) -> Rounds {
        Rounds {
            una: 0,
            next: None,
            samples: 0,
            least: Duration::MAX,
            base: Duration::MAX,
            resume_at: None,
            after_recovery,
        }
    }

    /// Packets of a window of `packets` that wait in queues, in the sense of Brakmo and Peterson: the window less what
    /// the smallest RTT can hold at the rate of this one.
    pub fn queued(&self, packets: f64, rtt: Duration) -> f64 {
        packets * rtt.saturating_sub(self.base).as_nanos_f64() / rtt.max(Duration::NANOSECOND).as_nanos_f64()
    }

    /// As above, over the smallest RTT instead of the present one (Linux since 2.6.3x).
    pub fn queued_at_base(&self, packets: f64, rtt: Duration) -> f64 {
        packets * rtt.saturating_sub(self.base).as_nanos_f64() / self.base.max(Duration::NANOSECOND).as_nanos_f64()
    }

    pub fn sample(&mut self, rtt: Duration) {
        if rtt > Duration::ZERO {
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
    }

    /// A loss or a timeout: nothing is measured until it has been repaired.
    pub fn suspend(&mut self, event: &Congestion) {
        self.resume_at = Some(event.next_seq);
    }

    /// It has been repaired.
    pub fn recovered(&mut self) {
        self.resume_at = self.resume_at.map(|_| 0);
    }

    /// The smallest RTT is forgotten too (the path may have changed while idle).
    pub fn forget(&mut self) {
        self.base = Duration::MAX;
        self.resume_at = Some(0);
    }

    /// False while losses are being repaired.
    pub fn measuring(&self) -> bool {
        self.resume_at.is_none()
    }

    /// Measurement begins anew with this ACK.
    pub fn resumes(&mut self, ack: &Ack) -> bool {
        let resumes = self.resume_at.is_some_and(|at| !ack.in_recovery && ack.seq >= at);
        if resumes {
            self.resume_at = None;
            if self.next.is_none() {
                self.una = first(ack);
            }
            self.next = Some(ack.next_seq);
            if self.after_recovery == AfterRecovery::Anew {
                self.una = ack.next_seq.saturating_sub(ack.in_flight);
            }
            self.clear();
        }
        resumes
    }

    fn clear(&mut self) {
        self.samples = 0;
        self.least = Duration::MAX;
    }

    /// Whether this ACK ends an RTT, and what was seen in it.
    pub fn ended(&mut self, ack: &Ack) -> Option<Round> {
        let Some(next) = self.next else {
            (self.una, self.next) = (first(ack), Some(ack.next_seq));
            self.clear();
            return Some(Round { packets: 0, rtt: None });
        };
        if ack.seq < next {
            return None;
        }
        let round = Round { packets: next.saturating_sub(self.una), rtt: (self.samples > 2).then_some(self.least) };
        self.una = next;
        self.next = Some(ack.next_seq);
        self.clear();
        Some(round)
    }
}

/// The first packet that an ACK covers.
fn first(ack: &Ack) -> u32 {
    (ack.seq + 1).saturating_sub(ack.acked.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ns;

    fn ack(seq: u32, next_seq: u32) -> Ack {
        Ack { seq, next_seq, in_flight: next_seq - seq - 1, ..Ack::default() }
    }

    #[test]
    fn a_round_is_the_packets_of_one_rtt() {
        let mut rounds = Rounds::new(AfterRecovery::Anew);
        assert_eq!(rounds.ended(&ack(0, 4)), Some(Round { packets: 0, rtt: None }));
        for seq in 1..4 {
            rounds.sample(ns(100 + u64::from(seq)));
            assert_eq!(rounds.ended(&ack(seq, 4 + seq)), None);
        }
        assert_eq!(rounds.ended(&ack(4, 8)), Some(Round { packets: 4, rtt: Some(ns(101)) }));
        assert_eq!(rounds.queued(10.0, ns(202)), 5.0);
        assert_eq!(rounds.queued_at_base(10.0, ns(202)), 10.0);
    }

    #[test]
    fn a_connection_need_not_begin_with_packet_0() {
        let (mut rounds, mut later) = (Rounds::new(AfterRecovery::All), Rounds::new(AfterRecovery::All));
        for (seq, next) in [(0, 4), (1, 6), (2, 7), (3, 8), (4, 10), (10, 15)] {
            rounds.sample(ns(100));
            later.sample(ns(100));
            assert_eq!(rounds.ended(&ack(seq, next)), later.ended(&ack(9000 + seq, 9000 + next)), "{seq}");
        }
    }

    #[test]
    fn a_recovery_counts_as_one_round_only_where_asked_for() {
        for (after_recovery, packets) in [(AfterRecovery::Anew, 10), (AfterRecovery::All, 90)] {
            let mut rounds = Rounds::new(after_recovery);
            rounds.ended(&ack(0, 10));
            rounds.suspend(&Congestion { next_seq: 50, ..Congestion::default() });
            assert!(!rounds.measuring() && !rounds.resumes(&ack(49, 80)));
            assert!(rounds.resumes(&Ack { in_flight: 10, ..ack(50, 90) }) && rounds.measuring());
            assert_eq!(rounds.ended(&ack(90, 100)).unwrap().packets, packets);
        }
    }
}
