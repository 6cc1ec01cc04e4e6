//! For the tests of schemes: one sender on an ideal path, with losses where a test wants them.
//!
//! Packets wait in an endless queue for a link that takes `service` for each, then take `rtt` to come back as ACKs, one
//! ACK per packet. A lost packet is repaired within the RTT that follows, and the ACKs of that RTT say so.

use std::collections::VecDeque;

use exmachina_net::time::{Duration, Instant};

use super::{Ack, Congestion, Scheme};

/// A sender's path and what is on it.
pub(crate) struct Driver {
    /// The present instant.
    pub now: Instant,
    /// Number of the next packet.
    pub next_seq: u32,
    rtt: Duration,
    service: Duration,
    link_free: Instant,
    last_sent: Option<Instant>,
    delivered: u64,
    min_rtt: Duration,
    recover: Option<u32>,
    /// Sending time and return of the ACK of each packet in flight.
    flight: VecDeque<(Instant, Instant)>,
}

impl Driver {
    /// A path of this RTT and time per packet on its link.
    pub fn new(rtt: Duration, service: Duration) -> Driver {
        Driver {
            now: Instant::START,
            next_seq: 0,
            rtt,
            service,
            link_free: Instant::START,
            last_sent: None,
            delivered: 0,
            min_rtt: Duration::MAX,
            recover: None,
            flight: VecDeque::new(),
        }
    }

    /// Packets that await their ACKs.
    pub fn in_flight(&self) -> u32 {
        self.flight.len() as u32
    }

    fn send(&mut self, scheme: &impl Scheme) {
        while self.in_flight() < scheme.window() {
            let sent = self.last_sent.map_or(self.now, |last| self.now.max(last + scheme.intersend()));
            self.link_free = self.link_free.max(sent) + self.service;
            self.flight.push_back((sent, self.link_free + self.rtt));
            self.last_sent = Some(sent);
            self.next_seq += 1;
        }
    }

    /// Sends what may go, then hands over the next ACK, which it returns.
    pub fn ack(&mut self, scheme: &mut impl Scheme) -> Ack {
        self.send(scheme);
        let seq = self.next_seq - self.in_flight();
        let (sent, back) = self.flight.pop_front().expect("a window of one packet at least");
        self.now = back;
        self.delivered += 1;
        self.min_rtt = self.min_rtt.min(back - sent);
        let ack = Ack {
            sent,
            received: back,
            seq,
            next_seq: self.next_seq,
            advance: 1,
            acked: 1,
            newly_delivered: 1,
            delivered: self.delivered,
            in_flight: self.in_flight(),
            rtt: back - sent,
            min_rtt: self.min_rtt,
            srtt: back - sent,
            in_recovery: self.recover.is_some_and(|recover| seq < recover),
            window_limited: true,
            ..Ack::default()
        };
        if self.recover.is_some() && !ack.in_recovery {
            self.recover = None;
            scheme.on_recovered(self.now, None);
        }
        scheme.on_ack(&ack);
        ack
    }

    /// ACKs until this instant.
    pub fn run(&mut self, scheme: &mut impl Scheme, until: Instant) {
        while self.now < until {
            self.ack(scheme);
        }
    }

    /// The ACKs of the packets in flight now: one RTT.
    pub fn round(&mut self, scheme: &mut impl Scheme) {
        self.send(scheme);
        let end = self.next_seq;
        while self.ack(scheme).seq + 1 < end {}
    }

    /// The state of congestion, as a scheme would be told it now.
    pub fn congestion(&self) -> Congestion {
        Congestion {
            now: self.now,
            in_flight: self.in_flight().saturating_sub(1),
            outstanding: self.in_flight(),
            next_seq: self.next_seq,
            seq: self.next_seq - self.in_flight(),
            lost: 1,
            idle: false,
        }
    }

    /// A packet of a full window is lost.
    pub fn lose(&mut self, scheme: &mut impl Scheme) {
        self.send(scheme);
        scheme.on_loss(&self.congestion());
        self.recover = Some(self.next_seq);
    }
}
