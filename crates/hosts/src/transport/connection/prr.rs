//! Proportional rate reduction (RFC 9937, which took the place of RFC 6937): how much may be sent in fast recovery.
//!
//! The window is what is in flight and what the present ACK lets go beside it. While more is in flight than the scheme's
//! new window, a part of what is delivered goes again; at or below it, as much as is delivered, and one packet more
//! only where the ACK shows that repairs arrive.

/// What an ACK of fast recovery says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Packets that it tells to have arrived.
    pub(super) delivered: u32,
    /// It moves the oldest packet outstanding.
    pub(super) advances: bool,
    /// Packets declared lost on it.
    pub(super) lost: u32,
    /// Packets in flight after it.
    pub(super) in_flight: u32,
}

/// One recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// RecoverFS: packets in flight when the recovery began.
    flight: u32,
    /// `prr_delivered`: packets delivered since.
    delivered: u32,
    /// `prr_out`: packets sent since.
    sent: u32,
    /// Packets that may be in flight now.
    pub(super) window: u32,
}

impl Prr {
    /// The beginning of a recovery (RFC 9937 §6.1). `flight` is the packets outstanding but those that earlier ACKs told to
    /// have arrived, with those that the ACK that begins it tells of.
    pub(super) fn new(flight: u32) -> Prr {
        Prr { flight: flight.max(1), delivered: 0, sent: 0, window: 0 }
    }

    /// How much may go (RFC 9937 §6.2): on every ACK of the recovery, the one that begins it included and the one that ends it
    /// not. `target` is ssthresh, the window that the scheme wants in the end.
    pub(super) fn on_ack(&mut self, ack: Progress, target: u32) {
        // "If DeliveredData is 0, return": but the first repair must go, below.
        if ack.delivered == 0 && self.window > 0 {
            return;
        }
        self.delivered += ack.delivered;
        let mut may = if ack.in_flight > target {
            // sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            let share = (u64::from(self.delivered) * u64::from(target)).div_ceil(u64::from(self.flight));
            (share as u32).saturating_sub(self.sent)
        } else {
            // PRR-CRB: sndcnt = MAX(prr_delivered - prr_out, DeliveredData); PRR-SSRB: one more on a SafeACK, which is one
            // that advances SND.UNA and indicates no further loss. MIN(ssthresh - inflight, sndcnt).
            let conserved = self.delivered.saturating_sub(self.sent).max(ack.delivered);
            let safe = ack.advances && ack.lost == 0;
            (conserved + u32::from(safe)).min(target - ack.in_flight)
        };
        // "Force a fast retransmit upon entering recovery."
        if self.sent == 0 {
            may = may.max(1);
        }
        self.window = ack.in_flight + may;
    }

    /// A packet goes, new or again, and counts in prr_out (RFC 9937 §6.3).
    pub(super) fn on_send(&mut self) {
        self.sent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recovery from a flight, and what may be in flight.
    struct Recovery {
        prr: Prr,
        in_flight: u32,
        target: u32,
    }

    impl Recovery {
        fn new(flight: u32, in_flight: u32, target: u32) -> Recovery {
            Recovery { prr: Prr::new(flight), in_flight, target }
        }

        /// An ACK, after which all that may be sent is: how many that is.
        fn ack(&mut self, delivered: u32, advances: bool, lost: u32) -> u32 {
            self.in_flight -= delivered + lost;
            self.prr.on_ack(Progress { delivered, advances, lost, in_flight: self.in_flight }, self.target);
            let go = self.prr.window.saturating_sub(self.in_flight);
            (0..go).for_each(|_| self.prr.on_send());
            self.in_flight += go;
            go
        }
    }

    #[test]
    fn one_loss_of_twenty_sends_a_packet_for_every_two_acks() {
        // RFC 9937's first example: of 20 packets the first is lost, each of the others comes back alone; the third SACK begins
        // recovery, and before it limited transmit sent two, so that 20 are in flight still.
        let mut recovery = Recovery::new(20, 20, 10);
        let sent: Vec<u32> = [(1, 1)].into_iter().chain([(1, 0); 17]).map(|(d, l)| recovery.ack(d, false, l)).collect();
        // The last two are at the target: one out for one in.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1]);
        assert_eq!(recovery.in_flight, 10, "20 less the one lost less 18 that arrived and 9 sent");
    }

    #[test]
    fn a_burst_of_losses_is_repaired_as_fast_as_packets_arrive_until_repairs_do() {
        // 40 of 50 are lost at once: 9 in flight, the target is 35. One goes for each that arrives: nothing shows yet that there
        // is room for more.
        let mut recovery = Recovery::new(50, 50, 35);
        assert_eq!(recovery.ack(1, false, 40), 1);
        assert_eq!((0..5).map(|_| recovery.ack(1, false, 0)).sum::<u32>(), 5);
        // Repairs arrive in order: slow start.
        assert_eq!((0..5).map(|_| recovery.ack(1, true, 0)).sum::<u32>(), 10);
        // One of them was lost: as many as arrive, no more.
        assert_eq!((recovery.ack(1, true, 1), recovery.ack(1, false, 0)), (1, 1));
        assert!(recovery.in_flight < 35);
    }

    #[test]
    fn never_more_than_the_target_and_one_at_least_to_begin() {
        let mut recovery = Recovery::new(12, 12, 6);
        assert_eq!(recovery.ack(1, false, 4), 1, "7 are in flight");
        // Six of them arrive in one ACK: back to the target at most.
        assert!(recovery.ack(6, true, 0) <= 5 && recovery.in_flight <= 6);
        let mut recovery = Recovery::new(12, 12, 6);
        assert_eq!(recovery.ack(0, false, 1), 1, "a timer began it");
        assert_eq!(recovery.ack(0, false, 0), 0);
    }
}
