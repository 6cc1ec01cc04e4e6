//! One concrete network: what a scenario's distributions become once every value is drawn.
//!
//! The unit of the authors' files is the packet of 1250 bytes on the wire (1 packet/ms = 10 Mbit/s);
//! people and files here speak Mbit/s, ms, bytes.

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

/// What ends an on-period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum On {
    /// Exponentially distributed duration with this mean, in seconds.
    Seconds(f64),
    /// Exponentially distributed transfer with this mean, in bytes of packets on the wire.
    Bytes(f64),
}

/// When a sender has something to send. Senders begin off and switch independently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// What ends an on-period.
    pub on: On,
    /// Mean of the exponentially distributed off-period, in seconds.
    pub off_s: f64,
}

/// A dumbbell: senders, one FIFO queue, one link, a fixed delay, receivers, and ACKs that return at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Link rate in Mbit/s.
    pub rate_mbps: f64,
    /// Minimum RTT of each sender in ms, without the packet's own transmission; its length is the number of senders.
    pub rtt_ms: Vec<f64>,
    /// Room at the bottleneck.
    pub buffer: Buffer,
    /// Probability that a packet is lost after the queue, for no reason of congestion.
    pub loss: f64,
    /// Uniform extra delay in [0, jitter) ms on each packet's way; never reorders.
    pub jitter_ms: f64,
    /// Senders read clocks that tick this often, in ms; 0 is a perfect clock.
    pub clock_ms: f64,
    /// Traffic of every sender.
    pub workload: Workload,
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
            workload,
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
