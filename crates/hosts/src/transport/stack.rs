//! Which sender: ns-2's agents, the papers' TCP/Rational, each with all that it does, or a stack of parts that are settings.

use exmachina_net::time::Duration;

/// The recoveries by name: how the sender learns of losses, and how much it sends while it repairs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// TCP/Rational of Remy'13's ns-2: Tahoe, with a window from rules (`rational_remy13.rs`).
    RationalRemy13,
    /// TCP/Rational of Tao'14's ns-2, a transport of its own (`rational_tao14.rs`).
    RationalTao14,
    /// ns-2's NewReno: duplicate ACKs only, window inflation, one repair per RTT (RFC 6582), go-back-N after a timeout
    /// (`ns2/tcp.rs`).
    NewReno,
    /// ns-2's own TCP with Reno's recovery, in which any ACK of new data ends it: that of XCP (`ns2/tcp.rs`).
    Reno,
    /// ns-2's TCP/Linux, of Linux 2.6.22 (`ns2/linux.rs`).
    TcpLinux,
    /// See [`Repair::GoBackN`].
    GoBackN,
    /// See [`Repair::Proportional`].
    Proportional,
    /// See [`Repair::Rack`].
    Rack,
}

impl Recovery {
    /// The stack that has it, with these parts where it is made of parts.
    #[must_use]
    pub const fn stack(self, parts: Modular) -> Stack {
        let threshold = parts.repair.threshold();
        let repair = match self {
            Recovery::RationalRemy13 => return Stack::RationalRemy13,
            Recovery::RationalTao14 => return Stack::RationalTao14,
            Recovery::NewReno => return Stack::NewReno,
            Recovery::Reno => return Stack::Reno,
            Recovery::TcpLinux => return Stack::TcpLinux,
            Recovery::GoBackN => Repair::GoBackN { dup_threshold: threshold.packets },
            Recovery::Proportional => Repair::Proportional(threshold),
            Recovery::Rack => Repair::Rack(threshold),
        };
        Stack::Modular(Modular { repair, ..parts })
    }

    /// Whether its stack is made of parts.
    #[must_use]
    pub const fn is_modular(self) -> bool {
        matches!(self, Recovery::GoBackN | Recovery::Proportional | Recovery::Rack)
    }
}

/// A sender. Those of ns-2 are as they are there: nothing of them is to be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stack {
    /// As [`Recovery::RationalRemy13`].
    RationalRemy13,
    /// As [`Recovery::RationalTao14`].
    RationalTao14,
    /// As [`Recovery::NewReno`].
    NewReno,
    /// As [`Recovery::Reno`].
    Reno,
    /// As [`Recovery::TcpLinux`].
    TcpLinux,
    /// Made of parts (`connection.rs`).
    Modular(Modular),
}

impl Stack {
    /// The name of its recovery.
    #[must_use]
    pub const fn recovery(&self) -> Recovery {
        match self {
            Stack::RationalRemy13 => Recovery::RationalRemy13,
            Stack::RationalTao14 => Recovery::RationalTao14,
            Stack::NewReno => Recovery::NewReno,
            Stack::Reno => Recovery::Reno,
            Stack::TcpLinux => Recovery::TcpLinux,
            Stack::Modular(Modular { repair: Repair::GoBackN { .. }, .. }) => Recovery::GoBackN,
            Stack::Modular(Modular { repair: Repair::Proportional(_), .. }) => Recovery::Proportional,
            Stack::Modular(Modular { repair: Repair::Rack(_), .. }) => Recovery::Rack,
        }
    }

    /// Its parts, if it is made of parts.
    #[must_use]
    pub const fn modular(self) -> Option<Modular> {
        match self {
            Stack::Modular(parts) => Some(parts),
            _ => None,
        }
    }
}

/// The parts of a modular stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modular {
    /// How losses are found and repaired.
    pub repair: Repair,
    /// The retransmission timer.
    pub timer: TimerSettings,
    /// Windows grow on every ACK, even if the application did not fill them (before RFC 7661).
    pub grows_unused_windows: bool,
    /// A window that was not used for longer than a timeout is halved for each timeout, down to the initial window
    /// (RFC 2861 §3; Linux: `tcp_slow_start_after_idle`). Only persistent connections live to see it.
    pub decays_when_idle: bool,
    /// Windows of schemes that have no pace are spread over an RTT, at the ratios of Linux. Kernels do so where the queueing
    /// discipline is fq; with the usual default, fq_codel, packets leave as ACKs let them.
    pub pacing: bool,
    /// Packets sent again may be marked instead of dropped (ns-2), which RFC 3168 §6.1.5 forbids.
    pub ect_on_repairs: bool,
}

impl Modular {
    /// As Linux 6 has it by default, see [`Settings::today`](super::Settings::today).
    pub const TODAY: Modular = Modular {
        repair: Repair::Rack(LossThreshold { packets: 3, adapts: true }),
        timer: TimerSettings::LINUX,
        grows_unused_windows: false,
        decays_when_idle: true,
        pacing: false,
        ect_on_repairs: false,
    };
}

/// How a modular stack finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Duplicate ACKs only; everything from the first gap on is sent again, what had arrived included (Tahoe).
    GoBackN {
        /// Duplicate ACKs that show a loss (RFC 5681 §3.2: 3).
        dup_threshold: u32,
    },
    /// SACK; a packet is lost when so many that were sent later have arrived (RFC 9002 §6.1.1); proportional rate reduction
    /// (RFC 9937).
    Proportional(LossThreshold),
    /// SACK; a packet is lost when one sent later has arrived and its time is over, and the last ones are probed for (RACK-TLP,
    /// RFC 8985); proportional rate reduction (RFC 9937); windows are restored where what was taken for lost was late (RFC 3522,
    /// 3708, 5682). Linux since 4.18.
    Rack(LossThreshold),
}

impl Repair {
    /// When it takes a packet for lost.
    #[must_use]
    pub const fn threshold(self) -> LossThreshold {
        match self {
            Repair::GoBackN { dup_threshold } => LossThreshold { packets: dup_threshold, adapts: false },
            Repair::Proportional(threshold) | Repair::Rack(threshold) => threshold,
        }
    }
}

/// When a packet is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossThreshold {
    /// Packets sent later that have arrived (DupThresh of RFC 6675: 3).
    pub packets: u32,
    /// The threshold, or the time that RACK waits, grows where packets turn out to be late, not lost.
    pub adapts: bool,
}

/// The retransmission timer of a modular stack (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerSettings {
    /// Its floor.
    pub floor: RtoFloor,
    /// Timeout before the first RTT sample (RFC 6298 §2.1).
    pub initial: Duration,
    /// The least part for the variation (RFC 6298 §2.3, G).
    pub granularity: Duration,
    /// Which RTTs set it.
    pub samples: RttSamples,
    /// It runs on when nothing is outstanding: expiring then, it sets the window to 1 and leaves ssthresh alone (ns-2). Only
    /// persistent connections live to see it.
    pub runs_when_idle: bool,
}

impl TimerSettings {
    /// As in ns-2.
    pub const NS2: TimerSettings = TimerSettings {
        floor: RtoFloor::Timeout(Duration::from_millis(200)),
        initial: Duration::from_secs(3),
        // ns-2's default tick.
        granularity: Duration::from_millis(10),
        samples: RttSamples::Echo,
        runs_when_idle: true,
    };
    /// As in Linux 6.
    pub const LINUX: TimerSettings = TimerSettings {
        floor: RtoFloor::Variation(Duration::from_millis(200)),
        initial: Duration::SECOND,
        granularity: Duration::from_millis(1),
        samples: RttSamples::Packets,
        runs_when_idle: false,
    };
}

/// Which RTTs set the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSamples {
    /// Of every ACK, that of the packet that it answers.
    Packets,
    /// Of every ACK, by the time stamp that it echoes: while something is missing, that of the last packet before the gap,
    /// so that the timeout grows with each ACK (RFC 7323 §4.3).
    Echo,
    /// Of every ACK of new data but those of a part of the window in fast recovery; only the ACK of a packet that is being
    /// timed ends backoff: ns-2's NewReno with time stamps.
    NewAcks,
    /// Of one packet at a time, never of one that was sent twice (RFC 6298 §3, Karn's rule).
    Timed,
}

/// What the floor of the retransmission timer applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The whole timeout (RFC 6298 §2.4, ns-2).
    Timeout(Duration),
    /// The part for the variation, which is added to the smoothed RTT, and estimated as Linux does.
    Variation(Duration),
}
