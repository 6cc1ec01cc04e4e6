//! The relay: reads what hosts send, and sends it on when the path says so.

use std::io;
use std::net::UdpSocket;

use exmachina_net::endpoint::Totals;
use exmachina_net::time::Duration;
use nix::poll::PollFd;

use super::sockets::{dropped, put, take};
use crate::ends::readable;
use crate::link::{Carried, Carrier, Taken};
use crate::stack::UDP_HEADER_BYTES;

/// Datagrams of the sender that are no longer have ACKs or new connection IDs, and no data.
const NO_DATA_BYTES: usize = 150;

/// Its sockets, by flow, and what it counts.
#[derive(Debug, Default)]
pub struct Relay {
    /// Those that senders' hosts speak to.
    near: Vec<UdpSocket>,
    /// Those that receivers' hosts speak to.
    far: Vec<UdpSocket>,
    totals: Vec<Totals>,
    /// The flow that is looked at first.
    first: usize,
}

impl Relay {
    /// One flow more.
    pub fn add(&mut self, near: UdpSocket, far: UdpSocket) {
        self.near.push(near);
        self.far.push(far);
        self.totals.push(Totals::default());
    }
}

/// What can be read of a datagram that is encrypted.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// It has data: the handshake is over (RFC 9000 §17.3), and it is long enough.
    is_data: bool,
}

impl Datagram {
    fn of(bytes: &[u8]) -> Datagram {
        const LONG_HEADER: u8 = 0x80;
        Datagram { is_data: bytes.first().is_some_and(|first| first & LONG_HEADER == 0) && bytes.len() > NO_DATA_BYTES }
    }
}

impl Carrier for Relay {
    type Packet = Datagram;

    fn take(&mut self, room: &mut [u8]) -> io::Result<Option<Taken<Datagram>>> {
        let flows = self.near.len();
        for flow in (0..flows).map(|i| (self.first + i) % flows) {
            let Some(length) = take(&self.near[flow], room)? else { continue };
            self.first = flow;
            let packet = Datagram::of(&room[..length]);
            self.totals[flow].sent += u64::from(packet.is_data);
            return Ok(Some(Taken { flow, packet, length, wire_bytes: length as u16 + UDP_HEADER_BYTES }));
        }
        Ok(None)
    }

    fn hand_over(&mut self, flow: usize, bytes: &[u8]) -> io::Result<()> {
        put(&self.far[flow], bytes)
    }

    fn arrived(&mut self, flow: usize, packet: &Datagram, rtt: Duration, is_on: bool) {
        if packet.is_data {
            self.totals[flow].deliver(rtt, is_on);
        }
    }

    fn pass_back(&mut self, room: &mut [u8]) -> io::Result<()> {
        for (near, far) in self.near.iter().zip(&self.far) {
            while let Some(length) = take(far, room)? {
                put(near, &room[..length])?;
            }
        }
        Ok(())
    }

    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.near.iter().chain(&self.far).map(readable)
    }

    fn carried(self) -> Carried {
        let dropped = self.near.iter().chain(&self.far).map(dropped).sum();
        Carried { totals: self.totals, dropped, capture: None }
    }
}
