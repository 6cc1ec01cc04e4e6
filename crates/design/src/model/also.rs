//! `[[also]]`: other networks and traffic that an algorithm must also do well with, each with its own idea of "well".
//!
//! A model says what to design for. A design for flows of seconds alone is free to begin each of them in any way, for
//! beginnings hardly count; where transfers are short, they are all that there is. One for senders that all have the same
//! RTT is free to be as unfair as it likes to others. So a model may name more to train with. Scores that are reported
//! are those of the model itself.

use exmachina_net::file_error::FileError;
use exmachina_scenario::objective::Objective;
use exmachina_scenario::{Document, Scenario, Shown};

/// Beyond these weights only the model counts, or only the entry.
const LEAST_WEIGHT: f64 = 1e-6;
const MOST_WEIGHT: f64 = 1e6;

/// The most entries: each is trained on in turn.
const MAX_ENTRIES: usize = 32;

/// More to train with.
#[derive(Clone, Debug, PartialEq)]
pub struct Also {
    /// The model's scenario but for what the entry says.
    pub scenario: Scenario,
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
    pub fn take(document: &mut Document<'_>, objective: Objective, model: &Scenario) -> Result<Vec<Also>, FileError> {
        let entries = document.variants("also", MAX_ENTRIES)?;
        if !entries.is_empty() && model.grid().is_some() {
            return Err(document.error("also", "expected no [[also]] beside a scenario that is a grid"));
        }
        entries.into_iter().map(|entry| Self::read(entry, objective, model)).collect()
    }

    /// Reads the document as an entry changes it.
    fn read(mut entry: Document<'_>, objective: Objective, model: &Scenario) -> Result<Also, FileError> {
        let own: Option<Objective> = entry.take("objective")?;
        let weight = entry.take::<Option<f64>>("weight")?.unwrap_or(1.0);
        if !(LEAST_WEIGHT..=MOST_WEIGHT).contains(&weight) {
            let range = format!("from {LEAST_WEIGHT} to {MOST_WEIGHT} (beyond it only one of the two counts)");
            return Err(entry.error("weight", format!("expected a weight {range}, got {}", Shown(weight))));
        }
        let scenario = Scenario::from_document(&entry)?;
        if scenario.classes() != model.classes() {
            let message = format!("expected the names of the model's tables ({})", model.classes().join(", "));
            return Err(entry.error("senders", message));
        }
        if scenario.grid().is_some_and(|points| points.len() > 1) {
            return Err(entry.error("", "expected networks at random in [[also]], got lists or a grid"));
        }
        Ok(Also { scenario, objective: own.unwrap_or(objective), weight })
    }
}
