//! Queue disciplines as scenario files write them: a name, or a name and its settings.

use std::fmt;

use exmachina_net::queue::{
    CoDelSettings, CobaltSettings, FqCoDelSettings, PieSettings, QueueKind, RedSettings, SfqCoDelSettings,
    StepSettings, XcpSettings,
};
use exmachina_net::time::Duration;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Shown, or_nearest};

/// The names of the disciplines.
const NAMES: &str = "droptail, red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp";

/// No time of a queue is longer, ms.
const MAX_MS: f64 = 1e6;

/// The discipline of this name, with its default settings.
///
/// # Errors
/// Where there is none; says which there are.
pub fn queue_by_name(name: &str) -> Result<QueueKind, String> {
    Ok(match name {
        "droptail" => QueueKind::DropTail,
        "red" => QueueKind::Red(RedSettings::default()),
        "step" => QueueKind::Step(StepSettings::default()),
        "codel" => QueueKind::CoDel(CoDelSettings::default()),
        "cobalt" => QueueKind::Cobalt(CobaltSettings::default()),
        "sfqcodel" => QueueKind::SfqCoDel(SfqCoDelSettings::default()),
        "fqcodel" => QueueKind::FqCoDel(FqCoDelSettings::default()),
        "pie" => QueueKind::Pie(PieSettings::default()),
        "xcp" => QueueKind::Xcp(XcpSettings::default()),
        _ => return Err(format!("expected {NAMES}, got {name}{}", or_nearest(name, NAMES.split(", ")))),
    })
}

/// `queue = "name"` or `queue = { name = { ... } }`.
pub(super) fn queue<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<QueueKind>, D::Error> {
    deserializer.deserialize_any(QueueVisitor).map(Some)
}

struct QueueVisitor;

impl<'de> Visitor<'de> for QueueVisitor {
    type Value = QueueKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAMES}, or {{ red = {{ ... }} }} and the like")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<QueueKind, E> {
        queue_by_name(name).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QueueKind, A::Error> {
        QueueTable::deserialize(MapAccessDeserializer::new(map))?.queue().map_err(A::Error::custom)
    }
}

/// The settings that a file may give. What it leaves out is the discipline's default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueTable {
    red: Option<RedTable>,
    step: Option<StepTable>,
    codel: Option<CoDelTable>,
    cobalt: Option<CoDelTable>,
    sfqcodel: Option<SfqCoDelTable>,
    fqcodel: Option<FqCoDelTable>,
    pie: Option<PieTable>,
    xcp: Option<XcpTable>,
}

impl QueueTable {
    fn queue(self) -> Result<QueueKind, String> {
        let given = [
            self.red.map(|t| t.settings().map(QueueKind::Red)),
            self.step.map(|t| t.settings().map(QueueKind::Step)),
            self.codel.map(|t| t.settings(CoDelSettings::default()).map(QueueKind::CoDel)),
            self.cobalt
                .map(|t| t.settings(CoDelSettings::default()).map(|codel| QueueKind::Cobalt(CobaltSettings { codel }))),
            self.sfqcodel.map(|t| t.settings().map(QueueKind::SfqCoDel)),
            self.fqcodel.map(|t| t.settings().map(QueueKind::FqCoDel)),
            self.pie.map(|t| t.settings().map(QueueKind::Pie)),
            self.xcp.map(|t| t.settings().map(QueueKind::Xcp)),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(queue), None) => queue,
            _ => Err("expected exactly one of red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp".to_owned()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RedTable {
    min_packets: Option<f64>,
    max_packets: Option<f64>,
    max_probability: Option<f64>,
    weight: Option<f64>,
    gentle: Option<bool>,
    wait: Option<bool>,
    ecn: Option<bool>,
}

impl RedTable {
    fn settings(&self) -> Result<RedSettings, String> {
        let default = RedSettings::default();
        let low = number("min_packets", self.min_packets, default.min_threshold, 0.0, 1e9)?;
        // The papers' ns-2 keeps the upper threshold at three times the lower.
        let high = number("max_packets", self.max_packets, default.max_threshold.max(3.0 * low), 0.0, 1e9)?;
        if high < low {
            return Err(format!("expected max_packets of at least min_packets, {}, got {}", Shown(low), Shown(high)));
        }
        Ok(RedSettings {
            min_threshold: low,
            max_threshold: high,
            max_probability: number("max_probability", self.max_probability, default.max_probability, 0.0, 1.0)?,
            weight: number("weight", self.weight, default.weight, 0.0, 1.0)?,
            gentle: self.gentle.unwrap_or(default.gentle),
            wait: self.wait.unwrap_or(default.wait),
            ecn: self.ecn.unwrap_or(default.ecn),
            mean_packet: default.mean_packet,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepTable {
    packets: Option<u32>,
}

impl StepTable {
    fn settings(&self) -> Result<StepSettings, String> {
        Ok(StepSettings { threshold: self.packets.unwrap_or(StepSettings::default().threshold) })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CoDelTable {
    target_ms: Option<f64>,
    interval_ms: Option<f64>,
    ecn: Option<bool>,
}

impl CoDelTable {
    fn settings(&self, default: CoDelSettings) -> Result<CoDelSettings, String> {
        Ok(CoDelSettings {
            target: time("target_ms", self.target_ms, default.target)?,
            interval: time("interval_ms", self.interval_ms, default.interval)?,
            ecn: self.ecn.unwrap_or(default.ecn),
            ..default
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SfqCoDelTable {
    bins: Option<u32>,
    target_ms: Option<f64>,
    interval_ms: Option<f64>,
    ecn: Option<bool>,
}

impl SfqCoDelTable {
    fn settings(self) -> Result<SfqCoDelSettings, String> {
        let default = SfqCoDelSettings::default();
        let codel = CoDelTable { target_ms: self.target_ms, interval_ms: self.interval_ms, ecn: self.ecn };
        let bins = bins("bins", self.bins, default.bins)?;
        Ok(SfqCoDelSettings { bins, codel: codel.settings(default.codel)?, ..default })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FqCoDelTable {
    queues: Option<u32>,
    quantum_bytes: Option<u32>,
    target_ms: Option<f64>,
    interval_ms: Option<f64>,
    ecn: Option<bool>,
}

impl FqCoDelTable {
    fn settings(self) -> Result<FqCoDelSettings, String> {
        let default = FqCoDelSettings::default();
        let codel = CoDelTable { target_ms: self.target_ms, interval_ms: self.interval_ms, ecn: self.ecn };
        let quantum = self.quantum_bytes.unwrap_or(default.quantum);
        if !(1..=1_000_000).contains(&quantum) {
            return Err(format!("expected quantum_bytes from 1 to 1000000, got {quantum}"));
        }
        let queues = bins("queues", self.queues, default.queues)?;
        Ok(FqCoDelSettings { queues, quantum, codel: codel.settings(default.codel)?, ..default })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PieTable {
    target_ms: Option<f64>,
    update_ms: Option<f64>,
    burst_ms: Option<f64>,
    ecn: Option<bool>,
}

impl PieTable {
    fn settings(&self) -> Result<PieSettings, String> {
        let default = PieSettings::default();
        Ok(PieSettings {
            target: time("target_ms", self.target_ms, default.target)?,
            update: time("update_ms", self.update_ms, default.update)?,
            burst: time("burst_ms", self.burst_ms, default.burst)?,
            ecn: self.ecn.unwrap_or(default.ecn),
            ..default
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct XcpTable {
    alpha: Option<f64>,
    beta: Option<f64>,
    gamma: Option<f64>,
    capacity_mbps: Option<f64>,
}

impl XcpTable {
    fn settings(&self) -> Result<XcpSettings, String> {
        let default = XcpSettings::default();
        let capacity = self.capacity_mbps.map(|mbps| number("capacity_mbps", Some(mbps), mbps, 1e-6, 1e6));
        Ok(XcpSettings {
            alpha: number("alpha", self.alpha, default.alpha, 0.0, 10.0)?,
            beta: number("beta", self.beta, default.beta, 0.0, 10.0)?,
            gamma: number("gamma", self.gamma, default.gamma, 0.0, 1.0)?,
            capacity: capacity.transpose()?.map(|mbps| mbps * 1e6 / 8.0),
        })
    }
}

fn number(field: &str, given: Option<f64>, default: f64, lo: f64, hi: f64) -> Result<f64, String> {
    match given.unwrap_or(default) {
        value if (lo..=hi).contains(&value) => Ok(value),
        value => Err(format!("expected {field} from {lo} to {hi}, got {}", Shown(value))),
    }
}

/// A time that is given in ms. At least 1 us, so that nothing that repeats does so for ever.
fn time(field: &str, given: Option<f64>, default: Duration) -> Result<Duration, String> {
    given.map_or(Ok(default), |ms| number(field, Some(ms), ms, 1e-3, MAX_MS).map(Duration::from_ms))
}

fn bins(field: &str, given: Option<u32>, default: u32) -> Result<u32, String> {
    match given.unwrap_or(default) {
        n if (1..=65_536).contains(&n) => Ok(n),
        n => Err(format!("expected {field} from 1 to 65536, got {n}")),
    }
}
