//! What meets in the networks of a design.

use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Controller, FlatTable};

use super::{Ack, Aimd, Capabilities, Congestion, Remy, Scheme};

enum_of_schemes! {
    /// Tables, and the AIMD senders that they are to get along with.
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
