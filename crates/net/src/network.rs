//! One concrete network: what a scenario's distributions become once every value is drawn.
//!
//! The unit of the authors' files is the packet of 1250 bytes on the wire (1 packet/ms = 10 Mbit/s);
//! people and files here speak Mbit/s, ms, bytes.

use std::sync::Arc;

/// Bytes of one packet on the wire (Remy'13 §5.1: 1210 bytes of payload and the headers).
pub const PACKET_BYTES: f64 = 1250.0;

/// How many packets may wait at the bottleneck (the one being transmitted not counted).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// Nothing is ever dropped for want of room.
    Infinite,
    /// Tail drop once this many packets wait.
    Packets(u32),
}

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

/// One of several links, and the FIFO queue before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LotLink {
    /// Rate in Mbit/s.
    pub rate_mbps: f64,
    /// Room before it.
    pub buffer: Buffer,
    /// Probability that a packet is lost after the queue, for no reason of congestion.
    pub loss: f64,
    /// One-way delay to the next link of a route, ms.
    pub delay_ms: f64,
}

/// Several links (a parking lot, say), and the way of each sender's packets through them.
#[derive(Clone, Debug, PartialEq)]
pub struct Lot {
    /// The links.
    pub links: Vec<LotLink>,
    /// By sender: numbers of links, in order.
    pub routes: Vec<Vec<u8>>,
}

/// A dumbbell: senders, one FIFO queue, one link, a fixed delay, receivers, and ACKs that return at once; or several
/// such links.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Link rate in Mbit/s; of the slowest, where there are several.
    pub rate_mbps: f64,
    /// Minimum RTT of each sender in ms, without the packet's own transmission; its length is the number of senders.
    pub rtt_ms: Vec<f64>,
    /// Room at the bottleneck.
    pub buffer: Buffer,
    /// Probability that a packet is lost after the queue, for no reason of congestion.
    pub loss: f64,
    /// Uniform extra delay in [0, jitter) ms on each packet's way; never reorders a sender's packets, nor holds back others'.
    pub jitter_ms: f64,
    /// Senders read clocks that tick this often, in ms; 0 is a perfect clock.
    pub clock_ms: f64,
    /// How receivers acknowledge.
    pub acks: Acks,
    /// Disturbances.
    pub upsets: Upsets,
    /// What real paths and hosts have besides; where there are several links, late timers only.
    pub roughness: Roughness,
    /// Traffic of every sender.
    pub workload: Workload,
    /// The links, where there are several: buffer and loss are theirs then.
    pub lot: Option<Lot>,
}

impl Network {
    /// A clean dumbbell: one RTT, and nothing ever dropped, lost or blurred.
    #[must_use]
    pub fn dumbbell(rate_mbps: f64, rtt_ms: f64, senders: usize, workload: Workload) -> Network {
        Network {
            rate_mbps,
            rtt_ms: vec![rtt_ms; senders],
            buffer: Buffer::Infinite,
            loss: 0.0,
            jitter_ms: 0.0,
            clock_ms: 0.0,
            acks: EACH_PACKET,
            upsets: Upsets::default(),
            roughness: Roughness::default(),
            workload,
            lot: None,
        }
    }

    /// Number of senders.
    #[must_use]
    pub fn senders(&self) -> usize {
        self.rtt_ms.len()
    }

    /// Packets that the link carries in a second.
    #[must_use]
    pub fn packets_per_s(&self) -> f64 {
        self.rate_mbps * 1e6 / (8.0 * PACKET_BYTES)
    }
}
