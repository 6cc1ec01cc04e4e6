//! Reads ACKs, losses and restarts (the records of `python/tests/acks.py`), and writes the rule, the window and the pace after each: the
//! QUIC controller's part of `python/tests/test_conformance.py`. It is told of them as a stack tells: packet by packet, and of what is
//! lost after the ACK that shows it.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use exmachina_quic::Flow;
use exmachina_rules::{FlatTable, RuleTable};

const MTU: u16 = 1200;

enum Record {
    Ack { sent: Instant, received: Instant, packets: u32 },
    Loss(u32),
    Restart,
}

/// `sent_ns, received_ns, tick_ns, advance, packets, kind, reserved`: three numbers of 64 bits, and four of 32.
fn record(bytes: &[u8; 40], zero: Instant) -> Record {
    let at = |from: usize| {
        let ns = u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"));
        zero + Duration::from_nanos(ns)
    };
    let word = |from: usize| u32::from_le_bytes(bytes[from..from + 4].try_into().expect("four bytes"));
    match word(32) {
        0 => Record::Ack { sent: at(0), received: at(8), packets: word(28) },
        1 => Record::Loss(word(28)),
        _ => Record::Restart,
    }
}

/// A flow that begins with a packet of full size.
fn started(table: &Arc<FlatTable>, zero: Instant) -> Flow {
    let mut flow = Flow::start(Arc::clone(table), zero, MTU);
    flow.on_sent(zero, MTU.into(), 0);
    flow
}

/// What stacks are told must follow from the rule.
fn check(flow: &Flow) {
    let (window, intersend_ns) = (flow.controller().window(), flow.controller().intersend_ns());
    assert_eq!(flow.window_bytes(), u64::from(MTU) * u64::from(window.max(1)));
    assert_eq!(flow.pacing_rate(), (u64::from(MTU) * 1_000_000_000 / intersend_ns.max(1)).max(1));
}

fn main() {
    let table = std::env::args().nth(1).expect("a table's path");
    let table = RuleTable::from_dna(&std::fs::read(table).expect("a table")).expect("a table");
    let table = Arc::new(FlatTable::new(&table).expect("a table"));
    let mut records = Vec::new();
    std::io::stdin().read_to_end(&mut records).expect("records");

    let zero = Instant::now();
    let (mut flow, mut lost) = (started(&table, zero), 0);
    let mut answers = Vec::new();
    for bytes in records.as_chunks().0 {
        match record(bytes, zero) {
            Record::Ack { sent, received, packets } => {
                (0..packets).for_each(|_| flow.on_ack(sent));
                flow.on_end_acks(received, u64::from(MTU), false);
                if lost > 0 {
                    flow.on_lost(received, std::mem::take(&mut lost));
                }
            }
            Record::Loss(packets) => lost += packets,
            Record::Restart => (flow, lost) = (started(&table, zero), 0),
        }
        check(&flow);
        answers.extend(flow.controller().intersend_ns().to_le_bytes());
        answers.extend((flow.controller().rule() as u32).to_le_bytes());
        answers.extend(flow.controller().window().to_le_bytes());
    }
    std::io::stdout().write_all(&answers).expect("standard output");
}
