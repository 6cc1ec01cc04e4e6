//! What a scheme is told: of ACKs, delivery rates and congestion.

use exmachina_net::time::{Duration, Instant};

/// What a delivery-rate sample says (draft-ietf-ccwg-bbr §4.1): packets delivered over the time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Packets delivered between the sending of the newest packet acknowledged and its ACK.
    pub delivered: u32,
    /// The time that took: the longer of the time to send them and the time to acknowledge them; 0: no sample.
    pub interval: Duration,
    /// Packets delivered on this connection when that newest packet was sent.
    pub prior_delivered: u64,
    /// The sender had nothing to send at some time of it.
    pub app_limited: bool,
    /// Packets in flight when the newest packet acknowledged was sent.
    pub tx_in_flight: u32,
    /// Packets of this connection declared lost since that packet was sent.
    pub lost: u32,
}

/// An ACK, as a scheme sees it. Times are read off the sender's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When the packet that it echoes was sent.
    pub sent: Instant,
    /// When it came.
    pub received: Instant,
    /// How often the clock ticks that these were read off; no RTT is less than a tick (0: it is exact).
    pub tick: Duration,
    /// Number of the packet in the sender's stream.
    pub seq: u32,
    /// Number of the next new packet to be sent.
    pub next_seq: u32,
    /// Packets from the largest ACK so far to this one: 1 where nothing was lost. 0: a packet below the largest.
    pub advance: u32,
    /// Packets newly acknowledged by it, cumulatively (0 for a duplicate ACK).
    pub acked: u32,
    /// Packets that it tells to have arrived and that were not known to, in order or not.
    pub newly_delivered: u32,
    /// As many, where receivers acknowledge several packets together; else 0, whatever a repair makes it tell: the papers'
    /// algorithms take each ACK for one packet.
    pub stretch: u32,
    /// Packets delivered on this connection, these included.
    pub delivered: u64,
    /// Packets in flight after it: sent, not acknowledged, not selectively acknowledged, not lost.
    pub in_flight: u32,
    /// The RTT that it shows; 0 where it shows none (a packet that was sent twice, without timestamps).
    pub rtt: Duration,
    /// The smallest RTT of this connection so far.
    pub min_rtt: Duration,
    /// Smoothed RTT (RFC 6298), this one included.
    pub srtt: Duration,
    /// Losses are being repaired: no window growth is due to such an ACK.
    pub in_recovery: bool,
    /// What was outstanding at a timeout is being repaired.
    pub in_loss: bool,
    /// The window, not the application, is what held the sender back; growth is due to such ACKs only (RFC 7661 §4.1).
    pub window_limited: bool,
    /// Packets among those newly acknowledged that arrived with an ECN mark (as RFC 8257 §3.2 tells a sender).
    pub marked: u32,
    /// Packets declared lost on this ACK.
    pub lost: u32,
    /// The delivery rate.
    pub rate: RateSample,
    /// Change of the window that XCP's routers allow, packets.
    pub xcp_feedback: f64,
}

/// What a scheme is told when the network signals congestion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Congestion {
    /// The present instant.
    pub now: Instant,
    /// Packets in flight (for a loss: those declared lost are not).
    pub in_flight: u32,
    /// Packets sent and not acknowledged cumulatively, lost ones included.
    pub outstanding: u32,
    /// Number of the next new packet to be sent.
    pub next_seq: u32,
    /// The packet that was lost or marked; for a timeout the oldest outstanding one.
    pub seq: u32,
    /// Packets declared lost by it.
    pub lost: u32,
    /// A timeout of a sender that had nothing outstanding: the timer of persistent connections in ns-2 runs on.
    pub idle: bool,
}
