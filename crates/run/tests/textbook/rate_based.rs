//! XCP and BBR: full links without the queues that losses need.

use exmachina_hosts::scheme::{AnyScheme, Bbr1, Bbr3, Xcp};
use exmachina_net::queue::{Limit, QueueKind, XcpSettings};
use exmachina_net::random::{Purpose, Stream};

use crate::probe::{FULL, dumbbell, flows, hop, measure, plain, within};

/// Katabi et al. 2002: full use, equal shares, almost no queue, nothing dropped.
#[test]
fn xcp_fills_the_link_equally_without_a_queue() {
    for n in [1, 2, 3, 4] {
        let hop = hop(15.0, QueueKind::Xcp(XcpSettings::default()), Limit::Packets(1000));
        let world = dumbbell(hop, flows(n, &AnyScheme::Xcp(Xcp::new(2)), plain(), 150.0));
        let measured = measure(&world, 30.0, 90.0);
        within(&format!("{n} XCP, use"), measured.utilisation, 0.95, FULL);
        // 2/3 ms each.
        within("packets", measured.wait_ms * 1.5, 0.0, 4.0);
        within("shares", measured.jain(), 0.99, 1.0);
        assert_eq!(measured.dropped, 0);
    }
}

fn luck(n: u64) -> Stream {
    Stream::new(3, 0, n, Purpose::Candidates)
}

/// Cardwell et al. 2016: one flow runs near the point of full use and little queue; several hold a queue of about a BDP,
/// where their bound of two BDP and three quanta in flight ends.
#[test]
fn bbr1_fills_the_link_with_a_bounded_queue() {
    for n in [1, 2, 4] {
        let hop = hop(20.0, QueueKind::DropTail, Limit::Packets(1000));
        let mut senders = flows(n, &AnyScheme::Bbr1(Bbr1::new(10, 1250, luck(0))), plain(), 50.0);
        for (i, sender) in senders.iter_mut().enumerate() {
            sender.1.scheme = AnyScheme::Bbr1(Bbr1::new(10, 1250, luck(i as u64)));
        }
        let measured = measure(&dumbbell(hop, senders), 30.0, 130.0);
        within(&format!("{n} BBR version 1, use"), measured.utilisation, 0.95, FULL);
        // A BDP is 50 ms. Three quanta of two packets, rounded up to an even window, are 3.5 ms more for each flow.
        let most = if n == 1 { 0.2 } else { 1.2 + 0.07 * n as f64 };
        within("wait over RTT", measured.wait_ms / 50.0, 0.0, most);
        within("shares", measured.jain(), 0.8, 1.0);
    }
}

/// draft-ietf-ccwg-bbr: the same, with losses bounded where the buffer is shallow.
#[test]
fn bbr3_fills_the_link_with_a_bounded_queue_and_few_losses() {
    for (n, room) in [(1, 1000), (2, 1000), (4, 1000), (1, 50), (2, 50)] {
        let hop = hop(20.0, QueueKind::DropTail, Limit::Packets(room));
        let mut senders = flows(n, &AnyScheme::Bbr3(Bbr3::new(10, luck(0))), plain(), 50.0);
        for (i, sender) in senders.iter_mut().enumerate() {
            sender.1.scheme = AnyScheme::Bbr3(Bbr3::new(10, luck(i as u64)));
        }
        let measured = measure(&dumbbell(hop, senders), 30.0, 130.0);
        within(&format!("{n} BBR version 3, {room} packets of room, use"), measured.utilisation, 0.9, FULL);
        within("wait over RTT", measured.wait_ms / 50.0, 0.0, if n == 1 { 0.25 } else { 1.4 });
        within("losses", measured.dropped as f64 / measured.arrived.iter().sum::<f64>(), 0.0, 0.02);
        within("shares", measured.jain(), 0.8, 1.0);
    }
}
