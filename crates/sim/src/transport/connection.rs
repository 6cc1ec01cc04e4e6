//! One sender's connections: sends what the scheme's window lets go, repairs losses, and keeps the retransmission timer.

use super::receiver::{Feedback, Receiver};
use super::scoreboard::{Arrival, Scoreboard};
use super::{Connections, Recovery, RttEstimator, Settings};
use crate::endpoint::{Endpoint, Totals};
use crate::packet::{Ecn, Packet, XcpHeader};
use crate::schedule::MAX_TIME;
use crate::scheme::{Ack, Congestion, Scheme};
use crate::time::{NEVER, Time, to_s};

/// The largest threshold that reordering may lead to (Linux: 127).
const MAX_DUP_THRESHOLD: u32 = 127;

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is known to be missing.
    Open,
    /// Fast recovery (RFC 5681 §3.2, RFC 6675 §5).
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
}

/// Fast recovery's own window, where the scheme leaves that to the transport.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// The window on the way down (rate halving), or the packets that may go now (proportional reduction).
    window: u32,
    /// ACKs counted since the window was last lowered.
    count: u32,
    /// Packets outstanding when it began.
    flight: u32,
    /// Packets delivered and sent since.
    delivered: u32,
    sent: u32,
}

/// Both ends of one sender's connections.
#[derive(Clone, Debug)]
pub struct Connection<S> {
    /// What decides about window and pace.
    pub scheme: S,
    settings: Settings,
    id: u16,
    on: bool,
    /// First packet of the present connection; nothing was sent before there is one.
    first: u32,
    opened: bool,
    /// When the present on-period began.
    since: Time,
    /// The first packet past what the application gave (`u32::MAX`: no end in sight).
    end: u32,
    board: Scoreboard,
    receiver: Receiver,
    /// The receiver of the connection before: what is still on its way to it counts as delivered.
    past: Receiver,
    rtt: RttEstimator,
    /// When the retransmission timer expires.
    rto_at: Time,
    phase: Phase,
    /// Recovery ends when all packets before this one are acknowledged.
    recover: u32,
    /// An ECN mark on a packet before this one has been answered.
    ecn_recover: u32,
    reduction: Reduction,
    /// Duplicate ACKs since the last that was not (NewReno).
    dup_acks: u32,
    /// ACKs of a part of what was outstanding when recovery began (NewReno).
    partial_acks: u32,
    dup_threshold: u32,
    /// A repair that may go whatever the window says.
    repair_now: bool,
    /// The window was full since the last ACK.
    window_limited: bool,
    /// One more than the largest packet that an ACK echoed.
    largest: u32,
    last_send: Time,
    turn: u32,
    planned: Time,
    totals: Totals,
}

impl<S: Scheme> Connection<S> {
    /// Number `id` of the senders, with nothing to send yet.
    pub fn new(scheme: S, id: u16, settings: Settings) -> Connection<S> {
        Connection {
            scheme,
            settings,
            id,
            on: false,
            first: 0,
            opened: false,
            since: 0,
            end: 0,
            board: Scoreboard::new(0),
            receiver: Receiver::new(0),
            past: Receiver::new(0),
            rtt: RttEstimator::default(),
            rto_at: NEVER,
            phase: Phase::Open,
            recover: 0,
            ecn_recover: 0,
            reduction: Reduction::default(),
            dup_acks: 0,
            partial_acks: 0,
            dup_threshold: settings.dup_threshold,
            repair_now: false,
            window_limited: false,
            largest: 0,
            last_send: 0,
            turn: 0,
            planned: NEVER,
            totals: Totals::default(),
        }
    }

    /// Packets in flight; each duplicate ACK stands for one that left (RFC 6582 §3.2 inflates the window instead).
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        let left = if self.settings.recovery == Recovery::NewReno { self.dup_acks } else { 0 };
        self.board.in_flight.saturating_sub(left)
    }

    /// The number of the next new packet.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        self.board.next()
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        self.board.una
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Time {
        self.rtt.srtt
    }

    fn is_sack(&self) -> bool {
        matches!(self.settings.recovery, Recovery::RateHalving | Recovery::Proportional)
    }

    /// Forgets everything, at the beginning of a connection.
    fn open(&mut self, now: Time) {
        let next = self.board.next();
        self.first = next;
        self.opened = true;
        self.end = next;
        self.board = Scoreboard::new(next);
        self.past = std::mem::replace(&mut self.receiver, Receiver::new(next));
        self.rtt = RttEstimator::default();
        self.rto_at = NEVER;
        self.phase = Phase::Open;
        (self.recover, self.ecn_recover, self.largest) = (next, next, next);
        self.dup_acks = 0;
        self.dup_threshold = self.settings.dup_threshold;
        self.repair_now = false;
        self.scheme.start(now);
    }

    /// Packets that may be in flight now.
    fn window(&self) -> u32 {
        if self.phase != Phase::Recovery || self.scheme.owns_recovery() {
            return self.scheme.window();
        }
        match self.settings.recovery {
            Recovery::GoBackN | Recovery::NewReno => self.scheme.window(),
            Recovery::RateHalving | Recovery::Proportional => self.reduction.window,
        }
    }

    /// Whether a packet may go, the pace apart.
    #[inline]
    fn may_send(&self) -> bool {
        if self.board.to_repair > 0 {
            return self.repair_now || self.in_flight() < self.window();
        }
        self.board.next() < self.end && self.in_flight() < self.window()
    }

    fn congestion(&self, now: Time, seq: u32, lost: u32) -> Congestion {
        Congestion {
            now,
            in_flight: self.in_flight(),
            outstanding: self.board.outstanding(),
            next_seq: self.board.next(),
            seq,
            lost,
            idle: false,
        }
    }

    /// Deals with an ACK.
    fn on_ack(&mut self, feedback: &Feedback, now: Time) {
        let before = self.in_flight();
        let una = self.board.una;
        let mut delivered = 0;
        if self.is_sack() {
            for &(seq, sent) in &feedback.arrived {
                match self.board.arrived(seq, sent, now) {
                    Arrival::Known => {}
                    Arrival::News => delivered += 1,
                    Arrival::Late { behind } => {
                        delivered += 1;
                        self.adapt(behind);
                    }
                }
            }
        }
        let (acked, news) = self.board.acknowledge(feedback.next, now);
        delivered += news;
        let rate = self.board.rate_sample();
        let Some(&(seq, sent)) = feedback.arrived.last() else { return };
        // A duplicate ACK updates no estimate, and ends no backoff, where that is all the sender learns from it (ns-2).
        let sample = if acked > 0 || self.is_sack() { self.measure(feedback, now) } else { 0 };
        self.restart_timer(acked, now);
        let lost = self.find_losses(acked, una, now);
        self.answer_marks(feedback.marked, now);
        let advance = (seq + 1).saturating_sub(self.largest);
        self.largest += advance;
        let in_recovery = self.phase == Phase::Recovery;
        let ack = Ack {
            sent: self.tick(sent),
            received: self.tick(now),
            seq,
            next_seq: self.board.next(),
            advance,
            acked,
            newly_delivered: delivered,
            delivered: self.board.delivered,
            in_flight: self.in_flight(),
            rtt: sample,
            min_rtt: self.rtt.min,
            srtt: self.rtt.srtt,
            in_recovery,
            window_limited: self.settings.grows_unused_windows || self.was_limited(before),
            marked: feedback.marked,
            lost,
            rate,
            xcp_feedback: feedback.xcp_feedback_bytes / f64::from(self.settings.packet_bytes),
        };
        if sent >= self.since || !self.scheme.forgets() {
            self.scheme.on_ack(&ack);
        }
        self.window_limited = false;
        if in_recovery {
            self.reduce(delivered);
        }
    }

    fn tick(&self, t: Time) -> Time {
        if self.settings.clock > 1 { t - t % self.settings.clock } else { t }
    }

    /// Takes the RTT of the oldest packet that the ACK covers: one that was delayed includes the delay, as real ones do
    /// (RFC 7323 §4.3).
    fn measure(&mut self, feedback: &Feedback, now: Time) -> Time {
        let sent = feedback.arrived[0].1;
        let clock = self.settings.clock.max(1);
        // To the nearest tick.
        let rtt = ((now - sent + clock / 2) / clock * clock).max(1);
        self.rtt.sample(rtt);
        rtt
    }

    /// In slow start a window counts as used if half of it was (as in Linux), so that it may double each RTT.
    fn was_limited(&self, in_flight: u32) -> bool {
        let window = self.scheme.window();
        let slow_start = f64::from(window) < self.scheme.ssthresh();
        self.window_limited || in_flight >= window || slow_start && 2 * u64::from(in_flight) >= u64::from(window)
    }

    /// A packet was late, not lost: waits for more of them before the next is taken for lost.
    fn adapt(&mut self, behind: u64) {
        if self.settings.adapts_to_reordering {
            self.dup_threshold = self.dup_threshold.max((behind as u32).saturating_add(1)).min(MAX_DUP_THRESHOLD);
        }
    }

    fn restart_timer(&mut self, acked: u32, now: Time) {
        if acked == 0 {
            return;
        }
        if self.phase == Phase::Recovery && !self.is_sack() && self.board.una < self.recover {
            self.partial_acks += 1;
        }
        if self.is_impatient() {
            return;
        }
        // RFC 6298 §5.2, 5.3.
        let runs = self.board.outstanding() > 0 || self.settings.idle_timer;
        self.rto_at = if runs { now + self.rtt.rto(&self.settings) } else { NEVER };
    }

    /// RFC 6582 §4: one repair per RTT is too slow for many losses, so only the first ACK of a part of the window starts
    /// the timer anew (ns-2's default too).
    fn is_impatient(&self) -> bool {
        self.phase == Phase::Recovery && self.partial_acks > 1
    }

    /// Finds what is lost, and enters and leaves recovery: packets newly declared lost.
    fn find_losses(&mut self, acked: u32, una: u32, now: Time) -> u32 {
        let lost =
            if self.is_sack() { self.board.overtaken(self.dup_threshold) } else { self.count_duplicates(acked, una) };
        if self.phase != Phase::Open && self.board.una >= self.recover {
            let was_loss = self.phase == Phase::Loss;
            self.phase = Phase::Open;
            self.dup_acks = 0;
            if !was_loss {
                self.scheme.on_recovered(now);
            }
        }
        let Some((seq, count)) = lost else { return 0 };
        if self.phase == Phase::Open && seq >= self.recover {
            self.enter_recovery(seq, count, now);
        }
        count
    }

    /// RFC 6582 §3.2: the third duplicate ACK, or one that acknowledges part of what was outstanding, shows one loss.
    fn count_duplicates(&mut self, acked: u32, una: u32) -> Option<(u32, u32)> {
        let seq = self.board.una;
        if acked == 0 {
            if self.board.outstanding() == 0 {
                return None;
            }
            self.dup_acks += u32::from(self.phase != Phase::Loss);
            // Step 1: not for duplicates that repairs of an earlier window cause.
            let covers = seq > self.recover || seq == self.first;
            let lost = self.phase == Phase::Open && self.dup_acks == self.dup_threshold && covers;
            if lost && self.settings.recovery == Recovery::GoBackN {
                return Some((seq, self.go_back()));
            }
            return (lost && self.board.declare_lost(seq)).then_some((seq, 1));
        }
        if self.phase != Phase::Recovery {
            self.dup_acks = 0;
            return None;
        }
        // Step 5: all but one of those packets were counted by duplicates when they arrived.
        self.dup_acks = self.dup_acks.saturating_sub(seq - una - 1);
        if seq < self.recover && self.board.declare_lost(seq) {
            self.repair_now = true;
            return Some((seq, 1));
        }
        None
    }

    fn enter_recovery(&mut self, seq: u32, lost: u32, now: Time) {
        let flight = self.board.outstanding();
        let window = self.scheme.window().min(self.in_flight() + lost);
        let goes_back = self.settings.recovery == Recovery::GoBackN;
        self.phase = if goes_back { Phase::Loss } else { Phase::Recovery };
        self.recover = self.board.next();
        self.ecn_recover = self.recover;
        self.repair_now = true;
        self.partial_acks = 0;
        self.reduction = Reduction { window, flight, ..Reduction::default() };
        self.totals.reductions += 1;
        let congestion = self.congestion(now, seq, lost);
        self.scheme.on_loss(&congestion);
    }

    /// The transport's window in fast recovery.
    fn reduce(&mut self, delivered: u32) {
        let in_flight = self.in_flight();
        let target = self.scheme.window();
        let r = &mut self.reduction;
        r.delivered += delivered;
        if self.settings.recovery == Recovery::RateHalving {
            // One packet less for every two that arrived, and no bursts.
            r.count += delivered;
            let down = (r.count / 2).min(r.window.saturating_sub(target));
            r.count %= 2;
            r.window = (r.window - down).min(in_flight + 1);
            return;
        }
        // RFC 6937 §3.
        let may = if in_flight > target {
            let share = (u64::from(r.delivered) * u64::from(target)).div_ceil(u64::from(r.flight.max(1))) as u32;
            share.saturating_sub(r.sent)
        } else {
            // Slow-start reduction bound: catch up with the target, at most one more than was delivered.
            let limit = r.delivered.saturating_sub(r.sent).max(delivered) + 1;
            limit.min(target - in_flight)
        };
        r.window = in_flight + may;
    }

    /// Answers ECN marks once per window (RFC 3168 §6.1.2).
    fn answer_marks(&mut self, marked: u32, now: Time) {
        self.totals.marked += u64::from(marked);
        if marked > 0 && self.phase == Phase::Open && self.board.una >= self.ecn_recover {
            self.ecn_recover = self.board.next();
            self.totals.reductions += 1;
            let congestion = self.congestion(now, self.board.una, 0);
            self.scheme.on_ecn(&congestion);
        }
    }

    /// The retransmission timer expired (RFC 6298 §5.4-5.6, RFC 5681 §3.1).
    fn time_out(&mut self, now: Time) {
        let seq = self.board.una;
        self.dup_acks = 0;
        if self.board.outstanding() == 0 {
            self.rto_at = NEVER;
            let congestion = self.congestion(now, seq, 0);
            self.scheme.on_rto(&Congestion { idle: true, ..congestion });
            return;
        }
        self.totals.timeouts += 1;
        let mut congestion = self.congestion(now, seq, 0);
        congestion.lost = self.go_back();
        self.phase = Phase::Loss;
        self.recover = self.board.next();
        self.repair_now = false;
        self.scheme.on_rto(&congestion);
        self.rtt.back_off();
        self.rto_at = now + self.rtt.rto(&self.settings);
    }

    /// All that has not arrived, as far as the sender knows, is to be sent again: how many packets that is.
    fn go_back(&mut self) -> u32 {
        self.dup_acks = 0;
        self.board.declare_all_lost()
    }

    /// Sends one packet: one to be repaired, or else a new one.
    fn send(&mut self, now: Time) -> Packet {
        let again = self.board.to_repair > 0;
        let seq = if again { self.board.send_again(now) } else { self.board.send_new(now) };
        self.repair_now &= !again;
        self.reduction.sent += 1;
        self.totals.sent += 1;
        self.totals.retransmitted += u64::from(again);
        self.turn = if now == self.last_send { self.turn + 1 } else { 1 };
        self.last_send = now;
        // RFC 6298 §5.1. The oldest packet starts the timer anew (as in ns-2): one that runs on while nothing is outstanding
        // was set for another packet, and a repair has an RTT of its own to come back.
        if self.rto_at == NEVER || seq == self.board.una && !self.is_impatient() {
            self.rto_at = now + self.rtt.rto(&self.settings);
        }
        if self.in_flight() >= self.window() {
            self.window_limited = true;
        } else if self.board.to_repair == 0 && self.board.next() == self.end {
            self.board.app_limited();
        }
        let bytes = self.settings.packet_bytes;
        Packet {
            sent: now,
            seq,
            sender: self.id,
            bytes,
            ecn: if self.scheme.ecn_capable() { Ecn::Capable } else { Ecn::NotCapable },
            xcp: if self.scheme.xcp() { self.xcp_header() } else { XcpHeader::default() },
            ..Packet::default()
        }
    }

    /// Asks XCP's routers for all that they can give (Katabi et al. 2002 §3.2).
    fn xcp_header(&self) -> XcpHeader {
        XcpHeader {
            window_bytes: f64::from(self.scheme.window()) * f64::from(self.settings.packet_bytes),
            rtt_s: to_s(self.rtt.srtt),
            feedback_bytes: f64::INFINITY,
        }
    }
}

impl<S: Scheme> Endpoint for Connection<S> {
    const LEARNS_LOSSES: bool = false;

    fn start(&mut self, now: Time, packets: u32) {
        self.on = true;
        self.since = now;
        if !self.opened || self.settings.connections == Connections::Fresh {
            self.open(now);
        } else {
            self.scheme.resume(now, now.saturating_sub(self.last_send));
        }
        self.end = self.end.max(self.board.next()).saturating_add(packets);
        // At once, unless the pace forbids it; never before now.
        self.last_send = self.last_send.max(now.saturating_sub(self.scheme.intersend()));
        self.turn = 0;
    }

    /// The application gives no more; what is outstanding is still repaired.
    fn stop(&mut self, _now: Time) {
        self.on = false;
        self.end = self.board.next();
    }

    fn is_on(&self) -> bool {
        self.on
    }

    fn receive(&mut self, packet: &Packet, now: Time, _clock: Time) {
        if packet.seq < self.first {
            // Of an earlier connection, which nobody listens to any more.
            let new = self.past.takes(packet.seq);
            self.totals.delivered += u64::from(new);
            self.totals.delay += if new { now - packet.sent } else { 0 };
            self.totals.in_order += u64::from(new);
            return;
        }
        self.totals.in_order += u64::from(self.receiver.is_newest(packet.seq));
        let (new, at_once) = self.receiver.receive(packet, now, &self.settings);
        self.totals.delivered += u64::from(new);
        self.totals.delay += if new { now - packet.sent } else { 0 };
        if at_once {
            let feedback = self.receiver.acknowledge();
            self.on_ack(&feedback, now);
            self.receiver.recycle(feedback);
        }
    }

    fn finished(&self) -> bool {
        self.on && self.board.una == self.end
    }

    fn ready(&self) -> Time {
        let send = if self.may_send() { self.last_send.saturating_add(self.scheme.intersend()) } else { NEVER };
        let at = send.min(self.rto_at).min(self.receiver.deadline);
        // A schedule has no keys between MAX_TIME and NEVER; a scheme's pace may be as slow as it likes.
        if at > MAX_TIME { NEVER } else { at }
    }

    fn planned(&self) -> Time {
        self.planned
    }

    fn plan(&mut self, at: Time) {
        self.planned = at;
    }

    fn act(&mut self, now: Time) -> (Option<Packet>, Time, u32) {
        let packet = if self.receiver.deadline <= now {
            let feedback = self.receiver.acknowledge();
            self.on_ack(&feedback, now);
            self.receiver.recycle(feedback);
            None
        } else if self.rto_at <= now {
            self.time_out(now);
            None
        } else if self.may_send() && self.last_send.saturating_add(self.scheme.intersend()) <= now {
            Some(self.send(now))
        } else {
            None
        };
        self.planned = self.ready().max(now);
        let turn = if self.planned == now { self.turn } else { 0 };
        (packet, self.planned, turn)
    }

    fn totals(&self) -> Totals {
        self.totals
    }
}
