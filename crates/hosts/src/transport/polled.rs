//! A sender that is looked at every few ms while it is on, as Remy'13's scripts look at theirs (`sender-app.tcl`): a
//! transfer ends when a poll sees its end, and delays are what polls see.

use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::packet::Packet;
use exmachina_net::time::{Duration, Instant};

use super::Ends;
use crate::scheme::Scheme;

/// A sender and what polls saw of it.
#[derive(Clone, Debug)]
pub struct Polled<S> {
    /// The sender.
    ends: Ends<S>,
    every: Duration,
    /// When the next poll is; [`Instant::NEVER`] in pauses.
    next: Instant,
    /// A poll saw that all of the on-period was acknowledged.
    seen_finished: bool,
    /// The latest RTT sample and the cumulative ACK at the last poll.
    last: (Duration, u32),
    planned: Instant,
    polls: u64,
    sum: Duration,
}

impl<S: Scheme> Polled<S> {
    /// Looks at this sender every so often.
    pub fn new(ends: Ends<S>, every: Duration) -> Polled<S> {
        let last = (Duration::ZERO, ends.una());
        Polled {
            ends,
            every,
            next: Instant::NEVER,
            seen_finished: false,
            last,
            planned: Instant::NEVER,
            polls: 0,
            sum: Duration::ZERO,
        }
    }

    /// What decides about window and pace.
    pub fn scheme(&self) -> &S {
        self.ends.scheme()
    }

    /// The latest RTT sample, ns; 0 before the first.
    #[must_use]
    pub fn latest_rtt(&self) -> Duration {
        self.ends.latest_rtt()
    }

    /// Packets that may be in flight.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.ends.window()
    }

    /// Packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.ends.in_flight()
    }

    /// The number of the next new packet.
    #[must_use]
    pub fn next_seq(&self) -> u32 {
        self.ends.next_seq()
    }

    /// The oldest packet that is not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        self.ends.una()
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Duration {
        self.ends.srtt()
    }

    fn poll(&mut self, now: Instant) {
        self.next = now + self.every;
        let seen = (self.ends.latest_rtt(), self.ends.una());
        // Where nothing changed, the sample is that of the poll before.
        if seen != self.last && seen.0 > Duration::ZERO {
            self.polls += 1;
            self.sum += seen.0;
        }
        self.last = seen;
        self.seen_finished = self.ends.finished();
    }
}

impl<S: Scheme> Endpoint for Polled<S> {
    fn start(&mut self, now: Instant, packets: u32) {
        self.ends.start(now, packets);
        self.next = now + self.every;
        self.seen_finished = false;
    }

    fn stop(&mut self, now: Instant) {
        self.ends.stop(now);
        self.next = Instant::NEVER;
        self.seen_finished = false;
    }

    fn is_on(&self) -> bool {
        self.ends.is_on()
    }

    fn receive(&mut self, packet: &Packet, now: Instant, clock: Duration) {
        self.ends.receive(packet, now, clock);
    }

    fn finished(&self) -> bool {
        self.seen_finished
    }

    fn ready(&self) -> Instant {
        self.ends.ready().min(self.next)
    }

    fn planned(&self) -> Instant {
        self.planned
    }

    fn plan(&mut self, at: Instant) {
        self.planned = at;
    }

    fn act(&mut self, now: Instant) -> (Option<Packet>, Instant, u32) {
        let (packet, turn) = if self.next <= now {
            self.poll(now);
            (None, 0)
        } else {
            let (packet, _, turn) = self.ends.act(now);
            (packet, turn)
        };
        self.planned = self.ready().max(now);
        (packet, self.planned, if self.planned == now { turn } else { 0 })
    }

    fn totals(&self) -> Totals {
        Totals { polls: self.polls, polled: self.sum, ..self.ends.totals() }
    }
}
