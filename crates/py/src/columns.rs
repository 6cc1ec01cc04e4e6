//! Columns of numbers for data frames.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A column as Python gets it.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Column {
    name: &'static str,
    /// numpy's name of the type.
    dtype: &'static str,
    /// The numbers, little-endian.
    data: Py<PyBytes>,
}

#[pymethods]
impl Column {
    fn __eq__(&self, py: Python<'_>, other: &Column) -> bool {
        let bytes = |column: &Column| column.data.as_bytes(py).to_vec();
        (self.name, self.dtype) == (other.name, other.dtype) && bytes(self) == bytes(other)
    }
}

/// A number of a column.
pub trait Number: Copy {
    /// numpy's name of the type.
    const TYPE: &'static str;
    /// Appends its bytes.
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! number {
    ($($type:ty => $name:literal),*) => {
        $(impl Number for $type {
            const TYPE: &'static str = $name;
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

number!(f64 => "<f8", u64 => "<u8", u32 => "<u4", u8 => "u1");

/// A column of these numbers.
pub fn column<T: Number>(py: Python<'_>, name: &'static str, numbers: impl IntoIterator<Item = T>) -> Column {
    let mut bytes = Vec::new();
    numbers.into_iter().for_each(|number| number.put(&mut bytes));
    Column { name, dtype: T::TYPE, data: PyBytes::new(py, &bytes).unbind() }
}
