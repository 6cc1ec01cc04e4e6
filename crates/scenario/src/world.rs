//! One concrete network for an evaluation: its hops, and its senders with their schemes, routes and traffic.
//!
//! What a scenario's distributions become once every value is drawn, as [`exmachina_net::network::Network`] is for design.

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::transport::{Ends, Opening, SACK_BLOCK_BYTES, Settings};
use exmachina_net::engine::Engine;
use exmachina_net::network::{Buffer, Workload};
use exmachina_net::path::{Hop, Pipe, Reordering, Topology, legs};
use exmachina_net::queue::{AnyQueue, Limit, QueueKind};
use exmachina_net::random::Seed;
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::service::{Cellular, CellularLink, ConstantRateLink, Service, Trace, TraceLink};
use exmachina_net::time::from_ms;
use exmachina_net::traffic::Traffic;

/// A link, before it is in motion.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkPlan {
    /// A constant rate, Mbit/s.
    Rate(f64),
    /// A recording, from this ms of it on.
    Trace(Trace, u64),
    /// A synthetic cellular link.
    Cellular(Cellular),
}

impl LinkPlan {
    /// Long-term average of the rate, Mbit/s.
    #[must_use]
    pub fn mean_mbps(&self) -> f64 {
        match self {
            LinkPlan::Rate(mbps) => *mbps,
            LinkPlan::Trace(trace, _) => trace.mean_mbps(),
            LinkPlan::Cellular(cellular) => cellular.mean_mbps,
        }
    }
}

/// A queue and its link.
#[derive(Clone, Debug, PartialEq)]
pub struct HopPlan {
    /// The link.
    pub link: LinkPlan,
    /// The queue discipline.
    pub queue: QueueKind,
    /// Room for waiting packets.
    pub limit: Limit,
    /// Probability that a packet is lost after the queue, for no reason of congestion.
    pub loss: f64,
    /// One-way delay to the next hop of a route, ms.
    pub delay_ms: f64,
}

/// A sender.
#[derive(Clone, Debug)]
pub struct SenderPlan<'t> {
    /// Its congestion control, before it has sent anything.
    pub scheme: AnyScheme<'t>,
    /// Its transport.
    pub transport: Settings,
    /// The hops that its packets take, in order.
    pub route: Vec<u8>,
    /// Minimum RTT without transmission times, ms: the delays between its hops, and the rest to the receiver and back.
    pub rtt_ms: f64,
    /// When it has something to send.
    pub workload: Workload,
}

/// A network for an evaluation.
#[derive(Clone, Debug)]
pub struct World<'t> {
    /// The hops.
    pub hops: Vec<HopPlan>,
    /// The senders.
    pub senders: Vec<SenderPlan<'t>>,
    /// Uniform extra delay in [0, jitter) ms on each packet's way; never reorders a sender's packets, nor holds back others'.
    pub jitter_ms: f64,
    /// Packets that are overtaken.
    pub reordering: Reordering,
}

/// The engine of evaluations.
pub type EvaluationEngine<'t> = Engine<Ends<AnyScheme<'t>>, Topology>;

impl<'t> World<'t> {
    /// The network at time 0, every sender off.
    #[must_use]
    pub fn engine(&self, seed: Seed) -> EvaluationEngine<'t> {
        let stream = |i: usize, purpose| Stream::new(seed.root, seed.specimen, i as u64, purpose);
        let hops: Vec<Hop> = (0..self.hops.len()).map(|i| self.hop(i, seed)).collect();
        let rates = (0..self.hops.len()).map(|i| self.service(i, seed).mean_mbps());
        let mut topology = Topology::new(hops, 0, false);
        for (i, sender) in self.senders.iter().enumerate() {
            let reordering = (self.reordering, stream(i, Purpose::Reordering));
            let rtt_ms = sender.rtt_ms + self.on_links_ms(i, sender.transport.ack_bytes);
            let legs = legs(&sender.route, rtt_ms, |hop| self.hops[hop].delay_ms);
            topology.add_route(&legs, (self.jitter_ms * 1e6, stream(i, Purpose::Jitter)), reordering);
        }
        let ends = |(i, s): (usize, &SenderPlan<'t>)| {
            let block_delay = from_ms(self.on_links_ms(i, SACK_BLOCK_BYTES));
            Ends::new(s.scheme.clone(), i as u16, s.transport, block_delay)
        };
        let traffic = |(i, s): (usize, &SenderPlan<'t>)| Traffic::new(s.workload.clone(), seed.root, seed.specimen, i);
        Engine::with(
            topology,
            self.senders.iter().enumerate().map(ends).collect(),
            self.senders.iter().enumerate().map(traffic).collect(),
            rates.fold(f64::INFINITY, f64::min),
            self.senders.iter().map(|s| s.rtt_ms).collect(),
        )
    }

    /// Time that a packet of a sender and its ACK take to be transmitted, on all constant-rate links of its route, ms.
    #[must_use]
    pub fn transmission_ms(&self, sender: usize) -> f64 {
        let Settings { packet_bytes, ack_bytes, .. } = self.senders[sender].transport;
        self.on_links_ms(sender, packet_bytes) + self.on_links_ms(sender, ack_bytes)
    }

    /// Time that so many bytes take to be transmitted, on all constant-rate links of a sender's route, ms.
    fn on_links_ms(&self, sender: usize, bytes: u16) -> f64 {
        let bits = f64::from(bytes) * 8.0;
        let on = |&hop: &u8| match self.hops[usize::from(hop)].link {
            LinkPlan::Rate(mbps) => bits / (mbps * 1e3),
            _ => 0.0,
        };
        self.senders[sender].route.iter().map(on).sum()
    }

    /// The link of hop `i`.
    pub fn service(&self, i: usize, seed: Seed) -> Service {
        match &self.hops[i].link {
            LinkPlan::Rate(mbps) => Service::Rate(ConstantRateLink::new(*mbps)),
            LinkPlan::Trace(trace, offset_ms) => Service::Trace(TraceLink::new(trace.clone(), *offset_ms)),
            LinkPlan::Cellular(cellular) => {
                Service::Cellular(CellularLink::new(*cellular, seed.root, seed.specimen, i as u64))
            }
        }
    }

    fn hop(&self, i: usize, seed: Seed) -> Hop {
        let stream = |purpose| Stream::new(seed.root, seed.specimen, i as u64, purpose);
        let plan = &self.hops[i];
        let loss_stream = stream(Purpose::Loss);
        if let Some(link) = self.plain(plan) {
            return Hop::fifo(link, plan.loss, loss_stream);
        }
        let service = self.service(i, seed);
        let queue = AnyQueue::new(&plan.queue, plan.limit, service.mean_mbps() * 1e6 / 8.0, stream(Purpose::Queue));
        Hop::new(queue, service, plan.loss, loss_stream)
    }

    /// The link of a tail-drop queue whose departures can be told on arrival.
    fn plain(&self, plan: &HopPlan) -> Option<Pipe> {
        let bytes = self.senders.first()?.transport.packet_bytes;
        // A SYN is shorter than other packets.
        let alike = |s: &SenderPlan<'_>| s.transport.packet_bytes == bytes && s.transport.opening == Opening::Data;
        if plan.queue != QueueKind::DropTail || !self.senders.iter().all(alike) {
            return None;
        }
        let buffer = match plan.limit {
            Limit::Infinite => Buffer::Infinite,
            Limit::Packets(n) => Buffer::Packets(n),
            Limit::Bytes(n) => Buffer::Packets(u32::try_from(n / u64::from(bytes.max(1))).unwrap_or(u32::MAX)),
        };
        match plan.link {
            LinkPlan::Rate(mbps) => Some(Pipe::new(mbps, bytes, buffer)),
            _ => None,
        }
    }
}
