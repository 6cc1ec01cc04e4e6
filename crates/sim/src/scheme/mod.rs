//! Congestion-control schemes as the engine sees them: told of every ACK, asked for a window and a pace.

mod aimd;
mod remy;

pub use aimd::Aimd;
pub use remy::Remy;

use crate::time::Time;

/// An ACK, as a scheme sees it. Times are read off the sender's clock.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When the packet was sent.
    pub sent: Time,
    /// When its ACK came.
    pub received: Time,
    /// Number of the packet in the sender's stream.
    pub seq: u32,
    /// Number of the next packet to be sent.
    pub next_seq: u32,
    /// Packets from the largest ACK so far to this one: 1 where nothing was lost.
    pub advance: u32,
}

/// A congestion-control scheme.
pub trait Scheme: Clone {
    /// A flow starts.
    fn start(&mut self);
    /// An ACK of the present flow arrives.
    fn on_ack(&mut self, ack: &Ack);
    /// Packets that may be outstanding.
    fn window(&self) -> u32;
    /// Least time between two sends.
    fn intersend(&self) -> Time;
}

/// Any of the schemes, for networks in which they mix.
#[derive(Clone, Debug)]
pub enum AnyScheme<'t> {
    /// A rule table.
    Remy(Remy<'t>),
    /// The AIMD sender of Tao'14.
    Aimd(Aimd),
}

impl Scheme for AnyScheme<'_> {
    fn start(&mut self) {
        match self {
            AnyScheme::Remy(s) => s.start(),
            AnyScheme::Aimd(s) => s.start(),
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        match self {
            AnyScheme::Remy(s) => s.on_ack(ack),
            AnyScheme::Aimd(s) => s.on_ack(ack),
        }
    }

    fn window(&self) -> u32 {
        match self {
            AnyScheme::Remy(s) => s.window(),
            AnyScheme::Aimd(s) => s.window(),
        }
    }

    fn intersend(&self) -> Time {
        match self {
            AnyScheme::Remy(s) => s.intersend(),
            AnyScheme::Aimd(s) => s.intersend(),
        }
    }
}
