//! `[[also]]`: other networks and traffic that an algorithm must also do well with, each with its own idea of "well".
//!
//! A model says what to design for. A design for flows of seconds alone is free to begin each of them in any way, for
//! beginnings hardly count; where transfers are short, they are all that there is. One for senders that all have the same
//! RTT is free to be as unfair as it likes to others. So a model may name more to train with. Scores that are reported
//! are those of the model itself.

use exmachina_net::file_error::FileError;
use exmachina_scenario::objective::Objective;
use exmachina_scenario::{Document, Imperfections, Scenario, Shown};

use super::design_table::check_world;

/// Beyond these weights only the model counts, or only the entry.
const LEAST_WEIGHT: f64 = 1e-6;
const MOST_WEIGHT: f64 = 1e6;

/// Shorter runs are none.
const LEAST_TIMES: f64 = 1e-3;

/// The most entries: each is trained on in turn.
const MAX_ENTRIES: usize = 32;

/// More to train with.
#[derive(Clone, Debug, PartialEq)]
pub struct Also {
    /// The model's scenario but for what the entry says.
    pub scenario: Scenario,
    /// What its networks have besides.
    pub world: Imperfections,
    /// How many times as long as the model's its runs are: what is fast, or near, shows in a shorter one what it is worth.
    pub duration_times: f64,
    /// What a good outcome is there.
    pub objective: Objective,
    /// How much a point of score counts there, against one of the model itself.
    pub weight: f64,
}

impl Also {
    /// Takes `[[also]]` from a document of which the tables of the model that are not the scenario's have been taken;
    /// what an entry does not say is as in the model.
    ///
    /// # Errors
    /// Where an entry is not what it should be.
    pub fn take(
        document: &mut Document<'_>,
        objective: Objective,
        model: &Scenario,
        world: &Imperfections,
    ) -> Result<Vec<Also>, FileError> {
        let entries = document.variants("also", MAX_ENTRIES)?;
        if !entries.is_empty() && model.grid().is_some() {
            return Err(document.error("also", "expected no [[also]] beside a scenario that is a grid"));
        }
        entries.into_iter().map(|entry| Self::read(entry, objective, model, world)).collect()
    }

    /// Reads the document as an entry changes it.
    fn read(
        mut entry: Document<'_>,
        objective: Objective,
        model: &Scenario,
        world: &Imperfections,
    ) -> Result<Also, FileError> {
        let own: Option<Objective> = entry.take("objective")?;
        let own_world: Option<Imperfections> = entry.take("world")?;
        let duration_times = one_within(&mut entry, "duration_times", (LEAST_TIMES, 1.0), "")?;
        let why = " (beyond it only one of the two counts)";
        let weight = one_within(&mut entry, "weight", (LEAST_WEIGHT, MOST_WEIGHT), why)?;
        let scenario = Scenario::from_document(&entry)?;
        if scenario.classes() != model.classes() {
            let message = format!("expected the names of the model's tables ({})", model.classes().join(", "));
            return Err(entry.error("senders", message));
        }
        if scenario.grid().is_some_and(|points| points.len() > 1) {
            return Err(entry.error("", "expected networks at random in [[also]], got lists or a grid"));
        }
        let world = own_world.unwrap_or_else(|| world.clone());
        check_world(&world, &scenario).map_err(|(field, message)| entry.error(&field, message))?;
        Ok(Also { scenario, world, duration_times, objective: own.unwrap_or(objective), weight })
    }
}

/// A number of an entry: 1, or what it says within a range.
fn one_within(
    entry: &mut Document<'_>,
    field: &'static str,
    (lo, hi): (f64, f64),
    why: &str,
) -> Result<f64, FileError> {
    let value = entry.take::<Option<f64>>(field)?.unwrap_or(1.0);
    if !(lo..=hi).contains(&value) {
        return Err(entry.error(field, format!("expected a {field} from {lo} to {hi}{why}, got {}", Shown(value))));
    }
    Ok(value)
}
