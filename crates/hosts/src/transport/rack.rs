//! RACK (RFC 8985 §6): how long a packet is waited for once one that was sent after it has arrived.
//!
//! The time is the RTT of the packet sent last that arrived, and a reordering window, which is zero until the path is seen to
//! reorder and a recovery is under way, and grows where repairs turn out to be needless. The packets themselves
//! are looked through in `scoreboard/by_time.rs`.

use exmachina_net::time::{Duration, Instant};

/// Recoveries without a needless repair after which the reordering window is the smallest again (§6.2, step 4).
const PERSIST: u32 = 16;

/// The state of RACK.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// RACK.rtt: of the packet sent last of those that the latest ACK reported.
    rtt: Duration,
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    multiple: u32,
    /// RACK.reo_wnd_persist.
    persist: u32,
    /// RACK.dsack_round: the window has grown in the round that ends when this packet is acknowledged.
    grown_until: Option<u32>,
    /// When packets will be taken for lost that have been overtaken and are waited for still.
    pub timer: Instant,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            rtt: Duration::ZERO,
            reordering_seen: false,
            multiple: 1,
            persist: PERSIST,
            grown_until: None,
            timer: Instant::NEVER,
        }
    }
}

/// What decides about the reordering window beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// The smallest RTT, and the smoothed one.
    pub min_rtt: Duration,
    pub srtt: Duration,
    /// Losses are being repaired.
    pub repairing: bool,
    /// RACK.segs_sacked: packets that arrived beyond a gap, and how many of them show a loss at once (DupThresh).
    pub sacked: u32,
    pub threshold: u32,
}

impl Rack {
    /// §6.2, steps 2 and 3: of the packets that an ACK reports to have arrived the last one sent was sent then; `reordered`:
    /// one that was never sent again is numbered below another that had arrived already.
    ///
    /// Every arrival is reported with its own time stamp here, so no RTT is ambiguous, and step 2's tests for that
    /// (echoes before the retransmission, RTTs below the minimum) have nothing to do.
    pub fn on_arrival(&mut self, sent: Instant, reordered: bool, now: Instant) {
        self.rtt = now - sent;
        self.reordering_seen |= reordered;
    }

    /// §6.2, step 4: the receiver reports a packet that it had already (DSACK, RFC 2883). The window grows once a round.
    pub fn on_duplicate(&mut self, una: u32, next: u32) {
        if self.grown_until.is_some_and(|end| una >= end) {
            self.grown_until = None;
        }
        if self.grown_until.is_none() {
            self.grown_until = Some(next);
            self.multiple = self.multiple.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// §6.2, step 4: a recovery ends.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiple = 1;
        }
    }

    /// How long after it was sent a packet is taken for lost that has been overtaken (§6.2, steps 4 and 5).
    #[must_use]
    pub fn patience(&self, around: &Surroundings) -> Duration {
        let hasty = !self.reordering_seen && (around.repairing || around.sacked >= around.threshold);
        let window = if hasty {
            Duration::ZERO
        } else {
            // min(RACK.reo_wnd_mult * RACK.min_RTT / 4, SRTT)
            (around.min_rtt.saturating_mul(u64::from(self.multiple)) / 4).min(around.srtt)
        };
        self.rtt.saturating_add(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, ns};

    const AROUND: Surroundings =
        Surroundings { min_rtt: ns(100), srtt: ns(120), repairing: false, sacked: 1, threshold: 3 };

    #[test]
    fn waits_a_quarter_of_an_rtt_but_not_for_the_third_nor_in_recovery() {
        let mut rack = Rack::default();
        rack.on_arrival(at(1000), false, at(1110));
        assert_eq!(rack.patience(&AROUND), ns(110 + 25));
        assert_eq!(rack.patience(&Surroundings { sacked: 3, ..AROUND }), ns(110));
        assert_eq!(rack.patience(&Surroundings { repairing: true, ..AROUND }), ns(110));
        // On a path that reorders it waits in any case.
        rack.on_arrival(at(1000), true, at(1105));
        assert_eq!(rack.patience(&Surroundings { repairing: true, sacked: 9, ..AROUND }), ns(105 + 25));
    }

    #[test]
    fn needless_repairs_widen_the_window_once_a_round_up_to_srtt() {
        let mut rack = Rack::default();
        rack.on_duplicate(10, 20);
        rack.on_duplicate(15, 30);
        assert_eq!(rack.patience(&AROUND), ns(50), "one round");
        rack.on_duplicate(20, 30);
        assert_eq!(rack.patience(&AROUND), ns(75));
        (3..9).for_each(|round| rack.on_duplicate(round * 10, round * 10 + 10));
        assert_eq!(rack.patience(&AROUND), ns(120), "SRTT at most");
        // Sixteen recoveries without one, and it is the smallest again.
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(rack.patience(&AROUND), ns(120));
        rack.on_recovered();
        assert_eq!(rack.patience(&AROUND), ns(25));
    }
}
