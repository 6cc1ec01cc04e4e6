//! Random worlds, from tame to absurd, for the tests that hold everywhere; and the checker that watches a run.

mod checker;
mod contenders;
pub mod design;
mod extremes;
mod progress;

pub use checker::Checker;
pub use contenders::{Erratic, queues, schemes};

use exmachina_hosts::scheme::{AnyScheme, Own};
use exmachina_hosts::transport::{
    Connections, LossThreshold, Modular, Recovery, Repair, RtoFloor, RttSamples, Settings, Stack, TimerSettings,
};
use exmachina_net::network::{
    Arrival, Draw, FirstOff, FlowPlan, HopPlan, ICSI_EXTRA_BYTES, LinkPlan, On, Reordering, Stop, Workload,
};
use exmachina_net::queue::{Limit, QueueKind};
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::service::{Cellular, Trace};
use exmachina_net::time::Duration;
use exmachina_scenario::world::{Host, World};
use progress::answers;

/// One random world and how long it is to run, s. The same seed gives the same world.
pub fn world(seed: u64) -> (World<'static>, f64) {
    let mut dice = Dice(Stream::new(seed, 0, 0, Purpose::Network));
    let hops: Vec<HopPlan> = (0..dice.hops()).map(|_| dice.hop()).collect();
    let alike = dice.chance(0.5);
    let first = dice.sender(hops.len());
    let more = (0..dice.below(6)).map(|_| {
        let (flow, host) = dice.sender(hops.len());
        (flow, if alike { first.1.clone() } else { host })
    });
    let senders = std::iter::once(first.clone()).chain(more.collect::<Vec<_>>()).collect();
    let jitter_ms = if dice.chance(0.3) { dice.log(0.001, 100.0) } else { 0.0 };
    let reordering = if dice.chance(0.2) {
        Reordering { probability: 0.3 * dice.uniform(), delay: Duration::from_ms(dice.log(0.01, 200.0)) }
    } else {
        Reordering::default()
    };
    let seconds = if dice.chance(0.1) { 60.0 } else { 2.0 + 8.0 * dice.uniform() };
    let mut world = World::clean(hops, senders);
    (world.network.jitter_ms, world.network.reordering) = (jitter_ms, reordering);
    (world, seconds)
}

/// The same, and half of them with numbers as extreme as files may have them.
pub fn wild_world(seed: u64) -> (World<'static>, f64) {
    let (mut world, seconds) = world(seed);
    // A stream of their own: worlds that are named by their seeds elsewhere stay what they are.
    let mut dice = Dice(Stream::new(seed, 1, 0, Purpose::Network));
    let longer = if dice.chance(0.5) { extremes::add(&mut world, &mut dice) } else { 1.0 };
    extremes::add_ns2(&mut world, &mut Dice(Stream::new(seed, 4, 0, Purpose::Network)));
    (world, (seconds * longer).min(30_000.0))
}

/// A sender that answers to losses, alone for a minute on a link that carries what it can, of the rates that people have: it
/// must get on, whatever the queue, and what it sends must get into order.
pub fn lone_world(seed: u64) -> (World<'static>, f64) {
    let mut dice = Dice(Stream::new(seed, 3, 0, Purpose::Network));
    let link = match dice.below(4) {
        0 => LinkPlan::Rate(dice.log(0.5, 50.0)),
        1 => dice.recording(0.2, 20.0),
        _ => extremes::steady_recording(&mut dice),
    };
    let limit = if dice.chance(0.8) { Limit::Packets(dice.log(4.0, 1000.0) as u32) } else { Limit::Infinite };
    let queue = if dice.chance(0.5) { QueueKind::DropTail } else { dice.queue() };
    let hop = HopPlan { link, queue, limit, loss: 0.0, delay_ms: 0.0 };
    let (mut flow, mut host) = dice.sender(1);
    if dice.chance(0.5) {
        host.transport = Settings::today();
    }
    let all = schemes(&host.transport);
    while !answers(&host.scheme) {
        host.scheme = dice.pick(&all).1;
    }
    flow.rtt_ms = dice.log(1.0, 300.0);
    if dice.chance(0.7) {
        flow.workload = Workload { first_off: FirstOff::At(0.0), ..Workload::new(On::Forever, 1.0) };
    }
    (World::clean(vec![hop], vec![(flow, host)]), 60.0)
}

/// Every scheme that answers to losses, alone for ever with today's stack at 12 Mbit/s and 50 ms, by a recording that has an
/// opportunity each ms, with room for so many packets.
pub fn steady(room: u32) -> Vec<(&'static str, World<'static>)> {
    let transport = Settings::today();
    let text: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
    let link = LinkPlan::Trace(Trace::parse(&text, "steady").expect("times that grow"), 0);
    let (queue, limit) = (QueueKind::DropTail, Limit::Packets(room));
    let hop = HopPlan { link, queue, limit, loss: 0.0, delay_ms: 0.0 };
    let world = |(name, scheme)| {
        let workload = Workload { first_off: FirstOff::At(0.0), ..Workload::new(On::Forever, 1.0) };
        let flow = FlowPlan { route: vec![0], rtt_ms: 50.0, workload };
        (name, World::clean(vec![hop.clone()], vec![(flow, Host { scheme, transport })]))
    };
    schemes(&transport).into_iter().filter(|(_, scheme)| answers(scheme)).map(world).collect()
}

/// Draws of all kinds.
struct Dice(Stream);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    fn log(&mut self, low: f64, high: f64) -> f64 {
        self.0.log_between(low, high)
    }

    /// 0 to `n` - 1.
    fn below(&mut self, n: u32) -> u32 {
        ((self.uniform() * f64::from(n)) as u32).min(n - 1)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize].clone()
    }

    fn hops(&mut self) -> u32 {
        if self.chance(0.7) { 1 } else { 2 + self.below(3) }
    }

    fn hop(&mut self) -> HopPlan {
        HopPlan {
            link: self.link(),
            queue: self.queue(),
            limit: self.limit(),
            loss: if self.chance(0.5) { 0.0 } else { 0.1 * self.uniform() },
            delay_ms: if self.chance(0.5) { 0.0 } else { self.log(0.01, 1000.0) },
        }
    }

    fn link(&mut self) -> LinkPlan {
        match self.below(5) {
            0 => LinkPlan::Rate(self.log(0.01, 10_000.0)),
            1 | 2 => LinkPlan::Rate(self.log(0.5, 100.0)),
            3 => self.recording(0.05, 200.0),
            _ => {
                let mean_mbps = self.log(0.05, 100.0);
                let max_mbps = mean_mbps * self.log(1.1, 10.0);
                let (spread, memory_s) = (2.0 * self.uniform(), self.log(0.02, 20.0));
                let (outage_per_s, outage_mean_s) = (self.uniform(), self.log(0.02, 5.0));
                LinkPlan::Cellular(Cellular { mean_mbps, max_mbps, spread, memory_s, outage_per_s, outage_mean_s })
            }
        }
    }

    /// Two hundred opportunities at random, with so many ms between them on the mean.
    fn recording(&mut self, shortest_ms: f64, longest_ms: f64) -> LinkPlan {
        let gap = self.log(shortest_ms, longest_ms);
        let mut at = 0.0;
        let mut line = |_| {
            at += self.0.exponential(gap);
            format!("{}\n", at as u32 + 1)
        };
        let text: String = (0..200).map(&mut line).collect();
        LinkPlan::Trace(Trace::parse(&text, "random").expect("times that grow"), u64::from(self.below(1000)))
    }

    fn queue(&mut self) -> QueueKind {
        let all = queues();
        self.pick(&all).1
    }

    fn limit(&mut self) -> Limit {
        match self.below(5) {
            0 => Limit::Infinite,
            1 => Limit::Packets(1),
            2 => Limit::Bytes(self.log(9000.0, 1e6) as u64),
            _ => Limit::Packets(self.log(1.0, 2000.0) as u32),
        }
    }

    fn sender(&mut self, hops: usize) -> (FlowPlan, Host<'static>) {
        let transport = self.transport();
        let all = schemes(&transport);
        let scheme = if self.chance(0.03) {
            AnyScheme::Own(Own(Box::new(Erratic::new(self.0.next_u64()))))
        } else {
            self.pick(&all).1
        };
        let mut route: Vec<u8> = (0..hops as u8).filter(|_| self.chance(0.7)).collect();
        if route.is_empty() {
            route.push(self.below(hops as u32) as u8);
        }
        let rtt_ms = if self.chance(0.1) { self.log(0.001, 20_000.0) } else { self.log(1.0, 500.0) };
        (FlowPlan { route, rtt_ms, workload: self.workload() }, Host { scheme, transport })
    }

    fn transport(&mut self) -> Settings {
        let preset = if self.chance(0.5) { Settings::tao14() } else { Settings::today() };
        if self.chance(0.4) {
            return preset;
        }
        Settings {
            connections: self.pick(&[Connections::Fresh, Connections::Persistent]),
            initial_window: 1 + self.below(20),
            first_receive_window: self.pick(&[0, 0, 5_000, 65_535]),
            delayed_ack: self.pick(&[Duration::ZERO, Duration::from_millis(40), Duration::from_millis(200)]),
            clock: self.pick(&[
                Duration::ZERO,
                Duration::NANOSECOND,
                Duration::from_nanos(100_000),
                Duration::from_millis(10),
            ]),
            quick_acks: self.pick(&[0, 1, 16]),
            ack_packets: self.pick(&[1, 2, 2, 16]),
            stack: self.stack(),
            packet_bytes: self.pick(&[100, 1250, 1250, 1250, 1500, 9000]),
            ack_bytes: self.pick(&[0, 40, 64]),
            ..preset
        }
    }

    fn stack(&mut self) -> Stack {
        let all = [Recovery::GoBackN, Recovery::NewReno, Recovery::TcpLinux, Recovery::Proportional, Recovery::Rack];
        let floor = Duration::from_ms(self.log(1.0, 1000.0));
        let samples = [RttSamples::Packets, RttSamples::Echo, RttSamples::NewAcks, RttSamples::Timed];
        let timer = TimerSettings {
            floor: self.pick(&[RtoFloor::Timeout(floor), RtoFloor::Variation(floor)]),
            initial: self.pick(&[Duration::SECOND, Duration::from_secs(3)]),
            granularity: self.pick(&[Duration::from_millis(1), Duration::from_millis(10)]),
            samples: self.pick(&samples),
            runs_when_idle: self.chance(0.5),
        };
        let threshold = LossThreshold { packets: 1 + self.below(5), adapts: self.chance(0.5) };
        let parts = Modular {
            repair: Repair::Rack(threshold),
            timer,
            grows_unused_windows: self.chance(0.5),
            decays_when_idle: self.chance(0.5),
            pacing: self.chance(0.3),
            ect_on_repairs: self.chance(0.5),
        };
        self.pick(&all).stack(parts)
    }

    fn workload(&mut self) -> Workload {
        let on = match self.below(7) {
            0 => On::Forever,
            1 => On::Seconds(self.log(0.01, 10.0)),
            2 => On::FixedSeconds(self.log(0.01, 5.0)),
            3 => On::Icsi { extra_bytes: self.pick(&[0.0, ICSI_EXTRA_BYTES]) },
            4 => {
                let arrival = |dice: &mut Dice| Arrival {
                    start_s: 5.0 * dice.uniform(),
                    stop: match dice.below(3) {
                        0 => Stop::Seconds(dice.uniform()),
                        1 => Stop::Bytes(dice.log(1.0, 1e6)),
                        _ => Stop::Never,
                    },
                };
                let mut arrivals: Vec<Arrival> = (0..self.below(5)).map(|_| arrival(self)).collect();
                arrivals.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
                On::At(arrivals.into())
            }
            _ => On::Bytes(self.log(100.0, 1e7)),
        };
        let first = self.uniform();
        Workload {
            off: self.pick(&[Draw::Exponential, Draw::Fixed]),
            first_off: self.pick(&[FirstOff::Exponential, FirstOff::HalfExponential, FirstOff::At(first)]),
            bytes_per_packet: self.pick(&[1210.0, 1250.0]),
            ..Workload::new(on, self.log(0.001, 5.0))
        }
    }
}

/// The longest retransmission timeout: a minute (RFC 6298 §2.5), and two with ns-2's TCP/Linux, which has twice ns-2's own. The
/// agent of Tao'14's RemyCCs doubles its timeouts without end, and has none for what it sent again and need not have: its window
/// may be full of that, for ever if it is lost.
pub fn longest_timeout(transport: &Settings) -> Duration {
    match transport.stack {
        Stack::RationalTao14 => Duration::MAX,
        Stack::TcpLinux => Duration::from_secs(120),
        _ => Duration::from_secs(60),
    }
}
