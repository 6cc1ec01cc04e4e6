//! The tables of a scenario file, as written, and what each field may be.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Quantity;

/// The most senders that one network may have.
const MAX_SENDERS: f64 = 1000.0;

/// The longest RTT, in ms.
const MAX_RTT_MS: f64 = 1e6;

/// `[link]`: the bottleneck.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Rate in Mbit/s.
    #[serde(deserialize_with = "rate")]
    pub rate_mbps: Quantity,
    /// Room for waiting packets.
    #[serde(default)]
    pub buffer: BufferSize,
    /// Probability that a packet is lost for no reason of congestion.
    #[serde(default = "zero", deserialize_with = "probability")]
    pub loss: Quantity,
}

/// How a scenario states the room at the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BufferSize {
    /// `"infinite"`: nothing is dropped for want of room.
    #[default]
    Infinite,
    /// `{ packets = n }`.
    Packets(u32),
    /// `{ bdp = x }`: this many times the link rate x the largest minimum RTT, at least one packet.
    Bdp(f64),
}

/// `[path]`: delay, and what clouds its measurement.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "PathTable")]
pub struct Path {
    /// Minimum RTT in ms, one for all senders; where they differ, the largest.
    pub rtt_ms: Quantity,
    /// Minimum RTT of each sender in ms, where they differ.
    pub rtt_ms_each: Option<Vec<f64>>,
    /// Uniform extra delay in [0, jitter) ms.
    pub jitter_ms: Quantity,
    /// Resolution of the senders' clocks in ms.
    pub clock_ms: Quantity,
}

/// `[senders]`: how many there are.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Senders {
    /// Number of senders that share the link.
    #[serde(deserialize_with = "count")]
    pub count: Quantity,
}

/// `[workload]`: when a sender has something to send.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What ends an on-period.
    pub on: OnPeriod,
    /// How long the pauses are.
    pub off: OffPeriod,
}

/// The mean of exponentially distributed on-periods: `{ seconds = 5 }` or `{ bytes = 100_000 }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "OnTable")]
pub enum OnPeriod {
    /// On for a time.
    Seconds(Quantity),
    /// On until so much has been sent.
    Bytes(Quantity),
}

/// The mean of exponentially distributed off-periods: `{ seconds = 5 }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OffPeriod {
    /// Mean in seconds.
    #[serde(deserialize_with = "mean")]
    pub seconds: Quantity,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathTable {
    #[serde(default, deserialize_with = "rtt")]
    rtt_ms: Option<Quantity>,
    #[serde(default, deserialize_with = "rtt_each")]
    rtt_ms_each: Option<Vec<f64>>,
    #[serde(default = "zero", deserialize_with = "time")]
    jitter_ms: Quantity,
    #[serde(default = "zero", deserialize_with = "time")]
    clock_ms: Quantity,
}

impl TryFrom<PathTable> for Path {
    type Error = &'static str;

    fn try_from(table: PathTable) -> Result<Self, Self::Error> {
        let PathTable { rtt_ms, rtt_ms_each, jitter_ms, clock_ms } = table;
        let rtt_ms = match (rtt_ms, &rtt_ms_each) {
            (Some(rtt), None) => rtt,
            (None, Some(each)) => Quantity::Exact(each.iter().copied().fold(0.0, f64::max)),
            (Some(_), Some(_)) => return Err("expected either rtt_ms or rtt_ms_each, got both"),
            (None, None) => {
                return Err("expected rtt_ms (one for all senders) or rtt_ms_each (one per sender), got neither");
            }
        };
        Ok(Self { rtt_ms, rtt_ms_each, jitter_ms, clock_ms })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnTable {
    #[serde(default, deserialize_with = "some_mean")]
    seconds: Option<Quantity>,
    #[serde(default, deserialize_with = "some_mean")]
    bytes: Option<Quantity>,
}

impl TryFrom<OnTable> for OnPeriod {
    type Error = &'static str;

    fn try_from(table: OnTable) -> Result<Self, Self::Error> {
        match (table.seconds, table.bytes) {
            (Some(mean), None) => Ok(Self::Seconds(mean)),
            (None, Some(mean)) => Ok(Self::Bytes(mean)),
            _ => Err("expected either { seconds = mean } or { bytes = mean }"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferTable {
    packets: Option<u32>,
    bdp: Option<f64>,
}

impl<'de> Deserialize<'de> for BufferSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BufferVisitor)
    }
}

struct BufferVisitor;

impl<'de> Visitor<'de> for BufferVisitor {
    type Value = BufferSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"infinite\", { packets = n } or { bdp = x }")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<BufferSize, E> {
        match word {
            "infinite" => Ok(BufferSize::Infinite),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BufferSize, A::Error> {
        let table = BufferTable::deserialize(MapAccessDeserializer::new(map))?;
        match (table.packets, table.bdp) {
            (Some(0), None) => Err(A::Error::custom("expected room for at least 1 packet, got 0")),
            (Some(packets), None) => Ok(BufferSize::Packets(packets)),
            (None, Some(bdp)) if bdp > 0.0 && bdp.is_finite() => Ok(BufferSize::Bdp(bdp)),
            (None, Some(bdp)) => Err(A::Error::custom(format!("expected bdp > 0, got {bdp}"))),
            _ => Err(A::Error::custom("expected either { packets = n } or { bdp = x }")),
        }
    }
}

fn zero() -> Quantity {
    Quantity::Exact(0.0)
}

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a rate above 0 and at most 1000000 Mbit/s", |x| x > 0.0 && x <= 1e6)
}

fn probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a probability of at least 0 and below 1", |x| (0.0..1.0).contains(&x))
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a time of at least 0 ms", |x| x >= 0.0)
}

fn mean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a mean above 0", |x| x > 0.0)
}

fn some_mean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    mean(deserializer).map(Some)
}

const RTT: &str = "an RTT above 0 and at most 1000000 ms";

fn is_rtt(x: f64) -> bool {
    x > 0.0 && x <= MAX_RTT_MS
}

fn rtt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    Quantity::within(deserializer, RTT, is_rtt).map(Some)
}

fn rtt_each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<f64>>, D::Error> {
    let each = Vec::<f64>::deserialize(deserializer)?;
    if each.is_empty() || each.len() as f64 > MAX_SENDERS {
        return Err(D::Error::custom(format!("expected from 1 to {MAX_SENDERS} RTTs, got {}", each.len())));
    }
    match each.iter().find(|&&x| !is_rtt(x)) {
        Some(x) => Err(D::Error::custom(format!("expected {RTT}, got {x}"))),
        None => Ok(Some(each)),
    }
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, &format!("from 1 to {MAX_SENDERS} senders"), |x| (1.0..=MAX_SENDERS).contains(&x))?
        .whole()
        .map_err(D::Error::custom)
}
