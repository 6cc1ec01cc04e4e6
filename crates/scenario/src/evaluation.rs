//! A scenario as an evaluation reads it: contenders, and the networks that all of them meet.

use std::collections::BTreeSet;

use exmachina_hosts::scheme::SchemeName;
use serde::{Deserialize, Deserializer};

use super::bottleneck::{Bottleneck, ServiceTable};
use super::bounds::{CLOCK_ENDS, check_duration, longest_run_s};
use super::checked::{some_table, table};
use super::contender::Contender;
use super::group::{Group, Groups, PathTable};
use super::names::name_of;
use super::routes::{self, check_names, check_rtt};
use super::senders::check_counts;
use super::transport::Transport;
use super::{Document, FileError, MAX_GRID, NOTHING, Quantity, Shown, Workload};

/// The most runs of one contender.
const MAX_RUNS: usize = 1_000_000;

/// The most senders that have an access link each.
const MAX_ACCESS_LINKS: f64 = 200.0;

/// What senders are called that run AIMD beside those of the contender.
pub(super) const AIMD: &str = "aimd";

/// The tables of a design model that are not the scenario's, and do not matter here.
const OF_MODELS: [&str; 3] = ["objective", "also", "design"];

/// Contenders, and the networks that all of them meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Name; the file's own where the file does not say.
    pub name: String,
    /// What it is, in a person's words; may be empty.
    pub description: String,
    /// What senders without a scheme of their own run, in turn.
    pub contenders: Vec<Contender>,
    /// Runs of each contender at each point of the scenario's grid; a scenario that is no grid has one point.
    pub runs_per_point: usize,
    /// Simulated seconds of each run.
    pub duration_s: f64,
    /// Everything random follows from this number.
    pub seed: u64,
    /// The links.
    pub links: Vec<Bottleneck>,
    /// The senders.
    pub groups: Vec<Group>,
    /// When senders without a workload of their own have something to send.
    pub workload: Option<Workload>,
    /// The stacks at both ends.
    pub transport: Transport,
    pub(super) path: PathTable,
}

/// A scenario as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvaluationFile {
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    schemes: Vec<String>,
    #[serde(default = "sixteen", deserialize_with = "runs")]
    runs: usize,
    #[serde(default = "hundred", deserialize_with = "duration")]
    duration_s: f64,
    #[serde(default = "one")]
    seed: u64,
    link: Option<Bottleneck>,
    links: Option<Vec<Bottleneck>>,
    #[serde(default, deserialize_with = "table")]
    path: PathTable,
    senders: Option<Groups<Group>>,
    #[serde(default, deserialize_with = "some_table")]
    workload: Option<Workload>,
    #[serde(default, deserialize_with = "table")]
    transport: Transport,
}

impl Evaluation {
    /// Reads a scenario from the text of a file. A design model is a scenario, too.
    ///
    /// # Errors
    /// Where the text is no scenario, or an impossible one.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        Self::parse_with(text, file, &[])
    }

    /// The same where these rule tables go by a name: such names are among [`Evaluation::table_names`].
    ///
    /// # Errors
    /// Where the text is no scenario, or an impossible one.
    pub fn parse_with(text: &str, file: &str, algorithms: &[String]) -> Result<Self, FileError> {
        let mut document = Document::parse(text, file)?;
        OF_MODELS.into_iter().for_each(|table| document.skip(table));
        let file: EvaluationFile = document.rest()?;
        let links = routes::links(file.link, file.links, &document)?;
        let (groups, listed) = groups(file.senders, &file.path, &document)?;
        let mut evaluation = Self {
            name: name_of(file.name, &document)?,
            description: file.description.unwrap_or_default(),
            contenders: contenders(&file.schemes, algorithms, &document)?,
            runs_per_point: file.runs,
            duration_s: file.duration_s,
            seed: file.seed,
            links,
            groups,
            workload: file.workload,
            transport: file.transport,
            path: file.path,
        };
        evaluation.check_schemes(&document, listed, algorithms)?;
        evaluation.check(&document, listed)?;
        evaluation.add_mix();
        Ok(evaluation)
    }

    /// Where every sender has a scheme of its own, the mix of them is the one contender.
    fn add_mix(&mut self) {
        let own: Option<Vec<_>> = self.groups.iter().map(|group| group.scheme.as_ref()).collect();
        if let (true, Some(own)) = (self.contenders.is_empty(), own) {
            let label = own.iter().map(|scheme| scheme.label.as_str()).collect::<Vec<_>>().join(" + ");
            self.contenders = vec![Contender { label, scheme: own[0].scheme.clone(), queue: None }];
        }
    }

    /// Runs of each contender.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs_per_point * self.points().unwrap_or(1)
    }

    /// The rule tables that the scenario names, and those of its contenders.
    #[must_use]
    pub fn table_names(&self) -> BTreeSet<&str> {
        let own = self.groups.iter().filter_map(|group| Some(&group.scheme.as_ref()?.scheme));
        let all = self.contenders.iter().map(|contender| &contender.scheme).chain(own);
        all.filter_map(|scheme| if let SchemeName::Table(name) = scheme { Some(name.as_str()) } else { None }).collect()
    }

    /// The traces that the scenario names.
    #[must_use]
    pub fn trace_names(&self) -> BTreeSet<&str> {
        let services = self.links.iter().map(|link| &link.service);
        services
            .filter_map(|s| if let ServiceTable::Trace { file, .. } = s { Some(file.as_str()) } else { None })
            .collect()
    }

    /// What the senders of a run are called that run a scheme: the contenders, then the groups' own schemes.
    #[must_use]
    pub fn scheme_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.contenders.iter().map(|contender| contender.label.as_str()).collect();
        let contenders = names.len();
        for own in self.groups.iter().filter_map(|group| group.scheme.as_ref()) {
            if !names[contenders..].contains(&own.label.as_str()) {
                names.push(&own.label);
            }
        }
        let some_aimd = self.groups.iter().any(|group| group.aimd.extremes().1 > 0.0);
        if some_aimd && !names[contenders..].contains(&AIMD) {
            names.push(AIMD);
        }
        names
    }

    /// The links that a group's packets take, in order.
    pub(super) fn route(&self, group: &Group) -> Vec<u8> {
        routes::route(group.links.as_deref(), &self.links)
    }

    /// The RTT that follows from the delays of a group's links where nothing else says what it is.
    pub(super) fn rtt_of_links(&self, group: &Group) -> Option<f64> {
        routes::rtt_of_links(&self.route(group), &self.links)
    }

    /// Refuses schemes of groups that there are not.
    fn check_schemes(&self, document: &Document<'_>, listed: bool, algorithms: &[String]) -> Result<(), FileError> {
        for (i, group) in self.groups.iter().enumerate() {
            let Some(own) = &group.scheme else { continue };
            let field = if listed { format!("senders[{i}].scheme") } else { "senders.scheme".to_owned() };
            own.scheme.check(algorithms).map_err(|message| document.error(&field, message))?;
        }
        Ok(())
    }

    /// Refuses what each field allows and all of them together do not.
    fn check(&self, document: &Document<'_>, listed: bool) -> Result<(), FileError> {
        for (i, group) in self.groups.iter().enumerate() {
            let field = |name: &str| if listed { format!("senders[{i}].{name}") } else { format!("senders.{name}") };
            self.check_group(group).map_err(|(name, message)| document.error(&field(name), message))?;
        }
        let counts: Vec<&Quantity> = self.groups.iter().map(|g| g.count.as_ref().unwrap_or(&NOTHING)).collect();
        self.check_access(document, &counts)?;
        check_counts(&counts).map_err(|(i, message)| {
            let count = |i: usize| if listed { format!("senders[{i}].count") } else { "senders.count".to_owned() };
            document.error(&i.map_or("senders".to_owned(), count), message)
        })?;
        if self.transport.has_clock() && self.path.clock_ms != Quantity::Exact(0.0) {
            return Err(document.error("path.clock_ms", "expected no transport.clock_ms beside it"));
        }
        self.transport.check().map_err(|(field, message)| document.error(&format!("transport.{field}"), message))?;
        self.check_noise(document)?;
        self.check_replay(document, listed)?;
        match self.points() {
            Some(points) if points > MAX_GRID => Err(document
                .error("", format!("expected at most {MAX_GRID} combinations of lists and grids, got {points}"))),
            Some(points) if points.saturating_mul(self.runs_per_point) > MAX_RUNS => {
                let message = format!(
                    "expected at most {MAX_RUNS} runs in all, got {} for each of {points} points",
                    self.runs_per_point
                );
                Err(document.error("runs", message))
            }
            _ => Ok(()),
        }
    }

    fn check_noise(&self, document: &Document<'_>) -> Result<(), FileError> {
        let longest = self.groups.iter().filter_map(|group| Some(self.rtt_extremes(group)?.1)).fold(0.0, f64::max);
        for (field, quantity) in [("path.jitter_ms", &self.path.jitter_ms), ("path.clock_ms", &self.path.clock_ms)] {
            let largest = quantity.extremes().1;
            if largest > longest {
                let message = format!("expected at most the largest RTT, {longest} ms, got {}", Shown(largest));
                return Err(document.error(field, message));
            }
        }
        Ok(())
    }

    /// Each access link is a hop, which routes have room for so many of; and it is part of the RTT.
    fn check_access(&self, document: &Document<'_>, counts: &[&Quantity]) -> Result<(), FileError> {
        let Some(access) = self.path.access else { return Ok(()) };
        let senders: f64 = counts.iter().map(|count| count.extremes().1).sum();
        if senders > MAX_ACCESS_LINKS {
            let message = format!("expected at most {MAX_ACCESS_LINKS} senders that have one, got up to {senders}");
            return Err(document.error("path.access", message));
        }
        let on_links = |group: &Group| routes::delay_ms(&self.route(group), &self.links);
        let short =
            |group: &&Group| self.rtt_extremes(group).is_some_and(|(rtt, _)| rtt < access.delay_ms + on_links(group));
        match self.groups.iter().find(short) {
            None => Ok(()),
            Some(_) => Err(document.error("path.access.delay_ms", "expected that it fits into every RTT")),
        }
    }

    /// All senders of a run of ns-2 draw from one generator, so that a replay is for all of them.
    fn check_replay(&self, document: &Document<'_>, listed: bool) -> Result<(), FileError> {
        let replay = self.workload.as_ref().filter(|workload| workload.replay.is_some());
        for (i, own) in self.groups.iter().enumerate().filter_map(|(i, group)| Some((i, group.workload.as_ref()?))) {
            let field = if listed { format!("senders[{i}].workload") } else { "senders.workload".to_owned() };
            if own.replay.is_some() {
                return Err(
                    document.error(&format!("{field}.replay"), "expected in [workload] only: it is for all senders")
                );
            }
            if replay.is_some() {
                return Err(document.error(&field, "expected none beside workload.replay, which is for all senders"));
            }
        }
        let Some(workload) = replay else { return Ok(()) };
        let told = |message| document.error("workload.replay", message);
        workload.check_replay(self.transport.preset).map_err(told)
    }

    /// The smallest and the largest RTT of a group, ms, where it is known.
    fn rtt_extremes(&self, group: &Group) -> Option<(f64, f64)> {
        match (&group.rtt_ms, &self.path.rtt_ms, &self.path.rtt_ms_each) {
            (Some(rtt), _, _) | (None, Some(rtt), _) => Some(rtt.extremes()),
            (None, None, Some(each)) => {
                Some(each.iter().fold((f64::INFINITY, 0.0), |(lo, hi), &rtt| (f64::min(lo, rtt), f64::max(hi, rtt))))
            }
            (None, None, None) => self.rtt_of_links(group).map(|rtt| (rtt, rtt)),
        }
    }

    /// The field of a group that cannot be right, and why.
    fn check_group(&self, group: &Group) -> Result<(), (&'static str, String)> {
        if let Some(names) = &group.links {
            check_names(names, &self.links).map_err(|message| ("links", message))?;
        }
        if group.workload.is_none() && self.workload.is_none() {
            return Err((
                "workload",
                "missing; this table is required unless there is a [workload] for all".to_owned(),
            ));
        }
        let (least, most_aimd) =
            (group.count.as_ref().map_or(0.0, |count| count.extremes().0), group.aimd.extremes().1);
        if most_aimd > least {
            return Err((
                "aimd",
                format!("expected at most the senders, of which there may be {least}, got {most_aimd}"),
            ));
        }
        let shortest = self.rtt_extremes(group).map(|(lo, _)| lo);
        check_rtt(shortest, &self.route(group), &self.links).map_err(|message| ("rtt_ms", message))
    }

    /// How many points the scenario's grid has, if it is one. Points without any sender do not count.
    #[must_use]
    pub fn points(&self) -> Option<usize> {
        let product = |quantities: Vec<&Quantity>, size: fn(&[f64]) -> usize| {
            quantities.into_iter().try_fold(1_usize, |product, q| Some(product.saturating_mul(size(q.points()?))))
        };
        let all = product(self.quantities(), <[f64]>::len)?;
        let counts = || self.groups.iter().filter_map(|group| group.count.as_ref()).collect::<Vec<_>>();
        let empty = product(counts(), |points| points.iter().filter(|&&count| count == 0.0).count())?;
        // Those without senders are so whatever the other quantities are.
        Some(all - empty.saturating_mul(all / product(counts(), <[f64]>::len)?.max(1)))
    }
}

/// What `schemes` names.
fn contenders(written: &[String], algorithms: &[String], document: &Document<'_>) -> Result<Vec<Contender>, FileError> {
    let told =
        |i, message| FileError { field: "schemes".to_owned(), ..document.error(&format!("schemes[{i}]"), message) };
    let read = |(i, label): (usize, &String)| Contender::parse(label, algorithms).map_err(|message| told(i, message));
    written.iter().enumerate().map(read).collect()
}

/// The groups of senders with their numbers, and whether they are written as a list.
fn groups(
    written: Option<Groups<Group>>,
    path: &PathTable,
    document: &Document<'_>,
) -> Result<(Vec<Group>, bool), FileError> {
    if path.rtt_ms.is_some() && path.rtt_ms_each.is_some() {
        return Err(document.error("path", "expected either rtt_ms or rtt_ms_each, got both"));
    }
    let alone = Group::default();
    let Groups { mut groups, listed } = written.unwrap_or(Groups { groups: vec![alone], listed: false });
    if groups.is_empty() {
        return Err(document.error("senders", "expected at least one group of senders"));
    }
    if let Some(each) = &path.rtt_ms_each {
        let [group] = &mut groups[..] else {
            return Err(
                document.error("path.rtt_ms_each", "expected one group of senders, got several: give each its rtt_ms")
            );
        };
        if group.rtt_ms.is_some() {
            return Err(document.error("path.rtt_ms_each", "expected no rtt_ms of the senders beside it"));
        }
        let count = Quantity::Exact(each.len() as f64);
        if group.count.as_ref().is_some_and(|written| *written != count) {
            let message = format!("expected {}, one sender for each of path.rtt_ms_each", each.len());
            return Err(document.error(if listed { "senders[0].count" } else { "senders.count" }, message));
        }
        group.count = Some(count);
    }
    match groups.iter().position(|group| group.count.is_none()) {
        Some(i) if listed => Err(document.error(&format!("senders[{i}].count"), "missing; this field is required")),
        Some(_) => {
            Err(document.error("senders.count", "missing; this field is required unless path.rtt_ms_each is given"))
        }
        None => Ok((groups, listed)),
    }
}

fn sixteen() -> usize {
    16
}

fn hundred() -> f64 {
    100.0
}

fn one() -> u64 {
    1
}

fn runs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    match usize::deserialize(deserializer)? {
        runs if (1..=MAX_RUNS).contains(&runs) => Ok(runs),
        runs => Err(serde::de::Error::custom(format!("expected from 1 to {MAX_RUNS} runs, got {runs}"))),
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    check_duration(seconds, longest_run_s(), CLOCK_ENDS).map_err(serde::de::Error::custom)
}
