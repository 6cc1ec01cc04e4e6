//! `--name value` and nothing else; and what a person may have got wrong, in one line.

use std::collections::HashMap;
use std::process::ExitCode;

use super::transfer::Failure;

/// The values of the flags that are given; `known` are those that there are, with their defaults.
pub fn flags(known: &[(&str, &str)]) -> Result<HashMap<String, String>, String> {
    let usage = || {
        let all: Vec<_> = known.iter().map(|(name, default)| format!("--{name} [{default}]")).collect();
        format!("expected {}", all.join(" "))
    };
    let mut values: HashMap<_, _> = known.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = argument.strip_prefix("--").and_then(|name| values.get_mut(name)).ok_or_else(usage)?;
        *value = arguments.next().ok_or_else(usage)?;
    }
    Ok(values)
}

/// What a file holds; an error names it.
pub fn read(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{path}: {error}"))
}

/// The end of a program.
pub fn ended(result: Result<(), Failure>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("{error}");
    ExitCode::from(2)
}
