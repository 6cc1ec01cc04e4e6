//! One run of an evaluation packet by packet: what every sender did and knew, and what happened at every hop.
//!
//! For sequence plots, time plots of windows and queues, and for looking at a run in a data frame.

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::scheme::Scheme;
use exmachina_hosts::transport::Ends;
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::path::HopEventKind;
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_scenario::world::World;

use crate::record::NONE;

/// What a sender did. The discriminants are those of the column `event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SenderEvent {
    /// An on-period began.
    Start = 0,
    /// A packet was sent.
    Send = 1,
    /// A packet was received and answered; an ACK that is delayed is noted with its packet.
    Ack = 2,
    /// An on-period ended.
    Stop = 3,
}

impl SenderEvent {
    /// The names of the events, by discriminant.
    pub const NAMES: [&'static str; 4] = ["start", "send", "ack", "stop"];
}

/// The names of the events at hops, by the discriminants of the column `event`.
pub const HOP_EVENTS: [&str; 3] = ["enter", "drop", "leave"];

/// The events of the senders, one row each, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SenderRows {
    /// When, s.
    pub time_s: Vec<f64>,
    /// Number of the sender.
    pub sender: Vec<u32>,
    /// A [`SenderEvent`].
    pub event: Vec<u8>,
    /// Number of the packet in the sender's stream, which no new connection starts anew; [`NONE`] for starts and stops.
    pub seq: Vec<u32>,
    /// The oldest packet that is not acknowledged, after the event.
    pub una: Vec<u32>,
    /// Window after the event, packets.
    pub window: Vec<u32>,
    /// Slow-start threshold after the event, packets; NaN where the scheme has none, infinite at first.
    pub ssthresh: Vec<f64>,
    /// Packets in flight after the event.
    pub in_flight: Vec<u32>,
    /// RTT that the packet met, ms; NaN for other events than ACKs.
    pub rtt_ms: Vec<f64>,
    /// Least time between two sends after the event, ms.
    pub intersend_ms: Vec<f64>,
    /// 1 for a packet that is sent again.
    pub retransmission: Vec<u8>,
}

/// The events at the hops, one row each, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HopRows {
    /// When, s.
    pub time_s: Vec<f64>,
    /// Number of the hop.
    pub hop: Vec<u32>,
    /// An index of [`HOP_EVENTS`].
    pub event: Vec<u8>,
    /// Whose packet.
    pub sender: Vec<u32>,
    /// Its number in the sender's stream.
    pub seq: Vec<u32>,
    /// Packets in the queue and on the link after it.
    pub backlog: Vec<u32>,
}

/// A run, packet by packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketLog {
    /// What the senders did.
    pub senders: SenderRows,
    /// What happened at the hops.
    pub hops: HopRows,
    /// Simulated time that it covers, s: less than was asked for where the row limit was met.
    pub covered_s: f64,
}

/// Runs a network for `duration` and records it, up to about `max_rows` rows of senders.
#[must_use]
pub fn record(world: &World<'_>, seed: Seed, duration: Duration, max_rows: usize) -> PacketLog {
    let mut engine = world.engine(seed);
    engine.path_mut().keep_journal();
    let mut recorder = Recorder { rows: SenderRows::default(), senders: Vec::new(), max_rows };
    recorder.senders.resize(world.hosts.len(), Known::default());
    let cut_short = engine.run(Instant::START + duration, &mut recorder);
    let senders = recorder.rows;
    let covered_s = senders.time_s.last().filter(|_| cut_short).copied().unwrap_or(duration.as_s());
    let mut hops = HopRows::default();
    for (hop, event) in engine.path_mut().take_journal() {
        // A plain queue notes departures when packets arrive.
        if event.time.as_s() > covered_s {
            break;
        }
        hops.time_s.push(event.time.as_s());
        hops.hop.push(hop as u32);
        hops.event.push(match event.kind {
            HopEventKind::Enter => 0,
            HopEventKind::Drop => 1,
            HopEventKind::Leave => 2,
        });
        hops.sender.push(u32::from(event.sender));
        hops.seq.push(event.seq);
        hops.backlog.push(event.backlog);
    }
    PacketLog { senders, hops, covered_s }
}

/// What is known of a sender between its events.
#[derive(Clone, Copy, Debug)]
struct Known {
    una: u32,
    window: u32,
    ssthresh: f64,
    in_flight: u32,
    intersend: Duration,
    /// One more than the largest packet sent so far.
    next: u32,
}

impl Default for Known {
    fn default() -> Self {
        Known { una: 0, window: 0, ssthresh: f64::NAN, in_flight: 0, intersend: Duration::ZERO, next: 0 }
    }
}

struct Recorder {
    rows: SenderRows,
    senders: Vec<Known>,
    max_rows: usize,
}

impl Recorder {
    fn look_at(&mut self, sender: usize, state: &Ends<AnyScheme<'_>>) {
        let known = &mut self.senders[sender];
        known.una = state.una();
        known.window = state.scheme().window();
        known.ssthresh = state.scheme().ssthresh();
        known.in_flight = state.in_flight();
        known.intersend = state.scheme().intersend();
    }

    fn row(&mut self, now: Instant, sender: usize, event: SenderEvent, seq: u32, rtt: Option<Duration>, again: bool) {
        let (known, rows) = (&self.senders[sender], &mut self.rows);
        rows.time_s.push(now.as_s());
        rows.sender.push(sender as u32);
        rows.event.push(event as u8);
        rows.seq.push(seq);
        rows.una.push(known.una);
        rows.window.push(known.window);
        rows.ssthresh.push(known.ssthresh);
        rows.in_flight.push(known.in_flight);
        rows.rtt_ms.push(rtt.map_or(f64::NAN, Duration::as_ms));
        rows.intersend_ms.push(known.intersend.as_ms());
        rows.retransmission.push(u8::from(again));
    }
}

impl<'t> Observer<Ends<AnyScheme<'t>>> for Recorder {
    fn started(&mut self, now: Instant, sender: usize, state: &Ends<AnyScheme<'t>>) {
        self.look_at(sender, state);
        self.row(now, sender, SenderEvent::Start, NONE, None, false);
    }

    fn stopped(&mut self, now: Instant, sender: usize) {
        self.row(now, sender, SenderEvent::Stop, NONE, None, false);
    }

    fn acked(&mut self, now: Instant, sender: usize, packet: &Packet, state: &Ends<AnyScheme<'t>>) {
        self.look_at(sender, state);
        self.row(now, sender, SenderEvent::Ack, packet.seq, Some(now - packet.sent), false);
    }

    fn sent(&mut self, now: Instant, sender: usize, packet: &Packet, _: Option<Instant>, state: &Ends<AnyScheme<'t>>) {
        self.look_at(sender, state);
        let known = &mut self.senders[sender];
        let again = packet.seq < known.next;
        known.next = known.next.max(packet.seq + 1);
        self.row(now, sender, SenderEvent::Send, packet.seq, None, again);
    }

    fn pause(&self) -> bool {
        self.rows.time_s.len() >= self.max_rows
    }
}

#[cfg(test)]
mod tests {
    use exmachina_hosts::library::Library;
    use exmachina_net::endpoint::Endpoint;
    use exmachina_net::observe::Unwatched;
    use exmachina_net::time::{Duration, Instant};
    use exmachina_scenario::Evaluation;

    use super::*;

    const LOSSY: &str = "\
schemes = ['cubic']
[link]
rate_mbps = 10
buffer = { packets = 20 }
loss = 0.001
[path]
rtt_ms = 50
[senders]
count = 2
[workload]
on = { seconds = 5 }
off = { seconds = 1 }
";

    fn trace(text: &str, max_rows: usize) -> PacketLog {
        let evaluation = Evaluation::parse(text, "x.toml").unwrap();
        let library = Library::default();
        let drawn = evaluation.world(0, 0, &library).unwrap();
        record(&drawn.world, evaluation.run_seed(0), Duration::from_s(20.0), max_rows)
    }

    fn count(events: &[u8], event: u8) -> u64 {
        events.iter().filter(|&&e| e == event).count() as u64
    }

    #[test]
    fn agrees_with_the_run_over_any_queue() {
        for queue in ["droptail", "codel"] {
            let text = LOSSY.replace("loss", &format!("queue = '{queue}'\nloss"));
            let trace = trace(&text, usize::MAX);
            let evaluation = Evaluation::parse(&text, "x.toml").unwrap();
            let library = Library::default();
            let mut engine = evaluation.world(0, 0, &library).unwrap().world.engine(evaluation.run_seed(0));
            engine.run(Instant::from_s(20.0), &mut Unwatched);
            let hop = engine.path().hop_totals(engine.now())[0];
            let sent: u64 = engine.senders().iter().map(|s| s.totals().sent).sum();
            let again: u64 = engine.senders().iter().map(|s| s.totals().retransmitted).sum();
            assert_eq!(count(&trace.senders.event, SenderEvent::Send as u8), sent);
            assert_eq!(count(&trace.senders.retransmission, 1), again);
            assert_eq!((count(&trace.hops.event, 0), count(&trace.hops.event, 1)), (hop.arrived, hop.dropped));
            assert_eq!(hop.arrived - hop.dropped - count(&trace.hops.event, 2), hop.backlog);
            assert!(again > 0 && hop.dropped > 0);
            assert!(trace.hops.time_s.is_sorted() && trace.senders.time_s.is_sorted());
        }
    }

    #[test]
    fn a_packet_that_leaves_leaves_behind_what_came_and_did_not_go() {
        let hops = trace(LOSSY, usize::MAX).hops;
        let (mut inside, mut most) = (0, 0);
        for (&event, &backlog) in hops.event.iter().zip(&hops.backlog) {
            inside = if event == 0 { inside + 1 } else { inside - 1 };
            if event == 2 {
                assert_eq!(backlog, inside);
            }
            most = most.max(backlog);
        }
        // 20 that wait and one on the link.
        assert_eq!(most, 21);
    }

    #[test]
    fn a_row_has_the_rtt_of_its_packet() {
        let trace = trace(LOSSY, usize::MAX);
        let rows = trace.senders;
        let acks = (0..rows.event.len()).filter(|&i| rows.event[i] == SenderEvent::Ack as u8);
        for i in acks {
            let sent = rows.time_s[i] - rows.rtt_ms[i] * 1e-3;
            let found = (0..i).any(|k| {
                rows.sender[k] == rows.sender[i] && rows.seq[k] == rows.seq[i] && (rows.time_s[k] - sent).abs() < 1e-9
            });
            assert!(found, "row {i}");
            if i > 400 {
                break;
            }
        }
        assert_eq!(trace.covered_s, 20.0);
    }

    #[test]
    fn stops_at_the_row_limit() {
        let trace = trace(LOSSY, 1000);
        assert!((1000..1010).contains(&trace.senders.time_s.len()) && trace.covered_s < 20.0);
        assert!(trace.hops.time_s.iter().all(|&t| t <= trace.covered_s));
    }
}
