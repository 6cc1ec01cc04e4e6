//! `[workload]`: when senders have something to send, as written.

use std::fmt;
use std::sync::Arc;

use exmachina_hosts::transport::Preset;
use exmachina_net::network::{self, Arrival, Draw, FirstOff, ICSI_EXTRA_BYTES, On, Stop};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::bounds::{PERIOD, PERIODS_S, TRANSFER, TRANSFERS_BYTES};
use super::checked::{checked, some_table};
use super::{NOTHING, Quantity, Shown};

/// `[workload]`: when a sender has something to send.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WorkloadTable")]
pub struct Workload {
    /// What ends an on-period.
    pub on: OnPeriod,
    /// How long the pauses are.
    pub off: OffPeriod,
    /// When the first on-period begins.
    pub first_off: FirstOff,
    /// On and off times are not drawn from our random numbers but are those of a run of the authors' ns-2.
    pub replay: Option<Replay>,
}

/// `{ ns2 = 1 }`: our first run has the on and off times of their run of this number (`-run` in Tao'14's scripts, `-seed` in
/// Remy'13's), our second those of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Their run, of which there is none with number 0.
    #[serde(deserialize_with = "ns2_run")]
    pub ns2: u32,
}

/// No run that anybody made has a higher number; seeding goes through as many substreams.
const MAX_NS2_RUN: u32 = 10_000;

fn ns2_run<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        run if (1..=MAX_NS2_RUN).contains(&run) => Ok(run),
        run => Err(D::Error::custom(format!("expected a run of ns-2 from 1 to {MAX_NS2_RUN}, got {run}"))),
    }
}

/// What ends an on-period.
#[derive(Clone, Debug, PartialEq)]
pub enum OnPeriod {
    /// `{ seconds = 5 }`: a time, exponentially distributed with this mean.
    Seconds(Quantity),
    /// `{ bytes = 100_000 }`: so much has been sent, exponentially distributed with this mean.
    Bytes(Quantity),
    /// `{ fixed_seconds = 5 }`: this time.
    FixedSeconds(Quantity),
    /// `{ icsi = { extra_bytes = 16384 } }`: a flow length of the ICSI trace, and so many bytes more.
    Icsi {
        /// Bytes more.
        extra_bytes: f64,
    },
    /// `"forever"`: nothing.
    Forever,
    /// `{ at = [...] }`: on-periods at given instants.
    At(Arc<[Arrival]>),
}

/// How long pauses are: `{ seconds = 5 }`, exponentially distributed with this mean, or `{ fixed_seconds = 5 }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "OffTable")]
pub struct OffPeriod {
    /// Mean in seconds.
    pub seconds: Quantity,
    /// Whether pauses vary.
    pub draw: Draw,
}

impl Workload {
    /// Its two quantities: on, in seconds or bytes, and off, in seconds.
    #[must_use]
    pub fn quantities(&self) -> [&Quantity; 2] {
        let on = match &self.on {
            OnPeriod::Seconds(on) | OnPeriod::Bytes(on) | OnPeriod::FixedSeconds(on) => on,
            OnPeriod::Icsi { .. } | OnPeriod::Forever | OnPeriod::At(_) => &NOTHING,
        };
        [on, &self.off.seconds]
    }

    /// Why the on and off times of ns-2's runs cannot be had under this preset, if they cannot.
    pub(super) fn check_replay(&self, preset: Preset) -> Result<(), String> {
        let (form, fits) = match preset {
            Preset::Tao14 => (
                "on = { seconds = mean }, off = { seconds = mean } and no first_off (Tao'14's scripts)",
                matches!(self.on, OnPeriod::Seconds(_)) && self.first_off == FirstOff::Exponential,
            ),
            Preset::Remy13 => (
                "on = { bytes = mean }, off = { seconds = mean } and first_off = \"half-exponential\" (Remy'13's scripts)",
                matches!(self.on, OnPeriod::Bytes(_)) && self.first_off == FirstOff::HalfExponential,
            ),
            Preset::Today => ("transport.preset = \"remy13\" or \"tao14\", which say whose runs", false),
        };
        if fits && self.off.draw == Draw::Exponential { Ok(()) } else { Err(format!("expected beside it {form}")) }
    }

    /// The workload that has these values, in the order of [`Workload::quantities`].
    #[must_use]
    pub fn with(&self, [on, off_s]: [f64; 2]) -> network::Workload {
        let on = match &self.on {
            OnPeriod::Seconds(_) => On::Seconds(on),
            OnPeriod::Bytes(_) => On::Bytes(on),
            OnPeriod::FixedSeconds(_) => On::FixedSeconds(on),
            OnPeriod::Icsi { extra_bytes } => On::Icsi { extra_bytes: *extra_bytes },
            OnPeriod::Forever => On::Forever,
            OnPeriod::At(arrivals) => On::At(arrivals.clone()),
        };
        network::Workload { off: self.off.draw, first_off: self.first_off, ..network::Workload::new(on, off_s) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadTable {
    on: OnPeriod,
    off: Option<OffPeriod>,
    #[serde(default, deserialize_with = "first_off")]
    first_off: FirstOff,
    #[serde(default, deserialize_with = "some_table")]
    replay: Option<Replay>,
}

impl TryFrom<WorkloadTable> for Workload {
    type Error = &'static str;

    fn try_from(table: WorkloadTable) -> Result<Self, Self::Error> {
        let off = match (table.off, &table.on) {
            (Some(off), _) => off,
            // A second on the mean before flows for ever begin: all at one instant would fill the queue at once.
            (None, OnPeriod::Forever) => OffPeriod { seconds: Quantity::Exact(1.0), draw: Draw::Exponential },
            (None, OnPeriod::At(_)) => OffPeriod { seconds: NOTHING.clone(), draw: Draw::Exponential },
            // In serde's words, which become ours.
            (None, _) => return Err("missing field `off`"),
        };
        Ok(Self { on: table.on, off, first_off: table.first_off, replay: table.replay })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OffTable {
    #[serde(default, deserialize_with = "period")]
    seconds: Option<Quantity>,
    #[serde(default, deserialize_with = "period")]
    fixed_seconds: Option<Quantity>,
}

impl TryFrom<OffTable> for OffPeriod {
    type Error = &'static str;

    fn try_from(table: OffTable) -> Result<Self, Self::Error> {
        match (table.seconds, table.fixed_seconds) {
            (Some(seconds), None) => Ok(Self { seconds, draw: Draw::Exponential }),
            (None, Some(seconds)) => Ok(Self { seconds, draw: Draw::Fixed }),
            _ => Err("expected either { seconds = mean } or { fixed_seconds = s }"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnTable {
    #[serde(default, deserialize_with = "period")]
    seconds: Option<Quantity>,
    #[serde(default, deserialize_with = "transfer")]
    bytes: Option<Quantity>,
    #[serde(default, deserialize_with = "period")]
    fixed_seconds: Option<Quantity>,
    icsi: Option<IcsiTable>,
    at: Option<Vec<ArrivalTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IcsiTable {
    extra_bytes: Option<f64>,
}

impl OnTable {
    fn period(self) -> Result<OnPeriod, String> {
        let forms = [
            self.seconds.map(|mean| Ok(OnPeriod::Seconds(mean))),
            self.bytes.map(|mean| Ok(OnPeriod::Bytes(mean))),
            self.fixed_seconds.map(|s| Ok(OnPeriod::FixedSeconds(s))),
            self.icsi.map(|table| icsi(&table)),
            self.at.map(arrivals),
        ];
        let mut given = forms.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(form), None) => form,
            _ => Err("expected exactly one of seconds, bytes, fixed_seconds, icsi, at; or on = \"forever\"".to_owned()),
        }
    }
}

fn icsi(table: &IcsiTable) -> Result<OnPeriod, String> {
    match table.extra_bytes.unwrap_or(ICSI_EXTRA_BYTES) {
        extra_bytes if extra_bytes >= 0.0 && extra_bytes.is_finite() => Ok(OnPeriod::Icsi { extra_bytes }),
        extra_bytes => Err(format!("expected extra_bytes of at least 0, got {}", Shown(extra_bytes))),
    }
}

/// An on-period that begins at a given instant, as written.
struct ArrivalTable(Arrival);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrivalFile {
    start_s: f64,
    bytes: Option<f64>,
    seconds: Option<f64>,
}

impl ArrivalFile {
    fn arrival(self) -> Result<ArrivalTable, String> {
        let ArrivalFile { start_s, bytes, seconds } = self;
        if !(start_s >= 0.0 && start_s.is_finite()) {
            return Err(format!("expected start_s of at least 0, got {}", Shown(start_s)));
        }
        if let Some(amount) = bytes.or(seconds).filter(|amount| !(*amount > 0.0 && amount.is_finite())) {
            return Err(format!("expected bytes or seconds above 0, got {}", Shown(amount)));
        }
        let stop = match (bytes, seconds) {
            (Some(bytes), None) => Stop::Bytes(bytes),
            (None, Some(seconds)) => Stop::Seconds(seconds),
            (None, None) => Stop::Never,
            _ => return Err("expected either bytes or seconds, got both".to_owned()),
        };
        Ok(ArrivalTable(Arrival { start_s, stop }))
    }
}

impl<'de> Deserialize<'de> for ArrivalTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer, ArrivalFile::arrival)
    }
}

fn arrivals(tables: Vec<ArrivalTable>) -> Result<OnPeriod, String> {
    if tables.is_empty() {
        return Err("expected at least one on-period in { at = [...] }".to_owned());
    }
    let arrivals: Arc<[Arrival]> = tables.into_iter().map(|ArrivalTable(arrival)| arrival).collect();
    match arrivals.windows(2).find(|pair| pair[1].start_s < pair[0].start_s) {
        Some(pair) => {
            Err(format!("expected start_s in order, got {} after {}", Shown(pair[1].start_s), Shown(pair[0].start_s)))
        }
        None => Ok(OnPeriod::At(arrivals)),
    }
}

impl<'de> Deserialize<'de> for OnPeriod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnVisitor)
    }
}

struct OnVisitor;

impl<'de> Visitor<'de> for OnVisitor {
    type Value = OnPeriod;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ seconds = mean }, { bytes = mean }, fixed_seconds, icsi, at, or \"forever\"")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<OnPeriod, E> {
        match word {
            "forever" => Ok(OnPeriod::Forever),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OnPeriod, A::Error> {
        OnTable::deserialize(MapAccessDeserializer::new(map))?.period().map_err(A::Error::custom)
    }
}

fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    Quantity::within(deserializer, PERIOD, |s| (PERIODS_S.0..=PERIODS_S.1).contains(&s)).map(Some)
}

fn transfer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    Quantity::within(deserializer, TRANSFER, |b| (TRANSFERS_BYTES.0..=TRANSFERS_BYTES.1).contains(&b)).map(Some)
}

fn first_off<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FirstOff, D::Error> {
    deserializer.deserialize_any(FirstOffVisitor)
}

struct FirstOffVisitor;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstOffTable {
    seconds: f64,
}

impl<'de> Visitor<'de> for FirstOffVisitor {
    type Value = FirstOff;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"exponential\", \"half-exponential\" or { seconds = x }")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<FirstOff, E> {
        match word {
            "exponential" => Ok(FirstOff::Exponential),
            "half-exponential" => Ok(FirstOff::HalfExponential),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FirstOff, A::Error> {
        match FirstOffTable::deserialize(MapAccessDeserializer::new(map))?.seconds {
            seconds if seconds >= 0.0 && seconds.is_finite() => Ok(FirstOff::At(seconds)),
            seconds => Err(A::Error::custom(format!("expected a time of at least 0 s, got {}", Shown(seconds)))),
        }
    }
}
