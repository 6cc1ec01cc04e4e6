//! From a scenario to the networks that a design runs on.

use exmachina_net::network::{FlowPlan, HopPlan, Network, packets_per_s};
use exmachina_net::queue::Limit;
use exmachina_net::random::{Purpose, Strata, Stream};

use super::routes::{route, rtt_of_links};
use super::senders::classes;
use super::{BufferSize, Link, NOTHING, Quantity, Scenario, Senders, Specimen, SpecimenSet};
use crate::role::{Role, Runs};

impl Scenario {
    /// One specimen at random: the first draws of the stream, one for each quantity in the order of
    /// rate, RTT, count, loss, jitter, clock, on, off, and then as an evaluation draws them. A draw without any sender
    /// is repeated.
    pub fn draw(&self, stream: &mut Stream) -> Specimen {
        loop {
            let values: Vec<f64> = self.quantities().into_iter().map(|quantity| quantity.draw(stream)).collect();
            let specimen = self.specimen(&values);
            if specimen.network.senders() > 0 {
                return specimen;
            }
        }
    }

    /// Every combination of the smallest and largest value of each quantity, those of the rate varying slowest.
    #[must_use]
    pub fn corners(&self) -> Vec<Specimen> {
        let ends = |quantity: &Quantity| {
            let (lo, hi) = quantity.extremes();
            if lo == hi { vec![lo] } else { vec![lo, hi] }
        };
        self.combinations(&self.quantities().into_iter().map(ends).collect::<Vec<_>>())
    }

    /// Every combination of the values of each quantity, those of the rate varying slowest; none where the values
    /// of one are not listed one by one. Combinations without any sender are left out.
    #[must_use]
    pub fn grid(&self) -> Option<Vec<Specimen>> {
        let points: Option<Vec<Vec<f64>>> =
            self.quantities().into_iter().map(|quantity| quantity.points().map(<[f64]>::to_vec)).collect();
        Some(self.combinations(&points?))
    }

    /// The rates of the slowest link and of the fastest that there may be, Mbit/s.
    #[must_use]
    pub fn rate_extremes(&self) -> (f64, f64) {
        let each = self.links.iter().map(|link| link.rate_mbps.extremes());
        each.fold((f64::INFINITY, 0.0), |(lo, hi), (slow, fast)| (f64::min(lo, slow), f64::max(hi, fast)))
    }

    /// The most senders that there may be.
    #[must_use]
    pub fn most_senders(&self) -> f64 {
        self.groups.iter().map(|group| group.count().extremes().1).sum()
    }

    /// Whether every quantity is one value, so that there is one network only.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.quantities().iter().all(|quantity| matches!(quantity, Quantity::Exact(_)))
    }

    /// Specimens of this scenario: the points of its grid in turn, where it has one, otherwise random draws.
    /// The specimens of a smaller count are the first of a larger one.
    #[must_use]
    pub fn specimens(&self, seed: u64, count: usize) -> SpecimenSet {
        self.each(seed, count, |index| self.draw(&mut Stream::new(seed, index, 0, Purpose::Network)))
    }

    /// The same, but random draws are spread evenly over the range of each quantity ([`Strata`]): for comparisons on few
    /// specimens.
    #[must_use]
    pub fn spread_specimens(&self, seed: u64, count: usize) -> SpecimenSet {
        self.each(seed, count, |index| {
            let mut strata = Strata::new(seed, index, 0);
            let values: Vec<f64> = self.quantities().into_iter().map(|q| q.at(strata.next_u64())).collect();
            let specimen = self.specimen(&values);
            let nobody = specimen.network.senders() == 0;
            if nobody { self.draw(&mut Stream::new(seed, index, 0, Purpose::Strata)) } else { specimen }
        })
    }

    fn each(&self, seed: u64, count: usize, draw: impl Fn(u64) -> Specimen) -> SpecimenSet {
        let grid = self.grid();
        let specimen = |index: u64| {
            let drawn = match &grid {
                Some(points) => points[index as usize % points.len()].clone(),
                None => draw(index),
            };
            Specimen { index, ..drawn }
        };
        let specimens = (0..count as u64).map(specimen).collect();
        SpecimenSet { seed, specimens }
    }

    /// All quantities, in the order in which they are drawn, which is that of evaluations (a group's workload, which
    /// design models do not have, included).
    pub(super) fn quantities(&self) -> Vec<&Quantity> {
        let [on, off] = self.workload.quantities();
        let first = &self.links[0];
        let rtt = self.path.rtt_ms.as_ref().unwrap_or(&NOTHING);
        let (jitter, clock) = (&self.path.jitter_ms, &self.path.clock_ms);
        let mut all = vec![&first.rate_mbps, rtt, self.groups[0].count(), &first.loss, jitter, clock, on, off];
        for link in &self.links[1..] {
            all.extend([&link.rate_mbps, &link.loss]);
        }
        for (i, group) in self.groups.iter().enumerate() {
            if i > 0 {
                all.push(group.count());
            }
            all.extend([group.rtt_ms.as_ref().unwrap_or(&NOTHING), &NOTHING, &NOTHING]);
        }
        // Not drawn where there are none, so that what else is drawn stays as it is.
        if self.groups.iter().any(|group| group.aimd != NOTHING) {
            all.extend(self.groups.iter().map(|group| &group.aimd));
        }
        all
    }

    /// The specimen that has these values, in the order of [`Scenario::quantities`].
    fn specimen(&self, values: &[f64]) -> Specimen {
        let (first, rest) = values.split_at(8);
        let [rate_mbps, rtt_ms, first_count, loss, jitter_ms, clock_ms, on, off_s] =
            <[f64; 8]>::try_from(first).expect("eight values");
        let mut rest = rest.iter().copied();
        let mut next = || rest.next().unwrap_or(0.0);
        let mut rates = vec![[rate_mbps, loss]];
        rates.extend(self.links[1..].iter().map(|_| [next(), next()]));
        let numbers: Vec<[f64; 2]> = (0..self.groups.len())
            .map(|i| {
                let count = if i == 0 { first_count } else { next() };
                let [own_rtt, _on, _off] = [next(), next(), next()];
                [count, own_rtt]
            })
            .collect();
        let workload = self.workload.with([on, off_s]);
        let (mut flows, mut roles) = (Vec::new(), Vec::new());
        for (group, [count, own_rtt]) in self.groups.iter().zip(numbers) {
            let count = count as usize;
            let route = route(group.links.as_deref(), &self.links);
            let rtts = self.rtts(group, count, rtt_ms, own_rtt, &route);
            let flow = |rtt_ms| FlowPlan { route: route.clone(), rtt_ms, workload: workload.clone() };
            flows.extend(rtts.into_iter().map(flow));
            roles.extend(self.roles(group, count, next() as usize));
        }
        if roles.iter().all(|role| *role == Role::default()) {
            roles.clear();
        }
        let hops = self.hops(&rates, &flows);
        Specimen { roles, ..Specimen::of(Network { jitter_ms, clock_ms, ..Network::clean(hops, flows) }, 0) }
    }

    /// The RTTs of a group's senders.
    fn rtts(&self, group: &Senders, count: usize, of_path: f64, own: f64, route: &[u8]) -> Vec<f64> {
        match (&self.path.rtt_ms_each, &group.rtt_ms, &self.path.rtt_ms) {
            (Some(each), _, _) => each.clone(),
            (None, Some(_), _) => vec![own; count],
            (None, None, Some(_)) => vec![of_path; count],
            (None, None, None) => vec![rtt_of_links(route, &self.links).unwrap_or(0.0); count],
        }
    }

    /// What a group's senders are.
    fn roles(&self, group: &Senders, count: usize, aimd: usize) -> impl Iterator<Item = Role> {
        let name = group.name.as_deref().unwrap_or("");
        let class = classes(&self.groups).iter().position(|class| *class == name).unwrap_or(0);
        let objective = group.objective;
        let runs = move |i| if i + aimd >= count { Runs::Aimd } else { Runs::Table(class) };
        (0..count).map(move |i| Role { runs: runs(i), objective })
    }

    /// The links with these rates and losses, and the queues before them.
    fn hops(&self, rates: &[[f64; 2]], flows: &[FlowPlan]) -> Vec<HopPlan> {
        let hop = |(i, (link, &[rate_mbps, loss])): (usize, (&Link, &[f64; 2]))| {
            let on_it = flows.iter().filter(|flow| flow.route.contains(&(i as u8)));
            let limit = room(link.buffer, rate_mbps, on_it.map(|flow| flow.rtt_ms).fold(0.0, f64::max));
            HopPlan { limit, loss, delay_ms: link.delay_ms.unwrap_or(0.0), ..HopPlan::constant(rate_mbps) }
        };
        self.links.iter().zip(rates).enumerate().map(hop).collect()
    }

    /// The specimens of every combination of these values, those of the first quantity varying slowest.
    fn combinations(&self, choices: &[Vec<f64>]) -> Vec<Specimen> {
        let mut combinations: Vec<Vec<f64>> = vec![Vec::new()];
        for choice in choices {
            let extended = combinations.iter().flat_map(|values| {
                choice.iter().map(move |&value| {
                    let mut values = values.clone();
                    values.push(value);
                    values
                })
            });
            combinations = extended.collect();
        }
        let specimens = combinations.iter().map(|values| self.specimen(values));
        specimens.filter(|specimen| specimen.network.senders() > 0).collect()
    }
}

/// The room before a link, where the longest minimum RTT of those who use it is this.
fn room(buffer: BufferSize, rate_mbps: f64, longest_ms: f64) -> Limit {
    match buffer {
        BufferSize::Infinite => Limit::Infinite,
        BufferSize::Packets(packets) => Limit::Packets(packets),
        BufferSize::Bytes(bytes) => Limit::Bytes(bytes),
        BufferSize::Bdp { times, beyond_ms } => {
            let packets = times * packets_per_s(rate_mbps) * (longest_ms - beyond_ms) / 1e3;
            Limit::Packets(packets.round().max(1.0) as u32)
        }
    }
}
