//! `[design]` of a model file: how to search.

use exmachina_hosts::nearest::or_nearest;
use exmachina_net::file_error::FileError;
use exmachina_rules::{MAX_INTERSEND_MS, MAX_MULTIPLE, MAX_WINDOW, Signal};
use exmachina_scenario::bounds::{check_duration, longest_run_s};
use exmachina_scenario::{Document, Imperfections, Scenario, Shown};
use serde::de::{Deserialize, Deserializer, Error};

use super::LONGER;

/// The most networks of one evaluation.
const MAX_SPECIMENS: usize = 100_000;

/// The most steps from the smallest to the largest: one of all three parts of an action at once are tried together, so
/// that there are (2 k + 1)^3 candidates for k steps.
const MAX_STEPS: i32 = 16;

/// Window increments, in packets, as the authors searched them.
pub const INCREMENT: StepRange =
    StepRange { min: 0.0, max: 256.0, smallest: 1.0, largest: 32.0, mult: 4.0, start: 1.0 };

/// Window multiples, as the authors searched them.
const MULTIPLE: StepRange = StepRange { min: 0.0, max: 1.0, smallest: 0.01, largest: 0.5, mult: 4.0, start: 1.0 };

/// Times between sends, in ms, as the authors searched them.
const INTERSEND_MS: StepRange = StepRange { min: 0.25, max: 3.0, smallest: 0.05, largest: 1.0, mult: 4.0, start: 3.0 };

/// What is searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Boxes of memory, each with an action (Remy'13 §4.2).
    #[default]
    Table,
    /// A law, whose numbers are relative to a flow's own path.
    Law,
}

/// `[design]`: how to search.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignTable {
    /// What is searched for.
    pub form: Form,
    /// The signals that rules may look at, in axis order.
    pub signals: Vec<Signal>,
    /// Networks of one evaluation; where the scenario is a grid, `draws_per_point` times its points.
    pub specimens: usize,
    /// Simulated seconds of each.
    pub duration_s: f64,
    /// Everything random in a design follows from this number (its highest bit does not count).
    pub seed: u64,
    /// What training networks have besides.
    pub world: Imperfections,
    /// No rule is split such that a half is narrower, along the signal, than this share of the value it is split at.
    pub min_split_width: f64,
    /// Window increments b, in whole packets.
    pub increment: StepRange,
    /// Window multiples m.
    pub multiple: StepRange,
    /// Times between sends r, in ms.
    pub intersend_ms: StepRange,
}

/// The values that a search tries for one part of an action: `value ± smallest * mult^k`, up to `largest`
/// (Remy'13 §4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRange {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Smallest step.
    pub smallest: f64,
    /// Largest step.
    pub largest: f64,
    /// Each step is this many times the one before.
    pub mult: f64,
    /// The value of the first rule.
    pub start: f64,
}

/// `[design]` as it is written.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DesignFile {
    #[serde(default)]
    form: Form,
    #[serde(default, deserialize_with = "signals")]
    signals: Option<Vec<Signal>>,
    specimens: Option<usize>,
    draws_per_point: Option<usize>,
    duration_s: Option<f64>,
    seed: Option<u64>,
    #[serde(default)]
    world: Imperfections,
    min_split_width: Option<f64>,
    #[serde(default)]
    increment: StepFile,
    #[serde(default)]
    multiple: StepFile,
    #[serde(default)]
    intersend_ms: StepFile,
}

/// A [`StepRange`] as it is written: what is left out is the authors'.
#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFile {
    min: Option<f64>,
    max: Option<f64>,
    smallest: Option<f64>,
    largest: Option<f64>,
    mult: Option<f64>,
    start: Option<f64>,
}

/// Checks that networks can have these besides; else which field says what they cannot.
pub fn check_world(world: &Imperfections, scenario: &Scenario) -> Result<(), (String, String)> {
    match world.for_one_link().filter(|_| scenario.links.len() > 1) {
        None => Ok(()),
        Some(field) => {
            let message = "expected no such thing where there are several links";
            Err((format!("world.{field}"), message.to_owned()))
        }
    }
}

impl DesignFile {
    /// What it asks for, if that is possible in these networks.
    pub fn check(self, scenario: &Scenario, document: &Document<'_>) -> Result<DesignTable, FileError> {
        let error = |field: &str, message: String| document.error(&format!("design.{field}"), message);
        let steps = |field, steps: StepFile, default| steps.check(default).map_err(|message| error(field, message));
        if self.form == Form::Law && scenario.classes().len() > 1 {
            return Err(error("form", "expected senders of one class, as laws have".into()));
        }
        let design = DesignTable {
            form: self.form,
            specimens: self.specimens(scenario).map_err(|(field, message)| error(field, message))?,
            signals: self.signals.unwrap_or_else(Signal::defaults),
            duration_s: self.duration_s.unwrap_or(100.0),
            seed: self.seed.unwrap_or(1),
            world: self.world,
            min_split_width: self.min_split_width.unwrap_or(0.001),
            increment: steps("increment", self.increment, INCREMENT)?,
            multiple: steps("multiple", self.multiple, MULTIPLE)?,
            intersend_ms: steps("intersend_ms", self.intersend_ms, INTERSEND_MS)?,
        };
        check_world(&design.world, scenario).map_err(|(field, message)| error(&field, message))?;
        let longest = (longest_run_s() / LONGER).floor();
        let reason = "the search has runs of ten times that, and the simulator's clock counts no further";
        check_duration(design.duration_s, longest, reason).map_err(|message| error("duration_s", message))?;
        if !(0.0..1.0).contains(&design.min_split_width) {
            let message = format!("expected a share of at least 0 and below 1, got {}", Shown(design.min_split_width));
            return Err(error("min_split_width", message));
        }
        let StepRange { min, max, smallest, largest, mult, start } = design.increment;
        if let Some(part) = [min, max, smallest, largest, mult, start].into_iter().find(|part| part.fract() != 0.0) {
            return Err(error("increment", format!("expected whole numbers of packets, got {}", Shown(part))));
        }
        let window = f64::from(MAX_WINDOW);
        let limits = [
            ("increment", design.increment, -window, window, "packets, the largest window"),
            ("multiple", design.multiple, 0.0, MAX_MULTIPLE, "which makes the largest window of one packet"),
            ("intersend_ms", design.intersend_ms, 0.0, MAX_INTERSEND_MS, "2.8 hours"),
        ];
        for (field, range, least, most, reason) in limits {
            if range.min < least {
                return Err(error(field, format!("expected min of at least {least}, got {}", Shown(range.min))));
            }
            if range.max > most {
                return Err(error(
                    field,
                    format!("expected max of at most {most}, {reason}; got {}", Shown(range.max)),
                ));
            }
        }
        Ok(design)
    }

    /// Networks of one evaluation: `specimens` of them if they are drawn, `draws_per_point` times all points if not.
    fn specimens(&self, scenario: &Scenario) -> Result<usize, (&'static str, String)> {
        let points = scenario.grid().map(|points| points.len());
        let (field, given, count) = match (points, self.specimens, self.draws_per_point) {
            (Some(points), Some(_), _) => {
                let what = format!(
                    "expected draws_per_point instead: every quantity is a number, a list or a grid, \
                     so all {points} points are used"
                );
                return Err(("specimens", what));
            }
            (None, _, Some(_)) => {
                return Err(("draws_per_point", "expected specimens instead: this scenario is no grid".to_owned()));
            }
            (Some(points), None, draws) => {
                let draws = draws.unwrap_or(1);
                ("draws_per_point", draws, points.saturating_mul(draws))
            }
            (None, specimens, None) => {
                let specimens = specimens.unwrap_or(16);
                ("specimens", specimens, specimens)
            }
        };
        if (1..=MAX_SPECIMENS).contains(&count) {
            return Ok(count);
        }
        let each = points.map_or(String::new(), |points| format!(" for each of {points} points"));
        Err((field, format!("expected from 1 to {MAX_SPECIMENS} networks, got {given}{each}")))
    }
}

impl StepFile {
    fn check(self, default: StepRange) -> Result<StepRange, String> {
        let range = StepRange {
            min: self.min.unwrap_or(default.min),
            max: self.max.unwrap_or(default.max),
            smallest: self.smallest.unwrap_or(default.smallest),
            largest: self.largest.unwrap_or(default.largest),
            mult: self.mult.unwrap_or(default.mult),
            start: self.start.unwrap_or(default.start),
        };
        let StepRange { min, max, smallest, largest, mult, start } = range;
        // Written so that a NaN fails, too.
        let rules = [
            (
                min < max && min.is_finite() && max.is_finite(),
                format!("min < max, got {} and {}", Shown(min), Shown(max)),
            ),
            (smallest > 0.0, format!("smallest > 0, got {}", Shown(smallest))),
            (
                smallest <= largest && largest.is_finite(),
                format!("smallest <= largest, got {} and {}", Shown(smallest), Shown(largest)),
            ),
            (mult > 1.0 && mult.is_finite(), format!("mult > 1, got {}", Shown(mult))),
            (
                smallest * libm::pow(mult, f64::from(MAX_STEPS)) > largest,
                format!(
                    "at most {MAX_STEPS} steps smallest * mult^k up to largest (every one is tried with every other); raise mult or smallest, {} and {}",
                    Shown(mult),
                    Shown(smallest)
                ),
            ),
            (
                min <= start && start <= max,
                format!("start from min to max, {} to {}, got {}", Shown(min), Shown(max), Shown(start)),
            ),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(format!("expected {rule}")),
            None => Ok(range),
        }
    }
}

fn signals<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Signal>>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let mut signals = Vec::with_capacity(names.len());
    for name in &names {
        let Some(signal) = Signal::from_name(name) else {
            let all = Signal::ALL.map(Signal::name).join(", ");
            let nearest = or_nearest(name, Signal::ALL.map(Signal::name));
            return Err(D::Error::custom(format!("expected some of {all}, got {name}{nearest}")));
        };
        if signals.contains(&signal) {
            return Err(D::Error::custom(format!("expected each signal once, got {name} twice")));
        }
        signals.push(signal);
    }
    if signals.is_empty() {
        return Err(D::Error::custom("expected at least one signal"));
    }
    signals.sort_unstable();
    Ok(Some(signals))
}
