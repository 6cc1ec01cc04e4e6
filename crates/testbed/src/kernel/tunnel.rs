//! Packets between two kernels: what one writes into its TUN device is read here, and written into the other's.

use std::io;

use exmachina_net::endpoint::Totals;
use exmachina_net::time::Duration;
use nix::poll::PollFd;
use tun_rs::SyncDevice;

use super::account::Account;
use super::capture::Capture;
use super::segment::Segment;
use crate::ends::readable;
use crate::link::{Carried, Carrier, Taken};

/// The devices, and what passes between them.
pub struct Tunnel {
    /// That of the senders.
    near: SyncDevice,
    /// That of the receivers.
    far: SyncDevice,
    accounts: Vec<Account>,
    /// The port of the first flow's receiver; those of the others follow.
    first_port: u16,
    /// Bytes of data in a whole packet.
    payload_bytes: u16,
    capture: Option<Capture>,
}

impl Tunnel {
    /// Between these devices, for so many flows.
    pub fn new([near, far]: [SyncDevice; 2], flows: usize, first_port: u16, payload_bytes: u16) -> Tunnel {
        let accounts = (0..flows).map(|_| Account::default()).collect();
        Tunnel { near, far, accounts, first_port, payload_bytes, capture: None }
    }

    /// Packets are recorded if `captures`.
    pub fn recording(self, captures: bool) -> Tunnel {
        Tunnel { capture: captures.then(Capture::new), ..self }
    }

    fn record(&mut self, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.take(bytes);
        }
    }
}

impl Carrier for Tunnel {
    type Packet = Segment;

    fn take(&mut self, room: &mut [u8]) -> io::Result<Option<Taken<Segment>>> {
        while let Some(length) = take(&self.near, room)? {
            let bytes = &room[..length];
            let Some(packet) = Segment::of(bytes) else { continue };
            let flow = usize::from(packet.to.wrapping_sub(self.first_port));
            let Some(account) = self.accounts.get_mut(flow) else { continue };
            account.sent(&packet);
            self.record(bytes);
            return Ok(Some(Taken { flow, packet, length, wire_bytes: length as u16 }));
        }
        Ok(None)
    }

    fn hand_over(&mut self, _flow: usize, bytes: &[u8]) -> io::Result<()> {
        put(&self.far, bytes)
    }

    fn arrived(&mut self, flow: usize, packet: &Segment, rtt: Duration, is_on: bool) {
        self.accounts[flow].arrived(packet, rtt, is_on, self.payload_bytes);
    }

    fn pass_back(&mut self, room: &mut [u8]) -> io::Result<()> {
        while let Some(length) = take(&self.far, room)? {
            let bytes = &room[..length];
            if Segment::of(bytes).is_some() {
                self.record(bytes);
                put(&self.near, bytes)?;
            }
        }
        Ok(())
    }

    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        [&self.near, &self.far].into_iter().map(readable)
    }

    fn carried(self) -> Carried {
        let totals: Vec<Totals> = self.accounts.iter().map(Account::totals).collect();
        Carried { totals, dropped: 0, capture: self.capture.map(Capture::into_file) }
    }
}

/// A packet from a device, if there is one.
fn take(device: &SyncDevice, room: &mut [u8]) -> io::Result<Option<usize>> {
    match device.recv(room) {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a device a packet.
fn put(device: &SyncDevice, bytes: &[u8]) -> io::Result<()> {
    device.send(bytes).map(|_| ())
}
