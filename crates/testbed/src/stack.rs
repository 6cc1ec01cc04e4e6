//! Who is at both ends, and which scenarios and schemes that can be measured with.

use std::collections::BTreeMap;

use exmachina_hosts::scheme::SchemeName;
use exmachina_net::file_error::FileError;
use exmachina_scenario::{Document, Evaluation};

/// What the kernel calls rule tables that were loaded into it, by their labels in the scenario.
pub type KernelNames = BTreeMap<String, String>;

/// Who is at both ends.
#[derive(Clone, Debug)]
pub enum Stack {
    /// This machine's kernel, with rule tables under these names.
    Kernel(KernelNames),
    /// QUIC, in this process: noq.
    Quic,
}

impl Stack {
    /// The headers of a whole packet: those of IP and TCP with its time stamp, which Linux sends by default; or of IP, UDP, QUIC
    /// (with a connection ID of 8 bytes, a packet number of 2 and the tag of its encryption) and a STREAM frame with an offset of 4.
    #[must_use]
    pub fn header_bytes(&self) -> u16 {
        match self {
            Stack::Kernel(_) => 20 + 20 + 12,
            Stack::Quic => UDP_HEADER_BYTES + 1 + 8 + 2 + 16 + 6,
        }
    }

    /// Refuses a scheme that it has not.
    fn check_scheme(&self, label: &str, scheme: &SchemeName) -> Result<(), String> {
        match self {
            Stack::Kernel(loaded) => kernel_name(label, scheme, loaded).map(|_| ()),
            Stack::Quic => match scheme {
                SchemeName::Cubic | SchemeName::NewReno | SchemeName::Bbr3 | SchemeName::Table(_) => Ok(()),
                _ => Err(format!(
                    "expected cubic, newreno, bbr3 or a rule table, which are what noq can run, got {label}"
                )),
            },
        }
    }
}

/// The headers of IP and UDP.
pub const UDP_HEADER_BYTES: u16 = 20 + 8;
/// The least packet with which QUIC connects (RFC 9000 §14).
const LEAST_QUIC_BYTES: u16 = UDP_HEADER_BYTES + 1200;

/// Refuses what only a simulation can do.
///
/// # Errors
/// The field, and what was expected.
pub fn check(evaluation: &Evaluation, text: &str, file: &str, stack: &Stack) -> Result<(), FileError> {
    let document = Document::parse(text, file)?;
    evaluation.check_real(&document)?;
    if matches!(stack, Stack::Quic) && evaluation.transport.packet_bytes() < LEAST_QUIC_BYTES {
        let expected = format!("expected at least {LEAST_QUIC_BYTES}, as QUIC connects with no less");
        return Err(document.error("transport.packet_bytes", &expected));
    }
    let told = |field: &str, message| FileError { file: file.to_owned(), line: None, field: field.to_owned(), message };
    for contender in &evaluation.contenders {
        stack.check_scheme(&contender.label, &contender.scheme).map_err(|message| told("schemes", message))?;
    }
    for own in evaluation.groups.iter().filter_map(|group| group.scheme.as_ref()) {
        stack.check_scheme(&own.label, &own.scheme).map_err(|message| told("senders.scheme", message))?;
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

    fn told(text: &str, stack: &Stack) -> String {
        let evaluation = Evaluation::parse(text, "x.toml").unwrap();
        check(&evaluation, text, "x.toml", stack).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn schemes_that_kernels_have_go_by_the_simulators_names() {
        let kernel = Stack::Kernel(KernelNames::new());
        assert_eq!(told(DUMBBELL, &kernel), "");
        let expected = "expected cubic, newreno, bbr1 or a rule table, which are what a kernel can run, got vegas";
        assert_eq!(told(&DUMBBELL.replace("newreno", "vegas"), &kernel), format!("x.toml: schemes: {expected}"));
        let own = DUMBBELL.replace("count = 2", "count = 2\nscheme = 'vegas'");
        assert_eq!(told(&own, &kernel), format!("x.toml: senders.scheme: {expected}"));
    }

    #[test]
    fn noq_has_another_bbr_than_the_kernel_and_needs_packets_of_1228_bytes() {
        let expected = "expected cubic, newreno, bbr3 or a rule table, which are what noq can run, got bbr1";
        assert_eq!(told(DUMBBELL, &Stack::Quic), format!("x.toml: schemes: {expected}"));
        let bbr3 = DUMBBELL.replace("bbr1", "bbr3");
        assert_eq!(told(&bbr3, &Stack::Quic), "");
        let small = |bytes: u16| bbr3.replace("[senders]", &format!("[transport]\npacket_bytes = {bytes}\n[senders]"));
        assert_eq!(told(&small(1228), &Stack::Quic), "");
        let expected = "expected at least 1228, as QUIC connects with no less";
        assert_eq!(told(&small(1227), &Stack::Quic), format!("x.toml:7: transport.packet_bytes: {expected}"));
    }

    #[test]
    fn a_table_that_was_loaded_has_the_kernels_name_for_it() {
        let table = SchemeName::Table("mine.dna".to_owned());
        let loaded = KernelNames::from([("mine".to_owned(), "bpf_mine".to_owned())]);
        assert_eq!(kernel_name("mine", &table, &loaded).unwrap(), "bpf_mine");
        assert!(kernel_name("other", &table, &loaded).is_err());
    }
}
