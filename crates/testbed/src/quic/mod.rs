//! QUIC at both ends: noq, in this process, over UDP on this machine's loopback.
//!
//! A flow has two hosts, each with a socket of its own, and the relay two sockets that are connected to these: what the sender's
//! host sends is read by the relay, goes through the path, and is sent on to the receiver's. It needs no root.

mod configs;
mod hosts;
mod log;
mod qlog;
mod relay;
mod side;
mod sockets;

use crate::ends::Got;
use crate::link::{Plan, Seen};
use crate::measure::{Bed, told};
use crate::stack::UDP_HEADER_BYTES;
use configs::{Configs, controller};
use hosts::QuicHosts;
use relay::Relay;
use sockets::connected;

/// A run under way.
pub fn run(bed: &Bed<'_>, plan: Plan) -> Result<(Seen, Vec<Got>), String> {
    let run = &bed.run;
    let configs = Configs::new(run.packet_bytes() - UDP_HEADER_BYTES)?;
    let (mut relay, mut hosts) = (Relay::default(), Vec::new());
    for flow in &bed.flows {
        let [near, sender] = connected().map_err(told)?;
        let [far, receiver] = connected().map_err(told)?;
        relay.add(near, far);
        let controller = controller(flow.scheme.1, run.library)?;
        hosts.push(QuicHosts::new([sender, receiver], &configs, controller, run.records).map_err(told)?);
    }
    bed.both(move || bed.link(plan, relay), move || bed.ends(hosts))
}
