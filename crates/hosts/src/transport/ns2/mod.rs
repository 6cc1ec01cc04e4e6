//! TCP as the authors' ns-2.35 has it: the agents under Remy'13's and Tao'14's human schemes. They differ from the stacks of
//! their day, and from each other, in ways that decide the papers' figures, so that each has its own rules:
//! TCP/Linux (`linux.rs`, with its scoreboard in `board.rs`), and ns-2's own TCPs (`tcp.rs`). Here is what they share: the
//! application, the sink, the SYN, and when a packet may go.

mod board;
mod estimator;
mod linux;
mod tcp;

pub use linux::Linux;
pub use tcp::Tcp;

use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::packet::{NUMBERS, Packet, XcpHeader};
use exmachina_net::time::{Duration, Instant};

use super::receiver::{Feedback, Receiver};
use super::steps::acts_in_steps;
use super::{Connections, HEADER_BYTES, Opening, Settings};
use crate::scheme::Scheme;

/// What the agents differ in: how they learn of losses, what they send again, and how long they wait.
pub trait Rules: Clone {
    /// Of a new connection whose first packet is this.
    fn new(first: u32, settings: &Settings) -> Self;
    /// The oldest packet that is not acknowledged.
    fn una(&self) -> u32;
    /// The next packet that was never sent.
    fn next(&self) -> u32;
    /// Packets in flight.
    fn in_flight(&self) -> u32;
    /// The smoothed RTT, ns; 0 before the first sample.
    fn srtt(&self) -> Duration;
    /// The latest sample of the RTT, ns; 0 before the first.
    fn latest_rtt(&self) -> Duration;
    /// Packets that may be in flight under a scheme that allows this many.
    fn window(&self, window: u32) -> u32;
    /// Whether a packet may go, where the scheme allows so many in flight and the application gave those before `end`.
    fn may_send(&self, window: u32, end: u32) -> bool;
    /// The application has more to send.
    fn resume(&mut self) {}
    /// Sends a packet: its number. It may.
    fn send(&mut self, now: Instant) -> u32;
    /// When the retransmission timer expires.
    fn expires(&self) -> Instant;
    /// Deals with an ACK.
    fn acknowledge<S: Scheme>(&mut self, ack: &Feedback, scheme: &mut S, now: Instant, totals: &mut Totals);
    /// The retransmission timer expired.
    fn time_out<S: Scheme>(&mut self, scheme: &mut S, now: Instant, totals: &mut Totals);
}

/// Both ends of one sender's connections: an agent and its sink.
#[derive(Clone, Debug)]
pub struct Agent<S, R> {
    /// What decides about the window.
    pub scheme: S,
    rules: R,
    settings: Settings,
    id: u16,
    on: bool,
    opened: bool,
    /// The first packet of the present connection.
    first: u32,
    /// The first packet past what the application gave ([`NUMBERS`]: no end in sight).
    end: u32,
    receiver: Receiver,
    /// The sink of the connection before: what is still on its way to it counts as delivered.
    past: Receiver,
    last_send: Instant,
    turn: u32,
    planned: Instant,
    totals: Totals,
}

impl<S: Scheme, R: Rules> Agent<S, R> {
    /// Number `id` of the senders, with nothing to send yet.
    pub fn new(scheme: S, id: u16, settings: Settings) -> Agent<S, R> {
        Agent {
            scheme,
            rules: R::new(0, &settings),
            settings,
            id,
            on: false,
            opened: false,
            first: 0,
            end: 0,
            receiver: Receiver::new(0),
            past: Receiver::new(0),
            last_send: Instant::START,
            turn: 0,
            planned: Instant::NEVER,
            totals: Totals::default(),
        }
    }

    /// What decides about the window.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The latest sample of the RTT, ns; 0 before the first.
    #[must_use]
    pub fn latest_rtt(&self) -> Duration {
        self.rules.latest_rtt()
    }

    /// Packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.rules.in_flight()
    }

    /// The number of the next new packet.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        self.rules.next()
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        self.rules.una()
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        self.rules.srtt()
    }

    /// Packets that may be in flight: the scheme's window, or what is left of it in recovery.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.rules.window(self.scheme.window())
    }

    /// A new connection: all state at its beginning.
    fn open(&mut self, now: Instant) {
        let next = self.rules.next();
        self.opened = true;
        (self.first, self.end) = (next, next);
        self.rules = R::new(next, &self.settings);
        self.past = std::mem::replace(&mut self.receiver, Receiver::new(next));
        self.scheme.start(now);
        // The SYN is a packet of the stream, before those of the application.
        self.end += u32::from(self.settings.opening != Opening::Data);
    }

    fn may_send(&self) -> bool {
        self.rules.may_send(self.scheme.window(), self.end)
    }

    fn send(&mut self, now: Instant) -> Packet {
        let fresh = self.rules.next();
        let seq = self.rules.send(now);
        self.totals.sent += 1;
        self.totals.retransmitted += u64::from(seq < fresh);
        self.turn = if now == self.last_send { self.turn + 1 } else { 1 };
        self.last_send = now;
        let is_syn = self.settings.opening != Opening::Data && seq == self.first;
        Packet {
            sent: now,
            seq,
            sender: self.id,
            bytes: if is_syn { HEADER_BYTES } else { self.settings.packet_bytes },
            xcp: if self.scheme.capabilities().xcp { self.xcp_header() } else { XcpHeader::default() },
            ..Packet::default()
        }
    }

    /// Asks XCP's routers for all that they can give (Katabi et al. 2002 §3.2); without an RTT for nothing.
    fn xcp_header(&self) -> XcpHeader {
        XcpHeader {
            window_bytes: f64::from(self.scheme.window()) * f64::from(self.settings.packet_bytes),
            rtt_s: self.rules.srtt().as_s(),
            feedback_bytes: f64::INFINITY,
        }
    }

    /// Counts a packet that arrived, and so many that are in order by it.
    fn deliver(&mut self, packet: &Packet, now: Instant, new: bool, in_order: u32) {
        let syn = packet.bytes < self.settings.packet_bytes;
        self.totals.arrive(now - packet.sent, self.on, new, syn, in_order);
    }

    fn on_ack(&mut self, now: Instant) {
        let feedback = self.receiver.acknowledge();
        self.rules.acknowledge(&feedback, &mut self.scheme, now, &mut self.totals);
        self.totals.acks += 1;
        self.totals.sampled += self.rules.latest_rtt();
        self.receiver.recycle(feedback);
    }

    /// When it wants to act next.
    fn due(&self) -> Instant {
        let send =
            if self.may_send() { self.last_send.saturating_add(self.scheme.intersend()) } else { Instant::NEVER };
        send.min(self.rules.expires()).min(self.receiver.deadline)
    }

    /// Its time has come: a packet to send, if it has one.
    fn step(&mut self, now: Instant) -> Option<Packet> {
        if self.receiver.deadline <= now {
            self.on_ack(now);
            None
        } else if self.rules.expires() <= now {
            self.rules.time_out(&mut self.scheme, now, &mut self.totals);
            None
        } else if self.may_send() && self.last_send.saturating_add(self.scheme.intersend()) <= now {
            Some(self.send(now))
        } else {
            None
        }
    }
}

impl<S: Scheme, R: Rules> Endpoint for Agent<S, R> {
    acts_in_steps!();

    fn start(&mut self, now: Instant, packets: u32) {
        self.on = true;
        if !self.opened || self.settings.connections == Connections::Fresh {
            self.open(now);
        }
        // The agent is told of no pause: what it knew, it goes on with.
        self.end = self.end.max(self.rules.next()).saturating_add(packets).min(NUMBERS);
        self.rules.resume();
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
            self.on_ack(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::ConstantWindow;

    /// Numbers end at 2^31; the on-period with them, which says so.
    #[test]
    fn packet_numbers_do_not_wrap() {
        let mut agent: Agent<_, Tcp> = Agent::new(ConstantWindow { packets: 6 }, 0, Settings::remy13());
        agent.start(Instant::START, u32::MAX);
        assert_eq!(agent.end, NUMBERS);
    }
}
