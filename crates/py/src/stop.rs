//! Ending a computation that nobody waits for any more.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// Asks computations to end early. What they give back once it is set is worth nothing.
#[pyclass(frozen, module = "exmachina._core")]
#[derive(Default)]
pub struct Stop {
    /// What the core looks at.
    pub flag: AtomicBool,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Ends what is under way within a moment, and all later computations at once.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}
