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
pub mod library;
mod linux;
#[cfg(test)]
mod loopback;
mod names;
pub mod nearest;
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
use exmachina_transport::scheme::{Ack, Congestion, RateSample, Scheme};

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
