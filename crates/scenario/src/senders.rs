//! `[senders]` and `[[senders]]` of a design model, as written: how many there are, and how they differ.

use serde::Deserialize;

use super::group::{Groups, some_count};
use super::names::check_file_name;
use super::routes::{check_names, check_rtt, route, rtt_of_links};
use super::tables::{MAX_SENDERS, aimd, rtt, zero};
use super::{Document, FileError, Link, NOTHING, Path, Quantity};
use crate::objective::Objective;

/// The most names of tables that are designed together.
const MAX_CLASSES: usize = 16;

/// Senders that are alike, but for those of them that run AIMD.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Senders {
    /// How many; as many as there are RTTs where those are written one by one.
    #[serde(default, deserialize_with = "some_count")]
    pub count: Option<Quantity>,
    /// How many of them, the last ones, run AIMD (Tao'14 §4.5) instead of the table.
    #[serde(default = "zero", deserialize_with = "aimd")]
    pub aimd: Quantity,
    /// The name of the table that they run, where several are designed together.
    pub name: Option<String>,
    /// What they strive for; none: as all others.
    pub objective: Option<Objective>,
    /// Their minimum RTT in ms; none: that of the path.
    #[serde(default, deserialize_with = "rtt")]
    pub rtt_ms: Option<Quantity>,
    /// The names of the links that their packets take, in order; none: all of them.
    pub links: Option<Vec<String>>,
}

impl Senders {
    /// How many there are, which is known of all groups that were checked.
    pub(super) fn count(&self) -> &Quantity {
        self.count.as_ref().unwrap_or(&NOTHING)
    }

    /// The smallest and the largest RTT, ms, where it is known.
    fn rtt_extremes(&self, path: &Path, links: &[Link]) -> Option<(f64, f64)> {
        let of_path = path.rtt_ms_each.as_ref().map(|each| {
            each.iter().fold((f64::INFINITY, 0.0), |(lo, hi), &rtt| (f64::min(lo, rtt), f64::max(hi, rtt)))
        });
        let own = self.rtt_ms.as_ref().map(Quantity::extremes).or(of_path);
        let of_links = || rtt_of_links(&route(self.links.as_deref(), links), links).map(|rtt| (rtt, rtt));
        own.or_else(|| path.rtt_ms.as_ref().map(Quantity::extremes)).or_else(of_links)
    }
}

/// The names of the tables that senders run, in the order in which they first occur; one without a name where none has.
pub(super) fn classes(groups: &[Senders]) -> Vec<&str> {
    let mut names = Vec::new();
    for name in groups.iter().map(|group| group.name.as_deref().unwrap_or("")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The groups of senders, with their numbers where those follow from the RTTs.
pub(super) fn groups(
    written: Option<Groups<Senders>>,
    path: &Path,
    links: &[Link],
    document: &Document<'_>,
) -> Result<Vec<Senders>, FileError> {
    let alone = Senders { count: None, aimd: zero(), name: None, objective: None, rtt_ms: None, links: None };
    let Groups { mut groups, listed } = written.unwrap_or(Groups { groups: vec![alone], listed: false });
    let field = |i: usize, name: &str| if listed { format!("senders[{i}].{name}") } else { format!("senders.{name}") };
    if let Some(each) = &path.rtt_ms_each {
        let [group] = &mut groups[..] else {
            let message = "expected one group of senders, got several: give each its rtt_ms";
            return Err(document.error("path.rtt_ms_each", message));
        };
        let count = Quantity::Exact(each.len() as f64);
        if group.count.as_ref().is_some_and(|written| *written != count) {
            let message = format!("expected {}, one sender for each of path.rtt_ms_each", each.len());
            return Err(document.error(&field(0, "count"), message));
        }
        group.count = Some(count);
    }
    if groups.is_empty() {
        return Err(document.error("senders", "expected at least one group of senders"));
    }
    for (i, group) in groups.iter().enumerate() {
        check(group, path, links).map_err(|(name, message)| {
            let alone = if listed { "" } else { " unless path.rtt_ms_each is given" };
            document.error(&field(i, name), message.unwrap_or(format!("missing; this field is required{alone}")))
        })?;
    }
    check_counts(&groups.iter().map(Senders::count).collect::<Vec<_>>())
        .map_err(|(i, message)| document.error(&i.map_or("senders".to_owned(), |i| field(i, "count")), message))?;
    check_names_of_tables(&groups).map_err(|(i, message)| document.error(&field(i, "name"), message))?;
    Ok(groups)
}

/// Refuses networks with too many senders, and with none: a count may be 0 where there are several groups, and what is
/// drawn without any sender at all is passed over. Which group is to blame, if it is not all of them, and why.
pub(super) fn check_counts(counts: &[&Quantity]) -> Result<(), (Option<usize>, String)> {
    let expected = format!("expected from 1 to {MAX_SENDERS} senders");
    for (i, count) in counts.iter().enumerate() {
        let (least, most) = count.extremes();
        if most == 0.0 || (least == 0.0 && counts.len() == 1) {
            return Err((Some(i), format!("{expected}, got 0")));
        }
    }
    match counts.iter().map(|count| count.extremes().1).sum::<f64>() {
        most if most > MAX_SENDERS => Err((None, format!("expected at most {MAX_SENDERS} senders in all, got {most}"))),
        _ => Ok(()),
    }
}

/// The field of a group that cannot be right, and why; no reason: it is missing.
fn check(group: &Senders, path: &Path, links: &[Link]) -> Result<(), (&'static str, Option<String>)> {
    let Some(count) = &group.count else { return Err(("count", None)) };
    let ((least, _), (_, most_aimd)) = (count.extremes(), group.aimd.extremes());
    if most_aimd > 0.0 && most_aimd >= least {
        let message = format!("expected fewer than the senders, of which there may be {least}, got {most_aimd}");
        return Err(("aimd", Some(message)));
    }
    if let Some(names) = &group.links {
        check_names(names, links).map_err(|message| ("links", Some(message)))?;
    }
    if path.rtt_ms_each.is_some() && group.rtt_ms.is_some() {
        return Err(("rtt_ms", Some("expected it here or as path.rtt_ms_each, got both".to_owned())));
    }
    let shortest = group.rtt_extremes(path, links).map(|(lo, _)| lo);
    check_rtt(shortest, &route(group.links.as_deref(), links), links).map_err(|message| ("rtt_ms", Some(message)))
}

/// Names of tables are part of file names; where one group has one, all have.
fn check_names_of_tables(groups: &[Senders]) -> Result<(), (usize, String)> {
    let named = groups.iter().filter(|group| group.name.is_some()).count();
    for (i, group) in groups.iter().enumerate() {
        match &group.name {
            None if named > 0 => return Err((i, "missing; expected it for all groups or for none".to_owned())),
            Some(name) => check_file_name(name).map_err(|message| (i, message))?,
            None => {}
        }
    }
    match classes(groups).len() {
        many if many > MAX_CLASSES => {
            Err((groups.len() - 1, format!("expected at most {MAX_CLASSES} different names, got {many}")))
        }
        _ => Ok(()),
    }
}

/// The largest RTT of all senders, ms.
pub(super) fn longest_rtt(groups: &[Senders], path: &Path, links: &[Link]) -> f64 {
    groups.iter().filter_map(|group| Some(group.rtt_extremes(path, links)?.1)).fold(0.0, f64::max)
}
