//! A sender that is looked at every few ms while it is on, as Remy'13's scripts look at theirs (`sender-app.tcl`): a
//! transfer ends when a poll sees its end, and delays are what polls see.

use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::packet::Packet;
use exmachina_net::time::{NEVER, Time};

use super::Ends;
use crate::scheme::Scheme;

/// A sender and what polls saw of it.
#[derive(Clone, Debug)]
pub struct Polled<S> {
    /// The sender.
    ends: Ends<S>,
    every: Time,
    /// When the next poll is; [`NEVER`] in pauses.
    next: Time,
    /// A poll saw that all of the on-period was acknowledged.
    seen_finished: bool,
    /// The latest RTT sample and the cumulative ACK at the last poll.
    last: (Time, u32),
    planned: Time,
    polls: u64,
    sum: Time,
}

impl<S: Scheme> Polled<S> {
    /// Looks at this sender every so often.
    pub fn new(ends: Ends<S>, every: Time) -> Polled<S> {
        let last = (0, ends.una());
        Polled { ends, every, next: NEVER, seen_finished: false, last, planned: NEVER, polls: 0, sum: 0 }
    }

    /// What decides about window and pace.
    pub fn scheme(&self) -> &S {
        self.ends.scheme()
    }

    /// The latest RTT sample, ns; 0 before the first.
    #[must_use]
    pub fn latest_rtt(&self) -> Time {
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
    pub fn srtt(&self) -> Time {
        self.ends.srtt()
    }

    fn poll(&mut self, now: Time) {
        self.next = now + self.every;
        let seen = (self.ends.latest_rtt(), self.ends.una());
        // Where nothing changed, the sample is that of the poll before.
        if seen != self.last && seen.0 > 0 {
            self.polls += 1;
            self.sum += seen.0;
        }
        self.last = seen;
        self.seen_finished = self.ends.finished();
    }
}

impl<S: Scheme> Endpoint for Polled<S> {
    fn start(&mut self, now: Time, packets: u32) {
        self.ends.start(now, packets);
        self.next = now + self.every;
        self.seen_finished = false;
    }

    fn stop(&mut self, now: Time) {
        self.ends.stop(now);
        self.next = NEVER;
        self.seen_finished = false;
    }

    fn is_on(&self) -> bool {
        self.ends.is_on()
    }

    fn receive(&mut self, packet: &Packet, now: Time, clock: Time) {
        self.ends.receive(packet, now, clock);
    }

    fn finished(&self) -> bool {
        self.seen_finished
    }

    fn ready(&self) -> Time {
        self.ends.ready().min(self.next)
    }

    fn planned(&self) -> Time {
        self.planned
    }

    fn plan(&mut self, at: Time) {
        self.planned = at;
    }

    fn act(&mut self, now: Time) -> (Option<Packet>, Time, u32) {
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
