//! What runs on hosts: congestion-control schemes, and the reliable transports under them.
//!
//! A scheme decides how much may be in flight and how fast it leaves ([`scheme::Scheme`]); a transport what was lost and what is
//! sent again ([`transport::Connection`]). They are one crate because they are tested together, packet by packet.

pub mod library;
pub mod nearest;
pub mod scheme;
#[cfg(test)]
mod testing;
pub mod transport;
