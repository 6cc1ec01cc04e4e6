//! What a run gave: deliveries, delays and times on, and the two throughputs that can be read from them.
//!
//! All runs give this: those of rule tables in the design simulator, those of people's schemes in the transport of
//! evaluations, and the omniscient reference. So they are accounted for alike, by the authors' rule: a packet counts when
//! its ACK is back at the sender, whether that is on or off by then, and not if the run is over by then; time counts while
//! the sender is on.

use crate::endpoint::Totals;
use crate::network::PACKET_BYTES;
use crate::on_time::OnTime;
use crate::time::Duration;

/// One sender's totals over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Packets delivered.
    pub delivered: u64,
    /// Those of them that were delivered while the sender was off.
    pub late: u64,
    /// Packets sent; where lost ones are sent again, all transmissions.
    pub sent: u64,
    /// Sum of the RTTs of delivered packets.
    pub delay: Duration,
    /// Sum of the RTTs of the late ones.
    pub late_delay: Duration,
    /// Time on, s.
    pub on_s: f64,
    /// Sum of dt / (senders on at the time) while on, s.
    pub share_s: f64,
    /// RTT of an empty network without the packet's own transmission, ms.
    pub min_rtt_ms: f64,
}

/// All senders of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// By sender.
    pub flows: Vec<Flow>,
    /// Packets dropped by the queue or lost on the way.
    pub lost: u64,
    /// Packets on their way when the run ended.
    pub in_flight: u64,
    /// Link rate, Mbit/s; of the slowest link, where there are several: shares are of that one.
    pub rate_mbps: f64,
}

impl Flow {
    /// What came of a sender with these totals and this time, on a path of this RTT.
    #[must_use]
    pub fn new(totals: Totals, time: OnTime, min_rtt_ms: f64) -> Flow {
        let Totals { delivered, late, delay, late_delay, sent, .. } = totals;
        let OnTime { on_s, share_s, .. } = time;
        Flow { delivered, late, sent, delay, late_delay, on_s, share_s, min_rtt_ms }
    }

    /// Whether it was ever on.
    #[must_use]
    pub fn was_on(&self) -> bool {
        self.on_s > 0.0
    }

    /// Throughput over the time on, Mbit/s (Remy'13 §5.1); 0 if never on.
    #[must_use]
    pub fn throughput_mbps(&self) -> f64 {
        if self.was_on() { self.delivered as f64 * PACKET_BYTES * 8e-6 / self.on_s } else { 0.0 }
    }

    /// Throughput over an equal share of the link (the authors' released code); 0 if never on.
    #[must_use]
    pub fn normalised_throughput(&self, rate_mbps: f64) -> f64 {
        if self.share_s > 0.0 { self.delivered as f64 * PACKET_BYTES * 8e-6 / (self.share_s * rate_mbps) } else { 0.0 }
    }

    /// Mean RTT of its delivered packets, ms; none if nothing was delivered.
    #[must_use]
    pub fn mean_rtt_ms(&self) -> Option<f64> {
        (self.delivered > 0).then(|| self.delay.as_ms() / self.delivered as f64)
    }

    /// Mean RTT over min RTT.
    #[must_use]
    pub fn delay_ratio(&self) -> Option<f64> {
        self.mean_rtt_ms().map(|d| d / self.min_rtt_ms)
    }
}
