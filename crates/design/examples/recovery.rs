//! How tables come back from disturbed states: `recovery STATES MODEL.toml TABLE.dna [MODEL.toml TABLE.dna ...]`.
//!
//! On each of 20 held-out networks of a model, whose senders go on for ever, runs are saved once they have settled. From
//! there, so many times, every flow's window and averages are set elsewhere, by independent factors of up to 32 either way.
//! A table is back if, 20 RTTs or two seconds later, the whole throughput and the mean RTT of as long again are within 10 % of
//! what they are at some time in the run that nobody disturbed (in ten such whiles, one after another); a flow is stuck if it then has less than half of an equal share of what all have there
//! (which some have in the run that nobody disturbed, too: `uneven`), and stays if some flow has less on the mean of the five
//! whiles after that. What share is back, and stays, of flows that were but nudged, by a percent at most, is said besides: if a
//! network is a toss of a coin, whatever was disturbed, it shows there.
//! Whoever chooses between tables gives other networks and states: `SEED=n` in the environment.
//! Prints a line of CSV for each table. Those for several classes of senders are run by all of them.

use std::path::Path;

use exmachina_design::model::Model;
use exmachina_hosts::scheme::Remy;
use exmachina_hosts::scheme::Scheme;
use exmachina_net::engine::Engine;
use exmachina_net::network::On;
use exmachina_net::observe::Unwatched;
use exmachina_net::path;
use exmachina_net::random::Seed;
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{FlatTable, RuleTable};
use exmachina_run::design_simulator::{dumbbell, routed};
use exmachina_run::sender::Sender;
use exmachina_scenario::{Imperfections, Specimen};
use rayon::prelude::*;

const NETWORKS: usize = 20;
/// Of what is reported.
const SEED: u64 = 36_055_512;
const SETTLED_S: f64 = 60.0;
const FARTHEST: f64 = 32.0;
/// Those that are nudged; for so many states there is one of them.
const NUDGE: f64 = 1.01;
const ONE_IN: u32 = 4;
/// Of the run that nobody disturbed.
const WHILES: u64 = 10;
/// After the one in which a disturbed run should be back: who has too little on their mean stays where they are.
const MORE: u64 = 5;

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

/// Of the states of one network.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    states: u32,
    back: u32,
    stuck: u32,
    stays: u32,
    uneven: u32,
    nudged: u32,
    nudged_back: u32,
    nudged_stays: u32,
}

fn main() {
    let seed = std::env::var("SEED").map_or(SEED, |seed| seed.parse().expect("a seed"));
    let args: Vec<String> = std::env::args().skip(1).collect();
    let states: u32 = args[0].parse().expect("a number of states");
    println!("table,states,back,stuck,stays,uneven,nudged_back,nudged_stays");
    for pair in args[1..].chunks(2) {
        let mut model =
            Model::parse(&std::fs::read_to_string(&pair[0]).expect("a model file"), &pair[0]).expect("a model");
        // A microsecond of jitter and nothing else, so that no run stands on an edge, whatever the table was trained in.
        model.design.world = Imperfections::default();
        let table = RuleTable::from_dna(&std::fs::read(&pair[1]).expect("a table")).expect("a table");
        let table = FlatTable::new(&table).expect("a usable table");
        let set = model.in_world(model.held_out(seed, NETWORKS));
        let each = set.specimens.par_iter().take(NETWORKS);
        let counts: Vec<Counts> = each.map(|specimen| network(specimen, set.seed, &table, states)).collect();
        let sum = |of: fn(&Counts) -> u32| f64::from(counts.iter().map(of).sum::<u32>());
        let (all, nudged) = (sum(|c| c.states), sum(|c| c.nudged));
        let name = Path::new(&pair[1]).file_stem().expect("a name").to_string_lossy();
        let counts = [sum(|c| c.back), sum(|c| c.stuck), sum(|c| c.stays), sum(|c| c.uneven)];
        let [back, stuck, stays, uneven] = counts.map(|count| count / all);
        let [nudged_back, nudged_stays] = [sum(|c| c.nudged_back), sum(|c| c.nudged_stays)].map(|count| count / nudged);
        println!("{name},{all},{back:.4},{stuck:.4},{stays:.4},{uneven:.4},{nudged_back:.4},{nudged_stays:.4}");
    }
}

fn network(specimen: &Specimen, root: u64, table: &FlatTable, states: u32) -> Counts {
    let mut network = specimen.network.clone();
    for flow in &mut network.flows {
        (flow.workload.on, flow.workload.off_s) = (On::Forever, 1.0);
    }
    let seed = Seed { root, specimen: specimen.index };
    let while_ = Duration::from_s(2.0).max(20 * Duration::from_ms(network.longest_rtt_ms()));
    if network.is_dumbbell() {
        disturb(dumbbell(&network, seed, |_| Remy::new(table)), seed, while_, states)
    } else {
        disturb(routed(&network, seed, |_| Remy::new(table)), seed, while_, states)
    }
}

fn disturb<P: path::Path>(
    mut settled: Engine<Sender<Remy<'_>>, P>,
    seed: Seed,
    while_: Duration,
    states: u32,
) -> Counts {
    let start = Duration::from_s(SETTLED_S).max(20 * while_);
    settled.run(Instant::START + start, &mut Unwatched);
    let mut undisturbed = settled.clone();
    let calm: Vec<Got> =
        (1..=WHILES).map(|k| got(&mut undisturbed, Instant::START + start + k * while_, while_)).collect();
    let share = calm.iter().map(Got::total).sum::<f64>() / (WHILES as f64 * calm[0].packets.len() as f64);
    let uneven = |got: &Got| got.packets.iter().any(|&packets| 2.0 * (packets as f64) < share);
    let near = |now: f64, of: fn(&Got) -> f64| {
        let (least, most) = calm.iter().map(of).fold((f64::INFINITY, 0.0), |(lo, hi), x| (x.min(lo), x.max(hi)));
        0.9 * least <= now && now <= 1.1 * most
    };
    let after = |state: u32, farthest: f64| {
        let mut engine = settled.clone();
        let mut stream = Stream::new(seed.root, seed.specimen, u64::from(state), Purpose::Upsets);
        for sender in engine.senders_mut() {
            let mut factor = || stream.log_between(1.0 / farthest, farthest);
            let (window, averages) = (factor(), factor());
            sender.scheme.upset(window, averages);
        }
        let then = got(&mut engine, Instant::START + start + while_, while_);
        let is_back = near(then.total(), Got::total) && near(then.rtt(), Got::rtt);
        let later = got(&mut engine, Instant::START + start + 2 * while_, MORE * while_);
        let on_the_mean = later.packets.iter().map(|packets| packets / MORE).collect();
        [is_back, uneven(&then), uneven(&Got { packets: on_the_mean, ..later })].map(u32::from)
    };
    let mut counts = Counts { states, nudged: states.div_ceil(ONE_IN), ..Counts::default() };
    counts.uneven = states * u32::from(uneven(&calm[0]));
    for state in 0..states {
        let [back, stuck, stays] = after(state, FARTHEST);
        (counts.back, counts.stuck, counts.stays) = (counts.back + back, counts.stuck + stuck, counts.stays + stays);
    }
    for state in 0..counts.nudged {
        let [back, _, stays] = after(state, NUDGE);
        (counts.nudged_back, counts.nudged_stays) = (counts.nudged_back + back, counts.nudged_stays + stays);
    }
    counts
}

/// What flows get in so long from an instant on.
fn got<P: path::Path>(engine: &mut Engine<Sender<Remy<'_>>, P>, from: Instant, while_: Duration) -> Got {
    engine.run(from, &mut Unwatched);
    let totals = |engine: &Engine<Sender<Remy<'_>>, P>| -> Vec<(u64, Duration)> {
        engine.senders().iter().map(|s| (s.delivered, s.delay)).collect()
    };
    let before = totals(engine);
    engine.run(from + while_, &mut Unwatched);
    let after = totals(engine);
    Got {
        packets: after.iter().zip(&before).map(|(a, b)| a.0 - b.0).collect(),
        rtts: after.iter().zip(&before).map(|(a, b)| a.1 - b.1).sum(),
    }
}
