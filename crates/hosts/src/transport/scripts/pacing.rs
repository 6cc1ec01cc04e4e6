//! When packets leave, line by line: Linux's pacing, and the window after a pause.

use super::{play, reno, today};
use crate::scheme::ConstantWindow;
use crate::transport::{Connections, Settings};

#[test]
fn a_paced_window_is_spread_over_half_an_rtt_in_slow_start() {
    // tcp_pacing_ss_ratio: 200 %. The first window goes at once: no RTT is known. Then 100 ms / (2 * 11) lie between packets.
    play(
        today().with_parts(|parts| parts.pacing = true),
        reno(10),
        "at 0          start    -> send 0..9
         at 100        arrive 0 -> send 10; cwnd 11
         at 104.545454          -> send 11
         at 110        stop     ->",
    );
}

#[test]
fn and_over_five_sixths_of_one_later() {
    // tcp_pacing_ca_ratio: 120 %. A constant window has no threshold: 100 ms / (1.2 * 10).
    play(
        today().with_parts(|parts| parts.pacing = true),
        ConstantWindow { packets: 10 },
        "at 0          start       -> send 0..9
         at 100        arrive 0..4 -> send 10
         at 108.333333             -> send 11
         at 116.666666             -> send 12
         at 120        stop        ->",
    );
}

#[test]
fn a_window_decays_with_each_timeout_of_a_pause() {
    // RFC 2861 §3. The timeout is 100 + 200 ms after the last packet at 100; 11 packets become 5 after it, and 4, the initial
    // window, in the end.
    let settings = Settings { connections: Connections::Persistent, initial_window: 4, ..today() };
    let busy = "at 0    start 12     -> send 0..3
                at 100  arrive 0..3  -> send 4..11; cwnd 8
                at 200  arrive 4..11 -> cwnd 11\n";
    for (pause, line) in [
        ("short", "at 390 start 40 -> send 12..22; cwnd 11"),
        ("of one timeout", "at 450 start 40 -> send 12..16; cwnd 5"),
        ("long", "at 5000 start 40 -> send 12..15; cwnd 4"),
    ] {
        println!("{pause}");
        play(settings, reno(4), &format!("{busy}{line}"));
    }
}

#[test]
fn until_data_are_acknowledged_a_receiver_takes_what_a_syn_can_say() {
    // RFC 7323 §2.2: 65535 bytes, of packets of 1210, are 54; and in the next connection of the same sender, too.
    play(
        today(),
        ConstantWindow { packets: 100 },
        "at 0    start 60   -> send 0..53; window 54
         at 100  arrive 0   -> send 54..59; window 100
         at 200  arrive 1..59 ->
         at 300  start 200  -> send 60..113; window 54
         at 400  arrive 60  -> send 114..160; window 100",
    );
}
