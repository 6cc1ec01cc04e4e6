//! The one exception for what a person got wrong.

use exmachina_net::file_error::FileError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    exmachina._core,
    InputError,
    PyValueError,
    "A file or a value that cannot be used, in one message of one line: every mistake of a person is one of these.\n\n\
     >>> try:\n\
     ...     exmachina.score(\"known-1x\", \"known-1x\", specimens=0)\n\
     ... except exmachina.InputError as error:\n\
     ...     print(error)\n\
     specimens: expected from 1 to 1000000, got 0"
);

/// An [`InputError`] with this message, in one line whatever it quotes of a file.
pub fn input_error(message: impl std::fmt::Display) -> PyErr {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    InputError::new_err(message.to_string().chars().map(shown).collect::<String>())
}

/// An [`InputError`] that knows the field and what is wrong with it, for values that came from elsewhere than a file.
pub fn file_error(py: Python<'_>, error: &FileError) -> PyErr {
    let raised = input_error(error);
    let value = raised.value(py);
    let named = value.setattr("field", &error.field).and_then(|()| value.setattr("problem", &error.message));
    named.err().unwrap_or(raised)
}
