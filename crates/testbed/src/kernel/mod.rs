//! This machine's kernel at both ends: its TCP, between two network namespaces.
//!
//! Each run has namespaces without a name, which only its threads and sockets hold: they vanish with the process, however
//! that ends. Nothing outside them is touched.

mod account;
mod capture;
mod hosts;
mod namespace;
mod pair;
mod segment;
mod tunnel;

use std::io;
use std::net::{SocketAddrV4, TcpListener};
use std::sync::mpsc::{self, Receiver, Sender};

use tun_rs::SyncDevice;

use crate::ends::Got;
use crate::link::{Plan, Seen};
use crate::measure::{Bed, Drawn, told};
use crate::stack::{KernelNames, kernel_name};
use hosts::KernelHosts;
use namespace::{FAR, NEAR};
use tunnel::Tunnel;

/// The port of the first receiver.
const FIRST_PORT: u16 = 7000;

/// A run under way. The link has the receivers' namespace, the other thread that of the senders: each can make devices and
/// sockets in its own.
pub fn run(bed: &Bed<'_>, plan: Plan, loaded: &KernelNames) -> Result<(Seen, Vec<Got>), String> {
    let name = |flow: &Drawn<'_>| kernel_name(flow.scheme.0, flow.scheme.1, loaded);
    let congestions = bed.flows.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let (give_device, devices) = mpsc::channel();
    let (give_listeners, listeners) = mpsc::channel();
    bed.both(
        move || link(bed, plan, &give_listeners, &devices),
        move || ends(bed, congestions, &give_device, &listeners),
    )
}

/// The link, in the receivers' namespace; nothing if the other thread has failed.
fn link(
    bed: &Bed<'_>,
    plan: Plan,
    listeners: &Sender<Vec<TcpListener>>,
    devices: &Receiver<SyncDevice>,
) -> Result<Option<Seen>, String> {
    let (run, flows) = (&bed.run, bed.flows.len());
    let far = namespace::enter(FAR, run.packet_bytes())?;
    let listen = |i| TcpListener::bind((FAR, port(i))).and_then(|l| l.set_nonblocking(true).map(|()| l));
    let waiting = (0..flows).map(listen).collect::<io::Result<_>>().map_err(told)?;
    if listeners.send(waiting).is_err() {
        return Ok(None);
    }
    let Ok(near) = devices.recv() else { return Ok(None) };
    bed.link(plan, Tunnel::new([near, far], flows, FIRST_PORT, run.payload_bytes()).recording(run.records))
}

/// The ends, in the senders' namespace; nothing if the other thread has failed.
fn ends(
    bed: &Bed<'_>,
    congestions: Vec<String>,
    device: &Sender<SyncDevice>,
    listeners: &Receiver<Vec<TcpListener>>,
) -> Result<Option<Vec<Got>>, String> {
    if device.send(namespace::enter(NEAR, bed.run.packet_bytes())?).is_err() {
        return Ok(None);
    }
    let Ok(listeners) = listeners.recv() else { return Ok(None) };
    let hosts = |(i, (listener, congestion))| KernelHosts::new(listener, SocketAddrV4::new(FAR, port(i)), congestion);
    bed.ends(listeners.into_iter().zip(congestions).enumerate().map(hosts).collect())
}

/// The port of a flow's receiver.
fn port(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}
