//! What every mistake in an evaluation is told: the line, the field, and what was expected.

use proptest::prelude::*;

use super::*;

#[test]
fn mistakes_in_schemes() {
    let scheme = |name: &str| told("newreno", name);
    let known = "expected newreno, reno-linux, cubic, cubic-linux, cubic-linux-2.6.22, cubic-rfc9438, cubic-linux-6, \
                 compound, vegas, vegas-ns2, dctcp, xcp, aimd, bbr1, bbr3, copa, ledbat, omniscient, window:N, rate:X or the path of a \
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
