//! The Python module `exmachina._core`: thin bindings, with no logic of their own.
//!
//! Whatever computes releases the interpreter's lock, so that a progress display and ctrl-C work meanwhile. What people
//! call is the Python package above, which says what everything means; here names and types are only passed on.

mod columns;
mod designer;
mod disturbance;
mod elsewhere;
mod errors;
mod evaluation;
mod fixed;
mod law;
mod model;
mod objective;
mod own;
mod run;
mod stop;
mod table;
#[cfg(all(feature = "testbed", target_os = "linux"))]
mod testbed;
mod tuning;
mod workers;

/// The module.
#[pyo3::pymodule]
mod _core {
    use std::collections::HashMap;

    use exmachina_rules::Signal;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::columns::Column;
    #[pymodule_export]
    use crate::designer::{Answer, DesignProgress, Designed, Designer};
    #[pymodule_export]
    use crate::disturbance::disturb;
    #[pymodule_export]
    use crate::elsewhere::run_unit;
    #[pymodule_export]
    use crate::errors::InputError;
    #[pymodule_export]
    use crate::evaluation::{Evaluation, PacketRecord, SchemeAndQueue, is_scheme, is_table_file};
    #[pymodule_export]
    use crate::fixed::{FixedAction, Flow, Moved, Plane, Quantised, Semantics};
    #[pymodule_export]
    use crate::model::{Model, Specimens};
    #[pymodule_export]
    use crate::objective::Objective;
    #[pymodule_export]
    use crate::own::{Ack, Congestion};
    #[pymodule_export]
    use crate::run::{Recorded, RuleUsage, Usage, check_duration, evaluate, record, reference, usage};
    #[pymodule_export]
    use crate::stop::Stop;
    #[pymodule_export]
    use crate::table::{Action, Config, Provenance, Range, Rule, Table};
    #[cfg(all(feature = "testbed", target_os = "linux"))]
    #[pymodule_export]
    use crate::testbed::{Measured, Stack, check_measurable, measure};
    #[pymodule_export]
    use crate::tuning::{Evolution, law_at_places, law_places};
    #[pymodule_export]
    use crate::workers::Workers;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("SIMULATOR", env!("EXMACHINA_SIMULATOR"))?;
        module.add("NEAREST_EDGE", exmachina_design::search::NEAREST)?;
        module.add("SIGNALS", Signal::ALL.map(Signal::name))?;
        module.add("SIGNAL_UNITS", Signal::ALL.map(|signal| if signal.is_time() { "ms" } else { "" }))?;
        module.add("FIRST_SIGNALS", exmachina_rules::FIRST_SIGNALS)?;
        let words: HashMap<_, _> = Signal::ALL.iter().map(|signal| (signal.name(), signal.words())).collect();
        module.add("SIGNAL_WORDS", words)?;
        module.add("SEMANTICS", Semantics::OURS)?;
        module.add("LAW_FLOW", exmachina_rules::LAW_FLOW)?;
        module.add("EVENTS", exmachina_run::record::Event::NAMES)?;
        module.add("SENDER_EVENTS", exmachina_run::packet_log::SenderEvent::NAMES)?;
        module.add("HOP_EVENTS", exmachina_run::packet_log::HOP_EVENTS)
    }
}
