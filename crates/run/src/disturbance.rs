//! How tables come back from disturbed states.
//!
//! On each network senders go on for ever, and a run is saved once it has settled. From there, so many times, every flow's
//! window and averages are set elsewhere, by independent factors of up to 32 either way. A table is back if, 20 RTTs or
//! two seconds later, the whole throughput and the mean RTT of as long again are within 10 % of what they are at some time
//! in the run that nobody disturbed (in ten such whiles, one after another). A flow is below if it then has less than half
//! of a fair share of what all have there (some have in the run that nobody disturbed, too: `uneven`), and stays if it
//! has less on the mean of the five whiles after that. A fair share is an equal one, and of several links, where flows may
//! differ in how many they cross and with whom, as large a part as under proportional fairness. What is back, and stays,
//! of flows that were but nudged, by a percent at most, is said besides: if a network is a toss of a coin, whatever was
//! disturbed, it shows there.
//!
//! The result does not depend on the number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_hosts::scheme::{Remy, Scheme};
use exmachina_net::engine::Engine;
use exmachina_net::network::On;
use exmachina_net::observe::Unwatched;
use exmachina_net::path;
use exmachina_net::random::{Purpose, Seed, Stream};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::FlatTable;
use exmachina_scenario::{Imperfections, Specimen, SpecimenSet};
use rayon::prelude::*;

use crate::design_simulator::{dumbbell, routed};
use crate::omniscient::fair_parts;
use crate::sender::Sender;

const SETTLED_S: f64 = 60.0;
const FARTHEST: f64 = 32.0;
/// Those that are nudged; for so many states there is one of them.
const NUDGE: f64 = 1.01;
const ONE_IN: u32 = 4;
/// How long a while is: of the longest RTT, and at least.
const WHILE_RTTS: u64 = 20;
const WHILE_S: f64 = 2.0;
/// Of the run that nobody disturbed.
const WHILES: u64 = 10;
/// Who has exactly half of a share is not below it, however shares are rounded.
const ROUNDED: f64 = 1.0 - 1e-9;
/// After the one in which a disturbed run should be back: who has too little on their mean stays where they are.
const MORE: u64 = 5;
/// Of a share: of what flows lack of it, nothing counts beyond.
const ENOUGH: f64 = 0.75;

/// Of the states of one network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbed {
    /// How many were tried.
    pub states: u32,
    /// Throughput and RTT are as in the run that nobody disturbed.
    pub back: u32,
    /// Some flow has less than half of its share.
    pub below: u32,
    /// And stays there.
    pub stays: u32,
    /// Of three quarters of a share, what the flow with the least lacks meanwhile: summed up over states.
    pub lacks: f64,
    /// Some flow has less than half of its share in the run that nobody disturbed.
    pub uneven: bool,
    /// How many states were nudged.
    pub nudged: u32,
    /// Of those.
    pub nudged_back: u32,
    /// Of those.
    pub nudged_stays: u32,
}

/// Of each specimen, where all senders run the table, and nothing is besides what the specimen says but a microsecond of
/// jitter, so that no run stands on an edge. Once `stop` is set, what comes back is worth nothing.
#[must_use]
pub fn disturbed(table: &FlatTable, set: &SpecimenSet, states: u32, stop: &AtomicBool) -> Vec<Disturbed> {
    set.specimens.par_iter().map(|specimen| network(specimen, set.seed, table, states, stop)).collect()
}

fn network(specimen: &Specimen, root: u64, table: &FlatTable, states: u32, stop: &AtomicBool) -> Disturbed {
    let mut specimen = specimen.clone();
    let mut stream = Stream::new(root, specimen.index, 0, Purpose::Training);
    Imperfections::default().add_to(&mut specimen, &mut |quantity| quantity.draw(&mut stream));
    let mut network = specimen.network;
    for flow in &mut network.flows {
        (flow.workload.on, flow.workload.off_s) = (On::Forever, 1.0);
    }
    let seed = Seed { root, specimen: specimen.index };
    let while_ = Duration::from_s(WHILE_S).max(WHILE_RTTS * Duration::from_ms(network.longest_rtt_ms()));
    let parts = fair_parts(&network);
    if network.is_dumbbell() {
        Settled::of(dumbbell(&network, seed, |_| Remy::new(table)), seed, while_, parts).tried(states, stop)
    } else {
        Settled::of(routed(&network, seed, |_| Remy::new(table)), seed, while_, parts).tried(states, stop)
    }
}

/// A run that has settled, and what it gets if nobody disturbs it.
struct Settled<'a, P> {
    engine: Engine<Sender<Remy<'a>>, P>,
    seed: Seed,
    at: Instant,
    while_: Duration,
    calm: Vec<Got>,
    /// Of what all get, each flow's fair share.
    parts: Vec<f64>,
}

impl<'a, P: path::Path> Settled<'a, P> {
    fn of(mut engine: Engine<Sender<Remy<'a>>, P>, seed: Seed, while_: Duration, parts: Vec<f64>) -> Self {
        let at = Instant::START + Duration::from_s(SETTLED_S).max(WHILE_RTTS * while_);
        engine.run(at, &mut Unwatched);
        let mut undisturbed = engine.clone();
        let calm = (1..=WHILES).map(|k| got(&mut undisturbed, at + k * while_, while_)).collect();
        Settled { engine, seed, at, while_, calm, parts }
    }

    fn tried(&self, states: u32, stop: &AtomicBool) -> Disturbed {
        let nudged = states.div_ceil(ONE_IN);
        let mut sum = Disturbed { states, nudged, uneven: self.uneven(&self.calm[0]), ..Disturbed::default() };
        let going_on = || !stop.load(Ordering::Relaxed);
        for state in (0..states).take_while(|_| going_on()) {
            let ([back, below, stays], lacks) = self.after(state, FARTHEST);
            (sum.back, sum.below, sum.stays) = (sum.back + back, sum.below + below, sum.stays + stays);
            sum.lacks += lacks;
        }
        for state in (0..nudged).take_while(|_| going_on()) {
            let ([back, _, stays], _) = self.after(state, NUDGE);
            (sum.nudged_back, sum.nudged_stays) = (sum.nudged_back + back, sum.nudged_stays + stays);
        }
        sum
    }

    /// Whether a state is back, leaves a flow below, and keeps one there; and what the one with the least lacks.
    fn after(&self, state: u32, farthest: f64) -> ([u32; 3], f64) {
        let (mut engine, while_) = (self.engine.clone(), self.while_);
        let mut stream = Stream::new(self.seed.root, self.seed.specimen, u64::from(state), Purpose::Upsets);
        for sender in engine.senders_mut() {
            let mut factor = || stream.log_between(1.0 / farthest, farthest);
            let (window, averages) = (factor(), factor());
            sender.scheme.upset(window, averages);
        }
        let then = got(&mut engine, self.at + while_, while_);
        let is_back = self.near(then.total(), Got::total) && self.near(then.rtt(), Got::rtt);
        let later = got(&mut engine, self.at + 2 * while_, MORE * while_);
        let on_the_mean = Got { packets: later.packets.iter().map(|packets| packets / MORE).collect(), ..later };
        let lacks = (1.0 - self.least(&on_the_mean) / ENOUGH).max(0.0);
        ([is_back, self.uneven(&then), self.uneven(&on_the_mean)].map(u32::from), lacks)
    }

    /// Within 10 % of what it is at some time undisturbed.
    fn near(&self, now: f64, of: fn(&Got) -> f64) -> bool {
        let calm = self.calm.iter().map(of);
        let (least, most) = calm.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (x.min(low), x.max(high)));
        // Who gets nothing has nothing to be back at.
        now > 0.0 && 0.9 * least <= now && now <= 1.1 * most
    }

    /// Whether some flow has less than half of a fair share of what all have undisturbed.
    fn uneven(&self, got: &Got) -> bool {
        let all = ROUNDED * self.all();
        got.packets.iter().zip(&self.parts).any(|(&packets, part)| 2.0 * (packets as f64) < part * all)
    }

    /// The least that any flow has, of its fair share.
    fn least(&self, got: &Got) -> f64 {
        let all = self.all().max(1.0);
        let shares = got.packets.iter().zip(&self.parts).map(|(&packets, part)| packets as f64 / (part * all));
        shares.fold(f64::INFINITY, f64::min)
    }

    /// What all have in a while undisturbed.
    fn all(&self) -> f64 {
        self.calm.iter().map(Got::total).sum::<f64>() / WHILES as f64
    }
}

/// What all flows got in a while: packets of each, and the sum of all their RTTs.
#[derive(Clone, Debug, Default)]
struct Got {
    packets: Vec<u64>,
    rtts: Duration,
}

impl Got {
    fn total(&self) -> f64 {
        self.packets.iter().sum::<u64>() as f64
    }

    fn rtt(&self) -> f64 {
        self.rtts.as_nanos_f64() / self.total().max(1.0)
    }
}

/// What flows get in so long from an instant on.
fn got<P: path::Path>(engine: &mut Engine<Sender<Remy<'_>>, P>, from: Instant, while_: Duration) -> Got {
    engine.run(from, &mut Unwatched);
    let before = totals(engine);
    engine.run(from + while_, &mut Unwatched);
    let after = totals(engine);
    Got {
        packets: after.iter().zip(&before).map(|(a, b)| a.0 - b.0).collect(),
        rtts: after.iter().zip(&before).map(|(a, b)| a.1 - b.1).sum(),
    }
}

/// Packets and the sum of RTTs of each flow so far.
fn totals<P: path::Path>(engine: &Engine<Sender<Remy<'_>>, P>) -> Vec<(u64, Duration)> {
    engine.senders().iter().map(|sender| (sender.delivered, sender.delay)).collect()
}

#[cfg(test)]
mod tests {
    use exmachina_rules::{Action, RuleTable, Signal, first_signals};

    use super::*;
    use crate::model::Model;

    const STATES: u32 = 12;

    fn tried(table: &RuleTable, senders: u32) -> Vec<Disturbed> {
        let text = format!(
            "[link]\nrate_mbps = {{ list = [10, 20] }}\n[path]\nrtt_ms = 50\n[senders]\ncount = {senders}\n\
             [workload]\non = {{ seconds = 1 }}\noff = {{ seconds = 1 }}\n"
        );
        let table = FlatTable::new(table).unwrap();
        let set = Model::parse(&text, "test.toml").unwrap().held_out(1, 2);
        disturbed(&table, &set, STATES, &AtomicBool::new(false))
    }

    fn always(multiple: f64, increment: i32) -> RuleTable {
        RuleTable::single(&Signal::ALL[..4], Action { multiple, increment, intersend_ms: 0.1 })
    }

    #[test]
    fn a_window_that_is_set_at_each_ack_is_back_at_once() {
        for each in tried(&always(0.0, 20), 3) {
            let all = Disturbed { states: STATES, back: STATES, nudged: 3, nudged_back: 3, ..Disturbed::default() };
            assert_eq!(each, all);
        }
    }

    #[test]
    fn windows_that_nobody_moves_never_are() {
        // Five packets before there is an ACK.
        let mut table = always(1.0, 5);
        table.split(0, &first_signals(&[1.0, 1.0, 0.5, 1.0]), &[Signal::RttRatio]);
        table.set_action(1, Action { multiple: 1.0, increment: 0, intersend_ms: 0.1 });
        for each in tried(&table, 3) {
            assert!(each.back <= STATES / 2 && each.below >= STATES / 2, "{each:?}");
            assert_eq!((each.stays, each.uneven), (each.below, false));
            let halves = f64::from(each.stays) / 3.0;
            assert!(halves < each.lacks && each.lacks < f64::from(STATES), "a third, where half is left: {each:?}");
            // A percent of few packets is none.
            assert_eq!((each.nudged_back, each.nudged_stays), (each.nudged, 0));
        }
    }

    #[test]
    fn a_fair_share_of_two_links_is_no_third_of_all() {
        // The flow over both can have no more than the slower link holds: a twentieth of what both hold together.
        let links = "[[links]]\nname = \"A\"\nrate_mbps = 4\ndelay_ms = 20\n[[links]]\nname = \"B\"\nrate_mbps = 80\n\
                     delay_ms = 20\n[[senders]]\ncount = 1\nlinks = [\"A\", \"B\"]\n[[senders]]\ncount = 1\n\
                     links = [\"A\"]\n[[senders]]\ncount = 1\nlinks = [\"B\"]\n\
                     [workload]\non = { seconds = 1 }\noff = { seconds = 1 }\n";
        let network = &Model::parse(links, "test.toml").unwrap().held_out(1, 1).specimens[0].network.clone();
        let parts = fair_parts(network);
        // 1/x = 1/(4 - x) + 1/(80 - x): 1.97, 2.03 and 78.03 Mbit/s.
        for (part, mbps) in parts.iter().zip([1.9747, 2.0253, 78.0253]) {
            assert!((part * 82.0253 - mbps).abs() < 1e-3, "{parts:?}");
        }
        let got = |packets: [u64; 3]| Got { packets: packets.to_vec(), rtts: Duration::NANOSECOND };
        let seed = Seed { root: 1, specimen: 0 };
        let table = FlatTable::new(&always(0.0, 20)).unwrap();
        let engine = routed(network, seed, |_| Remy::new(&table));
        let settled = Settled {
            calm: vec![got([197, 203, 7803]); 10],
            ..Settled::of(engine, seed, Duration::from_s(1.0), parts)
        };
        let uneven = [[197, 203, 7803], [100, 300, 7803], [97, 303, 7803], [300, 97, 7703], [2800, 2800, 2800]];
        assert_eq!(uneven.map(|packets| settled.uneven(&got(packets))), [false, false, true, true, true]);
        for (packets, least) in uneven.iter().zip([0.998, 0.506, 0.491, 0.478, 0.359]) {
            assert!((settled.least(&got(*packets)) - least).abs() < 2e-3, "{packets:?}");
        }
    }

    #[test]
    fn who_gets_nothing_is_not_back() {
        for each in tried(&always(0.0, 0), 3) {
            assert_eq!((each.back, each.nudged_back), (0, 0));
        }
    }
}
