//! Schemes by name, as scenario files and people call them.

use exmachina_net::random::Stream;
use exmachina_net::time::Duration;

use super::{
    Aimd, AnyScheme, Bbr1, Bbr3, Compound, CompoundSettings, ConstantRate, ConstantWindow, Copa, Cubic, CubicSettings,
    Dctcp, Ledbat, LinuxCompound, LinuxCubic, LinuxCubicSettings, LinuxReno, LinuxVegas, NewReno, NewRenoNs2,
    NewRenoSettings, Own, Remy, SlowStartEnd, Vegas, VegasNs2, VegasNs2Settings, VegasSettings, Xcp,
};
use crate::library::Library;
use crate::nearest::or_nearest;
use crate::transport::{Preset, Settings};

/// A scheme by name.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemeName {
    /// `newreno`: ns-2's with the transports of ns-2, that of RFC 5681 and 3465 with today's.
    NewReno,
    /// `reno-linux`: of Linux 2.6.22.
    RenoLinux,
    /// `cubic`: what a kernel of the transport's day runs: `cubic-linux-2.6.22` with the transports of ns-2,
    /// `cubic-linux-6` with today's, which docs/reality.md has beside the RFC's.
    Cubic,
    /// `cubic-linux`: of Linux 2.6.3x.
    CubicLinux,
    /// `cubic-linux-2.6.22`: as ns-2.35 carries it.
    CubicLinux2622,
    /// `cubic-rfc9438`: by RFC 9438, with HyStart++ (RFC 9406), as its §4.10 asks.
    CubicRfc9438,
    /// `cubic-linux-6`: of Linux 6, which leaves slow start by HyStart as it was before RFC 9406.
    CubicLinux6,
    /// `compound`: the Linux module of 2006 that ns-2.35 carries, with either transport: no later kernel has one.
    Compound,
    /// `vegas`: of Linux 2.6.22 with the transports of ns-2, of Linux today (since 3.18) with today's.
    Vegas,
    /// `vegas-ns2`: ns-2's own.
    VegasNs2,
    /// `dctcp`.
    Dctcp,
    /// `xcp`.
    Xcp,
    /// `aimd`: the AIMD sender of Tao'14.
    Aimd,
    /// `bbr1`.
    Bbr1,
    /// `bbr3`.
    Bbr3,
    /// `copa`.
    Copa,
    /// `ledbat`.
    Ledbat,
    /// `omniscient`: the reference, which is computed and not simulated.
    Omniscient,
    /// `window:40`: a constant window, packets.
    Window(u32),
    /// `rate:2.5`: a constant rate, Mbit/s.
    Rate(f64),
    /// A rule table, by the name or path under which the [`Library`] has it.
    ///
    /// Any plain word that is no other scheme may be the name of one: see [`SchemeName::check`].
    Table(String),
    /// A researcher's own scheme, by the name under which the [`Library`] has it.
    Own(String),
}

/// The schemes that have a plain name.
const NAMES: [(&str, SchemeName); 18] = [
    ("newreno", SchemeName::NewReno),
    ("reno-linux", SchemeName::RenoLinux),
    ("cubic", SchemeName::Cubic),
    ("cubic-linux", SchemeName::CubicLinux),
    ("cubic-linux-2.6.22", SchemeName::CubicLinux2622),
    ("cubic-rfc9438", SchemeName::CubicRfc9438),
    ("cubic-linux-6", SchemeName::CubicLinux6),
    ("compound", SchemeName::Compound),
    ("vegas", SchemeName::Vegas),
    ("vegas-ns2", SchemeName::VegasNs2),
    ("dctcp", SchemeName::Dctcp),
    ("xcp", SchemeName::Xcp),
    ("aimd", SchemeName::Aimd),
    ("bbr1", SchemeName::Bbr1),
    ("bbr3", SchemeName::Bbr3),
    ("copa", SchemeName::Copa),
    ("ledbat", SchemeName::Ledbat),
    ("omniscient", SchemeName::Omniscient),
];

/// The largest constant window, packets.
const MAX_WINDOW: u32 = 1_000_000;

/// The smallest constant rate, Mbit/s: a packet in some seconds.
const MIN_RATE: f64 = 0.001;

/// What a scheme depends on beside its name.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'t> {
    /// Whose transport it is: some names mean other schemes with either.
    pub preset: Preset,
    /// The transport, for the initial window and the size of packets.
    pub transport: Settings,
    /// Schemes that may or may not have their packets marked do.
    pub ecn: bool,
    /// The schemes that are data.
    pub library: &'t Library,
}

/// Whether a name is that of a file with a rule table: `x.dna`, or `x.dna.5`, as the authors number theirs.
#[must_use]
pub fn is_table_file(name: &str) -> bool {
    let digits =
        |text: &str| text.strip_prefix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    name.rsplit_once(".dna").is_some_and(|(_, rest)| rest.is_empty() || digits(rest))
}

/// Whether a rule table's name says which file it is.
fn is_path(name: &str) -> bool {
    is_table_file(name) || name.contains('/')
}

fn expected(algorithms: &[String], got: &str) -> String {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).chain(algorithms.iter().map(String::as_str)).collect();
    let nearest = or_nearest(got, names.iter().copied());
    format!("expected {}, window:N, rate:X or the path of a .dna file, got {got}{nearest}", names.join(", "))
}

impl SchemeName {
    /// Whether a name is that of a scheme that is built in, though perhaps with a number that it cannot have.
    #[must_use]
    pub fn is_built_in(name: &str) -> bool {
        NAMES.iter().any(|(known, _)| *known == name) || matches!(name.split_once(':'), Some(("window" | "rate", _)))
    }

    /// Reads a name. A plain word that is no other scheme is taken for the name of a rule table.
    ///
    /// # Errors
    /// Where there can be no such scheme; says which there are.
    pub fn parse(name: &str) -> Result<SchemeName, String> {
        if let Some((_, scheme)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(scheme.clone());
        }
        match name.split_once(':') {
            Some(("window", packets)) => match packets.parse() {
                Ok(packets) if (1..=MAX_WINDOW).contains(&packets) => Ok(SchemeName::Window(packets)),
                _ => Err(format!("expected window:N with N from 1 to {MAX_WINDOW} packets, got {name}")),
            },
            Some(("rate", mbps)) => match mbps.parse() {
                Ok(mbps) if (MIN_RATE..=1e6).contains(&mbps) => Ok(SchemeName::Rate(mbps)),
                _ => Err(format!("expected rate:X with X from {MIN_RATE} to 1000000 Mbit/s, got {name}")),
            },
            Some(_) if !is_path(name) => Err(expected(&[], name)),
            _ => Ok(SchemeName::Table(name.to_owned())),
        }
    }

    /// Refuses the name of a rule table that is neither a path nor one of those that go by a name.
    ///
    /// # Errors
    /// Where there is no such scheme; says which there are.
    pub fn check(&self, algorithms: &[String]) -> Result<(), String> {
        match self {
            SchemeName::Table(name) if !is_path(name) && !algorithms.contains(name) => Err(expected(algorithms, name)),
            _ => Ok(()),
        }
    }

    /// A sender that has not started; `luck` decides what the scheme leaves to chance.
    ///
    /// # Errors
    /// Where the library has not what it needs, and for what is no sender.
    pub fn sender<'t>(&self, around: &Surroundings<'t>, luck: Stream) -> Result<AnyScheme<'t>, String> {
        let Surroundings { preset, transport, ecn, library } = *around;
        let initial_window = transport.initial_window;
        let ns2 = preset.is_ns2();
        let linux = |settings: LinuxCubicSettings| {
            let idle_window = initial_window;
            AnyScheme::LinuxCubic(LinuxCubic::new(LinuxCubicSettings { initial_window, idle_window, ecn, ..settings }))
        };
        let cubic = |slow_start_end, least_growth| {
            AnyScheme::Cubic(Cubic::new(CubicSettings {
                initial_window,
                slow_start_end,
                least_growth,
                // RFC 5681 §4.1, where the transport does not say what a pause does.
                restart_after: if ns2 { Duration::SECOND } else { Duration::MAX },
                ecn,
                ..CubicSettings::default()
            }))
        };
        let missing = |what, name| Err(format!("the {what} {name} is not loaded"));
        Ok(match self {
            SchemeName::NewReno if ns2 => AnyScheme::NewRenoNs2(NewRenoNs2::new(initial_window, ecn)),
            SchemeName::NewReno => {
                AnyScheme::NewReno(NewReno::new(NewRenoSettings { ecn, ..NewRenoSettings::new(initial_window) }))
            }
            SchemeName::RenoLinux => AnyScheme::LinuxReno(LinuxReno::new(initial_window, ecn)),
            SchemeName::Cubic if ns2 => linux(LinuxCubicSettings::linux_2_6_22()),
            SchemeName::CubicLinux => linux(LinuxCubicSettings::linux_2_6()),
            SchemeName::CubicLinux2622 => linux(LinuxCubicSettings::linux_2_6_22()),
            SchemeName::CubicRfc9438 => cubic(SlowStartEnd::HystartPlusPlus, 0.0),
            SchemeName::Cubic | SchemeName::CubicLinux6 => cubic(SlowStartEnd::Hystart, 0.05),
            SchemeName::Compound if ns2 => AnyScheme::LinuxCompound(LinuxCompound::new(initial_window)),
            SchemeName::Compound => AnyScheme::Compound(Compound::new(CompoundSettings {
                initial_window,
                idle_window: initial_window,
                forgets_when_idle: true,
                ..CompoundSettings::linux_2_6_22()
            })),
            SchemeName::Vegas if ns2 => AnyScheme::LinuxVegas(LinuxVegas::new(initial_window)),
            SchemeName::Vegas => {
                AnyScheme::Vegas(Vegas::new(VegasSettings { initial_window, ..VegasSettings::linux() }))
            }
            SchemeName::VegasNs2 => {
                AnyScheme::VegasNs2(VegasNs2::new(VegasNs2Settings { initial_window, ..VegasNs2Settings::default() }))
            }
            SchemeName::Dctcp => AnyScheme::Dctcp(Dctcp::new(initial_window)),
            SchemeName::Xcp => AnyScheme::Xcp(Xcp::new(initial_window)),
            SchemeName::Aimd => AnyScheme::Aimd(Aimd::default()),
            SchemeName::Bbr1 => AnyScheme::Bbr1(Bbr1::new(initial_window, transport.packet_bytes, luck)),
            SchemeName::Bbr3 => AnyScheme::Bbr3(Bbr3::new(initial_window, luck)),
            SchemeName::Copa => AnyScheme::Copa(Copa::new(initial_window)),
            SchemeName::Ledbat => AnyScheme::Ledbat(Ledbat::default()),
            SchemeName::Window(packets) => AnyScheme::ConstantWindow(ConstantWindow { packets: *packets }),
            SchemeName::Rate(mbps) => {
                AnyScheme::ConstantRate(ConstantRate::mbps(*mbps, u32::from(transport.packet_bytes)))
            }
            SchemeName::Table(name) => match library.tables.get(name) {
                Some(table) => AnyScheme::Remy(Remy::new(table)),
                None => return missing("rule table", name),
            },
            SchemeName::Own(name) => match library.own.get(name) {
                Some(make) => AnyScheme::Own(Own(make())),
                None => return missing("scheme", name),
            },
            SchemeName::Omniscient => return Err("omniscient is a calculation, not a sender of packets".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::random::Purpose;
    use exmachina_net::time::Instant;

    use super::super::Scheme;
    use super::*;

    fn sender(name: &str, preset: Preset) -> AnyScheme<'static> {
        static NONE: std::sync::LazyLock<Library> = std::sync::LazyLock::new(Library::default);
        let around = Surroundings { preset, transport: preset.settings(), ecn: false, library: &NONE };
        let luck = Stream::new(1, 0, 0, Purpose::Scheme);
        let mut scheme = SchemeName::parse(name).unwrap().sender(&around, luck).unwrap();
        scheme.start(Instant::START);
        scheme
    }

    #[test]
    fn every_name_gives_a_scheme_that_may_send() {
        for (name, _) in NAMES.iter().filter(|(name, _)| *name != "omniscient") {
            for preset in [Preset::Remy13, Preset::Tao14, Preset::Today] {
                assert!(sender(name, preset).window() > 0, "{name}");
            }
        }
        assert_eq!(sender("window:40", Preset::Today).window(), 40);
        // 2.5 Mbit/s are 250 packets of 1250 bytes in a second.
        assert_eq!(sender("rate:2.5", Preset::Today).intersend(), Duration::from_millis(4));
    }

    #[test]
    fn the_initial_window_is_the_transports_but_for_schemes_that_have_their_own() {
        for (name, _) in &NAMES {
            // Vegas of ns-2 sends its SYN first; the others are windows of their own definitions.
            if !["vegas-ns2", "aimd", "ledbat", "omniscient"].contains(name) {
                assert_eq!(sender(name, Preset::Tao14).window(), 2, "{name}");
            }
        }
        assert_eq!(sender("newreno", Preset::Today).window(), 10);
        assert_eq!(sender("cubic-linux", Preset::Today).window(), 10);
    }

    #[test]
    fn some_names_depend_on_the_transport() {
        assert!(matches!(sender("cubic", Preset::Tao14), AnyScheme::LinuxCubic(_)));
        // Of one type with that of the RFC, so that their settings tell them apart.
        let told = |name| format!("{:?}", sender(name, Preset::Today));
        assert_eq!(told("cubic"), told("cubic-linux-6"));
        assert_ne!(told("cubic"), told("cubic-rfc9438"));
    }

    #[test]
    fn what_is_no_name_is_told_which_there_are() {
        let error = SchemeName::parse("renonew:1").unwrap_err();
        assert!(
            error.starts_with("expected newreno, reno-linux, cubic") && error.ends_with("got renonew:1"),
            "{error}"
        );
        let word = SchemeName::parse("renonew").unwrap();
        assert!(word.check(&["mine".to_owned()]).unwrap_err().contains("ledbat, omniscient, mine, window:N"));
        assert_eq!(word.check(&["renonew".to_owned()]), Ok(()));
        for file in ["x.dna", "x.dna.5", "x.dna.120"] {
            assert_eq!(SchemeName::parse(file).unwrap().check(&[]), Ok(()));
        }
        assert!(SchemeName::parse("x.dna.").unwrap().check(&[]).is_err());
        assert!(
            SchemeName::parse("cubci").unwrap().check(&[]).unwrap_err().ends_with("got cubci; did you mean cubic?")
        );
        assert!(SchemeName::parse("window:0").unwrap_err().contains("from 1 to 1000000"));
        assert!(SchemeName::parse("rate:nan").is_err() && SchemeName::parse("rate:").is_err());
        assert_eq!(SchemeName::parse("a/b").unwrap(), SchemeName::Table("a/b".to_owned()));
    }

    #[test]
    fn what_is_not_loaded_is_an_error() {
        let library = Library::default();
        let transport = Settings::today();
        let around = Surroundings { preset: Preset::Today, transport, ecn: false, library: &library };
        let told = |name: SchemeName| name.sender(&around, Stream::new(1, 0, 0, Purpose::Scheme)).unwrap_err();
        assert_eq!(told(SchemeName::Table("x.dna".to_owned())), "the rule table x.dna is not loaded");
        assert_eq!(told(SchemeName::Own("mine".to_owned())), "the scheme mine is not loaded");
        assert!(told(SchemeName::Omniscient).contains("a calculation"));
    }
}
