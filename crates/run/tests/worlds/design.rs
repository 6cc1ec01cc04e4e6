//! Random networks of the design simulator, dumbbells and several links, and the checker that watches a run of one.

use std::cell::Cell;

use exmachina_hosts::scheme::Scheme;
use exmachina_hosts::scheme::{Aimd, AnyScheme, Remy};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::engine::Engine;
use exmachina_net::network::{Acks, FlowPlan, HopPlan, Network, On, Roughness, Upsets, Workload};
use exmachina_net::observe::{Observer, Unwatched};
use exmachina_net::packet::Packet;
use exmachina_net::path::{Dumbbell, Path};
use exmachina_net::queue::Limit;
use exmachina_net::random::{Purpose, Seed, Stream};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, Controller, FlatTable, LAW_UNIT, LEVELS, Law, RuleTable, Signal};
use exmachina_run::design_simulator::{dumbbell, in_rounds, routed};
use exmachina_run::sender::Sender;

use super::Dice;

/// A network, who is on it, and for how long it runs.
#[derive(Debug)]
pub struct DesignWorld {
    network: Network,
    table: FlatTable,
    /// Every second sender is one.
    aimd: bool,
    seconds: f64,
}

/// One random network of the design simulator. The same seed gives the same.
pub fn world(seed: u64) -> DesignWorld {
    let mut dice = Dice(Stream::new(seed, 2, 0, Purpose::Network));
    let rate_mbps = if dice.chance(0.1) { dice.log(1e-5, 1e5) } else { dice.log(0.5, 200.0) };
    let n = if dice.chance(0.05) { 100 } else { 1 + dice.below(6) as usize };
    let rtt = |dice: &mut Dice| if dice.chance(0.2) { dice.log(1e-6, 1e5) } else { dice.log(0.1, 500.0) };
    let first = rtt(&mut dice);
    let alike = dice.chance(0.5);
    let rtt_ms: Vec<f64> = (0..n).map(|i| if alike || i == 0 { first } else { rtt(&mut dice) }).collect();
    let longest = rtt_ms.iter().copied().fold(0.0, f64::max);
    let workload = workload(&mut dice);
    let flow = |rtt_ms| FlowPlan { route: vec![0], rtt_ms, workload: workload.clone() };
    let hop = HopPlan { limit: limit(&mut dice), loss: loss(&mut dice), ..HopPlan::constant(rate_mbps) };
    let mut network = Network::clean(vec![hop], rtt_ms.into_iter().map(flow).collect());
    network.jitter_ms = if dice.chance(0.3) { longest * dice.log(1e-4, 1.0) } else { 0.0 };
    network.clock_ms = if dice.chance(0.4) { longest * dice.log(1e-4, 1.0) } else { 0.0 };
    let several = dice.chance(0.4);
    if several {
        add_links(&mut network, &mut dice, rate_mbps);
    }
    if dice.chance(0.3) {
        network.acks = Acks { packets: dice.pick(&[2, 3, 8, 64]), delay_ms: dice.log(0.01, 1e3) };
    }
    let (flow_s, link_s) = (dice.log(0.01, 10.0), dice.log(0.01, 10.0));
    network.upsets = match dice.below(6) {
        0 => Upsets { flow_s, link_s: 0.0 },
        1 if !several => Upsets { flow_s: 0.0, link_s },
        2 if !several => Upsets { flow_s, link_s },
        _ => Upsets::default(),
    };
    if dice.chance(0.3) {
        network.roughness.late_ms = dice.log(0.001, 100.0);
    }
    if !several && dice.chance(0.4) {
        let mut some = |low, high| if dice.chance(0.4) { dice.log(low, high) } else { 0.0 };
        network.roughness = Roughness {
            loss_burst: some(1.0, 100.0),
            jitter_every_ms: some(1.0, 1000.0),
            batch_ms: some(0.1, 100.0),
            wander: some(0.01, 1.0),
            policed: some(1.0, 2.0) > 0.0,
            ..network.roughness
        };
    }
    let seconds = dice.pick(&[3.0, 10.0, 100.0, 10_000.0]);
    let (table, aimd) = (table(&mut dice), dice.chance(0.3));
    network.first_receive_window = dice.pick(&[0, 0, 1, 7, 45]);
    DesignWorld { network, table, aimd, seconds }
}

fn workload(dice: &mut Dice) -> Workload {
    let extreme = dice.chance(0.1);
    let mut log = |low: f64, high: f64| if extreme { dice.log(1e-6, 1e6) } else { dice.log(low, high) };
    let (on, off_s) = (log(0.01, 10.0), log(0.001, 5.0));
    let on = match dice.below(4) {
        0 => On::Seconds(on),
        1 => On::FixedSeconds(on),
        2 => On::Bytes(on * 1e6),
        _ => On::Forever,
    };
    Workload::new(on, off_s)
}

fn limit(dice: &mut Dice) -> Limit {
    if dice.chance(0.4) { Limit::Infinite } else { Limit::Packets(dice.pick(&[0, 1, 2, 5, 20, 100, 1000, u32::MAX])) }
}

fn loss(dice: &mut Dice) -> f64 {
    if dice.chance(0.6) { 0.0 } else { dice.pick(&[1e-4, 0.01, 0.1, 0.5, 0.99]) }
}

/// Other links, up to four, and a way through them for each flow.
fn add_links(network: &mut Network, dice: &mut Dice, rate_mbps: f64) {
    let n = 1 + dice.below(4) as u8;
    let hop = |dice: &mut Dice| {
        let hop = HopPlan::constant(rate_mbps * dice.log(1.0, 10.0));
        let (limit, loss) = (limit(dice), loss(dice));
        HopPlan { limit, loss, delay_ms: if dice.chance(0.3) { 0.0 } else { dice.log(0.001, 100.0) }, ..hop }
    };
    network.hops = (0..n).map(|_| hop(dice)).collect();
    let route = |dice: &mut Dice| {
        let first = dice.below(u32::from(n)) as u8;
        (first..n).filter(|&hop| hop == first || dice.chance(0.7)).collect()
    };
    network.flows.iter_mut().for_each(|flow| flow.route = route(dice));
}

/// A law of any numbers that [`Law::check`] lets pass, from its least to its largest.
fn law(dice: &mut Dice) -> Law {
    const MOST: u32 = 64 * LAW_UNIT;
    let mut any = |lo: u32, hi: u32| match dice.below(8) {
        0 => lo,
        1 => hi,
        _ => (dice.log(f64::from(lo.max(1)), f64::from(hi)) as u32).clamp(lo, hi),
    };
    let mut any_of = |lo, hi| [0; LEVELS].map(|_| any(lo, hi));
    let (growth, packets) = (any_of(0, 2 * LAW_UNIT).map(|growth| growth as i32 - LAW_UNIT as i32), any_of(0, MOST));
    let (pace, most) = (any_of(1, 16 * LAW_UNIT), any_of(0, MOST));
    let law = Law {
        target_of_rtt: any(0, MOST),
        target_of_root: any(0, 4 * LAW_UNIT),
        target_of_fourth: any(0, 4 * LAW_UNIT),
        target_of_gap: any(0, MOST),
        target_of_spread: any(0, MOST),
        growth: [growth[0].max(1), growth[1], growth[2], growth[3], growth[4]],
        packets,
        pace,
        most: [most[0].max(pace[0].max(LAW_UNIT) + 1), most[1], most[2], most[3], most[4]],
        most_of_path: any(0, MOST),
        least_packets: any(1, 64),
        again_rtts: any(0, 1 << 15),
        faster: any(LAW_UNIT, MOST),
        fastest: any(LAW_UNIT, MOST),
        first_window: any(2 * LAW_UNIT, 1024 * LAW_UNIT),
        first_rate: any(0, MOST),
        first_most: any(0, MOST),
        first_train: any(0, MOST),
        first_train_ns: any(0, u32::MAX),
        delivered_keeps: any(0, LAW_UNIT / 64 * 63),
        min_rtt_keeps: any(0, LAW_UNIT / 64 * 63),
        first_pause_ns: any(0, u32::MAX),
        first_growth: any(1, MOST),
        first_pace: any(1, 4 * LAW_UNIT - 1),
        first_until: any(1, MOST),
        then_window: any(0, MOST),
        room: any(0, MOST),
        silence_most: any(0, MOST),
        silence_packets: any(0, MOST),
        silence_adds: any(0, MOST),
        loss_most: any(0, LAW_UNIT),
        shared_below: any(0, LAW_UNIT / 2),
        shared_scale: any(1 << 10, 1 << 18),
        shared_cut: any(1 << 14, LAW_UNIT),
        shared_rtts: any(1, 1 << 12),
    };
    assert_eq!(law.check(), Ok(()), "{law:?}");
    law
}

fn table(dice: &mut Dice) -> FlatTable {
    if dice.chance(0.25) {
        let law = RuleTable::of_law(&Signal::ALL[..4], law(dice));
        return FlatTable::new(&law).expect("a sound law");
    }
    let signals = if dice.chance(0.2) { &Signal::ALL[..] } else { &Signal::ALL[..4] };
    // Of half of them every rule spaces packets: senders go along by these in rounds (`sender/cruise.rs`).
    let paces = dice.chance(0.5);
    let action = |dice: &mut Dice| {
        let slowest = if dice.chance(0.1) { 1e7 } else { 10.0 };
        Action {
            multiple: dice.pick(&[0.0, 0.5, 0.9, 1.0, 1.5]),
            increment: dice.pick(&[-5, 0, 1, 2, 10, 100, 1_000_000]),
            intersend_ms: if !paces && dice.chance(0.2) { 0.0 } else { dice.log(1e-6, slowest) },
        }
    };
    let mut table = RuleTable::single(signals, action(dice));
    for _ in 0..dice.below(5) {
        let mut at = [0.0; exmachina_rules::SIGNALS];
        at.iter_mut().for_each(|x| *x = dice.log(0.01, 20.0));
        at[Signal::RttRatio as usize] = dice.log(1.0, 3.0);
        table.split(dice.below(table.len() as u32) as usize, &at, &signals[1..]);
    }
    (0..table.len()).for_each(|rule| table.set_action(rule, action(dice)));
    FlatTable::new(&table).expect("a sound table")
}

/// Runs a network and checks it: events, packets sent, and whether it got to its end.
pub fn run(seed: u64, events: u64) -> (u64, u64, bool) {
    let world = world(seed);
    let scheme = |i: usize| match (world.aimd && i % 2 == 1, &world.table) {
        (true, _) => AnyScheme::Aimd(Aimd::default()),
        (false, table) => AnyScheme::Remy(Remy::new(table)),
    };
    let seed = Seed { root: seed, specimen: 0 };
    if !world.network.is_dumbbell() {
        return watched(&world, events, &mut routed(&world.network, seed, scheme));
    }
    let mut engine = dumbbell(&world.network, seed, scheme);
    let seen = watched(&world, events, &mut engine);
    in_rounds_too(&world.network, seed, scheme, &engine);
    seen
}

/// Up to where the engine came, and to a few instants before: the same packets an RTT at a time, whether all senders are
/// alike or not.
fn in_rounds_too<'t>(
    network: &Network,
    seed: Seed,
    scheme: impl Fn(usize) -> AnyScheme<'t> + Copy,
    engine: &Engine<Sender<AnyScheme<'t>>, Dumbbell>,
) {
    let mut rounds = in_rounds(network, seed, scheme);
    for share in [0.3, 0.300_001, 1.0] {
        let until = Instant::from_nanos((engine.now().as_nanos() as f64 * share) as u64);
        let mut one_by_one = dumbbell(network, seed, scheme);
        one_by_one.run(until, &mut Unwatched);
        rounds.run(until, &mut Unwatched);
        assert_eq!(rounds.outcome(), one_by_one.outcome(), "an RTT at a time, up to {until} ns");
        for (i, (there, here)) in rounds.senders().zip(one_by_one.senders()).enumerate() {
            let state = |s: &Sender<AnyScheme>| (s.totals(), s.outstanding(), s.scheme.window(), s.scheme.intersend());
            assert_eq!(state(there), state(here), "sender {i} at {until} ns");
            assert_eq!(controller(there), controller(here), "sender {i} at {until} ns");
        }
    }
}

/// What a sender remembers, if it follows a table.
fn controller<'s>(sender: &'s Sender<AnyScheme<'_>>) -> Option<&'s Controller> {
    match &sender.scheme {
        AnyScheme::Remy(remy) => Some(&remy.controller),
        _ => None,
    }
}

fn watched<'t, P: Path>(
    world: &DesignWorld,
    events: u64,
    engine: &mut Engine<Sender<AnyScheme<'t>>, P>,
) -> (u64, u64, bool) {
    let n = world.network.senders();
    let mut checker = Checker {
        world,
        now: Instant::START,
        busy_until: Instant::START,
        seen: vec![Seen::default(); n],
        events: Cell::new(0),
        budget: events,
    };
    let paused = engine.run(Instant::from_s(world.seconds), &mut checker);
    let outcome = engine.outcome();
    let sum = |f: fn(&exmachina_net::outcome::Flow) -> u64| outcome.flows.iter().map(f).sum::<u64>();
    let (sent, delivered) = (sum(|f| f.sent), sum(|f| f.delivered));
    assert_eq!(sent, delivered + outcome.lost + outcome.in_flight, "packets are not conserved: {outcome:?}");
    for (i, sender) in engine.senders().iter().enumerate() {
        checker.check_voice(i, sender);
    }
    (checker.events.get(), sent, !paused)
}

#[derive(Clone, Default)]
struct Seen {
    /// When the packet was sent that arrived last.
    last_sent: Instant,
    /// The fates of all packets are known by then; [`Instant::NEVER`] where that cannot be told.
    known_by: Instant,
}

struct Checker<'w> {
    world: &'w DesignWorld,
    now: Instant,
    /// When the last packet leaves the first link that was seen to.
    busy_until: Instant,
    seen: Vec<Seen>,
    events: Cell<u64>,
    budget: u64,
}

impl Checker<'_> {
    fn tick(&mut self, now: Instant) {
        assert!(now >= self.now, "time ran back from {} to {now}", self.now);
        self.now = now;
    }

    /// The longest that a packet of a sender is on its way once it has left the first link.
    fn longest(&self, i: usize) -> Duration {
        let network = &self.world.network;
        let flow = &network.flows[i];
        let wait = |&hop: &u8| {
            let HopPlan { link, limit, .. } = &network.hops[usize::from(hop)];
            let service = Duration::from_ms(10.0 / link.mean_mbps()).saturating_add(Duration::NANOSECOND);
            limit.packets(1250).map_or(Duration::MAX, |n| service.saturating_mul(u64::from(n) + 2))
        };
        let later = flow.route[1..].iter().map(wait).fold(Duration::ZERO, |sum, wait| sum.saturating_add(wait));
        later.saturating_add(Duration::from_ms(flow.rtt_ms) + Duration::from_ms(network.jitter_ms))
    }

    /// A sender that may send and has a window is never left without a cause to: a packet that is due, or an answer.
    fn check_voice(&self, i: usize, sender: &Sender<AnyScheme<'_>>) {
        let silent =
            sender.is_on() && sender.scheme.window() > 0 && sender.ready() == Instant::NEVER && !sender.finished();
        let known_by = self.seen[i].known_by;
        assert!(!silent || self.now <= known_by, "sender {i} is mute since {} s: {sender:?}", known_by.as_s());
    }
}

impl<'t> Observer<Sender<AnyScheme<'t>>> for Checker<'_> {
    fn started(&mut self, now: Instant, _: usize, _: &Sender<AnyScheme<'t>>) {
        self.tick(now);
    }

    fn stopped(&mut self, now: Instant, _: usize) {
        self.tick(now);
    }

    fn sent(&mut self, now: Instant, i: usize, packet: &Packet, departs: Option<Instant>, _: &Sender<AnyScheme<'t>>) {
        self.tick(now);
        assert_eq!((packet.sent, usize::from(packet.sender)), (now, i));
        assert!(departs.is_none_or(|at| at > now));
        self.busy_until = self.busy_until.max(now).max(departs.unwrap_or(Instant::START));
        // Several links differ in when they are free, and what was dropped at the first says nothing of when.
        let first = match (self.world.network.is_dumbbell(), departs) {
            (false, None) => Instant::NEVER,
            // Nor does it of a link that stops.
            (_, None) if self.world.network.upsets.link_s > 0.0 => Instant::NEVER,
            // Nor is it known when a batch comes, or what a policer lets pass.
            _ if self.world.network.roughness.batch_ms > 0.0 || self.world.network.roughness.policed => Instant::NEVER,
            _ => self.busy_until,
        };
        self.seen[i].known_by = self.seen[i].known_by.max(first.saturating_add(self.longest(i)));
    }

    fn acked(&mut self, now: Instant, i: usize, packet: &Packet, sender: &Sender<AnyScheme<'t>>) {
        self.tick(now);
        assert!(now - packet.sent > Duration::from_ms(self.world.network.flows[i].rtt_ms), "an RTT below the minimum");
        assert!(packet.sent >= self.seen[i].last_sent, "a sender's packets were reordered");
        self.seen[i].last_sent = packet.sent;
        if let AnyScheme::Remy(remy) = &sender.scheme {
            let memory = remy.controller.memory().point();
            assert!(memory.iter().all(|x| x.is_finite()), "{memory:?}");
        }
        self.check_voice(i, sender);
    }

    fn pause(&self) -> bool {
        self.events.set(self.events.get() + 1);
        self.events.get().is_multiple_of(self.budget)
    }
}
