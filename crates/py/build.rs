//! What the results of a run follow from, in one number: the sources of the simulator, what they depend on, and the compiler.
//!
//! Two builds that simulate alike have it in common, whatever else differs between them: a run that one of them kept is as
//! good to the other.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that a run goes through, and their bindings, relative to this crate.
const SIMULATOR: [&str; 9] = [
    "../rules",
    "../net",
    "../hosts",
    "../scenario",
    "../run",
    "src/columns.rs",
    "src/evaluation.rs",
    "src/run.rs",
    "../../Cargo.lock",
];

/// Folders of such a crate from which nothing gets into a run.
const BESIDES: [&str; 3] = ["benches", "examples", "tests"];

fn main() {
    let mut hasher = DefaultHasher::new();
    for path in SIMULATOR.map(Path::new) {
        println!("cargo:rerun-if-changed={}", path.display());
        read(path, &mut hasher);
    }
    let compiler = env::var_os("RUSTC").expect("cargo names its compiler");
    Command::new(compiler).arg("-V").output().expect("a compiler that runs").stdout.hash(&mut hasher);
    println!("cargo:rustc-env=EXMACHINA_SIMULATOR={:016x}", hasher.finish());
}

/// Takes in a file, or those of a folder in order of their names.
fn read(path: &Path, hasher: &mut DefaultHasher) {
    if !path.is_dir() {
        path.file_name().hash(hasher);
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).hash(hasher);
        return;
    }
    let entries = fs::read_dir(path).expect("a folder that can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| !BESIDES.iter().any(|name| path.ends_with(name))) {
        read(path, hasher);
    }
}
