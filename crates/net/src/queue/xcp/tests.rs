//! Tests of XCP's router against the equations of the paper, and in closed loops.

use std::collections::VecDeque;

use super::*;
use crate::packet::XcpHeader;
use crate::queue::testing::packet;

const MS: Duration = Duration::from_millis(1);
/// 10 Mbit/s.
const CAPACITY: f64 = 1.25e6;

fn router() -> Xcp {
    Xcp::new(XcpSettings::default(), Limit::Infinite, CAPACITY)
}

fn asking(window_bytes: f64, rtt_s: f64) -> Packet {
    let xcp = XcpHeader { window_bytes, rtt_s, feedback_bytes: f64::INFINITY };
    Packet { xcp, ..packet(0, 0) }
}

/// Sends an interval's packets of flows (window in bytes, RTT in s) through a router; returns the sum of what they are
/// told, each over its RTT, bytes/s.
fn handed_out(router: &mut Xcp, flows: &[(f64, f64)], from: Instant, interval: Duration) -> f64 {
    let mut sum = 0.0;
    for &(window, rtt) in flows {
        // window / rtt bytes a second.
        let packets = window / rtt * interval.as_nanos_f64() * 1e-9 / 1250.0;
        for i in 0..packets.round() as u64 {
            let at = from + Duration::from_nanos_f64(i as f64 * interval.as_nanos_f64() / packets);
            router.catch_up(at.min(from + interval - Duration::from_nanos(1)));
            let mut p = asking(window, rtt);
            router.measure(&p);
            router.instruct(&mut p);
            sum += p.xcp.feedback_bytes / rtt;
        }
    }
    sum
}

#[test]
fn feedback_sums_to_the_efficiency_controllers_aggregate() {
    // Katabi et al. 2002 eq. 1: phi = alpha d S - beta Q, for flows that fill 80 % of the link and a standing queue.
    let flows = [(50_000.0, 0.1), (50_000.0, 0.1)];
    let mut router = router();
    (router.mean_rtt, router.interval) = (0.1, 0.1);
    (router.next_control, router.next_queue) = (Instant::from_millis(100), Instant::NEVER);
    router.persistent = 10_000.0;
    handed_out(&mut router, &flows, Instant::START, 100 * MS);
    router.catch_up(Instant::from_millis(100));
    assert!((router.mean_rtt - 0.1).abs() < 1e-9);
    let sum = handed_out(&mut router, &flows, Instant::from_millis(100), 100 * MS) * 0.1;
    let expected = 0.4 * 0.1 * (CAPACITY - 1e6) - 0.226 * 10_000.0;
    assert!((sum - expected).abs() < 0.01 * expected.abs(), "{sum} for {expected}");
}

#[test]
fn the_mean_rtt_counts_flows_not_packets() {
    // Appendix A: sum of rtt^2 s/cwnd over sum of rtt s/cwnd. Here the fast flow sends ten times as much.
    let mut router = router();
    (router.next_control, router.next_queue) = (Instant::from_millis(200), Instant::NEVER);
    handed_out(&mut router, &[(100_000.0, 0.1), (20_000.0, 0.2)], Instant::START, 200 * MS);
    router.catch_up(Instant::from_millis(200));
    assert!((router.mean_rtt - 0.15).abs() < 0.002, "{}", router.mean_rtt);
}

#[test]
fn without_spare_bandwidth_a_tenth_is_shuffled() {
    // §3.5: h = max(0, gamma y - |phi|): a full link without a queue takes from the rich and gives to the poor.
    let mut router = router();
    (router.mean_rtt, router.interval) = (0.1, 0.1);
    (router.next_control, router.next_queue) = (Instant::from_millis(100), Instant::NEVER);
    let flows = [(100_000.0, 0.1), (25_000.0, 0.1)];
    handed_out(&mut router, &flows, Instant::START, 100 * MS);
    router.catch_up(Instant::from_millis(100));
    assert!((router.feedback.increase_left - 0.1 * CAPACITY).abs() < 2.0);
    assert!((router.feedback.decrease_left - 0.1 * CAPACITY).abs() < 2.0);
    let told = |router: &Xcp, window| {
        let mut p = asking(window, 0.1);
        router.clone().instruct(&mut p);
        p.xcp.feedback_bytes
    };
    assert!(told(&router, 100_000.0) < 0.0 && told(&router, 25_000.0) > 0.0);
}

#[test]
fn the_strictest_router_decides() {
    let mut router = router();
    (router.next_control, router.next_queue) = (Instant::from_millis(100), Instant::NEVER);
    handed_out(&mut router, &[(50_000.0, 0.1)], Instant::START, 50 * MS);
    router.catch_up(Instant::from_millis(100));
    let (mut modest, mut eager) = (asking(50_000.0, 0.1), asking(50_000.0, 0.1));
    modest.xcp.feedback_bytes = -100.0;
    router.instruct(&mut modest);
    router.instruct(&mut eager);
    assert_eq!(modest.xcp.feedback_bytes, -100.0);
    assert!(eager.xcp.feedback_bytes > 0.0 && eager.xcp.feedback_bytes.is_finite());
}

#[test]
fn packets_without_an_rtt_are_told_nothing() {
    let mut router = router();
    let mut dropped = vec![];
    for ms in 0..500 {
        router.enqueue(asking(5000.0, 0.0), Instant::from_millis(ms), &mut dropped);
        let sent = router.dequeue(Instant::from_millis(ms), &mut dropped);
        assert_eq!(sent.map(|p| p.xcp.feedback_bytes), Some(0.0));
    }
    assert_eq!((router.mean_rtt, router.feedback.per_second), (FIRST_INTERVAL, 0.0));
}

#[test]
fn silence_ends_in_one_step_and_odd_headers_do_no_harm() {
    let mut router = router();
    let mut dropped = vec![];
    for (now, window, rtt) in [
        (Instant::START, 0.0, f64::NAN),
        (Instant::from_millis(1), f64::NAN, 0.1),
        (Instant::from_millis(2), -1.0, -1.0),
        (Instant::from_nanos(u64::MAX / 2), 0.0, 1e300),
        (Instant::NEVER, 1.0, 0.1),
    ] {
        router.enqueue(asking(window, rtt), now, &mut dropped);
        router.dequeue(now, &mut dropped);
    }
    assert!(dropped.is_empty() && router.packets() == 0);
}

/// A sender of a closed loop.
struct Sender {
    window: f64,
    in_flight: f64,
    rtt: f64,
    /// Propagation, ms.
    delay: u64,
}

/// Runs senders (window in bytes, propagation in ms) for some seconds; returns their windows, the link's utilization
/// and the mean queue in packets over the last half.
fn closed_loop(flows: &[(f64, u64)], seconds: u64) -> (Vec<f64>, f64, f64) {
    let mut senders: Vec<Sender> = flows
        .iter()
        .map(|&(window, delay)| Sender { window, in_flight: 0.0, rtt: delay as f64 * 1e-3, delay })
        .collect();
    let (mut router, mut dropped) = (router(), vec![]);
    let mut acks: Vec<VecDeque<(u64, Packet)>> = senders.iter().map(|_| VecDeque::new()).collect();
    let (mut sent, mut queue) = (0.0, 0.0);
    for ms in 0..seconds * 1000 {
        for (id, s) in senders.iter_mut().enumerate() {
            while let Some((_, p)) = acks[id].pop_front_if(|&mut (at, _)| at <= ms) {
                s.in_flight -= 1250.0;
                s.rtt = (Instant::from_millis(ms) - p.sent).as_nanos_f64() * 1e-9;
                s.window = (s.window + p.xcp.feedback_bytes).max(1250.0);
            }
            while s.in_flight + 1250.0 <= s.window {
                s.in_flight += 1250.0;
                let p = Packet { sender: id as u16, sent: Instant::from_millis(ms), ..asking(s.window, s.rtt) };
                router.enqueue(p, Instant::from_millis(ms), &mut dropped);
            }
        }
        if let Some(p) = router.dequeue(Instant::from_millis(ms), &mut dropped) {
            let id = usize::from(p.sender);
            acks[id].push_back((ms + senders[id].delay, p));
            sent += f64::from(u8::from(ms >= seconds * 500));
        }
        if ms >= seconds * 500 {
            queue += router.packets() as f64;
        }
    }
    let half = seconds as f64 * 500.0;
    (senders.iter().map(|s| s.window).collect(), sent / half, queue / half)
}

#[test]
fn two_flows_converge_to_equal_windows() {
    // §3.5, shuffling: from windows of 80 and 5 packets at a BDP of 100.
    let (windows, utilization, queue) = closed_loop(&[(100_000.0, 100), (6250.0, 100)], 60);
    let ratio = windows[0] / windows[1];
    assert!((ratio - 1.0).abs() < 0.1, "{windows:?}");
    assert!(utilization > 0.95 && queue < 10.0, "utilization {utilization}, queue {queue}");
}

#[test]
fn flows_with_different_rtts_get_equal_rates() {
    // §3.5: the change of rate that a flow is told does not depend on its RTT.
    let (windows, utilization, _) = closed_loop(&[(20_000.0, 50), (20_000.0, 150)], 60);
    let ratio = windows[1] / windows[0];
    assert!((ratio - 3.0).abs() < 0.4, "{windows:?}");
    assert!(utilization > 0.9, "{utilization}");
}
