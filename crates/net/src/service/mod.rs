//! Links whose rate varies: what decides when packets leave a queue.
//!
//! A constant rate takes a time for each packet ([`crate::path::Transmitter`]). These are driven by delivery opportunities:
//! instants at which the link can carry 1500 bytes, used or not; a [`Carrier`] says which packets an opportunity carries.

mod carrier;
mod cellular;
mod trace;

pub use carrier::Carrier;
pub use cellular::{Cellular, CellularLink};
pub use trace::{Trace, TraceLink};

use crate::time::Instant;

/// Bytes that one delivery opportunity can carry: mahimahi's, which is an Ethernet's MTU.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// A link whose rate varies.
#[derive(Clone, Debug)]
pub enum Service {
    /// A recorded link.
    Trace(TraceLink),
    /// A synthetic cellular link.
    Cellular(CellularLink),
}

impl Service {
    /// The first delivery opportunity at or after `after` that is neither consumed nor passed over by an earlier call.
    pub fn next_opportunity(&mut self, after: Instant) -> Instant {
        match self {
            Service::Trace(link) => link.next_opportunity(after),
            Service::Cellular(link) => link.next_opportunity(after),
        }
    }

    /// Consumes the opportunity that [`Service::next_opportunity`] gave last. Another may be at the same instant.
    pub fn advance(&mut self) {
        match self {
            Service::Trace(link) => link.advance(),
            Service::Cellular(link) => link.advance(),
        }
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
