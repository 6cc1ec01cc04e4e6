//! Links: what decides when packets leave a queue.
//!
//! A constant-rate link takes a time for each packet. The others are driven by delivery opportunities: instants at
//! which the link can carry 1500 bytes, used or not; a [`Carrier`] says which packets an opportunity carries.

mod carrier;
mod cellular;
mod trace;

pub use carrier::Carrier;
pub use cellular::{Cellular, CellularLink};
pub use trace::{Trace, TraceLink};

use crate::time::{NEVER, Time};

/// Bytes that one delivery opportunity can carry: mahimahi's, which is an Ethernet's MTU.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// A link.
#[derive(Clone, Debug)]
pub enum Service {
    /// The same rate at all times.
    Rate(ConstantRateLink),
    /// A recorded link.
    Trace(TraceLink),
    /// A synthetic cellular link.
    Cellular(CellularLink),
}

impl Service {
    /// Long-term average of the rate, Mbit/s, with outages counted in.
    #[must_use]
    pub fn mean_mbps(&self) -> f64 {
        match self {
            Service::Rate(link) => link.mean_mbps(),
            Service::Trace(link) => link.trace().mean_mbps(),
            Service::Cellular(link) => link.mean_mbps(),
        }
    }

    /// The first delivery opportunity at or after `after` that is neither consumed nor passed over by an earlier call;
    /// `NEVER` for a constant rate, which has none.
    pub fn next_opportunity(&mut self, after: Time) -> Time {
        match self {
            Service::Rate(_) => NEVER,
            Service::Trace(link) => link.next_opportunity(after),
            Service::Cellular(link) => link.next_opportunity(after),
        }
    }

    /// Consumes the opportunity that [`Service::next_opportunity`] gave last. Another may be at the same instant.
    pub fn advance(&mut self) {
        match self {
            Service::Rate(_) => {}
            Service::Trace(link) => link.advance(),
            Service::Cellular(link) => link.advance(),
        }
    }
}

/// A link of constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantRateLink {
    mbps: f64,
}

impl ConstantRateLink {
    /// A link of this rate, Mbit/s.
    #[must_use]
    pub fn new(mbps: f64) -> ConstantRateLink {
        ConstantRateLink { mbps }
    }

    /// Rate, Mbit/s.
    #[must_use]
    pub fn mean_mbps(&self) -> f64 {
        self.mbps
    }
}

/// Mbit/s to delivery opportunities in a second.
fn opportunities_per_s(mbps: f64) -> f64 {
    mbps * 1e6 / (8.0 * f64::from(OPPORTUNITY_BYTES))
}

/// Delivery opportunities in a second to Mbit/s.
fn mbps(opportunities_per_s: f64) -> f64 {
    opportunities_per_s * 8.0 * f64::from(OPPORTUNITY_BYTES) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_has_no_opportunities() {
        let mut link = Service::Rate(ConstantRateLink::new(15.0));
        link.advance();
        assert_eq!((link.next_opportunity(0), link.mean_mbps()), (NEVER, 15.0));
    }
}
