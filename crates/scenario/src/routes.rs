//! The links of a scenario, and the ways through them: the same for design models and evaluations.

use std::collections::BTreeSet;

use super::bounds::{RTT, RTTS_MS};
use super::{Document, FileError, or_nearest};

/// The most links.
const MAX_LINKS: usize = 64;

/// A link, as far as routes are concerned.
pub(super) trait Stretch {
    /// By which routes name it.
    fn name(&self) -> Option<&str>;
    /// One-way delay to the next link of a route, ms.
    fn delay_ms(&self) -> Option<f64>;
}

/// `[link]` or `[[links]]`.
pub(super) fn links<L: Stretch>(
    link: Option<L>,
    links: Option<Vec<L>>,
    document: &Document<'_>,
) -> Result<Vec<L>, FileError> {
    let links = match (link, links) {
        (Some(link), None) => return Ok(vec![link]),
        (None, Some(links)) => links,
        (None, None) => return Err(document.error("link", "missing; this table is required, or several [[links]]")),
        (Some(_), Some(_)) => return Err(document.error("links", "expected either [link] or [[links]], got both")),
    };
    if links.is_empty() || links.len() > MAX_LINKS {
        return Err(document.error("links", format!("expected from 1 to {MAX_LINKS} links, got {}", links.len())));
    }
    for (i, link) in links.iter().enumerate() {
        if links[..i].iter().any(|other| link.name().is_some() && other.name() == link.name()) {
            return Err(document.error(&format!("links[{i}].name"), "expected another name than that of a link before"));
        }
    }
    Ok(links)
}

/// The links that packets take, in order: those named, or all. Names that there are not are left out.
pub(super) fn route<L: Stretch>(names: Option<&[String]>, links: &[L]) -> Vec<u8> {
    match names {
        None => (0..links.len() as u8).collect(),
        Some(names) => {
            let place = |name: &String| links.iter().position(|link| link.name() == Some(name));
            names.iter().filter_map(place).map(|i| i as u8).collect()
        }
    }
}

/// The sum of the delays of the links of a route, ms.
pub(super) fn delay_ms<L: Stretch>(route: &[u8], links: &[L]) -> f64 {
    route.iter().map(|&i| links[usize::from(i)].delay_ms().unwrap_or(0.0)).sum()
}

/// The RTT that follows from the delays of the links of a route: there and back.
pub(super) fn rtt_of_links<L: Stretch>(route: &[u8], links: &[L]) -> Option<f64> {
    let known = route.iter().all(|&i| links[usize::from(i)].delay_ms().is_some());
    let rtt = 2.0 * delay_ms(route, links);
    (known && rtt > 0.0).then_some(rtt)
}

/// Refuses routes that there are not.
pub(super) fn check_names<L: Stretch>(names: &[String], links: &[L]) -> Result<(), String> {
    let known = |name: &&String| links.iter().any(|link| link.name() == Some(name));
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let all: Vec<&str> = links.iter().filter_map(Stretch::name).collect();
        let nearest = or_nearest(name, all.iter().copied());
        return Err(format!("expected names of links ({}), got {name}{nearest}", all.join(", ")));
    }
    if names.is_empty() || names.iter().collect::<BTreeSet<_>>().len() < names.len() {
        return Err("expected at least one link, and none of them twice".to_owned());
    }
    Ok(())
}

/// Refuses an RTT, the smallest of a route, that is not known or shorter than the delays between its links.
pub(super) fn check_rtt<L: Stretch>(rtt_ms: Option<f64>, route: &[u8], links: &[L]) -> Result<(), String> {
    let Some(shortest) = rtt_ms else {
        return Err("missing; expected it here, as path.rtt_ms for all, or delay_ms of every link".to_owned());
    };
    // Where it follows from the links' delays, which may be 0, no field was refused yet.
    if shortest < RTTS_MS.0 {
        return Err(format!("expected {RTT}, got {shortest}"));
    }
    let under_way = delay_ms(&route[..route.len() - 1], links);
    if shortest < under_way {
        return Err(format!("expected at least {under_way} ms, the delays between its links, got {shortest}"));
    }
    Ok(())
}
