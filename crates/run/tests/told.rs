//! When senders of the design simulator are told of losses: in their place among the ACKs, whichever link lost the packet.

use std::sync::{Arc, Mutex};

use exmachina_hosts::scheme::{Ack, Congestion, Scheme};
use exmachina_net::network::{FlowPlan, HopPlan, Network, On, Workload};
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::random::Seed;
use exmachina_net::time::{Duration, Instant};
use exmachina_run::design_simulator::routed;
use exmachina_run::sender::Sender;

/// What a sender was told, and when: of an ACK, or that nothing it sent will come back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Ack(Instant),
    Lost(Instant),
}

/// A window that never changes, and a diary.
#[derive(Clone)]
struct Diarist(u32, Arc<Mutex<Vec<Told>>>);

impl Scheme for Diarist {
    fn start(&mut self, _now: Instant) {}

    fn on_ack(&mut self, ack: &Ack) {
        self.1.lock().unwrap().push(Told::Ack(ack.received));
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        self.1.lock().unwrap().push(Told::Lost(timeout.now));
    }

    fn window(&self) -> u32 {
        self.0
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
}

#[derive(Default)]
struct Sent(Vec<Instant>);

impl Observer<Sender<Diarist>> for Sent {
    fn sent(&mut self, now: Instant, _: usize, _: &Packet, _: Option<Instant>, _: &Sender<Diarist>) {
        self.0.push(now);
    }
}

/// A lone sender through three links of which this one loses packets: when packets left, and what was told.
fn diary(lossy: usize, window: u32) -> (Vec<Instant>, Vec<Told>) {
    let loss = |i| if i == lossy { 0.3 } else { 0.0 };
    let hop = |i| HopPlan { loss: loss(i), delay_ms: 5.0, ..HopPlan::constant(10.0) };
    let flow = FlowPlan { route: vec![0, 1, 2], rtt_ms: 40.0, workload: Workload::new(On::Forever, 0.1) };
    let network = Network::clean((0..3).map(hop).collect(), vec![flow]);
    let (told, mut sent) = (Arc::default(), Sent::default());
    let seed = Seed { root: 3, specimen: 0 };
    let mut engine = routed(&network, seed, |_| Diarist(window, Arc::clone(&told)));
    engine.run(Instant::from_s(20.0), &mut sent);
    let told = told.lock().unwrap().clone();
    (sent.0, told)
}

#[test]
fn a_loss_is_told_when_what_is_left_of_the_way_is_over() {
    const MS: Duration = Duration::from_millis(1);
    for lossy in 0..3 {
        let (sent, told) = diary(lossy, 1);
        let losses = told.iter().filter(|told| matches!(told, Told::Lost(_))).count();
        assert!(losses > 100 && told.len() > 400, "link {lossy}: {losses} of {}", told.len());
        for (at, told) in sent.iter().zip(told) {
            // 40 ms, and a millisecond on each link: a gap takes the delays of the links past the lossy one, but no link's time.
            let rtt = match told {
                Told::Ack(_) => 43 * MS,
                Told::Lost(_) => (41 + lossy as u64) * MS,
            };
            let (Told::Ack(now) | Told::Lost(now)) = told;
            assert_eq!(now - *at, rtt, "link {lossy}: {told:?}");
        }
    }
}

#[test]
fn nothing_is_told_in_the_past() {
    for lossy in 0..3 {
        let (_, told) = diary(lossy, 12);
        let times: Vec<Instant> = told.iter().map(|&(Told::Ack(now) | Told::Lost(now))| now).collect();
        assert!(times.len() > 3000 && times.is_sorted(), "link {lossy}: {times:?}");
    }
}
