//! Congestion-control schemes: told of ACKs, losses, ECN marks and timeouts, asked for a window and a pace.
//!
//! A scheme decides how much may be in flight and how fast it leaves. What was lost and what is sent again is the
//! transport's business (`transport/`), the same for all schemes. Windows are in packets.
//!
//! The sender of the design simulator (`sender.rs`) fills in what it knows of an [`Ack`]; the transport fills in all.

// First, so that all others know its macros.
#[macro_use]
mod forward;

mod aimd;
mod bbr1;
mod bbr3;
mod compound;
mod compound_linux;
mod constant;
mod copa;
mod cubic;
mod cubic_epoch;
mod cubic_linux;
mod dctcp;
mod decrease;
#[cfg(test)]
mod driver;
mod filter;
mod hystart;
mod hystart_plus_plus;
mod idle;
mod interface;
mod ledbat;
mod linux;
#[cfg(test)]
mod loopback;
mod mixed;
mod names;
mod newreno;
mod newreno_ns2;
mod own;
mod remy;
mod reno_linux;
#[cfg(test)]
mod reno_tests;
mod reno_window;
mod rounds;
mod rounds_linux;
mod signals;
mod slow_start_end;
mod stacks;
mod vegas;
mod vegas_linux;
mod vegas_ns2;
mod xcp;

pub use aimd::Aimd;
pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use compound::{Compound, CompoundForm, CompoundSettings};
pub use compound_linux::LinuxCompound;
pub use constant::{ConstantRate, ConstantWindow};
pub use copa::Copa;
pub use cubic::{Cubic, CubicSettings};
pub use cubic_linux::{LinuxCubic, LinuxCubicSettings, Unknown};
pub use dctcp::Dctcp;
pub use decrease::Basis;
pub use interface::{Capabilities, Scheme};
pub use ledbat::Ledbat;
pub use mixed::{MayFollowRules, Mixed};
pub use names::{SchemeName, Surroundings, is_table_file};
pub use newreno::{NewReno, NewRenoSettings};
pub use newreno_ns2::NewRenoNs2;
pub use own::{Own, OwnScheme};
pub use remy::Remy;
pub use reno_linux::LinuxReno;
pub use signals::{Ack, Congestion, RateSample};
pub use slow_start_end::SlowStartEnd;
pub use vegas::{Vegas, VegasSettings};
pub use vegas_linux::LinuxVegas;
pub use vegas_ns2::{VegasNs2, VegasNs2Settings};
pub use xcp::Xcp;

use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Controller, FlatTable};

enum_of_schemes! {
    /// Any of the schemes, for networks in which they mix.
    AnyScheme {
        /// A rule table.
        Remy(Remy<'t>),
        /// The AIMD sender of Tao'14.
        Aimd(Aimd),
        /// NewReno by RFC 5681.
        NewReno(NewReno),
        /// NewReno as ns-2 has it.
        NewRenoNs2(NewRenoNs2),
        /// Reno as Linux 2.6.22 and ns-2 ran it.
        LinuxReno(LinuxReno),
        /// Cubic by RFC 9438, and as Linux 6 has it.
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
