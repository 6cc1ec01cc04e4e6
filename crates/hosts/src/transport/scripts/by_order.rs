//! Losses found by order of transmission, line by line (RFC 9002 §6.1.1), with PRR (RFC 9937).

use super::{ns2, play, reno};
use crate::transport::{LossThreshold, Recovery, Repair};

#[test]
fn a_packet_is_lost_when_one_sent_three_later_has_arrived() {
    play(
        ns2(Recovery::Proportional),
        reno(10),
        "at 0    start 30       -> send 0..9
         at 100  arrive 1       -> send 10
         at 101  arrive 2       -> send 11
         at 102  arrive 3       -> send 0; cwnd 5; reductions 1; flight 9",
    );
}

#[test]
fn a_repair_that_is_lost_is_found_again() {
    play(
        ns2(Recovery::Proportional),
        reno(10),
        "at 0    start 40       -> send 0..9
         at 100  arrive 1..9    -> send 10 11 0 12 13; cwnd 5
         at 200  arrive 10 11 12 -> send 14 15 16
         at 200  arrive 13      -> send 17; reductions 1
         at 300  arrive 14      -> send 0 18; reductions 1; timeouts 0",
    );
}

#[test]
fn a_threshold_that_adapts_grows_to_what_was_late() {
    let adapts = |adapts| {
        ns2(Recovery::Proportional).with_parts(|parts| {
            parts.repair = Repair::Proportional(LossThreshold { packets: 3, adapts });
        })
    };
    // Packet 0 comes five transmissions late, after its repair has gone: six are waited for from then on.
    let late = "at 0    start 40       -> send 0..9
                at 100  arrive 1..5    -> send 10 11 0 12; cwnd 5; reductions 1
                at 110  arrive 0       -> reductions 1
                at 111  arrive 6..9    -> send 13 14
                at 200  arrive 10 11   -> send 15 16; flight 5\n";
    for (adapts_to_it, then) in [
        (false, "at 220 arrive 13 14 15 -> send 17 18 12; reductions 2"),
        (true, "at 220 arrive 13 14 15 -> send 17 18 19; reductions 1"),
    ] {
        play(adapts(adapts_to_it), reno(10), &format!("{late}{then}"));
    }
}
