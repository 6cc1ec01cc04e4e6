//! One sender over one FIFO bottleneck, to test in closed loop what a scheme does with consistent ACKs.
//!
//! It stands in for the transport: paces, keeps the window, finds losses after three later ACKs, samples the delivery
//! rate (draft-ietf-ccwg-bbr-04 §4.1). Lost packets are not sent again: the stream is counted, not read.

use std::collections::VecDeque;

use exmachina_net::random::{Purpose, Stream};
use exmachina_net::time::{Duration, Instant};

use super::{Ack, Congestion, RateSample, Scheme};

/// The path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Bottleneck rate, packets/s.
    pub rate: f64,
    /// RTT without a queue.
    pub rtt: Duration,
    /// Packets that the bottleneck holds, the one being transmitted included.
    pub buffer: usize,
    /// Packets that arrive behind more than this many are marked.
    pub mark_above: usize,
    /// Share of packets lost at random before the bottleneck.
    pub loss: f64,
}

impl Path {
    /// A path with an endless buffer, without marks or losses.
    pub fn clean(rate: f64, rtt: Duration) -> Path {
        Path { rate, rtt, buffer: usize::MAX, mark_above: usize::MAX, loss: 0.0 }
    }

    /// Bandwidth-delay product, packets.
    pub fn bdp(&self) -> f64 {
        self.rate * self.rtt.as_nanos_f64() / 1e9
    }
}

/// What the sender remembers of a packet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u32,
    sent: Instant,
    delivered: u64,
    delivered_time: Instant,
    first_sent: Instant,
    tx_in_flight: u32,
    lost: u64,
}

/// An ACK on its way.
#[derive(Clone, Copy, Debug)]
struct Echo {
    arrives: Instant,
    seq: u32,
    marked: bool,
}

/// What a run measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets lost.
    pub lost: u64,
    /// Sum of the times that packets waited for the link, s.
    wait_s: f64,
    /// When it began.
    began: Instant,
}

/// The closed loop.
pub struct Loopback<S> {
    /// The scheme under test.
    pub scheme: S,
    /// The path; may be changed during a run.
    pub path: Path,
    /// The present instant.
    pub now: Instant,
    /// Since the start or the last `reset_meter`.
    pub meter: Meter,
    unacked: VecDeque<Sent>,
    echoes: VecDeque<Echo>,
    departures: VecDeque<Instant>,
    free: Instant,
    next_send: Instant,
    next_seq: u32,
    delivered: u64,
    delivered_time: Instant,
    first_sent: Instant,
    lost: u64,
    /// In recovery: losses of packets before the first number belong to it; it ends with the ACK of the second.
    recovery: Option<(u32, u32)>,
    reduced_until: u32,
    min_rtt: Duration,
    srtt: f64,
    last_ack: Instant,
    luck: Stream,
}

impl<S: Scheme> Loopback<S> {
    pub fn new(mut scheme: S, path: Path) -> Self {
        scheme.start(Instant::START);
        Loopback {
            scheme,
            path,
            now: Instant::START,
            meter: Meter::default(),
            unacked: VecDeque::new(),
            echoes: VecDeque::new(),
            departures: VecDeque::new(),
            free: Instant::START,
            next_send: Instant::START,
            next_seq: 0,
            delivered: 0,
            delivered_time: Instant::START,
            first_sent: Instant::START,
            lost: 0,
            recovery: None,
            reduced_until: 0,
            min_rtt: Duration::MAX,
            srtt: 0.0,
            last_ack: Instant::START,
            luck: Stream::new(1, 0, 0, Purpose::Loss),
        }
    }

    /// Measures from now on.
    pub fn reset_meter(&mut self) {
        self.meter = Meter { began: self.now, ..Meter::default() };
    }

    /// Share of the link's capacity that was used.
    pub fn utilization(&self) -> f64 {
        self.meter.delivered as f64 / (self.path.rate * (self.now - self.meter.began).as_nanos_f64() / 1e9)
    }

    /// Mean number of packets that waited (Little's law).
    pub fn mean_queue(&self) -> f64 {
        self.meter.wait_s / ((self.now - self.meter.began).as_nanos_f64() / 1e9)
    }

    /// Packets in the bottleneck now.
    pub fn queue(&mut self) -> usize {
        while self.departures.front().is_some_and(|&t| t <= self.now) {
            self.departures.pop_front();
        }
        self.departures.len()
    }

    /// Packets in flight.
    pub fn in_flight(&self) -> u32 {
        self.unacked.len() as u32
    }

    /// Runs to `until`.
    pub fn run(&mut self, until: Instant) {
        self.watch(until, |_| {});
    }

    /// Runs to `until`; `seen` is called after each ACK.
    pub fn watch(&mut self, until: Instant, mut seen: impl FnMut(&mut Self)) {
        loop {
            let send =
                if self.in_flight() < self.scheme.window() { self.next_send.max(self.now) } else { Instant::NEVER };
            let ack = self.echoes.front().map_or(Instant::NEVER, |e| e.arrives);
            let timeout = if self.unacked.is_empty() {
                Instant::NEVER
            } else {
                self.last_ack.max(self.now.min(send)) + Duration::SECOND
            };
            let next = send.min(ack).min(timeout);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            if ack == next {
                self.receive();
                seen(self);
            } else if send == next {
                self.send();
            } else {
                self.time_out();
            }
        }
    }

    fn send(&mut self) {
        if self.unacked.is_empty() {
            self.first_sent = self.now;
            self.delivered_time = self.now;
            self.last_ack = self.now;
        }
        let packet = Sent {
            seq: self.next_seq,
            sent: self.now,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            tx_in_flight: self.in_flight() + 1,
            lost: self.lost,
        };
        self.unacked.push_back(packet);
        self.next_seq += 1;
        self.next_send = self.now + self.scheme.intersend();
        let behind = self.queue();
        if behind >= self.path.buffer || self.luck.uniform() < self.path.loss {
            return;
        }
        let service = Duration::from_nanos_f64(1e9 / self.path.rate);
        let begins = self.free.max(self.now);
        self.meter.wait_s += (begins - self.now).as_nanos_f64() / 1e9;
        self.free = begins + service;
        self.departures.push_back(self.free);
        let arrives = self.free + self.path.rtt;
        self.echoes.push_back(Echo { arrives, seq: packet.seq, marked: behind > self.path.mark_above });
    }

    /// Packets that three later ones have overtaken are lost.
    fn find_losses(&mut self, acked: u32) -> u32 {
        let before = self.unacked.len();
        let mut oldest = None;
        self.unacked.retain(|p| {
            let lost = p.seq + 3 <= acked;
            if lost && oldest.is_none() {
                oldest = Some(p.seq);
            }
            !lost
        });
        let lost = (before - self.unacked.len()) as u32;
        self.lost += u64::from(lost);
        self.meter.lost += u64::from(lost);
        match (oldest, self.recovery) {
            (Some(seq), None) => {
                self.recovery = Some((self.next_seq, self.next_seq));
                let event = self.event(seq, lost);
                self.scheme.on_loss(&event);
            }
            // What is lost in recovery is repaired a round later.
            (Some(seq), Some((first, _))) if seq < first => self.recovery = Some((first, self.next_seq)),
            _ => {}
        }
        lost
    }

    fn event(&self, seq: u32, lost: u32) -> Congestion {
        let in_flight = self.in_flight();
        let (now, next_seq) = (self.now, self.next_seq);
        Congestion { now, in_flight, outstanding: in_flight + lost, next_seq, seq, lost, idle: false }
    }

    fn sample(&mut self, packet: &Sent) -> RateSample {
        self.delivered += 1;
        self.delivered_time = self.now;
        self.first_sent = packet.sent;
        RateSample {
            delivered: (self.delivered - packet.delivered) as u32,
            interval: (packet.sent - packet.first_sent).max(self.now - packet.delivered_time),
            prior_delivered: packet.delivered,
            app_limited: false,
            tx_in_flight: packet.tx_in_flight,
            lost: (self.lost - packet.lost) as u32,
        }
    }

    fn receive(&mut self) {
        let Some(echo) = self.echoes.pop_front() else { return };
        let Some(at) = self.unacked.iter().position(|p| p.seq == echo.seq) else { return };
        let window_limited = self.in_flight() >= self.scheme.window();
        let Some(packet) = self.unacked.remove(at) else { return };
        self.last_ack = self.now;
        self.meter.delivered += 1;
        let rtt = self.now - packet.sent;
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt == 0.0 { rtt.as_nanos_f64() } else { 0.875 * self.srtt + 0.125 * rtt.as_nanos_f64() };
        let lost = self.find_losses(echo.seq);
        if self.recovery.is_some_and(|(_, end)| echo.seq >= end) && lost == 0 {
            self.recovery = None;
            self.scheme.on_recovered(self.now, None);
        }
        if echo.marked && echo.seq >= self.reduced_until {
            self.reduced_until = self.next_seq;
            let event = self.event(echo.seq, 0);
            self.scheme.on_ecn(&event);
        }
        let rate = self.sample(&packet);
        self.scheme.on_ack(&Ack {
            sent: packet.sent,
            received: self.now,
            tick: Duration::ZERO,
            seq: echo.seq,
            next_seq: self.next_seq,
            advance: 1,
            acked: 1,
            newly_delivered: 1,
            stretch: 0,
            delivered: self.delivered,
            in_flight: self.in_flight(),
            rtt,
            min_rtt: self.min_rtt,
            srtt: Duration::from_nanos_f64(self.srtt),
            in_recovery: self.recovery.is_some(),
            in_loss: false,
            window_limited,
            marked: u32::from(echo.marked),
            lost,
            rate,
            xcp_feedback: 0.0,
        });
    }

    /// A second without an ACK: all that is in flight is lost.
    fn time_out(&mut self) {
        let lost = self.in_flight();
        let seq = self.unacked.front().map_or(0, |p| p.seq);
        let event = Congestion { in_flight: 0, ..self.event(seq, 0) };
        self.unacked.clear();
        self.lost += u64::from(lost);
        self.meter.lost += u64::from(lost);
        self.recovery = Some((self.next_seq, self.next_seq));
        self.last_ack = self.now;
        self.scheme.on_rto(&event);
    }
}
