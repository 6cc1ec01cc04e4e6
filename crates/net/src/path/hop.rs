//! One hop: a queue, the link that serves it, and the packets that the link loses.

use super::{Pipe, Transmitter};
use crate::network::{HopPlan, LinkPlan};
use crate::packet::Packet;
use crate::queue::{AnyQueue, Queue};
use crate::random::{Purpose, Seed, Stream};
use crate::service::{Carrier, CellularLink, OPPORTUNITY_BYTES, Service, TraceLink};
use crate::time::Instant;

/// A queue and its link.
#[derive(Clone, Debug)]
pub struct Hop {
    kind: Kind,
    /// When something happens here next.
    pub(super) next: Instant,
    /// Probability that a packet is lost after the queue, for no reason of congestion.
    loss: f64,
    loss_stream: Stream,
    totals: HopTotals,
    /// What happened, where somebody wants to know.
    pub(super) journal: Option<Vec<HopEvent>>,
}

/// How departures come about.
#[derive(Clone, Debug)]
enum Kind {
    /// First come, first served, tail drop, constant rate: a departure is known on arrival, and nothing is stored.
    Fifo(Pipe),
    /// A link that is busy for as long as a packet takes.
    Steady { queue: Box<AnyQueue>, link: Transmitter, transmitting: Option<Packet> },
    /// A link that has opportunities, each for some bytes (mahimahi's model).
    Opportunities { queue: Box<AnyQueue>, service: Service, carrier: Carrier },
}

/// What a hop did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HopTotals {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets dropped by the queue.
    pub dropped: u64,
    /// Packets lost after the queue.
    pub lost: u64,
    /// Bytes transmitted.
    pub sent_bytes: u64,
    /// Packets in the queue and on the link.
    pub backlog: u64,
}

/// Something that happened at a hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopEvent {
    /// When.
    pub time: Instant,
    /// What.
    pub kind: HopEventKind,
    /// The packet's sender.
    pub sender: u16,
    /// The packet's number.
    pub seq: u32,
    /// Packets in the queue and on the link after it.
    pub backlog: u32,
}

/// What happened at a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopEventKind {
    /// A packet entered the queue.
    Enter,
    /// A packet was dropped.
    Drop,
    /// A packet left the link.
    Leave,
}

impl Hop {
    /// Hop number `number` of a network, idle. Where all packets are of one size, a drop-tail queue before a constant rate
    /// stores nothing.
    #[must_use]
    pub fn new(plan: &HopPlan, number: usize, packet_bytes: Option<u16>, seed: Seed) -> Hop {
        let stream = |purpose| Stream::new(seed.root, seed.specimen, number as u64, purpose);
        let queue = || {
            let bytes_per_s = plan.link.mean_mbps() * 1e6 / 8.0;
            Box::new(AnyQueue::new(&plan.queue, plan.limit, bytes_per_s, stream(Purpose::Queue)))
        };
        let kind = match (plan.drop_tail_mbps(), packet_bytes, &plan.link) {
            (Some(mbps), Some(bytes), _) => Kind::Fifo(Pipe::new(mbps, bytes, plan.limit)),
            (.., LinkPlan::Rate(mbps)) => {
                Kind::Steady { queue: queue(), link: Transmitter::new(*mbps), transmitting: None }
            }
            (.., LinkPlan::Trace(trace, offset_ms)) => {
                let link = TraceLink::new(trace.clone(), *offset_ms);
                Kind::Opportunities { queue: queue(), service: Service::Trace(link), carrier: Carrier::default() }
            }
            (.., LinkPlan::Cellular(cellular)) => {
                let link = CellularLink::new(*cellular, seed.root, seed.specimen, number as u64);
                Kind::Opportunities { queue: queue(), service: Service::Cellular(link), carrier: Carrier::default() }
            }
        };
        Hop {
            kind,
            next: Instant::NEVER,
            loss: plan.loss,
            loss_stream: stream(Purpose::Loss),
            totals: HopTotals::default(),
            journal: None,
        }
    }

    /// A packet arrives: when it departs, if that is known already.
    pub(super) fn arrive(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) -> Option<Instant> {
        self.totals.arrived += 1;
        packet.enqueued = now;
        let before = dropped.len();
        let mut departs = None;
        match &mut self.kind {
            Kind::Fifo(link) => {
                if link.is_full(now) {
                    dropped.push(packet);
                } else {
                    let at = link.accept(now);
                    self.totals.sent_bytes += u64::from(packet.bytes);
                    departs = Some(at);
                }
            }
            Kind::Steady { queue, link, transmitting } => {
                queue.enqueue(packet, now, dropped);
                if transmitting.is_none() {
                    *transmitting = queue.dequeue(now, dropped);
                    self.next = transmitting
                        .as_ref()
                        .map_or(Instant::NEVER, |p| now.saturating_add(link.transmit(p.bytes, true)));
                }
            }
            Kind::Opportunities { queue, service, .. } => {
                queue.enqueue(packet, now, dropped);
                if self.next == Instant::NEVER && queue.packets() > 0 {
                    self.next = service.next_opportunity(now);
                }
            }
        }
        if self.journal.is_some() {
            self.note(now, HopEventKind::Enter, &packet);
            departs.inspect(|&at| self.note(at, HopEventKind::Leave, &packet));
        }
        self.count_drops(now, &dropped[before..]);
        departs
    }

    /// The link finished a packet, or has an opportunity: what leaves it.
    pub(super) fn serve(&mut self, now: Instant, departed: &mut Vec<Packet>, dropped: &mut Vec<Packet>) {
        let before = dropped.len();
        match &mut self.kind {
            Kind::Fifo(_) => {}
            Kind::Steady { queue, link, transmitting } => {
                departed.extend(transmitting.take());
                *transmitting = queue.dequeue(now, dropped);
                self.next =
                    transmitting.as_ref().map_or(Instant::NEVER, |p| now.saturating_add(link.transmit(p.bytes, false)));
            }
            Kind::Opportunities { queue, service, carrier } => {
                service.advance();
                carrier.deliver(OPPORTUNITY_BYTES, || queue.dequeue(now, dropped), |packet| departed.push(packet));
                let idle = queue.packets() == 0 && carrier.in_transit().is_none();
                self.next = if idle { Instant::NEVER } else { service.next_opportunity(now) };
            }
        }
        for packet in departed.iter() {
            self.totals.sent_bytes += u64::from(packet.bytes);
            self.note(now, HopEventKind::Leave, packet);
        }
        self.count_drops(now, &dropped[before..]);
    }

    /// When all that is here now will have left, as far as that is known: when a gap behind it would.
    pub(super) fn clear(&self, now: Instant) -> Instant {
        match &self.kind {
            Kind::Fifo(link) => link.free().max(now),
            Kind::Steady { .. } | Kind::Opportunities { .. } => now,
        }
    }

    /// Whether the link loses a packet.
    pub(super) fn loses(&mut self) -> bool {
        let lost = self.loss > 0.0 && self.loss_stream.uniform() < self.loss;
        self.totals.lost += u64::from(lost);
        lost
    }

    fn count_drops(&mut self, now: Instant, dropped: &[Packet]) {
        self.totals.dropped += dropped.len() as u64;
        dropped.iter().for_each(|packet| self.note(now, HopEventKind::Drop, packet));
    }

    fn note(&mut self, time: Instant, kind: HopEventKind, packet: &Packet) {
        let backlog = self.backlog(time) as u32;
        if let Some(journal) = &mut self.journal {
            journal.push(HopEvent { time, kind, sender: packet.sender, seq: packet.seq, backlog });
        }
    }

    /// Whether departures are known when packets arrive.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.kind, Kind::Fifo(_))
    }

    /// Whether its queue is first in, first out, with tail drop.
    pub(super) fn drops_tail(&self) -> bool {
        match &self.kind {
            Kind::Fifo(_) => true,
            Kind::Steady { queue, .. } | Kind::Opportunities { queue, .. } => matches!(**queue, AnyQueue::DropTail(_)),
        }
    }

    /// Packets in the queue and on the link.
    pub(super) fn backlog(&self, now: Instant) -> u64 {
        match &self.kind {
            Kind::Fifo(link) => link.backlog(now),
            Kind::Steady { queue, transmitting, .. } => (queue.packets() + usize::from(transmitting.is_some())) as u64,
            Kind::Opportunities { queue, carrier, .. } => {
                (queue.packets() + usize::from(carrier.in_transit().is_some())) as u64
            }
        }
    }

    pub(super) fn totals(&self, now: Instant) -> HopTotals {
        HopTotals { backlog: self.backlog(now), ..self.totals }
    }
}
