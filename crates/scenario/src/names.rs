//! Names that become parts of the names of files: those of scenarios, models and tables.

use super::{Document, FileError};

/// The longest name: file systems take some 255 bytes, endings included.
const MAX_BYTES: usize = 100;

/// Refuses a name with which a file would land elsewhere than where it belongs.
pub(super) fn check_file_name(name: &str) -> Result<(), String> {
    let part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || !name.chars().all(part) {
        return Err(format!("expected letters, digits, dots, dashes and underscores, got {name:?}"));
    }
    if name.chars().all(|c| c == '.') {
        return Err(format!("expected a letter or digit beside the dots, got {name:?}"));
    }
    if name.len() > MAX_BYTES {
        return Err(format!("expected at most {MAX_BYTES} letters, got {}", name.len()));
    }
    Ok(())
}

/// The name of a scenario or model: as the document says, or that of its file, which is a name of a file already.
pub(super) fn name_of(given: Option<String>, document: &Document<'_>) -> Result<String, FileError> {
    let Some(name) = given else { return Ok(super::stem(document.file())) };
    check_file_name(&name).map_err(|message| document.error("name", message))?;
    Ok(name)
}
