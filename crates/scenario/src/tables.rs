//! The tables of a scenario file, as written, and what each field may be.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::bounds::{RATE, RATES, RTT, RTTS_MS};
use super::routes::Stretch;
use super::{Quantity, Shown};

/// The most senders that one network may have.
pub(super) const MAX_SENDERS: f64 = 1000.0;

/// The longest delay of a link, ms.
const MAX_DELAY_MS: f64 = 1e6;

/// `[link]`: the bottleneck; or one of `[[links]]`.
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
    /// By which routes name it.
    pub name: Option<String>,
    /// One-way delay to the next link of a route, ms.
    #[serde(default, deserialize_with = "delay")]
    pub delay_ms: Option<f64>,
}

impl Stretch for Link {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn delay_ms(&self) -> Option<f64> {
        self.delay_ms
    }
}

/// How a scenario states the room at the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BufferSize {
    /// `"infinite"`: nothing is dropped for want of room.
    #[default]
    Infinite,
    /// `{ packets = n }`.
    Packets(u32),
    /// `{ bytes = n }`.
    Bytes(u64),
    /// `{ bdp = x }`: this many times the link rate x the largest minimum RTT, at least one packet; with `beyond_ms`, but for so
    /// much of that RTT, which is beyond the link.
    Bdp {
        /// How many times.
        times: f64,
        /// Part of the RTT that does not count, ms.
        beyond_ms: f64,
    },
}

/// `[path]`: delay, and what clouds its measurement.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "PathTable")]
pub struct Path {
    /// Minimum RTT in ms, one for all senders; where they are written one by one, the largest; none where it follows
    /// from the delays of links, or groups of senders have theirs.
    pub rtt_ms: Option<Quantity>,
    /// Minimum RTT of each sender in ms, where they differ.
    pub rtt_ms_each: Option<Vec<f64>>,
    /// Uniform extra delay in [0, jitter) ms.
    pub jitter_ms: Quantity,
    /// Resolution of the senders' clocks in ms.
    pub clock_ms: Quantity,
}

impl Default for Path {
    fn default() -> Self {
        Path { rtt_ms: None, rtt_ms_each: None, jitter_ms: zero(), clock_ms: zero() }
    }
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
            (Some(_), Some(_)) => return Err("expected either rtt_ms or rtt_ms_each, got both"),
            (None, Some(each)) => Some(Quantity::Exact(each.iter().copied().fold(0.0, f64::max))),
            (rtt, None) => rtt,
        };
        Ok(Self { rtt_ms, rtt_ms_each, jitter_ms, clock_ms })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferTable {
    packets: Option<u32>,
    bytes: Option<u64>,
    bdp: Option<f64>,
    beyond_ms: Option<f64>,
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
        f.write_str("\"infinite\", { packets = n }, { bytes = n } or { bdp = x }")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<BufferSize, E> {
        match word {
            "infinite" => Ok(BufferSize::Infinite),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BufferSize, A::Error> {
        let table = BufferTable::deserialize(MapAccessDeserializer::new(map))?;
        let beyond_ms = table.beyond_ms.unwrap_or(0.0);
        if table.beyond_ms.is_some() && table.bdp.is_none() {
            return Err(A::Error::custom("expected beyond_ms beside bdp only"));
        }
        if !(beyond_ms >= 0.0 && beyond_ms.is_finite()) {
            return Err(A::Error::custom(format!("expected beyond_ms of at least 0, got {}", Shown(beyond_ms))));
        }
        match (table.packets, table.bytes, table.bdp) {
            (Some(0), None, None) => Err(A::Error::custom("expected room for at least 1 packet, got 0")),
            (Some(packets), None, None) => Ok(BufferSize::Packets(packets)),
            (None, Some(0), None) => Err(A::Error::custom("expected room for at least 1 byte, got 0")),
            (None, Some(bytes), None) => Ok(BufferSize::Bytes(bytes)),
            (None, None, Some(bdp)) if bdp > 0.0 && bdp.is_finite() => Ok(BufferSize::Bdp { times: bdp, beyond_ms }),
            (None, None, Some(bdp)) => Err(A::Error::custom(format!("expected bdp > 0, got {}", Shown(bdp)))),
            _ => Err(A::Error::custom("expected exactly one of { packets = n }, { bytes = n } and { bdp = x }")),
        }
    }
}

pub(super) fn zero() -> Quantity {
    Quantity::Exact(0.0)
}

pub(super) fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, RATE, |x| (RATES.0..=RATES.1).contains(&x))
}

pub(super) fn probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a probability of at least 0 and below 1", |x| (0.0..1.0).contains(&x))
}

pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, "a time of at least 0 ms", |x| x >= 0.0)
}

pub(super) fn delay<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        ms if (0.0..=MAX_DELAY_MS).contains(&ms) => Ok(Some(ms)),
        ms => Err(D::Error::custom(format!("expected a delay from 0 to {MAX_DELAY_MS} ms, got {}", Shown(ms)))),
    }
}

fn is_rtt(x: f64) -> bool {
    (RTTS_MS.0..=RTTS_MS.1).contains(&x)
}

pub(super) fn rtt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    Quantity::within(deserializer, RTT, is_rtt).map(Some)
}

pub(super) fn rtt_each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<f64>>, D::Error> {
    let each = Vec::<f64>::deserialize(deserializer)?;
    if each.is_empty() || each.len() as f64 > MAX_SENDERS {
        return Err(D::Error::custom(format!("expected from 1 to {MAX_SENDERS} RTTs, got {}", each.len())));
    }
    match each.iter().find(|&&x| !is_rtt(x)) {
        Some(x) => Err(D::Error::custom(format!("expected {RTT}, got {}", Shown(*x)))),
        None => Ok(Some(each)),
    }
}

/// How many of some senders run AIMD: any number from none to all, which a scenario restricts further.
pub(super) fn aimd<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    let expected = format!("from 0 to {MAX_SENDERS} senders");
    Quantity::within(deserializer, &expected, |x| (0.0..=MAX_SENDERS).contains(&x))?
        .whole()
        .map_err(serde::de::Error::custom)
}

/// A number of senders; whether none at all may be is said where all groups are known.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
    Quantity::within(deserializer, &format!("from 1 to {MAX_SENDERS} senders"), |x| (0.0..=MAX_SENDERS).contains(&x))?
        .whole()
        .map_err(D::Error::custom)
}
