//! The omniscient scheme of Remy'13 and Tao'14: senders that know at every moment who else is on, and take their
//! proportionally fair rates at once, so that nothing ever waits in a queue.
//!
//! A fluid calculation, not a simulation of packets, with the very traffic that schemes meet in the same world: rates
//! change only when a sender is switched on or off or its transfer ends. The RTT is that of an empty network: the minimum,
//! a packet's and its ACK's own transmission, and half of the jitter. A transfer by bytes lasts until the ACK of its last
//! packet, an RTT after that was sent. A link whose rate varies counts with its long-term average, and what links lose for
//! no reason of congestion is sent again.
//!
//! It is a reference, not a bound: deliveries and time on are counted as in every [`Outcome`], so that a scheme that leaves a
//! queue behind when it is switched off can be ahead of it.

mod fair;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_net::network::{FlowPlan, Network};
use exmachina_net::outcome::{Flow, Outcome};
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_net::traffic::Traffic;
use exmachina_scenario::world::World;
use fair::{Fair, Use};

/// What part of what all get each flow has when rates are proportionally fair and all are on; equal parts on one link.
#[must_use]
pub fn fair_parts(network: &Network) -> Vec<f64> {
    let (flows, mut rates) = (network.senders(), vec![0.0; network.senders()]);
    fair(network).0.rates(&vec![true; flows], &mut rates);
    let all: f64 = rates.iter().sum();
    rates.iter().map(|rate| rate / all).collect()
}

/// Flows and links of a network, and the share of each flow's packets that arrives.
fn fair(network: &Network) -> (Fair, Vec<f64>) {
    let capacities = network.hops.iter().map(|hop| hop.link.mean_mbps()).collect();
    let (uses, kept) = network.flows.iter().map(|flow| uses(network, flow)).unzip();
    (Fair::new(uses, capacities), kept)
}

/// What each sender gets in `duration_s` seconds; less than that if `stop` is set meanwhile.
#[must_use]
pub fn omniscient(world: &World<'_>, seed: Seed, duration_s: f64, stop: &AtomicBool) -> Outcome {
    let mut fluid = Fluid::new(world, seed);
    let end = Instant::from_s(duration_s);
    while fluid.now < end && !stop.load(Ordering::Relaxed) {
        fluid.advance(end);
    }
    fluid.outcome()
}

/// What a sender is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    /// Nothing.
    Pausing,
    /// Sending, with so many packets left (infinite: until it is switched off).
    Sending(f64),
    /// Waiting for the last ACK of its transfer.
    Waiting(Instant),
}

/// What was sent evenly between two instants and will arrive.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Instant,
    to: Instant,
    packets: f64,
}

struct Sender {
    doing: Doing,
    traffic: Traffic,
    min_rtt_ms: f64,
    /// RTT of an empty network.
    rtt: Duration,
    /// Share of the packets that arrive.
    kept: f64,
    packet_mbit: f64,
    /// Sent, and not yet delivered.
    pieces: VecDeque<Piece>,
    /// Packets sent, delivered, and delivered while it was off.
    sent: f64,
    delivered: f64,
    late: f64,
    on_s: f64,
    share_s: f64,
}

/// Senders that share links as liquids would.
struct Fluid {
    now: Instant,
    senders: Vec<Sender>,
    fair: Fair,
    slowest_mbps: f64,
    /// Present rates of those that send, Mbit/s.
    rates: Vec<f64>,
    /// Who sends, as the rates have it.
    sending: Vec<bool>,
}

impl Fluid {
    fn new(world: &World<'_>, seed: Seed) -> Fluid {
        let network = &world.network;
        let (fair, kept) = fair(network);
        let sender = |(i, flow): (usize, &FlowPlan)| Sender {
            doing: Doing::Pausing,
            traffic: Traffic::new(flow.workload.clone(), seed.root, seed.specimen, i),
            min_rtt_ms: flow.rtt_ms,
            // Jitter is uniform, so half of it is met on the mean.
            rtt: Duration::from_ms(flow.rtt_ms + world.transmission_ms(i) + network.jitter_ms / 2.0),
            kept: kept[i],
            packet_mbit: f64::from(world.hosts[i].transport.packet_bytes.max(1)) * 8e-6,
            pieces: VecDeque::new(),
            sent: 0.0,
            delivered: 0.0,
            late: 0.0,
            on_s: 0.0,
            share_s: 0.0,
        };
        let n = network.senders();
        Fluid {
            now: Instant::START,
            senders: network.flows.iter().enumerate().map(sender).collect(),
            fair,
            slowest_mbps: network.rate_mbps(),
            rates: vec![0.0; n],
            sending: vec![false; n],
        }
    }

    /// Goes on to the next event, or to the end.
    fn advance(&mut self, end: Instant) {
        let now = self.now;
        let event = |(s, rate): (&Sender, &f64)| match s.doing {
            Doing::Sending(left) if left.is_finite() => now
                .saturating_add(Duration::from_s(left * s.packet_mbit / rate).max(Duration::NANOSECOND))
                .min(s.traffic.next),
            Doing::Waiting(until) => until,
            _ => s.traffic.next,
        };
        let next = self.senders.iter().zip(&self.rates).map(event).min().unwrap_or(Instant::NEVER).min(end);
        self.flow(next);
        self.now = next;
        self.senders.iter_mut().for_each(|sender| sender.turn(next));
        let sending = |s: &Sender| matches!(s.doing, Doing::Sending(_));
        if !self.senders.iter().map(sending).eq(self.sending.iter().copied()) {
            self.sending = self.senders.iter().map(sending).collect();
            self.fair.rates(&self.sending, &mut self.rates);
        }
    }

    /// Lets all go on as they are until `next`.
    fn flow(&mut self, next: Instant) {
        let (now, dt) = (self.now, (next - self.now).as_s());
        let on = self.senders.iter().filter(|s| s.doing != Doing::Pausing).count();
        for (sender, rate) in self.senders.iter_mut().zip(&self.rates) {
            if sender.doing != Doing::Pausing {
                sender.on_s += dt;
                sender.share_s += dt / on as f64;
            }
            if let Doing::Sending(left) = &mut sender.doing {
                let packets = (rate * dt / sender.packet_mbit).min(*left);
                *left -= packets;
                sender.sent += packets;
                if next > now {
                    sender.pieces.push_back(Piece { from: now, to: next, packets: packets * sender.kept });
                }
            }
            sender.deliver(now, next);
        }
    }

    /// In whole packets, and RTTs to the nanosecond. A packet of which a part is sent is none yet: rounded up, it would be more
    /// than a slow link can carry.
    fn outcome(&self) -> Outcome {
        // Less than a packet's millionth is rounding.
        let whole = |packets: f64| (packets + 1e-6).floor() as u64;
        let flow = |s: &Sender| {
            let (delivered, late) = (whole(s.delivered), whole(s.late).min(whole(s.delivered)));
            Flow {
                delivered,
                late,
                sent: whole(s.sent).max(delivered),
                delay: s.rtt.saturating_mul(delivered),
                late_delay: s.rtt.saturating_mul(late),
                on_s: s.on_s,
                share_s: s.share_s,
                min_rtt_ms: s.min_rtt_ms,
            }
        };
        let flows: Vec<Flow> = self.senders.iter().map(flow).collect();
        let arrive = self.senders.iter().map(|s| whole(s.sent * s.kept)).zip(&flows);
        let in_flight = arrive.map(|(arrive, flow)| arrive.saturating_sub(flow.delivered)).sum();
        let undelivered: u64 = flows.iter().map(|f| f.sent - f.delivered).sum();
        Outcome { flows, lost: undelivered - in_flight, in_flight, rate_mbps: self.slowest_mbps }
    }
}

impl Sender {
    /// Delivers what was sent an RTT before the time from `now` to `next`.
    fn deliver(&mut self, now: Instant, next: Instant) {
        while let Some(&Piece { from, to, packets }) = self.pieces.front() {
            let (from, to) = (from.saturating_add(self.rtt), to.saturating_add(self.rtt));
            if from >= next {
                break;
            }
            let share = (to.min(next) - from.max(now)).as_nanos_f64() / (to - from).as_nanos_f64();
            self.delivered += share * packets;
            if self.doing == Doing::Pausing {
                self.late += share * packets;
            }
            if to > next {
                break;
            }
            self.pieces.pop_front();
        }
    }

    /// Does what is due.
    fn turn(&mut self, now: Instant) {
        self.doing = match self.doing {
            Doing::Pausing if self.traffic.next <= now => match self.traffic.begin_on_period(now) {
                u32::MAX => Doing::Sending(f64::INFINITY),
                // What is lost is sent again.
                packets => Doing::Sending(f64::from(packets) / self.kept.max(1e-9)),
            },
            // Less than a packet's billionth is rounding.
            Doing::Sending(left) if left < 1e-9 => {
                Doing::Waiting(now.saturating_add(self.rtt.max(Duration::NANOSECOND)))
            }
            Doing::Sending(left) if left.is_finite() || self.traffic.next > now => Doing::Sending(left),
            Doing::Waiting(until) if until > now => self.doing,
            Doing::Sending(_) | Doing::Waiting(_) => {
                self.traffic.end_on_period(now);
                Doing::Pausing
            }
            Doing::Pausing => Doing::Pausing,
        };
    }
}

/// What a flow's packets use of each hop, and the share of them that arrives: what a hop loses no later one carries.
fn uses(network: &Network, flow: &FlowPlan) -> (Vec<Use>, f64) {
    let mut kept = 1.0;
    let mut uses: Vec<Use> = Vec::new();
    for &hop in &flow.route {
        let hop = usize::from(hop);
        match uses.iter_mut().find(|u| u.hop == hop) {
            Some(again) => again.share += kept,
            None => uses.push(Use { hop, share: kept }),
        }
        kept *= (1.0 - network.hops[hop].loss).clamp(0.0, 1.0);
    }
    (uses, kept)
}

#[cfg(test)]
mod tests;
