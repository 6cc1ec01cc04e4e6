//! What a flow makes of what it is told, callback by callback.

use std::sync::Arc;
use std::time::{Duration, Instant};

use exmachina_rules::{Action, Controller, FlatTable, LAW_UNIT, LEVELS, Law, RuleTable, Signal, first_signals};

use super::Flow;

const MTU: u16 = 1200;
const FULL: u64 = MTU as u64;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Windows grow by a packet with each packet's news; from half of the packets lost on, they are a single packet.
fn table() -> Arc<FlatTable> {
    let action = Action { multiple: 1.0, increment: 1, intersend_ms: 2.0 };
    let mut table = RuleTable::single(&[Signal::AckEwma, Signal::LossRate], action);
    let mut at = first_signals(&[0.0; 4]);
    at[Signal::LossRate as usize] = 0.5;
    table.split(0, &at, &[Signal::LossRate]);
    table.set_action(1, Action { multiple: 0.0, increment: 1, intersend_ms: 9.0 });
    Arc::new(FlatTable::new(&table).unwrap())
}

/// A flow whose first packet was acknowledged after 100 ms, and then.
fn begun() -> (Flow, Instant) {
    let zero = Instant::now();
    let mut flow = Flow::start(table(), zero, MTU);
    flow.on_sent(zero, FULL, 0);
    ack(&mut flow, &[zero], zero + ms(100), 1);
    (flow, zero + ms(100))
}

fn ack(flow: &mut Flow, sent: &[Instant], received: Instant, outstanding: u64) {
    sent.iter().for_each(|&sent| flow.on_ack(sent));
    flow.on_end_acks(received, outstanding, false);
}

#[test]
fn windows_and_paces_are_of_packets_of_full_size() {
    let (mut flow, _) = begun();
    assert_eq!((flow.controller().window(), flow.window_bytes(), flow.pacing_rate()), (2, 2400, 600_000));
    flow.on_mtu(1452);
    assert_eq!((flow.window_bytes(), flow.pacing_rate()), (2904, 726_000));
    assert_eq!([0, 1, 1452, 1453].map(|bytes| flow.packets(bytes)), [0, 1, 1, 2]);
}

#[test]
fn an_ack_frame_of_k_packets_is_k_acks_spaced_evenly() {
    let (mut flow, now) = begun();
    let mut reference = flow.controller().clone();
    let sent = [1, 2, 3].map(|k| now - ms(40) + ms(k));
    ack(&mut flow, &sent, now + ms(30), 1);
    reference.on_stretched_ack(&table(), 63_000_000, 130_000_000, 1, 3, 3);
    assert_eq!(*flow.controller(), reference);
}

#[test]
fn losses_count_before_the_ack_that_shows_them() {
    let (mut flow, now) = begun();
    let (sent, received) = (now - ms(1), now + ms(99));
    let mut reference = flow.controller().clone();
    reference.on_loss(400);
    reference.on_stretched_ack(&table(), 99_000_000, 199_000_000, 1, 402, 2);
    ack(&mut flow, &[sent, sent], received, 1);
    assert_eq!(flow.controller().window(), 4);
    flow.on_lost(received, 300);
    flow.on_lost(received, 100);
    assert_eq!(flow.controller().window(), 1);
    assert_eq!(flow.controller().memory().point().map(f32_of), reference.memory().point().map(f32_of));
}

/// Two losses of one instant are one loss of both, but for rounding.
fn f32_of(signal: f64) -> f32 {
    signal as f32
}

#[test]
fn losses_that_a_timer_finds_wait_for_the_next_ack() {
    let (mut flow, now) = begun();
    let mut reference: Controller = flow.controller().clone();
    flow.on_lost(now + ms(5), 400);
    assert_eq!(flow.controller().window(), 2);
    ack(&mut flow, &[now], now + ms(100), 1);
    reference.on_loss(400);
    reference.on_ack(&table(), 100_000_000, 200_000_000, 1, 401);
    assert_eq!(*flow.controller(), reference);
}

/// Two RTTs of 100 ms: the probe timeout is 100 + 4 * 37.5 + 25 = 275 ms.
#[test]
fn after_a_pause_the_flow_begins_anew_but_not_while_it_waits() {
    for (outstanding, pause, window) in [(0, 275, 3), (0, 276, 1), (1200, 5000, 3)] {
        let (mut flow, now) = begun();
        ack(&mut flow, &[now], now + ms(100), outstanding);
        flow.on_sent(now + ms(100 + pause), FULL, 1);
        assert_eq!(flow.controller().window(), window, "{pause}");
    }
}

#[test]
fn a_flow_that_has_too_little_to_send_keeps_its_window() {
    let (mut flow, now) = begun();
    for k in 1..=5 {
        flow.on_ack(now);
        flow.on_end_acks(now + ms(100 + k), 1, true);
    }
    assert_eq!(flow.controller().window(), 2);
    ack(&mut flow, &[now + ms(7)], now + ms(107), 1);
    assert_eq!(flow.controller().window(), 3);
}

/// What it has room for beside its window stays beside it, however often there is too little to send.
#[test]
fn under_a_law_a_flow_that_has_too_little_to_send_keeps_its_window() {
    let zero = Instant::now();
    let table = Arc::new(FlatTable::new(&RuleTable::of_law(&[Signal::AckEwma], law())).unwrap());
    let mut flow = Flow::start(Arc::clone(&table), zero, MTU);
    assert_eq!(flow.controller().window(), 12);
    flow.on_sent(zero, FULL, 0);
    for k in 0..100 {
        flow.on_ack(zero + ms(k));
        flow.on_end_acks(zero + ms(100 + k), 1, true);
    }
    assert_eq!(flow.controller().window(), 12);
    ack(&mut flow, &[zero + ms(100)], zero + ms(200), 1);
    assert_eq!((flow.controller().window(), flow.window_bytes()), (13, 13 * 1200));
    let paced = flow.pacing_rate();
    flow.on_lost(zero + ms(200), 7);
    assert_eq!((flow.controller().window(), flow.pacing_rate()), (13, paced));
}

/// A window of ten packets, that grows by one with each, and room for two more; nothing is a queue.
fn law() -> Law {
    let unit = LAW_UNIT;
    Law {
        target_of_rtt: unit,
        target_of_root: 0,
        target_of_fourth: 0,
        target_of_gap: unit,
        target_of_spread: unit,
        growth: [unit as i32 / 10; LEVELS],
        packets: [0; LEVELS],
        pace: [unit; LEVELS],
        most: [4 * unit; LEVELS],
        most_of_path: 0,
        least_packets: 1,
        again_rtts: 0,
        faster: unit,
        fastest: unit,
        first_window: 10 * unit,
        first_rate: 0,
        first_most: 0,
        first_train: 0,
        first_train_ns: 0,
        delivered_keeps: 0,
        min_rtt_keeps: 0,
        first_pause_ns: 1000,
        first_growth: unit,
        first_pace: unit,
        first_until: 4 * unit,
        then_window: unit,
        room: 2 * unit,
        silence_most: 0,
        silence_packets: 0,
        silence_adds: 0,
        loss_most: 0,
        shared_below: 0,
        shared_scale: 0,
        shared_cut: 0,
        shared_rtts: 0,
    }
}

#[test]
fn persistent_congestion_begins_anew() {
    let (mut flow, _) = begun();
    flow.on_persistent_congestion();
    assert_eq!(*flow.controller(), Controller::start(&table()));
}

#[test]
fn packets_of_an_old_path_count_for_nothing() {
    let zero = Instant::now() + ms(1000);
    let mut flow = Flow::start(table(), zero, MTU);
    ack(&mut flow, &[zero - ms(1)], zero + ms(99), 1);
    assert_eq!(*flow.controller(), Controller::start(&table()));
}

#[test]
fn a_window_that_has_to_hold_the_pace_is_what_leaves_in_an_rtt() {
    let (mut flow, now) = begun();
    assert_eq!(flow.paced_window_bytes(), flow.window_bytes());
    for k in 0..100 {
        ack(&mut flow, &[now + ms(k)], now + ms(100 + k), 1);
    }
    // 50 packets in 100 ms; the window is 102.
    assert_eq!((flow.window_bytes(), flow.paced_window_bytes()), (102 * 1200, 50 * 1200));
}

/// ACKs of what comes before data are 100 ms apart, and those after 10 ms: the flow knows of the latter alone.
#[test]
fn a_flow_begins_with_data_and_not_with_the_handshake() {
    let zero = Instant::now();
    let mut flow = Flow::start(table(), zero, MTU);
    // Initial, Handshake, and new connection IDs; others of these are outstanding when data come. That the first of them was no data
    // is known by what follows.
    for (at, bytes) in [(0, FULL), (100, 1150), (200, 140)] {
        flow.on_sent(zero + ms(at), bytes, 0);
        assert_eq!((flow.controller(), flow.began().is_some()), (&Controller::start(&table()), at == 0));
        flow.on_ack(zero + ms(at));
        flow.on_end_acks(zero + ms(at + 100), 0, true);
    }
    flow.on_sent(zero + ms(310), 60, 1);
    let data = zero + ms(320);
    flow.on_sent(data, FULL, 2);
    assert_eq!(flow.began(), Some(data));
    ack(&mut flow, &[zero + ms(310)], zero + ms(410), 1200);
    assert_eq!(*flow.controller(), Controller::start(&table()));
    let mut reference = Controller::start(&table());
    for k in 0..5 {
        ack(&mut flow, &[data + ms(10 * k)], data + ms(100 + 10 * k), 1200);
        reference.on_ack(&table(), 10_000_000 * k, 100_000_000 + 10_000_000 * k, 1, 1);
        assert_eq!(*flow.controller(), reference);
    }
}

/// A server's certificate may be more than a window: its ACKs say that the window held the sender up.
#[test]
fn a_handshake_of_many_packets_is_forgotten_with_the_first_packet_of_another_space() {
    let zero = Instant::now();
    let mut flow = Flow::start(table(), zero, MTU);
    flow.on_sent(zero, 150, 0);
    for number in 0..4 {
        flow.on_sent(zero + ms(100 * number), FULL, number);
        ack(&mut flow, &[zero + ms(100 * number)], zero + ms(100 * number + 100), 1);
    }
    assert!(flow.controller().window() > 1 && flow.began().is_some());
    flow.on_sent(zero + ms(400), 140, 0);
    assert_eq!((flow.controller(), flow.began()), (&Controller::start(&table()), None));
    // The RTT is that of the path: the probe timeout is far below that of an unknown one.
    flow.on_sent(zero + ms(410), FULL, 1);
    flow.on_ack(zero + ms(410));
    flow.on_end_acks(zero + ms(510), 0, true);
    flow.on_sent(zero + ms(510 + 500), 50, 2);
    assert_eq!(flow.began(), None);
}

#[test]
fn a_flow_begins_with_as_much_as_a_packet_of_full_size_or_when_it_is_held_up() {
    let zero = Instant::now();
    let awaited = || {
        let mut flow = Flow::start(table(), zero, MTU);
        flow.on_sent(zero, 700, 0);
        flow
    };
    let mut flow = awaited();
    flow.on_sent(zero + ms(1), 499, 1);
    assert_eq!(flow.began(), None);
    flow.on_sent(zero + ms(2), 1, 2);
    assert_eq!(flow.began(), Some(zero + ms(2)));
    // What was acknowledged is not outstanding.
    let mut flow = awaited();
    flow.on_ack(zero);
    flow.on_end_acks(zero + ms(100), 0, true);
    flow.on_sent(zero + ms(101), 700, 1);
    assert_eq!(flow.began(), None);
    // Where there was something to send, the sender was held up; and packets acknowledged earlier are none of the flow's.
    ack(&mut flow, &[zero + ms(101)], zero + ms(201), 0);
    assert_eq!((flow.began(), flow.controller().window()), (Some(zero + ms(100)), 2));
}

#[test]
fn what_was_lost_before_a_flow_began_is_none_of_its_losses() {
    let zero = Instant::now();
    let mut flow = Flow::start(table(), zero, MTU);
    flow.on_sent(zero, 140, 0);
    flow.on_congestion(zero + ms(300), zero, 1, false);
    let data = zero + ms(400);
    flow.on_sent(data, FULL, 1);
    ack(&mut flow, &[data], data + ms(100), 1);
    ack(&mut flow, &[data], data + ms(101), 1);
    let reference = flow.controller().clone();
    flow.on_congestion(data + ms(101), data - ms(1), 400, false);
    flow.on_congestion(data + ms(101), data - ms(1), 400, true);
    assert_eq!(*flow.controller(), reference);
    flow.on_congestion(data + ms(101), data, 400, false);
    assert_eq!(flow.controller().window(), 1);
}

#[test]
fn after_a_silence_the_flow_waits_for_data_again() {
    let (mut flow, now) = begun();
    ack(&mut flow, &[now], now + ms(100), 0);
    // A PING that keeps the connection alive.
    flow.on_sent(now + ms(5000), 40, 1);
    flow.on_ack(now + ms(5000));
    flow.on_end_acks(now + ms(5125), 0, true);
    assert_eq!((flow.controller(), flow.began()), (&Controller::start(&table()), None));
    flow.on_sent(now + ms(5200), FULL, 2);
    assert_eq!(flow.began(), Some(now + ms(5200)));
}
