//! Watches a run event by event, and says afterwards whether everything that must hold did.

use std::cell::Cell;

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::scheme::Scheme;
use exmachina_hosts::transport::{Connections, Ends, Recovery, Settings};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::LinkPlan;
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::path::Path;
use exmachina_net::time::{Duration, Instant};
use exmachina_scenario::world::{EvaluationEngine, World};

use super::progress;

/// What was seen of one sender.
#[derive(Clone, Default)]
struct Seen {
    min_rtt: Duration,
    /// When the packet was sent that arrived last, and the longest RTT.
    last_sent: Instant,
    longest_rtt: Duration,
    sent: u64,
    arrived: u64,
    /// Packets that arrived, by number, and how many there are.
    numbers: Vec<bool>,
    distinct: u64,
    una: u32,
    next_seq: u32,
    periods: u32,
    on: bool,
    /// The present on-period: its beginning, and what had been sent and had arrived before.
    since: Instant,
    sent_before: u64,
    arrived_before: u64,
    /// When something new was last acknowledged, or the on-period began; and the longest that it took.
    progress: Instant,
    stall: Duration,
    /// When each packet was first sent, by number, and the longest that one was not in order.
    first_sent: Vec<Instant>,
    longest_wait: Duration,
}

/// Watches a run.
pub struct Checker<'w> {
    world: &'w World<'static>,
    senders: Vec<Seen>,
    now: Instant,
    ordered: bool,
    events: Cell<u64>,
    /// The run pauses after so many events.
    budget: u64,
}

type Sender = Ends<AnyScheme<'static>>;

impl<'w> Checker<'w> {
    /// Of this world, for at most so many events.
    pub fn new(world: &'w World<'static>, budget: u64) -> Checker<'w> {
        let seen = |rtt_ms| Seen { min_rtt: Duration::from_ms(rtt_ms), ..Seen::default() };
        Checker {
            world,
            senders: world.network.rtts_ms().map(seen).collect(),
            now: Instant::START,
            ordered: world.network.reordering.probability == 0.0,
            events: Cell::new(0),
            budget,
        }
    }

    fn tick(&mut self, now: Instant) {
        assert!(now >= self.now, "time ran back from {} to {now}", self.now);
        self.now = now;
    }

    /// What must hold of a sender at any moment.
    fn check(&mut self, i: usize, now: Instant, sender: &Sender) {
        let seen = &mut self.senders[i];
        assert!(sender.una() <= sender.next_seq(), "acknowledged what was not sent");
        assert!(sender.una() >= seen.una && sender.next_seq() >= seen.next_seq, "numbers ran back");
        // That of Tao'14's RemyCCs are transmissions, also of what has arrived.
        let packets = self.world.hosts[i].transport.recovery() != Recovery::RationalTao14;
        let in_flight = if packets { sender.in_flight() } else { 0 };
        assert!(in_flight <= sender.next_seq() - sender.una(), "more in flight than outstanding");
        if seen.una < seen.next_seq && sender.una() >= seen.una {
            seen.longest_wait = seen.longest_wait.max(now - seen.first_sent[seen.una as usize]);
        }
        if sender.una() > seen.una {
            seen.stall = seen.stall.max(now - seen.progress);
            seen.progress = now;
        }
        (seen.una, seen.next_seq) = (sender.una(), sender.next_seq());
        self.check_alive(i, sender);
    }

    /// A sender that has something to send, or to repair, has an alarm set, no further away than the longest timeout and its own
    /// pace, which is no slower than a packet an RTT where the transport sets it.
    fn check_alive(&self, i: usize, sender: &Sender) {
        let outstanding = sender.next_seq() > sender.una();
        let may_go = sender.is_on() && sender.scheme().window() > 0;
        let own = matches!(sender.scheme(), AnyScheme::Own(_));
        if own || sender.finished() || !(outstanding || may_go) {
            return;
        }
        let timeout = super::longest_timeout(&self.world.hosts[i].transport);
        let longest = timeout
            .saturating_add(Duration::SECOND)
            .saturating_add(sender.scheme().intersend())
            .saturating_add(sender.srtt());
        let (now, wait) = (self.now.as_s(), sender.ready().since(self.now));
        assert!(wait <= longest, "sender {i} waits {} s for nothing at {now} s: {sender:?}", wait.as_s());
    }

    /// What must hold at the end of a run, or of the part of it that the budget allowed. Gives the number of events.
    pub fn verdict(&self, engine: &EvaluationEngine<'static>) -> u64 {
        let sum = |f: fn(&Seen) -> u64| self.senders.iter().map(f).sum::<u64>();
        let (sent, arrived) = (sum(|s| s.sent), sum(|s| s.arrived));
        let (lost, in_flight) = (engine.path().lost(), engine.path().in_flight());
        assert_eq!(sent, arrived + lost + in_flight, "packets are not conserved: {arrived} + {lost} + {in_flight}");
        for (i, (seen, sender)) in self.senders.iter().zip(engine.senders()).enumerate() {
            let totals = sender.totals();
            assert_eq!(totals.sent, seen.sent);
            assert!(totals.retransmitted <= totals.sent && totals.delivered <= totals.sent);
            assert!(totals.in_order <= totals.delivered, "sender {i}: {totals:?}");
            let host = &self.world.hosts[i];
            if host.transport.connections == Connections::Persistent || seen.periods <= 1 {
                assert_eq!(totals.delivered, seen.distinct, "sender {i}: deliveries are not distinct packets");
            }
            self.check_alive(i, sender);
            self.check_progress(i, seen);
        }
        self.check_totals(engine, sent);
        // A run that was paused has got to what is planned next: nobody is told of timers that expire in pauses.
        let planned = engine.senders().iter().map(Endpoint::planned).filter(|&at| at < Instant::NEVER).min();
        let now = planned.map_or(engine.now(), |at| at.max(engine.now()));
        assert!(self.events.get() <= self.sane_events(sent, now), "{} events for {sent} packets", self.events.get());
        self.events.get()
    }

    /// Hops agree with senders.
    fn check_totals(&self, engine: &EvaluationEngine<'static>, sent: u64) {
        let hops = engine.path().hop_totals(self.now);
        let (dropped, lost) = hops.iter().fold((0, 0), |(d, l), hop| (d + hop.dropped, l + hop.lost));
        assert_eq!(dropped + lost, engine.path().lost());
        if hops.len() == 1 {
            assert_eq!(hops[0].arrived, sent);
        }
    }

    /// A sender with data sends, also where nothing comes back; and where nothing but its own doing is in its way, it gets
    /// on, and what it sends gets into order.
    fn check_progress(&self, i: usize, seen: &Seen) {
        let host = &self.world.hosts[i];
        let own = matches!(host.scheme, AnyScheme::Own(_));
        if !seen.on || own {
            return;
        }
        // A persistent connection may be in backed-off silence.
        let opened = host.transport.connections == Connections::Fresh || seen.periods == 1;
        let soon = host.scheme.intersend() < Duration::SECOND;
        if opened && soon && self.now > seen.since + Duration::from_secs(10) && seen.arrived == seen.arrived_before {
            // Timeouts after at most 3 and 9 s.
            assert!(seen.sent >= seen.sent_before + 3, "sender {i} does not try");
        }
        if let Some(longest) = progress::longest_stall(self.world, i, seen.longest_rtt.max(seen.min_rtt)) {
            let stall = seen.stall.max(self.now - seen.progress);
            assert!(stall <= longest, "stands still for {} s of at most {} s", stall.as_s(), longest.as_s());
            let wait = seen.longest_wait;
            let in_order = !progress::answers_and_repairs(self.world, i) || wait <= longest;
            assert!(in_order, "a packet is not in order after {} s of at most {} s", wait.as_s(), longest.as_s());
        }
    }

    /// Each packet makes some events at each hop and its ends; links of opportunities add theirs, timers and polls too.
    fn sane_events(&self, sent: u64, now: Instant) -> u64 {
        let opportunities = |link: &LinkPlan| match link {
            LinkPlan::Rate(_) => 0.0,
            LinkPlan::Trace(trace, _) => {
                let n = trace.opportunities_ms().len() as f64;
                n + now.as_s() * 1e3 * n / f64::from(trace.period_ms())
            }
            LinkPlan::Cellular(cellular) => now.as_s() * cellular.max_mbps * 1e6 / 12_000.0,
        };
        let links: f64 = self.world.network.hops.iter().map(|h| opportunities(&h.link)).sum();
        let ticks: f64 = self.world.hosts.iter().map(|s| now.as_s() * ticks_per_s(&s.transport)).sum();
        let periods: u64 = self.senders.iter().map(|s| u64::from(s.periods)).sum();
        1000 + (1.1 * links + ticks) as u64 + 8 * periods + (6 + 4 * self.world.network.hops.len() as u64) * sent
    }
}

/// How often something happens at a sender of which no packet is the cause: ns-2's agents restart their timer though nothing is
/// outstanding, of 200 ms at least, and polls go on.
fn ticks_per_s(transport: &Settings) -> f64 {
    let timer =
        if matches!(transport.recovery(), Recovery::TcpLinux | Recovery::NewReno | Recovery::Reno) { 5.0 } else { 0.0 };
    timer + if transport.poll > Duration::ZERO { 1.0 / transport.poll.as_s() } else { 0.0 }
}

impl Observer<Sender> for Checker<'_> {
    fn started(&mut self, now: Instant, i: usize, sender: &Sender) {
        self.tick(now);
        let seen = &mut self.senders[i];
        seen.periods += 1;
        seen.on = true;
        (seen.since, seen.progress) = (now, now);
        (seen.sent_before, seen.arrived_before) = (seen.sent, seen.arrived);
        // What was outstanding on a connection that is no more.
        (seen.una, seen.next_seq) = (sender.una(), sender.next_seq());
        self.check(i, now, sender);
    }

    fn stopped(&mut self, now: Instant, i: usize) {
        self.tick(now);
        self.senders[i].on = false;
    }

    fn sent(&mut self, now: Instant, i: usize, packet: &Packet, _: Option<Instant>, sender: &Sender) {
        self.tick(now);
        assert_eq!((packet.sent, usize::from(packet.sender)), (now, i));
        let seen = &mut self.senders[i];
        seen.sent += 1;
        if packet.seq as usize == seen.first_sent.len() {
            seen.first_sent.push(now);
        }
        self.check(i, now, sender);
    }

    fn acked(&mut self, now: Instant, i: usize, packet: &Packet, sender: &Sender) {
        self.tick(now);
        if let AnyScheme::Remy(remy) = sender.scheme() {
            let memory = remy.controller.memory().point();
            assert!(memory.iter().all(|x| x.is_finite()), "{memory:?}");
        }
        let seen = &mut self.senders[i];
        seen.arrived += 1;
        let rtt = now - packet.sent;
        assert!(rtt >= seen.min_rtt, "an RTT below the minimum");
        seen.longest_rtt = seen.longest_rtt.max(rtt);
        assert!(!self.ordered || packet.sent >= seen.last_sent, "a sender's packets were reordered");
        seen.last_sent = packet.sent;
        let number = packet.seq as usize;
        if number >= seen.numbers.len() {
            seen.numbers.resize(2 * number + 64, false);
        }
        // A SYN has a number, and no data.
        let data = packet.bytes == self.world.hosts[i].transport.packet_bytes;
        seen.distinct += u64::from(!std::mem::replace(&mut seen.numbers[number], true) && data);
        self.check(i, now, sender);
    }

    fn pause(&self) -> bool {
        self.events.set(self.events.get() + 1);
        self.events.get().is_multiple_of(self.budget)
    }
}
