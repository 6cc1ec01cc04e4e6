//! RACK's rules, line by line (RFC 8985 §6), with PRR's (RFC 9937 §6).

use exmachina_net::packet::Ecn;
use exmachina_net::time::{Duration, Instant};

use super::{play, reno, today};
use crate::scheme::{Ack, Capabilities, NewReno, NewRenoSettings, Scheme};

/// A window of ten packets, in recovery too.
#[derive(Clone)]
struct Roomy;

impl Scheme for Roomy {
    fn start(&mut self, _now: Instant) {}
    fn on_ack(&mut self, _ack: &Ack) {}
    fn window(&self) -> u32 {
        10
    }
    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { owns_recovery: true, ..Capabilities::default() }
    }
}

#[test]
fn the_third_packet_beyond_a_gap_shows_a_loss_at_once() {
    // RFC 3042: new packets take the place of the first two. Then half of the window remains; PRR lets the first repair go, and
    // one packet for every two that arrive until five are in flight.
    play(
        today(),
        reno(10),
        "at 0    start 30       -> send 0..9; cwnd 10; flight 10
         at 100  arrive 1       -> send 10; cwnd 10; flight 10
         at 101  arrive 2       -> send 11
         at 102  arrive 3       -> send 0; cwnd 5; flight 9; reductions 1
         at 103  arrive 4       -> flight 8
         at 104  arrive 5       -> send 12
         at 105  arrive 6       ->
         at 106  arrive 7       -> send 13
         at 107  arrive 8       ->
         at 108  arrive 9       -> flight 5
         at 200  arrive 10      -> send 14
         at 201  arrive 11      -> send 15; flight 5
         at 202  arrive 0'      -> send 16; cwnd 5; flight 5",
    );
}

#[test]
fn fewer_than_three_are_waited_for_a_quarter_of_the_smallest_rtt() {
    // Packet 1 was sent at 100 with 2 and 3; their RTT is 100, so it is due at 200, and lost 25 ms after.
    play(
        today(),
        reno(1),
        "at 0    start 4        -> send 0
         at 100  arrive 0       -> send 1 2; cwnd 2
         at 200  arrive 2       -> send 3; reductions 0
         at 225                 -> send 1; reductions 1
         at 325  arrive 3 1'    -> reductions 1; undone 0",
    );
}

#[test]
fn a_packet_that_comes_within_the_reordering_window_is_none_the_worse() {
    // And from then on three beyond a gap are no loss: a quarter of an RTT is waited for in any case.
    play(
        today(),
        reno(10),
        "at 0    start 40       -> send 0..9
         at 100  arrive 1 2     -> send 10 11
         at 110  arrive 0       -> send 12 13 14; cwnd 12; reductions 0
         at 110  arrive 3..9    -> send 15..28; cwnd 19
         at 210  arrive 12..18  -> send 29..35; reductions 0
         at 224                 ->
         at 225                 -> send 10; reductions 1",
    );
}

#[test]
fn a_repair_that_is_lost_is_found_by_what_was_sent_after_it() {
    // RFC 8985 §6.2, step 5: no three duplicates, no timeout.
    play(
        today(),
        reno(10),
        "at 0    start 40       -> send 0..9
         at 100  arrive 1..9    -> send 10 11 0 12 13; cwnd 5
         at 200  arrive 10 11   -> send 14 15
         at 200  arrive 12      -> send 0 16; reductions 1; timeouts 0
         at 200  arrive 13      -> send 17
         at 300  arrive 14 15   -> send 18 19
         at 300  arrive 0'      -> send 20; cwnd 5; reductions 1; timeouts 0",
    );
}

#[test]
fn a_packet_sent_again_may_not_be_marked() {
    // RFC 3168 §6.1.5: "MUST NOT set either of the ECT codepoints" on retransmitted data packets. ns-2 does.
    for (ect_on_repairs, expected) in [(false, Ecn::NotCapable), (true, Ecn::Capable)] {
        let reno = NewReno::new(NewRenoSettings { ecn: true, ..NewRenoSettings::new(10) });
        let left = play(
            today().with_parts(|parts| parts.ect_on_repairs = ect_on_repairs),
            reno,
            "at 0    start 10     -> send 0..9
             at 100  arrive 1..9  -> send 0",
        );
        assert_eq!(left.iter().map(|packet| packet.ecn).collect::<Vec<_>>(), [Ecn::Capable, expected]);
    }
}

#[test]
fn the_rfcs_example_of_fast_recovery() {
    // RFC 8985 §3.4: P1, P2 and P3 are lost, and then P1's repair. Two RTTs after the ACK of P0 the probe timer goes. The
    // example supposes that there is room for both repairs, where PRR would send one.
    play(
        today(),
        Roomy,
        "at 0    start 4        -> send 0..3
         at 100  arrive 0       ->
         at 300                 -> send 3; reductions 0
         at 400  arrive 3'      -> send 1 2; reductions 1
         at 500  arrive 2'      -> send 1
         at 600  arrive 1'      -> timeouts 0; reductions 1",
    );
}
