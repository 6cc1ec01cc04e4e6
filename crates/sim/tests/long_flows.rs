//! Two long flows against the authors' ns-2, window by window: 15 Mbit/s, 150 ms, packets of 1500 bytes, room for 188 or
//! 1000 of them; the second flow starts 0.5 s after the first. Skips where the curves are not at hand.

use std::path::PathBuf;

use exmachina_sim::engine::Seed;
use exmachina_sim::network::{FirstOff, On, Workload};
use exmachina_sim::observe::Unwatched;
use exmachina_sim::path::Reordering;
use exmachina_sim::queue::{Limit, QueueKind};
use exmachina_sim::scheme::{AnyScheme, Compound, NewReno, NewRenoSettings, Scheme, VegasNs2};
use exmachina_sim::time::from_s;
use exmachina_sim::transport::{Recovery, Settings};
use exmachina_sim::world::{HopPlan, LinkPlan, SenderPlan, World};

/// Period and amplitude of a sawtooth, of a flow.
const TOLERANCE: f64 = 0.05;
/// Samples are 0.1 s apart, up to here.
const SAMPLES: usize = 1000;

/// The window of each flow every 0.1 s, in ns-2.
fn theirs(name: &str, room: u32) -> Option<[Vec<f64>; 2]> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/curves/long");
    let text = std::fs::read_to_string(folder.join(format!("ns2_long_{name}_buf{room}.csv"))).ok()?;
    let mut windows = [Vec::new(), Vec::new()];
    for line in text.lines().skip(1) {
        let mut fields = line.split(',').skip(1);
        let flow: usize = fields.next()?.parse().ok()?;
        windows[flow].push(fields.next()?.parse().ok()?);
    }
    Some(windows)
}

/// The same of ours.
fn ours(scheme: &AnyScheme<'_>, recovery: Recovery, room: u32) -> [Vec<f64>; 2] {
    let transport = Settings { packet_bytes: 1500, recovery, ..Settings::papers() };
    let sender = |start_s| SenderPlan {
        scheme: scheme.clone(),
        transport,
        route: vec![0],
        rtt_ms: 150.0,
        workload: Workload { first_off: FirstOff::At(start_s), ..Workload::new(On::Forever, 1.0) },
    };
    // Of `room` packets one is the arriving one, in ns-2.
    let limit = Limit::Packets(room - 1);
    let hop = HopPlan { link: LinkPlan::Rate(15.0), queue: QueueKind::DropTail, limit, loss: 0.0, delay_ms: 0.0 };
    let senders = vec![sender(0.0), sender(0.5)];
    let world = World { hops: vec![hop], senders, jitter_ms: 0.0, reordering: Reordering::default() };
    let mut engine = world.engine(Seed { root: 1, specimen: 0 });
    let mut windows = [Vec::new(), Vec::new()];
    for tenths in 1..=SAMPLES {
        engine.run(from_s(tenths as f64 / 10.0), &mut Unwatched);
        windows.iter_mut().zip(engine.senders()).for_each(|(w, s)| w.push(f64::from(s.scheme.window())));
    }
    windows
}

/// Teeth after the first 10 s: when the window fell by a third, in s, and from how high.
fn teeth(windows: &[f64]) -> Vec<(f64, f64)> {
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
    let Some(theirs) = theirs(name, 188) else {
        eprintln!("{name}: no curves at hand; skipped");
        return;
    };
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
    agrees("newreno", &AnyScheme::NewReno(NewReno::new(NewRenoSettings::ns2(1))), Recovery::NewReno);
}

#[test]
fn linux_reno_saws_as_in_ns2() {
    agrees("linuxreno", &AnyScheme::NewReno(NewReno::new(NewRenoSettings::linux(2))), Recovery::RateHalving);
}

#[test]
fn compound_saws_as_in_ns2() {
    agrees("compound", &AnyScheme::Compound(Compound::default()), Recovery::RateHalving);
}

/// Vegas does not saw: its windows come to rest, with a few packets of each in the queue.
#[test]
fn vegas_rests_where_it_does_in_ns2() {
    let Some(theirs) = theirs("vegas", 188) else { return };
    let ours = ours(&AnyScheme::VegasNs2(VegasNs2::default()), Recovery::NewReno, 188);
    for flow in [0, 1] {
        let (mine, ns2) = (ours[flow][SAMPLES - 1], theirs[flow][SAMPLES - 1]);
        println!("vegas, flow {flow}: ours {mine:.1}, ns-2 {ns2:.1}");
        assert!(close(mine, ns2), "vegas, flow {flow}: ours {mine}, ns-2 {ns2}");
    }
}
