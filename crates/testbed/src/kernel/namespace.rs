//! A network namespace of this thread's own, with one way out: a TUN device, whose packets the link reads and writes.

use std::fs;
use std::io;
use std::net::Ipv4Addr;

use nix::sched::{CloneFlags, unshare};
use tun_rs::{DeviceBuilder, SyncDevice};

/// Where senders are.
pub const NEAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Where receivers are.
pub const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// Packets that wait for the link to read them, at most: none is to be lost there, however late it is.
const DEVICE_PACKETS: u32 = 20_000;

/// What is set in the namespace. Connections know nothing of earlier ones, as in a simulation, and buffers never hold them up.
const SETTINGS: [(&str, &str); 3] =
    [("tcp_no_metrics_save", "1"), ("tcp_rmem", "4096 4194304 134217728"), ("tcp_wmem", "4096 1048576 134217728")];

/// Moves this thread to a namespace of its own, for as long as it lives, and gives it a device with this address.
///
/// # Errors
/// What could not be done, and what it needs.
pub fn enter(address: Ipv4Addr, packet_bytes: u16) -> Result<SyncDevice, String> {
    unshare(CloneFlags::CLONE_NEWNET)
        .map_err(|error| format!("testbed: a network namespace: {error}; it needs root (CAP_SYS_ADMIN)"))?;
    for (name, value) in SETTINGS {
        let path = format!("/proc/sys/net/ipv4/{name}");
        fs::write(&path, value).map_err(|error| format!("testbed: {path}: {error}; it needs root"))?;
    }
    device(address, packet_bytes)
        .map_err(|error| format!("testbed: a TUN device: {error}; it needs /dev/net/tun and root (CAP_NET_ADMIN)"))
}

fn device(address: Ipv4Addr, packet_bytes: u16) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new().ipv4(address, 24, None).mtu(packet_bytes).build_sync()?;
    device.set_tx_queue_len(DEVICE_PACKETS)?;
    device.set_nonblocking(true)?;
    Ok(device)
}
