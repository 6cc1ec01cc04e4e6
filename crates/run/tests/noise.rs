//! What jitter, reordering and losses may do to packets on their way, and what not.

use exmachina_hosts::scheme::{AnyScheme, ConstantWindow, Remy, Vegas, VegasSettings};
use exmachina_hosts::transport::Settings;
use exmachina_net::network::{FirstOff, FlowPlan, HopPlan, Network, On, Reordering, Roughness, Workload};
use exmachina_net::observe::{Observer, Unwatched};
use exmachina_net::packet::Packet;
use exmachina_net::queue::Limit;
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, RuleTable, SIGNALS, Signal};
use exmachina_run::design_simulator::{dumbbell, routed};
use exmachina_run::sender::Sender;
use exmachina_scenario::world::{Host, World};

const SEED: Seed = Seed { root: 3, specimen: 0 };

/// RTTs by sender, in order of arrival, with when the packets were sent.
#[derive(Default)]
struct Rtts(Vec<Vec<(Instant, Duration)>>);

impl<E> Observer<E> for Rtts {
    fn acked(&mut self, now: Instant, sender: usize, packet: &Packet, _: &E) {
        self.0.resize(self.0.len().max(sender + 1), Vec::new());
        self.0[sender].push((packet.sent, now - packet.sent));
    }
}

fn for_ever() -> Workload {
    Workload { first_off: FirstOff::At(0.0), ..Workload::new(On::Forever, 1.0) }
}

/// Senders of a packet each ms on a link so fast that nothing waits; jitter changes so often, ms.
fn design(senders: usize, jitter_every_ms: f64) -> Rtts {
    let clean = Network::dumbbell(10_000.0, 50.0, senders, for_ever());
    let roughness = Roughness { jitter_every_ms, ..clean.roughness };
    let network = Network { jitter_ms: 20.0, roughness, ..clean };
    let rule = Action { multiple: 0.0, increment: 1000, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut rtts = Rtts::default();
    dumbbell(&network, SEED, |_| Remy::new(&table)).run(Instant::from_s(3.0), &mut rtts);
    rtts
}

fn evaluation(senders: usize, reordering: Reordering) -> Rtts {
    let scheme = AnyScheme::ConstantWindow(ConstantWindow { packets: 20 });
    let host = Host { scheme, transport: Settings::today() };
    let clean = Network::dumbbell(10_000.0, 50.0, senders, for_ever());
    let world = World { network: Network { jitter_ms: 20.0, reordering, ..clean }, hosts: vec![host; senders] };
    let mut rtts = Rtts::default();
    world.engine(SEED).run(Instant::from_s(3.0), &mut rtts);
    rtts
}

/// All that a sender sees of another that shares its RTT is a transmission of a microsecond.
#[test]
fn jitter_of_one_sender_holds_back_no_other() {
    let pairs = [
        (design(1, 0.0), design(2, 0.0)),
        (design(1, 30.0), design(2, 30.0)),
        (evaluation(1, Reordering::default()), evaluation(2, Reordering::default())),
    ];
    for (alone, beside) in pairs {
        let (alone, beside) = (&alone.0[0], &beside.0[0]);
        assert!(alone.len() > 500 && alone.len().abs_diff(beside.len()) <= 1);
        for ((_, a), (_, b)) in alone.iter().zip(beside) {
            assert!(a.abs_diff(*b) < Duration::from_ms(0.1), "{a} ns alone, {b} ns beside another");
        }
    }
}

/// Only what is held back to be overtaken is overtaken, also where there is jitter.
#[test]
fn jitter_overtakes_nobody_where_there_is_reordering() {
    let overtaken = |probability| {
        let rtts = evaluation(2, Reordering { probability, delay: Duration::from_ms(30.0) });
        rtts.0.iter().map(|sender| sender.windows(2).filter(|pair| pair[1].0 < pair[0].0).count()).sum::<usize>()
    };
    assert_eq!(overtaken(1e-12), 0);
    assert!(overtaken(0.01) > 5);
}

/// The memory of every RemyCC after each ACK.
struct Ratios(Vec<f64>);

impl<'t> Observer<Sender<Remy<'t>>> for Ratios {
    fn acked(&mut self, _: Instant, _: usize, _: &Packet, sender: &Sender<Remy<'t>>) {
        self.0.push(sender.scheme.controller.memory().point()[Signal::RttRatio as usize]);
    }
}

/// On a clock that ticks every 10 ms RTTs of 4 ms are one tick, those of 12 ms one or two: the ratio is 1, or at most 2, and its rule
/// is found, by the grid as well.
#[test]
fn a_clock_coarser_than_the_rtt_measures_a_tick() {
    let mut table = RuleTable::single(&Signal::ALL[..4], Action { multiple: 0.9, increment: 3, intersend_ms: 0.5 });
    (1..=9).for_each(|i| _ = table.split(table.len() - 1, &[f64::from(i); SIGNALS], &Signal::ALL[..4]));
    let table = FlatTable::new(&table).unwrap();
    for (rtt_ms, most) in [(4.0, 1.0), (12.0, 2.0)] {
        let network = Network { clock_ms: 10.0, ..Network::dumbbell(100.0, rtt_ms, 1, for_ever()) };
        let mut engine = dumbbell(&network, SEED, |_| Remy::new(&table));
        let mut ratios = Ratios(Vec::new());
        engine.run(Instant::from_s(2.0), &mut ratios);
        // The first ACK of a flow shows none.
        assert!(
            ratios.0.len() > 1000 && ratios.0[1..].iter().all(|r| (1.0..=most).contains(r)),
            "{:?}",
            &ratios.0[..9]
        );
        assert!(most == 1.0 || ratios.0.contains(&most));
    }
    for clock_ms in [10.0, 50.0] {
        let transport = Settings { clock: Duration::from_ms(clock_ms), ..Settings::today() };
        let hops = vec![HopPlan { limit: Limit::Packets(100), ..HopPlan::constant(10.0) }];
        let schemes = [AnyScheme::Remy(Remy::new(&table)), AnyScheme::Vegas(Vegas::new(VegasSettings::linux()))];
        let world = World {
            network: Network { hops, ..Network::dumbbell(10.0, 4.0, 2, for_ever()) },
            hosts: schemes.map(|scheme| Host { scheme, transport }).into(),
        };
        let mut engine = world.engine(SEED);
        engine.run(Instant::from_s(5.0), &mut Unwatched);
        assert!(engine.outcome().flows.iter().all(|f| f.delivered > 100), "{:?}", engine.outcome());
    }
}

/// Two links, of which the second is slower and has room for few.
fn narrowing(on: On) -> Network {
    let hop = |rate_mbps, limit| HopPlan { limit, delay_ms: 5.0, ..HopPlan::constant(rate_mbps) };
    let flow = FlowPlan { route: vec![0, 1], rtt_ms: 20.0, workload: Workload::new(on, 0.2) };
    Network::clean(vec![hop(20.0, Limit::Infinite), hop(10.0, Limit::Packets(5))], vec![flow; 2])
}

/// Losses at the second link are told in their place among the ACKs: time runs forward, and transfers deliver each packet.
#[test]
fn losses_at_a_later_hop_are_told_in_order() {
    #[derive(Default)]
    struct Order {
        now: Instant,
        last_sent: [Instant; 2],
        transfers: u64,
    }
    impl Order {
        fn tick(&mut self, now: Instant) {
            assert!(now >= self.now, "time ran back from {} to {now}", self.now);
            self.now = now;
        }
    }
    impl<E> Observer<E> for Order {
        fn stopped(&mut self, now: Instant, _: usize) {
            self.tick(now);
            self.transfers += 1;
        }
        fn sent(&mut self, now: Instant, _: usize, _: &Packet, _: Option<Instant>, _: &E) {
            self.tick(now);
        }
        fn acked(&mut self, now: Instant, sender: usize, packet: &Packet, _: &E) {
            self.tick(now);
            assert!(packet.sent >= self.last_sent[sender], "out of order");
            self.last_sent[sender] = packet.sent;
        }
    }
    let network = narrowing(On::Bytes(100_000.0));
    let rule = Action { multiple: 0.0, increment: 50, intersend_ms: 0.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut engine = routed(&network, SEED, |_| Remy::new(&table));
    let mut order = Order::default();
    engine.run(Instant::from_s(500.0), &mut order);
    let outcome = engine.outcome();
    assert!(outcome.lost > 10_000, "{outcome:?}");
    // The mean of an exponential of 80 packets, rounded up to whole ones.
    let delivered: u64 = outcome.flows.iter().map(|f| f.delivered).sum();
    let per_transfer = delivered as f64 / order.transfers as f64;
    assert!(order.transfers > 1000 && (per_transfer - 80.5).abs() < 6.0, "{per_transfer}");
}

/// A sender that loses all it sends sends on: nothing else would ever come back to it.
#[test]
fn a_lost_window_does_not_silence_a_sender_by_time() {
    let hops = vec![HopPlan { loss: 0.7, ..HopPlan::constant(10.0) }];
    let network = Network { hops, ..Network::dumbbell(10.0, 20.0, 1, for_ever()) };
    let rule = Action { multiple: 0.0, increment: 2, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut engine = dumbbell(&network, SEED, |_| Remy::new(&table));
    engine.run(Instant::from_s(100.0), &mut Unwatched);
    // Two packets in some 22 ms, and one more each time that an ACK comes back before the second is due.
    let flow = engine.outcome().flows[0];
    assert!(flow.sent > 8000 && (0.25..0.35).contains(&(flow.delivered as f64 / flow.sent as f64)), "{flow:?}");
}
