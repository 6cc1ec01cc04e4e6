//! The whole state of a search as text, so that it goes on elsewhere or later as if nothing had happened: a line of JSON,
//! and a line with its digest, by which a damaged one is told from a whole one.

use exmachina_net::file_error::FileError;
use exmachina_rules::{DnaError, RuleTable, digest};
use serde::{Deserialize, Serialize};

use super::{Designer, HistoryPoint, Part, Settings};
use crate::model::Model;

/// Why a search cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// Not a checkpoint of ours.
    #[error("not a checkpoint of this program: {0}")]
    Json(#[from] serde_json::Error),
    /// Something in it has changed since it was written.
    #[error("damaged: what it holds is not what its digest was made of; start over, or use another copy")]
    Damaged,
    /// Another version's: its steps may differ.
    #[error("the checkpoint was written by version {0}, this is {this}: finish it there, or start over", this = env!("CARGO_PKG_VERSION"))]
    Version(String),
    /// Its table is damaged.
    #[error("the checkpoint's table: {0}")]
    Table(#[from] DnaError),
    /// Its table is damaged.
    #[error("the checkpoint's table is no hexadecimal text")]
    Hex,
    /// Its model is damaged.
    #[error("the checkpoint's model: {0}")]
    Model(#[from] FileError),
    /// The table to start from does not suit the model.
    #[error("the table to start from looks at {0}; add it to design.signals, or start from another table")]
    Signal(&'static str),
    /// Laws begin with laws, and tables with tables.
    #[error(
        "to start from, expected {expected}: the model says form = \"{form}\"",
        expected = if *laws { "a law" } else { "a table that is no law" },
        form = if *laws { "law" } else { "table" },
    )]
    OtherForm {
        /// The model asks for laws.
        laws: bool,
    },
    /// The paper's search is one for tables.
    #[error("the paper's search makes tables: leave it out where the model says form = \"law\"")]
    PaperLaw,
    /// Not as many tables to start from as classes of senders.
    #[error("expected one table to start from, or one for each name of senders ({expected}); got {got}")]
    Starts {
        /// Classes of senders.
        expected: usize,
        /// Tables.
        got: usize,
    },
    /// A checkpoint of a model with more or fewer classes of senders.
    #[error("the checkpoint has not a table for each name of senders")]
    Classes,
}

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    version: String,
    model_name: String,
    model: String,
    settings: Settings,
    step: u64,
    cpu_s: f64,
    packets: u64,
    measure_at: u64,
    doing: String,
    parts: Vec<Part>,
    history: Vec<HistoryPoint>,
}

impl Designer {
    /// The state as text.
    #[must_use]
    pub fn checkpoint(&self) -> String {
        let checkpoint = Checkpoint {
            version: env!("CARGO_PKG_VERSION").into(),
            model_name: self.model.scenario.name.clone(),
            model: self.model.text.clone(),
            settings: self.settings.clone(),
            step: self.step,
            cpu_s: self.cpu_s,
            packets: self.packets,
            measure_at: self.measure_at,
            doing: self.doing.clone(),
            parts: self.parts.clone(),
            history: self.history.clone(),
        };
        let json = serde_json::to_string(&checkpoint).expect("numbers and text can always be written");
        format!("{json}\n{}\n", hex(&digest(json.as_bytes())))
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// If the text is not what [`Designer::checkpoint`] of this version writes.
    pub fn resume(text: &str) -> Result<Designer, DesignError> {
        let (json, written) = text.trim_end().split_once('\n').unwrap_or((text, ""));
        let c: Checkpoint = serde_json::from_str(json)?;
        if c.version != env!("CARGO_PKG_VERSION") {
            return Err(DesignError::Version(c.version));
        }
        if written != hex(&digest(json.as_bytes())) {
            return Err(DesignError::Damaged);
        }
        let model = Model::parse(&c.model, &c.model_name)?;
        if c.parts.len() != model.scenario.classes().len() {
            return Err(DesignError::Classes);
        }
        Ok(Designer {
            model,
            settings: c.settings,
            parts: c.parts,
            step: c.step,
            cpu_s: c.cpu_s,
            packets: c.packets,
            measure_at: c.measure_at,
            doing: c.doing,
            history: c.history,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<RuleTable, DesignError> {
    let digit = |c: char| c.to_digit(16).map(|d| d as u8).ok_or(DesignError::Hex);
    let digits: Vec<u8> = text.chars().map(digit).collect::<Result<_, _>>()?;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, d| byte << 4 | d)).collect();
    Ok(RuleTable::from_dna(&bytes)?)
}

/// Settings and number of steps: with the model and the version, what repeats a design. Where it gives several tables,
/// the name of this one, too.
pub(super) fn settings_json(settings: &Settings, steps: u64, name: &str) -> String {
    let mut json = serde_json::json!({ "settings": settings, "steps": steps });
    if !name.is_empty() {
        json["table"] = name.into();
    }
    // Whoever else is built beside this may have serde_json keep the order of insertion.
    json.sort_all_objects();
    json.to_string()
}

/// A table inside a checkpoint.
pub(super) mod table {
    use exmachina_rules::RuleTable;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// As hexadecimal text.
    pub fn serialize<S: Serializer>(table: &RuleTable, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::hex(&table.to_dna()))
    }

    /// From hexadecimal text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RuleTable, D::Error> {
        super::unhex(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A table inside a checkpoint, or none.
pub(super) mod optional_table {
    use exmachina_rules::RuleTable;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// As hexadecimal text.
    pub fn serialize<S: Serializer>(table: &Option<RuleTable>, serializer: S) -> Result<S::Ok, S::Error> {
        match table {
            Some(table) => serializer.serialize_some(&super::hex(&table.to_dna())),
            None => serializer.serialize_none(),
        }
    }

    /// From hexadecimal text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RuleTable>, D::Error> {
        let text: Option<String> = Deserialize::deserialize(deserializer)?;
        text.map(|text| super::unhex(&text).map_err(D::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_in_the_order_of_their_names_whatever_serde_json_is_built_with() {
        let written = settings_json(&Settings::default(), 3, "delta");
        let mut sorted: serde_json::Value = serde_json::from_str(&written).unwrap();
        sorted.sort_all_objects();
        assert_eq!(written, sorted.to_string());
    }
}
