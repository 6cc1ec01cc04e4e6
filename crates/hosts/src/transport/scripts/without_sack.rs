//! Recoveries that learn of losses by duplicate ACKs alone, line by line: Tahoe, and ns-2's Reno and NewReno.

use super::{ns2, play, reno};
use crate::scheme::NewRenoNs2;
use crate::transport::Recovery;

#[test]
fn tahoe_goes_back_to_the_gap_at_the_third_duplicate() {
    // RFC 5681 §3.2 without fast recovery: what follows the gap is sent again, what had arrived included. The ACK of the first
    // covers four packets.
    play(
        ns2(Recovery::GoBackN),
        reno(10),
        "at 0    start 30       -> send 0..9
         at 100  arrive 1 2     ->
         at 102  arrive 3       -> send 0..4; cwnd 5; reductions 1; flight 5
         at 202  arrive 0'      -> send 5..8
         at 302  arrive 4'      -> send 9; reductions 1; timeouts 0",
    );
}

#[test]
fn newreno_repairs_one_packet_for_each_partial_ack() {
    // RFC 6582 §3.2: 1 and 4 are lost. Limited transmit (RFC 3042) for the first two duplicates; at the third, half the window
    // and three packets of inflation, one more for each duplicate, and less by what a partial ACK covers.
    play(
        ns2(Recovery::NewReno),
        NewRenoNs2::new(10, false),
        "at 0    start 30       -> send 0..9
         at 100  arrive 0       -> send 10 11; cwnd 11
         at 101  arrive 2       -> send 12
         at 102  arrive 3       -> send 13
         at 103  arrive 5       -> send 1; cwnd 5; window 8; reductions 1
         at 104  arrive 6..9    -> cwnd 5; window 12
         at 200  arrive 10..13  -> send 14 15 16; window 16
         at 204  arrive 1'      -> send 4 17; window 14
         at 304  arrive 4'      -> send 18; window 5; reductions 1; timeouts 0",
    );
}

#[test]
fn reno_ends_recovery_with_any_ack_of_new_data() {
    play(
        ns2(Recovery::Reno),
        NewRenoNs2::new(10, false),
        "at 0    start 30       -> send 0..9
         at 100  arrive 0       -> send 10 11; cwnd 11
         at 101  arrive 2       -> send 12
         at 102  arrive 3       -> send 13
         at 103  arrive 5       -> send 1; cwnd 5; window 8; reductions 1
         at 204  arrive 1'      -> cwnd 5; window 5",
    );
}
