//! The transports under RemyCCs in the authors' ns-2, line by line.

use exmachina_net::time::{Duration, Instant};

use super::{ns2, play};
use crate::scheme::{Ack, Capabilities, ConstantWindow, Scheme};
use crate::transport::Recovery;

/// Five packets, one in a millisecond.
#[derive(Clone)]
struct Paced;

impl Scheme for Paced {
    fn start(&mut self, _now: Instant) {}
    fn on_ack(&mut self, _ack: &Ack) {}
    fn window(&self) -> u32 {
        5
    }
    fn intersend(&self) -> Duration {
        Duration::from_ms(1.0)
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { owns_recovery: true, forgets: true, ..Capabilities::default() }
    }
}

#[test]
fn tao14s_repairs_each_number_once_and_a_lost_repair_by_a_timeout() {
    // The window counts transmissions from the one that the latest ACK names. The timer, a second at first, sends one packet.
    play(
        ns2(Recovery::RationalTao14),
        Paced,
        "at 0    start 40       -> send 0
         at 1                   -> send 1
         at 2                   -> send 2
         at 3                   -> send 3
         at 4                   -> send 4
         at 101  arrive 1       -> send 0; flight 4
         at 102                 -> send 5; flight 5
         at 103  arrive 2       -> send 6; flight 5; reductions 0
         at 1000                -> send 0; timeouts 1
         at 1100 arrive 0'      -> send 7; flight 1; timeouts 1",
    );
}

#[test]
fn remy13s_is_tahoe_with_a_window_from_rules() {
    // Limited transmit for two duplicates (RFC 3042); at the third all goes again from the gap on.
    play(
        ns2(Recovery::RationalRemy13),
        ConstantWindow { packets: 5 },
        "at 0    start 40       -> send 0..4
         at 100  arrive 1       -> send 5
         at 101  arrive 2       -> send 6
         at 102  arrive 3       -> send 0..4; reductions 1; flight 5
         at 202  arrive 0'      -> send 5..8; flight 5; timeouts 0",
    );
}
