//! Long flows on a dumbbell, and what is measured of them.

use exmachina_hosts::scheme::{AnyScheme, NewRenoNs2, Scheme};
use exmachina_hosts::transport::{Ends, Recovery, Settings};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::{FirstOff, FlowPlan, HopPlan, LinkPlan, On, Workload};
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::path::{HopTotals, Path};
use exmachina_net::queue::{Limit, QueueKind};
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_scenario::world::{EvaluationEngine, Host, World};

/// Bytes of every packet here.
pub const BYTES: f64 = 1250.0;

/// Full use, as [`Measured::utilisation`] counts it.
pub const FULL: f64 = 1.001;

/// A flow and its host.
pub type Sender = (FlowPlan, Host<'static>);

/// A flow without end from the first instant on, over the first hop.
pub fn flow(scheme: AnyScheme<'static>, transport: Settings, rtt_ms: f64) -> Sender {
    let workload = Workload { first_off: FirstOff::At(0.0), ..Workload::new(On::Forever, 1.0) };
    (FlowPlan { route: vec![0], rtt_ms, workload }, Host { scheme, transport })
}

/// So many of these flows, which start one second apart.
pub fn flows(n: usize, scheme: &AnyScheme<'static>, transport: Settings, rtt_ms: f64) -> Vec<Sender> {
    let start = |i| {
        let (mut flow, host) = flow(scheme.clone(), transport, rtt_ms);
        flow.workload.first_off = FirstOff::At(f64::from(i));
        (flow, host)
    };
    (0..n as u32).map(start).collect()
}

/// A hop of constant rate.
pub fn hop(mbps: f64, queue: QueueKind, limit: Limit) -> HopPlan {
    HopPlan { queue, limit, ..HopPlan::constant(mbps) }
}

/// A dumbbell.
pub fn dumbbell(hop: HopPlan, senders: Vec<Sender>) -> World<'static> {
    World::clean(vec![hop], senders)
}

/// NewReno by the classic rules: one packet per RTT, half on a loss.
pub fn newreno() -> AnyScheme<'static> {
    AnyScheme::NewRenoNs2(NewRenoNs2::new(2, false))
}

/// A transport with nothing in the way of closed forms: exact clocks, an ACK for every packet, SACK.
pub fn plain() -> Settings {
    Settings {
        clock: Duration::ZERO,
        delayed_ack: Duration::ZERO,
        ack_bytes: 0,
        ..Settings::tao14().with_recovery(Recovery::Proportional)
    }
}

/// What a sender showed when an ACK came.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub t: f64,
    pub sender: usize,
    pub window: f64,
    pub rtt_ms: f64,
    pub reductions: u64,
    pub seq: u32,
}

/// Keeps a sample of every ACK.
#[derive(Default)]
pub struct Log(pub Vec<Sample>);

impl Observer<Ends<AnyScheme<'static>>> for Log {
    fn acked(&mut self, now: Instant, sender: usize, packet: &Packet, state: &Ends<AnyScheme<'static>>) {
        self.0.push(Sample {
            t: now.as_s(),
            sender,
            window: f64::from(state.scheme().window()),
            rtt_ms: (now - packet.sent).as_ms(),
            reductions: state.totals().reductions,
            seq: packet.seq,
        });
    }
}

/// What happened between two instants.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Bytes transmitted by the first hop over what it could have; up to a packet or a queue too many, since a plain queue
    /// counts them on arrival.
    pub utilisation: f64,
    /// Mean time that packets waited, ms (for senders of one RTT on one hop).
    pub wait_ms: f64,
    /// Packets dropped by the first hop.
    pub dropped: u64,
    /// Packets that arrived per sender.
    pub arrived: Vec<f64>,
}

impl Measured {
    /// Jain's index of the senders' rates.
    pub fn jain(&self) -> f64 {
        let sum: f64 = self.arrived.iter().sum();
        sum * sum / (self.arrived.len() as f64 * self.arrived.iter().map(|x| x * x).sum::<f64>())
    }
}

/// A world after so many seconds, seen by an observer.
pub fn run<O>(world: &World<'static>, seconds: f64, observer: &mut O) -> EvaluationEngine<'static>
where
    O: Observer<Ends<AnyScheme<'static>>>,
{
    let mut engine = world.engine(Seed { root: 1, specimen: 0 });
    engine.run(Instant::from_s(seconds), observer);
    engine
}

/// The samples of a whole run.
pub fn log(world: &World<'static>, seconds: f64) -> Vec<Sample> {
    let mut log = Log::default();
    run(world, seconds, &mut log);
    log.0
}

/// Measures a dumbbell of constant rate between two instants, s.
pub fn measure(world: &World<'static>, from: f64, to: f64) -> Measured {
    let LinkPlan::Rate(mbps) = world.network.hops[0].link else { panic!("a constant rate is needed") };
    let mut engine = run(world, from, &mut Log::default());
    let totals = |engine: &EvaluationEngine<'_>| -> HopTotals { engine.path().hop_totals(engine.now())[0] };
    let (before, mut log) = (totals(&engine), Log::default());
    engine.run(Instant::from_s(to), &mut log);
    let after = totals(&engine);
    let unloaded = |sample: &Sample| world.network.flows[sample.sender].rtt_ms + BYTES * 8e-3 / mbps;
    let waits = log.0.iter().map(|s| s.rtt_ms - unloaded(s));
    let arrived = |i| log.0.iter().filter(|s| s.sender == i).count() as f64;
    let measured = Measured {
        utilisation: (after.sent_bytes - before.sent_bytes) as f64 * 8e-6 / (mbps * (to - from)),
        wait_ms: mean(waits),
        dropped: after.dropped - before.dropped,
        arrived: (0..world.hosts.len()).map(arrived).collect(),
    };
    assert_eq!(engine.path().lost(), after.dropped + after.lost);
    measured
}

pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = values.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
    sum / n
}

/// Asserts that a value is within a part of another.
#[track_caller]
pub fn close(what: &str, value: f64, expected: f64, tolerance: f64) {
    println!("{what}: {value:.5}, expected {expected:.5} ({:+.2} %)", 100.0 * (value / expected - 1.0));
    assert!((value / expected - 1.0).abs() <= tolerance, "{what}: {value}, expected {expected} within {tolerance}");
}

/// Asserts that a value is in a range.
#[track_caller]
pub fn within(what: &str, value: f64, low: f64, high: f64) {
    println!("{what}: {value:.5}, expected {low} to {high}");
    assert!(low <= value && value <= high, "{what}: {value}, expected {low} to {high}");
}
