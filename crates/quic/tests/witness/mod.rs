//! A controller that writes down what a connection tells it and what it answers, and the simulator's controller that is told the same.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use exmachina_quic::{TableConfig, TableController};
use exmachina_rules::{Controller as Reference, FlatTable, RuleTable};
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use noq_proto::{RttEstimator, TransportConfig};

/// An ACK frame, and what the controller said after it and its losses.
#[derive(Debug)]
pub struct Frame {
    /// When the flow began, if it had.
    began: Option<Instant>,
    /// When its packets were sent, and when it arrived.
    sent: Vec<Instant>,
    received: Instant,
    /// Packets lost since the ACK frame before it.
    lost: u32,
    app_limited: bool,
    /// Bytes, and bytes per second.
    window: u64,
    rate: u64,
}

pub type Seen = Arc<Mutex<Vec<Frame>>>;

/// Connections under a table, and what their controllers see.
pub fn transport(table: &RuleTable) -> (TransportConfig, Seen) {
    let seen = Seen::default();
    let factory = Watched { table: Arc::new(TableConfig::new(table).unwrap()), seen: Arc::clone(&seen) };
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    (transport, seen)
}

/// Tells the simulator's controller the same, losses first, of packets sent since the flow began.
pub fn compare(table: &RuleTable, seen: &[Frame]) {
    let table = FlatTable::new(table).unwrap();
    let mut reference = Reference::start(&table);
    let mut began = None;
    for (number, frame) in seen.iter().enumerate() {
        if frame.began != began {
            (reference, began) = (Reference::start(&table), frame.began);
        }
        let sent = frame.sent.iter().filter(|&&sent| began.is_some_and(|began| sent >= began));
        let packets = sent.clone().count() as u32;
        let (Some(&latest), Some(began)) = (sent.max(), began) else {
            assert_eq!(frame.window, 1200 * u64::from(reference.window()), "ACK {number}");
            continue;
        };
        let ns = |at: Instant| (at - began).as_nanos() as u64;
        let before = reference.clone();
        if frame.lost > 0 {
            reference.on_loss(frame.lost);
        }
        let advance = packets + frame.lost;
        reference.on_stretched_ack(&table, ns(latest), ns(frame.received), 1, advance, packets);
        if frame.app_limited {
            reference.keep_window(&before);
        }
        let rate = 1_200_000_000_000 / reference.intersend_ns().max(1);
        assert_eq!((frame.window, frame.rate), (1200 * u64::from(reference.window().max(1)), rate), "ACK {number}");
    }
    assert!(seen.len() > 500 && began != seen[0].began, "{} ACKs, the flow began at {began:?}", seen.len());
}

struct Watched {
    table: Arc<TableConfig>,
    seen: Seen,
}

impl ControllerFactory for Watched {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.table).build(now, current_mtu);
        Box::new(Witness { inner, seen: Arc::clone(&self.seen), news: Vec::new(), lost: 0, waiting: 0 })
    }
}

#[derive(Debug)]
struct Witness {
    inner: Box<dyn Controller>,
    seen: Seen,
    /// When the packets of a frame were sent.
    news: Vec<Instant>,
    /// Packets that are being declared lost.
    lost: u32,
    /// Those that a timer found.
    waiting: u32,
}

impl Witness {
    fn began(&self) -> Option<Instant> {
        self.inner.clone_box().into_any().downcast::<TableController>().expect("a table's").flow().began()
    }
}

impl Controller for Witness {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, app_limited: bool, rtt: &RttEstimator) {
        self.news.push(sent);
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest_pn: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest_pn);
        let sent = std::mem::take(&mut self.news);
        if sent.is_empty() {
            return;
        }
        let (began, lost, window) = (self.began(), std::mem::take(&mut self.waiting), self.inner.window());
        let rate = self.inner.metrics().pacing_rate.unwrap();
        self.seen.lock().unwrap().push(Frame { began, sent, received: now, lost, app_limited, window, rate });
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.lost += 1;
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, long: bool, ecn: bool, bytes: u64, largest_pn: u64) {
        assert!(!long, "persistent congestion");
        self.inner.on_congestion_event(now, sent, long, ecn, bytes, largest_pn);
        let lost = std::mem::take(&mut self.lost);
        match self.seen.lock().unwrap().last_mut().filter(|frame| frame.received == now) {
            Some(frame) => {
                frame.lost += lost;
                (frame.window, frame.rate) = (self.inner.window(), self.inner.metrics().pacing_rate.unwrap());
            }
            None => self.waiting += lost,
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let (inner, seen) = (self.inner.clone_box(), Arc::clone(&self.seen));
        Box::new(Witness { inner, seen, news: self.news.clone(), lost: self.lost, waiting: self.waiting })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
