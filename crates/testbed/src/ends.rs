//! The ends of the flows: sockets that are opened, filled, emptied and closed when the scenario says so.
//!
//! A sender's on-period is one connection. Where the scenario's connections open with data, it is opened as soon as the one
//! before has ended, and waits; where they open with a SYN, when the on-period begins.

use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_net::on_time::{OnTime, OnTimes};
use exmachina_net::time::{Duration, Instant};
use exmachina_net::traffic::Traffic;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::clock::Clock;
use crate::measure::Over;
use crate::namespace::FAR;
use crate::pair::{Pair, drain};

/// How often a sender is looked at whose last bytes have arrived, but not the ACK for them.
const LOOK: Duration = Duration::from_millis(1);
/// How often it is looked whether anybody still wants the run.
const LISTEN: Duration = Duration::from_millis(100);

/// What a flow is to do.
#[derive(Debug)]
pub struct FlowEnds {
    /// When it is on.
    pub traffic: Traffic,
    /// The kernel's name of what its sender runs.
    pub congestion: String,
    /// Where its receiver waits for connections, in the other namespace.
    pub listener: TcpListener,
    /// Its port.
    pub port: u16,
    /// Connections are open before on-periods begin.
    pub opens_early: bool,
}

/// What the ends of a flow know at the end.
#[derive(Clone, Copy, Debug)]
pub struct Got {
    /// The time it was on.
    pub time: OnTime,
    /// Bytes that the receiver's application got.
    pub read_bytes: u64,
    /// Times that a retransmission timer expired.
    pub timeouts: u64,
}

/// One flow.
struct Flow {
    plan: FlowEnds,
    pair: Option<Pair>,
    /// Receivers whose senders have stopped, with packets still on their way.
    leaving: Vec<TcpStream>,
    is_on: bool,
    /// The on-period ends when all bytes are through.
    is_transfer: bool,
    read_bytes: u64,
    timeouts: u64,
}

/// The ends of all flows.
pub struct Ends<'a> {
    flows: Vec<Flow>,
    times: OnTimes,
    clock: Clock,
    payload_bytes: u64,
    /// Who is on, for the link.
    on: &'a [AtomicBool],
}

impl<'a> Ends<'a> {
    /// The ends of these flows, off. Connections that open early are opened now.
    pub fn new(plans: Vec<FlowEnds>, clock: Clock, payload_bytes: u16, on: &'a [AtomicBool]) -> io::Result<Self> {
        let times = OnTimes::new(plans.len());
        let flow = |plan: FlowEnds| {
            let pair = plan.opens_early.then(|| plan.open()).transpose()?;
            Ok(Flow { plan, pair, leaving: Vec::new(), is_on: false, is_transfer: false, read_bytes: 0, timeouts: 0 })
        };
        let flows = plans.into_iter().map(flow).collect::<io::Result<_>>()?;
        Ok(Ends { flows, times, clock, payload_bytes: u64::from(payload_bytes), on })
    }

    /// Runs until `end`, or until nobody wants it any more.
    pub fn run(&mut self, end: Instant, over: &Over<'_>) -> io::Result<Vec<Got>> {
        while !over.is_so() {
            self.flows.iter_mut().try_for_each(Flow::pass)?;
            let next = match self.clock.now() {
                None => Instant::START,
                Some(now) if now >= end => break,
                Some(now) => self.switch(now)?,
            };
            self.wait(self.clock.until(next.min(end)).min(LISTEN))?;
        }
        (0..self.flows.len()).for_each(|i| self.finish(i, end));
        Ok((0..self.flows.len()).map(|i| self.flows[i].got(self.times.of(i))).collect())
    }

    /// Switches whose time has come: when there is to be another look.
    fn switch(&mut self, now: Instant) -> io::Result<Instant> {
        let mut next = Instant::NEVER;
        for i in 0..self.flows.len() {
            if self.flows[i].is_through()? {
                self.switch_off(i, now)?;
            }
            while self.flows[i].plan.traffic.next <= now {
                if self.flows[i].is_on { self.switch_off(i, now)? } else { self.switch_on(i, now)? }
            }
            next = next.min(self.flows[i].next(now));
        }
        Ok(next)
    }

    fn switch_on(&mut self, i: usize, now: Instant) -> io::Result<()> {
        self.times.start(i, now);
        self.on[i].store(true, Ordering::Relaxed);
        let flow = &mut self.flows[i];
        let packets = flow.plan.traffic.begin_on_period(now);
        let pair = match &mut flow.pair {
            Some(pair) => pair,
            none => none.insert(flow.plan.open()?),
        };
        flow.is_on = true;
        flow.is_transfer = packets != u32::MAX;
        let bytes = if flow.is_transfer { u64::from(packets) * self.payload_bytes } else { u64::MAX };
        (pair.to_write, pair.to_read) = (bytes, bytes);
        if pair.receiver.is_some() { pair.write() } else { Ok(()) }
    }

    fn switch_off(&mut self, i: usize, now: Instant) -> io::Result<()> {
        self.finish(i, now);
        let flow = &mut self.flows[i];
        flow.plan.traffic.end_on_period(now);
        if flow.plan.opens_early {
            flow.pair = Some(flow.plan.open()?);
        }
        Ok(())
    }

    /// Ends the on-period of a flow, if there is one, and its connection.
    fn finish(&mut self, i: usize, now: Instant) {
        let flow = &mut self.flows[i];
        if !flow.is_on {
            return;
        }
        flow.is_on = false;
        self.on[i].store(false, Ordering::Relaxed);
        self.times.stop(i, now);
        let Some(pair) = flow.pair.take() else { return };
        flow.timeouts += pair.timeouts();
        flow.leaving.extend(pair.receiver);
    }

    /// Waits until a socket is ready, for so long at most.
    fn wait(&self, most: Duration) -> io::Result<()> {
        let mut sockets: Vec<PollFd<'_>> = self.flows.iter().flat_map(Flow::sockets).collect();
        match ppoll(&mut sockets, Some(TimeSpec::from_duration(std::time::Duration::from_nanos(most.as_nanos()))), None)
        {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl FlowEnds {
    fn open(&self) -> io::Result<Pair> {
        Pair::open(SocketAddrV4::new(FAR, self.port), &self.congestion)
    }
}

impl Flow {
    /// Lets bytes pass at both ends.
    fn pass(&mut self) -> io::Result<()> {
        // A receiver is done when its sender's RST has come.
        self.leaving.retain_mut(|receiver| match drain(receiver) {
            Ok(bytes) => {
                self.read_bytes += bytes;
                true
            }
            Err(_) => false,
        });
        let Some(pair) = &mut self.pair else { return Ok(()) };
        pair.accept(&self.plan.listener)?;
        if self.is_on {
            pair.write()?;
        }
        self.read_bytes += pair.read()?;
        Ok(())
    }

    /// Whether all bytes of a transfer have arrived and were acknowledged.
    fn is_through(&self) -> io::Result<bool> {
        match &self.pair {
            Some(pair) if self.is_on && self.is_transfer && pair.to_read == 0 => pair.is_acknowledged(),
            _ => Ok(false),
        }
    }

    /// When it is to be looked at again, if no socket is ready before.
    fn next(&self, now: Instant) -> Instant {
        let arrived = self.is_on && self.is_transfer && self.pair.as_ref().is_some_and(|pair| pair.to_read == 0);
        if arrived { now + LOOK } else { self.plan.traffic.next }
    }

    /// The sockets to wait for.
    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        let pair = self.pair.as_ref();
        let writes = pair.filter(|pair| self.is_on && pair.to_write > 0).map(|pair| pair.sender.as_fd());
        let accepts = pair.filter(|pair| pair.receiver.is_none()).map(|_| self.plan.listener.as_fd());
        let reads = pair.and_then(|pair| pair.receiver.as_ref()).into_iter().chain(&self.leaving).map(AsFd::as_fd);
        let writes = writes.into_iter().map(|fd| PollFd::new(fd, PollFlags::POLLOUT));
        writes.chain(accepts.into_iter().chain(reads).map(|fd| PollFd::new(fd, PollFlags::POLLIN)))
    }

    fn got(&self, time: OnTime) -> Got {
        Got { time, read_bytes: self.read_bytes, timeouts: self.timeouts }
    }
}
