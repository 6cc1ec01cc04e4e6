//! `[senders]` and `[[senders]]` and `[path]` of an evaluation, as written.

use std::fmt;
use std::marker::PhantomData;

use exmachina_hosts::scheme::SchemeName;
use exmachina_net::network::Reordering;
use exmachina_net::time::Duration;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::bounds::{RATE, RATES};
use super::checked::{Item, some_table, table};
use super::tables::{aimd, count, rtt, rtt_each, time, zero};
use super::{Quantity, Shown, Workload};
use crate::objective::Objective;

/// Senders that are alike.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// How many; as many as there are RTTs where those are written one by one.
    #[serde(default, deserialize_with = "some_count")]
    pub count: Option<Quantity>,
    /// How many of them, the last ones, run AIMD instead.
    #[serde(default = "zero", deserialize_with = "aimd")]
    pub aimd: Quantity,
    /// Of design models: the name of their table, and what they strive for. They do not matter to an evaluation.
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "objective")]
    _objective: Option<Objective>,
    /// What they run; none: the contender's.
    #[serde(default, deserialize_with = "scheme")]
    pub scheme: Option<GroupScheme>,
    /// Their minimum RTT in ms; none: that of the path.
    #[serde(default, deserialize_with = "rtt")]
    pub rtt_ms: Option<Quantity>,
    /// The names of the links that their packets take, in order; none: all of them.
    pub links: Option<Vec<String>>,
    /// When they have something to send; none: as all others.
    #[serde(default, deserialize_with = "some_table")]
    pub workload: Option<Workload>,
}

impl Default for Group {
    fn default() -> Self {
        Group {
            count: None,
            aimd: zero(),
            _name: None,
            _objective: None,
            scheme: None,
            rtt_ms: None,
            links: None,
            workload: None,
        }
    }
}

/// A scheme that a group always runs.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupScheme {
    /// As it is written.
    pub label: String,
    /// The scheme.
    pub scheme: SchemeName,
}

pub(super) fn some_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quantity>, D::Error> {
    count(deserializer).map(Some)
}

fn scheme<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GroupScheme>, D::Error> {
    let label = String::deserialize(deserializer)?;
    match SchemeName::parse(&label) {
        Ok(SchemeName::Omniscient) => {
            Err(D::Error::custom("omniscient is a calculation for all senders, not a scheme of some"))
        }
        Ok(scheme) => Ok(Some(GroupScheme { label, scheme })),
        Err(message) => Err(D::Error::custom(message)),
    }
}

/// `[senders]` or `[[senders]]`.
#[derive(Debug)]
pub(super) struct Groups<G> {
    /// One by one.
    pub groups: Vec<G>,
    /// They are written as a list.
    pub listed: bool,
}

impl<'de, G: Deserialize<'de>> Deserialize<'de> for Groups<G> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GroupsVisitor(PhantomData))
    }
}

struct GroupsVisitor<G>(PhantomData<G>);

impl<'de, G: Deserialize<'de>> Visitor<'de> for GroupsVisitor<G> {
    type Value = Groups<G>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table [senders], or several [[senders]]")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Groups<G>, A::Error> {
        Ok(Groups { groups: vec![G::deserialize(MapAccessDeserializer::new(map))?], listed: false })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Groups<G>, A::Error> {
        let items: Vec<Item<G>> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
        Ok(Groups { groups: items.into_iter().map(|Item(group)| group).collect(), listed: true })
    }
}

/// `[path]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathTable {
    #[serde(default, deserialize_with = "rtt")]
    pub rtt_ms: Option<Quantity>,
    #[serde(default, deserialize_with = "rtt_each")]
    pub rtt_ms_each: Option<Vec<f64>>,
    #[serde(default = "zero", deserialize_with = "time")]
    pub jitter_ms: Quantity,
    #[serde(default = "zero", deserialize_with = "time")]
    pub clock_ms: Quantity,
    #[serde(default, deserialize_with = "reordering")]
    pub reordering: Reordering,
    /// A link that each sender has to itself, before its route.
    #[serde(default, deserialize_with = "access")]
    pub access: Option<Access>,
}

/// A link that a sender has to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Its rate, Mbit/s.
    pub rate_mbps: f64,
    /// One-way delay, ms.
    pub delay_ms: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessTable {
    rate_mbps: f64,
    delay_ms: f64,
}

fn access<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Access>, D::Error> {
    let AccessTable { rate_mbps, delay_ms } = table(deserializer)?;
    if !(RATES.0..=RATES.1).contains(&rate_mbps) {
        return Err(D::Error::custom(format!("expected {RATE}, got {}", Shown(rate_mbps))));
    }
    if !(0.0..=1e4).contains(&delay_ms) {
        return Err(D::Error::custom(format!("expected a delay_ms from 0 to 10000, got {}", Shown(delay_ms))));
    }
    Ok(Some(Access { rate_mbps, delay_ms }))
}

impl Default for PathTable {
    fn default() -> Self {
        let reordering = Reordering::default();
        PathTable { rtt_ms: None, rtt_ms_each: None, jitter_ms: zero(), clock_ms: zero(), reordering, access: None }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReorderingTable {
    probability: f64,
    delay_ms: f64,
}

fn reordering<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reordering, D::Error> {
    let ReorderingTable { probability, delay_ms } = table(deserializer)?;
    if !(0.0..1.0).contains(&probability) {
        let message = format!("expected a probability of at least 0 and below 1, got {}", Shown(probability));
        return Err(D::Error::custom(message));
    }
    if !(0.0..=1e6).contains(&delay_ms) {
        return Err(D::Error::custom(format!("expected a delay_ms from 0 to 1000000, got {}", Shown(delay_ms))));
    }
    Ok(Reordering { probability, delay: Duration::from_ms(delay_ms) })
}
