//! Senders under design beside others that people run today: cross-traffic for designs to train among.
//!
//! A neighbour is the scheme of evaluations in the transport of evaluations, on the path of the design simulator. It repairs
//! its losses itself, and is not told of them: gaps that stand for lost packets pass it by.

use std::collections::BTreeMap;

use crate::endpoint::{Endpoint, Totals, whichever};
use crate::engine::Seed;
use crate::library::Library;
use crate::network::PACKET_BYTES;
use crate::packet::Packet;
use crate::random::{Purpose, Stream};
use crate::scheme::{AnyScheme, MayFollowRules, Mixed, Remy, SchemeName, Surroundings};
use crate::sender::Sender;
use crate::time::Time;
use crate::transport::{Connection, Modular, Preset, Settings};

/// What a neighbour runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By RFC 9438, with HyStart++.
    Cubic,
    /// By RFC 5681 and 3465.
    NewReno,
    /// Version 3.
    Bbr,
}

/// A sender that is not under design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// What it runs.
    pub kind: Kind,
    /// Its minimum RTT without the packet's own transmission, ms.
    pub rtt_ms: f64,
}

/// Their schemes need nothing that a file holds.
static EMPTY: Library = Library { tables: BTreeMap::new(), traces: BTreeMap::new(), own: BTreeMap::new() };

impl Kind {
    /// Both ends of such a sender, number `id` of the network.
    pub(crate) fn connection<'t>(self, id: u16, seed: Seed) -> Connection<AnyScheme<'t>> {
        let transport = Settings { packet_bytes: PACKET_BYTES as u16, ..Settings::today() };
        let around = Surroundings { preset: Preset::Today, transport, ecn: false, library: &EMPTY };
        let name = match self {
            Kind::Cubic => SchemeName::Cubic,
            Kind::NewReno => SchemeName::NewReno,
            Kind::Bbr => SchemeName::Bbr3,
        };
        let luck = Stream::new(seed.root, seed.specimen, u64::from(id), Purpose::Scheme);
        Connection::new(name.sender(&around, luck).expect("these need no library"), id, transport, Modular::TODAY)
    }
}

/// A sender under design, or a neighbour.
#[derive(Clone, Debug)]
pub enum Beside<'t> {
    /// Under design.
    Designed(Sender<Mixed<'t>>),
    /// Not.
    Neighbour(Box<Connection<AnyScheme<'t>>>),
}

impl MayFollowRules for Beside<'_> {
    #[inline]
    fn rules(&self) -> Option<&Remy<'_>> {
        match self {
            Beside::Designed(sender) => sender.rules(),
            Beside::Neighbour(_) => None,
        }
    }
}

impl Endpoint for Beside<'_> {
    whichever!(Beside { Designed, Neighbour });

    #[inline]
    fn receive(&mut self, packet: &Packet, now: Time, clock: Time) {
        match self {
            Beside::Designed(sender) => sender.receive(packet, now, clock),
            Beside::Neighbour(_) if packet.lost => {}
            // The path does not keep how long a packet is.
            Beside::Neighbour(ends) => ends.receive(&Packet { bytes: PACKET_BYTES as u16, ..*packet }, now, clock),
        }
    }
}
