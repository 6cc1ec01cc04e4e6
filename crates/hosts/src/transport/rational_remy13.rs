//! TCP/Rational of Remy'13's ns-2, the transport under its RemyCCs: ns-2's Tahoe, with the window set by the rules.
//!
//! Cumulative ACKs only. The rules see ACKs of new data alone; duplicates do what they do to Tahoe: the first two let a packet
//! go each, the third sends everything again from the gap on.

mod estimator;

use estimator::{TICK, TickEstimator};
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::packet::{NUMBERS, Packet};
use exmachina_net::time::{Duration, Instant};

use super::receiver::Receiver;
use super::steps::acts_in_steps;
use super::{Connections, HEADER_BYTES, Opening, Settings};
use crate::scheme::{Ack, Scheme};

/// No window is larger.
const MAX_WINDOW: u32 = 16_384;
/// After so long without a transmission, memory and window begin anew.
const SILENCE: Duration = Duration::from_millis(200);
/// Duplicate ACKs that make a loss (RFC 5681 §3.2).
const DUPLICATES: u32 = 3;

/// Both ends of one sender's connections.
#[derive(Clone, Debug)]
pub struct RationalRemy13<S> {
    /// What decides about window and pace.
    pub scheme: S,
    settings: Settings,
    id: u16,
    on: bool,
    opened: bool,
    /// First packet of the present connection: its SYN, where it has one.
    first: u32,
    /// The next packet to be sent; what was sent from it on is sent again.
    next: u32,
    /// One past the largest packet sent.
    edge: u32,
    /// The first packet past what the application gave ([`NUMBERS`]: no end in sight).
    end: u32,
    /// All packets before this one are acknowledged.
    una: u32,
    receiver: Receiver,
    /// The receiver of the connection before: what is still on its way to it counts as delivered.
    past: Receiver,
    duplicates: u32,
    /// Packets that duplicate ACKs let go, whatever the window says.
    limited: u32,
    /// Losses are not answered again before all packets before this one are acknowledged.
    recover: u32,
    last_send: Option<Instant>,
    rto_at: Instant,
    rtt: TickEstimator,
    /// When the timer last expired: the ACK of a packet sent since ends the backoff.
    expired_at: Option<Instant>,
    turn: u32,
    planned: Instant,
    totals: Totals,
}

impl<S: Scheme> RationalRemy13<S> {
    /// Number `id` of the senders, with nothing to send yet.
    pub fn new(scheme: S, id: u16, settings: Settings) -> RationalRemy13<S> {
        RationalRemy13 {
            scheme,
            settings,
            id,
            on: false,
            opened: false,
            first: 0,
            next: 0,
            edge: 0,
            end: 0,
            una: 0,
            receiver: Receiver::new(0),
            past: Receiver::new(0),
            duplicates: 0,
            limited: 0,
            recover: 0,
            last_send: None,
            rto_at: Instant::NEVER,
            rtt: TickEstimator::default(),
            expired_at: None,
            turn: 0,
            planned: Instant::NEVER,
            totals: Totals::default(),
        }
    }

    /// What decides about window and pace.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// Packets sent and not acknowledged cumulatively.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.next - self.una
    }

    /// The number of the next new packet.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        self.edge
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        self.rtt.srtt / 8 * TICK
    }

    /// The latest RTT sample, in whole ticks; 0 before the first.
    #[must_use]
    pub fn latest_rtt(&self) -> Duration {
        self.rtt.latest * TICK
    }

    /// Forgets everything, at the beginning of a connection.
    fn open(&mut self, now: Instant) {
        self.opened = true;
        let first = self.edge;
        (self.first, self.next, self.una, self.recover) = (first, first, first, first);
        self.end = first + u32::from(self.settings.opening != Opening::Data);
        self.past = std::mem::replace(&mut self.receiver, Receiver::new(first));
        (self.duplicates, self.limited) = (0, 0);
        self.last_send = None;
        self.rto_at = Instant::NEVER;
        self.rtt = TickEstimator::default();
        self.expired_at = None;
        self.scheme.start(now);
    }

    fn is_syn(&self, seq: u32) -> bool {
        self.settings.opening != Opening::Data && seq == self.first
    }

    /// Packets that may be in flight.
    #[must_use]
    pub fn window(&self) -> u32 {
        let alone = self.settings.opening == Opening::Syn && self.una == self.first;
        if alone { 1 } else { self.scheme.window().min(MAX_WINDOW) }
    }

    /// Whether the window lets a packet go, the pace apart.
    fn may_send(&self) -> bool {
        self.next < self.end && self.next - self.una < self.window()
    }

    fn paced_until(&self) -> Instant {
        self.last_send.map_or(Instant::START, |last| last.saturating_add(self.scheme.intersend()))
    }

    /// Any attempt to send after a silence finds memory and window anew.
    fn attempt(&mut self, now: Instant) {
        if self.last_send.is_some_and(|last| now - last > SILENCE) {
            self.scheme.start(now);
        }
    }

    fn send(&mut self, now: Instant) -> Packet {
        let seq = self.next;
        let again = seq < self.edge;
        let idle = self.una == self.edge;
        self.next += 1;
        self.edge = self.edge.max(self.next);
        self.totals.sent += 1;
        self.totals.retransmitted += u64::from(again);
        self.turn = if self.last_send == Some(now) { self.turn + 1 } else { 1 };
        self.last_send = Some(now);
        // Also the first after all was acknowledged: the timer that ran on was set for another packet.
        if self.rto_at == Instant::NEVER || idle {
            self.rto_at = now.saturating_add(self.rtt.rto());
        }
        let bytes = if self.is_syn(seq) { HEADER_BYTES } else { self.settings.packet_bytes };
        Packet { sent: now, seq, sender: self.id, bytes, ..Packet::default() }
    }

    /// Deals with an ACK for all packets before `next`, which echoes the time stamp `echo` and was caused by packet `seq`.
    fn on_ack(&mut self, next: u32, echo: Instant, seq: u32, now: Instant) {
        if next <= self.una {
            self.on_duplicate(now);
        } else {
            let acked = next - self.una;
            let syn = self.is_syn(self.una);
            self.una = next;
            self.next = self.next.max(next);
            (self.duplicates, self.limited) = (0, 0);
            self.rtt.sample(now - echo);
            self.totals.acks += 1;
            self.totals.sampled += self.latest_rtt();
            if self.expired_at.is_some_and(|expired| echo > expired) {
                self.rtt.backoff = 1;
                self.expired_at = None;
            }
            // Started anew also where all is acknowledged: it runs on through pauses.
            self.rto_at = now.saturating_add(self.rtt.rto());
            if !(syn && self.settings.opening == Opening::Syn) {
                self.tell_scheme(echo, seq, acked, now);
            }
        }
        self.attempt(now);
    }

    /// A duplicate ACK. At the third, Tahoe goes back to the gap, once per window of data.
    fn on_duplicate(&mut self, now: Instant) {
        self.duplicates += 1;
        if self.duplicates < DUPLICATES {
            self.limited += 1;
        } else if self.duplicates == DUPLICATES && self.una >= self.recover {
            self.recover = self.edge;
            self.totals.reductions += 1;
            self.go_back();
            self.rto_at = now.saturating_add(self.rtt.rto());
        }
    }

    /// The window is 1, and what follows the cumulative ACK is sent again.
    fn go_back(&mut self) {
        self.scheme.collapse();
        self.next = self.una;
        self.limited = 0;
    }

    fn time_out(&mut self, now: Instant) {
        let idle = self.una == self.edge;
        self.rtt.back_off();
        self.rto_at = now.saturating_add(self.rtt.rto());
        if idle {
            // Nothing is outstanding: the window is 1, and that is all.
            self.scheme.collapse();
            return;
        }
        self.totals.timeouts += 1;
        self.expired_at = Some(now);
        self.recover = self.edge;
        self.duplicates = 0;
        self.go_back();
        self.attempt(now);
    }

    fn tell_scheme(&mut self, echo: Instant, seq: u32, acked: u32, now: Instant) {
        let rtt = now - echo;
        self.scheme.on_ack(&Ack {
            sent: self.tick(echo),
            received: self.tick(now),
            seq,
            next_seq: self.edge,
            advance: acked,
            acked,
            newly_delivered: acked,
            delivered: self.totals.delivered,
            in_flight: self.in_flight(),
            rtt,
            min_rtt: rtt,
            srtt: self.srtt(),
            window_limited: true,
            ..Ack::default()
        });
    }

    /// Of each time on its own, as the memory works in whole ms.
    fn tick(&self, t: Instant) -> Instant {
        t.ticked(self.settings.clock)
    }

    /// Counts a packet that arrived, and so many that are in order by it.
    fn count(&mut self, packet: &Packet, now: Instant, new: bool, in_order: u32) {
        let syn = packet.bytes < self.settings.packet_bytes;
        self.totals.arrive(now - packet.sent, self.on, new, syn, in_order);
    }

    /// When it wants to act next.
    fn due(&self) -> Instant {
        let limited = if self.limited > 0 && self.next < self.end { Instant::START } else { Instant::NEVER };
        let send = if self.may_send() { self.paced_until() } else { Instant::NEVER };
        send.min(limited).min(self.rto_at)
    }

    /// Its time has come: a packet to send, if it has one.
    fn step(&mut self, now: Instant) -> Option<Packet> {
        if self.limited > 0 && self.next < self.end {
            // Limited transmit heeds neither window nor pace (RFC 3042).
            self.limited -= 1;
            Some(self.send(now))
        } else if self.rto_at <= now {
            self.time_out(now);
            None
        } else if self.may_send() && self.paced_until() <= now {
            Some(self.send(now))
        } else {
            None
        }
    }
}

impl<S: Scheme> Endpoint for RationalRemy13<S> {
    acts_in_steps!();

    fn start(&mut self, now: Instant, packets: u32) {
        self.on = true;
        if !self.opened || self.settings.connections == Connections::Fresh {
            self.open(now);
        }
        self.end = self.end.max(self.edge).saturating_add(packets).min(NUMBERS);
        self.attempt(now);
        self.turn = 0;
    }

    fn receive(&mut self, packet: &Packet, now: Instant, _clock: Duration) {
        if packet.seq < self.first {
            // Of an earlier connection, which nobody listens to any more.
            let before = self.past.next();
            let new = self.past.takes(packet.seq);
            self.count(packet, now, new, self.past.next() - before);
            return;
        }
        let before = self.receiver.next();
        let settings = Settings { delayed_ack: Duration::ZERO, ..self.settings };
        let (new, _) = self.receiver.receive(packet, now, &settings);
        self.count(packet, now, new, self.receiver.next() - before);
        let feedback = self.receiver.acknowledge();
        self.on_ack(feedback.next, feedback.echo, packet.seq, now);
        self.receiver.recycle(feedback);
    }
}

#[cfg(test)]
mod tests;
