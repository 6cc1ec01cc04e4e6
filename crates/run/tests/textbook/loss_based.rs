//! NewReno and Cubic between losses, and under random ones.

use exmachina_hosts::scheme::{AnyScheme, Basis, Cubic, CubicSettings, LinuxCubic, LinuxCubicSettings};
use exmachina_hosts::transport::{Recovery, Settings};
use exmachina_net::network::HopPlan;
use exmachina_net::queue::{Limit, QueueKind};

use crate::probe::{FULL, Sample, close, dumbbell, flow, hop, log, mean, measure, newreno, plain, within};

/// The samples between two reductions, for each pair of them.
fn epochs(log: &[Sample]) -> Vec<&[Sample]> {
    log.chunk_by(|a, b| a.reductions == b.reductions).collect()
}

/// One flow for ever in a tail-drop buffer.
fn lone(
    scheme: AnyScheme<'static>,
    transport: Settings,
    mbps: f64,
    rtt_ms: f64,
    buffer: u32,
    seconds: f64,
) -> Vec<Sample> {
    let hop = hop(mbps, QueueKind::DropTail, Limit::Packets(buffer));
    log(&dumbbell(hop, vec![flow(scheme, transport, rtt_ms)]), seconds)
}

/// With a buffer above the BDP the link never idles, so that an RTT is W transmission times, and W grows by one in it.
/// From half to all of what pipe and buffer hold that takes 3/8 W^2 transmission times.
#[test]
fn newreno_has_the_sawtooth() {
    for recovery in [Recovery::NewReno, Recovery::TcpLinux, Recovery::Proportional] {
        let log = lone(newreno(), plain().with_recovery(recovery), 10.0, 100.0, 120, 200.0);
        let epochs = epochs(&log);
        // 100 ms of 1 ms each, the one being transmitted, 120 waiting.
        let full = 100.0 + 1.0 + 120.0;
        // Slow start loses a hundred packets, which NewReno takes as many RTTs to repair.
        let whole = &epochs[3..epochs.len() - 1];
        assert!(whole.len() > 4, "{} periods", whole.len());
        for epoch in whole {
            let peak = epoch.iter().map(|s| s.window).fold(0.0, f64::max);
            let trough = epoch.iter().map(|s| s.window).fold(f64::INFINITY, f64::min);
            close("peak", peak, full, 0.02);
            close("trough", trough, full / 2.0, 0.02);
            close("period", epoch[epoch.len() - 1].t - epoch[0].t, 0.375 * full * full * 1e-3, 0.05);
        }
    }
}

/// The window follows C (t - K)^3 + W_max from the end of recovery to the next loss.
fn follows_cubic(name: &str, log: &[Sample], c: f64, beta: f64) {
    let epochs = epochs(log);
    assert!(epochs.len() > 5, "{} periods", epochs.len());
    let mut worst: f64 = 0.0;
    for pair in epochs[1..].windows(2) {
        let w_max = pair[0].iter().map(|s| s.window).fold(0.0, f64::max);
        // An epoch begins with the first growth after the reduction.
        let low = beta * w_max;
        let start = pair[1].iter().position(|s| s.window > low + 1.5).expect("it grows");
        let t0 = pair[1][start].t;
        let k = libm::cbrt(w_max * (1.0 - beta) / c);
        // The last epoch is cut off by the end of the run.
        for sample in &pair[1][start..] {
            let d = sample.t - t0 - k;
            let expected = c * d * d * d + w_max;
            worst = worst.max((sample.window / expected - 1.0).abs());
        }
    }
    println!("{name}: {} periods, at most {:.2} % off", epochs.len(), 100.0 * worst);
    assert!(worst < 0.05, "{name}: {worst}");
}

/// RFC 9438 §4.2, on a path of 1000 packets where the Reno-friendly region plays no part.
#[test]
fn cubic_has_the_curve_of_rfc_9438() {
    let settings = CubicSettings { fast_convergence: false, reduced: Basis::Window, ..CubicSettings::default() };
    let log = lone(AnyScheme::Cubic(Cubic::new(settings)), plain(), 100.0, 100.0, 500, 120.0);
    follows_cubic("RFC 9438", &log, 0.4, 0.7);
}

/// Linux 2.6.3x: the same curve in fixed point.
#[test]
fn linux_cubic_has_the_curve() {
    let settings = LinuxCubicSettings { fast_convergence: false, ..LinuxCubicSettings::linux_2_6() };
    let log = lone(AnyScheme::LinuxCubic(LinuxCubic::new(settings)), plain(), 100.0, 100.0, 500, 120.0);
    follows_cubic("Linux 2.6.3x", &log, 410.0 / 1024.0, 717.0 / 1024.0);
}

/// A lone Cubic flow in a buffer of half a BDP keeps the link full: 0.7 of 1.5 BDP is more than one.
#[test]
fn cubic_fills_the_link_from_half_a_bdp() {
    let hop = hop(100.0, QueueKind::DropTail, Limit::Packets(500));
    let scheme = AnyScheme::Cubic(Cubic::new(CubicSettings::default()));
    let measured = measure(&dumbbell(hop, vec![flow(scheme, plain(), 100.0)]), 20.0, 120.0);
    within("utilisation", measured.utilisation, 0.995, FULL);
}

/// Mathis et al. 1997: MSS / RTT * sqrt(3/2 / p), for an ACK per packet, where losses are far apart. Losses at random
/// rather than at equal distances give a factor of 1.31 / 1.22 more (Ott, Kemperman and Mathis 1996), several in one
/// window less.
#[test]
fn newreno_has_the_square_root_law() {
    for p in [0.0005, 0.001, 0.003] {
        let hop = HopPlan { loss: p, ..hop(1000.0, QueueKind::DropTail, Limit::Infinite) };
        let log = log(&dumbbell(hop, vec![flow(newreno(), plain(), 100.0)]), 2000.0);
        let expected = f64::sqrt(1.5 / p) / 0.1;
        close(&format!("packets/s at p = {p}"), log.len() as f64 / 2000.0, expected, 0.15);
        // The mean window is throughput times RTT, less what recovery costs.
        within("mean window over rate", mean(log.iter().map(|s| s.window)) / (log.len() as f64 / 2e4), 0.95, 1.2);
    }
}
