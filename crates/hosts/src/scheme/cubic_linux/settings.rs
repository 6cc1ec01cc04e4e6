//! Which of Linux's Cubics: kernel by kernel.

/// 1 packet per ACK in the estimate of delayed ACKs (ACK_RATIO_SHIFT = 4).
pub(super) const ACK_RATIO: u32 = 16;

/// ACKs per packet of growth while no loss has been seen since the start or the last timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// This many (2.6.22: 50).
    Fixed(u32),
    /// This many at most (2.6.29 and later: 20, that is 5 % per RTT).
    AtMost(u32),
    /// As the curve says.
    Curve,
}

/// Which of Linux's Cubics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxCubicSettings {
    /// Window at the start of a connection, packets.
    pub initial_window: u32,
    /// Window after a timeout that found nothing outstanding, packets (ns-2's Linux agent: the initial window).
    pub idle_window: u32,
    /// What is left after a loss, in 1024ths: 819 (0.8) before 2.6.25, 717 (0.7) since.
    pub beta: u32,
    /// C in 1024ths of a packet/s^3 (`bic_scale` times 10): 410 (0.4).
    pub c: u32,
    /// A flow that did not come back to its last window makes room for others.
    pub fast_convergence: bool,
    /// Never slower than Reno with the same beta.
    pub tcp_friendliness: bool,
    /// Most packets of growth per 100 ms beyond the plateau; 0: no limit (2.6.25 and later).
    pub max_increment: u32,
    /// Growth before the first loss.
    pub unknown: Unknown,
    /// The first estimate of packets per ACK, in sixteenths: 32.
    pub delayed_ack: u32,
    /// A timeout wipes out all that was learnt.
    pub forgets_on_rto: bool,
    /// Leave slow start before a loss (2.6.29 and later have it on).
    pub hystart: bool,
    /// Its packets may be marked; a mark counts as a loss (RFC 3168 §6.1.2).
    pub ecn: bool,
}

impl LinuxCubicSettings {
    /// Linux 2.6.22, which ns-2.35 carries: the Cubic of the two papers.
    #[must_use]
    pub fn linux_2_6_22() -> LinuxCubicSettings {
        LinuxCubicSettings {
            initial_window: 2,
            idle_window: 2,
            beta: 819,
            c: 410,
            fast_convergence: true,
            tcp_friendliness: true,
            max_increment: 16,
            unknown: Unknown::Fixed(50),
            delayed_ack: 2 * ACK_RATIO,
            forgets_on_rto: true,
            hystart: false,
            ecn: false,
        }
    }

    /// Linux 2.6.3x, without HyStart.
    #[must_use]
    pub fn linux_2_6() -> LinuxCubicSettings {
        LinuxCubicSettings {
            beta: 717,
            max_increment: 0,
            unknown: Unknown::AtMost(20),
            ..LinuxCubicSettings::linux_2_6_22()
        }
    }
}

impl Default for LinuxCubicSettings {
    fn default() -> Self {
        LinuxCubicSettings::linux_2_6_22()
    }
}
