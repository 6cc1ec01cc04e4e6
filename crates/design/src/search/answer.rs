//! What a search hands over: its tables, with all that is needed to repeat their design, and their score.

use std::sync::atomic::AtomicBool;

use exmachina_rules::{FlatTable, Provenance, RuleTable};

use super::evaluator::Evaluator;
use super::{Designer, Measure, Meter, checkpoint, root};
use crate::authors;

impl Designer {
    /// The first of the tables of [`Designer::answer`].
    #[must_use]
    pub fn table(&self) -> RuleTable {
        self.answer(&AtomicBool::new(false)).0.swap_remove(0).1
    }

    /// The tables to hand over, with all that is needed to repeat their design, by the names of the classes of senders that
    /// run them (one without a name where all run the same); and how they do on the validation specimens, which is measured
    /// here if the last step did not. Not measured if `stop` is set before that is done.
    ///
    /// They are the present ones, which confirmed steps have led to, or the centre of a distribution; not those that the validation
    /// specimens, which are few, happened to like best.
    #[must_use]
    pub fn answer(&self, stop: &AtomicBool) -> (Vec<(String, RuleTable)>, Option<Measure>) {
        let tables: Vec<&RuleTable> = self.parts.iter().map(|part| &part.table).collect();
        let last = self.history.last().filter(|point| point.step == self.step).map(|point| point.measure);
        let measure = last.or_else(|| self.measure(&tables, stop));
        let names = self.model.scenario.classes();
        let finished = |(&name, &table): (&&str, &&RuleTable)| {
            (name.to_owned(), self.finished(table, name, measure.and_then(|measure| measure.score)))
        };
        (names.iter().zip(&tables).map(finished).collect(), measure)
    }

    /// How these tables of all classes do together on the validation specimens.
    pub(super) fn measure(&self, tables: &[&RuleTable], stop: &AtomicBool) -> Option<Measure> {
        let flat = |table: &&RuleTable| FlatTable::new(table).expect("a search makes usable tables");
        let flats: Vec<FlatTable> = tables.iter().map(flat).collect();
        let meter = Meter::default();
        let others = if flats.len() > 1 { &flats[..] } else { &[] };
        let evaluator = Evaluator { model: &self.model, class: 0, others, stop, meter: &meter, elsewhere: None };
        evaluator.measure(&flats[0], root(self.seed(), 0)).ok()
    }

    fn finished(&self, table: &RuleTable, name: &str, score: Option<f64>) -> RuleTable {
        let mut table = table.clone();
        table.provenance = Some(Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            model: self.model.text.clone(),
            search: checkpoint::settings_json(&self.settings, self.step, name),
            seed: self.seed(),
            score: score.unwrap_or(f64::NAN),
            config: Some(authors::config(&self.model)),
            optimizer: Some(authors::optimizer(&self.model.design)),
        });
        table
    }
}
