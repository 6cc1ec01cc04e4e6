//! BBR version 3 in closed loop, and the rules of the draft one by one.

use exmachina_net::random::Purpose;
use exmachina_net::time::{Duration, Instant};

use super::model::{inflight_at_loss, too_high};
use super::*;
use crate::scheme::RateSample;
use crate::scheme::loopback::{Loopback, Path};

fn bbr(seed: u64) -> Bbr3 {
    Bbr3::new(10, Stream::new(seed, 0, 0, Purpose::Order))
}

/// The states that a run passes through, with when each was entered.
fn states(flow: &mut Loopback<Bbr3>, until: Instant) -> Vec<(State, Instant)> {
    let mut seen: Vec<(State, Instant)> = Vec::new();
    flow.watch(until, |f| {
        if seen.last().is_none_or(|&(state, _)| state != f.scheme.state()) {
            seen.push((f.scheme.state(), f.now));
        }
    });
    seen
}

#[test]
fn the_model_converges_to_the_path_5_5() {
    for (rate, rtt_ms) in [(1000.0, 40.0), (5000.0, 100.0), (500.0, 10.0)] {
        let mut flow = Loopback::new(bbr(1), Path::clean(rate, Duration::from_ms(rtt_ms)));
        flow.run(Instant::from_s(6.0));
        let bw = flow.scheme.bandwidth();
        assert!((bw / rate - 1.0).abs() < 0.05, "{bw} of {rate}");
        let service = Duration::from_nanos_f64(1e9 / rate);
        assert!(flow.scheme.min_rtt() <= Duration::from_ms(rtt_ms) + 2 * service, "{}", flow.scheme.min_rtt());
        flow.reset_meter();
        flow.run(Instant::from_s(30.0));
        // §5.3.4.2: 2 % for ProbeRTT, 1 % for pacing below the estimate, and the dips of DOWN.
        assert!(flow.utilization() > 0.92, "{}", flow.utilization());
        assert!(flow.mean_queue() < 0.35 * flow.path.bdp() + 4.0, "{}", flow.mean_queue());
    }
}

#[test]
fn drain_removes_the_queue_of_startup_5_3_2() {
    let mut flow = Loopback::new(bbr(1), Path::clean(2000.0, Duration::from_ms(50.0)));
    let (mut most, mut left) = (0, None);
    flow.watch(Instant::from_s(2.0), |f| {
        if f.scheme.state() == State::Startup {
            most = most.max(f.queue());
        }
        if left.is_none() && f.scheme.in_probe_bw() {
            left = Some((f.queue(), f.now));
        }
    });
    // §5.3.1.1: cwnd gain 2, thus one BDP of queue: 100 packets.
    assert!((60..130).contains(&most), "{most}");
    let (queue, at) = left.unwrap_or_default();
    assert!(queue <= 3 && at > Instant::START && at < Instant::from_s(1.0), "{queue} at {at}");
}

#[test]
fn the_cycle_is_down_cruise_refill_up_every_two_to_three_seconds_5_3_3() {
    // A BDP of 500 packets and an RTT of 100 ms: 63 rounds are longer than 3 s.
    let mut flow = Loopback::new(bbr(5), Path::clean(5000.0, Duration::from_ms(100.0)));
    let seen = states(&mut flow, Instant::from_s(60.0));
    let order: Vec<State> = seen.iter().map(|&(state, _)| state).collect();
    assert_eq!(order[..2], [State::Startup, State::Drain]);
    for pair in order.windows(2) {
        // DOWN may end on the ACK that began it.
        let allowed: &[State] = match pair[0] {
            State::Startup => &[State::Drain],
            State::Drain | State::Up => &[State::Down, State::Cruise, State::ProbeRtt],
            State::Down => &[State::Cruise, State::ProbeRtt],
            State::Cruise => &[State::Refill, State::ProbeRtt],
            State::Refill => &[State::Up, State::ProbeRtt],
            State::ProbeRtt => &[State::Cruise],
        };
        assert!(allowed.contains(&pair[1]), "{pair:?}");
    }
    // From the entry of DOWN, or of CRUISE straight after another state (§5.3.4.4), to that of REFILL.
    let (mut waits, mut began) = (Vec::new(), Instant::START);
    for pair in seen.windows(2) {
        match (pair[0].0, pair[1].0) {
            (_, State::Down) => began = pair[1].1,
            (from, State::Cruise) if from != State::Down => began = pair[1].1,
            (_, State::Refill) => waits.push((pair[1].1 - began).as_nanos_f64() / 1e9),
            _ => {}
        }
    }
    assert!(waits.len() >= 5, "{seen:?}");
    assert!(waits.iter().all(|w| (2.0..3.1).contains(w)), "{waits:?}");
    let spread = waits.iter().copied().fold(0.0, f64::max) - waits.iter().copied().fold(9.0, f64::min);
    assert!(spread > 0.2, "{waits:?}");
}

#[test]
fn on_a_small_path_it_probes_as_often_as_reno_5_3_3_8() {
    // A BDP of 20 packets and an RTT of 20 ms: a probe after about 20 rounds, 0.4 s, instead of 2 to 3 s.
    let mut flow = Loopback::new(bbr(5), Path::clean(1000.0, Duration::from_ms(20.0)));
    let seen = states(&mut flow, Instant::from_s(20.0));
    let ups = seen.iter().filter(|s| s.0 == State::Up).count();
    assert!((25..50).contains(&ups), "{ups}");
}

#[test]
fn probe_rtt_comes_every_five_seconds_for_200_ms_5_3_4() {
    let mut flow = Loopback::new(bbr(3), Path::clean(1000.0, Duration::from_ms(100.0)));
    let seen = states(&mut flow, Instant::from_s(60.0));
    let visits: Vec<(Instant, Duration)> =
        seen.windows(2).filter(|w| w[0].0 == State::ProbeRtt).map(|w| (w[0].1, w[1].1 - w[0].1)).collect();
    assert!((8..=12).contains(&visits.len()), "{visits:?}");
    assert!(visits.iter().all(|v| (Duration::from_ms(200.0)..Duration::from_ms(600.0)).contains(&v.1)), "{visits:?}");
    let gaps: Vec<Duration> = visits.windows(2).map(|w| w[1].0 - w[0].0 - w[0].1).collect();
    assert!(gaps.iter().all(|&g| g >= Duration::from_secs(5)), "{gaps:?}");
}

#[test]
fn a_shallow_buffer_sets_inflight_hi_and_losses_stay_few_5_5_10() {
    // Half a BDP of buffer: 100 + 50 packets fit.
    let path = Path { buffer: 50, ..Path::clean(1000.0, Duration::from_ms(100.0)) };
    let mut flow = Loopback::new(bbr(2), path);
    flow.run(Instant::from_s(10.0));
    flow.reset_meter();
    let mut above = 0;
    flow.watch(Instant::from_s(70.0), |f| {
        let calm = matches!(f.scheme.state(), State::Cruise);
        // One packet of rounding; a lowered bound is met when the excess has left.
        above += u32::from(calm && f64::from(f.in_flight()) > f.scheme.inflight_hi() + 1.0);
    });
    let hi = flow.scheme.inflight_hi();
    assert!((90.0..160.0).contains(&hi), "{hi}");
    assert_eq!(above, 0);
    assert!(flow.utilization() > 0.9, "{}", flow.utilization());
    let share = flow.meter.lost as f64 / flow.meter.delivered as f64;
    assert!(share < 0.01, "{share}");
}

#[test]
fn losses_end_startup_in_a_shallow_buffer_5_3_1_3() {
    let path = Path { buffer: 20, ..Path::clean(2000.0, Duration::from_ms(100.0)) };
    let mut flow = Loopback::new(bbr(2), path);
    let mut hi = None;
    flow.watch(Instant::from_s(3.0), |f| {
        if hi.is_none() && f.scheme.state() != State::Startup {
            hi = Some(f.scheme.inflight_hi());
        }
    });
    let hi = hi.unwrap_or_default();
    assert!(hi.is_finite() && (150.0..420.0).contains(&hi), "{hi}");
}

#[test]
fn half_a_percent_of_random_losses_does_not_slow_it_much_but_ten_percent_do_2_7() {
    let used = |loss: f64| {
        let path = Path { loss, ..Path::clean(1000.0, Duration::from_ms(40.0)) };
        let mut flow = Loopback::new(bbr(4), path);
        flow.run(Instant::from_s(5.0));
        flow.reset_meter();
        flow.run(Instant::from_s(65.0));
        flow.utilization()
    };
    assert!(used(0.005) > 0.8, "{}", used(0.005));
    assert!(used(0.1) < used(0.005) - 0.1, "{}", used(0.1));
}

#[test]
fn drain_ends_after_three_rounds_whatever_is_in_flight_5_3_2() {
    let mut bbr =
        Bbr3 { state: State::Drain, full_reached: true, min_rtt: Duration::from_ms(40.0), bw: 1000.0, ..bbr(1) };
    assert_eq!(bbr.pacing_gain(), 0.5);
    (bbr.round, bbr.drain_start) = (8, 5);
    bbr.check_startup_and_drain(&Ack { in_flight: 80, ..Ack::default() });
    assert_eq!(bbr.state(), State::Drain);
    bbr.round = 9;
    bbr.check_startup_and_drain(&Ack { in_flight: 80, ..Ack::default() });
    assert_eq!(bbr.state(), State::Down);
}

/// In UP, with a bound of 100 packets that the last probe found too high.
fn after_a_probe_that_lost() -> Bbr3 {
    let bbr = Bbr3 {
        state: State::Up,
        full_reached: true,
        inflight_hi: 100.0,
        cwnd: 100.0,
        min_rtt: Duration::from_ms(40.0),
        ..bbr(1)
    };
    Bbr3 { bw: 2000.0, probed_too_high: true, ack_phase: AckPhase::ProbeFeedback, ..bbr }
}

#[test]
fn after_losses_a_probe_ends_where_they_began_5_3_3_6() {
    let mut bbr = after_a_probe_that_lost();
    let ack = |in_flight| Ack { in_flight, newly_delivered: 1, ..Ack::default() };
    bbr.update_probe_bw(&ack(98));
    assert_eq!(bbr.state(), State::Up);
    bbr.update_probe_bw(&ack(99));
    assert_eq!((bbr.state(), bbr.precautionary, bbr.probed_too_high), (State::Down, true, false));
}

#[test]
fn a_brief_probe_without_losses_is_followed_by_a_full_one_5_3_3_6() {
    for (lost, next) in [(false, State::Refill), (true, State::Down)] {
        let mut bbr = after_a_probe_that_lost();
        let ack = Ack { in_flight: 99, newly_delivered: 1, ..Ack::default() };
        bbr.update_probe_bw(&ack);
        bbr.probed_too_high = lost;
        // The round that tells of the probe has passed.
        bbr.round_start = true;
        bbr.rounds_since_probe = 1;
        bbr.update_probe_bw(&Ack { in_flight: 110, ..ack });
        assert_eq!((bbr.state(), bbr.ack_phase == AckPhase::Refilling), (next, !lost));
    }
}

#[test]
fn the_threshold_of_losses_is_two_percent_5_5_10_2() {
    let rate = |tx_in_flight, lost| RateSample { tx_in_flight, lost, ..RateSample::default() };
    assert!(!too_high(&rate(100, 2)));
    assert!(too_high(&rate(100, 3)));
    // Nothing lost before the last 10 of 110: the threshold was crossed 100 * 0.02 / 0.98 packets into them.
    assert!((inflight_at_loss(110, 10, 10) - (100.0 + 2.0 / 0.98)).abs() < 1e-9);
    // Too many were lost before.
    assert_eq!(inflight_at_loss(110, 30, 10), 100.0);
}

#[test]
fn lower_bounds_follow_deliveries_by_no_more_than_beta_5_5_10_3() {
    let mut bbr = Bbr3 { state: State::Cruise, cwnd: 100.0, loss_in_round: true, ..bbr(1) };
    bbr.max_bw.update(0, 1000.0, 1);
    let rate = |delivered| RateSample {
        delivered,
        interval: Duration::from_ms(100.0),
        prior_delivered: 5,
        ..Default::default()
    };
    let ack = |delivered| Ack { delivered: 100, newly_delivered: 1, rate: rate(delivered), ..Ack::default() };
    bbr.loss_round_start = true;
    bbr.bw_latest = 900.0;
    bbr.inflight_latest = 90.0;
    bbr.update_congestion(&ack(90));
    assert_eq!((bbr.bw_lo, bbr.inflight_lo), (900.0, 90.0));
    bbr.loss_in_round = true;
    bbr.bw_latest = 100.0;
    bbr.inflight_latest = 10.0;
    bbr.update_congestion(&ack(10));
    assert_eq!((bbr.bw_lo, bbr.inflight_lo), (0.7 * 900.0, 0.7 * 90.0));
    // While probing they stay (§5.5.10.3).
    bbr.state = State::Up;
    bbr.loss_in_round = true;
    bbr.update_congestion(&ack(1));
    assert_eq!(bbr.bw_lo, 0.7 * 900.0);
}

#[test]
fn the_upper_bound_rises_by_one_two_four_packets_per_round_5_3_3_5() {
    let mut bbr = Bbr3 { state: State::Up, cwnd: 64.0, inflight_hi: 64.0, limited: (true, true), ..bbr(1) };
    bbr.raise_slope();
    let mut rises = Vec::new();
    for _ in 0..3 {
        let before = bbr.inflight_hi;
        for i in 0..64 {
            bbr.round_start = i == 63;
            bbr.cwnd = bbr.inflight_hi;
            bbr.probe_upwards(&Ack { newly_delivered: 1, ..Ack::default() });
        }
        rises.push(bbr.inflight_hi - before);
    }
    assert_eq!(rises[0], 1.0);
    assert!((1.0..=2.0).contains(&rises[1]) && (3.0..=4.0).contains(&rises[2]), "{rises:?}");
}

#[test]
fn a_timeout_leaves_one_packet_and_recovery_restores_the_window_5_6_4_4() {
    let mut bbr = Bbr3 { cwnd: 80.0, ..bbr(1) };
    bbr.on_rto(&Congestion::default());
    assert_eq!(bbr.window(), 1);
    bbr.on_recovered(Instant::START, None);
    assert_eq!(bbr.window(), 80);
}
