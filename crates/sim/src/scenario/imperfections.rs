//! `[design.world]`: what real networks have and a model does not say, each an amount or a distribution, for a design to
//! train with.
//!
//! A model says what range of networks an algorithm is for, and its score is on these. An algorithm that has seen nothing
//! else may stand on what only a simulator gives: a clock without a tremor, an ACK for each packet, a queue without end, a
//! start that is always the same. So training networks get these on top, from a stream of their own.

use serde::{Deserialize, Deserializer};

use super::Quantity;
use super::tables::{probability, time, zero};
use crate::network::{Acks, Buffer, EACH_PACKET, Network, PACKET_BYTES};
use crate::random::Stream;

/// Jitter that every training network has at least, ms: enough that no steady state stands on an edge, and nothing else.
const LEAST_JITTER_MS: f64 = 0.001;

/// The most packets that one ACK may be for.
const MOST_PER_ACK: f64 = 64.0;

/// What is added to training networks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Imperfections {
    /// Uniform extra delay in [0, jitter) ms of each packet; of networks with more of their own, theirs. At most half of the
    /// least RTT.
    #[serde(deserialize_with = "time")]
    pub jitter_ms: Quantity,
    /// Resolution of the senders' clocks, ms, likewise.
    #[serde(deserialize_with = "time")]
    pub clock_ms: Quantity,
    /// Packets for which a receiver sends one ACK.
    #[serde(deserialize_with = "per_ack")]
    pub ack_packets: Quantity,
    /// How long an ACK waits for them at most, ms.
    #[serde(deserialize_with = "time")]
    pub ack_delay_ms: Quantity,
    /// Probability that a packet is lost for no reason of congestion, besides what the network loses.
    #[serde(deserialize_with = "probability")]
    pub loss: Quantity,
    /// Room at the link, in bandwidth-delay products of the longest RTT; 0: as the model has it.
    #[serde(deserialize_with = "times")]
    pub buffer_bdp: Quantity,
    /// Mean time between two upsets of a flow, s ([`crate::network::Upsets`]); 0: never.
    #[serde(deserialize_with = "seconds")]
    pub flow_upset_s: Quantity,
    /// Mean time between two stops or steps of the link's rate, s; 0: never.
    #[serde(deserialize_with = "seconds")]
    pub link_upset_s: Quantity,
}

impl Default for Imperfections {
    fn default() -> Self {
        Imperfections {
            jitter_ms: Quantity::Exact(LEAST_JITTER_MS),
            clock_ms: zero(),
            ack_packets: Quantity::Exact(1.0),
            ack_delay_ms: Quantity::Exact(40.0),
            loss: zero(),
            buffer_bdp: zero(),
            flow_upset_s: zero(),
            link_upset_s: zero(),
        }
    }
}

impl Imperfections {
    /// Adds them to a network. Takes one number from the stream for each, whatever the distributions.
    pub fn add_to(&self, network: &mut Network, stream: &mut Stream) {
        let mut draw = |quantity: &Quantity| quantity.draw(stream);
        let [shortest, longest] = [f64::min as fn(f64, f64) -> f64, f64::max]
            .map(|pick| network.rtt_ms.iter().copied().reduce(pick).unwrap_or(0.0));
        let jitter_ms = draw(&self.jitter_ms).max(LEAST_JITTER_MS).min(shortest / 2.0);
        network.jitter_ms = network.jitter_ms.max(jitter_ms);
        network.clock_ms = network.clock_ms.max(draw(&self.clock_ms));
        let (packets, delay_ms) = (draw(&self.ack_packets) as u32, draw(&self.ack_delay_ms));
        network.acks = if packets > 1 { Acks { packets, delay_ms } } else { EACH_PACKET };
        let loss = draw(&self.loss);
        let room = draw(&self.buffer_bdp);
        let limit = |buffer: &mut Buffer, rate_mbps: f64| {
            if room > 0.0 {
                let packets = room * rate_mbps * 1e6 / (8.0 * PACKET_BYTES) * longest / 1e3;
                let packets = packets.round().clamp(1.0, f64::from(u32::MAX)) as u32;
                *buffer = match *buffer {
                    Buffer::Packets(own) => Buffer::Packets(own.min(packets)),
                    Buffer::Infinite => Buffer::Packets(packets),
                };
            }
        };
        let either = |own: f64| own + loss - own * loss;
        network.loss = either(network.loss);
        limit(&mut network.buffer, network.rate_mbps);
        for link in network.lot.iter_mut().flat_map(|lot| &mut lot.links) {
            link.loss = either(link.loss);
            limit(&mut link.buffer, link.rate_mbps);
        }
        network.upsets.flow_s = draw(&self.flow_upset_s);
        network.upsets.link_s = draw(&self.link_upset_s);
    }
}

fn per_ack<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    let expected = format!("from 1 to {MOST_PER_ACK} packets");
    Quantity::within(deserializer, &expected, |x| (1.0..=MOST_PER_ACK).contains(&x))?
        .whole()
        .map_err(serde::de::Error::custom)
}

fn times<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a number of BDPs, or 0 for the model's own room", |x| (0.0..=1e6).contains(&x))
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    let expected = "from 0.01 to 100000 seconds, or 0 for never";
    Quantity::within(deserializer, expected, |x| x == 0.0 || (0.01..=1e5).contains(&x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{On, Upsets, Workload};
    use crate::random::Purpose;

    fn of(text: &str) -> Result<Imperfections, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    fn added(text: &str) -> Network {
        let mut network = Network::dumbbell(10.0, 100.0, 2, Workload::new(On::Seconds(5.0), 5.0));
        of(text).unwrap().add_to(&mut network, &mut Stream::new(1, 2, 0, Purpose::Training));
        network
    }

    #[test]
    fn a_clean_world_trembles_by_a_microsecond() {
        let clean = Network::dumbbell(10.0, 100.0, 2, Workload::new(On::Seconds(5.0), 5.0));
        assert_eq!(added(""), Network { jitter_ms: 0.001, ..clean.clone() });
        assert_eq!(added("jitter_ms = 0").jitter_ms, 0.001);
        assert_eq!(added("jitter_ms = 400").jitter_ms, 50.0);
    }

    #[test]
    fn what_is_written_is_added() {
        let network = added(
            "clock_ms = 4\nack_packets = 2\nloss = 0.01\nbuffer_bdp = 0.5\nflow_upset_s = 3\nlink_upset_s = 20\n",
        );
        assert_eq!((network.clock_ms, network.loss), (4.0, 0.01));
        assert_eq!(network.acks, Acks { packets: 2, delay_ms: 40.0 });
        // 10 Mbit/s and 100 ms are 100 packets.
        assert_eq!(network.buffer, Buffer::Packets(50));
        assert_eq!(network.upsets, Upsets { flow_s: 3.0, link_s: 20.0 });
        let mut lossy = Network { loss: 0.5, buffer: Buffer::Packets(7), clock_ms: 9.0, ..network };
        of("loss = 0.5\nbuffer_bdp = 1\nclock_ms = 1")
            .unwrap()
            .add_to(&mut lossy, &mut Stream::new(1, 2, 0, Purpose::Training));
        assert_eq!((lossy.loss, lossy.buffer, lossy.clock_ms), (0.75, Buffer::Packets(7), 9.0));
    }

    #[test]
    fn one_amount_more_leaves_the_others_as_they_were() {
        let both = "jitter_ms = { log_uniform = [0.01, 10] }\nloss = { uniform = [0, 0.1] }\n";
        let (one, other) = (added(both), added(&format!("{both}clock_ms = {{ uniform = [1, 2] }}\n")));
        assert_eq!((one.jitter_ms, one.loss), (other.jitter_ms, other.loss));
    }

    #[test]
    fn mistakes() {
        let told = |text| of(text).unwrap_err();
        assert_eq!(told("ack_packets = 0"), "expected from 1 to 64 packets, got 0");
        assert_eq!(told("ack_packets = 1.5"), "expected whole numbers, got 1.5");
        assert_eq!(told("flow_upset_s = 0.001"), "expected from 0.01 to 100000 seconds, or 0 for never, got 0.001");
        assert!(told("jitter = 1").starts_with("unknown field `jitter`"));
    }
}
