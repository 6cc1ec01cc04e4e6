//! What scenarios name and do not contain: rule tables, traces, and schemes that are not compiled in.
//!
//! Whoever reads files puts here what they hold; nothing in this crate reads one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use exmachina_net::service::Trace;
use exmachina_rules::FlatTable;

use crate::scheme::OwnScheme;

/// Makes a scheme that is not compiled in, one for each sender.
pub type Maker = Arc<dyn Fn() -> Box<dyn OwnScheme> + Send + Sync>;

/// Rule tables, traces and researchers' own schemes, by the names that scenarios give them.
#[derive(Clone, Default)]
pub struct Library {
    /// Rule tables.
    pub tables: BTreeMap<String, FlatTable>,
    /// Recorded links.
    pub traces: BTreeMap<String, Trace>,
    /// Researchers' own schemes.
    pub own: BTreeMap<String, Maker>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tables.keys()).entries(self.traces.keys()).entries(self.own.keys()).finish()
    }
}
