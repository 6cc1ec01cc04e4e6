//! A noq connection under a table, on a simulated link: window and pace are honoured, and what is lost arrives in the end.

mod link;
mod witness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use link::made::{algorithm, always, transport};
use link::{FAST, Link, MTU, RTT, transfer};

use exmachina_quic::{TableConfig, TableController};
use exmachina_rules::{Action, RuleTable, Signal, first_signals};
use noq_proto::congestion::{Controller, ControllerFactory};

/// What noq calls differently from quinn.
mod stack {
    pub use noq_proto::*;

    use std::net::SocketAddr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Instant;

    use exmachina_quic::TableController;

    pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
        Endpoint::new(config, server, false)
    }

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
        answer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, FourTuple::new(from, None), None, datagram.into(), answer)
    }

    /// A connection's controller, if it is one of ours as it is.
    pub fn controller(connection: &Connection) -> Option<TableController> {
        let state = connection.congestion_state(PathId::ZERO)?.clone_box();
        state.into_any().downcast().ok().map(|controller| *controller)
    }

    pub fn poll_transmit(connection: &mut Connection, now: Instant, datagram: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, NonZeroUsize::MIN, datagram)
    }
}

#[test]
fn a_pace_of_5_ms_is_a_packet_each_5_ms() {
    let sent = transfer(FAST, 400_000, transport(&always(1000, 5.0))).sent;
    // Its bucket is full at first, and counts in whole bytes, each of 4 µs.
    let gaps: Vec<_> = sent.windows(2).skip(1).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3).collect();
    assert!(gaps.len() > 300);
    assert!(gaps.iter().all(|gap| (gap - 5.0).abs() < 0.01), "{gaps:?}");
}

#[test]
fn a_law_fills_a_link_with_a_short_queue() {
    let link = Link { rate_mbps: 12.0, rtt: RTT, queue: 1000, loses_one_in: None };
    let found = transfer(link, 12_000_000, transport(&algorithm("internet-1")));
    assert!(found.goodput_mbps() > 11.0, "{}", found.goodput_mbps());
    assert!(found.waited < Duration::from_millis(5) && found.lost == 0, "{:?}", found.waited);
}

#[test]
fn what_is_lost_arrives_in_the_end() {
    let link = Link { rate_mbps: 12.0, rtt: RTT, queue: 50, loses_one_in: Some(20) };
    let found = transfer(link, 3_000_000, transport(&algorithm("internet-1")));
    assert!(found.lost > 100 && found.goodput_mbps() > 9.0, "{} {}", found.lost, found.goodput_mbps());
}

/// A rule for few losses and one for more, so that it matters when they are counted.
fn minding_losses() -> RuleTable {
    let mut table = RuleTable::single(&Signal::ALL, Action { multiple: 0.99, increment: 2, intersend_ms: 1.0 });
    let mut at = first_signals(&[0.0; 4]);
    at[Signal::LossRate as usize] = 0.05;
    table.split(0, &at, &[Signal::LossRate]);
    table.set_action(1, Action { multiple: 0.9, increment: 3, intersend_ms: 2.0 });
    table
}

#[test]
fn at_every_ack_of_a_connection_window_and_pace_are_those_of_the_simulators_controller() {
    for (table, loses_one_in) in [
        (algorithm("general-1-robust"), None),
        (algorithm("general-1-robust"), Some(50)),
        (algorithm("tao-100x"), Some(50)),
        (minding_losses(), Some(20)),
    ] {
        let link = Link { rate_mbps: 12.0, rtt: RTT, queue: 50, loses_one_in };
        let (transport, seen) = witness::transport(&table);
        transfer(link, 3_000_000, transport);
        witness::compare(&table, &seen.lock().unwrap());
    }
}

#[test]
fn a_packet_that_searches_for_a_larger_mtu_begins_no_flow() {
    let now = Instant::now();
    let config = Arc::new(TableConfig::new(&always(10, 1.0)).unwrap());
    let mut controller = config.build(now, MTU);
    let began = |controller: &dyn Controller| {
        controller.clone_box().into_any().downcast::<TableController>().expect("a table's").flow().began()
    };
    controller.on_packet_sent(now, MTU + 100, 0);
    assert_eq!(began(&*controller), None);
    controller.on_packet_sent(now, MTU, 1);
    assert_eq!(began(&*controller), Some(now));
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    link::figures();
}
