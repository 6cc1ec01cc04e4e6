//! Tests of design models whose senders are not all alike: groups, AIMD among them, tables by name, several links.

use exmachina_hosts::library::Library;
use exmachina_net::queue::Limit;

use super::*;
use crate::objective::Objective;
use crate::role::{Role, Runs};

const REST: &str = "[workload]\non = { seconds = 5 }\noff = { seconds = 3 }\n";
const DUMBBELL: &str = "[link]\nrate_mbps = 15\n[path]\nrtt_ms = 150\n";
const TWO_LINKS: &str = "\
[[links]]
name = 'A'
rate_mbps = { log_uniform = [10, 100] }
buffer = { bdp = 1 }
delay_ms = 75
[[links]]
name = 'B'
rate_mbps = { log_uniform = [10, 100] }
loss = { uniform = [0, 0.1] }
delay_ms = 50
[[senders]]
count = 1
[[senders]]
count = { uniform = [0, 2] }
links = ['A']
[[senders]]
count = 1
links = ['B']
rtt_ms = { uniform = [200, 300] }
";

fn parse(text: &str) -> Scenario {
    Scenario::parse(&format!("{text}{REST}"), "x.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn told(text: &str) -> String {
    let message = Scenario::parse(&format!("{text}{REST}"), "x.toml").unwrap_err().to_string();
    message.strip_prefix("x.toml:").expect("the name of the file").trim_start().to_owned()
}

/// What a dumbbell with these senders is told; they begin at line 5.
fn told_of(senders: &str) -> String {
    told(&format!("{DUMBBELL}{senders}\n"))
}

#[test]
fn some_senders_run_aimd() {
    let scenario = parse(&format!("{DUMBBELL}[senders]\ncount = 2\naimd = {{ list = [0, 1] }}\n"));
    let grid = scenario.grid().unwrap();
    assert_eq!(grid.len(), 2);
    // Where all are alike again nothing says otherwise, and the fast path is taken.
    assert_eq!(grid[0].roles, []);
    assert_eq!(grid[1].roles.iter().map(|role| role.runs).collect::<Vec<_>>(), [Runs::Table(0), Runs::Aimd]);
    assert_eq!(scenario.classes(), [""]);
}

#[test]
fn names_stand_for_tables() {
    let group = |name: &str, delta: f64| {
        format!("[[senders]]\nname = '{name}'\ncount = {{ list = [0, 1, 2] }}\nobjective = {{ delta = {delta} }}\n")
    };
    let scenario = parse(&[DUMBBELL, &group("a", 0.1), &group("b", 10.0)].concat());
    assert_eq!(scenario.classes(), ["a", "b"]);
    let grid = scenario.grid().unwrap();
    let counts =
        |class| move |specimen: &Specimen| specimen.roles.iter().filter(|r| r.runs == Runs::Table(class)).count();
    let pairs: Vec<_> = grid.iter().map(|n| (counts(0)(n), counts(1)(n))).collect();
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]);
    let role =
        |class, delta| Role { runs: Runs::Table(class), objective: Some(Objective { delta, ..Objective::default() }) };
    assert_eq!(grid[3].roles, [role(0, 0.1), role(1, 10.0)]);
    // Random draws are never without senders either; the corners neither.
    let text = [
        &DUMBBELL.replace("rate_mbps = 15", "rate_mbps = { uniform = [1, 2] }"),
        &group("a", 0.1)[..],
        &group("b", 10.0),
    ]
    .concat();
    assert!(parse(&text).specimens(1, 100).specimens.iter().all(|s| s.network.senders() > 0));
    assert_eq!(parse(&text).corners().len(), 6);
}

#[test]
fn links_in_a_row_are_drawn_as_for_evaluations() {
    let scenario = parse(TWO_LINKS);
    let evaluation = Evaluation::parse(&format!("schemes = ['cubic']\n{TWO_LINKS}{REST}"), "x.toml").unwrap();
    let library = Library::default();
    let mut seen = [false; 5];
    for Specimen { network, roles, index, .. } in scenario.specimens(1, 40).specimens {
        let world = evaluation.world(0, index, &library).unwrap().world;
        let mut as_there = network.clone();
        as_there.flows.iter_mut().for_each(|flow| flow.workload.bytes_per_packet = 1210.0);
        assert_eq!(world.network, as_there);
        // Twice 75 ms and 50 ms, the longest RTT on the first link.
        let rates = [0, 1].map(|i| network.hops[i].link.mean_mbps());
        let packets = (rates[0] * 1e6 / 1e4 * 0.25).round() as u32;
        assert_eq!([0, 1].map(|i| network.hops[i].limit), [Limit::Packets(packets), Limit::Infinite]);
        assert_eq!(network.rate_mbps(), rates[0].min(rates[1]));
        assert!(roles.is_empty() && (200.0..300.0).contains(&network.flows.last().unwrap().rtt_ms));
        seen[network.senders()] = true;
    }
    assert_eq!(seen, [false, false, true, true, true]);
}

#[test]
fn mistakes_in_groups() {
    let exactly = "expected fewer than the senders, of which there may be";
    assert_eq!(told_of("[senders]\ncount = 2\naimd = 2"), format!("7: senders.aimd: {exactly} 2, got 2"));
    assert_eq!(
        told_of("[senders]\ncount = { uniform = [1, 5] }\naimd = { list = [0, 1] }"),
        format!("7: senders.aimd: {exactly} 1, got 1")
    );
    assert_eq!(told_of("[senders]\ncount = 2\naimd = -1"), "7: senders.aimd: expected from 0 to 1000 senders, got -1");
    assert_eq!(
        told_of("[senders]\ncount = { list = [0, 1] }"),
        "6: senders.count: expected from 1 to 1000 senders, got 0"
    );
    assert_eq!(
        told_of("[[senders]]\ncount = 1\n[[senders]]\ncount = 0"),
        "8: senders[1].count: expected from 1 to 1000 senders, got 0"
    );
    assert_eq!(
        told_of("[[senders]]\ncount = 600\n[[senders]]\ncount = 600"),
        "5: senders: expected at most 1000 senders in all, got 1200"
    );
    assert_eq!(told_of("[[senders]]\nname = 'a'"), "5: senders[0].count: missing; this field is required");
    assert_eq!(
        told_of("[[senders]]\ncount = 1\nname = 'a'\n[[senders]]\ncount = 1"),
        "8: senders[1].name: missing; expected it for all groups or for none"
    );
    assert_eq!(
        told_of("[[senders]]\ncount = 1\nname = '../a'"),
        "7: senders[0].name: expected letters, digits, dots, dashes and underscores, got \"../a\""
    );
    assert_eq!(
        told_of("[[senders]]\ncount = 1\nobjective = { delta = -1 }"),
        "7: senders[0].objective.delta: expected a number from 0 to 1000000 (scores stay finite), got -1"
    );
    assert_eq!(told(&format!("senders = []\n{DUMBBELL}")), "1: senders: expected at least one group of senders");
}

#[test]
fn mistakes_in_links() {
    let lot = |from: &str, to: &str| told(&TWO_LINKS.replacen(from, to, 1));
    assert_eq!(lot("['A']", "['C']"), "15: senders[1].links: expected names of links (A, B), got C");
    assert_eq!(lot("name = 'B'", "name = 'A'"), "7: links[1].name: expected another name than that of a link before");
    assert_eq!(lot("delay_ms = 75\n", ""), "path: missing; this field is required");
    // There are no delays between the links of a route of one.
    parse(&TWO_LINKS.replace("[200, 300]", "[20, 300]"));
    assert_eq!(
        lot("[[senders]]\ncount = 1\n", "[[senders]]\ncount = 1\nrtt_ms = 60\n"),
        "13: senders[0].rtt_ms: expected at least 75 ms, the delays between its links, got 60"
    );
    assert!(told(&format!("link = 5\n{TWO_LINKS}")).starts_with("1: link: expected a table"));
    assert_eq!(
        told(&format!("{TWO_LINKS}[link]\nrate_mbps = 1\n")),
        "1: links: expected either [link] or [[links]], got both"
    );
}

#[test]
fn evaluations_know_these_fields_too() {
    let text = format!(
        "schemes = ['cubic', 'aimd']\nruns = 2\n{DUMBBELL}[[senders]]\nname = 'a'\ncount = {{ list = [0, 2] }}\n\
         objective = {{ delta = 2 }}\n[[senders]]\ncount = {{ list = [0, 3] }}\naimd = {{ list = [0] }}\n{REST}"
    );
    let evaluation = Evaluation::parse(&text, "x.toml").unwrap();
    assert_eq!((evaluation.points(), evaluation.runs()), (Some(3), 6));
    let library = Library::default();
    let senders = |run| evaluation.world(0, run, &library).unwrap().schemes.len();
    assert_eq!((0..6).map(senders).collect::<Vec<_>>(), [3, 2, 5, 3, 2, 5]);
    let text = format!("schemes = ['cubic']\n{DUMBBELL}[senders]\ncount = 3\naimd = 1\n{REST}");
    let evaluation = Evaluation::parse(&text, "x.toml").unwrap();
    assert_eq!(evaluation.scheme_names(), ["cubic", "aimd"]);
    assert_eq!(evaluation.world(0, 0, &library).unwrap().schemes, [0, 0, 1]);
}
