//! BBR version 1 in closed loop.

use exmachina_net::random::Purpose;
use exmachina_net::time::{Duration, Instant};

use super::super::loopback::{Loopback, Path};
use super::*;

fn bbr(seed: u64) -> Bbr1 {
    Bbr1::new(10, 1250, Stream::new(seed, 0, 0, Purpose::Order))
}

#[test]
fn the_model_converges_to_the_path_4_1() {
    for (rate, rtt_ms) in [(1000.0, 40.0), (5000.0, 100.0), (500.0, 10.0)] {
        let mut flow = Loopback::new(bbr(1), Path::clean(rate, Duration::from_ms(rtt_ms)));
        flow.run(Instant::from_s(5.0));
        let bw = flow.scheme.bandwidth();
        assert!((bw / rate - 1.0).abs() < 0.05, "{bw} of {rate}");
        let service = Duration::from_nanos_f64(1e9 / rate);
        assert!(flow.scheme.min_rtt() <= Duration::from_ms(rtt_ms) + 2 * service, "{}", flow.scheme.min_rtt());
        flow.reset_meter();
        flow.run(Instant::from_s(9.0));
        assert!(flow.utilization() > 0.97, "{}", flow.utilization());
        // §4.3.4: a quarter of a BDP of queue for one phase of eight, and room for three quanta of two packets, rounded up.
        assert!(flow.mean_queue() < 0.1 * flow.path.bdp() + 8.0, "{}", flow.mean_queue());
    }
}

#[test]
fn startup_leaves_a_queue_and_drain_removes_it_4_3_3() {
    let mut flow = Loopback::new(bbr(1), Path::clean(2000.0, Duration::from_ms(50.0)));
    let (mut most, mut left) = (0, None);
    flow.watch(Instant::from_s(3.0), |f| {
        most = most.max(f.queue());
        if left.is_none() && matches!(f.scheme.mode(), Mode::ProbeBw(_)) {
            left = Some((f.queue(), f.now));
        }
    });
    // §4.3.2: STARTUP fills the pipe and adds up to 1.9 BDP of queue: here a BDP is 100 packets.
    assert!((80..210).contains(&most), "{most}");
    let (queue, at) = left.unwrap_or_default();
    // Down to the BDP and three quanta of two packets (draft §4.2.3.2).
    assert!(queue <= 8 && at > Instant::START && at < Instant::from_s(1.0), "{queue} at {at}");
}

#[test]
fn probe_rtt_comes_every_ten_seconds_for_200_ms_4_3_5() {
    let mut flow = Loopback::new(bbr(3), Path::clean(1000.0, Duration::from_ms(40.0)));
    let mut visits: Vec<(Instant, Instant, u32)> = Vec::new();
    let mut within = false;
    flow.watch(Instant::from_s(45.0), |f| {
        let now_within = f.scheme.mode() == Mode::ProbeRtt;
        if now_within && !within {
            visits.push((f.now, f.now, u32::MAX));
        }
        if let (true, Some(visit)) = (now_within, visits.last_mut()) {
            visit.1 = f.now;
            visit.2 = visit.2.min(f.in_flight());
        }
        within = now_within;
    });
    assert_eq!(visits.len(), 4, "{visits:?}");
    for visit in &visits {
        let length = visit.1 - visit.0;
        assert!((Duration::from_ms(200.0)..Duration::from_ms(400.0)).contains(&length) && visit.2 <= 4, "{visit:?}");
    }
    for pair in visits.windows(2) {
        assert!((Duration::from_secs(10)..Duration::from_secs(11)).contains(&(pair[1].0 - pair[0].1)), "{pair:?}");
    }
}

#[test]
fn it_finds_a_link_that_became_slower_and_one_that_became_faster_4_1_1() {
    let mut flow = Loopback::new(bbr(1), Path::clean(2000.0, Duration::from_ms(40.0)));
    flow.run(Instant::from_s(5.0));
    flow.path.rate = 500.0;
    flow.run(Instant::from_s(10.0));
    assert!((flow.scheme.bandwidth() / 500.0 - 1.0).abs() < 0.06, "{}", flow.scheme.bandwidth());
    flow.path.rate = 4000.0;
    flow.run(Instant::from_s(25.0));
    assert!((flow.scheme.bandwidth() / 4000.0 - 1.0).abs() < 0.06, "{}", flow.scheme.bandwidth());
}

#[test]
fn random_losses_hardly_slow_it() {
    // Cardwell et al. 2016, Fig. 8: near full use at 1 % of losses.
    let path = Path { loss: 0.01, ..Path::clean(1000.0, Duration::from_ms(40.0)) };
    let mut flow = Loopback::new(bbr(1), path);
    flow.run(Instant::from_s(5.0));
    flow.reset_meter();
    flow.run(Instant::from_s(25.0));
    assert!(flow.utilization() > 0.9, "{}", flow.utilization());
}

#[test]
fn the_phase_of_three_quarters_ends_by_what_was_in_flight_before_the_ack_4_3_4_3() {
    let mut bbr = Bbr1 { mode: Mode::ProbeBw(1), min_rtt: Duration::from_ms(40.0), pacing: 1000.0, ..bbr(1) };
    bbr.bw.update(0, 1000.0, 10);
    // 40 packets of BDP and three quanta of two: 46.
    let ack = |in_flight| Ack { in_flight, newly_delivered: 2, received: Instant::from_ms(1.0), ..Ack::default() };
    bbr.update_phase(&ack(45));
    assert_eq!(bbr.mode(), Mode::ProbeBw(1), "47 before it");
    bbr.update_phase(&ack(44));
    assert_eq!(bbr.mode(), Mode::ProbeBw(2));
}

#[test]
fn room_for_three_quanta_4_2_2() {
    let target = |packets_per_s: f64, phase| {
        let mut bbr =
            Bbr1 { mode: Mode::ProbeBw(phase), min_rtt: Duration::from_ms(10.0), pacing: packets_per_s, ..bbr(1) };
        bbr.bw.update(0, packets_per_s, 10);
        bbr.target(1.0)
    };
    // Packets of 1250 bytes: 1 Mbit/s is below 1.2, 10 below 24, 1000 are 100 packets in a millisecond, but 64 KiB at most: 52.
    assert_eq!([target(100.0, 2), target(1000.0, 2), target(100_000.0, 2)], [4.0, 16.0, 1156.0]);
    assert_eq!(target(1000.0, 0), 18.0);
}

#[test]
fn probe_bw_begins_in_any_phase_but_that_of_three_quarters_4_3_4_3() {
    let mut seen = [0; 8];
    let mut bbr = bbr(9);
    for _ in 0..700 {
        bbr.enter_probe_bw(Instant::START);
        if let Mode::ProbeBw(phase) = bbr.mode {
            seen[phase] += 1;
        }
    }
    assert_eq!(seen[1], 0);
    assert!(seen.iter().enumerate().all(|(phase, &n)| phase == 1 || n > 60), "{seen:?}");
}

#[test]
fn a_timeout_sends_one_packet_and_recovery_restores_the_window_4_2_3_4() {
    let mut bbr = Bbr1 { cwnd: 80.0, ..bbr(1) };
    bbr.on_rto(&Congestion::default());
    assert_eq!(bbr.window(), 1);
    bbr.on_recovered(Instant::START, None);
    assert_eq!(bbr.window(), 80);
}

#[test]
fn the_first_round_of_recovery_sends_what_is_delivered_4_2_3_4() {
    let mut bbr = Bbr1 { cwnd: 80.0, ..bbr(1) };
    let ack = |delivered, prior_delivered, in_flight| Ack {
        delivered,
        in_flight,
        newly_delivered: 1,
        in_recovery: true,
        rtt: Duration::from_ms(40.0),
        received: Instant::from_s(1.0),
        rate: super::super::RateSample {
            delivered: 1,
            interval: Duration::from_millis(1),
            prior_delivered,
            ..Default::default()
        },
        ..Ack::default()
    };
    bbr.next_round = 1000;
    bbr.on_loss(&Congestion::default());
    bbr.on_ack(&Ack { lost: 10, ..ack(500, 420, 69) });
    assert_eq!(bbr.window(), 70);
    bbr.on_ack(&ack(501, 421, 69));
    assert_eq!(bbr.window(), 70);
    // The round ends with the ACK of a packet sent after recovery began: growth again.
    bbr.on_ack(&ack(570, 500, 69));
    assert!(!bbr.conservation);
}
