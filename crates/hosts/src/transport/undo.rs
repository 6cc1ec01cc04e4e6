//! How a sender finds that it was wrong: that what it took for lost was late, so that the window should not have been
//! lowered.
//!
//! Three proofs, as in Linux: an ACK that echoes a time stamp from before the first repair (Eifel, RFC 3522 §3.2); reports
//! that every repair arrived as a duplicate (DSACK, RFC 3708); and, after a timeout, the arrival of packets that were not sent
//! again (F-RTO with SACK, RFC 5682 §3.1). The answer is the scheme's ([`Scheme::on_spurious`](crate::scheme::Scheme)).

use exmachina_net::time::Instant;

/// One lowering of the window for losses, from the first of them until the next lowering.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// When the first repair was sent.
    repaired: Instant,
    /// Repairs sent that no duplicate was reported of, once there are any.
    repairs: Option<u32>,
    /// The oldest packet outstanding when it began: duplicates below it are of an earlier one.
    from: u32,
}

/// F-RTO's steps after a timeout (RFC 5682 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frto {
    /// Not under way, or given up: repairs go as usual.
    #[default]
    Off,
    /// Step 2: the first ACK since the timeout is waited for.
    Waiting,
    /// Step 3: new packets go before repairs, and their ACKs will tell.
    Testing,
}

/// What an ACK says about the past.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// The ACK moves the oldest packet outstanding, to this one.
    pub advances: bool,
    pub una: u32,
    /// The time stamp that it echoes.
    pub echo: Instant,
    /// Packets outstanding at the time of a timeout and never sent again arrived.
    pub originals: bool,
    /// A packet arrived out of order, or twice.
    pub out_of_order: bool,
    /// The next new packet, and whether there is one to send.
    pub next: u32,
    pub has_new: bool,
}

/// What is known of the present episode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    episode: Option<Episode>,
    frto: Frto,
}

impl Undo {
    /// The window is about to be lowered for losses from packet `from` on.
    pub fn begin(&mut self, from: u32) {
        self.episode = Some(Episode { repaired: Instant::NEVER, repairs: None, from });
        self.frto = Frto::Off;
    }

    /// The retransmission timer expired: F-RTO begins (step 1). Not where an earlier recovery was under way, whose repairs'
    /// ACKs would look like those of packets that were late.
    pub fn on_timeout(&mut self, fresh: bool) {
        self.frto = if fresh { Frto::Waiting } else { Frto::Off };
    }

    /// A lost packet is sent again.
    pub fn on_repair(&mut self, now: Instant) {
        if let Some(episode) = &mut self.episode {
            episode.repaired = episode.repaired.min(now);
            episode.repairs = Some(episode.repairs.unwrap_or(0) + 1);
        }
    }

    /// The receiver reports a packet that it had already: whether every repair has now proved needless.
    pub fn on_duplicate(&mut self, seq: u32) -> bool {
        let Some(episode) = self.episode.as_mut().filter(|episode| seq >= episode.from) else { return false };
        let Some(repairs) = &mut episode.repairs else { return false };
        *repairs = repairs.saturating_sub(1);
        *repairs == 0
    }

    /// RFC 3522 §3.2, step 5: the ACK that moves on was sent for a packet from before the first repair.
    #[must_use]
    pub fn was_late(&self, evidence: &Evidence) -> bool {
        evidence.advances && self.episode.is_some_and(|episode| evidence.echo < episode.repaired)
    }

    /// F-RTO: what an ACK after a timeout says, where packets before `recover` were outstanding then. Whether the timeout
    /// was spurious.
    pub fn after_timeout(&mut self, evidence: &Evidence, recover: &mut u32) -> bool {
        match self.frto {
            Frto::Off => return false,
            // Step 3b: not everything was lost.
            _ if evidence.originals && self.episode.is_some() => return true,
            // Step 3a: the new packets come back, and nothing else does: the loss was real.
            Frto::Testing if evidence.out_of_order => self.frto = Frto::Off,
            Frto::Testing => {}
            // Step 2a: all of it is acknowledged, or a duplicate ACK: conventional recovery.
            Frto::Waiting if evidence.una >= *recover || !evidence.advances => self.frto = Frto::Off,
            // Step 2b: two new packets, or conventional recovery where there are none.
            Frto::Waiting if evidence.has_new => {
                self.frto = Frto::Testing;
                *recover = evidence.next;
            }
            Frto::Waiting => self.frto = Frto::Off,
        }
        false
    }

    /// New packets go before repairs.
    #[must_use]
    pub fn prefers_new(&self) -> bool {
        self.frto == Frto::Testing
    }

    /// The recovery is over, one way or the other; duplicates may still prove it needless.
    pub fn end_frto(&mut self) {
        self.frto = Frto::Off;
    }

    /// The window is as it was.
    pub fn undone(&mut self) {
        *self = Undo::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    const ACK: Evidence = Evidence {
        advances: true,
        una: 5,
        echo: at(50),
        originals: false,
        out_of_order: false,
        next: 20,
        has_new: true,
    };

    #[test]
    fn an_echo_from_before_the_first_repair_proves_it_needless() {
        let mut undo = Undo::default();
        assert!(!undo.was_late(&ACK), "nothing to undo");
        undo.begin(3);
        undo.on_repair(at(100));
        undo.on_repair(at(200));
        assert!(undo.was_late(&ACK) && undo.was_late(&Evidence { echo: at(99), ..ACK }));
        assert!(!undo.was_late(&Evidence { echo: at(100), ..ACK }), "the repair itself");
        assert!(!undo.was_late(&Evidence { advances: false, ..ACK }));
        undo.undone();
        assert!(!undo.was_late(&ACK));
    }

    #[test]
    fn duplicates_of_all_repairs_prove_them_needless() {
        let mut undo = Undo::default();
        undo.begin(3);
        assert!(!undo.on_duplicate(3), "before any repair");
        undo.on_repair(at(100));
        undo.on_repair(at(110));
        assert!(!undo.on_duplicate(2), "of an earlier episode");
        assert!(!undo.on_duplicate(3));
        assert!(undo.on_duplicate(4));
    }

    #[test]
    fn f_rto_rfc_5682_3_1() {
        let timed_out = || {
            let mut undo = Undo::default();
            undo.begin(3);
            undo.on_timeout(true);
            undo.on_repair(at(100));
            (undo, 20)
        };
        let repair = Evidence { echo: at(100), ..ACK };
        // The repair is acknowledged; two new packets; then one that was never repaired arrives: spurious.
        let (mut undo, mut recover) = timed_out();
        assert!(!undo.after_timeout(&Evidence { next: 22, ..repair }, &mut recover) && undo.prefers_new());
        assert_eq!(recover, 22);
        assert!(undo.after_timeout(&Evidence { originals: true, ..repair }, &mut recover));
        // Only the new ones come back: it was real.
        let (mut undo, mut recover) = timed_out();
        assert!(!undo.after_timeout(&repair, &mut recover) && undo.prefers_new());
        let gap = Evidence { advances: false, out_of_order: true, ..repair };
        assert!(!undo.after_timeout(&gap, &mut recover) && !undo.prefers_new());
        // Nothing new to send, or a duplicate ACK first: as usual.
        let (mut undo, mut recover) = timed_out();
        assert!(!undo.after_timeout(&Evidence { has_new: false, ..repair }, &mut recover) && !undo.prefers_new());
        let (mut undo, mut recover) = timed_out();
        assert!(!undo.after_timeout(&gap, &mut recover) && !undo.prefers_new());
    }
}
