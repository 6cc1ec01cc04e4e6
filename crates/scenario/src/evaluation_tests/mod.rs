//! Tests of the schema of evaluations: what networks it gives, and what every mistake is told.

mod drawn;
mod mistakes;

use super::*;

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

fn told_of(text: &str) -> String {
    let message = Evaluation::parse(text, "x.toml").unwrap_err().to_string();
    message.strip_prefix("x.toml:").expect("the name of the file").trim_start().to_owned()
}

fn told(line: &str, other: &str) -> String {
    assert!(SHORT.contains(line));
    told_of(&SHORT.replace(line, other))
}
