//! Runs of an evaluation: contenders on the networks of a scenario, on all threads, in a fixed order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_hosts::library::Library;
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::network::PACKET_BYTES;
use exmachina_net::observe::Unless;
use exmachina_net::outcome::{Flow, Outcome};
use exmachina_net::time::Instant;
use exmachina_scenario::{DrawnWorld, Evaluation};
use rayon::prelude::*;

use crate::omniscient::omniscient;

/// What one sender got in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRow {
    /// Number of the run.
    pub run: u64,
    /// Number of the sender.
    pub sender: u32,
    /// How many senders the run has.
    pub senders: u32,
    /// What it runs, as a number of [`Evaluation::scheme_names`].
    pub scheme: u32,
    /// Long-term average rate of the slowest link, Mbit/s.
    pub rate_mbps: f64,
    /// RTT of an empty network without the packet's own transmission, ms.
    pub min_rtt_ms: f64,
    /// Time on, s.
    pub on_s: f64,
    /// Sum of dt / (senders on at the time) while on, s.
    pub share_s: f64,
    /// Bytes of a packet on the wire.
    pub packet_bytes: u16,
    /// How many of them are headers.
    pub header_bytes: u16,
    /// Time that a packet takes to be transmitted, on all constant-rate links of its route, ms.
    pub transmission_ms: f64,
    /// The transport is one of the authors' ns-2.
    pub ns2: bool,
    /// What its transport counted.
    pub totals: Totals,
}

impl FlowRow {
    /// Megabytes delivered, on the wire, each packet counted once.
    #[must_use]
    pub fn delivered_mbytes(&self) -> f64 {
        self.totals.delivered as f64 * f64::from(self.packet_bytes) * 1e-6
    }

    /// Throughput over the time on, Mbit/s (Remy'13 §5.1); 0 if never on.
    #[must_use]
    pub fn throughput_mbps(&self) -> f64 {
        if self.on_s > 0.0 { 8.0 * self.delivered_mbytes() / self.on_s } else { 0.0 }
    }

    /// Throughput in bytes of data, without the headers, Mbit/s: what Remy'13's figures show.
    #[must_use]
    pub fn goodput_mbps(&self) -> f64 {
        let bytes = f64::from(self.packet_bytes);
        self.throughput_mbps() * (bytes - f64::from(self.header_bytes)).max(0.0) / bytes
    }

    /// Mean RTT in excess of what it is on an empty network, a packet's own transmission included, ms; NaN if nothing was
    /// delivered.
    #[must_use]
    pub fn queueing_delay_ms(&self) -> f64 {
        self.excess(self.mean_rtt_ms())
    }

    fn excess(&self, rtt_ms: f64) -> f64 {
        let excess = rtt_ms - self.min_rtt_ms - self.transmission_ms;
        // Rounding may leave less than nothing. (`max` would turn NaN into 0.)
        if excess < 0.0 { 0.0 } else { excess }
    }

    /// Mean over its ACKs of the sender's latest RTT sample, ms: what the papers' ns-2 scripts took for the delay. With time
    /// stamps it is more than the RTT of packets while something is missing ([`Totals::sampled`]). NaN without an ACK.
    #[must_use]
    pub fn sampled_rtt_ms(&self) -> f64 {
        self.totals.sampled.as_nanos_f64() * 1e-6 / self.totals.acks as f64
    }

    /// The same in excess of what it is on an empty network, ms.
    #[must_use]
    pub fn sampled_delay_ms(&self) -> f64 {
        self.excess(self.sampled_rtt_ms())
    }

    /// Throughput as the authors' ns-2 scripts count it: data in order with their headers, over the time on, Mbit/s; NaN under
    /// other transports, and if never on.
    #[must_use]
    pub fn ns2_throughput_mbps(&self) -> f64 {
        let bits = 8.0 * self.totals.in_order as f64 * f64::from(self.packet_bytes);
        if self.ns2 && self.on_s > 0.0 { bits * 1e-6 / self.on_s } else { f64::NAN }
    }

    /// Mean RTT as they count it, ms: over all ACKs of the packets that they answer (Tao'14), over what polls saw (Remy'13, whose
    /// figure 4 takes off 149.5 ms). NaN under other transports, and without a sample.
    #[must_use]
    pub fn ns2_rtt_ms(&self) -> f64 {
        let (sum, samples) = match self.totals.polls {
            0 => (self.totals.sampled, self.totals.acks),
            polls => (self.totals.polled, polls),
        };
        if self.ns2 { sum.as_nanos_f64() * 1e-6 / samples as f64 } else { f64::NAN }
    }

    /// Throughput over an equal share of the slowest link; 0 if never on.
    #[must_use]
    pub fn normalised_throughput(&self) -> f64 {
        let share = self.share_s * self.rate_mbps;
        if share > 0.0 { 8.0 * self.delivered_mbytes() / share } else { 0.0 }
    }

    /// Mean RTT of its delivered packets, ms; NaN if nothing was delivered.
    #[must_use]
    pub fn mean_rtt_ms(&self) -> f64 {
        self.totals.delay.as_nanos_f64() * 1e-6 / self.totals.delivered as f64
    }
}

/// These runs of a contender, one row for each sender, by run and sender. The rows do not depend on the number of
/// threads. Once `stop` is set runs end early, and what comes back is worth nothing.
///
/// # Errors
/// Where a run has no network (see [`Evaluation::world`]).
pub fn runs(
    evaluation: &Evaluation,
    contender: usize,
    runs: Range<u64>,
    library: &Library,
    stop: &AtomicBool,
) -> Result<Vec<FlowRow>, String> {
    let rows = |run| one_run(evaluation, contender, run, library, stop);
    // Not collected as one result: which of several errors that is depends on the threads.
    let each: Vec<Result<Vec<FlowRow>, String>> = runs.into_par_iter().map(rows).collect();
    let mut all = Vec::new();
    for rows in each {
        all.extend(rows?);
    }
    Ok(all)
}

/// The same runs on this thread, one after another, until `stop` is set: for schemes that are not compiled in.
///
/// # Errors
/// Where a run has no network (see [`Evaluation::world`]).
pub fn runs_until(
    evaluation: &Evaluation,
    contender: usize,
    runs: Range<u64>,
    library: &Library,
    stop: &AtomicBool,
) -> Result<Vec<FlowRow>, String> {
    let mut all = Vec::new();
    for run in runs {
        all.extend(one_run(evaluation, contender, run, library, stop)?);
    }
    Ok(all)
}

/// What these runs of a contender gave, in order: what rule tables are scored by in the design simulator. Packets are those
/// of the design simulator, [`exmachina_net::network::PACKET_BYTES`] on the wire. Once `stop` is set runs end early, and what
/// comes back is worth nothing.
///
/// # Errors
/// Where a run has no network (see [`Evaluation::world`]), or other packets.
pub fn outcomes(
    evaluation: &Evaluation,
    contender: usize,
    runs: Range<u64>,
    library: &Library,
    stop: &AtomicBool,
) -> Result<Vec<Outcome>, String> {
    let one = |run| {
        let drawn = evaluation.world(contender, run, library)?;
        if drawn.world.hosts.iter().any(|host| f64::from(host.transport.packet_bytes) != PACKET_BYTES) {
            return Err(format!("expected packets of {PACKET_BYTES} bytes"));
        }
        Ok(outcome(evaluation, contender, run, &drawn, stop).0)
    };
    let each: Vec<Result<Outcome, String>> = runs.into_par_iter().map(one).collect();
    each.into_iter().collect()
}

fn one_run(
    evaluation: &Evaluation,
    contender: usize,
    run: u64,
    library: &Library,
    stop: &AtomicBool,
) -> Result<Vec<FlowRow>, String> {
    if stop.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let drawn = evaluation.world(contender, run, library)?;
    let (outcome, totals) = outcome(evaluation, contender, run, &drawn, stop);
    let row = |(i, flow): (usize, &Flow)| FlowRow {
        run,
        sender: i as u32,
        senders: outcome.flows.len() as u32,
        scheme: drawn.schemes[i] as u32,
        rate_mbps: outcome.rate_mbps,
        min_rtt_ms: flow.min_rtt_ms,
        on_s: flow.on_s,
        share_s: flow.share_s,
        packet_bytes: drawn.world.hosts[i].transport.packet_bytes,
        header_bytes: drawn.world.hosts[i].transport.header_bytes,
        transmission_ms: drawn.world.transmission_ms(i),
        ns2: evaluation.transport.preset.is_ns2(),
        totals: totals[i],
    };
    Ok(outcome.flows.iter().enumerate().map(row).collect())
}

/// What a run gave: as a whole, and what each sender's transport counted.
fn outcome(
    evaluation: &Evaluation,
    contender: usize,
    run: u64,
    drawn: &DrawnWorld<'_>,
    stop: &AtomicBool,
) -> (Outcome, Vec<Totals>) {
    let seed = evaluation.run_seed(run);
    if evaluation.sends(contender) {
        let mut engine = drawn.world.engine(seed);
        engine.run(Instant::from_s(evaluation.duration_s), &mut Unless(stop));
        return (engine.outcome(), engine.senders().iter().map(Endpoint::totals).collect());
    }
    let ideal = omniscient(&drawn.world, seed, evaluation.duration_s, stop);
    let totals = |flow: &Flow| Totals {
        delivered: flow.delivered,
        in_order: flow.delivered,
        late: flow.late,
        delay: flow.delay,
        late_delay: flow.late_delay,
        acks: flow.delivered,
        sampled: flow.delay,
        sent: flow.sent,
        ..Totals::default()
    };
    let totals = ideal.flows.iter().map(totals).collect();
    (ideal, totals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;

    const DUMBBELL: &str = "\
schemes = ['newreno', 'cubic/sfqcodel', 'bbr3']
runs = 6
duration_s = 10
[link]
rate_mbps = { uniform = [5, 15] }
buffer = { packets = 100 }
[path]
rtt_ms = 50
[senders]
count = { uniform = [1, 4] }
[workload]
on = { bytes = 100_000 }
off = { seconds = 0.5 }
";

    fn evaluation() -> Evaluation {
        Evaluation::parse(DUMBBELL, "x.toml").unwrap()
    }

    fn on(threads: usize, contender: usize) -> Vec<FlowRow> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| runs(&evaluation(), contender, 0..6, &Library::default(), &AtomicBool::new(false))).unwrap()
    }

    #[test]
    fn rows_do_not_depend_on_threads_or_on_the_part_asked_for() {
        for contender in 0..3 {
            let rows = on(1, contender);
            assert_eq!(rows, on(3, contender));
            let part = runs(&evaluation(), contender, 2..4, &Library::default(), &AtomicBool::new(false)).unwrap();
            assert_eq!(part, rows.iter().filter(|r| (2..4).contains(&r.run)).copied().collect::<Vec<_>>());
            let go_on = AtomicBool::new(false);
            assert_eq!(rows, runs_until(&evaluation(), contender, 0..6, &Library::default(), &go_on).unwrap());
        }
    }

    #[test]
    fn contenders_meet_the_same_networks_and_traffic() {
        let rows = [on(1, 0), on(1, 1)];
        let networks = rows.each_ref().map(|rows| {
            rows.iter().map(|r| (r.run, r.senders, r.rate_mbps.to_bits(), r.min_rtt_ms.to_bits())).collect::<Vec<_>>()
        });
        assert_eq!(networks[0], networks[1]);
        assert!(rows[0].iter().all(|r| r.scheme == 0) && rows[1].iter().all(|r| r.scheme == 1));
        assert!(rows[0].iter().any(|r| r.totals.delivered > 0) && rows[0] != rows[1]);
    }

    #[test]
    fn throughput_is_of_bytes_on_the_wire_over_time_on() {
        for row in on(1, 0).iter().filter(|r| r.totals.delivered > 0) {
            let mbps = row.totals.delivered as f64 * 1250.0 * 8e-6 / row.on_s;
            assert!((row.throughput_mbps() / mbps - 1.0).abs() < 1e-12);
            assert!(row.throughput_mbps() < row.rate_mbps && row.mean_rtt_ms() >= row.min_rtt_ms);
        }
    }

    #[test]
    fn a_stopped_run_ends_at_once() {
        let rows = runs_until(&evaluation(), 0, 0..6, &Library::default(), &AtomicBool::new(true)).unwrap();
        assert!(rows.is_empty());
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert_eq!(
            runs(&evaluation(), 3, 0..1, &Library::default(), &AtomicBool::new(false)).unwrap_err(),
            "there is no contender 3"
        );
    }
}
