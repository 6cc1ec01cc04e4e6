//! What the stacks are handed: a factory, and a controller for each path.

use std::sync::Arc;
use std::time::Instant;

use exmachina_rules::{FlatTable, RuleTable, TableError};

use crate::Flow;

/// A table, from which a stack makes one controller for each path of a connection: a `ControllerFactory` of noq, and of quinn.
#[derive(Clone, Debug)]
pub struct TableConfig {
    table: Arc<FlatTable>,
}

impl From<FlatTable> for TableConfig {
    fn from(table: FlatTable) -> TableConfig {
        TableConfig { table: Arc::new(table) }
    }
}

impl TableConfig {
    /// A table as it is: rounding it (`exmachina export`) is for those that have no floating point.
    ///
    /// # Errors
    /// As [`FlatTable::new`].
    pub fn new(table: &RuleTable) -> Result<TableConfig, TableError> {
        Ok(FlatTable::new(table)?.into())
    }

    pub(crate) fn start(&self, now: Instant, mtu: u16) -> TableController {
        TableController {
            flow: Flow::start(Arc::clone(&self.table), now, mtu),
            #[cfg(feature = "noq")]
            losing: 0,
        }
    }
}

/// A controller that follows a table.
#[derive(Clone, Debug)]
pub struct TableController {
    pub(crate) flow: Flow,
    /// Packets declared lost, of those that noq is telling of one by one.
    #[cfg(feature = "noq")]
    pub(crate) losing: u32,
}

impl TableController {
    /// What it knows of its path. `Connection::congestion_state` gives a stack's controller, and its `into_any` this one.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        &self.flow
    }
}
