//! What every stack does with a handshake.

use std::time::Duration;

use super::Sender::{Client, Server};
use super::made::{algorithm, transport};
use super::{Link, RTT, transfer_after};

/// Connected after 200 ms, there are new connection IDs until 325, or 400: with data before, between and after, however long it was that
/// nothing was sent.
const PAUSES: [u64; 6] = [210, 260, 310, 360, 450, 5000];
const LINK: Link = Link { rate_mbps: 50.0, rtt: RTT, queue: 1000, loses_one_in: None };

#[test]
fn a_flow_begins_with_data_whoever_sends_them_and_whenever() {
    for (sender, pause) in [Client, Server].into_iter().flat_map(|sender| PAUSES.map(|pause| (sender, pause))) {
        for name in ["tao-100x", "general-0.1-robust"] {
            let transport = transport(&algorithm(name));
            let found = transfer_after(Duration::from_millis(pause), sender, LINK, 300_000, transport);
            assert!(found.began_ms.abs() < 1.0, "{name}, {sender:?}, {pause} ms: {}", found.began_ms);
        }
    }
}

/// Of the handshake a table knows nothing, so that it takes no longer over a short transfer: with the handshake in its memory it would be
/// up to twice as long. ACKs for what comes with the handshake have those of the first data leave sooner or later, which makes a tenth.
#[test]
fn a_short_transfer_takes_as_long_soon_after_the_handshake_as_long_after_it() {
    for name in ["tao-100x-robust", "general-0.1-robust", "internet-1"] {
        let took = PAUSES.map(|pause| {
            let pause = Duration::from_millis(pause);
            transfer_after(pause, Client, LINK, 100_000, transport(&algorithm(name))).took.as_secs_f64()
        });
        let long_after = took[PAUSES.len() - 1];
        assert!(took.iter().all(|took| (took / long_after - 1.0).abs() < 0.15), "{name}: {took:?}");
    }
}
