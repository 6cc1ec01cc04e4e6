//! Connections: transfers, delayed ACKs, timeouts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use exmachina_hosts::scheme::{Ack, AnyScheme, Cubic, CubicSettings, Own, Remy, Scheme};
use exmachina_hosts::transport::{Connections, Ends, Recovery, RtoFloor, Settings};
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::{Arrival, Draw, FirstOff, On, Stop, Workload};
use exmachina_net::network::{HopPlan, LinkPlan};
use exmachina_net::observe::Observer;
use exmachina_net::packet::Packet;
use exmachina_net::queue::{Limit, QueueKind};
use exmachina_net::service::Trace;
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, RuleTable, Signal};

use crate::contenders::schemes;
use crate::probe::{Log, close, dumbbell, flow, hop, newreno, plain, run, within};

type Sender = Ends<AnyScheme<'static>>;

/// When on-periods begin and end, the window at their beginning, and when packets are sent.
#[derive(Default)]
struct Diary {
    started: Vec<Instant>,
    windows: Vec<u32>,
    stopped: Vec<Instant>,
    sent: Vec<Instant>,
}

impl Observer<Sender> for Diary {
    fn started(&mut self, now: Instant, _: usize, sender: &Sender) {
        self.started.push(now);
        self.windows.push(sender.scheme().window());
    }

    fn stopped(&mut self, now: Instant, _: usize) {
        self.stopped.push(now);
    }

    fn sent(&mut self, now: Instant, _: usize, _: &Packet, _: Option<Instant>, _: &Sender) {
        self.sent.push(now);
    }
}

/// A transfer ends when its last packet is acknowledged: all of them arrived, no more and no less, whatever was lost.
#[test]
fn transfers_deliver_all_their_packets() {
    for preset in [Settings::tao14(), Settings::today()] {
        for recovery in [
            Recovery::RationalTao14,
            Recovery::GoBackN,
            Recovery::NewReno,
            Recovery::TcpLinux,
            Recovery::Proportional,
            Recovery::Rack,
        ] {
            let transport = preset.with_recovery(recovery);
            for (name, scheme) in schemes(&transport) {
                let hop = HopPlan { loss: 0.05, ..hop(10.0, QueueKind::DropTail, Limit::Packets(50)) };
                let mut sender = flow(scheme, transport, 40.0);
                let transfer = Arrival { start_s: 0.0, stop: Stop::Bytes(200.0 * 1250.0) };
                sender.0.workload.on = On::At(vec![transfer; 5].into());
                let mut diary = Diary::default();
                let engine = run(&dumbbell(hop, vec![sender]), 3000.0, &mut diary);
                let totals = engine.senders()[0].totals();
                assert_eq!((diary.started.len(), diary.stopped.len()), (5, 5), "{name}, {recovery:?}: {totals:?}");
                assert_eq!(totals.delivered, 1000, "{name}, {recovery:?}: {totals:?}");
                // About 5 % must be sent again; without SACK more are, and after timeouts all, or one number again and again.
                let by_timeout = [Recovery::GoBackN, Recovery::NewReno, Recovery::TcpLinux, Recovery::RationalTao14];
                let sack = !by_timeout.contains(&recovery);
                let most = if sack { 600.0 } else { 3000.0 };
                within(&format!("{name}, {recovery:?}: repairs"), totals.retransmitted as f64, 25.0, most);
            }
        }
    }
}

/// The window counts from the latest arrival, so that losses change nothing in what is sent; each is repaired once, and a
/// repair that is lost waits for a timeout, which repairs that packet and no other (`rational_tao14.rs`).
#[test]
fn with_forward_acks_a_lost_repair_waits_for_a_timeout() {
    let transport = plain().with_recovery(Recovery::RationalTao14);
    let hop = HopPlan { loss: 0.05, ..hop(10.0, QueueKind::DropTail, Limit::Packets(50)) };
    let always_20 = Action { multiple: 0.0, increment: 20, intersend_ms: 0.01 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL, always_20)).expect("a sound table");
    let sender = flow(AnyScheme::Remy(Remy::new(Box::leak(Box::new(table)))), transport, 40.0);
    let engine = run(&dumbbell(hop, vec![sender]), 1000.0, &mut Diary::default());
    let totals = engine.senders()[0].totals();
    // 20 packets in every RTT of 41 ms.
    let sent = 487_800.0;
    within("packets sent", totals.sent as f64, 0.97 * sent, 1.03 * sent);
    within("repairs", totals.retransmitted as f64, 0.045 * sent, 0.055 * sent);
    // A repair is lost as often as any packet, and so is what a timeout sends.
    within("timeouts", totals.timeouts as f64, 0.8 * 0.05 * 0.05 * sent, 1.2 * 0.05 * 0.05 * sent);
    // Nothing is sent twice for nothing; data behind a gap waits for it, here at the end of the run.
    assert!(totals.delivered + (0.06 * sent) as u64 > totals.sent && totals.in_order <= totals.delivered, "{totals:?}");
    within("in order", totals.in_order as f64, 0.99 * totals.delivered as f64, totals.delivered as f64);
}

/// A fresh connection begins with the initial window; a persistent one goes on with what it has.
#[test]
fn fresh_connections_begin_anew_and_persistent_ones_go_on() {
    let windows = |connections, idle_timer| {
        let mut sender = flow(
            newreno(),
            Settings { connections, ..plain().with_parts(|parts| parts.timer.runs_when_idle = idle_timer) },
            40.0,
        );
        sender.0.workload =
            Workload { off: Draw::Fixed, first_off: FirstOff::At(0.0), ..Workload::new(On::FixedSeconds(2.0), 0.3) };
        let mut diary = Diary::default();
        run(&dumbbell(hop(10.0, QueueKind::DropTail, Limit::Packets(60)), vec![sender]), 10.0, &mut diary);
        diary.windows
    };
    assert_eq!(windows(Connections::Fresh, false), [2; 5]);
    let persistent = windows(Connections::Persistent, false);
    assert!(persistent[0] == 2 && persistent[1..].iter().all(|&w| w > 20), "{persistent:?}");
    // ns-2's timer runs on in the pause, and sets the window to 1 when it expires.
    assert_eq!(windows(Connections::Persistent, true), [2, 1, 1, 1, 1]);
}

/// A window of its own, and a count of ACKs.
#[derive(Clone)]
struct Counting(u32, Arc<AtomicU64>);

impl Scheme for Counting {
    fn start(&mut self, _now: Instant) {}
    fn on_ack(&mut self, _ack: &Ack) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
    fn window(&self) -> u32 {
        self.0
    }
    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
}

/// RFC 1122 §4.2.3.2: an ACK for every second packet of a stream, and one for a lone packet after the delay.
#[test]
fn delayed_acks_are_half_as_many() {
    let run = |window, delayed_ack| {
        let acks = Arc::new(AtomicU64::new(0));
        let scheme = AnyScheme::Own(Own(Box::new(Counting(window, acks.clone()))));
        let sender = flow(scheme, Settings { delayed_ack, ..plain() }, 50.0);
        let engine =
            run(&dumbbell(hop(10.0, QueueKind::DropTail, Limit::Infinite), vec![sender]), 100.0, &mut Log::default());
        let delivered = engine.senders()[0].totals().delivered;
        (delivered as f64, acks.load(Ordering::Relaxed) as f64)
    };
    let (delivered, acks) = run(40, Duration::ZERO);
    assert_eq!(delivered, acks);
    let (delivered, acks) = run(40, Duration::from_millis(40));
    close("packets per ACK", delivered / acks, 2.0, 0.001);
    // A window of one packet: each waits 40 ms for a second that does not come. The last may still wait.
    let (delivered, acks) = run(1, Duration::from_millis(40));
    within("packets without an ACK", delivered - acks, 0.0, 1.0);
    close("packets/s", delivered / 100.0, 1e3 / (51.0 + 40.0), 0.005);
}

/// RFC 6298 §2.1, 5.5: 3 s (or 1 s) at first, then twice as long each time, up to 60 s.
#[test]
fn timeouts_back_off() {
    for (rto_initial, gaps) in
        [(3.0, [3.0, 6.0, 12.0, 24.0, 48.0, 60.0, 60.0]), (1.0, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0])]
    {
        let hop = HopPlan { loss: 1.0, ..hop(10.0, QueueKind::DropTail, Limit::Infinite) };
        let transport = plain().with_parts(|parts| parts.timer.initial = Duration::from_nanos_f64(rto_initial * 1e9));
        let mut diary = Diary::default();
        let engine = run(&dumbbell(hop, vec![flow(newreno(), transport, 100.0)]), 220.0, &mut diary);
        diary.sent.dedup();
        let found: Vec<Duration> = diary.sent.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(found[..7], gaps.map(Duration::from_s));
        assert_eq!(engine.senders()[0].totals().timeouts as usize, found.len());
        assert_eq!(engine.senders()[0].scheme().window(), 1);
    }
}

/// RFC 6298 §2.4 and Linux: what a lone lost packet waits for, with an RTT that does not vary.
#[test]
fn a_lone_packet_that_is_lost_waits_for_the_timer() {
    for (rto_floor, expected) in [
        (RtoFloor::Timeout(Duration::SECOND), 1.0),
        (RtoFloor::Timeout(Duration::from_millis(200)), 0.2),
        (RtoFloor::Variation(Duration::from_millis(200)), 0.301),
    ] {
        let hop = HopPlan { loss: 0.02, ..hop(10.0, QueueKind::DropTail, Limit::Infinite) };
        let transport = plain().with_parts(|parts| parts.timer.floor = rto_floor);
        let scheme = AnyScheme::Own(Own(Box::new(Counting(1, Arc::default()))));
        let mut diary = Diary::default();
        run(&dumbbell(hop, vec![flow(scheme, transport, 100.0)]), 1000.0, &mut diary);
        // The first timeout of a row, after the estimates have settled.
        let gaps: Vec<f64> = diary.sent.windows(2).map(|w| (w[1] - w[0]).as_s()).skip(1000).collect();
        let first = gaps.windows(2).filter(|g| g[0] < 0.102 && g[1] > 0.102).map(|g| g[1]);
        let least = first.clone().fold(f64::INFINITY, f64::min);
        close("timeout, s", least, expected, 0.01);
        close("timeout at most, s", first.fold(0.0, f64::max), expected, 0.02);
    }
}

/// A link that gives one packet every millisecond keeps time with the ACKs that it causes: two repairs for each arrival
/// (slow start while repairs are lost) made of every second one a loss, and recovery never ended (RFC 9937 §6.2, SafeACK).
#[test]
fn recovery_ends_on_a_link_that_keeps_time_with_its_acks() {
    let every_ms: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
    let trace = Trace::parse(&every_ms, "constant").expect("a trace");
    for link in [LinkPlan::Trace(trace, 0), LinkPlan::Rate(12.0)] {
        let hop = HopPlan { link, ..hop(12.0, QueueKind::DropTail, Limit::Packets(100)) };
        let transport = Settings::today();
        let cubic = AnyScheme::Cubic(Cubic::new(CubicSettings::default()));
        let engine = run(&dumbbell(hop, vec![flow(cubic, transport, 50.0)]), 60.0, &mut Diary::default());
        let totals = engine.senders()[0].totals();
        within("delivered", totals.delivered as f64, 0.95 * 72_000.0, 72_000.0);
        within("in order", totals.in_order as f64, 0.98 * totals.delivered as f64, totals.delivered as f64);
        within("sent again", totals.retransmitted as f64, 1.0, 0.02 * totals.sent as f64);
        assert!(totals.reductions > 3, "{totals:?}");
    }
}
