//! Which scenarios and schemes a kernel can be measured with.

use std::collections::BTreeMap;

use exmachina_hosts::scheme::SchemeName;
use exmachina_net::file_error::FileError;
use exmachina_scenario::{Document, Evaluation};

/// What the kernel calls rule tables that were loaded into it, by their labels in the scenario.
pub type KernelNames = BTreeMap<String, String>;

/// Refuses what only a simulation can do.
///
/// # Errors
/// The field, and what was expected.
pub fn check(evaluation: &Evaluation, text: &str, file: &str, loaded: &KernelNames) -> Result<(), FileError> {
    evaluation.check_real(&Document::parse(text, file)?)?;
    let told = |field: &str, message| FileError { file: file.to_owned(), line: None, field: field.to_owned(), message };
    for contender in &evaluation.contenders {
        kernel_name(&contender.label, &contender.scheme, loaded).map_err(|message| told("schemes", message))?;
    }
    for own in evaluation.groups.iter().filter_map(|group| group.scheme.as_ref()) {
        kernel_name(&own.label, &own.scheme, loaded).map_err(|message| told("senders.scheme", message))?;
    }
    Ok(())
}

/// What the kernel calls a scheme.
///
/// # Errors
/// If it has none of this kind.
pub fn kernel_name(label: &str, scheme: &SchemeName, loaded: &KernelNames) -> Result<String, String> {
    let name = match scheme {
        SchemeName::Cubic | SchemeName::CubicRfc9438 | SchemeName::CubicLinux6 => "cubic",
        SchemeName::NewReno => "reno",
        SchemeName::Bbr1 => "bbr",
        _ => match loaded.get(label) {
            Some(name) => name,
            None => {
                return Err(format!(
                    "expected cubic, newreno, bbr1 or a rule table, which are what a kernel can run, got {label}"
                ));
            }
        },
    };
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMBBELL: &str = "\
schemes = ['cubic', 'newreno', 'bbr1']
[link]
rate_mbps = 15
[path]
rtt_ms = 50
[senders]
count = 2
[workload]
on = { seconds = 5 }
off = { seconds = 5 }
";

    fn told(text: &str) -> String {
        let evaluation = Evaluation::parse(text, "x.toml").unwrap();
        check(&evaluation, text, "x.toml", &KernelNames::new())
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn schemes_that_kernels_have_go_by_the_simulators_names() {
        assert_eq!(told(DUMBBELL), "");
        let expected = "expected cubic, newreno, bbr1 or a rule table, which are what a kernel can run, got vegas";
        assert_eq!(told(&DUMBBELL.replace("newreno", "vegas")), format!("x.toml: schemes: {expected}"));
        let own = DUMBBELL.replace("count = 2", "count = 2\nscheme = 'vegas'");
        assert_eq!(told(&own), format!("x.toml: senders.scheme: {expected}"));
    }

    #[test]
    fn a_table_that_was_loaded_has_the_kernels_name_for_it() {
        let table = SchemeName::Table("mine.dna".to_owned());
        let loaded = KernelNames::from([("mine".to_owned(), "bpf_mine".to_owned())]);
        assert_eq!(kernel_name("mine", &table, &loaded).unwrap(), "bpf_mine");
        assert!(kernel_name("other", &table, &loaded).is_err());
    }
}
