//! What real stacks differ in, as settings with presets. What only one stack knows is in that stack's variant of [`Stack`].

use exmachina_net::time::Duration;

use super::stack::{LossThreshold, Modular, Recovery, Repair, Stack, TimerSettings};

/// Bytes of the headers of IP and TCP, without options; those of an ACK.
pub const HEADER_BYTES: u16 = 40;
/// The same with the time stamp of ns-2's agents.
const NS2_HEADER_BYTES: u16 = HEADER_BYTES + 10;

/// Whether each on-period opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// Each on-period is a new connection, with all state at its beginning (Remy'13 §5.1).
    Fresh,
    /// One connection for the whole run; an on-period only adds data to send, as in the papers' ns-2 scripts.
    Persistent,
}

/// What a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Data.
    Data,
    /// A SYN: a packet of headers only. Data follow at once, as far as the initial window goes, of which it is part (ns-2's
    /// agents of Linux).
    SynAndData,
    /// A SYN, and nothing more until its ACK is there; then the initial window (ns-2's own agents).
    Syn,
}

/// Whose transport it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// That of Remy'13's ns-2 scripts.
    Remy13,
    /// That of Tao'14's, which are younger.
    Tao14,
    /// That of today's stacks.
    #[default]
    Today,
}

impl Preset {
    /// Its settings.
    #[must_use]
    pub const fn settings(self) -> Settings {
        match self {
            Preset::Remy13 => Settings::remy13(),
            Preset::Tao14 => Settings::tao14(),
            Preset::Today => Settings::today(),
        }
    }

    /// Whether it is one of the authors' ns-2.
    #[must_use]
    pub const fn is_ns2(self) -> bool {
        matches!(self, Preset::Remy13 | Preset::Tao14)
    }
}

/// Settings of the transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Fresh or persistent connections.
    pub connections: Connections,
    /// What a connection begins with.
    pub opening: Opening,
    /// Initial window, packets (RFC 6928: 10).
    pub initial_window: u32,
    /// What receivers announce until data have come, bytes of data: the window in a SYN is not scaled (RFC 7323 §2.2), and nobody
    /// takes more than 65535 in a connection's first RTT. 0: they take everything.
    pub first_receive_window: u32,
    /// An ACK waits so long for more packets, at most; 0: every packet is acknowledged at once (RFC 1122).
    pub delayed_ack: Duration,
    /// How many packets one ACK answers where it does: two (RFC 5681), or more behind offload, or a link that thins ACKs out.
    pub ack_packets: u32,
    /// So many ACKs of a connection are not delayed, nor so many after a packet that came twice (Linux: 16).
    pub quick_acks: u32,
    /// Resolution of RTT samples; 0: exact.
    pub clock: Duration,
    /// The sender, with what it alone knows.
    pub stack: Stack,
    /// A sender is looked at so often while it is on, and its transfer ends when that sees it; 0: at its last ACK.
    pub poll: Duration,
    /// Bytes of a data packet on the wire.
    pub packet_bytes: u16,
    /// How many of them are headers.
    pub header_bytes: u16,
    /// Bytes of an ACK, which takes their time on each constant-rate link of the route on its way back, and never waits;
    /// 0: it takes no time. Short as it is, it matters: it sets at which moment between two departures from a full queue
    /// the packets that ACKs let go arrive, and so whose packets find no room (docs/validation.md).
    pub ack_bytes: u16,
}

impl Settings {
    /// Packets that receivers take before data have come, where they do not take everything.
    #[must_use]
    pub fn first_flight(&self) -> u32 {
        (self.first_receive_window / u32::from(self.packet_bytes.saturating_sub(self.header_bytes)).max(1)).max(1)
    }

    /// As Remy'13's ns-2 scripts have it (ns-2.35, `tcl/ex/congctrl`).
    #[must_use]
    pub const fn remy13() -> Settings {
        Settings {
            opening: Opening::Syn,
            poll: Duration::from_millis(5),
            packet_bytes: 1210 + NS2_HEADER_BYTES,
            ..Settings::tao14()
        }
    }

    /// As Tao'14's ns-2 scripts have it (ns-2.35, `tcl/ex/decomposability`).
    #[must_use]
    pub const fn tao14() -> Settings {
        Settings {
            connections: Connections::Persistent,
            opening: Opening::Data,
            initial_window: 2,
            first_receive_window: 0,
            delayed_ack: Duration::ZERO,
            ack_packets: 2,
            quick_acks: 0,
            clock: Duration::from_nanos(100_000),
            stack: Stack::Modular(Modular {
                repair: Repair::Proportional(LossThreshold { packets: 3, adapts: false }),
                timer: TimerSettings::NS2,
                grows_unused_windows: true,
                decays_when_idle: false,
                pacing: false,
                ect_on_repairs: true,
            }),
            poll: Duration::ZERO,
            packet_bytes: 1200 + NS2_HEADER_BYTES,
            header_bytes: NS2_HEADER_BYTES,
            ack_bytes: HEADER_BYTES,
        }
    }

    /// As Linux 6 has it by default, between hosts whose queueing discipline does not pace (fq_codel).
    #[must_use]
    pub const fn today() -> Settings {
        Settings {
            connections: Connections::Fresh,
            opening: Opening::Data,
            initial_window: 10,
            first_receive_window: 65_535,
            delayed_ack: Duration::from_millis(40),
            ack_packets: 2,
            quick_acks: 16,
            clock: Duration::ZERO,
            stack: Stack::Modular(Modular::TODAY),
            poll: Duration::ZERO,
            packet_bytes: 1250,
            header_bytes: HEADER_BYTES,
            ack_bytes: 0,
        }
    }

    /// The name of its recovery.
    #[must_use]
    pub const fn recovery(&self) -> Recovery {
        self.stack.recovery()
    }

    /// The same with the recovery of this name. A modular stack keeps its other parts; one that takes the place of another
    /// stack has today's.
    #[must_use]
    pub fn with_recovery(self, recovery: Recovery) -> Settings {
        let parts = self.stack.modular().unwrap_or(Modular::TODAY);
        Settings { stack: recovery.stack(parts), ..self }
    }

    /// The same with parts of its modular stack changed.
    ///
    /// # Panics
    /// If it is a stack without parts.
    #[must_use]
    pub fn with_parts(mut self, change: impl FnOnce(&mut Modular)) -> Settings {
        let Stack::Modular(parts) = &mut self.stack else { panic!("{:?} has no parts", self.stack) };
        change(parts);
        self
    }
}
