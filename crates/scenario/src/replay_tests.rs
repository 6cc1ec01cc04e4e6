//! Tests of `workload.replay`: whose on and off times a run has, and what every mistake is told.

use exmachina_hosts::library::Library;
use exmachina_net::network::{Arrival, On};

use super::*;

/// Two senders of Tao'14, on a grid of two rates.
const TAO14: &str = "\
schemes = ['newreno']
runs = 3
[link]
rate_mbps = { list = [1, 15] }
[path]
rtt_ms = 150
[senders]
count = 2
[workload]
on = { seconds = 1 }
off = { seconds = 5 }
replay = { ns2 = 1 }
[transport]
preset = 'tao14'
";

/// The first on-period of each sender of a run.
fn first(text: &str, run: u64) -> Vec<Arrival> {
    let evaluation = Evaluation::parse(text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    let library = Library::default();
    let world = evaluation.world(0, run, &library).unwrap().world;
    let first = |on: &On| match on {
        On::After(arrivals) => arrivals[0],
        other => panic!("{other:?}"),
    };
    world.network.flows.iter().map(|flow| first(&flow.workload.on)).collect()
}

fn told(text: &str) -> String {
    Evaluation::parse(text, "x.toml").unwrap_err().to_string()
}

#[test]
fn each_point_of_a_grid_has_the_runs_from_the_first_on() {
    let theirs = |run| crate::replay::tao14(run, &[[1.0, 5.0]; 2], 100.0).iter().map(|p| p[0]).collect::<Vec<_>>();
    for (run, ns2) in [(0, 1), (1, 1), (2, 2), (5, 3)] {
        assert_eq!(first(TAO14, run), theirs(ns2), "run {run}");
    }
    assert_eq!(first(&TAO14.replace("ns2 = 1", "ns2 = 3"), 0), theirs(3));
}

#[test]
fn remy13s_senders_have_their_own_streams() {
    let text = TAO14
        .replace("on = { seconds = 1 }", "on = { bytes = 100_000 }\nfirst_off = 'half-exponential'")
        .replace("tao14", "remy13");
    let theirs = [0, 1].map(|sender| crate::replay::remy13(1, sender, [1e5, 5.0], 100.0)[0]);
    assert_eq!(first(&text, 0), theirs);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let at = |message: &str| format!("x.toml:12: workload.replay: {message}");
    assert_eq!(
        told(&TAO14.replace("tao14", "today")),
        at("expected beside it transport.preset = \"remy13\" or \"tao14\", which say whose runs")
    );
    assert!(
        told(&TAO14.replace("tao14", "remy13"))
            .contains("on = { bytes = mean }, off = { seconds = mean } and first_off")
    );
    assert!(
        told(&TAO14.replace("off = { seconds", "off = { fixed_seconds"))
            .contains("and no first_off (Tao'14's scripts)")
    );
    assert_eq!(
        told(&TAO14.replace("ns2 = 1", "ns2 = 0")),
        "x.toml:12: workload.replay.ns2: expected a run of ns-2 from 1 to 10000, got 0"
    );
    assert!(told(&TAO14.replace("ns2 = 1", "run = 1")).contains("unknown field"));
    let own = "count = 2\nworkload = { on = 'forever' }";
    assert!(
        told(&TAO14.replace("count = 2", own))
            .ends_with("expected none beside workload.replay, which is for all senders")
    );
    let own = "count = 2\nworkload = { on = 'forever', replay = { ns2 = 1 } }";
    assert!(told(&TAO14.replace("count = 2", own)).ends_with("expected in [workload] only: it is for all senders"));
    let model = "[link]\nrate_mbps = 1\n[path]\nrtt_ms = 9\n[senders]\ncount = 1\n[workload]\non = { seconds = 1 }\noff = { seconds = 1 }\nreplay = { ns2 = 1 }\n";
    let message = Scenario::parse(model, "x.toml").unwrap_err().to_string();
    assert_eq!(message, "x.toml:10: workload.replay: for evaluations only, not for design models");
}
