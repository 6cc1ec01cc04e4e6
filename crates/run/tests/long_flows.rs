//! Two long flows against the authors' ns-2, window by window and nearly packet by packet: 15 Mbit/s, 150 ms, room for 188
//! or 1000 packets; the second flow starts 0.5 s after the first. Skips where the curves are not at hand.

use exmachina_hosts::scheme::{AnyScheme, LinuxCompound, LinuxReno, NewRenoNs2, Scheme, VegasNs2};
use exmachina_hosts::transport::{Recovery, Settings};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::{FirstOff, FlowPlan, HopPlan, On, Workload};
use exmachina_net::observe::Unwatched;
use exmachina_net::queue::Limit;
use exmachina_net::random::Seed;
use exmachina_net::time::Instant;
use exmachina_reference::reference;
use exmachina_scenario::world::{Host, World};

/// Period and amplitude of a sawtooth, of a flow.
const TOLERANCE: f64 = 0.05;
/// Their link carries 1241.7 packets a second in every file, which is 1510 bytes at 15 Mbit/s.
const WIRE_BYTES: u16 = 1510;
/// Samples are 0.1 s apart, up to here.
const SAMPLES: usize = 1000;

/// What is known of a flow at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    window: f64,
    /// Packets acknowledged cumulatively.
    acknowledged: i64,
    /// Packets sent again, and timeouts, so far.
    repairs: i64,
    timeouts: i64,
}

/// Each flow every 0.1 s, in ns-2.
fn theirs(name: &str, room: u32) -> Option<[Vec<Sample>; 2]> {
    let path = reference(&format!("curves/long/ns2_long_{name}_buf{room}.csv"))?;
    let text = std::fs::read_to_string(path).unwrap();
    let mut flows = [Vec::new(), Vec::new()];
    for line in text.lines().skip(1) {
        // t, flow, cwnd, ssthresh, rtt, highest number acknowledged, queue, repairs, timeouts
        let fields: Vec<&str> = line.split(',').collect();
        let whole = |i: usize| fields[i].parse::<i64>().unwrap();
        flows[whole(1) as usize].push(Sample {
            window: fields[2].parse().unwrap(),
            acknowledged: whole(5) + 1,
            repairs: whole(7),
            timeouts: whole(8),
        });
    }
    Some(flows)
}

/// The same of ours.
fn ours(scheme: &AnyScheme<'_>, recovery: Recovery, room: u32) -> [Vec<Sample>; 2] {
    let transport = Settings { packet_bytes: WIRE_BYTES, ..Settings::tao14().with_recovery(recovery) };
    let sender = |start_s| {
        let workload = Workload { first_off: FirstOff::At(start_s), ..Workload::new(On::Forever, 1.0) };
        (FlowPlan { route: vec![0], rtt_ms: 150.0, workload }, Host { scheme: scheme.clone(), transport })
    };
    // Of `room` packets one is the arriving one, in ns-2.
    let limit = Limit::Packets(room - 1);
    let hop = HopPlan { limit, ..HopPlan::constant(15.0) };
    let world = World::clean(vec![hop], vec![sender(0.0), sender(0.5)]);
    let mut engine = world.engine(Seed { root: 1, specimen: 0 });
    let mut flows = [Vec::new(), Vec::new()];
    for tenths in 1..=SAMPLES {
        engine.run(Instant::from_s(tenths as f64 / 10.0), &mut Unwatched);
        for (flow, sender) in flows.iter_mut().zip(engine.senders()) {
            let totals = sender.totals();
            flow.push(Sample {
                window: f64::from(sender.scheme().window()),
                acknowledged: i64::from(sender.una()),
                repairs: totals.retransmitted as i64,
                timeouts: totals.timeouts as i64,
            });
        }
    }
    flows
}

/// Teeth after the first 10 s: when the window fell by a third, in s, and from how high.
fn teeth(flow: &[Sample]) -> Vec<(f64, f64)> {
    let windows: Vec<f64> = flow.iter().map(|sample| sample.window).collect();
    let mut teeth: Vec<(f64, f64)> = Vec::new();
    for i in 100..windows.len().min(SAMPLES) {
        let peak = windows[i - 10..i].iter().copied().fold(0.0, f64::max);
        let at = i as f64 / 10.0;
        if windows[i] < peak * 0.67 && teeth.last().is_none_or(|last| at - last.0 > 5.0) {
            teeth.push((at, peak));
        }
    }
    teeth
}

/// The mean of what lies between teeth, and of their heights.
fn period_and_height(teeth: &[(f64, f64)]) -> (f64, f64) {
    let n = teeth.len();
    ((teeth[n - 1].0 - teeth[0].0) / (n - 1) as f64, teeth.iter().map(|t| t.1).sum::<f64>() / n as f64)
}

fn close(ours: f64, theirs: f64) -> bool {
    (ours / theirs - 1.0).abs() <= TOLERANCE
}

fn agrees(name: &str, scheme: &AnyScheme<'_>, recovery: Recovery) {
    let Some(theirs) = theirs(name, 188) else { return };
    let ours = ours(scheme, recovery, 188);
    for flow in [0, 1] {
        let (mine, ns2) = (teeth(&ours[flow]), teeth(&theirs[flow]));
        let ((period, height), (their_period, their_height)) = (period_and_height(&mine), period_and_height(&ns2));
        let said = format!(
            "{name}, flow {flow}: ours every {period:.2} s from {height:.1}, ns-2 {their_period:.2} s from {their_height:.1}"
        );
        println!("{said}");
        assert!(close(period, their_period) && close(height, their_height), "{said}\n{mine:?}\n{ns2:?}");
    }
}

#[test]
fn newreno_saws_as_in_ns2() {
    agrees("newreno", &AnyScheme::NewRenoNs2(NewRenoNs2::new(1, false)), Recovery::NewReno);
}

#[test]
fn linux_reno_saws_as_in_ns2() {
    agrees("linuxreno", &AnyScheme::LinuxReno(LinuxReno::new(2, false)), Recovery::TcpLinux);
}

#[test]
fn compound_saws_as_in_ns2() {
    agrees("compound", &AnyScheme::LinuxCompound(LinuxCompound::new(2)), Recovery::TcpLinux);
}

/// Vegas does not saw: its windows come to rest, with a few packets of each in the queue.
#[test]
fn vegas_rests_where_it_does_in_ns2() {
    let Some(theirs) = theirs("vegas", 188) else { return };
    let ours = ours(&AnyScheme::VegasNs2(VegasNs2::default()), Recovery::NewReno, 188);
    for flow in [0, 1] {
        let (mine, ns2) = (ours[flow][SAMPLES - 1].window, theirs[flow][SAMPLES - 1].window);
        println!("vegas, flow {flow}: ours {mine:.1}, ns-2 {ns2:.1}");
        assert!(close(mine, ns2), "vegas, flow {flow}: ours {mine}, ns-2 {ns2}");
    }
}

/// A slow start that loses a thousand packets, their repair, and three timeouts of the flow that waits meanwhile: what Linux
/// 2.6.22 in ns-2 makes of them shows in which second what was acknowledged, sent again and timed out.
fn follows(name: &str, scheme: &AnyScheme<'_>, packets: i64, seconds: usize) {
    let Some(theirs) = theirs(name, 1000) else { return };
    let ours = ours(scheme, Recovery::TcpLinux, 1000);
    for flow in [0, 1] {
        let pairs = || ours[flow].iter().zip(&theirs[flow]).take(10 * seconds);
        let most = |of: fn(&Sample) -> i64| pairs().map(|(a, b)| (of(a) - of(b)).abs()).max().unwrap_or(0);
        let (acknowledged, repairs, timeouts) = (most(|s| s.acknowledged), most(|s| s.repairs), most(|s| s.timeouts));
        let said = format!(
            "{name}, flow {flow}: at most {acknowledged} packets, {repairs} repairs, {timeouts} timeouts apart"
        );
        println!("{said}");
        assert!(acknowledged <= packets && repairs <= 5 && timeouts == 0, "{said}");
        assert_eq!(theirs[flow][99].timeouts, 3 * flow as i64, "{name}: what the file is known for");
    }
}

#[test]
fn linux_reno_loses_and_repairs_as_in_ns2() {
    follows("linuxreno", &AnyScheme::LinuxReno(LinuxReno::new(2, false)), 5, 100);
}

#[test]
fn compound_loses_and_repairs_as_in_ns2() {
    follows("compound", &AnyScheme::LinuxCompound(LinuxCompound::new(2)), 60, 45);
}
