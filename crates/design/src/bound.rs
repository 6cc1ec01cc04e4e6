//! The omniscient bound: what senders would get that knew at every moment who else is on (Remy'13 §5.1, figure 11).
//!
//! The proportionally fair rates on one link are equal shares, and nothing ever waits in a queue. The traffic is that of
//! the very specimen, on and off at the same random moments as when a real algorithm runs there. On several links the
//! rates are those of [`omniscient`]. Where some senders run AIMD, the bound is that of omniscient ones in their places.

use exmachina_sim::engine::Seed;
use exmachina_sim::network::{Lot, LotLink, Network, PACKET_BYTES};
use exmachina_sim::objective::{NOTHING_RECEIVED, Objective, ThroughputBasis};
use exmachina_sim::omniscient::omniscient;
use exmachina_sim::outcome::Flow;
use exmachina_sim::path::Reordering;
use exmachina_sim::queue::{Limit, QueueKind};
use exmachina_sim::role::{self, Role};
use exmachina_sim::scenario::{Specimen, SpecimenSet};
use exmachina_sim::scheme::{AnyScheme, ConstantWindow};
use exmachina_sim::time::{NEVER, Time, from_ms, from_s, to_s};
use exmachina_sim::traffic::Traffic;
use exmachina_sim::transport::Settings;
use exmachina_sim::world::{HopPlan, LinkPlan, SenderPlan, World};

/// What the bound gives one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IdealFlow {
    /// Packets delivered.
    pub delivered: f64,
    /// Time on, s.
    pub on_s: f64,
    /// Sum of dt / (senders on at the time) while on, s.
    pub share_s: f64,
    /// RTT of an empty network without the packet's own transmission, ms.
    pub min_rtt_ms: f64,
    /// RTT with it, ms.
    pub rtt_ms: f64,
}

/// What the bound gives all senders of a specimen.
#[derive(Clone, Debug, PartialEq)]
pub struct Ideal {
    /// By sender.
    pub flows: Vec<IdealFlow>,
    /// Link rate, Mbit/s.
    pub rate_mbps: f64,
}

impl IdealFlow {
    /// Throughput over the time on, Mbit/s; 0 if never on.
    #[must_use]
    pub fn throughput_mbps(&self) -> f64 {
        if self.on_s > 0.0 { self.delivered * PACKET_BYTES * 8e-6 / self.on_s } else { 0.0 }
    }

    /// Throughput over an equal share of the link; 0 if never on.
    #[must_use]
    pub fn normalised_throughput(&self, rate_mbps: f64) -> f64 {
        if self.share_s > 0.0 { self.delivered * PACKET_BYTES * 8e-6 / (self.share_s * rate_mbps) } else { 0.0 }
    }
}

impl Ideal {
    /// What it is worth, counted as for a run.
    #[must_use]
    pub fn score(&self, roles: &[Role], objective: &Objective) -> f64 {
        let utility = |i: usize, objective: &Objective| {
            let flow = &self.flows[i];
            match objective.throughput {
                _ if flow.on_s == 0.0 => 0.0,
                _ if flow.delivered == 0.0 => NOTHING_RECEIVED,
                ThroughputBasis::Share => {
                    objective.utility(flow.normalised_throughput(self.rate_mbps), flow.rtt_ms / flow.min_rtt_ms)
                }
                ThroughputBasis::OnTime => objective.utility(flow.throughput_mbps(), flow.rtt_ms),
            }
        };
        role::score(self.flows.len(), roles, objective, utility)
    }
}

/// The bound of every specimen, in order.
#[must_use]
pub fn ideals(set: &SpecimenSet, duration_s: f64) -> Vec<Ideal> {
    set.specimens.iter().map(|specimen| ideal(specimen, set.seed, duration_s)).collect()
}

/// The bound of one specimen.
#[must_use]
pub fn ideal(specimen: &Specimen, root_seed: u64, duration_s: f64) -> Ideal {
    let network = &specimen.network;
    if let Some(lot) = &network.lot {
        return routed(network, lot, Seed { root: root_seed, specimen: specimen.index }, duration_s);
    }
    let mut fluid = Fluid::new(network, root_seed, specimen.index);
    let end = from_s(duration_s);
    while fluid.now < end {
        fluid.advance(end);
    }
    Ideal { flows: fluid.senders.into_iter().map(|s| s.flow).collect(), rate_mbps: network.rate_mbps }
}

/// The bound on several links: that of evaluations, with the transmission times that ours counts as delay.
fn routed(network: &Network, lot: &Lot, seed: Seed, duration_s: f64) -> Ideal {
    let world = world(network, lot);
    let outcome = omniscient(&world, seed, duration_s);
    let flow = |(i, flow): (usize, &Flow)| IdealFlow {
        delivered: flow.delivered as f64,
        on_s: flow.on_s,
        share_s: flow.share_s,
        min_rtt_ms: flow.min_rtt_ms,
        rtt_ms: flow.min_rtt_ms + world.transmission_ms(i) + network.jitter_ms / 2.0,
    };
    let flows = outcome.flows.iter().enumerate().map(flow).collect();
    Ideal { flows, rate_mbps: network.rate_mbps }
}

/// The same network as evaluations know it, with senders that are not to be run.
fn world(network: &Network, lot: &Lot) -> World<'static> {
    let hop = |link: &LotLink| HopPlan {
        link: LinkPlan::Rate(link.rate_mbps),
        queue: QueueKind::DropTail,
        limit: Limit::Infinite,
        loss: link.loss,
        delay_ms: link.delay_ms,
    };
    let sender = |(route, &rtt_ms): (&Vec<u8>, &f64)| SenderPlan {
        scheme: AnyScheme::ConstantWindow(ConstantWindow::default()),
        transport: Settings { packet_bytes: PACKET_BYTES as u16, ack_bytes: 0, ..Settings::tao14() },
        route: route.clone(),
        rtt_ms,
        workload: network.workload.clone(),
    };
    World {
        hops: lot.links.iter().map(hop).collect(),
        senders: lot.routes.iter().zip(&network.rtt_ms).map(sender).collect(),
        jitter_ms: network.jitter_ms,
        reordering: Reordering::default(),
    }
}

/// What a sender is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    /// Nothing.
    Pausing,
    /// Sending, with so many packets left (infinite: until it is switched off).
    Sending(f64),
    /// Waiting for the last ACK of its transfer.
    Waiting(Time),
}

struct FluidSender {
    doing: Doing,
    traffic: Traffic,
    flow: IdealFlow,
}

/// Senders that share a link as a liquid would.
struct Fluid {
    now: Time,
    senders: Vec<FluidSender>,
    packets_per_s: f64,
    /// Share of the packets that arrive.
    kept: f64,
}

impl Fluid {
    fn new(network: &Network, root_seed: u64, specimen: u64) -> Fluid {
        let packets_per_s = network.packets_per_s();
        let sender = |(i, &min_rtt_ms): (usize, &f64)| {
            // Jitter is uniform, so half of it is met on the mean.
            let rtt_ms = min_rtt_ms + 1e3 / packets_per_s + network.jitter_ms / 2.0;
            FluidSender {
                doing: Doing::Pausing,
                traffic: Traffic::new(network.workload.clone(), root_seed, specimen, i),
                flow: IdealFlow { min_rtt_ms, rtt_ms, ..IdealFlow::default() },
            }
        };
        let senders = network.rtt_ms.iter().enumerate().map(sender).collect();
        Fluid { now: 0, senders, packets_per_s, kept: 1.0 - network.loss }
    }

    /// Packets per second of each who sends.
    fn rate(&self) -> f64 {
        let sending = self.senders.iter().filter(|s| matches!(s.doing, Doing::Sending(_))).count();
        self.packets_per_s / sending.max(1) as f64
    }

    /// Goes on to the next event, or to the end.
    fn advance(&mut self, end: Time) {
        let (rate, now) = (self.rate(), self.now);
        let event = |s: &FluidSender| match s.doing {
            Doing::Sending(left) if left.is_finite() => now + from_s(left / rate).max(1),
            Doing::Waiting(until) => until,
            _ => s.traffic.next,
        };
        let next = self.senders.iter().map(event).min().unwrap_or(NEVER).min(end);
        self.flow(to_s(next - now), rate);
        self.now = next;
        for sender in &mut self.senders {
            sender.turn(next, self.kept);
        }
    }

    /// Lets all that are on go on for `dt` seconds.
    fn flow(&mut self, dt: f64, rate: f64) {
        let on = self.senders.iter().filter(|s| s.doing != Doing::Pausing).count();
        for sender in self.senders.iter_mut().filter(|s| s.doing != Doing::Pausing) {
            sender.flow.on_s += dt;
            sender.flow.share_s += dt / on as f64;
            if let Doing::Sending(left) = &mut sender.doing {
                let packets = (rate * dt).min(*left);
                *left -= packets;
                sender.flow.delivered += packets * self.kept;
            }
        }
    }
}

impl FluidSender {
    /// Does what is due.
    fn turn(&mut self, now: Time, kept: f64) {
        self.doing = match self.doing {
            Doing::Pausing if self.traffic.next <= now => match self.traffic.begin_on_period(now) {
                u32::MAX => Doing::Sending(f64::INFINITY),
                // What is lost is sent again.
                packets => Doing::Sending(f64::from(packets) / kept),
            },
            // Less than a packet's billionth is rounding.
            Doing::Sending(left) if left < 1e-9 => Doing::Waiting(now + from_ms(self.flow.rtt_ms)),
            Doing::Sending(left) if left.is_finite() || self.traffic.next > now => Doing::Sending(left),
            Doing::Waiting(until) if until > now => self.doing,
            Doing::Sending(_) | Doing::Waiting(_) => {
                self.traffic.end_on_period(now);
                Doing::Pausing
            }
            Doing::Pausing => Doing::Pausing,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Contender;
    use crate::model::Model;
    use exmachina_rules::{Action, FlatTable, RuleTable, Signal};

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
        let want = -libm::log2((150.0 + service_ms) / 150.0);
        for ideal in ideals(&model.held_out(1, 20), 100.0) {
            assert!((ideal.score(&[], &model.objective) - want).abs() < 1e-9);
        }
    }

    #[test]
    fn on_times_are_those_of_a_run() {
        let model = model(4, "{ seconds = 5 }", "throughput = \"on-time\"");
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], action)).unwrap();
        let set = model.held_out(3, 5);
        for (specimen, ideal) in set.specimens.iter().zip(ideals(&set, 100.0)) {
            let outcome = Contender::Table(Box::new(table.clone())).run(specimen, set.seed, 100.0);
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
            let ideals = ideals(&model.held_out(1, 400), 100.0);
            let (mut bits, mut on) = (0.0, 0.0);
            for flow in ideals.iter().flat_map(|i| &i.flows) {
                bits += flow.delivered * PACKET_BYTES * 8e-6;
                on += flow.on_s;
            }
            let n = f64::from(n);
            let want = 15.0 * 2.0 * (1.0 - libm::exp2(-n)) / n;
            assert!((bits / on / want - 1.0).abs() < 0.02, "{n} senders: {} not {want}", bits / on);
        }
    }

    /// The same bound for evaluations, which knows routes and counts whole packets, and no transmission in the delay.
    #[test]
    fn agrees_with_the_bound_of_evaluations() {
        let set = model(4, "{ seconds = 5 }", "").held_out(1, 10);
        for (specimen, ideal) in set.specimens.iter().zip(ideals(&set, 100.0)) {
            let network = &specimen.network;
            let link = LotLink { rate_mbps: network.rate_mbps, buffer: network.buffer, loss: 0.0, delay_ms: 0.0 };
            let world = world(network, &Lot { links: vec![link], routes: vec![vec![0]; network.senders()] });
            let seed = Seed { root: set.seed, specimen: specimen.index };
            let outcome = omniscient(&world, seed, 100.0);
            for (flow, ideal) in outcome.flows.iter().zip(&ideal.flows) {
                assert!((flow.delivered as f64 - ideal.delivered).abs() <= 0.5 + 1e-6, "{flow:?} and {ideal:?}");
                assert!((flow.on_s - ideal.on_s).abs() < 1e-9 && (flow.share_s - ideal.share_s).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_lone_transfer_takes_its_transmission_and_an_rtt() {
        let model = model(1, "{ bytes = 100_000 }", "");
        let set = model.held_out(1, 3);
        for (specimen, ideal) in set.specimens.iter().zip(ideals(&set, 1000.0)) {
            let mut traffic = Traffic::new(specimen.network.workload.clone(), set.seed, specimen.index, 0);
            let (mut on_s, mut now) = (0.0, traffic.next);
            while now < from_s(1000.0) {
                let took_s = f64::from(traffic.begin_on_period(now)) / 1500.0 + 0.15 + 1.0 / 1500.0;
                on_s += took_s.min(1000.0 - to_s(now));
                traffic.end_on_period(now + from_s(took_s));
                now = traffic.next;
            }
            assert!((ideal.flows[0].on_s - on_s).abs() < 1e-3, "{} not {on_s}", ideal.flows[0].on_s);
        }
    }
}
