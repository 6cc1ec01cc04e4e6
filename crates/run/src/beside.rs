//! Senders under design beside others that people run today: cross-traffic for designs to train among.
//!
//! A neighbour is the scheme of evaluations in the transport of evaluations, on the path of the design simulator. It repairs
//! its losses itself, and is not told of them: the path's notes of lost packets, which senders under design get, are not for it.

use std::collections::BTreeMap;

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::{AnyScheme, MayFollowRules, Mixed, Remy, SchemeName, Surroundings};
use exmachina_hosts::transport::{Connection, Modular, Preset, Settings};
use exmachina_net::endpoint::{Endpoint, Totals, whichever};
use exmachina_net::network::PACKET_BYTES;
use exmachina_net::packet::Packet;
use exmachina_net::random::Seed;
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::time::{Duration, Instant};
use exmachina_scenario::neighbour::Kind;

use crate::sender::Sender;

/// Their schemes need nothing that a file holds.
static EMPTY: Library = Library { tables: BTreeMap::new(), traces: BTreeMap::new(), own: BTreeMap::new() };

/// Both ends of such a sender, number `id` of the network.
pub fn connection<'t>(kind: Kind, id: u16, seed: Seed) -> Connection<AnyScheme<'t>> {
    let transport = Settings { packet_bytes: PACKET_BYTES as u16, ..Settings::today() };
    let around = Surroundings { preset: Preset::Today, transport, ecn: false, library: &EMPTY };
    let name = match kind {
        Kind::Cubic => SchemeName::Cubic,
        Kind::NewReno => SchemeName::NewReno,
        Kind::Bbr => SchemeName::Bbr3,
    };
    let luck = Stream::new(seed.root, seed.specimen, u64::from(id), Purpose::Scheme);
    Connection::new(name.sender(&around, luck).expect("these need no library"), id, transport, Modular::TODAY)
}

/// A sender under design, or a neighbour.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "those under design are many and busy, and neighbours few: they are the boxed ones"
)]
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
    fn receive(&mut self, packet: &Packet, now: Instant, clock: Duration) {
        match self {
            Beside::Designed(sender) => sender.receive(packet, now, clock),
            Beside::Neighbour(_) if packet.lost => {}
            // The path does not keep how long a packet is.
            Beside::Neighbour(ends) => ends.receive(&Packet { bytes: PACKET_BYTES as u16, ..*packet }, now, clock),
        }
    }
}
