//! `[link]` and `[[links]]` of an evaluation, as written: any link, any queue, one after another.

use exmachina_net::queue::QueueKind;
use exmachina_net::service::Cellular;
use serde::{Deserialize, Deserializer};

use super::bounds::{RATE, RATES};
use super::checked::checked;
use super::queues::queue;
use super::routes::Stretch;
use super::tables::{delay, probability, rate, zero};
use super::{BufferSize, Quantity, Shown};

/// A queue and its link.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// By which routes name it.
    pub name: Option<String>,
    /// When it lets packets go.
    pub service: ServiceTable,
    /// Room for waiting packets.
    pub buffer: BufferSize,
    /// The queue discipline; none: the one that the schemes are made for, most often drop-tail.
    pub queue: Option<QueueKind>,
    /// Probability that a packet is lost for no reason of congestion.
    pub loss: Quantity,
    /// One-way delay to the next link of a route, ms.
    pub delay_ms: Option<f64>,
    /// The rate that routers are told where they have to know it (XCP's), Mbit/s; none: the true mean.
    pub told_mbps: Option<f64>,
}

/// When a link lets packets go.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceTable {
    /// At a constant rate, Mbit/s.
    Rate(Quantity),
    /// As recorded.
    Trace {
        /// The recording's file.
        file: String,
        /// Runs start at a random place of it.
        random: bool,
    },
    /// As a synthetic cellular link.
    Cellular(Cellular),
}

impl Stretch for Bottleneck {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn delay_ms(&self) -> Option<f64> {
        self.delay_ms
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkTable {
    name: Option<String>,
    #[serde(default, deserialize_with = "some_rate")]
    rate_mbps: Option<Quantity>,
    trace: Option<String>,
    #[serde(default, deserialize_with = "trace_offset")]
    trace_offset: Option<bool>,
    #[serde(default, deserialize_with = "cellular")]
    cellular: Option<Cellular>,
    #[serde(default)]
    buffer: BufferSize,
    #[serde(default, deserialize_with = "queue")]
    queue: Option<QueueKind>,
    #[serde(default = "zero", deserialize_with = "probability")]
    loss: Quantity,
    #[serde(default, deserialize_with = "delay")]
    delay_ms: Option<f64>,
    #[serde(default, deserialize_with = "told")]
    told_mbps: Option<f64>,
}

impl LinkTable {
    fn link(self) -> Result<Bottleneck, String> {
        let LinkTable { name, rate_mbps, trace, trace_offset, cellular, buffer, queue, loss, delay_ms, told_mbps } =
            self;
        if trace.is_none() && trace_offset.is_some() {
            return Err("expected trace beside trace_offset".to_owned());
        }
        let service = match (rate_mbps, trace, cellular) {
            (Some(rate), None, None) => ServiceTable::Rate(rate),
            (None, Some(file), None) => ServiceTable::Trace { file, random: trace_offset.unwrap_or(true) },
            (None, None, Some(cellular)) => ServiceTable::Cellular(cellular),
            _ => return Err("expected exactly one of rate_mbps, trace, cellular".to_owned()),
        };
        Ok(Bottleneck { name, service, buffer, queue, loss, delay_ms, told_mbps })
    }
}

impl<'de> Deserialize<'de> for Bottleneck {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer, LinkTable::link)
    }
}

/// What is left out is the default of [`Cellular`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CellularTable {
    mean_mbps: Option<f64>,
    max_mbps: Option<f64>,
    spread: Option<f64>,
    memory_s: Option<f64>,
    outage_per_s: Option<f64>,
    outage_mean_s: Option<f64>,
}

impl CellularTable {
    /// With the bounds of what a link can be.
    fn settings(&self) -> Result<Cellular, String> {
        let value = |field: &str, given: Option<f64>, default: f64, lo: f64, hi: f64| match given.unwrap_or(default) {
            value if (lo..=hi).contains(&value) => Ok(value),
            value => Err(format!("expected {field} from {lo} to {hi}, got {}", Shown(value))),
        };
        let d = Cellular::default();
        let mean_mbps = value("mean_mbps", self.mean_mbps, d.mean_mbps, 0.001, 1e5)?;
        // The default link's maximum is a few times its mean.
        let max_default = d.max_mbps * (mean_mbps / d.mean_mbps).max(1.0);
        Ok(Cellular {
            mean_mbps,
            max_mbps: value("max_mbps", self.max_mbps, max_default.min(1e5), mean_mbps.max(0.01), 1e5)?,
            spread: value("spread", self.spread, d.spread, 0.0, 3.0)?,
            memory_s: value("memory_s", self.memory_s, d.memory_s, 0.02, 1e6)?,
            outage_per_s: value("outage_per_s", self.outage_per_s, d.outage_per_s, 0.0, 10.0)?,
            outage_mean_s: value("outage_mean_s", self.outage_mean_s, d.outage_mean_s, 0.02, 600.0)?,
        })
    }
}

fn cellular<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cellular>, D::Error> {
    checked(deserializer, |table: CellularTable| table.settings().map(Some))
}

fn some_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    rate(deserializer).map(Some)
}

fn told<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let mbps = f64::deserialize(deserializer)?;
    if (RATES.0..=RATES.1).contains(&mbps) {
        return Ok(Some(mbps));
    }
    Err(serde::de::Error::custom(format!("expected {RATE}, got {}", Shown(mbps))))
}

fn trace_offset<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "random" => Ok(Some(true)),
        "none" => Ok(Some(false)),
        other => Err(serde::de::Error::custom(format!("expected \"random\" or \"none\", got \"{other}\""))),
    }
}
