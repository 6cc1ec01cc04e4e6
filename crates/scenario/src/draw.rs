//! From an evaluation's scenario to the network of one run.

use std::ops::Range;

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::{SchemeName, Surroundings};
use exmachina_hosts::transport::Preset;
use exmachina_net::network::{self, FlowPlan, HopPlan, LinkPlan, Network, On};
use exmachina_net::queue::{Limit, QueueKind, XcpSettings};
use exmachina_net::random::{Purpose, Seed, Stream};
use exmachina_net::time::Duration;

use super::bottleneck::{Bottleneck, ServiceTable};
use super::contender::Contender;
use super::evaluation::{AIMD, Evaluation};
use super::group::{Access, Group};
use super::{BufferSize, NOTHING, Quantity, Replay};
use crate::replay;
use crate::world::{Host, World};

/// The values of a network's quantities, which are taken in the order in which they are drawn.
struct Values(std::vec::IntoIter<f64>);

impl Values {
    fn next(&mut self) -> f64 {
        self.0.next().unwrap_or(0.0)
    }

    fn pair(&mut self) -> [f64; 2] {
        [self.next(), self.next()]
    }
}

/// The network of a run.
#[derive(Clone, Debug)]
pub struct DrawnWorld<'t> {
    /// The network.
    pub world: World<'t>,
    /// What each sender runs, as a number of [`Evaluation::scheme_names`].
    pub schemes: Vec<usize>,
}

/// What all senders of a run share.
struct Shared {
    rtt_ms: f64,
    workload: [f64; 2],
}

impl Evaluation {
    /// All quantities, in the order in which they are drawn. The first eight are those of a dumbbell and drawn as for
    /// design: rate, RTT, count, loss, jitter, clock, on, off. Then every further link's rate and loss; then every
    /// group's count (if it is not the first), RTT, on and off; then how many of every group run AIMD.
    pub(super) fn quantities(&self) -> Vec<&Quantity> {
        let [on, off] = self.workload.as_ref().map_or([&NOTHING; 2], |workload| workload.quantities());
        let mut all = vec![
            self.links[0].rate(),
            self.path.rtt_ms.as_ref().unwrap_or(&NOTHING),
            self.groups[0].count.as_ref().unwrap_or(&NOTHING),
            &self.links[0].loss,
            &self.path.jitter_ms,
            &self.path.clock_ms,
            on,
            off,
        ];
        for link in &self.links[1..] {
            all.extend([link.rate(), &link.loss]);
        }
        for (i, group) in self.groups.iter().enumerate() {
            if i > 0 {
                all.push(group.count.as_ref().unwrap_or(&NOTHING));
            }
            all.push(group.rtt_ms.as_ref().unwrap_or(&NOTHING));
            all.extend(group.workload.as_ref().map_or([&NOTHING; 2], |workload| workload.quantities()));
        }
        // Not drawn where there are none, so that what else is drawn stays as it is.
        if self.groups.iter().any(|group| group.aimd != NOTHING) {
            all.extend(self.groups.iter().map(|group| &group.aimd));
        }
        all
    }

    /// How many senders there are where the quantities have these values.
    fn senders(&self, values: &[f64]) -> f64 {
        let second = 8 + 2 * (self.links.len() - 1) + 3;
        values[2] + (1..self.groups.len()).map(|i| values[second + 4 * (i - 1)]).sum::<f64>()
    }

    /// The values of run `run`, and the stream for what else is random about its network: a point of the grid, each in
    /// turn, where the scenario is one, otherwise random values. Those without any sender are passed over.
    fn values(&self, run: u64) -> (Values, Stream) {
        let mut stream = Stream::new(self.seed, run, 0, Purpose::Network);
        let quantities = self.quantities();
        let mut draw = || quantities.iter().map(|quantity| quantity.draw(&mut stream)).collect::<Vec<f64>>();
        let mut values = draw();
        match self.points() {
            None => {
                while self.senders(&values) == 0.0 {
                    values = draw();
                }
            }
            Some(points) => {
                let with_senders = (0..).map(|index| point(&quantities, index)).filter(|v| self.senders(v) > 0.0);
                let always = self.groups.iter().any(|g| g.count.as_ref().is_some_and(|count| count.extremes().0 > 0.0));
                values = if always {
                    point(&quantities, run)
                } else {
                    with_senders.take(points).nth((run % points as u64) as usize).unwrap_or(values)
                };
            }
        }
        (Values(values.into_iter()), stream)
    }

    /// The random streams of a run, the same for every contender.
    #[must_use]
    pub fn run_seed(&self, run: u64) -> Seed {
        Seed { root: self.seed, specimen: run }
    }

    /// Whether a contender sends packets: the omniscient reference does not, and what it gets is computed.
    #[must_use]
    pub fn sends(&self, contender: usize) -> bool {
        self.contenders.get(contender).is_none_or(|contender| contender.scheme != SchemeName::Omniscient)
    }

    /// The network of a run, with a contender on it. All contenders meet the same networks. That of the omniscient reference
    /// has senders that stand for its own and are not to be run (see [`Evaluation::sends`]).
    ///
    /// # Errors
    /// Where there is no such contender, or the library has not what the scenario names.
    pub fn world<'t>(&self, contender: usize, run: u64, library: &'t Library) -> Result<DrawnWorld<'t>, String> {
        let number = contender;
        let contender = self.contenders.get(number).ok_or_else(|| format!("there is no contender {number}"))?;
        let (mut values, mut stream) = self.values(run);
        let [rate, rtt_ms, first_count, first_loss, jitter_ms, clock_ms] = std::array::from_fn(|_| values.next());
        let shared = Shared { rtt_ms, workload: values.pair() };
        let mut drawn = vec![[rate, first_loss]];
        drawn.extend(self.links[1..].iter().map(|_| values.pair()));
        let mut groups = Vec::with_capacity(self.groups.len());
        for (i, group) in self.groups.iter().enumerate() {
            let count = if i == 0 { first_count } else { values.next() };
            let (rtt_ms, workload) = (values.next(), values.pair());
            groups.push(DrawnGroup { group, count: count as usize, rtt_ms, workload });
        }
        let (mut flows, mut hosts, mut schemes) = (Vec::new(), Vec::new(), Vec::new());
        for drawn in groups {
            let aimd = (values.next() as usize).min(drawn.count);
            let own = drawn.group.scheme.as_ref().map_or(&contender.scheme, |own| &own.scheme);
            flows.extend(self.flows(&drawn, &shared)?);
            let (all, by_table) = (flows.len(), flows.len() - aimd);
            hosts.extend(self.hosts(own, hosts.len()..by_table, clock_ms, library, run)?);
            hosts.extend(self.hosts(&SchemeName::Aimd, by_table..all, clock_ms, library, run)?);
            schemes.resize(by_table, self.scheme_number(drawn.group, number));
            let aimd = self.scheme_names().iter().rposition(|name| *name == AIMD).unwrap_or(number);
            schemes.resize(all, aimd);
        }
        self.replay(&mut flows, run);
        let mut hops = Vec::with_capacity(self.links.len());
        for (i, (link, [rate, loss])) in self.links.iter().zip(drawn).enumerate() {
            let longest = flows.iter().filter(|f| f.route.contains(&(i as u8))).map(|f| f.rtt_ms);
            let longest = longest.fold(0.0, f64::max);
            let plan = link_plan(link, rate, library, &mut stream)?;
            let queue = self.queue(link, contender);
            let limit = self.limit(link.buffer, &queue, &plan, longest);
            hops.push(HopPlan { link: plan, queue, limit, loss, delay_ms: link.delay_ms.unwrap_or(0.0) });
        }
        self.add_access(&mut hops, &mut flows, contender);
        let reordering = self.path.reordering;
        let network = Network { jitter_ms, clock_ms, reordering, ..Network::clean(hops, flows) };
        Ok(DrawnWorld { world: World { network, hosts }, schemes })
    }

    /// The flows of a group.
    fn flows(&self, drawn: &DrawnGroup<'_>, shared: &Shared) -> Result<impl Iterator<Item = FlowPlan>, String> {
        let group = drawn.group;
        let workload = match (&group.workload, &self.workload) {
            (Some(own), _) => own.with(drawn.workload),
            (None, Some(all)) => all.with(shared.workload),
            (None, None) => return Err("a group of senders has no workload".to_owned()),
        };
        let workload = network::Workload { bytes_per_packet: self.transport.payload_bytes(), ..workload };
        let rtt_ms = match (&group.rtt_ms, &self.path.rtt_ms) {
            (Some(_), _) => drawn.rtt_ms,
            (None, Some(_)) => shared.rtt_ms,
            (None, None) => self.rtt_of_links(group).unwrap_or(0.0),
        };
        let each = self.path.rtt_ms_each.as_deref().unwrap_or_default();
        Ok((0..drawn.count).map(move |k| FlowPlan {
            route: self.route(group),
            rtt_ms: each.get(k).copied().unwrap_or(rtt_ms),
            workload: workload.clone(),
        }))
    }

    /// What is at the ends of the flows numbered `range` of a run, which run a scheme.
    fn hosts<'t>(
        &self,
        scheme: &SchemeName,
        range: Range<usize>,
        clock_ms: f64,
        library: &'t Library,
        run: u64,
    ) -> Result<Vec<Host<'t>>, String> {
        let mut transport = self.transport.settings(scheme);
        if clock_ms > 0.0 {
            transport.clock = Duration::from_ms(clock_ms);
        }
        let around = Surroundings { preset: self.transport.preset, transport, ecn: self.transport.ecn(), library };
        // The reference has no senders of its own.
        let stand_in = SchemeName::Window(1);
        let scheme = if *scheme == SchemeName::Omniscient { &stand_in } else { scheme };
        let host = |number| {
            let luck = Stream::new(self.seed, run, number as u64, Purpose::Scheme);
            Ok(Host { scheme: scheme.sender(&around, luck)?, transport })
        };
        range.map(host).collect()
    }

    /// Puts a link of its own before each sender's route, with the discipline and the room of the first link's queue.
    fn add_access(&self, hops: &mut Vec<HopPlan>, flows: &mut [FlowPlan], contender: &Contender) {
        let Some(Access { rate_mbps, delay_ms }) = self.path.access else { return };
        let link = LinkPlan::Rate(rate_mbps);
        let queue = self.queue(&self.links[0], contender);
        for flow in flows {
            let limit = self.limit(self.links[0].buffer, &queue, &link, flow.rtt_ms);
            flow.route.insert(0, hops.len() as u8);
            hops.push(HopPlan { link: link.clone(), queue: queue.clone(), limit, loss: 0.0, delay_ms });
        }
    }

    /// Gives the senders the on and off times of a run of ns-2, where the file says so.
    fn replay(&self, flows: &mut [FlowPlan], run: u64) {
        let Some(Replay { ns2 }) = self.workload.as_ref().and_then(|workload| workload.replay) else { return };
        // Each point of a grid has its runs from the first on.
        let number = ns2.saturating_add((run / self.points().unwrap_or(1).max(1) as u64) as u32);
        let means = |workload: &network::Workload| match workload.on {
            On::Seconds(on) | On::Bytes(on) => [on, workload.off_s],
            _ => [0.0, workload.off_s],
        };
        let means: Vec<[f64; 2]> = flows.iter().map(|flow| means(&flow.workload)).collect();
        let replayed = match self.transport.preset {
            Preset::Tao14 => replay::tao14(number, &means, self.duration_s),
            _ => (0..).zip(&means).map(|(i, &means)| replay::remy13(number, i, means, self.duration_s)).collect(),
        };
        for (flow, arrivals) in flows.iter_mut().zip(replayed) {
            flow.workload.on = On::After(arrivals);
        }
    }

    /// The number of a group's scheme among [`Evaluation::scheme_names`].
    fn scheme_number(&self, group: &Group, contender: usize) -> usize {
        let Some(own) = &group.scheme else { return contender };
        let fixed = self.scheme_names()[self.contenders.len()..].iter().position(|name| *name == own.label);
        fixed.map_or(contender, |i| self.contenders.len() + i)
    }

    /// The discipline of a link's queue: the contender's own, or that of the file, or what the schemes are made for.
    fn queue(&self, link: &Bottleneck, contender: &Contender) -> QueueKind {
        let own = self.groups.iter().filter_map(|group| Some(&group.scheme.as_ref()?.scheme));
        let mut schemes = std::iter::once(&contender.scheme).chain(own);
        let written = contender.queue.clone().or_else(|| link.queue.clone());
        let mut queue = written.or_else(|| schemes.find_map(SchemeName::queue)).unwrap_or_default();
        if let (QueueKind::Xcp(XcpSettings { capacity: capacity @ None, .. }), Some(mbps)) =
            (&mut queue, link.told_mbps)
        {
            *capacity = Some(mbps * 1e6 / 8.0);
        }
        queue
    }

    /// The room of a queue, where the longest minimum RTT of those who use it is this.
    fn limit(&self, buffer: BufferSize, queue: &QueueKind, link: &LinkPlan, longest_ms: f64) -> Limit {
        // ns-2's drop tail takes a packet if it and those that wait are fewer than the limit.
        let ns2 = self.transport.preset.is_ns2() && *queue == QueueKind::DropTail;
        let room = |packets: u32| Limit::Packets(packets.saturating_sub(u32::from(ns2)).max(1));
        match buffer {
            BufferSize::Infinite => Limit::Infinite,
            BufferSize::Packets(packets) => room(packets),
            BufferSize::Bytes(bytes) => Limit::Bytes(bytes),
            BufferSize::Bdp { times, beyond_ms } => {
                let bits = 8.0 * f64::from(self.transport.packet_bytes());
                let packets = times * link.nominal_mbps() * 1e6 / bits * (longest_ms - beyond_ms) / 1e3;
                // ns-2's scripts cut it to whole packets. What would be whole but for rounding stays so.
                let whole = if self.transport.preset.is_ns2() { (packets + 1e-6).floor() } else { packets.round() };
                room(whole.max(1.0) as u32)
            }
        }
    }
}

/// A point of the grid of these quantities. As in design, the first one varies slowest.
fn point(quantities: &[&Quantity], index: u64) -> Vec<f64> {
    let mut rest = index;
    let mut values: Vec<f64> = Vec::with_capacity(quantities.len());
    for quantity in quantities.iter().rev() {
        let points = quantity.points().unwrap_or_default();
        values.push(points[(rest % points.len() as u64) as usize]);
        rest /= points.len() as u64;
    }
    values.reverse();
    values
}

/// A group of senders, drawn.
struct DrawnGroup<'g> {
    group: &'g Group,
    count: usize,
    rtt_ms: f64,
    workload: [f64; 2],
}

impl Bottleneck {
    /// Its rate, where that is a quantity.
    fn rate(&self) -> &Quantity {
        match &self.service {
            ServiceTable::Rate(rate) => rate,
            ServiceTable::Trace { .. } | ServiceTable::Cellular(_) => &NOTHING,
        }
    }
}

fn link_plan(link: &Bottleneck, rate: f64, library: &Library, stream: &mut Stream) -> Result<LinkPlan, String> {
    match &link.service {
        ServiceTable::Rate(_) => Ok(LinkPlan::Rate(rate)),
        ServiceTable::Cellular(cellular) => Ok(LinkPlan::Cellular(*cellular)),
        ServiceTable::Trace { file, random } => {
            let trace = library.traces.get(file).ok_or_else(|| format!("the trace {file} is not loaded"))?;
            let offset = stream.below(u64::from(trace.period_ms()));
            Ok(LinkPlan::Trace(trace.clone(), if *random { offset } else { 0 }))
        }
    }
}
