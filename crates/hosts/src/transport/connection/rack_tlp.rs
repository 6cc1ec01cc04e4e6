//! How a connection learns of losses today: RACK's time threshold and timer (RFC 8985 §6), tail loss probes (§7), and what
//! proves that a loss was none.

use exmachina_net::packet::Packet;
use exmachina_net::time::Instant;

use super::Connection;
use super::phase::{Heard, Phase};
use crate::scheme::Scheme;
use crate::transport::LossThreshold;
use crate::transport::probe::Probe;
use crate::transport::rack::{Rack, Surroundings};
use crate::transport::receiver::Feedback;
use crate::transport::scoreboard::Lost;
use crate::transport::undo::{Evidence, Undo};

/// The state of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RackTlp {
    threshold: LossThreshold,
    rack: Rack,
    probe: Probe,
    undo: Undo,
}

impl RackTlp {
    /// That of a connection that begins.
    pub(super) fn new(threshold: LossThreshold) -> RackTlp {
        RackTlp { threshold, rack: Rack::default(), probe: Probe::default(), undo: Undo::default() }
    }

    /// A recovery ends.
    pub(super) fn on_recovered(&mut self) {
        self.rack.on_recovered();
        self.undo.end_frto();
    }
}

impl<S: Scheme> Connection<S> {
    /// When the reordering timer or the probe timer expires.
    #[inline]
    pub(super) fn alarm(&self) -> Instant {
        self.detection.rack().map_or(Instant::NEVER, |today| today.rack.timer.min(today.probe.timer))
    }

    /// Before an ACK is dealt with: whether a packet, not sent again, arrived after one with a higher number; and after a
    /// timeout, whether one arrived that was outstanding then and was not sent again.
    #[inline]
    pub(super) fn survey(&self, feedback: &Feedback) -> (bool, bool) {
        if !self.detection.is_by_time() {
            return (false, false);
        }
        let arrived = || feedback.arrived.iter().map(|&(seq, _)| seq);
        let reordered = arrived().any(|seq| self.board.is_reordered(seq));
        let originals = self.phase.is_loss() && arrived().any(|seq| seq < self.recover && self.board.is_original(seq));
        (reordered, originals)
    }

    /// What is lost, by an ACK.
    pub(super) fn find_by_rack(&mut self, ack: &Heard, now: Instant) -> Lost {
        let today = self.detection.rack_mut()?;
        if let Some(sent) = ack.newest {
            today.rack.on_arrival(sent, ack.reordered, now);
        }
        if ack.duplicate.is_some() && today.threshold.adapts {
            today.rack.on_duplicate(self.board.una, self.board.next());
        }
        if today.probe.is_out() && today.probe.on_ack(ack.una + ack.acked, ack.duplicate) {
            self.answer_probe(now);
        }
        if self.is_proved_wrong(ack) {
            self.undo(now);
        }
        self.detect(now)
    }

    /// RFC 8985 §6.2, step 5, "Detect Losses": what is lost now, and when to look again.
    fn detect(&mut self, now: Instant) -> Lost {
        let today = self.detection.rack_mut()?;
        if !self.board.is_overtaken() {
            today.rack.timer = Instant::NEVER;
            return None;
        }
        let around = Surroundings {
            min_rtt: self.rtt.min,
            srtt: self.rtt.srtt,
            repairing: !self.phase.is_open(),
            sacked: self.board.sacked(),
            threshold: today.threshold.packets,
        };
        let (lost, until) = self.board.overdue(today.rack.patience(&around), now);
        today.rack.timer = until.unwrap_or(Instant::NEVER);
        lost
    }

    /// RFC 8985 §7.4.2, "Detecting a Single Loss Repaired by the Loss Probe": a probe repaired the only loss of a flight. No
    /// recovery follows, but the window is lowered.
    fn answer_probe(&mut self, now: Instant) {
        if !self.phase.is_open() {
            return;
        }
        self.totals.reductions += 1;
        self.ecn_recover = self.board.next();
        if let Some(today) = self.detection.rack_mut() {
            // There is nothing to be repaired that could prove needless.
            today.undo.undone();
        }
        let congestion = self.congestion(now, self.board.una, 1);
        self.scheme.on_loss(&congestion);
        self.scheme.on_recovered(now, None);
    }

    /// Whether an ACK shows that what was taken for lost was late.
    fn is_proved_wrong(&mut self, ack: &Heard) -> bool {
        if self.phase.is_open() && ack.duplicate.is_none() {
            return false;
        }
        let evidence = Evidence {
            advances: ack.acked > 0,
            una: self.board.una,
            echo: ack.echo,
            originals: ack.originals,
            out_of_order: ack.duplicate.is_some() || self.board.sacked() > 0,
            next: self.board.next(),
            has_new: self.board.next() < self.end,
        };
        let Some(RackTlp { undo, .. }) = self.detection.rack_mut() else { return false };
        let needless = ack.duplicate.is_some_and(|seq| undo.on_duplicate(seq));
        let late = undo.was_late(&evidence);
        match self.phase {
            Phase::Open => needless,
            // While repairs are on their way they may prove to have been needed, unless this ends the recovery.
            Phase::Recovery(_) => {
                needless || late && (self.board.una >= self.recover || !self.board.has_repairs_in_flight())
            }
            Phase::Loss => needless || late || undo.after_timeout(&evidence, &mut self.recover),
        }
    }

    /// What was taken for lost is in flight after all, and the window what it was.
    fn undo(&mut self, now: Instant) {
        if !self.phase.is_open() {
            self.board.unmark_lost();
            self.repair_now = false;
            self.recover = self.board.una;
            if self.phase.is_recovery() {
                self.scheme.on_recovered(now, None);
            }
            self.phase = Phase::Open;
        }
        if let Some(today) = self.detection.rack_mut() {
            today.on_recovered();
            today.undo.undone();
        }
        self.totals.undone += 1;
        self.scheme.on_spurious(now);
    }

    /// The window is about to be lowered for losses: what a proof that they were none would need.
    pub(super) fn begin_episode(&mut self) {
        if let Some(today) = self.detection.rack_mut() {
            today.undo.begin(self.board.una);
            // RFC 8985 §7.1, "Initializing State": a recovery sets the probe back.
            today.probe = Probe::default();
            self.scheme.keep();
        }
    }

    /// A lost packet goes again.
    #[inline]
    pub(super) fn on_repair(&mut self, now: Instant) {
        if let Some(today) = self.detection.rack_mut() {
            today.undo.on_repair(now);
        }
    }

    /// F-RTO: new packets go before repairs.
    #[inline]
    pub(super) fn prefers_new(&self) -> bool {
        self.detection.rack().is_some_and(|today| today.undo.prefers_new())
    }

    /// RFC 8985 §6.3, "Upon RTO Expiration": the oldest packet is lost, and all whose time is over: how many.
    pub(super) fn lose_by_timeout(&mut self, now: Instant) -> u32 {
        let fresh = self.phase.is_open();
        if fresh {
            self.begin_episode();
        }
        let Some(today) = self.detection.rack_mut() else { return 0 };
        let around = Surroundings {
            min_rtt: self.rtt.min,
            srtt: self.rtt.srtt,
            repairing: true,
            sacked: self.board.sacked(),
            threshold: today.threshold.packets,
        };
        today.undo.on_timeout(fresh || self.phase.is_loss());
        (today.rack.timer, today.probe) = (Instant::NEVER, Probe::default());
        self.board.declare_old_lost(today.rack.patience(&around), now)
    }

    /// RFC 8985 §7.2, "Scheduling a Loss Probe": it is due some time after the last packet or ACK, if nothing is known to be
    /// missing.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        let Some(today) = self.detection.rack_mut() else { return };
        let flight = self.board.outstanding();
        let clean = self.phase.is_open() && flight > 0 && flight == self.board.in_flight;
        if clean && !today.probe.is_out() {
            today.probe.schedule(self.rtt.srtt, flight, self.rto_at, now);
        } else {
            today.probe.timer = Instant::NEVER;
        }
    }

    /// One of the two timers expired: a packet to send, perhaps.
    pub(super) fn on_alarm(&mut self, now: Instant) -> Option<Packet> {
        if self.detection.rack().is_some_and(|today| today.rack.timer <= now) {
            self.lose_what_is_overdue(now);
            return None;
        }
        Some(self.send_probe(now))
    }

    /// The reordering timer expired: RFC 8985 §6.2, step 5 ("Detect Losses"), as at an ACK.
    fn lose_what_is_overdue(&mut self, now: Instant) {
        if let Some((seq, count)) = self.detect(now)
            && self.phase.is_open()
        {
            self.enter_recovery(seq, count, 0, now);
            self.reduce(0, false, count);
        }
        self.schedule_probe(now);
    }

    /// RFC 8985 §7.3, "Sending a Loss Probe upon PTO Expiration": a new packet, whatever the window says, or else the last one
    /// again. The retransmission timer starts anew.
    fn send_probe(&mut self, now: Instant) -> Packet {
        let again = self.board.next() == self.end;
        let seq = if again { self.board.send_probe(now) } else { self.board.send_new(now) };
        if let Some(today) = self.detection.rack_mut() {
            today.probe.on_send(self.board.next(), again);
        }
        let packet = self.packet(seq, again, now);
        self.rto_at = now + self.rto();
        packet
    }
}
