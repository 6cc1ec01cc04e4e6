//! Tests of the schema of evaluations: what networks it gives, and what every mistake is told.

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::transport::{Connections, Recovery};
use exmachina_net::network::{LinkPlan, Network, On, Workload as NetworkWorkload};
use exmachina_net::observe::Unwatched;
use exmachina_net::queue::{Limit, QueueKind, RedSettings, StepSettings};
use exmachina_net::service::Trace;
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};
use proptest::prelude::*;

use super::*;
use crate::world::World;

/// An evaluation that is as short as can be.
const SHORT: &str = "\
schemes = ['newreno']
[link]
rate_mbps = 15
[path]
rtt_ms = 150
[senders]
count = 2
[workload]
on = { seconds = 5 }
off = { seconds = 3 }
";

const SCHEMES: &str = "schemes = ['newreno']";
const LINK: &str = "[link]\nrate_mbps = 15";
const RATE: &str = "rate_mbps = 15";
const RTT: &str = "rtt_ms = 150";
const SENDERS: &str = "[senders]\ncount = 2";
const OFF: &str = "off = { seconds = 3 }";

/// Two links one after another; one group on both, one on each.
const PARKING_LOT: &str = "\
schemes = ['cubic']
[[links]]
name = 'A'
rate_mbps = 10
delay_ms = 75
buffer = { bdp = 1 }
[[links]]
name = 'B'
rate_mbps = { list = [20, 40] }
delay_ms = 75
buffer = { bytes = 50_000 }
[[senders]]
count = 1
[[senders]]
count = 2
links = ['A']
scheme = 'compound'
[[senders]]
count = 1
links = ['B']
rtt_ms = 99
workload = { on = 'forever' }
[workload]
on = { seconds = 5 }
off = { seconds = 3 }
";

fn parse(text: &str) -> Evaluation {
    Evaluation::parse(text, "x.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn with(line: &str, other: &str) -> Evaluation {
    assert!(SHORT.contains(line));
    parse(&SHORT.replace(line, other))
}

fn library() -> Library {
    let rule = Action { multiple: 0.9, increment: 5, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut library = Library::default();
    library.tables.insert("x.dna".to_owned(), table);
    library.traces.insert("x.down".to_owned(), Trace::parse("10\n20\n1000\n", "x.down").unwrap());
    library
}

fn world<'t>(evaluation: &Evaluation, run: u64, library: &'t Library) -> World<'t> {
    evaluation.world(0, run, library).unwrap_or_else(|message| panic!("{message}")).world
}

fn told_of(text: &str) -> String {
    let message = Evaluation::parse(text, "x.toml").unwrap_err().to_string();
    message.strip_prefix("x.toml:").expect("the name of the file").trim_start().to_owned()
}

fn told(line: &str, other: &str) -> String {
    assert!(SHORT.contains(line));
    told_of(&SHORT.replace(line, other))
}

#[test]
fn defaults() {
    let evaluation = parse(SHORT);
    assert_eq!(
        (evaluation.name.as_str(), evaluation.runs(), evaluation.duration_s, evaluation.seed),
        ("x", 16, 100.0, 1)
    );
    assert_eq!(evaluation.scheme_names(), ["newreno"]);
    let library = Library::default();
    let world = world(&evaluation, 0, &library);
    // 40 bytes of each packet are headers.
    let workload = NetworkWorkload { bytes_per_packet: 1210.0, ..NetworkWorkload::new(On::Seconds(5.0), 3.0) };
    assert_eq!(world.network, Network::dumbbell(15.0, 150.0, 2, workload));
    assert_eq!(world.hosts.len(), 2);
    assert_eq!(world.hosts[1].transport, exmachina_hosts::transport::Settings::today());
}

#[test]
fn a_dumbbell_is_drawn_as_for_design() {
    let text = "[link]\nrate_mbps = { log_uniform = [1, 100] }\nloss = { uniform = [0, 0.1] }\n[path]\n\
                rtt_ms = { uniform = [50, 200] }\njitter_ms = { uniform = [0, 5] }\n[senders]\n\
                count = { uniform = [1, 9] }\n[workload]\non = { seconds = { uniform = [1, 5] } }\n\
                off = { seconds = { uniform = [1, 5] } }\n";
    let (scenario, evaluation) = (Scenario::parse(text, "x.toml").unwrap(), parse(&format!("{SCHEMES}\n{text}")));
    let library = Library::default();
    for specimen in scenario.specimens(1, 20).specimens {
        let Specimen { mut network, index, .. } = specimen;
        network.flows.iter_mut().for_each(|flow| flow.workload.bytes_per_packet = 1210.0);
        assert_eq!(world(&evaluation, index, &library).network, network);
    }
}

#[test]
fn all_contenders_meet_the_same_network() {
    let text = SHORT
        .replace(SCHEMES, "schemes = ['cubic', 'bbr3/fqcodel', 'x.dna']")
        .replace("rate_mbps = 15", "rate_mbps = { uniform = [1, 9] }");
    let (evaluation, library) = (parse(&text), library());
    let rates = |run| {
        (0..3)
            .map(|c| evaluation.world(c, run, &library).unwrap().world.network.hops[0].link.clone())
            .collect::<Vec<_>>()
    };
    assert!(rates(3)[0] == rates(3)[1] && rates(3)[0] == rates(3)[2] && rates(3)[0] != rates(4)[0]);
    assert!(matches!(evaluation.world(1, 0, &library).unwrap().world.network.hops[0].queue, QueueKind::FqCoDel(_)));
    assert_eq!(evaluation.table_names().into_iter().collect::<Vec<_>>(), ["x.dna"]);
}

#[test]
fn a_parking_lot() {
    let (evaluation, library) = (parse(PARKING_LOT), Library::default());
    assert_eq!(evaluation.runs(), 32);
    assert_eq!(evaluation.scheme_names(), ["cubic", "compound"]);
    let drawn = evaluation.world(0, 1, &library).unwrap();
    assert_eq!(drawn.schemes, [0, 1, 1, 0]);
    let world = drawn.world;
    // Runs take the points of the grid in turn.
    assert_eq!(world.network.hops[1].link, LinkPlan::Rate(40.0));
    assert_eq!(self::world(&evaluation, 2, &library).network.hops[1].link, LinkPlan::Rate(20.0));
    // 10 Mbit/s x 300 ms, the longest RTT of those on it, in packets of 1250 bytes; bytes as they are.
    assert_eq!((world.network.hops[0].limit, world.network.hops[1].limit), (Limit::Packets(300), Limit::Bytes(50_000)));
    // Twice the delays of the links of the route, or the group's own.
    assert_eq!(world.network.rtts_ms().collect::<Vec<_>>(), [300.0, 150.0, 150.0, 99.0]);
    assert_eq!(
        world.network.flows.iter().map(|f| f.route.clone()).collect::<Vec<_>>(),
        [vec![0, 1], vec![0], vec![0], vec![1]]
    );
    assert!(matches!(world.hosts[1].scheme, AnyScheme::Compound(_)));
    assert_eq!(world.network.flows[3].workload.on, On::Forever);
    let mut engine = world.engine(evaluation.run_seed(1));
    engine.run(Instant::from_s(10.0), &mut Unwatched);
    let outcome = engine.outcome();
    // Alone on B but for the sender that A holds up: 40 Mbit/s x 10 s are 40000 packets.
    assert!(outcome.flows[3].delivered > 10_000, "{outcome:?}");
}

#[test]
fn a_mix_of_fixed_schemes_is_one_contender() {
    let text = SHORT
        .replace(SCHEMES, "")
        .replace(SENDERS, "[[senders]]\ncount = 1\nscheme = 'cubic'\n[[senders]]\ncount = 1\nscheme = 'x.dna'");
    let (evaluation, library) = (parse(&text), library());
    assert_eq!(evaluation.contenders.iter().map(|c| c.label.as_str()).collect::<Vec<_>>(), ["cubic + x.dna"]);
    assert_eq!(evaluation.world(0, 0, &library).unwrap().schemes, [1, 2]);
    assert!(with(SCHEMES, "").contenders.is_empty());
}

#[test]
fn queues_come_from_the_contender_the_file_or_the_scheme() {
    let library = Library::default();
    let queue = |schemes: &str, link: &str| {
        let text = SHORT.replace("'newreno'", schemes).replace(LINK, &format!("{LINK}\n{link}"));
        world(&parse(&text), 0, &library).network.hops[0].queue.clone()
    };
    assert_eq!(queue("'dctcp'", ""), QueueKind::Step(StepSettings::TEN_GIGABIT));
    assert!(matches!(queue("'xcp'", ""), QueueKind::Xcp(_)));
    assert_eq!(queue("'dctcp'", "queue = 'droptail'"), QueueKind::DropTail);
    assert!(matches!(queue("'dctcp/pie'", "queue = 'droptail'"), QueueKind::Pie(_)));
    let red = RedSettings { min_threshold: 20.0, max_threshold: 60.0, ecn: true, ..RedSettings::default() };
    assert_eq!(queue("'cubic'", "queue = { red = { min_packets = 20, ecn = true } }"), QueueKind::Red(red));
    let step = StepSettings { threshold: 20 };
    assert_eq!(queue("'cubic'", "queue = { step = { packets = 20 } }"), QueueKind::Step(step));
    let QueueKind::FqCoDel(fq) = queue("'cubic'", "queue = { fqcodel = { queues = 8, target_ms = 1 } }") else {
        panic!("expected FQ-CoDel");
    };
    assert_eq!(
        (fq.queues, fq.codel.target, fq.codel.interval),
        (8, Duration::from_millis(1), Duration::from_millis(100))
    );
}

/// ns-2's drop tail has room for one packet less than its limit; its other queues, and today's, for all.
#[test]
fn ns2s_drop_tail_holds_one_packet_less_than_its_limit() {
    let limit = |buffer: &str, preset: &str| {
        let link = format!("{LINK}\nbuffer = {{ {buffer} }}\n");
        let text = SHORT.replace(LINK, &link) + &format!("[transport]\npreset = '{preset}'");
        world(&parse(&text), 0, &library()).network.hops[0].limit
    };
    assert_eq!(limit("packets = 200", "tao14"), Limit::Packets(199));
    assert_eq!(limit("bdp = 1", "tao14"), Limit::Packets(224));
    assert_eq!(
        (limit("packets = 1", "tao14"), limit("packets = 200", "today")),
        (Limit::Packets(1), Limit::Packets(200))
    );
    assert_eq!(limit("packets = 200 }\nqueue = { codel = {}", "tao14"), Limit::Packets(200));
}

#[test]
fn transports_come_from_the_preset_the_scheme_and_the_file() {
    let library = library();
    let settings = |scheme: &str, table: &str| {
        let text = SHORT.replace("newreno", scheme) + "[transport]\n" + table;
        world(&parse(&text), 0, &library).hosts[0].transport
    };
    let tao14 = exmachina_hosts::transport::Settings::tao14();
    assert_eq!(settings("cubic", "preset = 'tao14'"), tao14.with_recovery(Recovery::TcpLinux));
    assert_eq!(settings("newreno", "preset = 'tao14'").recovery(), Recovery::NewReno);
    let remy = settings("x.dna", "preset = 'tao14'");
    assert_eq!((remy.recovery(), remy.clock), (Recovery::RationalTao14, Duration::ZERO));
    let own = settings("x.dna", "preset = 'tao14'\nrecovery = 'rational-remy13'\nclock_ms = 1\nconnections = 'fresh'");
    assert_eq!(
        (own.recovery(), own.clock, own.connections),
        (Recovery::RationalRemy13, Duration::from_millis(1), Connections::Fresh)
    );
    assert_eq!(settings("cubic", "initial_window = 4\npacket_bytes = 1500").packet_bytes, 1500);
    // The senders' clocks are those of the path, where it says so.
    let text = SHORT.replace(RTT, "rtt_ms = 150\nclock_ms = 2");
    assert_eq!(world(&parse(&text), 0, &library).hosts[0].transport.clock, Duration::from_millis(2));
}

#[test]
fn traces_start_at_random_unless_told_otherwise() {
    let library = library();
    let offset = |link: &str, run| {
        let evaluation = with(RATE, link);
        assert_eq!(evaluation.trace_names().into_iter().collect::<Vec<_>>(), ["x.down"]);
        let LinkPlan::Trace(_, offset) = world(&evaluation, run, &library).network.hops[0].link else {
            panic!("no trace")
        };
        offset
    };
    assert_eq!(offset("trace = 'x.down'\ntrace_offset = 'none'", 3), 0);
    let drawn: Vec<u64> = (0..50).map(|run| offset("trace = 'x.down'", run)).collect();
    assert!(drawn.iter().all(|&ms| ms < 1000) && drawn[0] != drawn[1] && *drawn.iter().max().unwrap() > 800);
    let cellular = with(RATE, "cellular = { mean_mbps = 5 }\nbuffer = { bdp = 1 }");
    // 5 Mbit/s x 150 ms.
    assert_eq!(world(&cellular, 0, &library).network.hops[0].limit, Limit::Packets(75));
    let told = |link: &str| {
        let QueueKind::Xcp(settings) = &world(&with(RATE, link), 0, &library).network.hops[0].queue else {
            panic!("not XCP")
        };
        settings.capacity
    };
    assert_eq!(told("trace = 'x.down'\ntold_mbps = 8\nqueue = 'xcp'"), Some(1e6));
    assert_eq!(told("trace = 'x.down'\nqueue = 'xcp'"), None);
    assert_eq!(told("rate_mbps = 2\ntold_mbps = 8\nqueue = { xcp = { capacity_mbps = 4 } }"), Some(5e5));
    let missing = with(RATE, "trace = 'y.down'").world(0, 0, &library).unwrap_err();
    assert_eq!(missing, "the trace y.down is not loaded");
}

#[test]
fn a_design_model_is_a_scenario_too() {
    assert_eq!(parse(&format!("{SHORT}[objective]\ndelta = 1\n[design]\nseed = 2\n")), parse(SHORT));
}

#[test]
fn mistakes_in_schemes() {
    let scheme = |name: &str| told("newreno", name);
    let known = "expected newreno, reno-linux, cubic, cubic-linux, cubic-linux-2.6.22, cubic-rfc9438, compound, vegas, \
                 vegas-ns2, dctcp, xcp, aimd, bbr1, bbr3, copa, ledbat, omniscient, window:N, rate:X or the path of a \
                 .dna file";
    assert_eq!(scheme("tahoe"), format!("1: schemes: {known}, got tahoe"));
    assert_eq!(
        scheme("cubic/blue"),
        "1: schemes: expected droptail, red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp, got blue"
    );
    assert_eq!(
        scheme("x.dna/blue"),
        "1: schemes: expected droptail, red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp, got blue"
    );
    assert_eq!(
        scheme("window:many"),
        "1: schemes: expected window:N with N from 1 to 1000000 packets, got window:many"
    );
    assert_eq!(told(SCHEMES, "schemes = [\n'cubic',\n'tahoe']"), format!("3: schemes: {known}, got tahoe"));
    assert_eq!(told("count = 2", "count = 2\nscheme = 'tahoe'"), format!("8: senders.scheme: {known}, got tahoe"));
    assert!(told("count = 2", "count = 2\nscheme = 'omniscient'").contains("a calculation for all senders"));
    assert_eq!(told(SCHEMES, "schemes = 'cubic'"), "1: schemes: expected a list, got string \"cubic\"");
}

#[test]
fn rule_tables_may_go_by_a_name() {
    let algorithms = ["mine".to_owned()];
    let read = |text: &str| Evaluation::parse_with(text, "x.toml", &algorithms);
    let text = SHORT.replace(SCHEMES, "schemes = ['mine', 'cubic', 'mine/codel']");
    let evaluation = read(&text.replace("count = 2", "count = 2\nscheme = 'mine'")).unwrap();
    assert_eq!(evaluation.table_names().into_iter().collect::<Vec<_>>(), ["mine"]);
    assert_eq!(evaluation.contenders[2].queue, Some(queue_by_name("codel").unwrap()));
    let told = |text: &str| read(text).unwrap_err().to_string();
    assert!(
        told(&text.replace("'mine/", "'yours/"))
            .ends_with("omniscient, mine, window:N, rate:X or the path of a .dna file, got yours")
    );
    assert!(told(&text.replace("/codel", "/blue")).contains("expected droptail, red, "));
}

#[test]
fn mistakes_in_links() {
    let link = |text: &str| told(RATE, text);
    let one = "2: link: expected exactly one of rate_mbps, trace, cellular";
    assert_eq!(link(""), one);
    assert_eq!(link("rate_mbps = 15\ntrace = 'x'"), one);
    assert_eq!(link("rate_mbps = 15\ntrace_offset = 'none'"), "2: link: expected trace beside trace_offset");
    assert_eq!(
        link("rate_mbps = 15\ntold_mbps = -5"),
        "4: link.told_mbps: expected a rate from 0.001 Mbit/s (a packet takes 10 s) to 1000000 Mbit/s (10 ns), got -5"
    );
    assert_eq!(link("trace = 'x'\ntrace_offset = 5"), "4: link.trace_offset: expected a string, got 5");
    assert_eq!(
        link("trace = 'x'\ntrace_offset = 'late'"),
        "4: link.trace_offset: expected \"random\" or \"none\", got \"late\""
    );
    assert_eq!(
        link("cellular = { mean_mbps = 0 }"),
        "3: link.cellular: expected mean_mbps from 0.001 to 100000, got 0"
    );
    assert_eq!(
        link("cellular = { mean = 1 }"),
        "3: link.cellular.mean: unknown field; expected one of mean_mbps, max_mbps, spread, memory_s, outage_per_s, outage_mean_s"
    );
    assert_eq!(
        link("rate_mbps = 15\ndelay_ms = -1"),
        "4: link.delay_ms: expected a delay from 0 to 1000000 ms, got -1"
    );
    let queue = |text: &str| link(&format!("{RATE}\nqueue = {text}"));
    let all = "droptail, red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp";
    assert_eq!(queue("'blue'"), format!("4: link.queue: expected {all}, got blue"));
    assert_eq!(queue("5"), format!("4: link.queue: expected {all}, or {{ red = {{ ... }} }} and the like, got 5"));
    assert_eq!(
        queue("{ red = {}, pie = {} }"),
        "4: link.queue: expected exactly one of red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp"
    );
    assert_eq!(
        queue("{ red = { max = 1 } }"),
        "4: link.queue.red.max: unknown field; expected one of min_packets, max_packets, max_probability, weight, gentle, wait, ecn"
    );
    assert_eq!(
        queue("{ red = { min_packets = 20, max_packets = 10 } }"),
        "4: link.queue: expected max_packets of at least min_packets, 20, got 10"
    );
    assert_eq!(
        queue("{ codel = { target_ms = 0 } }"),
        "4: link.queue: expected target_ms from 0.001 to 1000000, got 0"
    );
    assert_eq!(queue("{ fqcodel = { queues = 0 } }"), "4: link.queue: expected queues from 1 to 65536, got 0");
    assert_eq!(told(LINK, ""), "link: missing; this table is required, or several [[links]]");
    assert_eq!(
        told(LINK, &format!("{LINK}\n[[links]]\n{RATE}")),
        "4: links: expected either [link] or [[links]], got both"
    );
    assert_eq!(
        told(LINK, "[[links]]\nrate_mbps = 0"),
        "3: links[0].rate_mbps: expected a rate from 0.001 Mbit/s (a packet takes 10 s) to 1000000 Mbit/s (10 ns), got 0"
    );
    let twice = "[[links]]\nname = 'A'\nrate_mbps = 1\n[[links]]\nrate_mbps = 1\nname = 'A'";
    assert_eq!(told(LINK, twice), "7: links[1].name: expected another name than that of a link before");
    assert_eq!(
        told(LINK, "[[links]]\nrate_mbps = 1\n[[links]]\nrates = 1"),
        "5: links[1].rates: unknown field; expected one of name, rate_mbps, trace, trace_offset, cellular, buffer, queue, loss, delay_ms, told_mbps"
    );
}

#[test]
fn mistakes_in_senders_and_paths() {
    assert_eq!(
        told(SENDERS, "[[senders]]\ncount = 1\n[[senders]]\ncount = 0"),
        "9: senders[1].count: expected from 1 to 1000 senders, got 0"
    );
    assert_eq!(told(SENDERS, "[[senders]]\nrtt_ms = 1"), "6: senders[0].count: missing; this field is required");
    assert_eq!(told(SENDERS, ""), "senders.count: missing; this field is required unless path.rtt_ms_each is given");
    assert_eq!(
        told(SENDERS, "[[senders]]\ncount = 600\n[[senders]]\ncount = 600"),
        "6: senders: expected at most 1000 senders in all, got 1200"
    );
    assert_eq!(
        told("[path]\nrtt_ms = 150", ""),
        "5: senders.rtt_ms: missing; expected it here, as path.rtt_ms for all, or delay_ms of every link"
    );
    assert_eq!(told(RTT, "rtt_ms = 1\nrtt_ms_each = [1]"), "4: path: expected either rtt_ms or rtt_ms_each, got both");
    assert_eq!(
        told(RTT, "rtt_ms_each = [1, 2, 3]"),
        "7: senders.count: expected 3, one sender for each of path.rtt_ms_each"
    );
    assert_eq!(
        told(RTT, "rtt_ms = 5\njitter_ms = 9"),
        "6: path.jitter_ms: expected at most the largest RTT, 5 ms, got 9"
    );
    assert_eq!(
        told(RTT, "rtt_ms = 5\nreordering = { probability = 2, delay_ms = 1 }"),
        "6: path.reordering: expected a probability of at least 0 and below 1, got 2"
    );
    assert_eq!(told("count = 2", "count = 2\nlinks = ['C']"), "8: senders.links: expected names of links (), got C");
    let lot = |line: &str, other: &str| told_of(&PARKING_LOT.replace(line, other));
    assert_eq!(lot("links = ['A']", "links = ['C']"), "16: senders[1].links: expected names of links (A, B), got C");
    assert_eq!(
        lot("links = ['A']", "links = ['A', 'A']"),
        "16: senders[1].links: expected at least one link, and none of them twice"
    );
    assert_eq!(
        lot("links = ['B']\nrtt_ms = 99", "rtt_ms = 70"),
        "20: senders[2].rtt_ms: expected at least 75 ms, the delays between its links, got 70"
    );
    assert_eq!(
        lot("[workload]\non = { seconds = 5 }\noff = { seconds = 3 }\n", ""),
        "12: senders[0].workload: missing; this table is required unless there is a [workload] for all"
    );
}

#[test]
fn mistakes_in_runs_and_transports() {
    assert_eq!(told(SCHEMES, "runs = 0"), "1: runs: expected from 1 to 1000000 runs, got 0");
    assert_eq!(
        told(SCHEMES, "duration_s = 0"),
        "1: duration_s: expected more than 0 and at most 35184 simulated seconds \
         (the simulator's clock counts no further), got 0"
    );
    assert_eq!(told(SCHEMES, "time_s = 1").split("expected").next().unwrap(), "1: time_s: unknown field; ");
    let points = SHORT.replace(RATE, "rate_mbps = { grid = [1, 2], points = 1000 }");
    assert_eq!(
        told_of(&points.replace(SCHEMES, "runs = 2000")),
        "1: runs: expected at most 1000000 runs in all, got 2000 for each of 1000 points"
    );
    let transport = |text: &str| told(OFF, &format!("{OFF}\n[transport]\n{text}"));
    assert_eq!(
        transport("preset = 'old'"),
        "12: transport.preset: expected \"remy13\", \"tao14\" or \"today\", got \"old\""
    );
    assert_eq!(
        transport("preset = 'papers'"),
        "12: transport.preset: \"papers\" was split: expected \"remy13\" (Remy'13's ns-2) or \"tao14\" (Tao'14's), or \"today\""
    );
    assert_eq!(
        transport("initial_window = 0"),
        "12: transport.initial_window: expected from 1 to 10000 packets, got 0"
    );
    assert_eq!(transport("rto_min_ms = 0"), "12: transport.rto_min_ms: expected a time from 1 to 100000 ms, got 0");
    assert_eq!(transport("packet_bytes = 40"), "12: transport.packet_bytes: expected from 80 to 65535 bytes, got 40");
    assert_eq!(
        told_of(&(SHORT.replace(RTT, "rtt_ms = 5\nclock_ms = 1") + "[transport]\nclock_ms = 1")),
        "6: path.clock_ms: expected no transport.clock_ms beside it"
    );
}

proptest! {
    #[test]
    fn any_text_is_an_evaluation_or_an_error(
        text in "(\\[?\\[?(link|links|path|senders|transport|queue|on|at|name)\\]?\\]?| = |[{}\\[\\],.\n1-9e-]|inf|true|'a'){0,12}",
    ) {
        let _ = Evaluation::parse(&text, "x.toml");
        let _ = Evaluation::parse(&SHORT.replace("15", &text), "x.toml");
        let _ = Evaluation::parse(&PARKING_LOT.replace("75", &text), "x.toml");
    }
}
