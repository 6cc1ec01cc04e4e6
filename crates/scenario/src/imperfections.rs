//! `[design.world]`: what real networks have and a model does not say, each an amount or a distribution, for a design to
//! train with.
//!
//! A model says what range of networks an algorithm is for, and its score is on these. An algorithm that has seen nothing
//! else may stand on what only a simulator gives: a clock without a tremor, an ACK for each packet, a queue without end, a
//! start that is always the same. So training networks get these on top, from a stream of their own.

use exmachina_net::network::{Acks, EACH_PACKET, FlowPlan, On, PACKET_BYTES, Roughness, packets_per_s};
use exmachina_net::queue::Limit;
use serde::{Deserialize, Deserializer};

use super::tables::{probability, time, zero};
use super::{Quantity, Specimen};
use crate::neighbour::{Kind, Neighbour};

/// Jitter that every training network has at least, ms: enough that no steady state stands on an edge, and nothing else.
const LEAST_JITTER_MS: f64 = 0.001;

/// The most packets that one ACK may be for.
const MOST_PER_ACK: f64 = 64.0;

/// The most packets that a window that is not scaled may be: of one byte each.
const MOST_AT_FIRST: f64 = 65_535.0;

/// The most neighbours of one kind: a schedule has room for these and the most senders that a model may have.
const MOST_NEIGHBOURS: f64 = 100.0;

/// What is added to training networks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Imperfections {
    /// Uniform extra delay in [0, jitter) ms of each packet; of networks with more of their own, theirs. At most the least RTT.
    #[serde(deserialize_with = "time")]
    pub jitter_ms: Quantity,
    /// How long the extra delay takes to change, ms: on a straight line from one value to the next, as behind a congested way
    /// back; 0: each packet has its own.
    #[serde(deserialize_with = "interval")]
    pub jitter_every_ms: Quantity,
    /// Packets arrive in batches, as Wi-Fi's do: one at a random instant of every so many ms; 0: one by one.
    #[serde(deserialize_with = "interval")]
    pub batch_ms: Quantity,
    /// Resolution of the senders' clocks, ms; of networks with a coarser one, theirs. Flows begin at any phase of it.
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
    /// Losses come in rows of so many on the mean.
    #[serde(deserialize_with = "row")]
    pub loss_burst: Quantity,
    /// How late a sender's pacing timer is at most, ms.
    #[serde(deserialize_with = "time")]
    pub pacing_late_ms: Quantity,
    /// Standard deviation of the logarithm of the link's rate, which wanders within a second, as a cellular link's does.
    #[serde(deserialize_with = "deviation")]
    pub rate_wander: Quantity,
    /// 1: the link is policed. What its room would hold may pass at once (one BDP, where that has no end), nothing waits, and the
    /// rest is dropped.
    #[serde(deserialize_with = "whether")]
    pub policed: Quantity,
    /// Each sender's minimum RTT is drawn anew, such that the longest is at most so many times the shortest.
    #[serde(deserialize_with = "at_least_once")]
    pub rtt_spread: Quantity,
    /// On-periods are so many times as long as the model has them.
    #[serde(deserialize_with = "factor")]
    pub on_times: Quantity,
    /// Room at the link, in bandwidth-delay products of the model's longest RTT; 0: as the model has it.
    #[serde(deserialize_with = "times")]
    pub buffer_bdp: Quantity,
    /// Senders of Cubic beside those designed for, with the same traffic; where the link's room has no end, it is one BDP then.
    #[serde(deserialize_with = "neighbours")]
    pub cubic: Quantity,
    /// Senders of NewReno, likewise.
    #[serde(deserialize_with = "neighbours")]
    pub newreno: Quantity,
    /// Senders of BBR, likewise.
    #[serde(deserialize_with = "neighbours")]
    pub bbr: Quantity,
    /// Mean time between two upsets of a flow, s ([`exmachina_net::network::Upsets`]); 0: never.
    #[serde(deserialize_with = "seconds")]
    pub flow_upset_s: Quantity,
    /// Mean time between two stops or steps of the link's rate, s; 0: never.
    #[serde(deserialize_with = "seconds")]
    pub link_upset_s: Quantity,
    /// What receivers take until their first ACK of a flow, packets, as the window in a SYN is not scaled (RFC 7323 §2.2); 0: all
    /// that comes.
    #[serde(deserialize_with = "first_window")]
    pub first_receive_window_packets: Quantity,
}

impl Default for Imperfections {
    fn default() -> Self {
        Imperfections {
            jitter_ms: Quantity::Exact(LEAST_JITTER_MS),
            jitter_every_ms: zero(),
            batch_ms: zero(),
            clock_ms: zero(),
            ack_packets: Quantity::Exact(1.0),
            ack_delay_ms: Quantity::Exact(40.0),
            loss: zero(),
            loss_burst: Quantity::Exact(1.0),
            pacing_late_ms: zero(),
            rate_wander: zero(),
            policed: zero(),
            rtt_spread: Quantity::Exact(1.0),
            on_times: Quantity::Exact(1.0),
            buffer_bdp: zero(),
            cubic: zero(),
            newreno: zero(),
            bbr: zero(),
            flow_upset_s: zero(),
            link_upset_s: zero(),
            first_receive_window_packets: zero(),
        }
    }
}

impl Imperfections {
    /// Adds them to a network. Each is drawn once whatever its distribution, those that came later last; an RTT for each
    /// sender is drawn after them, and what came later still after that.
    pub fn add_to(&self, specimen: &mut Specimen, draw: &mut dyn FnMut(&Quantity) -> f64) {
        let Specimen { network, neighbours, .. } = specimen;
        let (shortest, longest) = (network.rtts_ms().reduce(f64::min).unwrap_or(0.0), network.longest_rtt_ms());
        let jitter_ms = draw(&self.jitter_ms).max(LEAST_JITTER_MS).min(shortest);
        network.jitter_ms = network.jitter_ms.max(jitter_ms);
        network.clock_ms = network.clock_ms.max(draw(&self.clock_ms));
        let (packets, delay_ms) = (draw(&self.ack_packets) as u32, draw(&self.ack_delay_ms));
        network.acks = if packets > 1 { Acks { packets, delay_ms } } else { EACH_PACKET };
        let loss = draw(&self.loss);
        let room = draw(&self.buffer_bdp);
        for hop in &mut network.hops {
            hop.loss = hop.loss + loss - hop.loss * loss;
            if room > 0.0 {
                let packets = bdp(room * hop.link.mean_mbps(), longest);
                let own = hop.limit.packets(PACKET_BYTES as u16);
                hop.limit = Limit::Packets(own.map_or(packets, |own| own.min(packets)));
            }
        }
        network.upsets.flow_s = draw(&self.flow_upset_s);
        network.upsets.link_s = draw(&self.link_upset_s);
        network.roughness = Roughness {
            jitter_every_ms: draw(&self.jitter_every_ms),
            batch_ms: draw(&self.batch_ms),
            loss_burst: draw(&self.loss_burst),
            late_ms: draw(&self.pacing_late_ms),
            wander: draw(&self.rate_wander),
            policed: draw(&self.policed) > 0.0,
        };
        let kinds = [(Kind::Cubic, &self.cubic), (Kind::NewReno, &self.newreno), (Kind::Bbr, &self.bbr)];
        let (spread, times) = (draw(&self.rtt_spread), draw(&self.on_times));
        for (kind, count) in kinds {
            let flow = FlowPlan { rtt_ms: longest, ..network.flows[0].clone() };
            neighbours.extend(std::iter::repeat_n(Neighbour { kind, flow }, draw(count) as usize));
        }
        let either = Quantity::LogUniform { lo: 1.0 / libm::sqrt(spread), hi: libm::sqrt(spread) };
        let of_others = neighbours.iter_mut().map(|neighbour| &mut neighbour.flow);
        for flow in network.flows.iter_mut().chain(of_others) {
            if spread > 1.0 {
                flow.rtt_ms *= draw(&either);
            }
            flow.workload.on = longer(&flow.workload.on, times);
        }
        network.first_receive_window = draw(&self.first_receive_window_packets) as u32;
        // One that slows down for losses only needs a room that has an end.
        if network.roughness.policed || !neighbours.is_empty() {
            for hop in network.hops.iter_mut().filter(|hop| hop.limit == Limit::Infinite) {
                hop.limit = Limit::Packets(bdp(hop.link.mean_mbps(), longest));
            }
        }
    }

    /// The first of those that only one link can have.
    #[must_use]
    pub fn for_one_link(&self) -> Option<&'static str> {
        let own = [
            ("link_upset_s", &self.link_upset_s, 0.0),
            ("jitter_every_ms", &self.jitter_every_ms, 0.0),
            ("batch_ms", &self.batch_ms, 0.0),
            ("loss_burst", &self.loss_burst, 1.0),
            ("rate_wander", &self.rate_wander, 0.0),
            ("policed", &self.policed, 0.0),
            ("rtt_spread", &self.rtt_spread, 1.0),
            ("cubic", &self.cubic, 0.0),
            ("newreno", &self.newreno, 0.0),
            ("bbr", &self.bbr, 0.0),
        ];
        own.into_iter().find(|(_, quantity, none)| quantity.extremes().1 > *none).map(|(name, ..)| name)
    }
}

/// Packets on their way in a minimum RTT at full rate.
fn bdp(rate_mbps: f64, rtt_ms: f64) -> u32 {
    (packets_per_s(rate_mbps) * rtt_ms / 1e3).round().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// The same flows so many times as long.
fn longer(on: &On, times: f64) -> On {
    match on {
        On::Seconds(mean) => On::Seconds(times * mean),
        On::Bytes(mean) => On::Bytes(times * mean),
        On::FixedSeconds(each) => On::FixedSeconds(times * each),
        // As they were measured.
        other => other.clone(),
    }
}

fn per_ack<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    let expected = format!("from 1 to {MOST_PER_ACK} packets");
    Quantity::within(deserializer, &expected, |x| (1.0..=MOST_PER_ACK).contains(&x))?
        .whole()
        .map_err(serde::de::Error::custom)
}

fn first_window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    let expected = format!("from 1 to {MOST_AT_FIRST} packets, or 0 for all that come");
    Quantity::within(deserializer, &expected, |x| (0.0..=MOST_AT_FIRST).contains(&x))?
        .whole()
        .map_err(serde::de::Error::custom)
}

fn neighbours<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    let expected = format!("from 0 to {MOST_NEIGHBOURS} senders");
    Quantity::within(deserializer, &expected, |x| (0.0..=MOST_NEIGHBOURS).contains(&x))?
        .whole()
        .map_err(serde::de::Error::custom)
}

fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "0, or from 0.1 to 10000 ms", |x| x == 0.0 || (0.1..=1e4).contains(&x))
}

fn row<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "from 1 to 1000 packets in a row", |x| (1.0..=1e3).contains(&x))
}

fn deviation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a standard deviation from 0 to 2", |x| (0.0..=2.0).contains(&x))
}

fn whether<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "0 or 1, or a list of them", |x| x == 0.0 || x == 1.0)?
        .whole()
        .map_err(serde::de::Error::custom)
}

fn at_least_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a ratio from 1 to 100", |x| (1.0..=100.0).contains(&x))
}

fn factor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a factor from 0.01 to 1000", |x| (0.01..=1e3).contains(&x))
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
    use exmachina_net::network::{HopPlan, Network, On, Upsets, Workload};
    use exmachina_net::random::{Purpose, Stream};

    use super::*;

    fn of(text: &str) -> Result<Imperfections, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    fn added(text: &str) -> Network {
        with(text, clean()).network
    }

    fn clean() -> Network {
        Network::dumbbell(10.0, 100.0, 2, Workload::new(On::Seconds(5.0), 5.0))
    }

    fn with(text: &str, network: Network) -> Specimen {
        let mut specimen = Specimen::of(network, 2);
        let mut stream = Stream::new(1, 2, 0, Purpose::Training);
        of(text).unwrap().add_to(&mut specimen, &mut |quantity| quantity.draw(&mut stream));
        specimen
    }

    #[test]
    fn a_clean_world_trembles_by_a_microsecond() {
        let roughness = Roughness { loss_burst: 1.0, ..Roughness::default() };
        assert_eq!(added(""), Network { jitter_ms: 0.001, roughness, ..clean() });
        assert_eq!(added("jitter_ms = 0").jitter_ms, 0.001);
        assert_eq!(added("jitter_ms = 400").jitter_ms, 100.0);
    }

    #[test]
    fn what_is_written_is_added() {
        let network = added(
            "clock_ms = 4\nack_packets = 2\nloss = 0.01\nbuffer_bdp = 0.5\nflow_upset_s = 3\nlink_upset_s = 20\n",
        );
        assert_eq!((network.clock_ms, network.hops[0].loss), (4.0, 0.01));
        assert_eq!(network.acks, Acks { packets: 2, delay_ms: 40.0 });
        // 10 Mbit/s and 100 ms are 100 packets.
        assert_eq!(network.hops[0].limit, Limit::Packets(50));
        assert_eq!(network.upsets, Upsets { flow_s: 3.0, link_s: 20.0 });
        assert_eq!(
            (network.first_receive_window, added("first_receive_window_packets = 45").first_receive_window),
            (0, 45)
        );
        let hops = vec![HopPlan { loss: 0.5, limit: Limit::Packets(7), ..HopPlan::constant(10.0) }];
        let lossy = Network { hops, clock_ms: 9.0, ..network };
        let lossy = with("loss = 0.5\nbuffer_bdp = 1\nclock_ms = 1", lossy).network;
        assert_eq!((lossy.hops[0].loss, lossy.hops[0].limit, lossy.clock_ms), (0.75, Limit::Packets(7), 9.0));
    }

    #[test]
    fn what_paths_and_hosts_have_besides() {
        let network =
            added("jitter_every_ms = 100\nbatch_ms = 80\nloss_burst = 4\npacing_late_ms = 0.5\nrate_wander = 0.3");
        let expected = Roughness {
            jitter_every_ms: 100.0,
            batch_ms: 80.0,
            loss_burst: 4.0,
            late_ms: 0.5,
            wander: 0.3,
            policed: false,
        };
        assert_eq!((network.roughness, network.hops[0].limit), (expected, Limit::Infinite));
        let policed = |more: &str| added(&format!("policed = 1\n{more}")).hops[0].limit;
        assert_eq!((policed(""), policed("buffer_bdp = 0.5")), (Limit::Packets(100), Limit::Packets(50)));
        let network = added("rtt_spread = 9\non_times = 4");
        assert!(network.flows.iter().all(|flow| flow.workload.on == On::Seconds(20.0)));
        let [a, b] = [0, 1].map(|i| network.flows[i].rtt_ms);
        assert!(a != b && [a, b].iter().all(|rtt| (100.0 / 3.0..=300.0).contains(rtt)), "{a} {b}");
    }

    #[test]
    fn neighbours_need_a_room_that_has_an_end() {
        let Specimen { network, neighbours, .. } = with("cubic = 2\nbbr = 1", clean());
        let kinds = [Kind::Cubic, Kind::Cubic, Kind::Bbr];
        assert_eq!(neighbours, kinds.map(|kind| Neighbour { kind, flow: network.flows[0].clone() }));
        assert_eq!((network.senders(), network.hops[0].limit), (2, Limit::Packets(100)));
        let Specimen { network: own, neighbours, .. } = with("newreno = 1\nbuffer_bdp = 3\nrtt_spread = 4", clean());
        assert_eq!(own.hops[0].limit, Limit::Packets(300));
        let rtt_ms = neighbours[0].flow.rtt_ms;
        assert!(rtt_ms != 100.0 && (50.0..=200.0).contains(&rtt_ms));
        assert_eq!(of("cubic = 101").unwrap_err(), "expected from 0 to 100 senders, got 101");
    }

    #[test]
    fn one_amount_more_leaves_the_others_as_they_were() {
        let both = "jitter_ms = { log_uniform = [0.01, 10] }\nloss = { uniform = [0, 0.1] }\n";
        let (one, other) = (added(both), added(&format!("{both}clock_ms = {{ uniform = [1, 2] }}\n")));
        assert_eq!((one.jitter_ms, one.hops), (other.jitter_ms, other.hops));
    }

    #[test]
    fn mistakes() {
        let told = |text| of(text).unwrap_err();
        assert_eq!(told("ack_packets = 0"), "expected from 1 to 64 packets, got 0");
        assert_eq!(told("ack_packets = 1.5"), "expected whole numbers, got 1.5");
        let expected = "expected from 1 to 65535 packets, or 0 for all that come, got -1";
        assert_eq!(told("first_receive_window_packets = -1"), expected);
        assert_eq!(told("policed = 0.5"), "expected 0 or 1, or a list of them, got 0.5");
        assert_eq!(told("rtt_spread = 0.5"), "expected a ratio from 1 to 100, got 0.5");
        assert_eq!(told("flow_upset_s = 0.001"), "expected from 0.01 to 100000 seconds, or 0 for never, got 0.001");
        assert!(told("jitter = 1").starts_with("unknown field `jitter`"));
    }
}
