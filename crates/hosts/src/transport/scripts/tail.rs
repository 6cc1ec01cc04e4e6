//! Tail loss probes and timeouts, line by line (RFC 8985 §7 and §6.3; RFC 6298).

use super::{play, reno, today};
use crate::transport::{Connections, Settings};

/// Connections that live to see more data.
fn persistent() -> Settings {
    Settings { connections: Connections::Persistent, ..today() }
}

#[test]
fn a_probe_is_new_data_where_there_is_some_whatever_the_window() {
    // RFC 8985 §7.3. Two smoothed RTTs after the last ACK; one probe at a time, then the retransmission timer.
    play(
        today(),
        reno(2),
        "at 0    start 20       -> send 0 1
         at 100  arrive 0 1     -> send 2..5; cwnd 4
         at 300                 -> send 6; flight 5; reductions 0
         at 400  arrive 6       -> send 2; reductions 1; timeouts 0
         at 500  arrive 2'      -> send 3 4",
    );
}

#[test]
fn a_lone_packet_is_waited_for_as_long_as_an_ack_may_be_delayed() {
    // RFC 8985 §7.2: 2 * SRTT + 200 ms, but no later than the timeout, which is SRTT + 200 ms as Linux has it.
    play(
        today(),
        reno(10),
        "at 0    start 3        -> send 0 1 2
         at 100  arrive 0 1     ->
         at 399                 ->
         at 400                 -> send 2; timeouts 0; reductions 0",
    );
}

#[test]
fn a_probe_that_repaired_the_only_loss_lowers_the_window_once_later_data_is_acknowledged() {
    // RFC 8985 §7.4.2: the last of a burst is lost, its probe arrives; the next packets were given meanwhile.
    play(
        persistent(),
        reno(4),
        "at 0    start 4        -> send 0..3
         at 100  arrive 0 1 2   -> cwnd 6
         at 400                 -> send 3
         at 450  start 4        -> send 4..7
         at 500  arrive 3'      -> reductions 0
         at 550  arrive 4       -> reductions 1; timeouts 0
         at 550  arrive 5..7    -> reductions 1",
    );
}

#[test]
fn a_probe_of_what_was_late_only_changes_nothing() {
    // Both copies arrive: the receiver says so (DSACK).
    play(
        persistent(),
        reno(4),
        "at 0    start 4        -> send 0..3
         at 100  arrive 0 1 2   -> cwnd 6
         at 400                 -> send 3
         at 410  arrive 3       ->
         at 450  start 4        -> send 4..7
         at 500  arrive 3'      ->
         at 550  arrive 4..7    -> reductions 0",
    );
}

#[test]
fn a_timeout_takes_the_oldest_for_lost_and_what_is_overdue_but_not_what_was_just_sent() {
    // RFC 8985 §6.3. All of the second flight and the probe are lost. The timeout is 100 + 200 ms after the probe.
    play(
        today(),
        reno(2),
        "at 0    start 6        -> send 0 1
         at 100  arrive 0 1     -> send 2..5; cwnd 4
         at 300                 -> send 5
         at 600                 -> send 2; timeouts 1; cwnd 1; flight 1
         at 700  arrive 2'      -> send 3 4; cwnd 2
         at 800  arrive 3' 4'   -> send 5; cwnd 2; timeouts 1
         at 900  arrive 5'      -> timeouts 1",
    );
}

#[test]
fn timeouts_in_a_row_come_after_twice_the_time() {
    // RFC 6298 §5.5: each timeout doubles the next ("back off the timer").
    play(
        today(),
        reno(1),
        "at 0    start 2        -> send 0
         at 100  arrive 0       -> send 1
         at 400                 -> send 1; timeouts 0
         at 700                 -> send 1; timeouts 1
         at 1300                -> send 1; timeouts 2
         at 2500                -> send 1; timeouts 3
         at 2600 arrive 1'      -> timeouts 3",
    );
}
