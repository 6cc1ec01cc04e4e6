//! ns-2's TCP/Linux, line by line: loss by number, rate halving, and what leaves recovery.

use super::{ns2, play};
use crate::scheme::LinuxReno;
use crate::transport::Recovery;

#[test]
fn a_loss_halves_what_is_in_flight_by_one_for_every_two_acks() {
    // A packet is lost when one more than three numbers higher has arrived. cwnd is half of ssthresh meanwhile, and what may be
    // in flight falls by one with each packet sent (`tcp_cwnd_down`).
    play(
        ns2(Recovery::TcpLinux),
        LinuxReno::new(10, false),
        "at 0    start 40       -> send 0..9
         at 100  arrive 1       -> send 10
         at 101  arrive 2       -> send 11
         at 102  arrive 3       -> send 12
         at 103  arrive 4       -> send 0; reductions 1; cwnd 2; flight 9
         at 104  arrive 5       -> flight 8
         at 105  arrive 6       -> send 13; flight 8
         at 106  arrive 7..9    -> send 14; flight 6
         at 203  arrive 0'      -> send 15; cwnd 2; flight 6; timeouts 0",
    );
}

#[test]
fn a_recovery_that_ends_with_nothing_in_flight_leaves_no_window() {
    // The window goes back to ssthresh, but to no more than what is in flight and a burst of three, and to none where nothing is:
    // ns-2's sender is mute then until its timer expires.
    play(
        ns2(Recovery::TcpLinux),
        LinuxReno::new(10, false),
        "at 0    start 10       -> send 0..9
         at 100  arrive 1..9    -> send 0; cwnd 2; flight 1
         at 200  arrive 0'      -> cwnd 0",
    );
}
