//! What is read from a scenario, and what networks are drawn from it.

use exmachina_net::network::{self, Arrival, Draw, FirstOff, FlowPlan, HopPlan, On, Stop};
use exmachina_net::queue::Limit;
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::traffic::Traffic;
use proptest::prelude::*;

use super::*;

#[test]
fn the_short_scenario() {
    let scenario = parse(SHORT);
    assert_eq!(scenario.name, "x");
    assert!(scenario.is_exact());
    let workload = network::Workload::new(On::Seconds(5.0), 3.0);
    let flow = FlowPlan { route: vec![0], rtt_ms: 150.0, workload };
    let network = Network::clean(vec![HopPlan::constant(15.0)], vec![flow; 2]);
    assert_eq!(scenario.draw(&mut Stream::new(1, 0, 0, Purpose::Network)).network, network);
    let one = vec![Specimen::of(network, 0)];
    assert_eq!(scenario.corners(), one);
    assert_eq!(scenario.grid(), Some(one));
}

#[test]
fn buffers_and_workloads() {
    let buffer = |text: &str| with(&[(RATE, &format!("{RATE}\nbuffer = {text}"))]).corners()[0].network.hops[0].limit;
    assert_eq!(buffer("'infinite'"), Limit::Infinite);
    assert_eq!(buffer("{ packets = 1000 }"), Limit::Packets(1000));
    // 15 Mbit/s x 150 ms = 225 packets of 1250 bytes.
    assert_eq!(buffer("{ bdp = 5 }"), Limit::Packets(1125));
    assert_eq!(buffer("{ bdp = 0.001 }"), Limit::Packets(1));
    let flows = &with(&[(ON, "on = { bytes = 100_000 }")]).corners()[0].network.flows;
    assert!(flows.iter().all(|flow| flow.workload.on == On::Bytes(100_000.0)));
}

#[test]
fn senders_with_their_own_rtt() {
    let each = "rtt_ms_each = [50, 100, 200, 150]";
    let bdp = "rate_mbps = 15\nbuffer = { bdp = 1 }";
    for scenario in [
        with(&[(RTT, each), ("[senders]\ncount = 2", ""), (RATE, bdp)]),
        with(&[(RTT, each), (COUNT, "count = 4"), (RATE, bdp)]),
    ] {
        let network = &scenario.corners()[0].network;
        assert_eq!(network.rtts_ms().collect::<Vec<_>>(), [50.0, 100.0, 200.0, 150.0]);
        assert_eq!(network.hops[0].limit, Limit::Packets(300));
    }
}

#[test]
fn grids_and_corners_are_in_order() {
    let scenario =
        with(&[(RATE, "rate_mbps = { log_grid = [1, 100], points = 3 }"), (COUNT, "count = { list = [1, 3, 2] }")]);
    let points = |specimens: &[Specimen]| {
        let point = |Specimen { network, .. }: &Specimen| (network.rate_mbps().round(), network.senders());
        specimens.iter().map(point).collect::<Vec<_>>()
    };
    let grid = points(&scenario.grid().unwrap());
    assert_eq!(grid[..4], [(1.0, 1), (1.0, 3), (1.0, 2), (10.0, 1)]);
    assert_eq!(grid.len(), 9);
    assert_eq!(points(&scenario.corners()), [(1.0, 1), (1.0, 3), (100.0, 1), (100.0, 3)]);
    let even = with(&[(RATE, "rate_mbps = { grid = [1, 2], points = 5 }")]).grid().unwrap();
    assert_eq!(even.iter().map(|s| s.network.rate_mbps()).collect::<Vec<_>>(), [1.0, 1.25, 1.5, 1.75, 2.0]);
    let counts = with(&[(COUNT, "count = { log_grid = [1, 1000], points = 4 }")]).grid().unwrap();
    assert_eq!(counts.iter().map(|s| s.network.senders()).collect::<Vec<_>>(), [1, 10, 100, 1000]);
    assert_eq!(with(&[(COUNT, "count = { uniform = [1, 2] }")]).grid(), None);
}

#[test]
fn specimens() {
    let grid = with(&[(COUNT, "count = { list = [1, 2] }")]).specimens(9, 5);
    assert_eq!(grid.seed, 9);
    assert_eq!(
        grid.specimens.iter().map(|s| (s.index, s.network.senders())).collect::<Vec<_>>(),
        [(0, 1), (1, 2), (2, 1), (3, 2), (4, 1)]
    );
    let random = with(&[(RATE, "rate_mbps = { uniform = [1, 2] }")]);
    let set = random.specimens(9, 5);
    assert_eq!(set.specimens[..3], random.specimens(9, 3).specimens);
    assert_ne!(set.specimens[0].network, set.specimens[1].network);
    assert_ne!(set.specimens[0].network, random.specimens(10, 1).specimens[0].network);
}

#[test]
fn one_distribution_does_not_disturb_another() {
    let draw = |scenario: Scenario| scenario.draw(&mut Stream::new(3, 0, 0, Purpose::Network));
    let rtt = (RTT, "rtt_ms = { uniform = [100, 200] }");
    let off = (OFF, "off = { seconds = { log_uniform = [1, 10] } }");
    let both = draw(with(&[
        rtt,
        off,
        (RATE, "rate_mbps = { log_uniform = [1, 10] }"),
        (COUNT, "count = { uniform = [1, 9] }"),
    ]));
    let without = draw(with(&[rtt, off]));
    assert_eq!(both.network.flows[0].rtt_ms, without.network.flows[0].rtt_ms);
    assert_eq!(both.network.flows[0].workload.off_s, without.network.flows[0].workload.off_s);
}

#[test]
fn counts_reach_both_ends() {
    let scenario = with(&[(COUNT, "count = { uniform = [1, 3] }")]);
    let mut seen = [0; 4];
    for specimen in scenario.specimens(1, 300).specimens {
        seen[specimen.network.senders()] += 1;
    }
    assert!(seen[0] == 0 && seen[1..].iter().all(|&n| n > 70), "{seen:?}");
}

#[test]
fn workloads_of_all_kinds() {
    let workload = |on: &str, off: &str| with(&[(ON, on), (OFF, off)]).corners()[0].network.flows[0].workload.clone();
    assert_eq!(workload("on = { fixed_seconds = 5 }", "off = { seconds = 1 }").on, On::FixedSeconds(5.0));
    assert_eq!(workload("on = { icsi = {} }", OFF).on, On::Icsi { extra_bytes: 16384.0 });
    assert_eq!(workload("on = { icsi = { extra_bytes = 0 } }", OFF).on, On::Icsi { extra_bytes: 0.0 });
    let forever = workload("on = 'forever'", "first_off = { seconds = 2 }");
    assert_eq!((forever.on, forever.first_off), (On::Forever, FirstOff::At(2.0)));
    // Where nothing is said, many of them do not begin at one instant.
    let forever = workload("on = 'forever'", "");
    assert_eq!((forever.off_s, forever.first_off), (1.0, FirstOff::Exponential));
    let begins: std::collections::BTreeSet<_> =
        (0..1000).map(|i| Traffic::new(forever.clone(), 1, 0, i).next).collect();
    assert!(begins.len() > 990);
    let fixed = workload(ON, "off = { fixed_seconds = 5 }\nfirst_off = 'half-exponential'");
    assert_eq!((fixed.off, fixed.off_s, fixed.first_off), (Draw::Fixed, 5.0, FirstOff::HalfExponential));
    let at = "on = { at = [{ start_s = 0, bytes = 1e6 }, { start_s = 5, seconds = 10 }, { start_s = 7 }] }";
    let arrival = |start_s, stop| Arrival { start_s, stop };
    let expected = [arrival(0.0, Stop::Bytes(1e6)), arrival(5.0, Stop::Seconds(10.0)), arrival(7.0, Stop::Never)];
    assert_eq!(workload(at, "").on, On::At(expected.into()));
}

proptest! {
    #[test]
    fn draws_stay_in_their_ranges(
        seed: u64,
        lo in 1e-3..1e3,
        factor in 1.001..1e3,
        least in 1u32..500,
        more in 1u32..500,
    ) {
        let (hi, most) = (lo * factor, least + more);
        let scenario = with(&[
            (RATE, &format!("rate_mbps = {{ log_uniform = [{lo}, {hi}] }}\nloss = {{ list = [0, 0.01] }}")),
            (RTT, &format!("rtt_ms = {{ uniform = [{lo}, {hi}] }}")),
            (COUNT, &format!("count = {{ uniform = [{least}, {most}] }}")),
            (OFF, &format!("off = {{ seconds = {{ grid = [{lo}, {hi}], points = 7 }} }}")),
        ]);
        let mut stream = Stream::new(seed, 0, 0, Purpose::Network);
        for _ in 0..50 {
            let network = scenario.draw(&mut stream).network;
            prop_assert!((lo..=hi).contains(&network.rate_mbps()));
            prop_assert!((least as usize..=most as usize).contains(&network.senders()));
            prop_assert!(network.rtts_ms().all(|rtt| (lo..=hi).contains(&rtt) && rtt == network.flows[0].rtt_ms));
            prop_assert!((lo..=hi).contains(&network.flows[0].workload.off_s));
            prop_assert!(network.hops[0].loss == 0.0 || network.hops[0].loss == 0.01);
        }
    }
}
