//! RemyCCs on Tao'14's TCP/Rational, with the on and off times of the authors' runs: sender by sender what their ns-2 counted,
//! the collapse included. Skips where the reference data is absent.

use std::path::Path;

use exmachina_hosts::library::Library;
use exmachina_net::endpoint::Endpoint;
use exmachina_net::observe::Unwatched;
use exmachina_net::time::Instant;
use exmachina_reference::reference;
use exmachina_rules::{FlatTable, RuleTable};
use exmachina_scenario::Evaluation;

/// What a sender did: packets in order, ACKs, transmissions, and the mean RTT of its ACKs, ms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sender {
    in_order: u64,
    acks: u64,
    sent: u64,
    rtt_ms: f64,
}

/// The senders of a run of theirs, from a file of runs.
fn theirs(root: &Path, file: &str, x: &str, run: &str) -> Vec<Sender> {
    let text = std::fs::read_to_string(root.join("ns2").join(file)).unwrap();
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let own = rows.filter(|row| row.len() > 8 && row[1] == x && row[2] == run);
    let number = |text: &str| text.parse::<f64>().unwrap();
    own.map(|row| Sender {
        in_order: number(row[8]) as u64,
        acks: number(row[7]) as u64,
        sent: number(row[9]) as u64,
        rtt_ms: number(row[5]),
    })
    .collect()
}

/// The same of ours.
fn ours(root: &Path, table: &str, link: &str, senders: usize, run: &str) -> Vec<Sender> {
    let text = format!(
        "schemes = ['{table}.dna']\n[link]\n{link}\n[path]\nrtt_ms = 150\n[senders]\ncount = {senders}\n[workload]\n\
         on = {{ seconds = 1 }}\noff = {{ seconds = 1 }}\nreplay = {{ ns2 = {run} }}\n[transport]\npreset = 'tao14'\n"
    );
    let evaluation = Evaluation::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    let bytes = std::fs::read(root.join("remycc").join(format!("{table}.dna"))).unwrap();
    let table_ = FlatTable::new(&RuleTable::from_dna(&bytes).unwrap()).unwrap();
    let mut library = Library::default();
    library.tables.insert(format!("{table}.dna"), table_);
    let mut engine = evaluation.world(0, 0, &library).unwrap().world.engine(evaluation.run_seed(0));
    engine.run(Instant::from_s(100.0), &mut Unwatched);
    let sender = |totals: exmachina_net::endpoint::Totals| Sender {
        in_order: totals.in_order,
        acks: totals.acks,
        sent: totals.sent,
        rtt_ms: totals.sampled.as_nanos_f64() * 1e-6 / totals.acks as f64,
    };
    engine.senders().iter().map(|ends| sender(ends.totals())).collect()
}

fn assert_alike(ours: &[Sender], theirs: &[Sender], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (mine, other)) in ours.iter().zip(theirs).enumerate() {
        let counts = |s: &Sender| (s.in_order, s.acks, s.sent);
        assert_eq!(counts(mine), counts(other), "{what}, sender {i}: packets in order, ACKs, transmissions");
        assert!((mine.rtt_ms - other.rtt_ms).abs() < 1e-4, "{what}, sender {i}: {} {}", mine.rtt_ms, other.rtt_ms);
    }
}

#[test]
fn the_collapse_of_tao_10x_is_theirs_to_the_packet() {
    let Some(root) = reference("") else { return };
    // 40 and 153 packets in order, of 18,708 and 19,604 transmissions: run 1 at 1 Mbit/s.
    let link = "rate_mbps = 1\nbuffer = { bdp = 5, beyond_ms = 2 }";
    let first = ours(&root, "tao-10x", link, 2, "1");
    assert_eq!(first.iter().map(|s| (s.in_order, s.sent)).collect::<Vec<_>>(), [(40, 18_708), (153, 19_604)]);
    for run in ["1", "5", "10"] {
        assert_alike(
            &ours(&root, "tao-10x", link, 2, run),
            &theirs(&root, "t2_10x_collapse_runs.csv", "1.0", run),
            &format!("T2, 1 Mbit/s, run {run}"),
        );
    }
}

#[test]
fn twenty_senders_of_tao_mux_are_theirs_to_the_packet() {
    let Some(root) = reference("") else { return };
    let link = "rate_mbps = 15\nbuffer = { bdp = 5 }\ndelay_ms = 75";
    for run in ["1", "7"] {
        assert_alike(
            &ours(&root, "tao-mux-1-10", link, 20, run),
            &theirs(&root, "t3_mux_1_10_runs.csv", "20", run),
            &format!("T3, 20 senders, run {run}"),
        );
    }
}
