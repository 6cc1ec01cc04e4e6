//! What every stack does with a window.

use std::time::Duration;

use super::made::{always, transport};
use super::{FAST, MTU, RTT, transfer};

#[test]
fn a_window_of_four_packets_is_four_in_an_rtt() {
    let found = transfer(FAST, 200_000, transport(&always(4, 0.0)));
    assert_eq!(found.most_within(RTT), 4);
    assert!(found.goodput_mbps() > 0.9 * 4.0 * f64::from(MTU) * 8e-6 / RTT.as_secs_f64(), "{found:?}");
}

/// One packet is the least, also where a table asks for none. Its ACK waits for the receiver's delay.
#[test]
fn a_window_of_one_packet_or_none_sends_on() {
    for window in [0, 1] {
        let found = transfer(FAST, 30_000, transport(&always(window, 0.0)));
        assert_eq!(found.most_within(RTT), 1);
        assert!(found.took < 27 * (RTT + Duration::from_millis(26)), "{found:?}");
    }
}
