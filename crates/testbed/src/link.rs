//! The path in real time: packets that leave the senders' hosts enter the simulator's path, and reach the receivers' when
//! they leave that.
//!
//! The path's delays are those of whole round trips, as in a simulation: what comes back does so at once. No sender can tell
//! on which way a packet was delayed. Queues and links are advanced to the nanosecond, however late this thread is; only
//! the handing over is late, which is noted.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;

use exmachina_net::endpoint::Totals;
use exmachina_net::packet::Packet;
use exmachina_net::path::{Path, Topology};
use exmachina_net::time::{Duration, Instant};
use nix::poll::PollFd;

use crate::clock::Clock;
use crate::ends::wait;
use crate::measure::Over;

/// No packet is longer.
const LONGEST: usize = 1 << 16;
/// How often it is looked whether anybody still wants the run.
const LISTEN: Duration = Duration::from_millis(100);

/// What carries packets between the hosts and the link, and counts them.
pub trait Carrier {
    /// What it knows of a packet.
    type Packet;
    /// Takes in a packet that a sender's host sent, if there is one.
    fn take(&mut self, room: &mut [u8]) -> io::Result<Option<Taken<Self::Packet>>>;
    /// Hands a packet to the receiver's host of its flow.
    fn hand_over(&mut self, flow: usize, bytes: &[u8]) -> io::Result<()>;
    /// Counts a packet that left the path so long after it entered.
    fn arrived(&mut self, flow: usize, packet: &Self::Packet, rtt: Duration, is_on: bool);
    /// Passes on what the receivers' hosts sent.
    fn pass_back(&mut self, room: &mut [u8]) -> io::Result<()>;
    /// What to wait for.
    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>>;
    /// What it counted.
    fn carried(self) -> Carried;
}

/// A packet that a sender's host sent.
pub struct Taken<P> {
    /// Whose.
    pub flow: usize,
    /// What is known of it.
    pub packet: P,
    /// Bytes that were read.
    pub length: usize,
    /// Bytes on the path.
    pub wire_bytes: u16,
}

/// What was carried.
#[derive(Debug)]
pub struct Carried {
    /// By flow.
    pub totals: Vec<Totals>,
    /// Packets that were lost on this machine, and not on the path.
    pub dropped: u64,
    /// The recording, if there is one.
    pub capture: Option<Vec<u8>>,
}

/// What the link has to know of a run.
#[derive(Debug)]
pub struct Plan {
    /// The path, empty.
    pub path: Topology,
    /// The RTT of each flow on an empty path, its packet's own transmission included.
    pub empty_rtts: Vec<Duration>,
}

/// What the link has seen at the end.
#[derive(Debug)]
pub struct Seen {
    /// What it carried.
    pub carried: Carried,
    /// How late each packet was handed over.
    pub late: Vec<Duration>,
}

/// A packet on its way.
struct Held<P> {
    seq: u32,
    packet: P,
    bytes: Vec<u8>,
}

/// A packet from before the run began.
struct Early {
    due: time::Instant,
    flow: usize,
    bytes: Vec<u8>,
}

/// The link in motion.
pub struct Link<'a, C: Carrier> {
    plan: Plan,
    clock: Clock,
    carrier: C,
    on: &'a [AtomicBool],
    /// The packets of each flow that are on their way, in order, and how many there were.
    held: Vec<VecDeque<Held<C::Packet>>>,
    next_seq: Vec<u32>,
    /// Handshakes, which meet an empty path.
    early: Vec<Early>,
    late: Vec<Duration>,
    room: Vec<u8>,
}

impl<'a, C: Carrier> Link<'a, C> {
    /// A link that gets packets from there, before the run has begun.
    pub fn new(plan: Plan, clock: Clock, carrier: C, on: &'a [AtomicBool]) -> Link<'a, C> {
        let flows = plan.empty_rtts.len();
        Link {
            held: (0..flows).map(|_| VecDeque::new()).collect(),
            next_seq: vec![0; flows],
            early: Vec::new(),
            late: Vec::new(),
            room: vec![0; LONGEST],
            plan,
            clock,
            carrier,
            on,
        }
    }

    /// Runs until `end`, or until nobody wants it any more.
    pub fn run(mut self, end: Instant, over: &Over<'_>) -> io::Result<Seen> {
        while !over.is_so() {
            let now = self.clock.now();
            self.advance(now.unwrap_or(Instant::START).min(end))?;
            if now.is_some_and(|now| now >= end) {
                break;
            }
            self.greet()?;
            self.take_in()?;
            self.carrier.pass_back(&mut self.room)?;
            self.wait(end)?;
        }
        Ok(Seen { carried: self.carrier.carried(), late: self.late })
    }

    /// Lets all happen on the path that is due, and hands over what has arrived.
    fn advance(&mut self, now: Instant) -> io::Result<()> {
        while self.plan.path.next::<false>() <= now {
            let at = self.plan.path.next::<false>();
            if let Some(packet) = self.plan.path.step::<false>(at) {
                self.hand_over(packet, at)?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, arrived: Packet, at: Instant) -> io::Result<()> {
        let flow = usize::from(arrived.sender);
        let held = &mut self.held[flow];
        // Those before it in its flow were dropped.
        while held.front().is_some_and(|held| held.seq < arrived.seq) {
            held.pop_front();
        }
        let Some(Held { packet, bytes, .. }) = held.pop_front() else { return Ok(()) };
        self.carrier.arrived(flow, &packet, at - arrived.sent, self.on[flow].load(Ordering::Relaxed));
        self.carrier.hand_over(flow, &bytes)?;
        self.late.push(self.clock.now().map_or(Duration::ZERO, |now| now.since(at)));
        Ok(())
    }

    /// Hands over packets from before the run.
    fn greet(&mut self) -> io::Result<()> {
        let now = time::Instant::now();
        for Early { flow, bytes, .. } in self.early.extract_if(.., |early| early.due <= now) {
            self.carrier.hand_over(flow, &bytes)?;
        }
        Ok(())
    }

    /// Takes in what the senders sent.
    fn take_in(&mut self) -> io::Result<()> {
        while let Some(Taken { flow, packet, length, wire_bytes }) = self.carrier.take(&mut self.room)? {
            let bytes = self.room[..length].to_vec();
            let Some(now) = self.clock.now() else {
                let rtt = time::Duration::from_nanos(self.plan.empty_rtts[flow].as_nanos());
                self.early.push(Early { due: time::Instant::now() + rtt, flow, bytes });
                continue;
            };
            self.advance(now)?;
            let seq = self.next_seq[flow];
            self.next_seq[flow] += 1;
            self.held[flow].push_back(Held { seq, packet, bytes });
            let packet = Packet { sent: now, seq, sender: flow as u16, bytes: wire_bytes, ..Packet::default() };
            self.plan.path.send::<false>(packet, now);
        }
        Ok(())
    }

    /// Waits for a packet, or until something is due on the path.
    fn wait(&self, end: Instant) -> io::Result<()> {
        let due = self.clock.until(self.plan.path.next::<false>().min(end)).min(LISTEN);
        let now = time::Instant::now();
        let early = self.early.iter().map(|early| early.due.saturating_duration_since(now));
        let due = early.fold(time::Duration::from_nanos(due.as_nanos()), time::Duration::min);
        wait(self.carrier.sockets(), due)
    }
}
