//! Where tests find what the authors published: tables, runs of their ns-2, recordings of links.
//!
//! It lies beside the project, in `../shared/reference`. Where it is absent, a test has nothing to compare with: a
//! visitor is told that it was skipped, and with `CI=true` it fails, for a check that did not run is no check.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The path of a file or folder of theirs, such as `remycc/tao-100x.dna`; none where it is absent, and a line on
/// standard error says so, whether or not the test passes.
///
/// # Panics
///
/// If it is absent and `CI=true`.
pub fn reference(part: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    find(&root, part, std::env::var("CI").is_ok_and(|ci| ci == "true"))
}

fn find(root: &Path, part: &str, must_be_there: bool) -> Option<PathBuf> {
    let path = root.join(part);
    if path.exists() {
        return Some(path);
    }
    assert!(!must_be_there, "{} is missing: the authors' data", path.display());
    // Not `eprintln!`, which the test harness keeps to itself.
    let _ = writeln!(std::io::stderr(), "skipped: {} is missing: the authors' data", path.display());
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(find(here, "Cargo.toml", true), Some(here.join("Cargo.toml")));
    }

    #[test]
    fn what_is_absent_is_skipped() {
        assert_eq!(find(Path::new("/nowhere"), "remycc", false), None);
    }

    #[test]
    #[should_panic(expected = "/nowhere/remycc is missing")]
    fn what_is_absent_fails_in_ci() {
        find(Path::new("/nowhere"), "remycc", true);
    }
}
