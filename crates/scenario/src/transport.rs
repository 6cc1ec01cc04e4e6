//! `[transport]`: the stacks at both ends, as written: a preset, and what differs from it.

use exmachina_hosts::scheme::SchemeName;
use exmachina_hosts::transport::{
    Connections, HEADER_BYTES, LossThreshold, Modular, Opening, Preset, Recovery, Repair, RtoFloor, RttSamples,
    Settings, Stack, TimerSettings,
};
use exmachina_net::time::Duration;
use serde::{Deserialize, Deserializer};

use super::{Shown, or_nearest};

/// No time of a transport is longer, ms.
const MAX_MS: f64 = 1e5;

/// `[transport]`. What is left out is the preset's, and some of that depends on the scheme.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Whose it is.
    #[serde(default, deserialize_with = "preset")]
    pub preset: Preset,
    #[serde(default, deserialize_with = "connections")]
    connections: Option<Connections>,
    #[serde(default, deserialize_with = "opening")]
    opening: Option<Opening>,
    #[serde(default, deserialize_with = "initial_window")]
    initial_window: Option<u32>,
    #[serde(default, deserialize_with = "receive_window")]
    first_receive_window_bytes: Option<u32>,
    #[serde(default, deserialize_with = "time")]
    delayed_ack_ms: Option<Duration>,
    #[serde(default, deserialize_with = "ack_packets")]
    ack_packets: Option<u32>,
    #[serde(default, deserialize_with = "quick_acks")]
    quick_acks: Option<u32>,
    #[serde(default, deserialize_with = "timeout")]
    rto_min_ms: Option<Duration>,
    #[serde(default, deserialize_with = "timeout")]
    rto_initial_ms: Option<Duration>,
    #[serde(default, deserialize_with = "time")]
    clock_ms: Option<Duration>,
    #[serde(default, deserialize_with = "recovery")]
    recovery: Option<Recovery>,
    #[serde(default, deserialize_with = "dup_threshold")]
    dup_threshold: Option<u32>,
    adapts_to_reordering: Option<bool>,
    grows_unused_windows: Option<bool>,
    decays_when_idle: Option<bool>,
    pacing: Option<bool>,
    ect_on_repairs: Option<bool>,
    idle_timer: Option<bool>,
    #[serde(default, deserialize_with = "rtt_samples")]
    rtt_samples: Option<RttSamples>,
    #[serde(default, deserialize_with = "poll")]
    poll_ms: Option<Duration>,
    #[serde(default, deserialize_with = "packet_bytes")]
    packet_bytes: Option<u16>,
    #[serde(default, deserialize_with = "ack_bytes")]
    ack_bytes: Option<u16>,
    ecn: Option<bool>,
}

impl Transport {
    /// The transport under this scheme.
    #[must_use]
    pub fn settings(&self, scheme: &SchemeName) -> Settings {
        let d = scheme.transport(self.preset);
        let stack = match self.recovery {
            Some(recovery) => recovery.stack(scheme.parts(self.preset)),
            None => d.stack,
        };
        Settings {
            connections: self.connections.unwrap_or(d.connections),
            opening: self.opening.unwrap_or(d.opening),
            initial_window: self.initial_window.unwrap_or(d.initial_window),
            first_receive_window: self.first_receive_window_bytes.unwrap_or(d.first_receive_window),
            delayed_ack: self.delayed_ack_ms.unwrap_or(d.delayed_ack),
            ack_packets: self.ack_packets.unwrap_or(d.ack_packets),
            quick_acks: self.quick_acks.unwrap_or(d.quick_acks),
            clock: self.clock_ms.unwrap_or(d.clock),
            stack: match stack {
                Stack::Modular(parts) => Stack::Modular(self.parts(parts)),
                // Those are as they are in ns-2.
                stack => stack,
            },
            poll: self.poll_ms.unwrap_or(d.poll),
            packet_bytes: self.packet_bytes(),
            header_bytes: d.header_bytes,
            ack_bytes: self.ack_bytes.unwrap_or(d.ack_bytes),
        }
    }

    /// The parts of a modular stack, with what the file says of them.
    fn parts(&self, d: Modular) -> Modular {
        let LossThreshold { packets, adapts } = d.repair.threshold();
        let threshold = LossThreshold {
            packets: self.dup_threshold.unwrap_or(packets),
            adapts: self.adapts_to_reordering.unwrap_or(adapts),
        };
        let floor = |floor: Duration| self.rto_min_ms.unwrap_or(floor);
        Modular {
            repair: match d.repair {
                Repair::GoBackN { .. } => Repair::GoBackN { dup_threshold: threshold.packets },
                Repair::Proportional(_) => Repair::Proportional(threshold),
                Repair::Rack(_) => Repair::Rack(threshold),
            },
            timer: TimerSettings {
                floor: match d.timer.floor {
                    RtoFloor::Timeout(least) => RtoFloor::Timeout(floor(least)),
                    RtoFloor::Variation(least) => RtoFloor::Variation(floor(least)),
                },
                initial: self.rto_initial_ms.unwrap_or(d.timer.initial),
                granularity: d.timer.granularity,
                samples: self.rtt_samples.unwrap_or(d.timer.samples),
                runs_when_idle: self.idle_timer.unwrap_or(d.timer.runs_when_idle),
            },
            grows_unused_windows: self.grows_unused_windows.unwrap_or(d.grows_unused_windows),
            decays_when_idle: self.decays_when_idle.unwrap_or(d.decays_when_idle),
            pacing: self.pacing.unwrap_or(d.pacing),
            ect_on_repairs: self.ect_on_repairs.unwrap_or(d.ect_on_repairs),
        }
    }

    /// Refuses settings beside a recovery that knows no such thing.
    ///
    /// # Errors
    /// The field, and what was expected.
    pub(super) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        use Recovery::{GoBackN, RationalRemy13, RationalTao14};
        let Some(recovery) = self.recovery else { return Ok(()) };
        let modular = recovery.is_modular();
        let rational = matches!(recovery, RationalRemy13 | RationalTao14);
        let part = "expected with recovery = \"rack\", \"proportional\" or \"go-back-n\": ns-2's have no such setting";
        let sack = "expected with recovery = \"rack\" or \"proportional\"";
        let receiver = "expected with another recovery: TCP/Rational acknowledges every packet at once";
        let syn = "expected with another recovery: this one knows no SYN";
        let ticks = "expected with another recovery: ns-2's agents have their own clocks";
        // Whether it is given, whether the recovery has it, and what is said if it has not.
        let settings = [
            ("rto_min_ms", self.rto_min_ms.is_some(), modular, part),
            ("rto_initial_ms", self.rto_initial_ms.is_some(), modular, part),
            ("dup_threshold", self.dup_threshold.is_some(), modular, part),
            ("grows_unused_windows", self.grows_unused_windows.is_some(), modular, part),
            ("decays_when_idle", self.decays_when_idle.is_some(), modular, part),
            ("pacing", self.pacing.is_some(), modular, part),
            ("first_receive_window_bytes", self.first_receive_window_bytes.is_some(), modular, part),
            ("ect_on_repairs", self.ect_on_repairs.is_some(), modular, part),
            ("idle_timer", self.idle_timer.is_some(), modular, part),
            ("rtt_samples", self.rtt_samples.is_some(), modular, part),
            ("adapts_to_reordering", self.adapts_to_reordering.is_some(), modular && recovery != GoBackN, sack),
            ("delayed_ack_ms", self.delayed_ack_ms.is_some(), !rational, receiver),
            ("ack_packets", self.ack_packets.is_some(), !rational, receiver),
            ("quick_acks", self.quick_acks.is_some(), !rational, receiver),
            ("opening", self.opening.is_some(), recovery != RationalTao14, syn),
            ("clock_ms", self.clock_ms.is_some(), modular || rational, ticks),
        ];
        match settings.iter().find(|(_, given, has, _)| *given && !has) {
            Some((field, _, _, expected)) => Err((field, expected)),
            None => Ok(()),
        }
    }

    /// Bytes of a data packet on the wire, the same under every scheme.
    #[must_use]
    pub fn packet_bytes(&self) -> u16 {
        self.packet_bytes.unwrap_or(self.preset.settings().packet_bytes)
    }

    /// Bytes of a transfer that one packet carries.
    #[must_use]
    pub fn payload_bytes(&self) -> f64 {
        f64::from(self.packet_bytes() - self.preset.settings().header_bytes)
    }

    /// Whether it says nothing of what real hosts decide by themselves.
    #[must_use]
    pub fn is_of_hosts(&self) -> bool {
        let Transport { opening, packet_bytes, ack_bytes, .. } = *self;
        *self == Transport { opening, packet_bytes, ack_bytes, ..Transport::default() }
    }

    /// Whether the file says how fine the senders' clocks are.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.clock_ms.is_some()
    }

    /// Schemes that may or may not have their packets marked do.
    #[must_use]
    pub fn ecn(&self) -> bool {
        self.ecn.unwrap_or(false)
    }
}

fn word<'de, D: Deserializer<'de>, T: Copy>(deserializer: D, words: &[(&str, T)]) -> Result<T, D::Error> {
    let given = String::deserialize(deserializer)?;
    words.iter().find(|(word, _)| *word == given).map(|&(_, value)| value).ok_or_else(|| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let nearest = or_nearest(&given, words.iter().map(|word| word.trim_matches('"')));
        serde::de::Error::custom(format!("expected {}, got \"{given}\"{nearest}", words.join(" or ")))
    })
}

fn preset<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Preset, D::Error> {
    let given = String::deserialize(deserializer)?;
    match &given[..] {
        "remy13" => Ok(Preset::Remy13),
        "tao14" => Ok(Preset::Tao14),
        "today" => Ok(Preset::Today),
        "papers" => Err(serde::de::Error::custom(
            "\"papers\" was split: expected \"remy13\" (Remy'13's ns-2) or \"tao14\" (Tao'14's), or \"today\"",
        )),
        _ => Err(serde::de::Error::custom(format!("expected \"remy13\", \"tao14\" or \"today\", got \"{given}\""))),
    }
}

fn connections<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Connections>, D::Error> {
    word(deserializer, &[("fresh", Connections::Fresh), ("persistent", Connections::Persistent)]).map(Some)
}

fn opening<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Opening>, D::Error> {
    let words = [("data", Opening::Data), ("syn-and-data", Opening::SynAndData), ("syn", Opening::Syn)];
    word(deserializer, &words).map(Some)
}

fn recovery<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Recovery>, D::Error> {
    let words = [
        ("rational-remy13", Recovery::RationalRemy13),
        ("rational-tao14", Recovery::RationalTao14),
        ("go-back-n", Recovery::GoBackN),
        ("newreno", Recovery::NewReno),
        ("reno", Recovery::Reno),
        ("tcp-linux", Recovery::TcpLinux),
        ("proportional", Recovery::Proportional),
        ("rack", Recovery::Rack),
    ];
    word(deserializer, &words).map(Some)
}

fn rtt_samples<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RttSamples>, D::Error> {
    let words = [
        ("packets", RttSamples::Packets),
        ("echo", RttSamples::Echo),
        ("new-acks", RttSamples::NewAcks),
        ("timed", RttSamples::Timed),
    ];
    word(deserializer, &words).map(Some)
}

fn ms<'de, D: Deserializer<'de>>(deserializer: D, least: f64) -> Result<Option<Duration>, D::Error> {
    match f64::deserialize(deserializer)? {
        ms if (least..=MAX_MS).contains(&ms) => Ok(Some(Duration::from_ms(ms))),
        ms => Err(serde::de::Error::custom(format!("expected a time from {least} to {MAX_MS} ms, got {}", Shown(ms)))),
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    ms(deserializer, 0.0)
}

/// Polls without a pause would never let time go on.
fn poll<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    ms(deserializer, 0.1)
}

/// A timer that expires at once would never let time go on.
fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    ms(deserializer, 1.0)
}

fn whole<'de, D: Deserializer<'de>>(deserializer: D, what: &str, lo: u32, hi: u32) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        n if (lo..=hi).contains(&n) => Ok(n),
        n => Err(serde::de::Error::custom(format!("expected from {lo} to {hi} {what}, got {n}"))),
    }
}

fn initial_window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole(deserializer, "packets", 1, 10_000).map(Some)
}

/// What a window that is not scaled can say.
fn receive_window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole(deserializer, "bytes", 0, 65_535).map(Some)
}

/// As many as `design.world` has.
fn ack_packets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole(deserializer, "packets", 1, 64).map(Some)
}

fn quick_acks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole(deserializer, "ACKs", 0, 10_000).map(Some)
}

fn dup_threshold<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole(deserializer, "packets", 1, 10_000).map(Some)
}

fn ack_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    whole(deserializer, "bytes", 0, 65_535).map(|bytes| Some(bytes as u16))
}

fn packet_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    whole(deserializer, "bytes", 2 * u32::from(HEADER_BYTES), 65_535).map(|bytes| Some(bytes as u16))
}

#[cfg(test)]
mod tests {
    use exmachina_hosts::library::Library;

    use super::*;
    use crate::Evaluation;

    /// The transport of this scheme under these lines of `[transport]`, or what is wrong with them.
    fn settings(scheme: &str, lines: &str) -> Result<Settings, String> {
        let text = format!(
            "schemes = ['{scheme}']\n[link]\nrate_mbps = 1\n[path]\nrtt_ms = 1\n[senders]\ncount = 1\n\
             [workload]\non = 'forever'\n[transport]\n{lines}\n"
        );
        let evaluation = Evaluation::parse(&text, "x.toml").map_err(|error| error.to_string())?;
        let library = Library::default();
        let drawn = evaluation.world(0, 0, &library).expect("nothing to load");
        Ok(drawn.world.hosts[0].transport)
    }

    #[test]
    fn a_recovery_refuses_settings_of_what_it_has_not() {
        let told = |lines: &str| settings("newreno", lines).unwrap_err();
        for recovery in ["newreno", "reno", "tcp-linux", "rational-remy13", "rational-tao14"] {
            let error = told(&format!("recovery = '{recovery}'\npacing = true"));
            assert!(
                error.contains("12: transport.pacing: expected with recovery = \"rack\", \"proportional\""),
                "{error}"
            );
        }
        let error = told("rto_min_ms = 5\nrecovery = 'tcp-linux'");
        assert!(error.contains("11: transport.rto_min_ms: expected with recovery"), "{error}");
        let error = told("recovery = 'tcp-linux'\nclock_ms = 1");
        assert!(error.contains("12: transport.clock_ms: expected with another recovery: ns-2's agents"), "{error}");
        let error = told("recovery = 'rational-remy13'\ndelayed_ack_ms = 1");
        assert!(
            error.contains("12: transport.delayed_ack_ms: expected with another recovery: TCP/Rational"),
            "{error}"
        );
        let error = told("recovery = 'rational-tao14'\nopening = 'syn'");
        assert!(error.contains("12: transport.opening: expected with another recovery: this one"), "{error}");
        let error = told("recovery = 'go-back-n'\nadapts_to_reordering = true");
        assert!(error.contains("12: transport.adapts_to_reordering: expected with recovery = \"rack\""), "{error}");
    }

    #[test]
    fn receivers_acknowledge_every_so_many_packets() {
        let packets = |lines| settings("cubic", lines).map(|transport| transport.ack_packets);
        assert_eq!((packets(""), packets("ack_packets = 16")), (Ok(2), Ok(16)));
        let error = packets("ack_packets = 65").unwrap_err();
        assert!(error.contains("11: transport.ack_packets: expected from 1 to 64 packets, got 65"), "{error}");
    }

    #[test]
    fn settings_reach_the_parts_that_they_are_of() {
        let parts = |scheme, lines| settings(scheme, lines).unwrap().stack.modular();
        let gone_back = parts("cubic", "recovery = 'go-back-n'\ndup_threshold = 5").unwrap();
        assert_eq!(gone_back, Modular { repair: Repair::GoBackN { dup_threshold: 5 }, ..Modular::TODAY });
        let slow = parts("bbr3", "preset = 'tao14'\nrto_min_ms = 7\ndup_threshold = 4").unwrap();
        assert_eq!(slow.repair, Repair::Proportional(LossThreshold { packets: 4, adapts: false }));
        assert_eq!(
            slow.timer,
            TimerSettings { floor: RtoFloor::Timeout(Duration::from_millis(7)), ..TimerSettings::NS2 }
        );
        // Another scheme of the same file has the agent that ns-2 has for it, which knows no such thing.
        assert_eq!(parts("cubic", "preset = 'tao14'\nrto_min_ms = 7\ndup_threshold = 4"), None);
    }
}
