//! `[[also]]`: other traffic that an algorithm must also do well with, each with its own idea of "well".
//!
//! A model says what to design for. A design for flows of seconds alone is free to begin each of them in any way, for
//! beginnings hardly count; where transfers are short, they are all that there is. So a model may name more traffic to
//! train with. Scores that are reported are those of the model itself.

use exmachina_sim::objective::Objective;
use exmachina_sim::scenario::{Document, FileError, Workload};
use serde::Deserialize;

/// Further traffic on the networks of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Also {
    /// The traffic.
    pub workload: Workload,
    /// What a good outcome is there.
    pub objective: Objective,
    /// How much a point of score counts there, against one of the model itself.
    pub weight: f64,
}

/// An entry of `[[also]]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlsoFile {
    workload: Workload,
    objective: Option<Objective>,
    weight: Option<f64>,
}

impl Also {
    /// Takes `[[also]]` from a document; what has no objective of its own has the model's.
    ///
    /// # Errors
    /// Where an entry is not what it should be.
    pub fn take(document: &mut Document<'_>, objective: Objective) -> Result<Vec<Also>, FileError> {
        let entries: Vec<AlsoFile> = document.take("also")?;
        let read = |AlsoFile { workload, objective: own, weight }: AlsoFile| match weight.unwrap_or(1.0) {
            weight if weight > 0.0 && weight.is_finite() => {
                Ok(Also { workload, objective: own.unwrap_or(objective), weight })
            }
            weight => Err(document.error("also", format!("expected weights above 0, got {weight}"))),
        };
        entries.into_iter().map(read).collect()
    }
}
