//! Vegas, LEDBAT and Copa: queues of the length that they aim at.

use exmachina_hosts::scheme::{AnyScheme, Copa, Ledbat, LinuxVegas, Vegas, VegasNs2, VegasSettings};
use exmachina_net::network::FirstOff;
use exmachina_net::queue::{Limit, QueueKind};

use crate::probe::{FULL, Measured, dumbbell, flow, flows, hop, measure, newreno, plain, within};

/// So many flows at 10 Mbit/s (1 ms a packet) and 100 ms.
fn queue_of(n: usize, scheme: &AnyScheme<'static>, seconds: f64) -> Measured {
    let hop = hop(10.0, QueueKind::DropTail, Limit::Packets(1000));
    measure(&dumbbell(hop, flows(n, scheme, plain(), 100.0)), seconds / 2.0, seconds)
}

/// Brakmo and Peterson 1995: a flow keeps between alpha and beta packets in the queue. A flow that starts when others
/// are on takes their queue for part of the path, and adds its own on top (Remy'13 §5.2): for more than one, at least.
#[test]
fn vegas_keeps_some_packets_queued() {
    let settings = VegasSettings::linux();
    for scheme in [AnyScheme::LinuxVegas(LinuxVegas::new(2)), AnyScheme::Vegas(Vegas::new(settings))] {
        let measured = queue_of(1, &scheme, 200.0);
        within("one Vegas, packets", measured.wait_ms, settings.alpha - 1.0, settings.beta + 1.0);
        within("use", measured.utilisation, 0.99, FULL);
    }
    let measured = queue_of(1, &AnyScheme::VegasNs2(VegasNs2::default()), 60.0);
    within("one Vegas of ns-2, packets", measured.wait_ms, 0.0, 4.0);
    within("use", measured.utilisation, 0.99, FULL);
    // One after the other, each when the one before has settled.
    let scheme = AnyScheme::LinuxVegas(LinuxVegas::new(2));
    let mut senders = flows(3, &scheme, plain(), 100.0);
    (0..3u8).for_each(|i| senders[usize::from(i)].0.workload.first_off = FirstOff::At(40.0 * f64::from(i)));
    let hop = hop(10.0, QueueKind::DropTail, Limit::Packets(1000));
    let measured = measure(&dumbbell(hop, senders), 200.0, 300.0);
    within("three Vegas, packets", measured.wait_ms, 6.0, 12.0 + 6.0);
    within("use", measured.utilisation, 0.99, FULL);
}

/// RFC 6817 §2.4.2: a lone flow queues for TARGET, 100 ms at most, and gives way to a loss-based flow.
#[test]
fn ledbat_queues_for_its_target_and_yields() {
    let ledbat = AnyScheme::Ledbat(Ledbat::default());
    let measured = queue_of(1, &ledbat, 200.0);
    within("one LEDBAT, wait in ms", measured.wait_ms, 90.0, 110.0);
    within("use", measured.utilisation, 0.99, FULL);
    let hop = hop(10.0, QueueKind::DropTail, Limit::Packets(200));
    let senders = vec![flow(ledbat, plain(), 100.0), flow(newreno(), plain(), 100.0)];
    let measured = measure(&dumbbell(hop, senders), 100.0, 300.0);
    within("LEDBAT's share beside NewReno", measured.arrived[0] / measured.arrived.iter().sum::<f64>(), 0.0, 0.15);
}

/// Arun and Balakrishnan 2018 §2: with delta = 1/2 flows keep the link full with a few packets queued each: the window
/// moves between 0 and 2.5 / delta packets of queue.
#[test]
fn copa_keeps_a_short_queue_and_equal_shares() {
    for n in [1, 2] {
        let measured = queue_of(n, &AnyScheme::Copa(Copa::default()), 100.0);
        within(&format!("{n} Copa, packets"), measured.wait_ms, 0.5 * n as f64, 6.0 * n as f64);
        within("use", measured.utilisation, 0.95, FULL);
        within("shares", measured.jain(), 0.95, 1.0);
    }
}
