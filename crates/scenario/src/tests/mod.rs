//! Tests of the schema of design models: what is read and drawn, and what every mistake is told.

mod drawn;
mod mistakes;

use super::*;

/// A scenario that is as short as can be.
const SHORT: &str = "\
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

const RATE: &str = "rate_mbps = 15";
const RTT: &str = "rtt_ms = 150";
const COUNT: &str = "count = 2";
const ON: &str = "on = { seconds = 5 }";
const OFF: &str = "off = { seconds = 3 }";

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "models/x.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// The short scenario with some lines replaced.
fn with(changes: &[(&str, &str)]) -> Scenario {
    parse(&changes.iter().fold(SHORT.to_owned(), |text, (line, other)| text.replace(line, other)))
}

/// What the short scenario with one line replaced is told, without the name of the file.
fn told(line: &str, other: &str) -> String {
    assert!(SHORT.contains(line));
    let message = Scenario::parse(&SHORT.replace(line, other), "x.toml").unwrap_err().to_string();
    message.strip_prefix("x.toml:").expect("the name of the file").trim_start().to_owned()
}
