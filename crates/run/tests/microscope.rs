//! TCP/Linux and ns-2's own TCP against the authors' ns-2, window by window: the very runs, as far as their on and off times
//! are at hand, and the first moment at which a sender's window, threshold, repairs or timeouts are not theirs. Skips where
//! the data are not at hand; `cargo test --test microscope -- --nocapture` says where each run departs.

use exmachina_hosts::scheme::{AnyScheme, LinuxCompound, LinuxCubic, NewRenoNs2, Scheme};
use exmachina_hosts::transport::{Connections, Opening, Recovery, Settings};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::{Arrival, FlowPlan, HopPlan, On, Stop, Workload};
use exmachina_net::observe::Unwatched;
use exmachina_net::queue::{Limit, QueueKind, SfqCoDelSettings};
use exmachina_net::random::Seed;
use exmachina_net::time::Instant;
use exmachina_reference::reference;
use exmachina_scenario::replay;
use exmachina_scenario::world::{Host, World};

/// Their times are rounded to 10 us, and those of figure 4 drift by some more.
const ROUNDING_S: f64 = 1.5e-5;

/// What is over by then was noted in another order, or some ns apart.
const LASTING_S: f64 = 0.01;

/// What changed in ns-2.
struct Change {
    time_s: f64,
    sender: usize,
    event: String,
    value: f64,
}

/// The lines of a file of theirs, in fields.
fn lines(name: &str) -> Option<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(reference(&format!("ns2/{name}"))?).unwrap();
    let line = |line: &str| line.split(',').map(str::to_owned).collect();
    Some(text.lines().filter(|line| !line.starts_with('#')).skip(1).map(line).collect())
}

fn number(field: &str) -> f64 {
    field.parse().unwrap_or(f64::NAN)
}

fn changes(name: &str) -> Option<Vec<Change>> {
    let change = |fields: &Vec<String>| Change {
        time_s: number(&fields[0]),
        sender: number(&fields[1]) as usize,
        event: fields[2].clone(),
        value: number(&fields[3]),
    };
    Some(lines(name)?.iter().map(change).collect())
}

/// What is known of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    cwnd: f64,
    ssthresh: f64,
    repeated: f64,
    timeouts: f64,
}

impl Known {
    fn take(&mut self, change: &Change) {
        match change.event.as_str() {
            "cwnd" => self.cwnd = change.value,
            // What it comes to is noted with the next ACK.
            "fast_retransmit" => self.cwnd = f64::NAN,
            "ssthresh" => self.ssthresh = change.value,
            "repeated" => self.repeated = change.value,
            "timeout" => self.timeouts = change.value,
            _ => {}
        }
    }

    /// Large windows to two packets, as theirs are noted before packets are sent and ours after. Where each transfer has a new
    /// connection, their counts start anew with it.
    fn agrees(&self, ours: &Known, counts: bool) -> bool {
        let tolerance = |cwnd: f64| if cwnd > 100.0 { 2.0 } else { 0.0 };
        let beyond = |x: f64| x > 65_000.0;
        (self.cwnd.is_nan() || (self.cwnd.floor() - ours.cwnd).abs() <= tolerance(self.cwnd))
            && (self.ssthresh.floor() == ours.ssthresh.floor() || beyond(self.ssthresh) && beyond(ours.ssthresh))
            && (!counts || (self.repeated, self.timeouts) == (ours.repeated, ours.timeouts))
    }
}

/// The first moment at which any sender departs from theirs for good, s.
fn departs(world: &World<'static>, changes: &[Change], until_s: f64) -> f64 {
    let counts = world.hosts.iter().all(|host| host.transport.connections == Connections::Persistent);
    let mut engine = world.engine(Seed { root: 1, specimen: 0 });
    let start =
        Known { cwnd: f64::from(engine.senders()[0].window()), ssthresh: f64::INFINITY, repeated: 0.0, timeouts: 0.0 };
    let mut theirs = vec![start; world.hosts.len()];
    let mut since = vec![None; world.hosts.len()];
    let mut i = 0;
    while i < changes.len() && changes[i].time_s < until_s {
        let now = changes[i].time_s;
        while i < changes.len() && changes[i].time_s <= now + ROUNDING_S {
            theirs[changes[i].sender].take(&changes[i]);
            i += 1;
        }
        engine.run(Instant::from_s(now + ROUNDING_S), &mut Unwatched);
        for (sender, (theirs, ends)) in theirs.iter().zip(engine.senders()).enumerate() {
            let totals = ends.totals();
            let ours = Known {
                cwnd: f64::from(ends.window()),
                ssthresh: ends.scheme().ssthresh(),
                repeated: totals.retransmitted as f64,
                timeouts: totals.timeouts as f64,
            };
            if theirs.agrees(&ours, counts) {
                since[sender] = None;
                continue;
            }
            let began = *since[sender].get_or_insert(now);
            if now - began > LASTING_S {
                println!(
                    "  {now:.5} sender {sender}: ns-2 {theirs:?}\n  {:22} ours {ours:?}, una {}, next {}",
                    "",
                    ends.una(),
                    ends.next_seq()
                );
                return began;
            }
        }
    }
    until_s
}

/// Transfers of each sender of figure 4, seed 1: when they begin, and packets. They end when theirs did, so that what comes
/// later begins when it did there.
fn transfers(name: &str) -> Option<Vec<Vec<Arrival>>> {
    let draws: Vec<_> = (0..8).map(|sender| replay::remy13(1, sender, [100e3, 0.5], 100.0)).collect();
    let mut arrivals: Vec<Vec<Arrival>> = vec![Vec::new(); 8];
    let mut next: Vec<f64> = draws.iter().map(|draws| draws[0].start_s).collect();
    for fields in lines(name)? {
        let (sender, start_s, end_s) = (number(&fields[0]) as usize, number(&fields[1]), number(&fields[2]));
        assert!((next[sender] - start_s).abs() < 1e-3, "{name}: sender {sender} at {start_s} s, not {}", next[sender]);
        arrivals[sender].push(Arrival { start_s: next[sender], stop: Stop::Bytes(1000.0 * number(&fields[3])) });
        // Ends are polls, every 5 ms from the beginning on.
        let polls = ((end_s - start_s) / 0.005).round();
        next[sender] += 0.005 * polls + draws[sender][arrivals[sender].len()].start_s;
    }
    Some(arrivals)
}

fn flow(route: Vec<u8>, on: On, bytes: f64) -> FlowPlan {
    FlowPlan { route, rtt_ms: 150.0, workload: Workload { bytes_per_packet: bytes, ..Workload::new(on, 1.0) } }
}

/// Figure 4 of Remy'13.
fn figure4(
    name: &str,
    scheme: AnyScheme<'static>,
    recovery: Recovery,
    connections: Connections,
    queue: QueueKind,
) -> Option<f64> {
    let changes = changes(&format!("r4_{name}_microscope.csv"))?;
    let arrivals = transfers(&format!("r4_{name}_transfers.csv"))?;
    let transport = Settings {
        packet_bytes: 1260,
        opening: if recovery == Recovery::TcpLinux { Opening::SynAndData } else { Opening::Syn },
        connections,
        ..Settings::tao14().with_recovery(recovery)
    };
    let hop = |rate_mbps, delay_ms| HopPlan {
        queue: queue.clone(),
        limit: Limit::Packets(999),
        delay_ms,
        ..HopPlan::constant(rate_mbps)
    };
    let mut hops = vec![hop(15.0, 74.0)];
    hops.extend((0..8).map(|_| hop(1000.0, 1.0)));
    let flow = |(i, arrivals): (u8, Vec<Arrival>)| flow(vec![i, 0], On::At(arrivals.into()), 1000.0);
    let host = Host { scheme, transport };
    let senders = (1..).zip(arrivals).map(|arrivals| (flow(arrivals), host.clone())).collect();
    let world = World::clean(hops, senders);
    println!("{name}:");
    let at = departs(&world, &changes, 100.0);
    println!("{name}: departs at {at:.3} s");
    Some(at)
}

/// Figure 2 of Tao'14: two Cubics.
fn figure2(name: &str, mbps: f64, room: u32) -> Option<f64> {
    let changes = changes(&format!("t2_cubic_microscope_{name}.csv"))?;
    let transport = Settings { packet_bytes: 1250, ..Settings::tao14().with_recovery(Recovery::TcpLinux) };
    let hop = HopPlan { limit: Limit::Packets(room - 1), ..HopPlan::constant(mbps) };
    let host = Host { scheme: AnyScheme::LinuxCubic(LinuxCubic::default()), transport };
    let periods = replay::tao14(1, &[[1.0; 2]; 2], 60.0).into_iter();
    let senders = periods.map(|periods| (flow(vec![0], On::After(periods), 1200.0), host.clone())).collect();
    let world = World::clean(vec![hop], senders);
    println!("{name}:");
    let at = departs(&world, &changes, 60.0);
    println!("{name}: departs at {at:.3} s");
    Some(at)
}

fn cubic() -> AnyScheme<'static> {
    AnyScheme::LinuxCubic(LinuxCubic::default())
}

/// In figure 4 what is left is the last transfers, which their runs did not see the end of, and of which nothing is known here.
fn assert_late(departs: Option<f64>, at_least_s: f64) {
    assert!(departs.is_none_or(|at| at >= at_least_s), "departs at {departs:?}, not after {at_least_s} s");
}

#[test]
fn cubic_at_20_mbps() {
    assert_late(figure2("20mbps", 20.0, 1480), 10.3);
}

#[test]
fn cubic_at_250_mbps() {
    assert_late(figure2("250mbps", 250.0, 18500), 11.8);
}

#[test]
fn cubic_in_figure_4() {
    assert_late(figure4("cubic", cubic(), Recovery::TcpLinux, Connections::Persistent, QueueKind::DropTail), 99.0);
}

#[test]
fn compound_in_figure_4() {
    let compound = AnyScheme::LinuxCompound(LinuxCompound::new(2));
    assert_late(figure4("compound", compound, Recovery::TcpLinux, Connections::Persistent, QueueKind::DropTail), 98.0);
}

#[test]
fn newreno_in_figure_4() {
    let newreno = AnyScheme::NewRenoNs2(NewRenoNs2::new(2, false));
    assert_late(figure4("newreno", newreno, Recovery::NewReno, Connections::Persistent, QueueKind::DropTail), 98.0);
}

#[test]
fn newreno_with_new_connections_in_figure_4() {
    let newreno = AnyScheme::NewRenoNs2(NewRenoNs2::new(2, false));
    assert_late(figure4("newreno_fresh", newreno, Recovery::NewReno, Connections::Fresh, QueueKind::DropTail), 99.0);
}

#[test]
fn cubic_over_sfqcodel_in_figure_4() {
    let queue = QueueKind::SfqCoDel(SfqCoDelSettings::default());
    assert_late(figure4("cubic_sfqcodel", cubic(), Recovery::TcpLinux, Connections::Persistent, queue), 5.9);
}
