//! The omniscient reference of a design model: what senders would get on its specimens if they knew at every moment who else
//! is on (Remy'13 §5.1, figure 11).
//!
//! It is the omniscient scheme of evaluations ([`omniscient`]) in the same networks, with the traffic of the very specimen,
//! on and off at the same random moments as when a real algorithm runs there. Where some senders run AIMD, or there are
//! neighbours, it is that of omniscient ones in their places.

use std::sync::atomic::AtomicBool;

use exmachina_hosts::scheme::{AnyScheme, ConstantWindow};
use exmachina_hosts::transport::Settings;
use exmachina_net::network::PACKET_BYTES;
use exmachina_net::outcome::Outcome;
use exmachina_scenario::world::{Host, World};
use exmachina_scenario::{Specimen, SpecimenSet};
use rayon::prelude::*;

use crate::design_simulator::with_neighbours;
use crate::omniscient::omniscient;

/// The reference of every specimen, in order. Once `stop` is set, what comes back is worth nothing.
#[must_use]
pub fn references(set: &SpecimenSet, duration_s: f64, stop: &AtomicBool) -> Vec<Outcome> {
    set.specimens.par_iter().map(|specimen| reference(specimen, set.seed, duration_s, stop)).collect()
}

/// The reference of one specimen.
#[must_use]
pub fn reference(specimen: &Specimen, root_seed: u64, duration_s: f64, stop: &AtomicBool) -> Outcome {
    let mut outcome = omniscient(&world(specimen), specimen.seed(root_seed), duration_s, stop);
    outcome.flows.truncate(specimen.network.senders());
    outcome
}

/// The same network with everybody on it, none of whom is to be run.
fn world(specimen: &Specimen) -> World<'static> {
    let network = with_neighbours(&specimen.network, &specimen.neighbours);
    let host = Host {
        scheme: AnyScheme::ConstantWindow(ConstantWindow::default()),
        transport: Settings { packet_bytes: PACKET_BYTES as u16, ack_bytes: 0, ..Settings::tao14() },
    };
    World { hosts: vec![host; network.senders()], network }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};
    use exmachina_net::traffic::Traffic;
    use exmachina_rules::{Action, FlatTable, RuleTable, Signal};

    use super::*;
    use crate::model::Model;
    use crate::scoring::Scorable;

    fn model(count: u32, on: &str, objective: &str) -> Model {
        let text = format!(
            "[link]\nrate_mbps = 15\n[path]\nrtt_ms = 150\n[senders]\ncount = {count}\n\
             [workload]\non = {on}\noff = {{ seconds = 5 }}\n[objective]\n{objective}\n"
        );
        Model::parse(&text, "test.toml").unwrap()
    }

    #[test]
    fn equal_shares_and_no_queue() {
        let model = model(3, "{ seconds = 5 }", "");
        let service_ms = 1e3 / 1500.0;
        for outcome in references(&model.held_out(1, 20), 100.0, &AtomicBool::new(false)) {
            for flow in outcome.flows.iter().filter(|flow| flow.was_on()) {
                assert!((flow.mean_rtt_ms().unwrap() - 150.0 - service_ms).abs() < 1e-6);
                // All but what is on its way when the run ends, and part of a packet.
                let missing = 1.0 - flow.normalised_throughput(outcome.rate_mbps);
                assert!((-1e-9..0.1514).contains(&(missing * flow.share_s)), "{missing} of {flow:?}");
            }
        }
    }

    #[test]
    fn losses_count_as_for_everybody() {
        let text = "[link]\nrate_mbps = 15\nloss = 0.2\n[path]\nrtt_ms = 150\n[senders]\ncount = 1\n\
                    [workload]\non = { seconds = 5 }\noff = { seconds = 5 }\n[objective]\ndelta = 0\n";
        let free = Model::parse(text, "test.toml").unwrap();
        let dear = Model::parse(&text.replace("delta = 0", "delta = 0\nloss_weight = 2"), "test.toml").unwrap();
        let outcome = &references(&free.held_out(1, 1), 100.0, &AtomicBool::new(false))[0];
        let share = outcome.flows[0].delivered as f64 / outcome.flows[0].sent as f64;
        // A fifth is lost, and some is on its way at the end.
        assert!((0.79..0.8001).contains(&share), "{share}");
        let [free, dear] = [free, dear].map(|model| crate::worth::score(outcome, &[], &model.objective).mean.unwrap());
        assert!((free - dear + 2.0 * libm::log2(share)).abs() < 1e-12, "{free} {dear}");
    }

    #[test]
    fn on_times_are_those_of_a_run() {
        let model = model(4, "{ seconds = 5 }", "throughput = \"on-time\"");
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap();
        let set = model.held_out(3, 5);
        for (specimen, ideal) in set.specimens.iter().zip(references(&set, 100.0, &AtomicBool::new(false))) {
            let outcome =
                Scorable::Table(Box::new(table.clone())).run(specimen, set.seed, 100.0, &AtomicBool::new(false));
            for (ran, ideal) in outcome.flows.iter().zip(&ideal.flows) {
                assert!((ran.on_s - ideal.on_s).abs() < 1e-6 && (ran.share_s - ideal.share_s).abs() < 1e-6);
            }
        }
    }

    /// On one link at half duty: `C * 2 (1 - 2^-n) / n` on the mean.
    #[test]
    fn mean_throughput_is_the_closed_form() {
        for n in [1, 2, 5] {
            let model = model(n, "{ seconds = 5 }", "");
            let outcomes = references(&model.held_out(1, 400), 100.0, &AtomicBool::new(false));
            let (mut bits, mut on) = (0.0, 0.0);
            for flow in outcomes.iter().flat_map(|outcome| &outcome.flows) {
                bits += flow.delivered as f64 * PACKET_BYTES * 8e-6;
                on += flow.on_s;
            }
            let n = f64::from(n);
            let want = 15.0 * 2.0 * (1.0 - libm::exp2(-n)) / n;
            assert!((bits / on / want - 1.0).abs() < 0.02, "{n} senders: {} not {want}", bits / on);
        }
    }

    #[test]
    fn a_lone_transfer_takes_its_transmission_and_an_rtt() {
        let model = model(1, "{ bytes = 100_000 }", "");
        let set = model.held_out(1, 3);
        for (specimen, ideal) in set.specimens.iter().zip(references(&set, 1000.0, &AtomicBool::new(false))) {
            let mut traffic = Traffic::new(specimen.network.flows[0].workload.clone(), set.seed, specimen.index, 0);
            let (mut on_s, mut now) = (0.0, traffic.next);
            while now < Instant::from_s(1000.0) {
                let took_s = f64::from(traffic.begin_on_period(now)) / 1500.0 + 0.15 + 1.0 / 1500.0;
                on_s += took_s.min(1000.0 - now.as_s());
                traffic.end_on_period(now + Duration::from_s(took_s));
                now = traffic.next;
            }
            assert!((ideal.flows[0].on_s - on_s).abs() < 1e-3, "{} not {on_s}", ideal.flows[0].on_s);
        }
    }
}
