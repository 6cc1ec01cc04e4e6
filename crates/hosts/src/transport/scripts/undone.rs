//! Losses that were none, line by line (RFC 3522, RFC 3708, RFC 5682).

use super::{play, reno, today};

#[test]
fn a_late_packet_shows_by_its_time_stamp_that_nothing_was_lost() {
    // RFC 3522 §3.2: the ACK of the first copy echoes a time before the repair.
    play(
        today(),
        reno(10),
        "at 0    start 40       -> send 0..9
         at 100  arrive 1 2 3   -> send 10 11 0; cwnd 5; reductions 1
         at 110  arrive 0       -> cwnd 10; undone 1; send 12 13
         at 200  arrive 0'      -> reductions 1; undone 1",
    );
}

#[test]
fn duplicates_of_all_repairs_show_it_too() {
    // RFC 3708: the repairs overtake the packets that they stand for, so that time stamps show nothing; the receiver reports
    // both of the late ones as duplicates, after the recovery.
    play(
        today(),
        reno(10),
        "at 0    start 40       -> send 0..9
         at 100  arrive 2..9    -> send 10 11 0 1 12; cwnd 5; reductions 1
         at 200  arrive 10 11   -> send 13 14
         at 200  arrive 0' 1'   -> send 15 16; cwnd 5
         at 201  arrive 0       -> undone 0; cwnd 5
         at 202  arrive 1       -> undone 1; cwnd 10; send 17..21; reductions 1",
    );
}

#[test]
fn a_timeout_that_came_too_early_is_undone_by_the_first_ack() {
    // The path becomes slow for a second. The window is what it was, and nothing but the oldest was sent again.
    play(
        today(),
        reno(4),
        "at 0    start 40       -> send 0..3
         at 100  arrive 0..3    -> send 4..11; cwnd 8
         at 300                 -> send 12
         at 600                 -> send 4; timeouts 1; cwnd 1
         at 1100 arrive 4       -> undone 1; send 13; cwnd 9; flight 9",
    );
}

#[test]
fn f_rto_sees_packets_arrive_that_were_not_sent_again() {
    // RFC 5682 §3.1: the oldest was lost indeed, but not what followed it, which comes late. Two new packets go (step 2b); then
    // 5 arrives, which was never repaired (step 3b).
    play(
        today(),
        reno(4),
        "at 0    start 40       -> send 0..3
         at 100  arrive 0..3    -> send 4..11; cwnd 8
         at 300                 -> send 12
         at 600                 -> send 4; timeouts 1; cwnd 1; flight 1
         at 700  arrive 4'      -> send 13 14; undone 0; cwnd 2
         at 710  arrive 5       -> undone 1; cwnd 9; flight 9",
    );
}

#[test]
fn f_rto_goes_on_as_usual_where_only_the_new_packets_come_back() {
    // Step 3a: everything of the window was lost.
    play(
        today(),
        reno(4),
        "at 0    start 40       -> send 0..3
         at 100  arrive 0..3    -> send 4..11; cwnd 8
         at 300                 -> send 12
         at 600                 -> send 4; timeouts 1; cwnd 1
         at 700  arrive 4'      -> send 13 14; cwnd 2
         at 800  arrive 13      -> send 5; undone 0; timeouts 1
         at 800  arrive 14      -> send 6
         at 900  arrive 5' 6'   -> send 7..10; timeouts 1; cwnd 4",
    );
}
