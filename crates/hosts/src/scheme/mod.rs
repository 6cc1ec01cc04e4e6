//! Congestion-control schemes: told of ACKs, losses, ECN marks and timeouts, asked for a window and a pace.
//!
//! A scheme decides how much may be in flight and how fast it leaves. What was lost and what is sent again is the
//! transport's business (`transport/`), the same for all schemes. Windows are in packets.
//!
//! The sender of the design simulator (`sender.rs`) fills in what it knows of an [`Ack`]; the transport fills in all.

mod aimd;
mod bbr1;
mod bbr3;
mod compound;
mod compound_linux;
mod constant;
mod copa;
mod cubic;
mod cubic_linux;
mod dctcp;
#[cfg(test)]
mod driver;
mod filter;
mod hystart;
mod hystart_plus_plus;
mod idle;
mod ledbat;
mod linux;
#[cfg(test)]
mod loopback;
mod names;
mod newreno;
mod remy;
mod rounds;
mod rounds_linux;
mod vegas;
mod vegas_linux;
mod vegas_ns2;
mod xcp;

pub use aimd::Aimd;
pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use compound::{Compound, CompoundSettings};
pub use compound_linux::LinuxCompound;
pub use constant::{ConstantRate, ConstantWindow};
pub use copa::Copa;
pub use cubic::{Cubic, CubicSettings};
pub use cubic_linux::{LinuxCubic, LinuxCubicSettings, Unknown};
pub use dctcp::Dctcp;
pub use ledbat::Ledbat;
pub use names::{SchemeName, Surroundings, is_table_file};
pub use newreno::{Basis, NewReno, NewRenoSettings};
pub use remy::Remy;
pub use vegas::{Vegas, VegasEra, VegasSettings};
pub use vegas_linux::LinuxVegas;
pub use vegas_ns2::{VegasNs2, VegasNs2Settings};
pub use xcp::Xcp;

use exmachina_net::time::Time;

/// What a delivery-rate sample says (draft-ietf-ccwg-bbr §4.1): packets delivered over the time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Packets delivered between the sending of the newest packet acknowledged and its ACK.
    pub delivered: u32,
    /// The time that took: the longer of the time to send them and the time to acknowledge them; 0: no sample.
    pub interval: Time,
    /// Packets delivered on this connection when that newest packet was sent.
    pub prior_delivered: u64,
    /// The sender had nothing to send at some time of it.
    pub app_limited: bool,
    /// Packets in flight when the newest packet acknowledged was sent.
    pub tx_in_flight: u32,
    /// Packets of this connection declared lost since that packet was sent.
    pub lost: u32,
}

/// An ACK, as a scheme sees it. Times are read off the sender's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When the packet that it echoes was sent.
    pub sent: Time,
    /// When it came.
    pub received: Time,
    /// How often the clock ticks that these were read off; no RTT is less than a tick (0: it is exact).
    pub tick: Time,
    /// Number of the packet in the sender's stream.
    pub seq: u32,
    /// Number of the next new packet to be sent.
    pub next_seq: u32,
    /// Packets from the largest ACK so far to this one: 1 where nothing was lost. 0: a packet below the largest.
    pub advance: u32,
    /// Packets newly acknowledged by it, cumulatively (0 for a duplicate ACK).
    pub acked: u32,
    /// Packets that it tells to have arrived and that were not known to, in order or not.
    pub newly_delivered: u32,
    /// As many, where receivers acknowledge several packets together; else 0, whatever a repair makes it tell: the papers'
    /// algorithms take each ACK for one packet.
    pub stretch: u32,
    /// Packets delivered on this connection, these included.
    pub delivered: u64,
    /// Packets in flight after it: sent, not acknowledged, not selectively acknowledged, not lost.
    pub in_flight: u32,
    /// The RTT that it shows; 0 where it shows none (a packet that was sent twice, without timestamps).
    pub rtt: Time,
    /// The smallest RTT of this connection so far.
    pub min_rtt: Time,
    /// Smoothed RTT (RFC 6298), this one included.
    pub srtt: Time,
    /// Losses are being repaired: no window growth is due to such an ACK.
    pub in_recovery: bool,
    /// What was outstanding at a timeout is being repaired.
    pub in_loss: bool,
    /// The window, not the application, is what held the sender back; growth is due to such ACKs only (RFC 7661 §4.1).
    pub window_limited: bool,
    /// Packets among those newly acknowledged that arrived with an ECN mark (as RFC 8257 §3.2 tells a sender).
    pub marked: u32,
    /// Packets declared lost on this ACK.
    pub lost: u32,
    /// The delivery rate.
    pub rate: RateSample,
    /// Change of the window that XCP's routers allow, packets.
    pub xcp_feedback: f64,
}

/// What a scheme is told when the network signals congestion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Congestion {
    /// The present instant.
    pub now: Time,
    /// Packets in flight (for a loss: those declared lost are not).
    pub in_flight: u32,
    /// Packets sent and not acknowledged cumulatively, lost ones included.
    pub outstanding: u32,
    /// Number of the next new packet to be sent.
    pub next_seq: u32,
    /// The packet that was lost or marked; for a timeout the oldest outstanding one.
    pub seq: u32,
    /// Packets declared lost by it.
    pub lost: u32,
    /// A timeout of a sender that had nothing outstanding: the timer of persistent connections in ns-2 runs on.
    pub idle: bool,
}

/// A congestion-control scheme.
pub trait Scheme: Clone {
    /// A connection is opened at `now`: forget everything.
    fn start(&mut self, now: Time);
    /// Another on-period begins on an open connection, whose last packet was sent `idle` ago.
    fn resume(&mut self, _now: Time, _idle: Time) {}
    /// An ACK of the present connection arrives.
    fn on_ack(&mut self, ack: &Ack);
    /// Packets were lost: called once per window (on entering recovery), before `on_ack` of the same ACK.
    fn on_loss(&mut self, _loss: &Congestion) {}
    /// Sets its window, and what it has averaged, elsewhere: to these multiples. Of designs; others know no such thing.
    fn upset(&mut self, _window: f64, _averages: f64) {}
    /// ns-2's TCP sets the window to 1, for a loss or a timeout, where rules set it otherwise.
    fn collapse(&mut self) {}
    /// The receiver echoes an ECN mark: called once per window (RFC 3168 §6.1.2), before `on_ack` of the same ACK.
    fn on_ecn(&mut self, _mark: &Congestion) {}
    /// The retransmission timer expired (RFC 5681 §3.1).
    fn on_rto(&mut self, _timeout: &Congestion) {}
    /// Everything that was lost has been repaired. `limit`: the window that a transport allows at once that leaves the way
    /// back to the threshold to the scheme (ns-2's TCP/Linux).
    fn on_recovered(&mut self, _now: Time, _limit: Option<u32>) {}
    /// A part of the window that was lost has been repaired, and it deflates by so many packets (RFC 6582 §3.2, step 5).
    fn on_partial_ack(&mut self, _deflate: u32) {}
    /// Losses are about to lower the window, and that may prove an error: what [`Scheme::on_spurious`] restores is to be kept.
    fn keep(&mut self) {}
    /// What was taken for lost was late (RFC 4015; RFC 9438 §4.9): the window is to be again what it was at
    /// [`Scheme::keep`], if it is not larger.
    fn on_spurious(&mut self, _now: Time) {}
    /// The connection was idle for so many timeouts and part of one more (RFC 2861 §3): the window is halved for each, but not
    /// below the initial one.
    fn after_idle(&mut self, _timeouts: u32, _initial_window: u32) {}
    /// Packets that may be in flight.
    fn window(&self) -> u32;
    /// Least time between two sends.
    fn intersend(&self) -> Time;
    /// An ACK of a packet of an earlier on-period arrived, and it starts anew with each.
    fn on_stale_ack(&mut self) {}
    /// It starts anew with each on-period, and is not told of ACKs of packets of an earlier one.
    fn forgets(&self) -> bool {
        false
    }
    /// Slow-start threshold in packets, for time plots; NaN where the scheme has none.
    fn ssthresh(&self) -> f64 {
        f64::NAN
    }
    /// Its packets may be marked instead of dropped.
    fn ecn_capable(&self) -> bool {
        false
    }
    /// What it does in recovery is its own: the transport does not lower the window for it (BBR, Remy).
    fn owns_recovery(&self) -> bool {
        false
    }
    /// Its packets carry an [`XcpHeader`](exmachina_net::packet::XcpHeader), which the transport fills in.
    fn xcp(&self) -> bool {
        false
    }
}

/// A scheme that is not compiled in: a researcher's own, in Python for one.
pub trait OwnScheme: Send {
    /// As in [`Scheme`].
    fn start(&mut self, now: Time);
    /// As in [`Scheme`].
    fn resume(&mut self, now: Time, idle: Time);
    /// As in [`Scheme`].
    fn on_ack(&mut self, ack: &Ack);
    /// As in [`Scheme`].
    fn on_loss(&mut self, loss: &Congestion);
    /// As in [`Scheme`].
    fn on_ecn(&mut self, mark: &Congestion);
    /// As in [`Scheme`].
    fn on_rto(&mut self, timeout: &Congestion);
    /// As in [`Scheme`].
    fn window(&self) -> u32;
    /// As in [`Scheme`].
    fn intersend(&self) -> Time;
    /// A copy in the same state.
    fn copy(&self) -> Box<dyn OwnScheme>;
}

/// An [`OwnScheme`] as a [`Scheme`].
pub struct Own(pub Box<dyn OwnScheme>);

impl Clone for Own {
    fn clone(&self) -> Self {
        Own(self.0.copy())
    }
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own")
    }
}

impl Scheme for Own {
    fn start(&mut self, now: Time) {
        self.0.start(now);
    }

    fn resume(&mut self, now: Time, idle: Time) {
        self.0.resume(now, idle);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Congestion) {
        self.0.on_loss(loss);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.0.on_ecn(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        self.0.on_rto(timeout);
    }

    fn window(&self) -> u32 {
        self.0.window()
    }

    fn intersend(&self) -> Time {
        self.0.intersend()
    }
}

/// An enum over schemes, for networks in which they mix, dispatched without pointers.
macro_rules! any_scheme {
    ($(#[$of:meta])* $any:ident { $($(#[$doc:meta])* $name:ident($scheme:ty),)* }) => {
        $(#[$of])*
        #[derive(Clone, Debug)]
        pub enum $any<'t> {
            $($(#[$doc])* $name($scheme),)*
        }

        impl Scheme for $any<'_> {
            #[inline]
            fn start(&mut self, now: Time) {
                match self { $($any::$name(s) => s.start(now),)* }
            }

            fn resume(&mut self, now: Time, idle: Time) {
                match self { $($any::$name(s) => s.resume(now, idle),)* }
            }

            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                match self { $($any::$name(s) => s.on_ack(ack),)* }
            }

            #[inline]
            fn on_loss(&mut self, loss: &Congestion) {
                match self { $($any::$name(s) => s.on_loss(loss),)* }
            }

            fn upset(&mut self, window: f64, averages: f64) {
                match self { $($any::$name(s) => s.upset(window, averages),)* }
            }

            fn collapse(&mut self) {
                match self { $($any::$name(s) => s.collapse(),)* }
            }

            fn on_ecn(&mut self, mark: &Congestion) {
                match self { $($any::$name(s) => s.on_ecn(mark),)* }
            }

            fn on_rto(&mut self, timeout: &Congestion) {
                match self { $($any::$name(s) => s.on_rto(timeout),)* }
            }

            fn on_recovered(&mut self, now: Time, limit: Option<u32>) {
                match self { $($any::$name(s) => s.on_recovered(now, limit),)* }
            }

            fn on_partial_ack(&mut self, deflate: u32) {
                match self { $($any::$name(s) => s.on_partial_ack(deflate),)* }
            }

            fn keep(&mut self) {
                match self { $($any::$name(s) => s.keep(),)* }
            }

            fn on_spurious(&mut self, now: Time) {
                match self { $($any::$name(s) => s.on_spurious(now),)* }
            }

            fn after_idle(&mut self, timeouts: u32, initial_window: u32) {
                match self { $($any::$name(s) => s.after_idle(timeouts, initial_window),)* }
            }

            #[inline]
            fn window(&self) -> u32 {
                match self { $($any::$name(s) => s.window(),)* }
            }

            #[inline]
            fn intersend(&self) -> Time {
                match self { $($any::$name(s) => s.intersend(),)* }
            }

            fn ssthresh(&self) -> f64 {
                match self { $($any::$name(s) => s.ssthresh(),)* }
            }

            fn ecn_capable(&self) -> bool {
                match self { $($any::$name(s) => s.ecn_capable(),)* }
            }

            fn on_stale_ack(&mut self) {
                match self { $($any::$name(s) => s.on_stale_ack(),)* }
            }

            fn forgets(&self) -> bool {
                match self { $($any::$name(s) => s.forgets(),)* }
            }

            fn owns_recovery(&self) -> bool {
                match self { $($any::$name(s) => s.owns_recovery(),)* }
            }

            fn xcp(&self) -> bool {
                match self { $($any::$name(s) => s.xcp(),)* }
            }
        }
    };
}

any_scheme! {
    /// Any of the schemes.
    AnyScheme {
        /// A rule table.
        Remy(Remy<'t>),
        /// The AIMD sender of Tao'14.
        Aimd(Aimd),
        /// NewReno, of RFCs 5681 and 6582, ns-2 or Linux.
        NewReno(NewReno),
        /// Cubic by RFC 9438.
        Cubic(Cubic),
        /// Cubic as Linux 2.6 and ns-2 ran it.
        LinuxCubic(LinuxCubic),
        /// Compound.
        Compound(Compound),
        /// Compound as Linux 2.6.22 and ns-2 ran it.
        LinuxCompound(LinuxCompound),
        /// Vegas as Linux has it.
        Vegas(Vegas),
        /// Vegas as Linux 2.6.22 and ns-2 ran it.
        LinuxVegas(LinuxVegas),
        /// Vegas as ns-2 has it.
        VegasNs2(VegasNs2),
        /// A constant window.
        ConstantWindow(ConstantWindow),
        /// A constant rate.
        ConstantRate(ConstantRate),
        /// A researcher's own.
        Own(Own),
        /// DCTCP (RFC 8257).
        Dctcp(Dctcp),
        /// XCP (Katabi et al. 2002).
        Xcp(Xcp),
        /// Copa (Arun and Balakrishnan 2018).
        Copa(Copa),
        /// LEDBAT (RFC 6817).
        Ledbat(Ledbat),
        /// BBR version 1 (Cardwell et al. 2016).
        Bbr1(Bbr1),
        /// BBR version 3 (draft-ietf-ccwg-bbr).
        Bbr3(Bbr3),
    }
}

any_scheme! {
    /// What meets in the networks of a design: tables, and the AIMD senders that they are to get along with.
    Mixed {
        /// A rule table.
        Remy(Remy<'t>),
        /// The AIMD sender of Tao'14.
        Aimd(Aimd),
    }
}

/// Schemes, or senders, of which some look up rules in a table.
pub trait MayFollowRules {
    /// The table and where it stands, if this is such a one.
    fn rules(&self) -> Option<&Remy<'_>>;
}

impl MayFollowRules for Remy<'_> {
    #[inline(always)]
    fn rules(&self) -> Option<&Remy<'_>> {
        Some(self)
    }
}

impl MayFollowRules for Mixed<'_> {
    #[inline]
    fn rules(&self) -> Option<&Remy<'_>> {
        match self {
            Mixed::Remy(remy) => Some(remy),
            Mixed::Aimd(_) => None,
        }
    }
}
