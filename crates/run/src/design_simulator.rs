//! The design simulator (Remy'13 §4.3): networks in motion whose senders run schemes on the plain [`Sender`].

use exmachina_hosts::scheme::Mixed;
use exmachina_hosts::scheme::Scheme;
use exmachina_net::engine::Engine;
use exmachina_net::network::{Network, PACKET_BYTES};
use exmachina_net::path::{Dumbbell, Topology, Wire};
use exmachina_net::random::Seed;
use exmachina_net::rounds::Rounds;
use exmachina_scenario::neighbour::Neighbour;

use crate::beside::{Beside, connection};
use crate::sender::Sender;

/// The design simulator, where there is one bottleneck.
pub type DesignEngine<S> = Engine<Sender<S>, Dumbbell>;

/// A dumbbell at time 0, every sender off; `scheme(i)` is the scheme of sender i.
///
/// # Panics
/// If there are more senders than a schedule has room for (scenario files are checked for that), and if it is no dumbbell.
pub fn dumbbell<S: Scheme>(network: &Network, seed: Seed, scheme: impl Fn(usize) -> S) -> DesignEngine<S> {
    Engine::new(network, seed, Dumbbell::new(network, seed), senders(network, seed, scheme))
}

/// The same, where nobody watches what happens in which order.
///
/// # Panics
/// If there are more senders than a schedule has room for, or there is no RTT (scenario files are checked for that), and if it is
/// no dumbbell.
pub fn in_rounds<S: Scheme>(network: &Network, seed: Seed, scheme: impl Fn(usize) -> S) -> Rounds<Sender<S>> {
    Rounds::new(network, seed, senders(network, seed, scheme))
}

/// The same for any network of drop-tail queues before links of constant rates.
///
/// # Panics
/// If there are more senders than a schedule has room for (scenario files are checked for that), and if there are other hops.
pub fn routed<S: Scheme>(network: &Network, seed: Seed, scheme: impl Fn(usize) -> S) -> Engine<Sender<S>, Topology> {
    let ack_bytes = vec![0; network.senders()];
    let wire = Wire { packet_bytes: Some(PACKET_BYTES as u16), ack_bytes, learns_losses: true };
    Engine::new(network, seed, Topology::new(network, &wire, seed), senders(network, seed, scheme))
}

/// The same for a dumbbell with neighbours, which are the last of the senders.
///
/// # Panics
/// If there are more senders than a schedule has room for (scenario files are checked for that), and if it is no dumbbell.
pub fn beside<'t>(
    network: &Network,
    neighbours: &[Neighbour],
    seed: Seed,
    scheme: impl Fn(usize) -> Mixed<'t>,
) -> Engine<Beside<'t>, Dumbbell> {
    let senders = senders(network, seed, scheme).into_iter().map(Beside::Designed);
    let kinds = neighbours.iter().map(|neighbour| neighbour.kind).zip(network.senders() as u16..);
    let neighbours_too = kinds.map(|(kind, id)| Beside::Neighbour(Box::new(connection(kind, id, seed))));
    let everybody = senders.chain(neighbours_too).collect();
    let all = with_neighbours(network, neighbours);
    Engine::new(&all, seed, Dumbbell::new(&all, seed), everybody)
}

/// A network with the flows of neighbours.
pub(crate) fn with_neighbours(network: &Network, neighbours: &[Neighbour]) -> Network {
    let mut all = network.clone();
    all.flows.extend(neighbours.iter().map(|neighbour| neighbour.flow.clone()));
    all
}

fn senders<S: Scheme>(network: &Network, seed: Seed, scheme: impl Fn(usize) -> S) -> Vec<Sender<S>> {
    (0..network.senders()).map(|i| Sender::new(scheme(i), i as u16).on(network, seed)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use exmachina_hosts::scheme::{AnyScheme, ConstantWindow, Remy};
    use exmachina_net::network::{Acks, EACH_PACKET, On, Workload};
    use exmachina_net::observe::{Unless, Unwatched};
    use exmachina_net::queue::Limit;
    use exmachina_net::time::Instant;
    use exmachina_rules::{Action, FlatTable, RuleTable, Signal, first_signals};

    use super::*;

    #[test]
    fn a_run_that_nobody_wants_ends_long_before_its_time() {
        let network = Network::dumbbell(1000.0, 10.0, 1, Workload::new(On::Forever, 1e-3));
        let run = |abandoned| {
            let scheme = |_| AnyScheme::ConstantWindow(ConstantWindow { packets: 2000 });
            let mut engine = dumbbell(&network, Seed { root: 1, specimen: 0 }, scheme);
            let early = engine.run(Instant::from_s(10.0), &mut Unless(&AtomicBool::new(abandoned)));
            (early, engine.outcome().flows[0].sent)
        };
        let (early, sent) = run(true);
        assert!(early && sent < 100_000, "{sent}");
        let (early, sent) = run(false);
        assert!(!early && sent > 900_000, "{sent}");
    }

    /// Bursts that a policer lets through at once come back at once: answers to them are more than an instant has turns.
    #[test]
    fn more_than_an_instant_has_turns_goes_in_the_same_order_in_rounds() {
        let mut network = Network::dumbbell(14.0, 1.0, 6, Workload::new(On::Seconds(0.035), 0.02));
        network.roughness.policed = true;
        network.roughness.batch_ms = 0.125;
        network.upsets.flow_s = 0.01;
        let action = Action { multiple: 0.9, increment: 20, intersend_ms: 0.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap();
        let scheme = |_| AnyScheme::Remy(Remy::new(&table));
        for specimen in 0..20 {
            let (seed, until) = (Seed { root: 1, specimen }, Instant::from_s(1.0));
            let (mut one_by_one, mut rounds) = (dumbbell(&network, seed, scheme), in_rounds(&network, seed, scheme));
            one_by_one.run(until, &mut Unwatched);
            rounds.run(until, &mut Unwatched);
            assert_eq!(rounds.outcome(), one_by_one.outcome());
        }
    }

    /// All that designs train with in a sender's own ends, each alone and with the others.
    #[test]
    fn receivers_timers_and_clocks_are_the_same_in_rounds() {
        let pairs = |delay_ms| Acks { packets: 2, delay_ms };
        let acks = [EACH_PACKET, pairs(40.0), pairs(2.0), pairs(0.0), Acks { packets: 5, delay_ms: 3.0 }];
        let mut table = RuleTable::single(&Signal::ALL[..4], Action { multiple: 0.9, increment: 5, intersend_ms: 0.7 });
        table.split(0, &first_signals(&[1.2, 1.1, 1.4, 1.3]), &Signal::ALL[..4]);
        for (rule, intersend_ms) in (0..table.len()).zip([0.7, 1.1, 0.2, 0.9].into_iter().cycle()) {
            table.set_action(rule, Action { multiple: 0.9, increment: 5 + rule as i32, intersend_ms });
        }
        let table = FlatTable::new(&table).unwrap();
        let mut network = Network::dumbbell(14.0, 20.0, 3, Workload::new(On::Seconds(0.5), 0.2));
        network.hops[0].limit = Limit::Packets(60);
        for case in 0..acks.len() * 16 {
            let which = case / acks.len();
            let of = |bit: usize, amount: f64| if which & bit > 0 { amount } else { 0.0 };
            network.acks = acks[case % acks.len()];
            (network.clock_ms, network.roughness.late_ms) = (of(1, 1.0), of(2, 1.5));
            (network.jitter_ms, network.upsets.flow_s) = (of(4, 0.5), of(8, 0.1));
            let (seed, until) = (Seed { root: 1, specimen: case as u64 }, Instant::from_s(5.0));
            let mut one_by_one = dumbbell(&network, seed, |_| Remy::new(&table));
            let mut rounds = in_rounds(&network, seed, |_| Remy::new(&table));
            one_by_one.run(until, &mut Unwatched);
            rounds.run(until, &mut Unwatched);
            assert_eq!(rounds.outcome(), one_by_one.outcome(), "{network:?}");
            for (there, here) in rounds.senders().zip(one_by_one.senders()) {
                assert_eq!(there.scheme.controller, here.scheme.controller, "{network:?}");
            }
        }
    }

    #[test]
    fn in_rounds_too() {
        let network = Network::dumbbell(1000.0, 10.0, 1, Workload::new(On::Forever, 1e-3));
        let run = |abandoned| {
            let scheme = |_| AnyScheme::ConstantWindow(ConstantWindow { packets: 2000 });
            let mut rounds = in_rounds(&network, Seed { root: 1, specimen: 0 }, scheme);
            rounds.run(Instant::from_s(10.0), &mut Unless(&AtomicBool::new(abandoned)));
            (rounds.outcome().flows[0].on_s, rounds.outcome().flows[0].sent)
        };
        let (on_s, sent) = run(true);
        assert!((0.1..2.0).contains(&on_s) && (10_000..200_000).contains(&sent), "{on_s} s, {sent}");
        let (on_s, sent) = run(false);
        assert!((9.9..10.0).contains(&on_s) && sent > 900_000, "{on_s} s, {sent}");
    }
}
