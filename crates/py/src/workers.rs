//! The threads that computations run on.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::input_error;

/// A pool of threads.
#[pyclass(frozen, module = "exmachina._core")]
pub struct Workers {
    pool: ThreadPool,
}

#[pymethods]
impl Workers {
    /// So many threads; as many as there are processors if not said.
    #[new]
    #[pyo3(signature = (threads = None))]
    fn new(threads: Option<Bound<'_, PyAny>>) -> PyResult<Workers> {
        let count = match &threads {
            None => 0,
            // Whatever it is, a negative number or one that no machine counts to included.
            Some(given) => match given.extract::<usize>() {
                Ok(count @ 1..=1024) => count,
                _ => return Err(input_error(format!("threads: expected from 1 to 1024, got {given}"))),
            },
        };
        let pool = ThreadPoolBuilder::new().num_threads(count).build();
        Ok(Workers { pool: pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))? })
    }

    /// Number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

impl Workers {
    /// Computes on these threads while Python goes on.
    pub fn run<T: Send>(&self, py: Python<'_>, compute: impl FnOnce() -> T + Send) -> T {
        py.detach(|| self.pool.install(compute))
    }
}
