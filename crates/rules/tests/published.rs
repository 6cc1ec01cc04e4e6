//! The published tables read, look up and are written back without loss. Skips where the reference data is absent.

use exmachina_reference::reference;
use exmachina_rules::{FlatTable, Memory, RuleTable, Signal};

/// Rules, signals and file of each published table.
const TABLES: [(&str, usize, usize); 9] = [
    ("RemyCC-2013-delta0.1", 162, 3),
    ("RemyCC-2013-delta1", 190, 3),
    ("RemyCC-2013-delta10", 197, 3),
    ("tao-10x", 0, 4),
    ("tao-100x", 0, 4),
    ("tao-mux-1-10", 0, 4),
    ("tao-rtt-150", 0, 4),
    ("tao-tcp-naive", 0, 4),
    ("tao-tcp-aware", 0, 4),
];

fn published(name: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(reference(&format!("remycc/{name}.dna"))?).unwrap())
}

#[test]
fn every_table_reads_and_round_trips() {
    for (name, rules, signals) in TABLES {
        let Some(bytes) = published(name) else { return };
        let table = RuleTable::from_dna(&bytes).unwrap();
        assert!(rules == 0 || table.len() == rules, "{name}: {} rules", table.len());
        assert_eq!(table.signals, &Signal::ALL[..signals], "{name}");
        assert!(table.to_dna() == bytes, "{name}: bytes differ after a round trip");
        assert!(table.config().is_some() == (signals == 4), "{name}: config");
    }
}

#[test]
fn every_table_looks_up() {
    for (name, ..) in TABLES {
        let Some(bytes) = published(name) else { return };
        let table = RuleTable::from_dna(&bytes).unwrap();
        let (flat, rules) = (FlatTable::new(&table).unwrap(), table.rules());
        // A walk through memory space: growing spacing, a queue that rises and falls.
        let (mut memory, mut sent, mut received, mut last) = (Memory::default(), 0u64, 0u64, 0);
        for i in 0..20_000u64 {
            sent += 10_000 + (i * 7919) % 3_000_000;
            let queue = (i * 104_729) % 40_000_000 * u64::from(i % 97 > 10);
            received = received.max(sent + 150_000_000 + queue);
            memory.on_ack(sent, received, 1, 1);
            last = flat.lookup(&memory, last).0;
            assert!(rules[last].0.contains(&memory.point()), "{name}: {:?}", memory.point());
        }
    }
}
