//! The transports of evaluations under one name: which stack is at a sender's two ends is a matter of its settings.

use exmachina_net::endpoint::{Endpoint, Totals, whichever};
use exmachina_net::packet::Packet;
use exmachina_net::time::{Duration, Instant};

use super::ns2::{Agent, Linux, Tcp};
use super::polled::Polled;
use super::rational_remy13::RationalRemy13;
use super::rational_tao14::RationalTao14;
use super::{Connection, Settings, Stack};
use crate::scheme::Scheme;

/// Both ends of one sender's connections, with one stack or another.
#[derive(Clone, Debug)]
pub enum Ends<S> {
    /// The stack whose parts are settings.
    Modular(Box<Connection<S>>),
    /// ns-2's TCP/Linux.
    Linux(Agent<S, Linux>),
    /// ns-2's own TCP.
    Tcp(Agent<S, Tcp>),
    /// TCP/Rational of Tao'14's ns-2.
    RationalTao14(RationalTao14<S>),
    /// TCP/Rational of Remy'13's ns-2.
    RationalRemy13(RationalRemy13<S>),
    /// Any of them, looked at as Remy'13's scripts do.
    Polled(Box<Polled<S>>),
}

/// The same of whichever it is.
macro_rules! either {
    ($self:ident, $ends:ident => $answer:expr) => {
        match $self {
            Ends::Modular($ends) => $answer,
            Ends::Linux($ends) => $answer,
            Ends::Tcp($ends) => $answer,
            Ends::RationalTao14($ends) => $answer,
            Ends::RationalRemy13($ends) => $answer,
            Ends::Polled($ends) => $answer,
        }
    };
}

impl<S: Scheme> Ends<S> {
    /// Number `id` of the senders, with nothing to send yet. Each SACK block makes an ACK take `block_delay` longer, where the
    /// transport counts them.
    pub fn new(scheme: S, id: u16, settings: Settings, block_delay: Duration) -> Ends<S> {
        if settings.poll > Duration::ZERO {
            let ends = Ends::new(scheme, id, Settings { poll: Duration::ZERO, ..settings }, block_delay);
            return Ends::Polled(Box::new(Polled::new(ends, settings.poll)));
        }
        match settings.stack {
            Stack::TcpLinux => Ends::Linux(Agent::new(scheme, id, settings)),
            Stack::NewReno | Stack::Reno => Ends::Tcp(Agent::new(scheme, id, settings)),
            Stack::RationalRemy13 => Ends::RationalRemy13(RationalRemy13::new(scheme, id, settings)),
            Stack::RationalTao14 => Ends::RationalTao14(RationalTao14::new(scheme, id, settings, block_delay)),
            Stack::Modular(parts) => Ends::Modular(Box::new(Connection::new(scheme, id, settings, parts))),
        }
    }

    /// What decides about window and pace.
    pub fn scheme(&self) -> &S {
        either!(self, ends => ends.scheme())
    }

    /// The latest RTT sample, ns; 0 before the first.
    #[must_use]
    pub fn latest_rtt(&self) -> Duration {
        either!(self, ends => ends.latest_rtt())
    }

    /// Packets that may be in flight, where that is the transport's to say in recovery, and else the scheme's window.
    pub fn window(&self) -> u32 {
        either!(self, ends => ends.window())
    }

    /// Packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        either!(self, ends => ends.in_flight())
    }

    /// The number of the next new packet.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        either!(self, ends => ends.next_seq())
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        either!(self, ends => ends.una())
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        either!(self, ends => ends.srtt())
    }
}

impl<S: Scheme> Endpoint for Ends<S> {
    whichever!(Ends { Modular, Linux, Tcp, RationalTao14, RationalRemy13, Polled });

    #[inline]
    fn receive(&mut self, packet: &Packet, now: Instant, clock: Duration) {
        either!(self, ends => ends.receive(packet, now, clock));
    }
}
