//! What all Renos have in common (RFC 5681).

use exmachina_net::time::{Duration, Instant};

use super::driver::Driver;
use super::{Ack, AnyScheme, Congestion, LinuxReno, NewReno, NewRenoNs2, NewRenoSettings, Scheme};

fn path() -> Driver {
    Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.01))
}

fn all() -> [(&'static str, AnyScheme<'static>); 3] {
    [
        ("ns-2", AnyScheme::NewRenoNs2(NewRenoNs2::new(2, false))),
        ("RFC 5681", AnyScheme::NewReno(NewReno::new(NewRenoSettings::new(2)))),
        ("Linux", AnyScheme::LinuxReno(LinuxReno::new(2, false))),
    ]
}

#[test]
fn doubles_per_rtt_in_slow_start() {
    // RFC 5681 §3.1: at most one segment per segment acknowledged.
    for (name, mut reno) in all() {
        let mut path = path();
        assert!(reno.ssthresh().is_infinite());
        (0..5).for_each(|_| path.round(&mut reno));
        assert_eq!(reno.window(), 2 << 5, "{name}");
    }
}

#[test]
fn halves_on_a_loss_and_then_adds_one_per_rtt() {
    for (name, mut reno) in all() {
        let mut path = path();
        (0..5).for_each(|_| path.round(&mut reno));
        path.lose(&mut reno);
        assert_eq!(reno.ssthresh(), 32.0);
        path.round(&mut reno);
        // Linux: one RTT of slow start, since what is in flight bounded the window at the end of recovery.
        (0..3).for_each(|_| path.round(&mut reno));
        let before = reno.window();
        assert!((32..=36).contains(&before), "{name}: {before}");
        (0..40).for_each(|_| path.round(&mut reno));
        let grown = reno.window() - before;
        assert!((39..=41).contains(&grown), "RFC 5681 §3.1: {name} grew by {grown} in 40 RTTs");
    }
}

#[test]
fn a_timeout_leaves_one_packet_and_an_idle_one_the_threshold() {
    // RFC 5681 §3.1: loss window of one segment.
    for (name, mut reno) in all() {
        let mut path = path();
        (0..5).for_each(|_| path.round(&mut reno));
        reno.on_rto(&Congestion { outstanding: 64, ..Congestion::default() });
        assert_eq!((reno.window(), reno.ssthresh()), (1, 32.0));
        reno.on_rto(&Congestion { idle: true, ..Congestion::default() });
        assert_eq!((reno.window(), reno.ssthresh()), (if name == "Linux" { 2 } else { 1 }, 32.0));
        reno.start(Instant::START);
        assert_eq!(reno.window(), 2);
        assert!(reno.ssthresh().is_infinite());
    }
}

#[test]
fn does_not_grow_in_recovery_nor_when_the_application_limits() {
    for (name, mut reno) in all() {
        if name != "ns-2" {
            reno.on_ack(&Ack { acked: 1, window_limited: false, ..Ack::default() });
        }
        reno.on_ack(&Ack { acked: 1, window_limited: true, in_recovery: true, ..Ack::default() });
        reno.on_ack(&Ack { acked: 0, window_limited: true, ..Ack::default() });
        assert_eq!(reno.window(), 2);
    }
}

#[test]
fn a_reduction_that_was_none_is_undone() {
    for (name, mut reno) in all() {
        let mut path = path();
        (0..5).for_each(|_| path.round(&mut reno));
        path.lose(&mut reno);
        let before = (reno.window(), reno.ssthresh());
        reno.keep();
        reno.on_rto(&Congestion { outstanding: 64, ..Congestion::default() });
        reno.on_rto(&Congestion { outstanding: 1, ..Congestion::default() });
        assert_eq!(reno.window(), 1);
        reno.on_spurious(path.now);
        assert_eq!((reno.window(), reno.ssthresh()), before, "{name}");
        reno.after_idle(1, 2);
        assert_eq!(reno.window(), before.0 / 2);
    }
}
