//! A quinn connection under a table, on a simulated link. quinn takes a window alone; it holds the pace on average.

mod link;

use std::time::Duration;

use link::made::{algorithm, always, transport};
use link::{FAST, Link, MTU, RTT, transfer};

/// What quinn calls differently from noq.
mod stack {
    pub use quinn_proto::*;

    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Instant;

    use exmachina_quic::TableController;

    pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, false, None)
    }

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
        answer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, from, None, None, datagram.into(), answer)
    }

    /// A connection's controller, if it is one of ours.
    pub fn controller(connection: &Connection) -> Option<TableController> {
        let state = connection.congestion_state().clone_box();
        state.into_any().downcast().ok().map(|controller| *controller)
    }

    pub fn poll_transmit(connection: &mut Connection, now: Instant, datagram: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, 1, datagram)
    }
}

#[test]
fn a_pace_of_5_ms_is_twenty_packets_in_an_rtt() {
    let found = transfer(FAST, 400_000, transport(&always(1000, 5.0)));
    let data_mbps = f64::from(MTU) * 8e-6 / 5e-3;
    assert!((0.75..1.0).contains(&(found.goodput_mbps() / data_mbps)), "{}", found.goodput_mbps());
}

#[test]
fn a_robust_table_fills_three_quarters_of_a_link_with_a_short_queue() {
    let link = Link { rate_mbps: 12.0, rtt: RTT, queue: 1000, loses_one_in: None };
    let found = transfer(link, 12_000_000, transport(&algorithm("general-1-robust")));
    assert!(found.goodput_mbps() > 8.5, "{}", found.goodput_mbps());
    assert!(found.waited < Duration::from_millis(12) && found.lost == 0, "{:?}", found.waited);
}

#[test]
fn a_robust_table_gets_losses_repaired() {
    let link = Link { rate_mbps: 12.0, rtt: RTT, queue: 50, loses_one_in: Some(20) };
    let found = transfer(link, 3_000_000, transport(&algorithm("general-1-robust")));
    assert!(found.lost > 100 && found.goodput_mbps() > 7.0, "{} {}", found.lost, found.goodput_mbps());
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    link::figures();
}
