//! One run as columns: every send, drop and ACK with what the sender knew and did at that moment.
//!
//! For time plots and sequence plots, and for looking at a run in a data frame. The engine's other users pay nothing.

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::scheme::Scheme;
use exmachina_net::network::{HopPlan, Network};
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::path::Link;
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Point, SIGNALS};

use crate::design_simulator::{dumbbell, routed};
use crate::sender::Sender;

/// Stands in the columns `seq` and `rule` where an event has none.
pub const NONE: u32 = u32::MAX;

/// What happened. The discriminants are those of the column `event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// A flow started.
    Start = 0,
    /// A packet entered the queue.
    Send = 1,
    /// A packet was sent and found the queue full.
    Drop = 2,
    /// An ACK arrived.
    Ack = 3,
    /// The sender's on-period ended.
    Stop = 4,
}

impl Event {
    /// The names of the events, by discriminant.
    pub const NAMES: [&'static str; 5] = ["start", "send", "drop", "ack", "stop"];
}

/// A run, one row for each event, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// When, s.
    pub time_s: Vec<f64>,
    /// Number of the sender.
    pub sender: Vec<u32>,
    /// An [`Event`].
    pub event: Vec<u8>,
    /// Window of the sender after the event, packets.
    pub window: Vec<u32>,
    /// Least time between two sends after the event, ms.
    pub intersend_ms: Vec<f64>,
    /// RTT that an ACK showed, ms; NaN for other events.
    pub rtt_ms: Vec<f64>,
    /// Packets in the queue and on the link after the event; of the first link of the sender's route, where there are
    /// several.
    pub queue: Vec<u32>,
    /// Number of the packet in the sender's stream; [`NONE`] for starts, stops and ACKs of an earlier flow.
    pub seq: Vec<u32>,
    /// Rule that was used, at starts and at ACKs of the present flow; [`NONE`] otherwise.
    pub rule: Vec<u32>,
    /// The signals that the rule was looked up by; NaN where there is no rule.
    pub signals: [Vec<f64>; SIGNALS],
    /// Simulated time that the record covers, s: less than was asked for where the row limit was met.
    pub covered_s: f64,
}

/// Runs a network for `duration` and records it, up to about `max_rows` rows.
#[must_use]
pub fn record<'t>(
    network: &Network,
    seed: Seed,
    scheme: impl Fn(usize) -> AnyScheme<'t>,
    duration: Duration,
    max_rows: usize,
) -> Record {
    let queues = network.hops.iter().map(Queue::new).collect();
    let first = network.flows.iter().map(|flow| usize::from(flow.route[0])).collect();
    let senders = vec![Known::default(); network.senders()];
    let mut recorder = Recorder { record: Record::default(), senders, queues, first, max_rows };
    let cut_short = if network.is_dumbbell() {
        dumbbell(network, seed, scheme).run(Instant::START + duration, &mut recorder)
    } else {
        routed(network, seed, scheme).run(Instant::START + duration, &mut recorder)
    };
    let mut record = recorder.record;
    record.covered_s = record.time_s.last().filter(|_| cut_short).copied().unwrap_or(duration.as_s());
    record
}

/// What is known of a sender between its ACKs.
#[derive(Clone, Copy, Debug)]
struct Known {
    window: u32,
    intersend: Duration,
    /// Start of the present flow.
    since: Instant,
}

impl Default for Known {
    fn default() -> Self {
        Known { window: 0, intersend: Duration::ZERO, since: Instant::NEVER }
    }
}

struct Recorder {
    record: Record,
    senders: Vec<Known>,
    queues: Vec<Queue>,
    /// The queue that each sender's packets come to first.
    first: Vec<usize>,
    max_rows: usize,
}

/// What is known of a queue between the packets that enter it.
struct Queue {
    service: Duration,
    /// When all that it took in will have left, as far as senders that come to it first have seen.
    free: Instant,
}

impl Queue {
    fn new(hop: &HopPlan) -> Queue {
        Queue { service: Link::new(hop.link.mean_mbps(), hop.limit).service(), free: Instant::START }
    }
}

impl Recorder {
    fn row(
        &mut self,
        now: Instant,
        sender: usize,
        event: Event,
        seq: u32,
        rtt: Option<Duration>,
        used: Option<(u32, Point)>,
    ) {
        let Queue { service, free } = self.queues[self.first[sender]];
        let queue = free.since(now).div_ceil(service);
        let (known, r) = (&self.senders[sender], &mut self.record);
        r.time_s.push(now.as_s());
        r.sender.push(sender as u32);
        r.event.push(event as u8);
        r.window.push(known.window);
        r.intersend_ms.push(known.intersend.as_ms());
        r.rtt_ms.push(rtt.map_or(f64::NAN, Duration::as_ms));
        r.queue.push(u32::try_from(queue).unwrap_or(u32::MAX));
        r.seq.push(seq);
        let (rule, signals) = used.unwrap_or((NONE, [f64::NAN; SIGNALS]));
        r.rule.push(rule);
        r.signals.iter_mut().zip(signals).for_each(|(column, signal)| column.push(signal));
    }

    fn look_at(&mut self, sender: usize, state: &Sender<AnyScheme<'_>>) -> Option<(u32, Point)> {
        self.senders[sender].window = state.scheme.window();
        self.senders[sender].intersend = state.scheme.intersend();
        match &state.scheme {
            AnyScheme::Remy(s) => Some((s.controller.rule() as u32, s.controller.memory().point())),
            _ => None,
        }
    }
}

impl<'t> Observer<Sender<AnyScheme<'t>>> for Recorder {
    fn started(&mut self, now: Instant, sender: usize, state: &Sender<AnyScheme<'t>>) {
        self.senders[sender].since = now;
        let used = self.look_at(sender, state);
        self.row(now, sender, Event::Start, NONE, None, used);
    }

    fn stopped(&mut self, now: Instant, sender: usize) {
        self.senders[sender].since = Instant::NEVER;
        self.row(now, sender, Event::Stop, NONE, None, None);
    }

    fn acked(&mut self, now: Instant, sender: usize, packet: &Packet, state: &Sender<AnyScheme<'t>>) {
        let rtt = now - packet.sent;
        // The sender does not know the number of an earlier flow's packets any more; its rule acts once more.
        if now - rtt < self.senders[sender].since {
            self.look_at(sender, state);
            self.row(now, sender, Event::Ack, NONE, Some(rtt), None);
            return;
        }
        let used = self.look_at(sender, state);
        self.row(now, sender, Event::Ack, state.sent() - state.outstanding() - 1, Some(rtt), used);
    }

    fn sent(
        &mut self,
        now: Instant,
        sender: usize,
        packet: &Packet,
        departs: Option<Instant>,
        _: &Sender<AnyScheme<'t>>,
    ) {
        let queue = &mut self.queues[self.first[sender]];
        queue.free = departs.unwrap_or(queue.free);
        let event = if departs.is_some() { Event::Send } else { Event::Drop };
        self.row(now, sender, event, packet.seq, None, None);
    }

    fn pause(&self) -> bool {
        self.record.time_s.len() >= self.max_rows
    }
}

#[cfg(test)]
mod tests {
    use exmachina_hosts::scheme::{Aimd, Remy};
    use exmachina_net::network::{On, Workload};
    use exmachina_net::observe::Unwatched;
    use exmachina_net::queue::Limit;
    use exmachina_net::time::{Duration, Instant};
    use exmachina_rules::{Action, FlatTable, RuleTable, Signal};

    use super::*;

    const SEED: Seed = Seed { root: 7, specimen: 0 };

    fn rows(r: &Record, event: Event) -> impl Iterator<Item = usize> {
        (0..r.event.len()).filter(move |&i| r.event[i] == event as u8)
    }

    /// 15 Mbit/s, 150 ms, 5 s on and 5 s off.
    fn clean(senders: usize) -> Network {
        Network::dumbbell(15.0, 150.0, senders, Workload::new(On::Seconds(5.0), 5.0))
    }

    #[test]
    fn agrees_with_the_run() {
        let hops = vec![HopPlan { limit: Limit::Packets(20), ..HopPlan::constant(15.0) }];
        let network = Network { hops, ..clean(2) };
        let r = record(&network, SEED, |_| AnyScheme::Aimd(Aimd::default()), Duration::from_s(20.0), usize::MAX);
        let mut engine = dumbbell(&network, SEED, |_| AnyScheme::Aimd(Aimd::default()));
        engine.run(Instant::from_s(20.0), &mut Unwatched);
        let outcome = engine.outcome();
        assert!(outcome.lost > 0);
        assert_eq!(rows(&r, Event::Drop).count() as u64, outcome.lost);
        for (sender, flow) in outcome.flows.iter().enumerate() {
            let acks = || rows(&r, Event::Ack).filter(|&i| r.sender[i] as usize == sender);
            assert_eq!(acks().count() as u64, flow.delivered);
            let delay_ms: f64 = acks().map(|i| r.rtt_ms[i]).sum();
            assert!((delay_ms - flow.delay.as_nanos_f64() * 1e-6).abs() < 1e-3);
        }
        // 20 wait and one is being transmitted.
        assert_eq!(r.queue.iter().max(), Some(&21));
        assert_eq!(r.covered_s, 20.0);
    }

    #[test]
    fn an_ack_has_the_number_of_its_packet() {
        let table = RuleTable::single(&Signal::ALL[..4], Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 });
        let table = FlatTable::new(&table).unwrap();
        let network = Network::dumbbell(15.0, 150.0, 1, Workload::new(On::Seconds(1.0), 0.2));
        let r = record(&network, SEED, |_| AnyScheme::Remy(Remy::new(&table)), Duration::from_s(10.0), usize::MAX);
        let sent: Vec<f64> = rows(&r, Event::Send).map(|i| r.time_s[i]).collect();
        let numbered: Vec<usize> = rows(&r, Event::Ack).filter(|&i| r.seq[i] != NONE).collect();
        assert!(numbered.len() > 100 && numbered.len() < rows(&r, Event::Ack).count());
        for i in numbered {
            assert!((r.time_s[i] - r.rtt_ms[i] * 1e-3 - sent[r.seq[i] as usize]).abs() < 1e-9);
            assert_eq!((r.rule[i], r.intersend_ms[i]), (0, 3.0));
        }
    }

    #[test]
    fn stops_at_the_row_limit() {
        let r = record(&clean(2), SEED, |_| AnyScheme::Aimd(Aimd::default()), Duration::from_s(100.0), 1000);
        assert!((1000..1010).contains(&r.time_s.len()) && r.covered_s < 100.0);
        assert_eq!(r.covered_s, *r.time_s.last().unwrap());
    }
}
