//! A run of a scenario in real time.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::SchemeName;
use exmachina_hosts::transport::Opening;
use exmachina_net::endpoint::Totals;
use exmachina_net::path::{Topology, Wire};
use exmachina_net::time::{Duration, Instant};
use exmachina_net::traffic::Traffic;
use exmachina_run::runs::FlowRow;
use exmachina_scenario::{DrawnWorld, Evaluation};

use crate::clock::Clock;
use crate::ends::{Ends, FlowEnds, Got, Hosts};
use crate::lateness::Lateness;
use crate::link::{Carrier, Link, Plan, Seen};
use crate::stack::Stack;
use crate::{kernel, quic};

/// What is left of a run's beginning once connections are open.
const SETTLES: Duration = Duration::from_millis(100);

/// Which run it is.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The scenario.
    pub evaluation: &'a Evaluation,
    /// The number of the contender.
    pub contender: usize,
    /// The number of the run.
    pub run: u64,
    /// What the scenario names.
    pub library: &'a Library,
    /// Who is at both ends.
    pub stack: &'a Stack,
    /// What hosts see is written down.
    pub records: bool,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Measured {
    /// One row for each sender, as a simulation gives them. Delays are those of packets between entering and leaving the path.
    /// What only a sender's own books tell is missing: `reductions` are 0 and samples of RTTs none.
    pub rows: Vec<FlowRow>,
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// What the hosts saw, if it was to be written down.
    pub records: Vec<Record>,
}

/// A file of what hosts saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// How its name ends: of which connection it is, if not of the whole run, and what it is.
    pub ending: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Measures a run, which takes as long as it says. Once `stop` is set it ends early, and what comes back is worth nothing.
///
/// # Errors
/// What the machine lacks, or what a socket or device refused, in one line.
pub fn measure(run: Run<'_>, stop: &AtomicBool) -> Result<Measured, String> {
    let drawn = run.evaluation.world(run.contender, run.run, run.library)?;
    let plan = run.plan(&drawn);
    let flows = run.flows(&drawn);
    let lead = plan.empty_rtts.iter().copied().max().unwrap_or_default() * 2 + SETTLES;
    let bed = Bed {
        run,
        clock: Clock::starting_in(lead),
        end: Instant::from_s(run.evaluation.duration_s),
        on: flows.iter().map(|_| AtomicBool::new(false)).collect(),
        flows,
        rate_mbps: drawn.world.network.rate_mbps(),
        over: Over { stop, failed: AtomicBool::new(false) },
    };
    let (seen, got) = match run.stack {
        Stack::Kernel(loaded) => kernel::run(&bed, plan, loaded)?,
        Stack::Quic => quic::run(&bed, plan)?,
    };
    Ok(Measured { rows: bed.rows(&seen, &got), lateness: lateness(&seen, &got), records: records(seen, got) })
}

/// How late the link was, and hosts of this process.
fn lateness(seen: &Seen, got: &[Got]) -> Lateness {
    let dropped = seen.carried.dropped + got.iter().map(|got| got.counts.dropped).sum::<u64>();
    if dropped > 0 {
        return Lateness::NEVER;
    }
    Lateness::of(got.iter().flat_map(|got| &got.counts.late).chain(&seen.late).copied().collect())
}

fn records(seen: Seen, got: Vec<Got>) -> Vec<Record> {
    let of_connections = got.into_iter().enumerate().flat_map(|(sender, got)| {
        let named = move |(i, bytes)| Record { ending: format!("-{sender}-{i}.sqlog"), bytes };
        got.counts.logs.into_iter().enumerate().map(named)
    });
    let of_run = seen.carried.capture.map(|bytes| Record { ending: ".pcap".to_owned(), bytes });
    of_run.into_iter().chain(of_connections).collect()
}

/// Why a run ends before its end.
pub struct Over<'a> {
    /// Nobody wants it any more.
    stop: &'a AtomicBool,
    /// One of its threads failed.
    failed: AtomicBool,
}

impl Over<'_> {
    /// Whether it does.
    pub fn is_so(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    fn on_error<T>(&self, result: Result<T, String>) -> Result<T, String> {
        self.failed.fetch_or(result.is_err(), Ordering::Relaxed);
        result
    }
}

impl<'a> Run<'a> {
    /// What the link has to know of it.
    fn plan(&self, drawn: &DrawnWorld<'_>) -> Plan {
        let (network, hosts) = (&drawn.world.network, &drawn.world.hosts);
        // Handshakes are shorter than other packets.
        let ack_bytes = hosts.iter().map(|host| host.transport.ack_bytes).collect();
        let wire = Wire { packet_bytes: None, ack_bytes, learns_losses: false };
        let empty_rtt = |(i, rtt_ms)| Duration::from_ms(rtt_ms + drawn.world.transmission_ms(i));
        Plan {
            path: Topology::new(network, &wire, self.evaluation.run_seed(self.run)),
            empty_rtts: network.rtts_ms().enumerate().map(empty_rtt).collect(),
        }
    }

    /// Bytes of a whole packet on the path.
    pub fn packet_bytes(&self) -> u16 {
        self.evaluation.transport.packet_bytes()
    }

    /// Bytes of data in it.
    pub fn payload_bytes(&self) -> u16 {
        self.packet_bytes() - self.stack.header_bytes()
    }

    /// What the ends and the rows have to know of each flow.
    fn flows(&self, drawn: &DrawnWorld<'_>) -> Vec<Drawn<'a>> {
        let network = &drawn.world.network;
        let traffic = Traffic::of(network, self.evaluation.run_seed(self.run));
        let flow = |(i, traffic): (usize, Traffic)| Drawn {
            scheme: self.scheme(drawn.schemes[i]),
            number: drawn.schemes[i] as u32,
            min_rtt_ms: network.flows[i].rtt_ms,
            transmission_ms: drawn.world.transmission_ms(i),
            opens_early: drawn.world.hosts[i].transport.opening == Opening::Data,
            traffic,
        };
        traffic.into_iter().enumerate().map(flow).collect()
    }

    /// The scheme of a number, with its label.
    fn scheme(&self, number: usize) -> (&'a str, &'a SchemeName) {
        let contenders = self.evaluation.contenders.iter().map(|contender| (&contender.label, &contender.scheme));
        let own = self.evaluation.groups.iter().filter_map(|group| group.scheme.as_ref());
        let mut schemes = contenders.chain(own.map(|own| (&own.label, &own.scheme)));
        let name = &self.evaluation.scheme_names()[number];
        let (label, scheme) = schemes.find(|(label, _)| *label == name).expect("it is one of them");
        (label, scheme)
    }
}

/// A flow of the network that was drawn.
pub struct Drawn<'a> {
    /// What its sender runs, with its label.
    pub scheme: (&'a str, &'a SchemeName),
    /// The number of its scheme's name.
    number: u32,
    min_rtt_ms: f64,
    transmission_ms: f64,
    /// Connections are open before on-periods begin.
    opens_early: bool,
    traffic: Traffic,
}

/// A run under way: what both of its threads know.
pub struct Bed<'a> {
    /// Which it is.
    pub run: Run<'a>,
    /// Its flows.
    pub flows: Vec<Drawn<'a>>,
    rate_mbps: f64,
    /// Its time.
    pub clock: Clock,
    end: Instant,
    /// Who is on.
    on: Vec<AtomicBool>,
    over: Over<'a>,
}

impl Bed<'_> {
    /// Runs the link and the ends, each in a thread; either gives nothing if it waited in vain for the other.
    pub fn both(
        &self,
        link: impl FnOnce() -> Result<Option<Seen>, String> + Send,
        ends: impl FnOnce() -> Result<Option<Vec<Got>>, String> + Send,
    ) -> Result<(Seen, Vec<Got>), String> {
        let (seen, got) = thread::scope(|scope| {
            let link = scope.spawn(|| self.over.on_error(link()));
            let ends = scope.spawn(|| self.over.on_error(ends()));
            (link.join().expect("the link does not panic"), ends.join().expect("the ends do not panic"))
        });
        match (seen, got) {
            (Ok(Some(seen)), Ok(Some(got))) => Ok((seen, got)),
            (Err(error), _) | (_, Err(error)) => Err(error),
            _ => unreachable!("the other thread has failed"),
        }
    }

    /// The link, over what carries its packets.
    pub fn link(&self, plan: Plan, carrier: impl Carrier) -> Result<Option<Seen>, String> {
        go_first(2);
        Link::new(plan, self.clock, carrier, &self.on).run(self.end, &self.over).map(Some).map_err(told)
    }

    /// The ends, with these hosts.
    pub fn ends<H: Hosts>(&self, hosts: Vec<H>) -> Result<Option<Vec<Got>>, String> {
        go_first(1);
        let flow = |(flow, hosts): (&Drawn<'_>, H)| FlowEnds {
            traffic: flow.traffic.clone(),
            opens_early: flow.opens_early,
            hosts,
        };
        let flows = self.flows.iter().zip(hosts).map(flow).collect();
        let ends = Ends::new(flows, self.clock, self.run.payload_bytes(), &self.on).map_err(told)?;
        ends.run(self.end, &self.over).map(Some).map_err(told)
    }

    /// The rows of a simulated run.
    fn rows(&self, seen: &Seen, got: &[Got]) -> Vec<FlowRow> {
        let payload_bytes = u64::from(self.run.payload_bytes());
        let totals = |i: usize| {
            let (counts, carried) = (&got[i].counts, seen.carried.totals[i]);
            Totals {
                in_order: counts.read_bytes / payload_bytes,
                timeouts: counts.timeouts,
                retransmitted: carried.retransmitted + counts.sent_again,
                ..carried
            }
        };
        let row = |(i, flow): (usize, &Drawn<'_>)| FlowRow {
            run: self.run.run,
            sender: i as u32,
            senders: got.len() as u32,
            scheme: flow.number,
            rate_mbps: self.rate_mbps,
            min_rtt_ms: flow.min_rtt_ms,
            on_s: got[i].time.on_s,
            share_s: got[i].time.share_s,
            packet_bytes: self.run.packet_bytes(),
            header_bytes: self.run.stack.header_bytes(),
            transmission_ms: flow.transmission_ms,
            ns2: false,
            totals: totals(i),
        };
        self.flows.iter().enumerate().map(row).collect()
    }
}

/// Has this thread run before all others of the machine that have no such priority. Where that is not allowed packets are
/// late, which is noted.
fn go_first(priority: libc::c_int) {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure outlives the call; 0 is this thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
}

/// An error of a socket or device, as a person is told.
pub fn told(error: io::Error) -> String {
    format!("testbed: {error}")
}
