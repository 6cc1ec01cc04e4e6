//! The path in real time: packets that leave the senders' namespace enter the simulator's path, and reach the receivers' when
//! they leave that.
//!
//! The path's delays are those of whole round trips, as in a simulation: what comes back does so at once. No sender can tell
//! on which way a packet was delayed. Queues and links are advanced to the nanosecond, however late this thread is; only
//! the handing over is late, which is noted.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;

use exmachina_net::endpoint::Totals;
use exmachina_net::packet::Packet;
use exmachina_net::path::{Path, Topology};
use exmachina_net::time::{Duration, Instant};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use tun_rs::SyncDevice;

use crate::account::Account;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::lateness::Lateness;
use crate::measure::Over;
use crate::segment::Segment;

/// No packet is longer.
const LONGEST: usize = 1 << 16;
/// How often it is looked whether anybody still wants the run.
const LISTEN: Duration = Duration::from_millis(100);

/// What the link has to know of a run.
#[derive(Debug)]
pub struct Plan {
    /// The path, empty.
    pub path: Topology,
    /// The RTT of each flow on an empty path, its packet's own transmission included.
    pub empty_rtts: Vec<Duration>,
    /// The port of the first flow's receiver; those of the others follow.
    pub first_port: u16,
    /// Bytes of data in a whole packet.
    pub payload_bytes: u16,
    /// Packets are recorded.
    pub captures: bool,
}

/// What the link has seen at the end.
#[derive(Debug)]
pub struct Seen {
    /// By flow.
    pub totals: Vec<Totals>,
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// The recording, if there is one.
    pub capture: Option<Vec<u8>>,
}

/// A packet on its way.
struct Held {
    seq: u32,
    segment: Segment,
    bytes: Vec<u8>,
}

/// The link in motion.
pub struct Link<'a> {
    plan: Plan,
    clock: Clock,
    near: &'a SyncDevice,
    far: &'a SyncDevice,
    on: &'a [AtomicBool],
    /// The packets of each flow that are on their way, in order, and how many there were.
    held: Vec<VecDeque<Held>>,
    next_seq: Vec<u32>,
    accounts: Vec<Account>,
    /// Packets from before the run began, and when they are due: handshakes, which meet an empty path.
    early: Vec<(time::Instant, Vec<u8>)>,
    late: Vec<Duration>,
    capture: Option<Capture>,
}

impl<'a> Link<'a> {
    /// A link between these devices, before the run has begun.
    pub fn new(plan: Plan, clock: Clock, [near, far]: [&'a SyncDevice; 2], on: &'a [AtomicBool]) -> Link<'a> {
        let flows = plan.empty_rtts.len();
        Link {
            held: (0..flows).map(|_| VecDeque::new()).collect(),
            next_seq: vec![0; flows],
            accounts: (0..flows).map(|_| Account::default()).collect(),
            early: Vec::new(),
            late: Vec::new(),
            capture: plan.captures.then(Capture::new),
            plan,
            clock,
            near,
            far,
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
            self.pass_back()?;
            self.wait(end)?;
        }
        Ok(Seen {
            totals: self.accounts.iter().map(Account::totals).collect(),
            lateness: Lateness::of(self.late),
            capture: self.capture.map(Capture::into_file),
        })
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

    fn hand_over(&mut self, packet: Packet, at: Instant) -> io::Result<()> {
        let sender = usize::from(packet.sender);
        let held = &mut self.held[sender];
        // Those before it in its flow were dropped.
        while held.front().is_some_and(|held| held.seq < packet.seq) {
            held.pop_front();
        }
        let Some(Held { segment, bytes, .. }) = held.pop_front() else { return Ok(()) };
        let is_on = self.on[sender].load(Ordering::Relaxed);
        self.accounts[sender].arrived(&segment, at - packet.sent, is_on, self.plan.payload_bytes);
        put(self.far, &bytes)?;
        self.late.push(self.clock.now().map_or(Duration::ZERO, |now| now.since(at)));
        Ok(())
    }

    /// Hands over packets from before the run.
    fn greet(&mut self) -> io::Result<()> {
        let now = time::Instant::now();
        for (_, bytes) in self.early.extract_if(.., |(due, _)| *due <= now) {
            put(self.far, &bytes)?;
        }
        Ok(())
    }

    /// Takes in what the senders sent.
    fn take_in(&mut self) -> io::Result<()> {
        let mut room = [0; LONGEST];
        while let Some(length) = take(self.near, &mut room)? {
            let bytes = &room[..length];
            let Some(segment) = Segment::of(bytes) else { continue };
            let sender = usize::from(segment.to.wrapping_sub(self.plan.first_port));
            let Some(account) = self.accounts.get_mut(sender) else { continue };
            if let Some(capture) = &mut self.capture {
                capture.take(bytes);
            }
            account.sent(&segment);
            let Some(now) = self.clock.now() else {
                let rtt = time::Duration::from_nanos(self.plan.empty_rtts[sender].as_nanos());
                self.early.push((time::Instant::now() + rtt, bytes.to_vec()));
                continue;
            };
            self.advance(now)?;
            let seq = self.next_seq[sender];
            self.next_seq[sender] += 1;
            self.held[sender].push_back(Held { seq, segment, bytes: bytes.to_vec() });
            let (sender, bytes) = (sender as u16, length as u16);
            self.plan.path.send::<false>(Packet { sent: now, seq, sender, bytes, ..Packet::default() }, now);
        }
        Ok(())
    }

    /// Passes on what the receivers sent.
    fn pass_back(&mut self) -> io::Result<()> {
        let mut room = [0; LONGEST];
        while let Some(length) = take(self.far, &mut room)? {
            let bytes = &room[..length];
            if Segment::of(bytes).is_none() {
                continue;
            }
            if let Some(capture) = &mut self.capture {
                capture.take(bytes);
            }
            put(self.near, bytes)?;
        }
        Ok(())
    }

    /// Waits for a packet, or until something is due on the path.
    fn wait(&self, end: Instant) -> io::Result<()> {
        let due = self.clock.until(self.plan.path.next::<false>().min(end)).min(LISTEN);
        let mut due = time::Duration::from_nanos(due.as_nanos());
        let now = time::Instant::now();
        for (greeting, _) in &self.early {
            due = due.min(greeting.saturating_duration_since(now));
        }
        let mut devices = [self.near, self.far].map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut devices, Some(TimeSpec::from_duration(due)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A packet from a device, if there is one.
fn take(device: &SyncDevice, room: &mut [u8]) -> io::Result<Option<usize>> {
    match device.recv(room) {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a device a packet.
fn put(device: &SyncDevice, bytes: &[u8]) -> io::Result<()> {
    device.send(bytes).map(|_| ())
}
