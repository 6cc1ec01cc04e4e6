//! For tests: a scenario and its objective, from one text.

use exmachina_net::file_error::FileError;
use exmachina_scenario::objective::Objective;
use exmachina_scenario::{Document, Scenario, SpecimenSet};

pub struct Model {
    pub scenario: Scenario,
    pub objective: Objective,
}

impl Model {
    pub fn parse(text: &str, file: &str) -> Result<Model, FileError> {
        let mut document = Document::parse(text, file)?;
        let objective = document.take("objective")?;
        Ok(Model { scenario: Scenario::from_document(&document)?, objective })
    }

    /// The networks that designs are scored on.
    pub fn held_out(&self, seed: u64, count: usize) -> SpecimenSet {
        self.scenario.specimens(seed << 1 | 1, count)
    }
}
