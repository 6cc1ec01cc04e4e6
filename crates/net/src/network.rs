//! One concrete network: what a scenario's distributions become once every value is drawn, for designs and evaluations alike.
//!
//! Hops, each a queue and its link; flows, each with its way through them; and what clouds delays. Who sends, and by which
//! scheme, is not said here. The unit of the authors' files is the packet of 1250 bytes on the wire (1 packet/ms = 10 Mbit/s);
//! people and files here speak Mbit/s, ms, bytes.

use std::sync::Arc;

use crate::queue::{Limit, QueueKind};
use crate::service::{Cellular, Trace};
use crate::time::Duration;

/// Bytes of one packet on the wire (Remy'13 §5.1: 1210 bytes of payload and the headers).
pub const PACKET_BYTES: f64 = 1250.0;

/// What a flow has to send: what ends an on-period.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    /// Exponentially distributed duration with this mean, in seconds.
    Seconds(f64),
    /// Exponentially distributed transfer with this mean, in bytes.
    Bytes(f64),
    /// This duration each time, in seconds.
    FixedSeconds(f64),
    /// A transfer as long as a flow that was measured at ICSI in 2012, and this many bytes more (Remy'13 §5.1 adds
    /// 16 kB, which is [`ICSI_EXTRA_BYTES`], so that the network is loaded).
    Icsi {
        /// Added to each length, bytes.
        extra_bytes: f64,
    },
    /// One on-period that never ends.
    Forever,
    /// On-periods that begin at given instants; off-periods are not drawn.
    At(Arc<[Arrival]>),
    /// On-periods one after another, each so long after the end of the one before; off-periods are not drawn.
    After(Arc<[Arrival]>),
}

/// What the authors add to each flow length of ICSI: 16 kB.
pub const ICSI_EXTRA_BYTES: f64 = 16_384.0;

/// An on-period that begins at a given instant. If another is under way then, it begins right after that one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When it begins, in seconds since the run began; of [`On::After`] since the end of the on-period before.
    pub start_s: f64,
    /// What ends it.
    pub stop: Stop,
}

/// What ends an on-period that begins at a given instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// So many bytes are delivered.
    Bytes(f64),
    /// So many seconds have passed since it began.
    Seconds(f64),
    /// Nothing.
    Never,
}

/// How a duration follows from its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draw {
    /// Exponentially distributed.
    #[default]
    Exponential,
    /// The mean each time.
    Fixed,
}

/// When a sender's first on-period begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FirstOff {
    /// After an exponential draw with the mean of the off-periods, also where those are fixed: senders seldom start
    /// together.
    #[default]
    Exponential,
    /// After half such a draw, as in the authors' ns-2 scripts.
    HalfExponential,
    /// At this time, in seconds.
    At(f64),
}

/// When a sender has something to send. Senders begin off and switch independently.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// What ends an on-period.
    pub on: On,
    /// Mean of the off-period, in seconds.
    pub off_s: f64,
    /// Distribution of the off-period.
    pub off: Draw,
    /// When the first on-period begins.
    pub first_off: FirstOff,
    /// Bytes of a transfer that one packet carries: a whole packet's in the authors' simulator for design
    /// ([`PACKET_BYTES`]), 1210 of payload in the papers' ns-2.
    pub bytes_per_packet: f64,
}

impl Workload {
    /// Exponential off-periods, the first one too, and transfers counted in bytes of packets on the wire.
    #[must_use]
    pub fn new(on: On, off_s: f64) -> Workload {
        Workload { on, off_s, off: Draw::Exponential, first_off: FirstOff::Exponential, bytes_per_packet: PACKET_BYTES }
    }
}

/// How receivers acknowledge (RFC 1122 §4.2.3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acks {
    /// So many packets at a time; at once where one is missing before.
    pub packets: u32,
    /// Or after so long, ms.
    pub delay_ms: f64,
}

/// An ACK for each packet.
pub const EACH_PACKET: Acks = Acks { packets: 1, delay_ms: 0.0 };

/// What a design trains with besides: disturbances that an algorithm must find its way back from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Upsets {
    /// Mean time between two instants at which a flow's window and averages are set elsewhere, s; 0: never.
    pub flow_s: f64,
    /// Mean time between two instants at which the link stops for a while, or changes its rate, s; 0: never.
    pub link_s: f64,
}

/// What real paths and hosts have besides, for designs to train with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roughness {
    /// Losses come in rows of so many on the mean; up to 1: one by one.
    pub loss_burst: f64,
    /// How long the extra delay of jitter takes to change, ms; 0: every packet has its own.
    pub jitter_every_ms: f64,
    /// Packets arrive in batches, one at a random instant of every so many ms; 0: one by one.
    pub batch_ms: f64,
    /// How late a sender's pacing timer may be, ms: uniform in [0, this), and made up for by the next packet.
    pub late_ms: f64,
    /// Standard deviation of the logarithm of the link's rate, which wanders about the usual one within a second.
    pub wander: f64,
    /// Packets do not wait before the link: what its room would hold may pass at once, and the rest is dropped.
    pub policed: bool,
}

/// Packets that are overtaken: each with this probability is held back, and those behind it pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reordering {
    /// Probability.
    pub probability: f64,
    /// How long it is held back.
    pub delay: Duration,
}

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
            LinkPlan::Cellular(cellular) => cellular.attained_mbps(),
        }
    }

    /// The same as it was asked for: of a cellular link, before it is brought within what its maximum and its outages allow.
    #[must_use]
    pub fn nominal_mbps(&self) -> f64 {
        match self {
            LinkPlan::Cellular(cellular) => cellular.mean_mbps,
            link => link.mean_mbps(),
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

impl HopPlan {
    /// A link of constant rate that loses nothing, behind a FIFO queue without end.
    #[must_use]
    pub fn constant(rate_mbps: f64) -> HopPlan {
        let (link, queue) = (LinkPlan::Rate(rate_mbps), QueueKind::DropTail);
        HopPlan { link, queue, limit: Limit::Infinite, loss: 0.0, delay_ms: 0.0 }
    }

    /// The rate where it is constant behind a drop-tail queue, Mbit/s: there packets of one size leave at instants that are
    /// known when they arrive.
    #[must_use]
    pub fn drop_tail_mbps(&self) -> Option<f64> {
        match (&self.link, &self.queue) {
            (LinkPlan::Rate(mbps), QueueKind::DropTail) => Some(*mbps),
            _ => None,
        }
    }
}

/// The way of one sender's packets, and when there are any.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// The hops that they take, in order.
    pub route: Vec<u8>,
    /// Minimum RTT without transmission times, ms: the delays between its hops, and the rest to the receiver and back.
    pub rtt_ms: f64,
    /// When there is something to send.
    pub workload: Workload,
}

/// Senders, hops that they share, receivers, and ACKs that return without loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The hops.
    pub hops: Vec<HopPlan>,
    /// One for each sender.
    pub flows: Vec<FlowPlan>,
    /// Uniform extra delay in [0, jitter) ms on each packet's way; never reorders a sender's packets, nor holds back others'.
    pub jitter_ms: f64,
    /// Packets that are overtaken.
    pub reordering: Reordering,
    /// Senders read clocks that tick this often, in ms; 0 is a perfect clock. Transports may have clocks of their own.
    pub clock_ms: f64,
    /// How receivers of designs acknowledge; those of transports have their own way.
    pub acks: Acks,
    /// What receivers of designs take until their first ACK of a flow, packets; 0: all. Those of transports have a window of
    /// their own.
    pub first_receive_window: u32,
    /// Disturbances, for designs.
    pub upsets: Upsets,
    /// What real paths and hosts have besides, for designs; on other than a [dumbbell](Network::is_dumbbell), late timers only.
    pub roughness: Roughness,
}

impl Network {
    /// These hops and flows, with nothing that clouds delays.
    #[must_use]
    pub fn clean(hops: Vec<HopPlan>, flows: Vec<FlowPlan>) -> Network {
        Network {
            hops,
            flows,
            jitter_ms: 0.0,
            reordering: Reordering::default(),
            clock_ms: 0.0,
            acks: EACH_PACKET,
            first_receive_window: 0,
            upsets: Upsets::default(),
            roughness: Roughness::default(),
        }
    }

    /// A clean dumbbell: one link, one RTT, and nothing ever dropped, lost or blurred.
    #[must_use]
    pub fn dumbbell(rate_mbps: f64, rtt_ms: f64, senders: usize, workload: Workload) -> Network {
        let flow = FlowPlan { route: vec![0], rtt_ms, workload };
        Network::clean(vec![HopPlan::constant(rate_mbps)], vec![flow; senders])
    }

    /// Whether it is one drop-tail queue before one link of constant rate, and nobody is overtaken: what
    /// [`crate::path::Dumbbell`] runs.
    #[must_use]
    pub fn is_dumbbell(&self) -> bool {
        let one = matches!(&self.hops[..], [hop] if hop.drop_tail_mbps().is_some());
        one && self.reordering.probability == 0.0
    }

    /// Number of senders.
    #[must_use]
    pub fn senders(&self) -> usize {
        self.flows.len()
    }

    /// Long-term average rate of the slowest link, Mbit/s.
    #[must_use]
    pub fn rate_mbps(&self) -> f64 {
        self.hops.iter().map(|hop| hop.link.mean_mbps()).fold(f64::INFINITY, f64::min)
    }

    /// Packets that the slowest link carries in a second.
    #[must_use]
    pub fn packets_per_s(&self) -> f64 {
        packets_per_s(self.rate_mbps())
    }

    /// Minimum RTT of each sender, ms.
    pub fn rtts_ms(&self) -> impl Iterator<Item = f64> {
        self.flows.iter().map(|flow| flow.rtt_ms)
    }

    /// The longest of them, ms; 0 where there are none.
    #[must_use]
    pub fn longest_rtt_ms(&self) -> f64 {
        self.rtts_ms().fold(0.0, f64::max)
    }

    /// Time that so many bytes take to be transmitted, on all constant-rate links of a flow's route, ms.
    #[must_use]
    pub fn transmission_ms(&self, flow: usize, bytes: u16) -> f64 {
        let bits = f64::from(bytes) * 8.0;
        let on = |&hop: &u8| match self.hops[usize::from(hop)].link {
            LinkPlan::Rate(mbps) => bits / (mbps * 1e3),
            _ => 0.0,
        };
        self.flows[flow].route.iter().map(on).sum()
    }
}

/// Packets of [`PACKET_BYTES`] that so many Mbit/s carry in a second.
#[must_use]
pub fn packets_per_s(mbps: f64) -> f64 {
    mbps * 1e6 / (8.0 * PACKET_BYTES)
}
