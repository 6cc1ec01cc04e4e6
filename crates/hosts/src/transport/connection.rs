//! One sender's connections: sends what the scheme's window lets go. What comes back is dealt with in `connection/ack.rs`, and
//! losses in `connection/recovery.rs`, found as `connection/detection.rs` says, today as `connection/rack_tlp.rs`; the
//! retransmission timer is in `connection/timer.rs`.

mod ack;
mod detection;
mod phase;
mod prr;
mod rack_tlp;
mod recovery;
mod timer;

use detection::Detection;
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::packet::{Ecn, NUMBERS, Packet, XcpHeader};
use exmachina_net::time::{Duration, Instant};
use phase::Phase;
use prr::Prr;
use timer::Sampler;

use super::pacing;
use super::receiver::Receiver;
use super::scoreboard::Scoreboard;
use super::steps::acts_in_steps;
use super::{Connections, HEADER_BYTES, Modular, Opening, RttEstimator, Settings};
use crate::scheme::{Congestion, Scheme};

/// Both ends of one sender's connections.
#[derive(Clone, Debug)]
pub struct Connection<S> {
    /// What decides about window and pace.
    pub scheme: S,
    settings: Settings,
    parts: Modular,
    id: u16,
    on: bool,
    /// First packet of the present connection, its SYN where it has one; nothing was sent before there is a connection.
    first: u32,
    opened: bool,
    /// Until all before this one is acknowledged, receivers take a first flight only; 0: they take everything.
    heard_from: u32,
    /// When the present on-period began.
    since: Instant,
    /// The first packet past what the application gave ([`NUMBERS`]: no end in sight).
    end: u32,
    board: Scoreboard,
    receiver: Receiver,
    /// The receiver of the connection before: what is still on its way to it counts as delivered.
    past: Receiver,
    rtt: RttEstimator,
    sampler: Sampler,
    /// When the retransmission timer expires.
    rto_at: Instant,
    phase: Phase,
    /// Recovery ends when all packets before this one are acknowledged.
    recover: u32,
    /// An ECN mark on a packet before this one has been answered.
    ecn_recover: u32,
    detection: Detection,
    /// A repair that may go whatever the window says.
    repair_now: bool,
    /// The window was full since the last ACK.
    window_limited: bool,
    /// One more than the largest packet that an ACK echoed.
    largest: u32,
    last_send: Instant,
    turn: u32,
    planned: Instant,
    totals: Totals,
}

impl<S: Scheme> Connection<S> {
    /// Number `id` of the senders, with nothing to send yet.
    pub fn new(scheme: S, id: u16, settings: Settings, parts: Modular) -> Connection<S> {
        let detection = Detection::new(parts.repair);
        Connection {
            scheme,
            settings,
            parts,
            id,
            on: false,
            first: 0,
            opened: false,
            heard_from: 0,
            since: Instant::START,
            end: 0,
            board: Scoreboard::new(0, detection.looks_by_order()),
            receiver: Receiver::new(0),
            past: Receiver::new(0),
            rtt: RttEstimator::default(),
            sampler: Sampler::new(parts.timer.samples),
            rto_at: Instant::NEVER,
            phase: Phase::Open,
            recover: 0,
            ecn_recover: 0,
            detection,
            repair_now: false,
            window_limited: false,
            largest: 0,
            last_send: Instant::START,
            turn: 0,
            planned: Instant::NEVER,
            totals: Totals::default(),
        }
    }

    /// What decides about window and pace.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The latest RTT sample, ns; 0 before the first.
    #[must_use]
    pub fn latest_rtt(&self) -> Duration {
        self.rtt.latest
    }

    /// Packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight
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
    pub fn srtt(&self) -> Duration {
        self.rtt.srtt
    }

    /// Forgets everything, at the beginning of a connection.
    fn open(&mut self, now: Instant) {
        let next = self.board.next();
        self.first = next;
        self.opened = true;
        self.end = next + u32::from(self.settings.opening != Opening::Data);
        self.heard_from = if self.settings.first_receive_window > 0 { self.end + 1 } else { 0 };
        self.detection = Detection::new(self.parts.repair);
        self.board = Scoreboard::new(next, self.detection.looks_by_order());
        self.past = std::mem::replace(&mut self.receiver, Receiver::new(next).quick(self.settings.quick_acks));
        self.rtt = RttEstimator::default();
        self.sampler = Sampler::new(self.parts.timer.samples);
        self.rto_at = Instant::NEVER;
        self.phase = Phase::Open;
        (self.recover, self.ecn_recover, self.largest) = (next, next, next);
        self.repair_now = false;
        self.scheme.start(now);
    }

    /// Whether a packet of the present connection is its SYN.
    fn is_syn(&self, seq: u32) -> bool {
        self.settings.opening != Opening::Data && seq == self.first
    }

    /// Packets that may be in flight now.
    pub fn window(&self) -> u32 {
        if self.settings.opening == Opening::Syn && self.board.una == self.first {
            return 1;
        }
        let window = match &self.phase {
            Phase::Recovery(prr) => self.window_in_recovery(prr),
            Phase::Open | Phase::Loss => self.scheme.window(),
        };
        if self.board.una < self.heard_from { self.window_of_first_flight(window) } else { window }
    }

    /// RFC 7323 §2.2: until data have come, a receiver's window is what a SYN can say.
    #[cold]
    fn window_of_first_flight(&self, window: u32) -> u32 {
        window.min(self.settings.first_flight())
    }

    /// Apart from the above, which is asked for at each packet and seldom needs it.
    #[inline(never)]
    fn window_in_recovery(&self, prr: &Prr) -> u32 {
        if self.scheme.capabilities().owns_recovery { self.scheme.window() } else { prr.window }
    }

    /// Whether a packet may go, the pace apart.
    #[inline]
    fn may_send(&self) -> bool {
        if self.board.to_repair > 0 {
            return self.repair_now || self.in_flight() < self.window();
        }
        self.board.next() < self.end && self.in_flight() < self.window()
    }

    fn congestion(&self, now: Instant, seq: u32, lost: u32) -> Congestion {
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

    /// Counts a packet that arrived, and so many that are in order by it.
    fn deliver(&mut self, packet: &Packet, now: Instant, new: bool, in_order: u32) {
        let syn = packet.bytes < self.settings.packet_bytes;
        self.totals.arrive(now - packet.sent, self.on, new, syn, in_order);
    }

    /// Sends one packet: one to be repaired, or else a new one.
    fn send(&mut self, now: Instant) -> Packet {
        let again = self.board.to_repair > 0 && !(self.prefers_new() && self.board.next() < self.end);
        let seq = if again { self.board.send_again(now) } else { self.board.send_new(now) };
        if again {
            self.on_repair(now);
        }
        let packet = self.packet(seq, again, now);
        if !again {
            self.schedule_probe(now);
        }
        packet
    }

    /// A packet that leaves now, whose number is given by the record of what was sent.
    fn packet(&mut self, seq: u32, again: bool, now: Instant) -> Packet {
        if !again {
            self.sampler.on_send(seq, now);
        }
        self.repair_now &= !again;
        if let Phase::Recovery(prr) = &mut self.phase {
            prr.on_send();
        }
        self.totals.sent += 1;
        self.totals.retransmitted += u64::from(again);
        self.turn = if now == self.last_send { self.turn + 1 } else { 1 };
        self.last_send = now;
        // RFC 6298 §5.1. The oldest packet starts the timer anew (as in ns-2): one that runs on while nothing is outstanding
        // was set for another packet, and a repair has an RTT of its own to come back.
        if self.rto_at == Instant::NEVER || seq == self.board.una {
            self.rto_at = now + self.rto();
        }
        if self.in_flight() >= self.window() {
            self.window_limited = true;
        } else if self.board.to_repair == 0 && self.board.next() == self.end {
            self.board.app_limited();
        }
        let can = self.scheme.capabilities();
        let bytes = if self.is_syn(seq) { HEADER_BYTES } else { self.settings.packet_bytes };
        Packet {
            sent: now,
            seq,
            sender: self.id,
            bytes,
            ecn: if can.ecn && (!again || self.parts.ect_on_repairs) {
                Ecn::Capable
            } else {
                // RFC 3168 §6.1.5: no ECT on retransmitted packets.
                Ecn::NotCapable
            },
            xcp: if can.xcp { self.xcp_header() } else { XcpHeader::default() },
            ..Packet::default()
        }
    }

    /// The least time between two packets: the scheme's, or Linux's where it has none and packets are paced.
    #[inline]
    fn pace(&self) -> Duration {
        let own = self.scheme.intersend();
        if own > Duration::ZERO || !self.parts.pacing {
            return own;
        }
        pacing::interval(self.rtt.srtt, self.window(), self.board.outstanding(), self.scheme.ssthresh())
    }

    /// RFC 2861 §3, as Linux has it (`tcp_cwnd_restart`): what a window says of the path is old after a pause.
    fn decay(&mut self, idle: Duration) {
        let rto = self.rto().max(Duration::NANOSECOND);
        if self.parts.decays_when_idle && idle > rto && self.board.outstanding() == 0 {
            // Once for each timeout that is over, the first of them excepted.
            let halvings = ((idle - Duration::NANOSECOND) / rto).min(31) as u32;
            self.scheme.after_idle(halvings, self.settings.initial_window);
        }
    }

    /// Asks XCP's routers for all that they can give (Katabi et al. 2002 §3.2).
    fn xcp_header(&self) -> XcpHeader {
        XcpHeader {
            window_bytes: f64::from(self.scheme.window()) * f64::from(self.settings.packet_bytes),
            rtt_s: self.rtt.srtt.as_s(),
            feedback_bytes: f64::INFINITY,
        }
    }

    /// When it wants to act next.
    fn due(&self) -> Instant {
        let send = if self.may_send() { self.last_send.saturating_add(self.pace()) } else { Instant::NEVER };
        send.min(self.rto_at).min(self.receiver.deadline).min(self.alarm())
    }

    /// Its time has come: a packet to send, if it has one.
    fn step(&mut self, now: Instant) -> Option<Packet> {
        if self.receiver.deadline <= now {
            let feedback = self.receiver.acknowledge();
            self.on_ack(&feedback, now);
            self.receiver.recycle(feedback);
            None
        } else if self.alarm() <= now {
            self.on_alarm(now)
        } else if self.rto_at <= now {
            self.time_out(now);
            None
        } else if self.may_send() && self.last_send.saturating_add(self.pace()) <= now {
            Some(self.send(now))
        } else {
            None
        }
    }
}

impl<S: Scheme> Endpoint for Connection<S> {
    acts_in_steps!();

    fn start(&mut self, now: Instant, packets: u32) {
        self.on = true;
        self.since = now;
        if !self.opened || self.settings.connections == Connections::Fresh {
            self.open(now);
        } else {
            let idle = now.since(self.last_send);
            self.scheme.resume(now, idle);
            self.decay(idle);
        }
        self.end = self.end.max(self.board.next()).saturating_add(packets).min(NUMBERS);
        // At once, unless the pace forbids it; never before now.
        self.last_send = self.last_send.max(now.saturating_sub(self.pace()));
        self.turn = 0;
    }

    fn receive(&mut self, packet: &Packet, now: Instant, _clock: Duration) {
        if packet.seq < self.first {
            // Of an earlier connection, which nobody listens to any more.
            let before = self.past.next();
            let new = self.past.takes(packet.seq);
            self.deliver(packet, now, new, self.past.next() - before);
            return;
        }
        let before = self.receiver.next();
        let (new, at_once) = self.receiver.receive(packet, now, &self.settings);
        self.deliver(packet, now, new, self.receiver.next() - before);
        if at_once {
            let feedback = self.receiver.acknowledge();
            self.on_ack(&feedback, now);
            self.receiver.recycle(feedback);
        }
    }
}
