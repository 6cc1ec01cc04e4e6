//! What networks, queues, transports and contenders an evaluation gives.

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::transport::{Connections, Recovery};
use exmachina_net::network::{LinkPlan, Network, On, Workload as NetworkWorkload};
use exmachina_net::observe::Unwatched;
use exmachina_net::queue::{Limit, QueueKind, RedSettings, StepSettings};
use exmachina_net::service::Trace;
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};

use super::*;
use crate::world::World;

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
