//! What every mistake in a scenario is told: the line, the field, and what was expected.

use proptest::prelude::*;

use super::*;

#[test]
fn mistakes_of_form() {
    let full =
        Scenario::parse(&SHORT.replace(RATE, "rate_mbps = { uniform = [20, 10] }"), "models/x.toml").unwrap_err();
    assert_eq!(full.line, Some(2));
    assert_eq!(full.field, "link.rate_mbps");
    assert_eq!(
        full.to_string(),
        "models/x.toml:2: link.rate_mbps: expected lo < hi in { uniform = [lo, hi] }, got [20, 10]"
    );
    assert_eq!(told(RATE, "rate_mbps = 15\nrate_mbps = 5"), "3: duplicate key");
    assert_eq!(
        told(RATE, "rate = 15"),
        "2: link.rate: unknown field; expected one of rate_mbps, buffer, loss, name, delay_ms"
    );
    assert_eq!(
        told("[link]", "runs = 5\n[link]"),
        "1: runs: for evaluations only, not for design models; expected one of name, description, link, links, path, senders, workload"
    );
    assert_eq!(told(RATE, ""), "1: link.rate_mbps: missing; this field is required");
    assert_eq!(told(SHORT, ""), "link: missing; this table is required, or several [[links]]");
    assert_eq!(told(ON, ""), "7: workload.on: missing; this field is required");
    assert_eq!(told(SHORT, "link = 5"), "1: link: expected a table, got 5");
    assert_eq!(told("[link]", "name = 5\n[link]"), "1: name: expected a string, got 5");
    assert_eq!(
        told(OFF, "off.minutes = 1"),
        "9: workload.off.minutes: unknown field; expected seconds or fixed_seconds"
    );
}

#[test]
fn what_only_evaluations_have_is_refused_by_name() {
    for field in OF_EVALUATIONS {
        let text = match field.split_once('.') {
            None => format!("{field} = 1\n{SHORT}"),
            Some((table, key)) => SHORT.replace(&format!("[{table}]"), &format!("[{table}]\n{key} = 1")),
        };
        let error = Scenario::parse(&text, "x.toml").unwrap_err();
        assert_eq!(error.field, field);
        assert!(error.message.starts_with("for evaluations only, not for design models; expected "), "{error}");
        // An evaluation knows the field, whatever it makes of its value.
        let known = Evaluation::parse(&text, "x.toml").err().is_none_or(|error| !error.message.contains("unknown"));
        assert!(known, "{field}");
    }
    assert_eq!(
        told(RATE, "trace = 'x.down'"),
        "2: link.trace: for evaluations only, not for design models; expected one of rate_mbps, buffer, loss, name, delay_ms"
    );
    assert_eq!(
        told("[senders]\ncount = 2", "[[senders]]\ncount = 2\nscheme = 'cubic'"),
        "7: senders[0].scheme: for evaluations only, not for design models; \
         expected one of count, aimd, name, objective, rtt_ms, links"
    );
    assert!(told("[link]", "[[links]]\nqueue = 'red'").starts_with("2: links[0].queue: for evaluations only"));
}

#[test]
fn mistakes_in_workloads() {
    assert_eq!(told(OFF, ""), "7: workload.off: missing; this field is required");
    let one = "9: workload.off: expected either { seconds = mean } or { fixed_seconds = s }";
    assert_eq!(told(OFF, "off = {}"), one);
    assert_eq!(told(OFF, "off = { seconds = 1, fixed_seconds = 1 }"), one);
    let first = |text: &str| told(OFF, &format!("{OFF}\nfirst_off = {text}"));
    let forms = "\"exponential\", \"half-exponential\" or { seconds = x }";
    assert_eq!(first("'now'"), format!("10: workload.first_off: expected {forms}, got string \"now\""));
    assert_eq!(first("{ seconds = -1 }"), "10: workload.first_off: expected a time of at least 0 s, got -1");
    let at = |text: &str| told(ON, &format!("on = {{ at = [{text}] }}"));
    assert_eq!(at(""), "8: workload.on: expected at least one on-period in { at = [...] }");
    assert_eq!(at("{ start_s = 1 }, { start_s = 0 }"), "8: workload.on: expected start_s in order, got 0 after 1");
    assert_eq!(at("{ start_s = -1 }"), "8: workload.on.at[0]: expected start_s of at least 0, got -1");
    assert_eq!(at("{ bytes = 1 }"), "8: workload.on.at[0].start_s: missing; this field is required");
    assert_eq!(
        at("{ start_s = 1 }, { start_s = 2, bytes = 0 }"),
        "8: workload.on.at[1]: expected bytes or seconds above 0, got 0"
    );
    assert_eq!(
        at("{ start_s = 1, bytes = 2, seconds = 2 }"),
        "8: workload.on.at[0]: expected either bytes or seconds, got both"
    );
    assert_eq!(
        told(ON, "on = { icsi = { extra_bytes = -1 } }"),
        "8: workload.on: expected extra_bytes of at least 0, got -1"
    );
}

#[test]
fn mistakes_in_quantities() {
    let rate = |text: &str| told(RATE, &format!("rate_mbps = {text}"));
    let forms = "a number, or { uniform = [lo, hi] }, log_uniform, list, grid or log_grid";
    assert_eq!(rate("'fast'"), format!("2: link.rate_mbps: expected {forms}, got string \"fast\""));
    assert_eq!(rate("[10, 20]"), format!("2: link.rate_mbps: expected {forms}, got a list"));
    assert_eq!(rate("{ uniform = [20, 20] }"), "2: link.rate_mbps: empty range: write the one value, 20");
    assert_eq!(
        rate("{ uniform = [10, 20, 30] }"),
        "2: link.rate_mbps: expected two numbers in { uniform = [lo, hi] }, got 3"
    );
    assert_eq!(rate("{ uniform = 10 }"), "2: link.rate_mbps.uniform: expected a list, got 10");
    assert_eq!(rate("{ uniform = ['a', 2] }"), "2: link.rate_mbps.uniform: expected a number, got string \"a\"");
    assert_eq!(
        rate("{ log_uniform = [0, 10] }"),
        "2: link.rate_mbps: expected lo > 0 in { log_uniform = [lo, hi] }, got 0"
    );
    assert_eq!(rate("{ list = [] }"), "2: link.rate_mbps: expected at least one value in { list = [a, b, c] }");
    assert_eq!(
        rate("{ grid = [1, 10] }"),
        "2: link.rate_mbps: expected { grid = [lo, hi], points = k }, got no points"
    );
    assert_eq!(rate("{ grid = [1, 9], points = 1 }"), "2: link.rate_mbps: expected points from 2 to 10000, got 1");
    assert_eq!(
        rate("{ grid = [1, 9], points = -1 }"),
        "2: link.rate_mbps.points: expected a whole number, 0 or more, got -1"
    );
    assert_eq!(
        rate("{ list = [1, 9], points = 2 }"),
        "2: link.rate_mbps: expected no points beside list: they belong to grid and log_grid"
    );
    let one = "2: link.rate_mbps: expected exactly one of uniform, log_uniform, list, grid, log_grid";
    assert_eq!(rate("{}"), one);
    assert_eq!(rate("{ list = [1, 9], uniform = [1, 9] }"), one);
    assert_eq!(
        rate("{ between = [1, 9] }"),
        "2: link.rate_mbps.between: unknown field; expected one of uniform, log_uniform, list, grid, log_grid, points"
    );
    assert_eq!(rate("nan"), "2: link.rate_mbps: expected a finite number, got NaN");
    assert_eq!(rate("{ list = [1, inf] }"), "2: link.rate_mbps: expected a finite number, got inf");
    // Not a number at all: TOML's parser says so.
    assert!(rate("15 16").starts_with("2: "));
}

#[test]
fn mistakes_in_values() {
    let range = "expected a rate from 0.001 Mbit/s (a packet takes 10 s) to 1000000 Mbit/s (10 ns)";
    assert_eq!(told(RATE, "rate_mbps = 0"), format!("2: link.rate_mbps: {range}, got 0"));
    assert!(told(RATE, "rate_mbps = 1e-20").starts_with(&format!("2: link.rate_mbps: {range}, got 1e-20")));
    assert_eq!(told(RATE, "rate_mbps = { list = [1,\n -3] }"), format!("2: link.rate_mbps: {range}, got -3"));
    let link = |text: &str| told(RATE, &format!("{RATE}\n{text}"));
    assert_eq!(link("loss = 1"), "3: link.loss: expected a probability of at least 0 and below 1, got 1");
    let buffers = "\"infinite\", { packets = n }, { bytes = n } or { bdp = x }";
    assert_eq!(link("buffer = 'big'"), format!("3: link.buffer: expected {buffers}, got string \"big\""));
    assert_eq!(link("buffer = 5"), format!("3: link.buffer: expected {buffers}, got 5"));
    assert_eq!(link("buffer = { packets = 0 }"), "3: link.buffer: expected room for at least 1 packet, got 0");
    assert_eq!(
        link("buffer = { packets = 1.5 }"),
        "3: link.buffer.packets: expected a whole number, 0 or more, got 1.5"
    );
    assert_eq!(link("buffer = { bdp = 0 }"), "3: link.buffer: expected bdp > 0, got 0");
    assert_eq!(
        link("buffer = { bdp = 1, packets = 1 }"),
        "3: link.buffer: expected exactly one of { packets = n }, { bytes = n } and { bdp = x }"
    );
    assert_eq!(
        link("buffer = { kb = 1 }"),
        "3: link.buffer.kb: unknown field; expected one of packets, bytes, bdp, beyond_ms"
    );
    let path = |text: &str| told(RTT, text);
    assert_eq!(
        path("rtt_ms = -1"),
        "4: path.rtt_ms: expected an RTT from 0.001 ms (the clock counts whole ns) to 1000000 ms, got -1"
    );
    assert_eq!(
        path("rtt_ms_each = [1, 0]"),
        "4: path.rtt_ms_each: expected an RTT from 0.001 ms (the clock counts whole ns) to 1000000 ms, got 0"
    );
    assert_eq!(path("rtt_ms_each = []"), "4: path.rtt_ms_each: expected from 1 to 1000 RTTs, got 0");
    assert_eq!(path("rtt_ms = 1\njitter_ms = -1"), "5: path.jitter_ms: expected a time of at least 0 ms, got -1");
    let count = |text: &str| told(COUNT, &format!("count = {text}"));
    assert_eq!(count("0"), "6: senders.count: expected from 1 to 1000 senders, got 0");
    assert_eq!(count("1001"), "6: senders.count: expected from 1 to 1000 senders, got 1001");
    assert_eq!(count("1.5"), "6: senders.count: expected whole numbers, got 1.5");
    assert_eq!(count("{ uniform = [1.5, 9] }"), "6: senders.count: expected whole numbers, got 1.5");
    assert_eq!(count("{ grid = [1, 2], points = 3 }"), "6: senders.count: expected whole numbers, got 1.5");
    assert_eq!(count("{ log_uniform = [1, 9] }"), "6: senders.count: expected whole numbers; log_uniform gives others");
    let on = "8: workload.on: expected { seconds = mean }, { bytes = mean }, fixed_seconds, icsi, at, or \"forever\"";
    assert_eq!(told(ON, "on = 5"), format!("{on}, got 5"));
    let on = "8: workload.on: expected exactly one of seconds, bytes, fixed_seconds, icsi, at; or on = \"forever\"";
    assert_eq!(told(ON, "on = {}"), on);
    assert_eq!(told(ON, "on = { seconds = 5, bytes = 5 }"), on);
    assert_eq!(told(ON, "on = { bytes = 0 }"), "8: workload.on.bytes: expected a mean from 1 to 1e15 bytes, got 0");
    assert_eq!(
        told(ON, "on = { packets = 5 }"),
        "8: workload.on.packets: unknown field; expected one of seconds, bytes, fixed_seconds, icsi, at"
    );
    let mean = "expected a mean from 0.000001 s (below it a run is nothing but switching) to 1000000000 s";
    assert_eq!(told(OFF, "off.seconds = 0"), format!("9: workload.off.seconds: {mean}, got 0"));
    assert!(told(OFF, "off.seconds = 1e-300").starts_with(&format!("9: workload.off.seconds: {mean}")));
    assert!(told(ON, "on.fixed_seconds = 1e-300").starts_with(&format!("8: workload.on.fixed_seconds: {mean}")));
}

#[test]
fn names_are_names_of_files() {
    for name in ["../../x", "/x", "", "[/b]", "$\\\\frac{$", "a b", "a\\u0000b"] {
        let text = format!("name = \"{name}\"\n{SHORT}");
        let errors = [Scenario::parse(&text, "x.toml").unwrap_err(), Evaluation::parse(&text, "x.toml").unwrap_err()];
        for message in errors.map(|error| error.to_string()) {
            let expected = "x.toml:1: name: expected letters, digits, dots, dashes and underscores, got ";
            assert!(message.starts_with(expected), "{message}");
        }
    }
    for name in [".", "..", "..."] {
        let message = Scenario::parse(&format!("name = \"{name}\"\n{SHORT}"), "x.toml").unwrap_err().to_string();
        assert_eq!(message, format!("x.toml:1: name: expected a letter or digit beside the dots, got \"{name}\""));
    }
    assert_eq!(parse(&format!("name = 'home-2.1_b'\n{SHORT}")).name, "home-2.1_b");
    assert!(Scenario::parse(&format!("name = '{}'\n{SHORT}", "x".repeat(101)), "x.toml").is_err());
}

#[test]
fn impossible_combinations() {
    assert_eq!(
        told(RTT, "rtt_ms = 150\nrtt_ms_each = [1, 2]"),
        "3: path: expected either rtt_ms or rtt_ms_each, got both"
    );
    assert_eq!(
        told(RTT, ""),
        "3: path: expected rtt_ms (one for all senders) or rtt_ms_each (one per sender), got neither"
    );
    assert_eq!(
        told(RTT, "rtt_ms_each = [1, 2, 3]"),
        "6: senders.count: expected 3, one sender for each of path.rtt_ms_each"
    );
    assert_eq!(
        told("[senders]\ncount = 2", ""),
        "senders.count: missing; this field is required unless path.rtt_ms_each is given"
    );
    assert_eq!(
        told(RTT, "rtt_ms = 100\njitter_ms = { uniform = [1, 200] }"),
        "5: path.jitter_ms: expected at most the largest RTT, 100 ms, got 200"
    );
    assert_eq!(
        told(RTT, "rtt_ms = 100\nclock_ms = 200"),
        "5: path.clock_ms: expected at most the largest RTT, 100 ms, got 200"
    );
    assert_eq!(
        told(RATE, "rate_mbps = { grid = [1, 2], points = 1000 }\nloss = { grid = [0, 0.5], points = 1000 }"),
        "expected at most 100000 combinations of lists and grids, got 1000000"
    );
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error(
        text in "(\\[?(link|path|loss|on|points|grid)\\]?| = |[{}\\[\\],.\n1-9e-]|inf|nan|true|'a'){0,12}",
    ) {
        let _ = Scenario::parse(&text, "x.toml");
        let _ = Scenario::parse(&SHORT.replace("15", &text), "x.toml");
    }
}
