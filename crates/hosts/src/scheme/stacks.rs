//! What a scheme runs over and under: the queue that it is made for, and the transport that ns-2 has for it.

use exmachina_net::queue::{QueueKind, StepSettings, XcpSettings};
use exmachina_net::time::Duration;

use super::SchemeName;
use crate::transport::{Modular, Opening, Preset, Recovery, RttSamples, Settings, TimerSettings};

impl SchemeName {
    /// The queue that it is made for, where that is not drop-tail.
    #[must_use]
    pub fn queue(&self) -> Option<QueueKind> {
        match self {
            SchemeName::Dctcp => Some(QueueKind::Step(StepSettings::default())),
            SchemeName::Xcp => Some(QueueKind::Xcp(XcpSettings::default())),
            _ => None,
        }
    }

    /// Whether ns-2 runs it in its agent for Linux's modules (`TCP/Linux`).
    fn is_linux_module(&self) -> bool {
        use SchemeName::{Compound, Cubic, CubicLinux, CubicLinux2622, RenoLinux, Vegas};
        matches!(self, RenoLinux | Cubic | CubicLinux | CubicLinux2622 | Compound | Vegas)
    }

    /// The transport under it: ns-2 has several, by scheme.
    #[must_use]
    pub fn transport(&self, preset: Preset) -> Settings {
        let mut settings = preset.settings();
        if !preset.is_ns2() {
            return settings;
        }
        // delay_growth_ is off in agents for Linux's modules.
        if settings.opening == Opening::Syn && self.is_linux_module() {
            settings.opening = Opening::SynAndData;
        }
        // RemyCCs of Tao'14 read exact times; the memory of those of Remy'13 works in whole ms.
        if let SchemeName::Table(_) = self {
            settings.clock = if preset == Preset::Tao14 { Duration::ZERO } else { Duration::from_millis(1) };
        }
        match self.ns2_agent(preset) {
            Some(agent) => settings.with_recovery(agent),
            None => settings,
        }
    }

    /// The agent that it ran in, in the ns-2 of a paper: `Agent/TCP/Newreno`, `Agent/TCP/Vegas`, `Agent/TCP/Reno/XCP`,
    /// `Agent/TCP/Linux`, `Agent/TCP/Rational`. There is none for what is younger.
    fn ns2_agent(&self, preset: Preset) -> Option<Recovery> {
        match self {
            SchemeName::NewReno | SchemeName::VegasNs2 => Some(Recovery::NewReno),
            SchemeName::Xcp => Some(Recovery::Reno),
            SchemeName::Table(_) if preset == Preset::Tao14 => Some(Recovery::RationalTao14),
            SchemeName::Table(_) => Some(Recovery::RationalRemy13),
            module if module.is_linux_module() => Some(Recovery::TcpLinux),
            _ => None,
        }
    }

    /// The parts of the stack that a preset has where it is made of parts, under this scheme.
    #[must_use]
    pub fn parts(&self, preset: Preset) -> Modular {
        let parts = preset.settings().stack.modular().unwrap_or(Modular::TODAY);
        match self {
            // They read the RTTs of packets.
            SchemeName::Table(_) if preset == Preset::Tao14 => {
                Modular { timer: TimerSettings { samples: RttSamples::Packets, ..parts.timer }, ..parts }
            }
            _ => parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ns2_has_an_agent_for_each_family() {
        let recovery = |name, preset| SchemeName::parse(name).unwrap().transport(preset).recovery();
        assert_eq!(recovery("newreno", Preset::Tao14), Recovery::NewReno);
        assert_eq!(recovery("x.dna", Preset::Tao14), Recovery::RationalTao14);
        assert_eq!(recovery("cubic", Preset::Tao14), Recovery::TcpLinux);
        assert_eq!(recovery("newreno", Preset::Today), Recovery::Rack);
    }
}
