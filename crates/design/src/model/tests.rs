//! Tests of model files: their defaults, their mistakes, the specimens they give, and the models that we ship.

use std::fs;
use std::path::PathBuf;

use exmachina_net::network::On;
use exmachina_net::outcome::Flow;
use exmachina_rules::Signal;
use exmachina_run::worth::Score;

use super::design_table::INCREMENT;
use super::*;

/// A model whose only table is the scenario's; four grid points.
const GRID: &str = "\
[link]
rate_mbps = { list = [10, 20] }
[path]
rtt_ms = 150
[senders]
count = { list = [1, 2] }
[workload]
on = { seconds = 5 }
off = { seconds = 5 }
";

fn random() -> String {
    GRID.replace("{ list = [10, 20] }", "{ uniform = [10, 20] }")
}

fn parse(text: &str) -> Model {
    Model::parse(text, "models/x.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// What a model is told, without the name of the file. The tables begin at line 10.
fn told(scenario: &str, tables: &str) -> String {
    let message = Model::parse(&format!("{scenario}{tables}"), "x.toml").unwrap_err().to_string();
    message.strip_prefix("x.toml:").expect("the name of the file").trim_start().to_owned()
}

fn design(text: &str) -> String {
    told(&random(), &format!("[design]\n{text}"))
}

#[test]
fn defaults_are_the_authors() {
    let model = parse(&random());
    assert_eq!(model.text, random());
    assert_eq!(model.objective, Objective::default());
    assert_eq!(
        model.design.signals.iter().map(|s| s.name()).collect::<Vec<_>>(),
        ["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"]
    );
    assert_eq!((model.design.specimens, model.design.duration_s, model.design.seed), (16, 100.0, 1));
    assert_eq!(model.design.min_split_width, 0.001);
    assert_eq!(model.design.increment, INCREMENT);
    assert_eq!(parse(GRID).design.specimens, 4);
}

#[test]
fn what_is_written_replaces_the_defaults() {
    let model = parse(&format!(
        "{GRID}[objective]\ndelta = 10\n[design]\nsignals = ['queueing_delay', 'rtt_ratio']\ndraws_per_point = 3\n\
         seed = 7\nmin_split_width = 1e-6\nincrement = {{ min = -16 }}\n"
    ));
    assert_eq!(model.objective.delta, 10.0);
    assert_eq!(model.design.signals, [Signal::RttRatio, Signal::QueueingDelay]);
    assert_eq!(model.design.specimens, 12);
    assert_eq!(model.design.seed, 7);
    assert_eq!(model.design.increment, StepRange { min: -16.0, ..INCREMENT });
}

#[test]
fn fields_of_evaluations_are_refused_by_name() {
    let refused = "for evaluations only, not for design models; expected one of";
    assert_eq!(
        told(&GRID.replace("[link]", "[link]\nqueue = 'codel'"), ""),
        format!("2: link.queue: {refused} rate_mbps, buffer, loss, name, delay_ms")
    );
    assert_eq!(
        told(&format!("runs = 5\n{GRID}"), ""),
        format!("1: runs: {refused} name, description, link, links, path, senders, workload, objective, also, design")
    );
}

#[test]
fn training_and_held_out_sets_share_nothing() {
    let model = parse(&random());
    for seed in [0, 1, u64::MAX] {
        assert_eq!(model.training(seed).seed % 2, 0);
        assert_eq!(model.held_out(seed, 16).seed % 2, 1);
        assert_ne!(model.training(seed).specimens[0].network, model.held_out(seed, 16).specimens[0].network);
    }
    assert_ne!(model.training(1).seed, model.training(2).seed);
    assert_eq!(model.training(1).specimens.len(), 16);
    assert_eq!(model.held_out(1, 5).specimens.len(), 5);
}

/// Training networks tremble at least; what else they have is drawn besides, and leaves the model's own numbers as they were.
#[test]
fn training_networks_are_those_of_the_world() {
    let (clean, text) = (parse(&random()), format!("{}[design.world]\n", random()));
    let rough = parse(&format!("{text}loss = {{ uniform = [0.01, 0.1] }}\nack_packets = 2\n"));
    let (clean_set, rough_set) = (clean.training(3), rough.training(3));
    for (clean, rough) in clean_set.specimens.iter().zip(&rough_set.specimens) {
        let (clean, rough) = (&clean.network, &rough.network);
        assert_eq!((clean.jitter_ms, clean.hops[0].loss, clean.acks.packets), (0.001, 0.0, 1));
        assert!((0.01..=0.1).contains(&rough.hops[0].loss) && rough.acks.packets == 2);
        assert_eq!((clean.rate_mbps(), &clean.flows), (rough.rate_mbps(), &rough.flows));
    }
    // Scores are on what the model says.
    assert_eq!(clean.held_out(3, 5), rough.held_out(3, 5));
    assert_eq!(clean.held_out(3, 5).specimens[0].network.jitter_ms, 0.0);
    assert_ne!(rough.in_world(rough.held_out(3, 5)), rough.held_out(3, 5));
    assert!(rough.is_rough() && !clean.is_rough());
    let lines = text.lines().count();
    let told = |field: &str| Model::parse(&format!("{text}{field}"), "x.toml").unwrap_err().to_string();
    assert_eq!(
        told("loss = 2"),
        format!("x.toml:{}: design.world.loss: expected a probability of at least 0 and below 1, got 2", lines + 1)
    );
}

/// Of eight training networks in a row, each quantity has one in every eighth of its range.
#[test]
fn training_networks_are_spread_evenly() {
    let model = parse(&format!("{}[design.world]\nloss = {{ uniform = [0, 0.8] }}\n", random()));
    for block in model.specimens(5, 40).specimens.chunks(8) {
        let parts = |of: &dyn Fn(&Specimen) -> f64| {
            let mut parts: Vec<u32> = block.iter().map(|specimen| of(specimen) as u32).collect();
            parts.sort_unstable();
            parts
        };
        let eighths: Vec<u32> = (0..8).collect();
        assert_eq!(parts(&|specimen| (specimen.network.rate_mbps() - 10.0) / 1.25), eighths);
        assert_eq!(parts(&|specimen| specimen.network.hops[0].loss * 10.0), eighths);
        // Half of them have one sender, the others two.
        assert_eq!(block.iter().filter(|specimen| specimen.network.senders() == 1).count(), 4);
    }
}

#[test]
fn what_only_one_link_can_have_is_refused_for_several() {
    let links = "[[links]]\nname = 'a'\nrate_mbps = 10\ndelay_ms = 5\n[[links]]\nname = 'b'\nrate_mbps = 10\ndelay_ms = 5\n\
                 [[senders]]\ncount = 1\nlinks = ['a', 'b']\n[workload]\non = { seconds = 5 }\noff = { seconds = 5 }\n\
                 [design.world]\nloss = 0.1\non_times = 2\npacing_late_ms = 1\n";
    assert_eq!(parse(links).training(1).specimens[0].network.roughness.late_ms, 1.0);
    let lines = links.lines().count();
    for field in ["batch_ms = 5", "policed = 1", "rtt_spread = 2", "link_upset_s = 9", "cubic = 1"] {
        let error = Model::parse(&format!("{links}{field}"), "x.toml").unwrap_err().to_string();
        let name = field.split(' ').next().unwrap();
        let expected = "expected no such thing where there are several links";
        assert_eq!(error, format!("x.toml:{}: design.world.{name}: {expected}", lines + 1));
    }
}

#[test]
fn held_out_sets_of_a_grid_have_every_point_equally_often() {
    let model = parse(GRID);
    let set = model.held_out(1, 6);
    assert_eq!(set.specimens.len(), 8);
    let points = model.scenario.grid().unwrap();
    for point in points {
        assert_eq!(set.specimens.iter().filter(|specimen| specimen.network == point.network).count(), 2);
    }
    assert!(model.held_out(1, 0).specimens.is_empty());
}

#[test]
fn mistakes() {
    assert_eq!(
        told(&random(), "[designs]"),
        "10: designs: unknown field; expected one of name, description, link, links, path, senders, workload, \
         objective, also, design; did you mean design?"
    );
    assert_eq!(
        told(&random(), "[objective]\nweight = 1"),
        "11: objective.weight: unknown field; expected one of preset, alpha, beta, delta, throughput, \
         loss_weight, deliveries"
    );
    assert_eq!(
        told(&random(), "[objective]\ndelta = -1"),
        "11: objective.delta: expected a number from 0 to 1000000 (scores stay finite), got -1"
    );
    assert!(
        told(&random(), "[objective]\npreset = 'proportional'\nalpha = 2")
            .starts_with("10: objective: expected neither")
    );
    assert_eq!(
        told(&random(), "[objective]\nthroughput = 'shares'"),
        "11: objective.throughput: expected share or on-time, got shares; did you mean share?"
    );
    assert_eq!(
        design("signals = ['rtt']"),
        format!("11: design.signals: expected some of {}, got rtt", Signal::ALL.map(Signal::name).join(", "))
    );
    assert_eq!(design("signals = []"), "11: design.signals: expected at least one signal");
    assert_eq!(
        design("signals = ['rtt_ratio', 'rtt_ratio']"),
        "11: design.signals: expected each signal once, got rtt_ratio twice"
    );
    assert_eq!(design("specimens = 0"), "11: design.specimens: expected from 1 to 100000 networks, got 0");
    assert_eq!(design("specimens = -1"), "11: design.specimens: expected a whole number, 0 or more, got -1");
    assert_eq!(
        design("draws_per_point = 2"),
        "11: design.draws_per_point: expected specimens instead: this scenario is no grid"
    );
    assert_eq!(
        told(GRID, "[design]\nspecimens = 16"),
        "11: design.specimens: expected draws_per_point instead: every quantity is a number, a list or a grid, \
         so all 4 points are used"
    );
    assert_eq!(
        told(GRID, "[design]\ndraws_per_point = 30000"),
        "11: design.draws_per_point: expected from 1 to 100000 networks, got 30000 for each of 4 points"
    );
    assert_eq!(
        design("duration_s = 0"),
        "11: design.duration_s: expected more than 0 and at most 3518 simulated seconds \
         (the search has runs of ten times that, and the simulator's clock counts no further), got 0"
    );
    assert!(design("duration_s = 3519").ends_with("got 3519"));
    assert_eq!(design("seed = -1"), "11: design.seed: expected a whole number, 0 or more, got -1");
    assert_eq!(
        design("min_split_width = 1"),
        "11: design.min_split_width: expected a share of at least 0 and below 1, got 1"
    );
}

#[test]
fn mistakes_in_steps() {
    assert_eq!(design("multiple = { min = 1 }"), "11: design.multiple: expected min < max, got 1 and 1");
    assert_eq!(design("multiple = { smallest = 0 }"), "11: design.multiple: expected smallest > 0, got 0");
    assert_eq!(
        design("multiple = { smallest = 1 }"),
        "11: design.multiple: expected smallest <= largest, got 1 and 0.5"
    );
    assert_eq!(design("multiple = { mult = 1 }"), "11: design.multiple: expected mult > 1, got 1");
    assert_eq!(
        design("multiple = { start = nan }"),
        "11: design.multiple: expected start from min to max, 0 to 1, got NaN"
    );
    assert_eq!(design("multiple = { min = -1 }"), "11: design.multiple: expected min of at least 0, got -1");
    // Beyond these a table of the search's own making would be refused.
    assert_eq!(
        design("multiple = { max = 1e7 }"),
        "11: design.multiple: expected max of at most 1000000, which makes the largest window of one packet; got 10000000"
    );
    assert_eq!(
        design("intersend_ms = { max = 1e10 }"),
        "11: design.intersend_ms: expected max of at most 10000000, 2.8 hours; got 10000000000"
    );
    assert_eq!(
        design("increment = { min = -2e6 }"),
        "11: design.increment: expected min of at least -1000000, got -2000000"
    );
    // These ladders never end.
    let steps = "11: design.multiple: expected at most 16 steps smallest * mult^k up to largest";
    assert!(design("multiple = { mult = 1.0000001 }").starts_with(steps));
    assert!(design("multiple = { smallest = 1e-300 }").starts_with(steps));
    assert_eq!(
        design("increment = { smallest = 0.5 }"),
        "11: design.increment: expected whole numbers of packets, got 0.5"
    );
    assert_eq!(
        design("increment = { step = 1 }"),
        "11: design.increment.step: unknown field; expected one of min, max, smallest, largest, mult, start"
    );
}

#[test]
fn the_models_that_we_ship() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/exmachina/models");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let model = parse(&fs::read_to_string(&path).unwrap());
        assert!(!model.scenario.description.is_empty(), "{}", path.display());
        assert!(!model.training(1).specimens.is_empty());
        names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    for name in ["demo", "general-1", "known-1x", "tao-10x"] {
        assert!(names.iter().any(|n| n == name), "{name}");
    }
}

#[test]
fn other_traffic_is_trained_with_in_turn() {
    let also = "[[also]]\nworkload = { on = { bytes = 100_000 }, off = { seconds = 0.5 } }\nobjective = { delta = 3 }";
    let (alone, both) = (parse(&random()), parse(&format!("{}\n{also}\nweight = 0.5", random())));
    assert_eq!((alone.group(), both.group()), (1, 2));
    let (one, two) = (alone.training(1), both.training(1));
    for (i, (a, b)) in one.specimens.iter().zip(&two.specimens).enumerate() {
        // The same network with other traffic at every other place.
        assert_eq!((a.index, a.network.rate_mbps()), (b.index, b.network.rate_mbps()));
        assert_eq!(b.network.flows[0].workload.on == On::Bytes(1e5), i % 2 == 1);
    }
    let times = Flow { on_s: 1.0, share_s: 1.0, min_rtt_ms: 1e-6, ..Flow::default() };
    let flow = Flow { delivered: 2, sent: 9, delay: exmachina_net::time::Duration::from_nanos(4), ..times };
    let outcome = Outcome { flows: vec![flow, Flow { sent: 1, ..times }], lost: 0, in_flight: 0, rate_mbps: 0.01 };
    let worth = |i: usize| both.worth(&two.specimens[i], &outcome);
    // log2(2 packets a second on a link of one) less delta * log2(a delay ratio of 2); halved for the other traffic.
    assert_eq!(worth(0), Score { mean: Some(1.0 - both.objective.delta), starved: 1, on: 2 });
    assert_eq!(worth(1), Score { mean: Some(0.5 * (1.0 - 3.0)), starved: 1, on: 2 });
    assert_eq!([0, 1, 2].map(|i| both.is_own(&two.specimens[i])), [true, false, true]);
    // Scores that are reported are of the model alone.
    assert_eq!(alone.held_out(1, 5), both.held_out(1, 5));

    // What an entry asks is a model of its own: its traffic, its objective, and so many times as long.
    let shorter = parse(&format!("{}\n{also}\nduration_times = 0.25\nworld = {{ loss = 0.01 }}", random()));
    let own = shorter.also_model(0).unwrap();
    assert_eq!((own.objective.delta, own.design.duration_s), (3.0, 0.25 * alone.design.duration_s));
    assert_eq!((own.also.len(), own.group(), shorter.also_model(1)), (0, 1, None));
    let [drawn, clean] = [own.held_out(1, 5), alone.held_out(1, 5)].map(|set| own.in_world(set));
    for (a, b) in drawn.specimens.iter().zip(&clean.specimens) {
        assert_eq!((a.network.rate_mbps(), a.network.hops[0].loss), (b.network.rate_mbps(), 0.01));
        assert_eq!(a.network.flows[0].workload.on, On::Bytes(1e5));
    }

    let grid = told(&format!("{GRID}\n{also}"), "");
    assert!(grid.ends_with("also: expected no [[also]] beside a scenario that is a grid"), "{grid}");
    let also = |entry: &str| told(&random(), &format!("[[also]]\n{entry}"));
    let weight =
        "11: also[0].weight: expected a weight from 0.000001 to 1000000 (beyond it only one of the two counts)";
    assert_eq!(also("weight = 0"), format!("{weight}, got 0"));
    assert!(also("weight = 1e308").starts_with(weight));
    assert!(also(&"[[also]]\n".repeat(32)).ends_with("also: expected at most 32 of them, got 33"));
    assert_eq!(
        also("weight = 1\nlink = { rate_mbps = 0 }"),
        "12: also[0].link.rate_mbps: expected a rate from 0.001 Mbit/s (a packet takes 10 s) to 1000000 Mbit/s (10 ns), got 0"
    );
}

#[test]
fn other_networks_are_trained_with_in_turn() {
    let senders = "{ count = 1, rtt_ms = { uniform = [50, 200] } }";
    let model = parse(&format!("{}[[also]]\nsenders = [{senders}, {senders}]\n", random()));
    let [also] = &model.also[..] else { panic!("{:?}", model.also) };
    assert_eq!((also.objective, also.weight), (model.objective, 1.0));
    assert_eq!((&also.scenario.links, &also.scenario.workload), (&model.scenario.links, &model.scenario.workload));
    for (i, specimen) in model.training(1).specimens.iter().enumerate() {
        let rtts: Vec<f64> = specimen.network.rtts_ms().collect();
        assert_eq!(rtts.len() == 2 && rtts[0] != rtts[1] && rtts[0] != 150.0, i % 2 == 1, "{rtts:?}");
    }
}

#[test]
fn other_networks_may_have_a_world_of_their_own_and_shorter_runs() {
    let also = "[design.world]\nloss = 0.25\n[[also]]\n[[also]]\nworld = { clock_ms = 3 }\nduration_times = 0.125\n";
    let model = parse(&format!("{}{also}", random()));
    assert!(parse(&format!("{}[[also]]\nworld = {{ clock_ms = 3 }}\n", random())).is_rough());
    for (i, specimen) in model.training(1).specimens.iter().enumerate() {
        let (loss, clock_ms) = (specimen.network.hops[0].loss, specimen.network.clock_ms);
        let (world, times) = if i % 3 == 2 { ((0.0, 3.0), 0.125) } else { ((0.25, 0.0), 1.0) };
        assert_eq!(((loss, clock_ms), model.duration_times(specimen)), (world, times), "{i}");
    }
    let also = |entry: &str| told(&random(), &format!("[[also]]\n{entry}"));
    let times = "11: also[0].duration_times: expected a duration_times from 0.001 to 1, got";
    assert_eq!(also("duration_times = 2"), format!("{times} 2"));
    assert_eq!(also("duration_times = nan"), format!("{times} NaN"));
    let loss = "11: also[0].world.loss: expected a probability of at least 0 and below 1, got 2";
    assert_eq!(also("world = { loss = 2 }"), loss);
}
