//! Any path: hops with queue disciplines and links that may change, one after another, shared by routes that may differ.
//!
//! A packet waits in a hop's queue, is transmitted, may be lost, and is then under way for a constant time (a delay line) to
//! its next hop or, after the last, to the receiver and back as an ACK. Packets are conserved: each one sent is
//! delivered, dropped, lost, or on its way.
//!
//! Senders that learn of losses (those of the design simulator) do so when the packet would have arrived: it goes on as a
//! gap, which takes no room and no time of a link, and keeps its place behind the packets before it.

use super::hop::{Hop, HopEvent, HopEventKind, HopTotals};
use super::{Crowd, DelayLine, Path};
use crate::network::{FlowPlan, Network, Reordering};
use crate::packet::Packet;
use crate::random::{Purpose, Seed, Stream};
use crate::time::{Duration, Instant};

/// What the ends of flows send, as far as it matters to what is between them.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Bytes of a packet, where all are of one size.
    pub packet_bytes: Option<u16>,
    /// Bytes of each flow's ACKs, which take so long on the links' way back.
    pub ack_bytes: Vec<u16>,
    /// Senders are told of losses: for that packets must be of one size, and all queues drop tail before constant rates.
    pub learns_losses: bool,
}

/// The way of one sender's packets.
#[derive(Clone, Debug)]
struct Route {
    /// The hops, in order.
    hops: Vec<u8>,
    /// The delay line after each hop.
    lines: Vec<u16>,
    /// Jitter and reordering at its end.
    noise: Noise,
}

/// The delay after each hop of a flow's route: that of the hop, and after the last what is left of the RTT.
fn legs(network: &Network, flow: &FlowPlan, rtt_ms: f64) -> Vec<(u8, Duration)> {
    let mut left = Duration::from_ms(rtt_ms);
    let leg = |(k, &hop): (usize, &u8)| {
        let last = k + 1 == flow.route.len();
        let delay = if last { left } else { Duration::from_ms(network.hops[usize::from(hop)].delay_ms).min(left) };
        left -= delay;
        (hop, delay)
    };
    flow.route.iter().enumerate().map(leg).collect()
}

/// What clouds the delay of a route.
#[derive(Clone, Debug)]
struct Noise {
    jitter: f64,
    jitter_stream: Stream,
    reordering: Reordering,
    reordering_stream: Stream,
    /// When the newest packet arrives of those that were not held back to be overtaken.
    newest: Instant,
}

impl Noise {
    fn of(network: &Network, flow: usize, seed: Seed) -> Noise {
        let stream = |purpose| Stream::new(seed.root, seed.specimen, flow as u64, purpose);
        Noise {
            jitter: network.jitter_ms * 1e6,
            jitter_stream: stream(Purpose::Jitter),
            reordering: network.reordering,
            reordering_stream: stream(Purpose::Reordering),
            newest: Instant::START,
        }
    }

    fn is_none(&self) -> bool {
        self.jitter == 0.0 && self.reordering.probability == 0.0
    }

    /// When a packet arrives that would be there at `at`. Jitter holds packets back and lets none overtake; reordering
    /// holds one back on its own.
    fn arrival(&mut self, at: Instant) -> Instant {
        let late = if self.jitter > 0.0 { self.jitter_stream.uniform() * self.jitter } else { 0.0 };
        let due = self.newest.max(at + Duration::from_nanos_f64(late));
        let Reordering { probability, delay } = self.reordering;
        if probability > 0.0 && self.reordering_stream.uniform() < probability {
            return due + delay;
        }
        self.newest = due;
        due
    }
}

/// Where a delay line leads is the business of the packets in it; a hop's delay lines follow those of the hop before.
type PacketLine = DelayLine<Packet>;

/// Hops and delay lines in motion.
#[derive(Clone, Debug)]
pub struct Topology {
    hops: Vec<Hop>,
    lines: Vec<PacketLine>,
    /// Packets past their last hop whose delay is clouded.
    noisy: Crowd<Packet>,
    /// Each delay line's delay and the hop before it, to find it again.
    delays: Vec<(u8, Duration)>,
    routes: Vec<Route>,
    /// The next event: its time, and the hop, or the number of hops plus the delay line; last come the noisy packets.
    next: (Instant, usize),
    clock: Duration,
    learns_losses: bool,
    lost: u64,
    /// Packets on their way and not lost.
    under_way: u64,
    /// Scratch space for what a queue drops and what a link lets go.
    dropped: Vec<Packet>,
    departed: Vec<Packet>,
}

impl Topology {
    /// The path of a network, empty.
    #[must_use]
    pub fn new(network: &Network, wire: &Wire, seed: Seed) -> Topology {
        let hop = |(i, plan)| Hop::new(plan, i, wire.packet_bytes, seed);
        let hops: Vec<Hop> = network.hops.iter().enumerate().map(hop).collect();
        assert!(
            !wire.learns_losses || hops.iter().all(Hop::is_plain),
            "no queue tells senders of losses but drop tail"
        );
        let mut topology = Topology {
            hops,
            lines: Vec::new(),
            noisy: Crowd::default(),
            delays: Vec::new(),
            routes: Vec::new(),
            next: (Instant::NEVER, 0),
            clock: Duration::from_ms(network.clock_ms),
            learns_losses: wire.learns_losses,
            lost: 0,
            under_way: 0,
            dropped: Vec::new(),
            departed: Vec::new(),
        };
        for (i, flow) in network.flows.iter().enumerate() {
            let rtt_ms = flow.rtt_ms + network.transmission_ms(i, wire.ack_bytes[i]);
            topology.add_route(&legs(network, flow, rtt_ms), Noise::of(network, i, seed));
        }
        topology
    }

    /// Adds the way of the next sender: its hops in order, and the delay after each.
    fn add_route(&mut self, legs: &[(u8, Duration)], noise: Noise) {
        let line = |&(hop, delay): &(u8, Duration)| {
            let known = self.delays.iter().position(|&d| d == (hop, delay));
            known.unwrap_or_else(|| {
                self.delays.push((hop, delay));
                self.lines.push(DelayLine::default());
                self.lines.len() - 1
            }) as u16
        };
        let lines = legs.iter().map(line).collect();
        self.routes.push(Route { lines, hops: legs.iter().map(|&(hop, _)| hop).collect(), noise });
    }

    /// What each hop did.
    #[must_use]
    pub fn hop_totals(&self, now: Instant) -> Vec<HopTotals> {
        self.hops.iter().map(|hop| hop.totals(now)).collect()
    }

    /// Keeps a journal of what happens at the hops from now on.
    pub fn keep_journal(&mut self) {
        self.hops.iter_mut().for_each(|hop| hop.journal = Some(Vec::new()));
    }

    /// Takes what the journals have so far, with the numbers of the hops, in order of time.
    pub fn take_journal(&mut self) -> Vec<(usize, HopEvent)> {
        let take = |hop: &mut Hop| hop.journal.replace(Vec::new()).unwrap_or_default();
        let mut events: Vec<(usize, HopEvent)> = Vec::new();
        for (i, hop) in self.hops.iter_mut().enumerate() {
            events.extend(take(hop).into_iter().map(|event| (i, event)));
        }
        // A plain queue notes departures when packets arrive, and cannot tell then how many it will leave behind.
        events.sort_by_key(|(_, event)| event.time);
        let mut inside = vec![0_u32; self.hops.len()];
        for (i, event) in &mut events {
            match event.kind {
                HopEventKind::Enter => inside[*i] += 1,
                HopEventKind::Drop | HopEventKind::Leave => inside[*i] = inside[*i].saturating_sub(1),
            }
            if event.kind == HopEventKind::Leave && self.hops[*i].is_plain() {
                event.backlog = inside[*i];
            }
        }
        events
    }

    /// Lets a packet into the next hop of its route, or a gap past it.
    fn enter(&mut self, packet: Packet, now: Instant) -> Option<Instant> {
        let hop = usize::from(self.routes[usize::from(packet.sender)].hops[usize::from(packet.hop)]);
        if packet.lost {
            self.leave(hop, packet, self.hops[hop].clear(now));
            return None;
        }
        let departs = self.hops[hop].arrive(packet, now, &mut self.dropped);
        if let Some(departs) = departs {
            // The hop's queue is a plain one: the packet's way through it is known, and it is already beyond.
            self.leave(hop, packet, departs);
        }
        self.bury(hop, now);
        departs
    }

    /// Sends a packet that left a hop at `now` on its way, unless the link loses it; gaps are lost already.
    fn leave(&mut self, hop: usize, mut packet: Packet, now: Instant) {
        if !packet.lost && self.hops[hop].loses() {
            self.lose(&mut packet);
            if !self.learns_losses {
                return;
            }
        }
        let route = &mut self.routes[usize::from(packet.sender)];
        let leg = usize::from(packet.hop);
        let line = usize::from(route.lines[leg]);
        let at = now + self.delays[line].1;
        packet.hop += 1;
        if leg + 1 < route.hops.len() || route.noise.is_none() {
            self.lines[line].push(at, packet);
        } else {
            self.noisy.push(packet.sender, route.noise.arrival(at), packet);
        }
    }

    /// Counts what the queue of a hop dropped, and sends the gaps on their way where senders learn of losses.
    fn bury(&mut self, hop: usize, now: Instant) {
        while let Some(mut packet) = self.dropped.pop() {
            self.lose(&mut packet);
            if self.learns_losses {
                self.leave(hop, packet, self.hops[hop].clear(now));
            }
        }
    }

    fn lose(&mut self, packet: &mut Packet) {
        packet.lost = true;
        self.lost += 1;
        self.under_way -= 1;
    }

    /// What comes next. At one instant departures come before arrivals where tail is dropped, as where they are told on
    /// arrival. Under other disciplines arrivals come first, as in ns-2, where they were planned before: there packets do
    /// arrive at the very moment of a departure, and whose turn is next depends on it.
    fn find_next(&mut self) {
        let mut first = (Instant::NEVER, 0);
        let mut sooner = |at: Instant, i: usize| {
            if at < first.0 {
                first = (at, i);
            }
        };
        let hops = || self.hops.iter().enumerate();
        hops().filter(|(_, hop)| hop.drops_tail()).for_each(|(i, hop)| sooner(hop.next, i));
        let lines = self.lines.iter().map(DelayLine::next).zip(self.hops.len()..);
        lines.for_each(|(at, i)| sooner(at, i));
        sooner(self.noisy.next(), self.hops.len() + self.lines.len());
        hops().filter(|(_, hop)| !hop.drops_tail()).for_each(|(i, hop)| sooner(hop.next, i));
        self.next = first;
    }
}

impl Path for Topology {
    #[inline(always)]
    fn next<const PLAIN: bool>(&self) -> Instant {
        self.next.0
    }

    fn step<const PLAIN: bool>(&mut self, now: Instant) -> Option<Packet> {
        let source = self.next.1;
        let mut arrived = None;
        if source < self.hops.len() {
            let mut departed = std::mem::take(&mut self.departed);
            self.hops[source].serve(now, &mut departed, &mut self.dropped);
            departed.drain(..).for_each(|packet| self.leave(source, packet, now));
            self.departed = departed;
            self.bury(source, now);
        } else {
            let line = self.lines.get_mut(source - self.hops.len());
            let packet = line.map_or_else(|| self.noisy.pop(), DelayLine::pop);
            if usize::from(packet.hop) == self.routes[usize::from(packet.sender)].hops.len() {
                self.under_way -= u64::from(!packet.lost);
                arrived = Some(packet);
            } else {
                self.enter(packet, now);
            }
        }
        self.find_next();
        arrived
    }

    fn send<const PLAIN: bool>(&mut self, packet: Packet, now: Instant) -> Option<Instant> {
        self.under_way += 1;
        let departs = self.enter(packet, now);
        self.find_next();
        departs
    }

    #[inline(always)]
    fn clock<const PLAIN: bool>(&self) -> Duration {
        self.clock
    }

    fn lost(&self) -> u64 {
        self.lost
    }

    fn in_flight(&self) -> u64 {
        self.under_way
    }

    fn backlog(&self, now: Instant) -> u64 {
        self.hops[0].backlog(now)
    }
}
