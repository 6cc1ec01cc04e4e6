//! Connections tested packet by packet, in the manner of packetdrill: a script says what arrives when, and what must leave
//! then and what the window is.
//!
//! ```text
//! at 0    start 20        -> send 0..9; cwnd 10
//! at 100  arrive 0 2 3    -> send 10 11 12
//! at 125                  -> send 1; cwnd 7
//! ```
//!
//! Times are in ms. `arrive` names packets in the order of their arrival, each the oldest copy on its way, or the latest
//! (`1'`); what is not named is on its way still, or lost. A packet's ACK is back in the same instant. `stop` ends the
//! transfer. Packets that leave at a time that is not in the script are an error, as is anything that is not as the
//! right side says: `send` (nothing, if it is left out), `cwnd` (the scheme's), `window` (what the transport makes of it),
//! `flight` (packets in flight), `undone`, `timeouts`, `reductions`.

mod by_order;
mod linux_2_6_22;
mod pacing;
mod rack;
mod rational;
mod tail;
mod undone;
mod without_sack;

use exmachina_net::endpoint::Endpoint;
use exmachina_net::packet::Packet;
use exmachina_net::time::{Duration, Instant};

use crate::scheme::{NewReno, NewRenoSettings, Scheme};
use crate::transport::{Ends, Recovery, Settings};

/// Today's transport with an ACK for every packet.
fn today() -> Settings {
    Settings { delayed_ack: Duration::ZERO, ..Settings::today() }
}

/// Reno with this initial window.
fn reno(initial_window: u32) -> NewReno {
    NewReno::new(NewRenoSettings::new(initial_window))
}

/// The transport of Tao'14's ns-2 with exact times, under this stack.
fn ns2(recovery: Recovery) -> Settings {
    Settings { clock: Duration::ZERO, ..Settings::tao14().with_recovery(recovery) }
}

/// A connection, and its packets on their way.
struct Scene<S> {
    connection: Ends<S>,
    on_the_way: Vec<Packet>,
    clock: Instant,
    /// What happened, line by line, and what of it should not have.
    diary: String,
    wrong: u32,
}

/// Plays a script and checks it line by line: the packets on their way at its end.
#[track_caller]
fn play<S: Scheme>(settings: Settings, scheme: S, script: &str) -> Vec<Packet> {
    let connection = Ends::new(scheme, 0, settings, Duration::ZERO);
    let mut scene = Scene { connection, on_the_way: vec![], clock: Instant::START, diary: String::new(), wrong: 0 };
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        scene.line(line);
    }
    assert_eq!(scene.wrong, 0, "lines that went otherwise:\n{}", scene.diary);
    scene.on_the_way
}

impl<S: Scheme> Scene<S> {
    fn line(&mut self, line: &str) {
        let (left, right) = line.split_once("->").unwrap_or((line, ""));
        let mut words = left.split_whitespace();
        assert_eq!(words.next(), Some("at"), "{line}");
        let now =
            Instant::from_ms(words.next().and_then(|ms| ms.parse().ok()).unwrap_or_else(|| panic!("a time: {line}")));
        let early = self.act(now.saturating_sub(Duration::NANOSECOND));
        self.check(early.is_empty(), &format!("  before that {early:?} left"));
        self.clock = now;
        match words.next() {
            Some("start") => self.connection.start(now, words.next().map_or(u32::MAX, number)),
            Some("stop") => self.connection.stop(now),
            Some("arrive") => {}
            other => assert_eq!(other, None, "{line}"),
        }
        let mut sent = self.act(now);
        for which in words.flat_map(range) {
            self.arrive(which, line);
            sent.append(&mut self.act(now));
        }
        self.diary += &format!("{line}\n");
        self.compare(right, &sent);
    }

    /// Compares what happened with what should have.
    fn compare(&mut self, right: &str, sent: &[u32]) {
        let mut expected = vec![];
        for part in right.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (what, value) = part.split_once(' ').unwrap_or_else(|| panic!("{part}: a value"));
            if what == "send" {
                expected = value.split_whitespace().flat_map(range).map(|(seq, _)| seq).collect();
            } else {
                let found = self.value(what);
                self.check(found == number(value).into(), &format!("  {what} was {found}"));
            }
        }
        self.check(sent == expected, &format!("  sent was {sent:?}"));
    }

    fn check(&mut self, right: bool, otherwise: &str) {
        if !right {
            self.wrong += 1;
            self.diary += &format!("{otherwise}\n");
        }
    }

    fn value(&self, what: &str) -> u64 {
        let totals = self.connection.totals();
        match what {
            "cwnd" => self.connection.scheme().window().into(),
            "window" => self.connection.window().into(),
            "flight" => self.connection.in_flight().into(),
            "undone" => totals.undone,
            "timeouts" => totals.timeouts,
            "reductions" => totals.reductions,
            _ => panic!("no {what} to look at"),
        }
    }

    /// One copy of a packet arrives: the oldest on its way, or the latest.
    fn arrive(&mut self, (seq, latest): (u32, bool), line: &str) {
        let mut copies = (0..self.on_the_way.len()).filter(|&i| self.on_the_way[i].seq == seq);
        let copy = if latest { copies.next_back() } else { copies.next() };
        let packet =
            self.on_the_way.remove(copy.unwrap_or_else(|| panic!("{line}: no {seq} on its way\n{}", self.diary)));
        self.connection.receive(&packet, self.clock, Duration::ZERO);
    }

    /// Lets the connection act up to a time: the packets that left.
    fn act(&mut self, until: Instant) -> Vec<u32> {
        let mut left = vec![];
        for _ in 0..1000 {
            let at = self.connection.ready().max(self.clock);
            if at > until || self.connection.finished() {
                return left;
            }
            if let (Some(packet), ..) = self.connection.act(at) {
                left.push(packet.seq);
                self.on_the_way.push(packet);
            }
        }
        panic!("a thousand acts before {} ms: {left:?}", until.as_ms());
    }
}

fn number(word: &str) -> u32 {
    word.parse().unwrap_or_else(|_| panic!("a number: {word}"))
}

/// `3`, `3'` (the latest copy) or `3..7`.
fn range(word: &str) -> Vec<(u32, bool)> {
    match word.split_once("..") {
        Some((from, to)) => (number(from)..=number(to)).map(|seq| (seq, false)).collect(),
        None => vec![(number(word.trim_end_matches('\'')), word.ends_with('\''))],
    }
}
