//! A run of a scenario on this machine's kernel.

use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use exmachina_hosts::library::Library;
use exmachina_hosts::transport::Opening;
use exmachina_net::endpoint::Totals;
use exmachina_net::path::{Topology, Wire};
use exmachina_net::time::{Duration, Instant};
use exmachina_net::traffic::Traffic;
use exmachina_run::runs::FlowRow;
use exmachina_scenario::{DrawnWorld, Evaluation};
use tun_rs::SyncDevice;

use crate::clock::Clock;
use crate::ends::{Ends, FlowEnds, Got};
use crate::lateness::Lateness;
use crate::link::{Link, Plan, Seen};
use crate::namespace::{self, FAR, NEAR};
use crate::possible::{KernelNames, kernel_name};

/// The headers of a packet: IP and TCP with its time stamp, which Linux sends by default.
const HEADER_BYTES: u16 = 20 + 20 + 12;
/// The port of the first receiver.
const FIRST_PORT: u16 = 7000;
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
    /// What the kernel calls rule tables.
    pub loaded: &'a KernelNames,
    /// Packets are recorded.
    pub captures: bool,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Measured {
    /// One row for each sender, as a simulation gives them. Delays are those of packets between entering and leaving the path.
    /// What only a sender's own books tell is missing: `reductions` are 0 and samples of RTTs none.
    pub rows: Vec<FlowRow>,
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// The packets, as a pcap file, if they were to be recorded.
    pub capture: Option<Vec<u8>>,
}

/// Measures a run, which takes as long as it says. Once `stop` is set it ends early, and what comes back is worth nothing.
///
/// # Errors
/// What the machine lacks, or what a socket or device refused, in one line.
pub fn measure(run: Run<'_>, stop: &AtomicBool) -> Result<Measured, String> {
    let drawn = run.evaluation.world(run.contender, run.run, run.library)?;
    let plan = run.plan(&drawn);
    let lead = plan.empty_rtts.iter().copied().max().unwrap_or_default() * 2 + SETTLES;
    let flows = run.flows(&drawn)?;
    let bed = Bed {
        run,
        clock: Clock::starting_in(lead),
        end: Instant::from_s(run.evaluation.duration_s),
        on: flows.iter().map(|_| AtomicBool::new(false)).collect(),
        flows,
        rate_mbps: drawn.world.network.rate_mbps(),
        over: Over { stop, failed: AtomicBool::new(false) },
    };
    let (give_device, devices) = mpsc::channel();
    let (give_listeners, listeners) = mpsc::channel();
    // The link has the receivers' namespace, the other thread that of the senders: each can make devices and sockets in its own.
    let (seen, got) = thread::scope(|scope| {
        let link = scope.spawn(|| bed.over.on_error(bed.link(plan, give_listeners, devices)));
        let ends = scope.spawn(|| bed.over.on_error(bed.ends(give_device, listeners)));
        (link.join().expect("the link does not panic"), ends.join().expect("the ends do not panic"))
    });
    match (seen, got) {
        (Ok(Some(seen)), Ok(Some(got))) => {
            let rows = bed.rows(&seen, &got);
            Ok(Measured { rows, lateness: seen.lateness, capture: seen.capture })
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
        // One of them waits in vain for the other only if that failed.
        _ => unreachable!("the other thread has failed"),
    }
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

impl Run<'_> {
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
            first_port: FIRST_PORT,
            payload_bytes: self.payload_bytes(),
            captures: self.captures,
        }
    }

    fn packet_bytes(&self) -> u16 {
        self.evaluation.transport.packet_bytes()
    }

    fn payload_bytes(&self) -> u16 {
        self.packet_bytes() - HEADER_BYTES
    }

    /// What the ends and the rows have to know of each flow.
    fn flows(&self, drawn: &DrawnWorld<'_>) -> Result<Vec<Drawn>, String> {
        let network = &drawn.world.network;
        let traffic = Traffic::of(network, self.evaluation.run_seed(self.run));
        let flow = |(i, (traffic, congestion)): (usize, (Traffic, String))| Drawn {
            scheme: drawn.schemes[i] as u32,
            min_rtt_ms: network.flows[i].rtt_ms,
            transmission_ms: drawn.world.transmission_ms(i),
            opens_early: drawn.world.hosts[i].transport.opening == Opening::Data,
            traffic,
            congestion,
        };
        Ok(traffic.into_iter().zip(self.congestions(drawn)?).enumerate().map(flow).collect())
    }

    /// What the kernel calls each sender's scheme.
    fn congestions(&self, drawn: &DrawnWorld<'_>) -> Result<Vec<String>, String> {
        let contenders = self.evaluation.contenders.iter().map(|contender| (&contender.label, &contender.scheme));
        let own = self.evaluation.groups.iter().filter_map(|group| group.scheme.as_ref());
        let schemes: Vec<_> = contenders.chain(own.map(|own| (&own.label, &own.scheme))).collect();
        let names = self.evaluation.scheme_names();
        let named = |&number: &usize| {
            let (label, scheme) = schemes.iter().find(|(label, _)| *label == names[number]).expect("it is one of them");
            kernel_name(label, scheme, self.loaded)
        };
        drawn.schemes.iter().map(named).collect()
    }
}

/// A flow of the network that was drawn.
struct Drawn {
    /// The number of its scheme's name.
    scheme: u32,
    min_rtt_ms: f64,
    transmission_ms: f64,
    /// Connections are open before on-periods begin.
    opens_early: bool,
    traffic: Traffic,
    /// The kernel's name of what it runs.
    congestion: String,
}

/// A run under way: what both of its threads know.
struct Bed<'a> {
    run: Run<'a>,
    flows: Vec<Drawn>,
    rate_mbps: f64,
    clock: Clock,
    end: Instant,
    /// Who is on.
    on: Vec<AtomicBool>,
    over: Over<'a>,
}

impl Bed<'_> {
    /// The link, in the receivers' namespace; nothing if the other thread has failed.
    fn link(
        &self,
        plan: Plan,
        listeners: Sender<Vec<TcpListener>>,
        devices: Receiver<SyncDevice>,
    ) -> Result<Option<Seen>, String> {
        let far = namespace::enter(FAR, self.run.packet_bytes())?;
        let listen =
            |i| TcpListener::bind((FAR, FIRST_PORT + i as u16)).and_then(|l| l.set_nonblocking(true).map(|()| l));
        let waiting = (0..self.on.len()).map(listen).collect::<io::Result<_>>().map_err(told)?;
        if listeners.send(waiting).is_err() {
            return Ok(None);
        }
        let Ok(near) = devices.recv() else { return Ok(None) };
        go_first(2);
        let link = Link::new(plan, self.clock, [&near, &far], &self.on);
        link.run(self.end, &self.over).map(Some).map_err(told)
    }

    /// The ends, in the senders' namespace; nothing if the other thread has failed.
    fn ends(
        &self,
        device: Sender<SyncDevice>,
        listeners: Receiver<Vec<TcpListener>>,
    ) -> Result<Option<Vec<Got>>, String> {
        let near = namespace::enter(NEAR, self.run.packet_bytes())?;
        if device.send(near).is_err() {
            return Ok(None);
        }
        let Ok(listeners) = listeners.recv() else { return Ok(None) };
        go_first(1);
        let flow = |(i, (flow, listener)): (usize, (&Drawn, TcpListener))| FlowEnds {
            traffic: flow.traffic.clone(),
            congestion: flow.congestion.clone(),
            opens_early: flow.opens_early,
            listener,
            port: FIRST_PORT + i as u16,
        };
        let flows = self.flows.iter().zip(listeners).enumerate().map(flow).collect();
        let mut ends = Ends::new(flows, self.clock, self.run.payload_bytes(), &self.on).map_err(told)?;
        ends.run(self.end, &self.over).map(Some).map_err(told)
    }

    /// The rows of a simulated run.
    fn rows(&self, seen: &Seen, got: &[Got]) -> Vec<FlowRow> {
        let payload_bytes = u64::from(self.run.payload_bytes());
        let row = |(i, flow): (usize, &Drawn)| FlowRow {
            run: self.run.run,
            sender: i as u32,
            senders: got.len() as u32,
            scheme: flow.scheme,
            rate_mbps: self.rate_mbps,
            min_rtt_ms: flow.min_rtt_ms,
            on_s: got[i].time.on_s,
            share_s: got[i].time.share_s,
            packet_bytes: self.run.packet_bytes(),
            header_bytes: HEADER_BYTES,
            transmission_ms: flow.transmission_ms,
            ns2: false,
            totals: Totals { in_order: got[i].read_bytes / payload_bytes, timeouts: got[i].timeouts, ..seen.totals[i] },
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

fn told(error: io::Error) -> String {
    format!("testbed: {error}")
}
