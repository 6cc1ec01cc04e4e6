//! TCP/Rational of Tao'14's ns-2, the transport under its RemyCCs: nothing of TCP but cumulative ACKs and a timer.
//!
//! Each transmission has an ordinal, and an ACK names one, by the time stamp that it echoes. The window is counted in
//! transmissions from the one that the latest ACK named. What an ACK's number leaps over is repaired at once, each number once;
//! where that repair is lost, a timeout is left, which sends one packet and changes nothing else. This is what the collapse of
//! figures 2 and 3 is made of.

mod estimator;

use std::collections::VecDeque;

use estimator::Estimator;
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::packet::{NUMBERS, Packet};
use exmachina_net::time::{Duration, Instant};

use super::receiver::Receiver;
use super::sack_blocks::SackBlocks;
use super::steps::acts_in_steps;
use super::{Connections, Settings};
use crate::scheme::{Ack, Scheme};

/// A transmission.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    at: Instant,
    seq: u32,
    /// 1 for the first.
    ordinal: u64,
}

/// An ACK that is longer than others and therefore still on its way.
#[derive(Clone, Copy, Debug)]
struct LongAck {
    due: Instant,
    /// All packets before this one arrived.
    next: u32,
    /// When the packet that it answers was sent.
    sent: Instant,
}

/// Both ends of one sender's connections.
#[derive(Clone, Debug)]
pub struct RationalTao14<S> {
    /// What decides about window and pace.
    pub scheme: S,
    settings: Settings,
    id: u16,
    on: bool,
    opened: bool,
    /// When the present on-period began.
    since: Instant,
    /// First packet of the present connection.
    first: u32,
    /// The next new packet.
    next: u32,
    /// The first packet past what the application gave ([`NUMBERS`]: no end in sight).
    end: u32,
    /// All packets before this one are acknowledged.
    una: u32,
    receiver: Receiver,
    /// The receiver of the connection before: what is still on its way to it counts as delivered.
    past: Receiver,
    blocks: SackBlocks,
    /// How long a block of 8 bytes makes an ACK take.
    block_delay: Duration,
    acks: VecDeque<LongAck>,
    /// Transmissions that an ACK may name, in order.
    record: VecDeque<Transmission>,
    transmissions: u64,
    /// Ordinal of the transmission that the latest ACK named; 0 before the first.
    named: u64,
    /// One more than the highest number that any ACK has named.
    highest: u32,
    /// Numbers to be sent again, in order.
    repairs: VecDeque<u32>,
    last_send: Instant,
    /// The pace lets nothing go before.
    paced_until: Instant,
    rto_at: Instant,
    rtt: Estimator,
    latest_rtt: Duration,
    turn: u32,
    planned: Instant,
    totals: Totals,
}

impl<S: Scheme> RationalTao14<S> {
    /// Number `id` of the senders, with nothing to send yet; each SACK block makes an ACK take so much longer.
    pub fn new(scheme: S, id: u16, settings: Settings, block_delay: Duration) -> RationalTao14<S> {
        RationalTao14 {
            scheme,
            settings,
            id,
            on: false,
            opened: false,
            since: Instant::START,
            first: 0,
            next: 0,
            end: 0,
            una: 0,
            receiver: Receiver::new(0),
            past: Receiver::new(0),
            blocks: SackBlocks::default(),
            block_delay,
            acks: VecDeque::new(),
            record: VecDeque::new(),
            transmissions: 0,
            named: 0,
            highest: 0,
            repairs: VecDeque::new(),
            last_send: Instant::START,
            paced_until: Instant::START,
            rto_at: Instant::NEVER,
            rtt: Estimator::default(),
            latest_rtt: Duration::ZERO,
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
        self.latest_rtt
    }

    /// Transmissions that may follow the one that the latest ACK named.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.scheme.window()
    }

    /// Transmissions since the one that the latest ACK named.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        u32::try_from(self.transmissions - self.named).unwrap_or(u32::MAX)
    }

    /// The number of the next new packet.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        self.next
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        Duration::from_s(self.rtt.srtt_s)
    }

    /// Forgets everything, at the beginning of a connection.
    fn open(&mut self, now: Instant) {
        self.opened = true;
        (self.first, self.una, self.highest, self.end) = (self.next, self.next, self.next, self.next);
        self.past = std::mem::replace(&mut self.receiver, Receiver::new(self.next));
        self.blocks = SackBlocks::default();
        self.acks.clear();
        self.record.clear();
        self.repairs.clear();
        (self.transmissions, self.named) = (0, 0);
        self.rto_at = Instant::NEVER;
        self.rtt = Estimator::default();
        self.scheme.start(now);
    }

    /// Whether a packet may go, the pace apart.
    fn may_send(&self) -> bool {
        let has_one = !self.repairs.is_empty() || self.next < self.end;
        has_one && self.transmissions < self.named + u64::from(self.scheme.window())
    }

    /// Sends a packet, new or not.
    fn send(&mut self, seq: u32, now: Instant) -> Packet {
        self.transmissions += 1;
        // The record is by time: of two packets sent at one instant it knows the latter.
        if self.record.back().is_some_and(|last| last.at == now) {
            self.record.pop_back();
        }
        self.record.push_back(Transmission { at: now, seq, ordinal: self.transmissions });
        let again = seq < self.next;
        self.next = self.next.max(seq + 1);
        self.totals.sent += 1;
        self.totals.retransmitted += u64::from(again);
        self.turn = if now == self.last_send { self.turn + 1 } else { 1 };
        self.last_send = now;
        if self.rto_at == Instant::NEVER {
            self.rto_at = now.saturating_add(self.rtt.rto());
        }
        Packet { sent: now, seq, sender: self.id, bytes: self.settings.packet_bytes, ..Packet::default() }
    }

    /// The pace lets the next packet go.
    fn send_paced(&mut self, now: Instant) -> Packet {
        let seq = self.repairs.pop_front().unwrap_or(self.next);
        let packet = self.send(seq, now);
        self.paced_until = now.saturating_add(self.scheme.intersend());
        packet
    }

    /// The transmission that was sent at this time.
    fn transmission(&mut self, sent: Instant, now: Instant) -> Option<Transmission> {
        // Nothing overtakes by more than an RTT.
        let oldest = sent.saturating_sub(now - sent);
        while self.record.front().is_some_and(|t| t.at < oldest) {
            self.record.pop_front();
        }
        let i = self.record.binary_search_by_key(&sent, |t| t.at).ok()?;
        self.record.get(i).copied()
    }

    /// Deals with an ACK, be it of new data, duplicate, or of an earlier on-period's packet.
    fn on_ack(&mut self, next: u32, sent: Instant, now: Instant) {
        let Some(named) = self.transmission(sent, now) else { return };
        self.named = named.ordinal;
        let acked = next.saturating_sub(self.una);
        self.una = self.una.max(next);
        if acked > 0 {
            // With the timeout before this ACK's sample.
            let done = self.una == self.next && self.next == self.end;
            self.rto_at = if done { Instant::NEVER } else { now.saturating_add(self.rtt.rto()) };
        }
        let rtt = now - sent;
        self.latest_rtt = rtt;
        self.rtt.sample(rtt.as_s());
        self.totals.acks += 1;
        self.totals.sampled += rtt;
        let lost = self.find_losses(named.seq);
        self.tell_scheme(named, acked, lost, now);
        self.paced_until = self.last_send.saturating_add(self.scheme.intersend());
    }

    /// What the number of an ACK leaps over is to be sent again: how much that is.
    fn find_losses(&mut self, seq: u32) -> u32 {
        let missing = self.highest..seq.max(self.highest);
        self.repairs.extend(missing.clone());
        self.highest = self.highest.max(seq + 1);
        missing.len() as u32
    }

    fn tell_scheme(&mut self, named: Transmission, acked: u32, lost: u32, now: Instant) {
        if named.at < self.since && self.scheme.capabilities().forgets {
            // The memory is that of another flow, but the rule acts.
            self.scheme.on_stale_ack();
            return;
        }
        let rtt = now - named.at;
        self.scheme.on_ack(&Ack {
            sent: self.tick(named.at),
            received: self.tick(now),
            seq: named.seq,
            next_seq: self.next,
            advance: u32::from(named.seq + 1 == self.highest) * (lost + 1),
            acked,
            newly_delivered: 1,
            delivered: self.totals.delivered,
            in_flight: self.in_flight(),
            rtt,
            min_rtt: Duration::from_s(self.rtt.min_s),
            srtt: self.srtt(),
            window_limited: true,
            lost,
            ..Ack::default()
        });
    }

    fn tick(&self, t: Instant) -> Instant {
        t.ticked(self.settings.clock)
    }

    /// The timer expired: the packet after the cumulative ACK is sent, whatever window and pace say.
    fn time_out(&mut self, now: Instant) -> Option<Packet> {
        self.rto_at = Instant::NEVER;
        if self.una == self.next && self.next == self.end {
            return None;
        }
        self.totals.timeouts += u64::from(self.una < self.next);
        self.rtt.back_off();
        Some(self.send(self.una, now))
    }

    /// A packet reached the receiver, which answers.
    fn deliver(&mut self, packet: &Packet, now: Instant) {
        // Of an earlier connection: nobody listens to it any more.
        let past = packet.seq < self.first;
        let receiver = if past { &mut self.past } else { &mut self.receiver };
        let before = receiver.next();
        let new = receiver.takes(packet.seq);
        self.totals.arrive(now - packet.sent, self.on, new, false, receiver.next() - before);
        if past {
            return;
        }
        let blocks = self.blocks.report(packet.seq, &self.receiver);
        // ACKs do not overtake each other.
        let behind = self.acks.back().map_or(Instant::START, |ack| ack.due);
        let due = (now + self.block_delay * u64::from(blocks)).max(behind);
        if due == now {
            self.on_ack(self.receiver.next(), packet.sent, now);
        } else {
            self.acks.push_back(LongAck { due, next: self.receiver.next(), sent: packet.sent });
        }
    }

    /// When it wants to act next.
    fn due(&self) -> Instant {
        let send = if self.may_send() { self.paced_until } else { Instant::NEVER };
        let ack = self.acks.front().map_or(Instant::NEVER, |ack| ack.due);
        send.min(self.rto_at).min(ack)
    }

    /// Its time has come: a packet to send, if it has one.
    fn step(&mut self, now: Instant) -> Option<Packet> {
        let due = self.acks.front().is_some_and(|ack| ack.due <= now);
        if let Some(ack) = due.then(|| self.acks.pop_front()).flatten() {
            self.on_ack(ack.next, ack.sent, now);
            None
        } else if self.rto_at <= now {
            self.time_out(now)
        } else if self.may_send() && self.paced_until <= now {
            Some(self.send_paced(now))
        } else {
            None
        }
    }
}

impl<S: Scheme> Endpoint for RationalTao14<S> {
    acts_in_steps!();

    fn start(&mut self, now: Instant, packets: u32) {
        self.on = true;
        self.since = now;
        if !self.opened || self.settings.connections == Connections::Fresh {
            self.open(now);
        } else {
            self.scheme.resume(now, now.since(self.last_send));
        }
        self.end = self.end.max(self.next).saturating_add(packets).min(NUMBERS);
        self.paced_until = now;
        self.turn = 0;
    }

    fn receive(&mut self, packet: &Packet, now: Instant, _clock: Duration) {
        self.deliver(packet, now);
    }
}

#[cfg(test)]
mod tests;
