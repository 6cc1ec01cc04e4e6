//! Tables, and connections that follow them.

use std::path::Path;
use std::sync::Arc;

use exmachina_quic::TableConfig;
use exmachina_rules::{Action, RuleTable, Signal};

use crate::stack::TransportConfig;

/// A table of one rule: always this window, and this least time between two packets.
pub fn always(window: i32, intersend_ms: f64) -> RuleTable {
    RuleTable::single(&Signal::ALL[..4], Action { multiple: 0.0, increment: window, intersend_ms })
}

/// One that comes with the program.
pub fn algorithm(name: &str) -> RuleTable {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/exmachina/algorithms");
    RuleTable::from_dna(&std::fs::read(folder.join(format!("{name}.dna"))).unwrap()).unwrap()
}

/// Connections that follow a table.
pub fn transport(table: &RuleTable) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(TableConfig::new(table).unwrap()));
    transport
}
