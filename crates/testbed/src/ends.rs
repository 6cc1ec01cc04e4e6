//! The ends of the flows: connections that are opened, filled and closed when the scenario says so.
//!
//! A sender's on-period is one connection. Where the scenario's connections open with data, it is opened as soon as the one
//! before has ended, and waits; where they open with a SYN, when the on-period begins.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;

use exmachina_net::on_time::{OnTime, OnTimes};
use exmachina_net::time::{Duration, Instant};
use exmachina_net::traffic::Traffic;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::clock::Clock;
use crate::measure::Over;

/// How often it is looked whether anybody still wants the run.
const LISTEN: Duration = Duration::from_millis(100);

/// A stretch of zeros: what senders have to send.
pub static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The two hosts of a flow. They have one connection at a time; what is left of earlier ones they let end.
pub trait Hosts {
    /// Begins to open a connection.
    fn open(&mut self) -> io::Result<()>;
    /// Has the sender send so many bytes over the connection, which is opened if there is none.
    fn send(&mut self, bytes: u64) -> io::Result<()>;
    /// Whether all of these have arrived and were acknowledged.
    fn is_through(&self) -> io::Result<bool>;
    /// Ends the connection, with packets still on their way.
    fn close(&mut self) -> io::Result<()>;
    /// Does what is due, and lets bytes pass at both ends.
    fn pass(&mut self) -> io::Result<()>;
    /// When something is due, if no socket is ready before.
    fn due(&self) -> Option<time::Instant>;
    /// The sockets to wait for.
    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>>;
    /// What they counted.
    fn counts(self) -> Counts;
}

/// What the hosts of a flow count.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Bytes that the receiver's application got.
    pub read_bytes: u64,
    /// Times that a retransmission timer expired.
    pub timeouts: u64,
    /// Packets sent again, as far as the link cannot tell.
    pub sent_again: u64,
    /// How late the hosts were, each time that something was due, where they are this process's.
    pub late: Vec<Duration>,
    /// Datagrams that were lost in a socket, and not on the path.
    pub dropped: u64,
    /// What the sender wrote down of each connection, if it did.
    pub logs: Vec<Vec<u8>>,
}

/// What a flow is to do.
#[derive(Debug)]
pub struct FlowEnds<H> {
    /// When it is on.
    pub traffic: Traffic,
    /// Connections are open before on-periods begin.
    pub opens_early: bool,
    /// Who does it.
    pub hosts: H,
}

/// What the ends of a flow know at the end.
#[derive(Clone, Debug)]
pub struct Got {
    /// The time it was on.
    pub time: OnTime,
    /// What its hosts counted.
    pub counts: Counts,
}

/// The ends of all flows.
pub struct Ends<'a, H> {
    flows: Vec<FlowEnds<H>>,
    times: OnTimes,
    clock: Clock,
    payload_bytes: u64,
    /// Who is on, for the link, too.
    on: &'a [AtomicBool],
}

impl<'a, H: Hosts> Ends<'a, H> {
    /// The ends of these flows, off. Connections that open early are opened now.
    pub fn new(
        mut flows: Vec<FlowEnds<H>>,
        clock: Clock,
        payload_bytes: u16,
        on: &'a [AtomicBool],
    ) -> io::Result<Self> {
        flows.iter_mut().filter(|flow| flow.opens_early).try_for_each(|flow| flow.hosts.open())?;
        Ok(Ends { times: OnTimes::new(flows.len()), flows, clock, payload_bytes: u64::from(payload_bytes), on })
    }

    /// Runs until `end`, or until nobody wants it any more.
    pub fn run(mut self, end: Instant, over: &Over<'_>) -> io::Result<Vec<Got>> {
        while !over.is_so() {
            self.flows.iter_mut().try_for_each(|flow| flow.hosts.pass())?;
            let next = match self.clock.now() {
                None => Instant::START,
                Some(now) if now >= end => break,
                Some(now) => self.switch(now)?,
            };
            self.wait(self.clock.until(next.min(end)).min(LISTEN))?;
        }
        (0..self.flows.len()).try_for_each(|i| self.finish(i, end))?;
        let got = |(i, flow): (usize, FlowEnds<H>)| Got { time: self.times.of(i), counts: flow.hosts.counts() };
        Ok(self.flows.into_iter().enumerate().map(got).collect())
    }

    /// Switches whose time has come: when there is to be another look.
    fn switch(&mut self, now: Instant) -> io::Result<Instant> {
        let mut next = Instant::NEVER;
        for i in 0..self.flows.len() {
            if self.is_on(i) && self.flows[i].hosts.is_through()? {
                self.switch_off(i, now)?;
            }
            while self.flows[i].traffic.next <= now {
                if self.is_on(i) { self.switch_off(i, now)? } else { self.switch_on(i, now)? }
            }
            next = next.min(self.flows[i].traffic.next);
        }
        Ok(next)
    }

    fn is_on(&self, i: usize) -> bool {
        self.on[i].load(Ordering::Relaxed)
    }

    fn switch_on(&mut self, i: usize, now: Instant) -> io::Result<()> {
        self.times.start(i, now);
        self.on[i].store(true, Ordering::Relaxed);
        let flow = &mut self.flows[i];
        let packets = flow.traffic.begin_on_period(now);
        flow.hosts.send(if packets == u32::MAX { u64::MAX } else { u64::from(packets) * self.payload_bytes })
    }

    fn switch_off(&mut self, i: usize, now: Instant) -> io::Result<()> {
        self.finish(i, now)?;
        let flow = &mut self.flows[i];
        flow.traffic.end_on_period(now);
        if flow.opens_early { flow.hosts.open() } else { Ok(()) }
    }

    /// Ends the on-period of a flow, if there is one, and its connection.
    fn finish(&mut self, i: usize, now: Instant) -> io::Result<()> {
        if !self.is_on(i) {
            return Ok(());
        }
        self.on[i].store(false, Ordering::Relaxed);
        self.times.stop(i, now);
        self.flows[i].hosts.close()
    }

    /// Waits until a socket is ready or something is due, for so long at most.
    fn wait(&self, most: Duration) -> io::Result<()> {
        let now = time::Instant::now();
        let due = self.flows.iter().filter_map(|flow| flow.hosts.due()).min();
        let due = due.map_or(time::Duration::MAX, |due| due.saturating_duration_since(now));
        wait(
            self.flows.iter().flat_map(|flow| flow.hosts.sockets()),
            due.min(time::Duration::from_nanos(most.as_nanos())),
        )
    }
}

/// Waits until a socket is ready, for so long at most.
pub fn wait<'fd>(sockets: impl Iterator<Item = PollFd<'fd>>, most: time::Duration) -> io::Result<()> {
    match ppoll(&mut sockets.collect::<Vec<_>>(), Some(TimeSpec::from_duration(most)), None) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A socket that is waited for until it can be read.
pub fn readable(socket: &impl std::os::fd::AsFd) -> PollFd<'_> {
    PollFd::new(socket.as_fd(), PollFlags::POLLIN)
}
