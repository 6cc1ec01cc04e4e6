//! What real stacks differ in, as settings with presets.

use super::linux_rtt::LinuxVariation;
use exmachina_net::time::{NEVER, SECOND, Time};

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

/// How the sender learns of losses, and how much it sends while it repairs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// TCP/Rational of Remy'13's ns-2: Tahoe, with a window from rules (`rational_remy13.rs`).
    RationalRemy13,
    /// TCP/Rational of Tao'14's ns-2, a transport of its own (`rational_tao14.rs`).
    RationalTao14,
    /// Duplicate ACKs only; everything from the first gap on is sent again, what had arrived included (Tahoe).
    GoBackN,
    /// Duplicate ACKs only, window inflation, one repair per RTT (RFC 6582), go-back-N after a timeout: ns-2's NewReno.
    NewReno,
    /// ns-2's TCP/Linux, of Linux 2.6.22 (`ns2/linux.rs`).
    TcpLinux,
    /// ns-2's own TCP with Reno's recovery, in which any ACK of new data ends it: that of XCP (`ns2/tcp.rs`).
    Reno,
    /// SACK; a packet is lost when one sent three transmissions later has arrived (RFC 9002 §6.1.1); proportional rate
    /// reduction (RFC 9937).
    Proportional,
    /// SACK; a packet is lost when one sent later has arrived and its time is over, and the last ones are probed for (RACK-TLP,
    /// RFC 8985); proportional rate reduction (RFC 9937); windows are restored where what was taken for lost was late (RFC 3522,
    /// 3708, 5682). Linux since 4.18.
    Rack,
}

impl Recovery {
    /// Whether losses are looked for by order of transmission.
    #[must_use]
    pub fn looks_by_order(self) -> bool {
        matches!(self, Recovery::Proportional | Recovery::Rack)
    }
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
    Timeout(Time),
    /// The part for the variation, which is added to the smoothed RTT, and estimated as Linux does.
    Variation(Time),
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
    /// The receiver acknowledges every second packet, or one after this time; 0: every packet at once (RFC 1122).
    pub delayed_ack: Time,
    /// So many ACKs of a connection are not delayed, nor so many after a packet that came twice (Linux: 16).
    pub quick_acks: u32,
    /// Floor of the retransmission timer.
    pub rto_floor: RtoFloor,
    /// Timeout before the first RTT sample (RFC 6298 §2.1).
    pub rto_initial: Time,
    /// Granularity of the retransmission timer: the least part for the variation (RFC 6298 §2.3, G).
    pub rto_granularity: Time,
    /// Which RTTs set the retransmission timer.
    pub rtt_samples: RttSamples,
    /// Resolution of RTT samples; 0: exact.
    pub clock: Time,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Packets sent later that must have arrived before one is taken for lost (RFC 5681 §3.2: 3).
    pub dup_threshold: u32,
    /// The threshold, or the time that RACK waits, grows where packets turn out to be late, not lost.
    pub adapts_to_reordering: bool,
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
    /// The retransmission timer runs on when nothing is outstanding: expiring then, it sets the window to 1 and leaves
    /// ssthresh alone (ns-2). Only persistent connections live to see it.
    pub idle_timer: bool,
    /// A sender is looked at so often while it is on, and its transfer ends when that sees it; 0: at its last ACK.
    pub poll: Time,
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
    /// As Remy'13's ns-2 scripts have it (ns-2.35, `tcl/ex/congctrl`).
    #[must_use]
    pub const fn remy13() -> Settings {
        Settings { opening: Opening::Syn, poll: 5_000_000, packet_bytes: 1210 + NS2_HEADER_BYTES, ..Settings::tao14() }
    }

    /// As Tao'14's ns-2 scripts have it (ns-2.35, `tcl/ex/decomposability`).
    #[must_use]
    pub const fn tao14() -> Settings {
        Settings {
            connections: Connections::Persistent,
            opening: Opening::Data,
            initial_window: 2,
            delayed_ack: 0,
            quick_acks: 0,
            rto_floor: RtoFloor::Timeout(SECOND / 5),
            rto_initial: 3 * SECOND,
            // ns-2's default tick.
            rto_granularity: 10_000_000,
            rtt_samples: RttSamples::Echo,
            clock: 100_000,
            recovery: Recovery::Proportional,
            dup_threshold: 3,
            adapts_to_reordering: false,
            grows_unused_windows: true,
            decays_when_idle: false,
            pacing: false,
            ect_on_repairs: true,
            idle_timer: true,
            poll: 0,
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
            delayed_ack: 40_000_000,
            quick_acks: 16,
            rto_floor: RtoFloor::Variation(SECOND / 5),
            rto_initial: SECOND,
            rto_granularity: 1_000_000,
            rtt_samples: RttSamples::Packets,
            clock: 0,
            recovery: Recovery::Rack,
            dup_threshold: 3,
            adapts_to_reordering: true,
            grows_unused_windows: false,
            decays_when_idle: true,
            pacing: false,
            ect_on_repairs: false,
            idle_timer: false,
            poll: 0,
            packet_bytes: 1250,
            header_bytes: HEADER_BYTES,
            ack_bytes: 0,
        }
    }
}

/// Estimates of the RTT and the retransmission timeout that follows from them (RFC 6298).
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    /// Smoothed RTT; 0 before the first sample.
    pub srtt: Time,
    variation: Time,
    /// The variation as Linux estimates it, if it does.
    linux: LinuxVariation,
    /// Smallest sample.
    pub min: Time,
    /// The latest sample; 0 before the first.
    pub latest: Time,
    /// Doubled at each timeout (RFC 6298 §5.5).
    backoff: u64,
}

/// Timeouts are doubled at most this many times over (RFC 6298 §5.7 allows a maximum; ns-2 has this one).
const MAX_BACKOFF: u64 = 64;
/// No timeout is longer (RFC 6298 §2.5).
const MAX_RTO: Time = 60 * SECOND;

impl Default for RttEstimator {
    fn default() -> Self {
        RttEstimator { srtt: 0, variation: 0, linux: LinuxVariation::default(), min: NEVER, latest: 0, backoff: 1 }
    }
}

impl RttEstimator {
    /// Takes in a sample.
    pub fn sample(&mut self, rtt: Time) {
        let rtt = rtt.max(1);
        self.variation = if self.srtt == 0 {
            // RFC 6298 §2.2.
            rtt / 2
        } else {
            // RFC 6298 §2.3, with a gain of 1/4.
            (3 * self.variation + self.srtt.abs_diff(rtt)) / 4
        };
        self.smooth(rtt);
    }

    /// Takes in a sample as Linux does, with this floor of the variation, once packets before `una` are acknowledged; `next` is
    /// the next new one.
    pub fn sample_as_linux(&mut self, rtt: Time, floor: Time, una: u32, next: u32) {
        let rtt = rtt.max(1);
        if self.srtt == 0 {
            self.linux = LinuxVariation::first(rtt, floor, next);
        } else {
            self.linux.sample(rtt, self.srtt, floor, una, next);
        }
        self.smooth(rtt);
    }

    /// RFC 6298 §2.3, with a gain of 1/8.
    fn smooth(&mut self, rtt: Time) {
        self.min = self.min.min(rtt);
        self.latest = rtt;
        self.srtt = if self.srtt == 0 { rtt } else { (7 * self.srtt + rtt) / 8 };
    }

    /// The retransmission timeout, backoff included.
    #[must_use]
    pub fn rto(&self, settings: &Settings) -> Time {
        let variation = (4 * self.variation).max(settings.rto_granularity);
        let rto = match (self.srtt, settings.rto_floor) {
            (0, _) => settings.rto_initial,
            (srtt, RtoFloor::Timeout(floor)) => (srtt + variation).max(floor),
            (srtt, RtoFloor::Variation(_)) => srtt + self.linux.used(),
        };
        rto.saturating_mul(self.backoff).min(MAX_RTO)
    }

    /// A packet came back that was sent since the timer expired.
    pub fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = 1_000_000;

    #[test]
    fn rfc_6298_by_hand() {
        let settings = Settings { rto_floor: RtoFloor::Timeout(1), ..Settings::tao14() };
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto(&settings), 3 * SECOND);
        rtt.sample(100 * MS);
        assert_eq!(rtt.rto(&settings), 300 * MS);
        rtt.sample(180 * MS);
        // Variation 3/4 * 50 + 1/4 * 80 = 57.5; smoothed 7/8 * 100 + 1/8 * 180 = 110.
        assert_eq!((rtt.srtt, rtt.rto(&settings)), (110 * MS, 340 * MS));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(&settings), 4 * 340 * MS);
        rtt.sample(110 * MS);
        assert!(rtt.rto(&settings) > 3 * 340 * MS);
        rtt.end_backoff();
        assert!(rtt.rto(&settings) < 340 * MS && (rtt.min, rtt.latest) == (100 * MS, 110 * MS));
        (0..20).for_each(|_| rtt.back_off());
        assert!(rtt.rto(&settings) <= MAX_RTO);
    }

    #[test]
    fn floors() {
        let mut rtt = RttEstimator::default();
        (0..200).for_each(|_| rtt.sample(150 * MS));
        assert_eq!(rtt.rto(&Settings::tao14()), 200 * MS);
        let mut rtt = RttEstimator::default();
        (0..200).for_each(|n| rtt.sample_as_linux(150 * MS, 200 * MS, n, n + 1));
        // The variation comes near its floor by quarters, in whole ns.
        assert!((350 * MS..350 * MS + 4).contains(&rtt.rto(&Settings::today())));
    }
}
