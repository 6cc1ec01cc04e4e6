//! The engine of one bottleneck, an RTT at a time: the same packets as [`crate::engine::Engine`]'s on a dumbbell, in a part of the
//! time.
//!
//! Who sends a packet hears of it an RTT later, or more where a queue stands. So for the length of a round whose end is the
//! earliest instant at which a packet sent in it can be heard of, no sender depends on another: each goes through the round
//! alone, its state at hand, with the ACKs that it is known to get. Then what all of them sent goes through the bottleneck
//! in the order of sending (`merge.rs`), which says when the ACKs are back.
//!
//! Guarantees: those of the engine, and its results bit for bit, ties at one instant included: switches come first, then
//! ACKs in the order in which their packets were sent, then sends in turn (`schedule.rs`). What is observed is told sender by
//! sender.

mod course;
mod merge;

use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::observe::Observer;
use crate::on_time::OnTimes;
use crate::outcome::{Flow, Outcome};
use crate::packet::Packet;
use crate::path::{Bottleneck, DelayLine};
use crate::random::Seed;
use crate::schedule::{LONGEST_RUN, MAX_SENDERS, MAX_TIME, number_of, time_of, turn_at};
use crate::time::{Duration, Instant};
use crate::traffic::Traffic;
pub use course::{Course, Departing, Light};
use merge::{Departures, Outbox, Send};

/// Packets between two looks at whether anybody still wants the run: a few ms.
const PACKETS_PER_LOOK: u32 = 1 << 16;

/// A sender and what it knows of.
#[derive(Clone, Debug)]
struct Desk<E> {
    sender: E,
    traffic: Traffic,
    /// Its packets whose ACKs are to come.
    inbox: DelayLine<Light>,
    /// What it sends in this round.
    outbox: Outbox,
    /// When it acts next, if no ACK comes before: its turn.
    due: u64,
    /// When it does anything next.
    wakes: Instant,
}

/// A sender's on-period begins or ends.
#[derive(Clone, Copy, Debug)]
struct Switch {
    at: Instant,
    desk: usize,
    on: bool,
}

/// A network of one bottleneck in motion.
#[derive(Clone, Debug)]
pub struct Rounds<E> {
    now: Instant,
    bottleneck: Bottleneck,
    /// The tick of the senders' clocks.
    clock: Duration,
    desks: Vec<Desk<E>>,
    departures: Departures,
    /// Those of this round.
    switches: Vec<Switch>,
    on_times: OnTimes,
    rate_mbps: f64,
    min_rtt_ms: Vec<f64>,
}

/// The part of a round that all senders have in common.
#[derive(Clone, Copy)]
struct Round {
    /// Nothing that comes at this instant or later is in it, but for switches at the end of a run.
    end: Instant,
    switches_end: Instant,
    clock: Duration,
}

impl<E: Endpoint> Rounds<E> {
    /// Whether a network can be run so: it is a dumbbell, and there is an RTT.
    #[must_use]
    pub fn suits(network: &Network) -> bool {
        network.is_dumbbell() && network.rtts_ms().all(|ms| Duration::from_ms(ms) > Duration::ZERO)
    }

    /// These senders, with a network's traffic, on its bottleneck, at time 0.
    ///
    /// # Panics
    /// If there are more senders than a schedule has room for (scenario files are checked for that), no RTT, or more than a dumbbell.
    #[must_use]
    pub fn new(network: &Network, seed: Seed, senders: Vec<E>) -> Rounds<E> {
        let n = senders.len();
        assert!(n <= MAX_SENDERS, "{n} senders: at most {MAX_SENDERS}");
        assert!(Self::suits(network), "rounds of no length");
        let bottleneck = Bottleneck::new(network, seed);
        let desk = |(sender, traffic): (E, Traffic)| Desk {
            sender,
            wakes: traffic.next,
            traffic,
            inbox: DelayLine::default(),
            outbox: Outbox::default(),
            due: turn_at(Instant::NEVER, 0),
        };
        Rounds {
            now: Instant::START,
            clock: Duration::from_ms(network.clock_ms),
            desks: senders.into_iter().zip(Traffic::of(network, seed)).map(desk).collect(),
            departures: Departures::new(&bottleneck, n),
            bottleneck,
            switches: Vec::new(),
            on_times: OnTimes::new(n),
            rate_mbps: network.rate_mbps(),
            min_rtt_ms: network.rtts_ms().collect(),
        }
    }

    /// Runs until `until`, or until the observer abandons it.
    ///
    /// # Panics
    /// If `until` is past [`LONGEST_RUN`], or the observer looks for an order between senders.
    pub fn run<O: Observer<E>>(&mut self, until: Instant, observer: &mut O) {
        assert!(O::IN_ANY_ORDER, "rounds have no order between senders");
        assert!(until <= LONGEST_RUN, "a run of {} s: at most {} s", until.as_s(), LONGEST_RUN.as_s());
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these features.
            return unsafe { self.run_avx2(until, observer) };
        }
        self.run_anywhere(until, observer);
    }

    /// The same code with wider registers. No fused multiply-add: it would round differently.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn run_avx2(&mut self, until: Instant, observer: &mut impl Observer<E>) {
        self.run_anywhere(until, observer);
    }

    #[inline(always)]
    fn run_anywhere(&mut self, until: Instant, observer: &mut impl Observer<E>) {
        if self.bottleneck.is_plain() {
            self.rounds::<true>(until, observer);
        } else {
            self.rounds::<false>(until, observer);
        }
    }

    #[inline(always)]
    fn rounds<const PLAIN: bool>(&mut self, until: Instant, observer: &mut impl Observer<E>) {
        let mut looked = 0_u32;
        loop {
            let begin = self.desks.iter().map(|desk| desk.wakes).min().unwrap_or(Instant::NEVER);
            if begin > until {
                break;
            }
            let end = self.bottleneck.no_news_before(begin).min(until);
            // What comes at the end of the run is left undone, but for switches.
            let switches_end = if end == until { until + Duration::NANOSECOND } else { end };
            let round = Round { end, switches_end, clock: self.clock };
            for i in 0..self.desks.len() {
                if self.desks[i].wakes < switches_end {
                    self.desks[i].go::<PLAIN, _>(i, &round, &mut self.switches, observer);
                    if !self.desks[i].outbox.is_empty() {
                        self.departures.expect(i);
                    }
                }
            }
            looked += self.departures.depart::<PLAIN, E>(&mut self.bottleneck, &mut self.desks);
            self.account();
            self.now = end;
            if end == until {
                break;
            }
            if looked >= PACKETS_PER_LOOK {
                looked = 0;
                if observer.abandoned() {
                    return;
                }
            }
        }
        self.now = until;
    }

    /// Counts the time between the switches of a round.
    fn account(&mut self) {
        // One that ends and begins at one instant does so in that order.
        self.switches.sort_by_key(|switch| switch.at);
        for Switch { at, desk, on } in self.switches.drain(..) {
            if on { self.on_times.start(desk, at) } else { self.on_times.stop(desk, at) }
        }
    }

    /// The senders.
    pub fn senders(&self) -> impl Iterator<Item = &E> {
        self.desks.iter().map(|desk| &desk.sender)
    }

    /// What each sender got so far.
    pub fn outcome(&self) -> Outcome {
        let flow = |(i, desk): (usize, &Desk<E>)| {
            let time = if desk.sender.is_on() { self.on_times.up_to(i, self.now) } else { self.on_times.of(i) };
            Flow::new(desk.sender.totals(), time, self.min_rtt_ms[i])
        };
        let flows = self.desks.iter().enumerate().map(flow).collect();
        let under_way = self.desks.iter().flat_map(|desk| desk.inbox.iter());
        let in_flight = under_way.filter(|packet| !packet.is_lost()).count() as u64;
        Outcome { flows, lost: self.bottleneck.lost(), in_flight, rate_mbps: self.rate_mbps }
    }
}

impl<E: Endpoint> Desk<E> {
    /// Goes through a round.
    #[inline(always)]
    fn go<const PLAIN: bool, O: Observer<E>>(
        &mut self,
        number: usize,
        round: &Round,
        switches: &mut Vec<Switch>,
        observer: &mut O,
    ) {
        let mut bound = self.traffic.next.min(round.end);
        loop {
            if !O::SEES_ACKS {
                self.cruise(round, bound);
            }
            let arrival = self.inbox.next();
            let send = time_of(self.due);
            if arrival.min(send) >= bound {
                if self.traffic.next >= round.switches_end {
                    self.wakes = arrival.min(send).min(self.traffic.next);
                    return;
                }
                self.switch(number, switches, observer);
                bound = self.traffic.next.min(round.end);
                continue;
            }
            if arrival <= send {
                let light = self.inbox.pop();
                let (sent, seq, lost) = (light.sent, light.seq(), !PLAIN && light.is_lost());
                let packet = Packet { sent, seq, sender: number as u16, lost, ..Packet::default() };
                self.sender.receive(&packet, arrival, round.clock);
                if !lost {
                    observer.acked(arrival, number, &packet, &self.sender);
                }
                self.follow_up(number, arrival, light.order, switches, observer);
            } else {
                let turn = number_of(self.due);
                self.act(number, send, |seq| Send::paced(send, seq, turn), switches, observer);
            }
            bound = bound.min(self.traffic.next);
        }
    }

    /// Goes through what is ordinary.
    #[inline(always)]
    fn cruise(&mut self, round: &Round, bound: Instant) {
        if number_of(self.due) > 0 {
            return;
        }
        let due = time_of(self.due);
        let due = if due > MAX_TIME { Instant::NEVER } else { due };
        let (acks, after) = self.inbox.front();
        let (bound, clock, outbox) = (bound.min(after), round.clock, &mut self.outbox);
        let mut course = Course { acks, dealt: 0, bound, due, clock, outbox };
        self.sender.cruise(&mut course);
        let (dealt, due) = (course.dealt, course.due);
        self.inbox.skip(dealt);
        self.due = turn_at(due, 0);
    }

    /// After the sender learned something: ends its on-period, lets it act at once, or plans when it does.
    #[inline(always)]
    fn follow_up(
        &mut self,
        number: usize,
        now: Instant,
        order: u32,
        switches: &mut Vec<Switch>,
        observer: &mut impl Observer<E>,
    ) {
        if self.sender.finished() {
            self.switch_off(number, now, switches, observer);
            return;
        }
        let at = self.sender.ready();
        if at <= now {
            self.act(number, now, |seq| Send::answer(now, seq, order), switches, observer);
        } else if at != self.sender.planned() {
            self.sender.plan(at);
            self.due = turn_at(at, 0);
        }
    }

    /// Lets the sender act, most often by sending one packet, and plans when it does next.
    #[inline(always)]
    fn act(
        &mut self,
        number: usize,
        now: Instant,
        send: impl Fn(u32) -> Send,
        switches: &mut Vec<Switch>,
        observer: &mut impl Observer<E>,
    ) {
        let (packet, next, turn) = self.sender.act(now);
        if let Some(packet) = packet {
            self.outbox.push(send(packet.seq));
        } else if self.sender.finished() {
            // A delayed ACK was the last.
            self.switch_off(number, now, switches, observer);
            return;
        }
        self.due = turn_at(next, turn);
    }

    /// Plans the next packet of a sender that was switched: what a pause held back is due now, not in the past.
    fn plan(&mut self, now: Instant) {
        let at = self.sender.ready().max(now);
        self.sender.plan(at);
        self.due = turn_at(at, 0);
    }

    /// Switches the sender, whose time has come.
    #[cold]
    #[inline(never)]
    fn switch(&mut self, number: usize, switches: &mut Vec<Switch>, observer: &mut impl Observer<E>) {
        let now = self.traffic.next;
        if self.sender.is_on() {
            self.switch_off(number, now, switches, observer);
            return;
        }
        switches.push(Switch { at: now, desk: number, on: true });
        let packets = self.traffic.begin_on_period(now);
        self.sender.start(now, packets);
        observer.started(now, number, &self.sender);
        self.plan(now);
    }

    #[cold]
    #[inline(never)]
    fn switch_off(&mut self, number: usize, now: Instant, switches: &mut Vec<Switch>, observer: &mut impl Observer<E>) {
        switches.push(Switch { at: now, desk: number, on: false });
        self.sender.stop(now);
        self.traffic.end_on_period(now);
        observer.stopped(now, number);
        self.plan(now);
    }
}
