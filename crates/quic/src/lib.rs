#![doc = include_str!("../README.md")]

mod flow;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;
mod rtt;

use std::sync::Arc;

use exmachina_rules::{FlatTable, RuleTable, TableError};

pub use flow::Flow;

/// A table, from which a stack makes one controller for each path of a connection: a `ControllerFactory` of noq, and of quinn.
#[derive(Clone, Debug)]
pub struct TableConfig {
    table: Arc<FlatTable>,
}

impl TableConfig {
    /// A table as it is: rounding it (`exmachina export`) is for those that have no floating point.
    ///
    /// # Errors
    /// As [`FlatTable::new`].
    pub fn new(table: &RuleTable) -> Result<TableConfig, TableError> {
        Ok(TableConfig { table: Arc::new(FlatTable::new(table)?) })
    }
}

/// A controller that follows a table. Each path of a connection has one.
#[derive(Clone, Debug)]
pub struct TableController {
    flow: Flow,
    /// Packets that were lost, of those that are being told of.
    losing: u32,
}

impl TableController {
    /// What it knows of its path. `Connection::congestion_state` gives a stack's controller, and its `into_any` this one.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        &self.flow
    }
}
