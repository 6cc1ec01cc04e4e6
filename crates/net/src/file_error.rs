//! The one kind of error that a file a person wrote can cause: where it is, and what was expected there.

use std::fmt;

/// What is wrong with a file, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line, from 1; none where something is missing from the file as a whole.
    pub line: Option<usize>,
    /// Path of the field, such as `link.rate_mbps`; empty where the text is not TOML at all.
    pub field: String,
    /// What was expected, and what was found.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for FileError {}
