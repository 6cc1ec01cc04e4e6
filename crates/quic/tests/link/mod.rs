//! Two endpoints and a link between them, in simulated time: no sockets, no clock. `Instant::now` is where time begins, nothing else.
//!
//! The file is used with both stacks: what they call differently is in `crate::stack`.

mod beginning;
pub mod made;
mod side;
mod windows;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::stack::controller;
use crate::stack::{ClientConfig, ServerConfig, TransportConfig};
use rustls::pki_types::PrivatePkcs8KeyDer;
use side::Side;

pub use side::MTU;

/// From the sender to the receiver a queue before a rate, and back a delay.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate_mbps: f64,
    /// Without queue: there and back.
    pub rtt: Duration,
    /// Datagrams that may wait.
    pub queue: usize,
    /// Of so many datagrams to the receiver, once it is connected, one is lost.
    pub loses_one_in: Option<u64>,
}

pub const RTT: Duration = Duration::from_millis(100);
/// A link that is never the limit.
pub const FAST: Link = Link { rate_mbps: 1000.0, rtt: RTT, queue: 1000, loses_one_in: None };

/// What came of a transfer.
#[derive(Debug)]
pub struct Transfer {
    /// When each datagram of full size was sent once data flowed, after the first of them.
    pub sent: Vec<Duration>,
    /// Bytes that the receiver has in order.
    pub received: usize,
    /// From the first of these datagrams to the last byte in order.
    pub took: Duration,
    /// Mean time that datagrams spent waiting in the queue.
    pub waited: Duration,
    /// Datagrams lost on the way.
    pub lost: u64,
    /// When the sender's flow began, after the first of these datagrams: before it, if it is less than nothing.
    pub began_ms: f64,
}

impl Transfer {
    pub fn goodput_mbps(&self) -> f64 {
        self.received as f64 * 8e-6 / self.took.as_secs_f64()
    }

    /// Of datagrams, as simulators count it.
    pub fn throughput_mbps(&self) -> f64 {
        self.sent.len() as f64 * f64::from(MTU) * 8e-6 / self.took.as_secs_f64()
    }

    /// Most datagrams that were sent within `span`.
    pub fn most_within(&self, span: Duration) -> usize {
        let within = |from: usize| self.sent[from..].iter().take_while(|&&at| at < self.sent[from] + span).count();
        (0..self.sent.len()).map(within).max().unwrap_or(0)
    }
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sender {
    Client,
    /// With a certificate of several packets.
    Server,
}

/// Has a client send so many bytes over a link as soon as it is connected. Panics where a minute of simulated time is not enough.
pub fn transfer(link: Link, bytes: usize, transport: TransportConfig) -> Transfer {
    transfer_after(Duration::ZERO, Sender::Client, link, bytes, transport)
}

/// Has somebody send so many bytes, so long after the client's first packet, or as soon as it is connected.
pub fn transfer_after(
    pause: Duration,
    sender: Sender,
    link: Link,
    bytes: usize,
    transport: TransportConfig,
) -> Transfer {
    let (client, server) = configs(sender, transport);
    let began = Instant::now();
    let (client, server) = (Side::client(client, began), Side::server(server));
    let (sender, receiver) = if sender == Sender::Client { (client, server) } else { (server, client) };
    let mut pair = Pair { sender, receiver, way: Way::new(link) };
    pair.sender.sends = true;
    let mut now = began;
    let mut data = Some(began + pause);
    while pair.receiver.received < bytes {
        if data.take_if(|at| *at <= now).is_some() {
            pair.sender.left = bytes;
        }
        pair.exchange(now);
        let next = pair.next().into_iter().chain(data).min();
        now = next.expect("somebody waits for something").max(now);
        assert!(now < began + Duration::from_secs(60), "{} of {bytes} bytes in a minute", pair.receiver.received);
    }
    let Way { sent, waited, lost, .. } = pair.way;
    let first = *sent.first().expect("data was sent");
    let flow = controller(pair.sender.connection()).map(|controller| controller.flow().clone());
    let flow_began = flow.and_then(|flow| flow.began()).map_or(f64::NAN, |began| signed_ms(began, first));
    Transfer {
        received: pair.receiver.received,
        took: now - first,
        waited: waited / sent.len() as u32,
        lost,
        began_ms: flow_began,
        sent: sent.iter().map(|&at| at - first).collect(),
    }
}

/// Prints what tables reach on some links: what README.md and docs/export.md have of it.
pub fn figures() {
    for (name, rate_mbps, rtt_ms) in [
        ("general-1-robust", 12.0, 100),
        ("general-1-robust", 15.0, 150),
        ("tao-100x-robust", 12.0, 100),
        ("tao-100x-robust", 50.0, 20),
    ] {
        let link = Link { rate_mbps, rtt: Duration::from_millis(rtt_ms), queue: 1000, loses_one_in: None };
        let found = transfer(link, (rate_mbps * 1e6) as usize, made::transport(&made::algorithm(name)));
        let (mbps, wait_ms) = (found.throughput_mbps(), found.waited.as_secs_f64() * 1e3);
        println!("{name}, {rate_mbps} Mbit/s, {rtt_ms} ms: {mbps:.2} Mbit/s, {wait_ms:.2} ms in the queue");
    }
}

/// From one instant to the other, ms.
fn signed_ms(at: Instant, from: Instant) -> f64 {
    (at.saturating_duration_since(from).as_secs_f64() - from.saturating_duration_since(at).as_secs_f64()) * 1e3
}

/// A certificate signed by itself, which the client trusts. The sender has these settings.
fn configs(sender: Sender, mut transport: TransportConfig) -> (ClientConfig, ServerConfig) {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let others = if sender == Sender::Server { 150 } else { 0 };
    let names: Vec<_> = (0..others).map(|k| format!("name-{k}.example")).chain(["localhost".to_owned()]).collect();
    let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    transport.initial_mtu(MTU).mtu_discovery_config(None);
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut server = ServerConfig::with_single_cert(vec![certificate.der().clone()], key.into()).unwrap();
    let transport = Arc::new(transport);
    if sender == Sender::Client {
        client.transport_config(transport);
    } else {
        server.transport_config(transport);
    }
    (client, server)
}

struct Pair {
    sender: Side,
    receiver: Side,
    way: Way,
}

impl Pair {
    /// All that happens at an instant.
    fn exchange(&mut self, now: Instant) {
        while let Some(datagram) = due(&mut self.way.there, now) {
            self.receiver.take(datagram, now);
        }
        while let Some(datagram) = due(&mut self.way.back, now) {
            self.sender.take(datagram, now);
        }
        let (connected, half) = (self.sender.connected, self.way.link.rtt / 2);
        self.sender.drive(now, |datagram| self.way.send(datagram, now, connected));
        self.receiver.drive(now, |datagram| self.way.back.push_back((now + half, datagram)));
    }

    fn next(&mut self) -> Option<Instant> {
        let arrivals = [&self.way.there, &self.way.back].map(|way| way.front().map(|(at, _)| *at));
        arrivals.into_iter().chain([self.sender.timeout(), self.receiver.timeout()]).flatten().min()
    }
}

type Flying = VecDeque<(Instant, Vec<u8>)>;

fn due(way: &mut Flying, now: Instant) -> Option<Vec<u8>> {
    way.front().filter(|(at, _)| *at <= now)?;
    way.pop_front().map(|(_, datagram)| datagram)
}

/// The link, and what is on its way.
struct Way {
    link: Link,
    there: Flying,
    back: Flying,
    /// When each datagram has left the queue that has not yet.
    leaving: VecDeque<Instant>,
    sent: Vec<Instant>,
    waited: Duration,
    lost: u64,
}

impl Way {
    fn new(link: Link) -> Way {
        let (there, back) = (Flying::new(), Flying::new());
        Way { link, there, back, leaving: VecDeque::new(), sent: Vec::new(), waited: Duration::ZERO, lost: 0 }
    }

    fn send(&mut self, datagram: Vec<u8>, now: Instant, connected: bool) {
        let data = connected && datagram.len() == usize::from(MTU);
        if data {
            self.sent.push(now);
        }
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        let unlucky = self.link.loses_one_in.is_some_and(|n| data && self.sent.len() as u64 % n == n - 1);
        if unlucky || self.leaving.len() > self.link.queue {
            self.lost += 1;
            return;
        }
        let begins = self.leaving.back().copied().unwrap_or(now);
        let left = begins + Duration::from_secs_f64(datagram.len() as f64 * 8e-6 / self.link.rate_mbps);
        self.waited += begins - now;
        self.leaving.push_back(left);
        self.there.push_back((left + self.link.rtt / 2, datagram));
    }
}
