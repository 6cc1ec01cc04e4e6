//! Runs of a second over QUIC, which needs no root: how late a busy machine is makes no difference to what is asserted.

use std::sync::atomic::AtomicBool;

use exmachina_hosts::library::Library;
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};
use exmachina_scenario::Evaluation;
use exmachina_testbed::{Measured, Run, Stack, measure};

const DUMBBELL: &str = "\
schemes = ['cubic', 'newreno', 'bbr3', 'mine.dna']
duration_s = 1.5
[link]
rate_mbps = 10
buffer = { packets = 100 }
[path]
rtt_ms = 20
[senders]
count = 2
[workload]
on = 'forever'
first_off = { seconds = 0 }
";

/// The first run of a contender. `mine.dna` has a window of 20 packets and a pace of one in 5 ms.
fn measured(text: &str, contender: usize, records: bool) -> Measured {
    measured_with(Action { multiple: 0.0, increment: 20, intersend_ms: 5.0 }, text, contender, records)
}

/// The same, where `mine.dna` has this rule.
fn measured_with(rule: Action, text: &str, contender: usize, records: bool) -> Measured {
    let evaluation = Evaluation::parse(text, "x.toml").unwrap();
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut library = Library::default();
    library.tables.insert("mine.dna".to_owned(), table);
    let (evaluation, library) = (&evaluation, &library);
    let run = Run { evaluation, contender, run: 0, library, stack: &Stack::Quic, records };
    measure(run, &AtomicBool::new(false)).unwrap()
}

#[test]
fn senders_of_every_scheme_get_data_through_and_no_more_than_the_link_has() {
    for contender in 0..3 {
        let rows = measured(DUMBBELL, contender, false).rows;
        assert_eq!(rows.iter().map(|row| row.sender).collect::<Vec<_>>(), [0, 1]);
        let delivered: u64 = rows.iter().map(|row| row.totals.delivered).sum();
        assert!((1..=1501).contains(&delivered), "{contender}: {delivered}");
        for row in rows {
            assert!(row.totals.delivered <= row.totals.sent && row.totals.in_order <= row.totals.delivered);
            assert!(row.mean_rtt_ms() >= 20.0 && row.on_s > 0.0);
        }
    }
}

#[test]
fn a_table_keeps_its_pace() {
    // One packet in 5 ms, and at the beginning what noq's bucket holds.
    for row in measured(DUMBBELL, 3, false).rows {
        assert!((1..=300 + 20).contains(&row.totals.sent), "{}", row.totals.sent);
        assert_eq!(row.totals.retransmitted, 0);
    }
}

#[test]
fn whole_packets_of_the_path_hold_what_the_headers_leave() {
    let row = &measured(&DUMBBELL.replace("count = 2", "count = 1"), 3, false).rows[0];
    assert_eq!((row.packet_bytes, row.header_bytes), (1250, 61));
    // Packets with short numbers and offsets hold some bytes more, and a busy machine may not have read the last of them.
    let (read, arrived) = (row.totals.in_order, row.totals.delivered);
    assert!(read <= arrived && read * 10 > arrived * 9, "{read} of {arrived}");
}

#[test]
fn transfers_end_when_they_are_acknowledged_and_connections_may_be_given_up_before_they_are_open() {
    let transfers = "on = { bytes = 5000 }\noff = { seconds = 0.02 }\n[transport]\nopening = 'syn'";
    let text = DUMBBELL.replace("on = 'forever'\nfirst_off = { seconds = 0 }", transfers);
    let logged = measured(&text, 0, true);
    assert!(logged.rows.iter().all(|row| row.totals.in_order > 0 && row.on_s < 1.5));
    assert!(logged.records.len() > 2, "each on-period has a connection, and each connection a log");
    assert_eq!(logged.records[0].ending, "-0-0.sqlog");
    let short = text.replace("on = { bytes = 5000 }", "on = { seconds = 0.01 }");
    assert!(measured(&short, 0, false).rows.iter().all(|row| row.on_s > 0.0));
}

#[test]
fn a_receiver_that_misses_thousands_of_packets_keeps_its_connection() {
    let text = DUMBBELL.replace("rate_mbps = 10", "rate_mbps = 200\nloss = 0.5").replace("rtt_ms = 20", "rtt_ms = 300");
    let rule = Action { multiple: 0.0, increment: 20_000, intersend_ms: 0.1 };
    let rows = measured_with(rule, &text.replace("count = 2", "count = 1"), 3, false).rows;
    assert!(rows[0].totals.delivered > 0);
}
