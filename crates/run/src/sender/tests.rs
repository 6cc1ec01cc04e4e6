//! What a sender makes of ACKs, late and lost ones among them.

use exmachina_hosts::scheme::{Aimd, Remy};
use exmachina_rules::{Action, FlatTable, Memory, RuleTable, Signal};

use super::*;

#[test]
fn acks_of_an_earlier_flow_carry_out_the_action_and_leave_the_memory_alone() {
    let rule = Action { multiple: 2.0, increment: 1, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut sender = Sender::new(Remy::new(&table), 0);
    sender.start(Instant::START, u32::MAX);
    let first = sender.act(Instant::START).0.unwrap();
    sender.stop(Instant::from_nanos(1));
    sender.receive(&Packet { seq: 5, ..first }, Instant::from_nanos(2), Duration::NANOSECOND);
    assert_eq!(sender.scheme.controller.window(), 1, "nothing acts while it is off");
    sender.start(Instant::from_nanos(10), u32::MAX);
    sender.receive(&first, Instant::from_nanos(50), Duration::NANOSECOND);
    assert_eq!((sender.scheme.controller.window(), sender.delivered), (3, 2));
    assert_eq!(sender.scheme.controller.memory(), &Memory::default());
    // The window holds packets of the present flow only.
    assert_eq!((sender.outstanding(), sender.limit), (0, 1 + 3));
}

#[test]
fn a_transfer_whose_window_is_lost_goes_on() {
    let rule = Action { multiple: 0.0, increment: 2, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut sender = Sender::new(Remy::new(&table), 0);
    sender.start(Instant::START, 3);
    let (first, second) = (sender.act(Instant::START).0.unwrap(), sender.act(Instant::from_millis(1)).0.unwrap());
    assert_eq!(sender.ready(), Instant::NEVER);
    sender.receive(&Packet { lost: true, ..first }, Instant::from_millis(5), Duration::NANOSECOND);
    assert_eq!(sender.ready(), Instant::NEVER, "an ACK may still come");
    sender.receive(&Packet { lost: true, ..second }, Instant::from_millis(6), Duration::NANOSECOND);
    assert_eq!((sender.ready(), sender.limit, sender.end), (Instant::from_millis(2), 4, 5));
}

#[test]
fn a_rule_table_is_told_what_is_passed_over() {
    let rule = Action { multiple: 0.0, increment: 9, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut sender = Sender::new(Remy::new(&table), 0);
    sender.start(Instant::START, u32::MAX);
    let sent: Vec<Packet> = (0..9).map(|ms| sender.act(Instant::from_millis(ms)).0.unwrap()).collect();
    let mut share = 0.0;
    for (seq, lost) in [(0, 0), (3, 2), (4, 0), (8, 3)] {
        sender.receive(&sent[seq], Instant::from_nanos(100_000_000 + seq as u64), Duration::NANOSECOND);
        (0..lost).for_each(|_| share += (1.0 - share) / 256.0);
        share -= share / 256.0;
        assert!((sender.scheme.controller.memory().loss_share() - share).abs() < 1e-12, "{seq}");
    }
}

#[test]
fn a_sender_by_time_whose_window_is_lost_goes_on() {
    let rule = Action { multiple: 0.0, increment: 2, intersend_ms: 1.0 };
    let table = FlatTable::new(&RuleTable::single(&Signal::ALL[..4], rule)).unwrap();
    let mut sender = Sender::new(Remy::new(&table), 0);
    sender.start(Instant::START, u32::MAX);
    let lost = |packet: Option<Packet>| Packet { lost: true, ..packet.unwrap() };
    let first = lost(sender.act(Instant::START).0);
    // It has room for another: nothing is known of that one yet, and nothing changes.
    sender.receive(&first, Instant::from_nanos(500_000), Duration::NANOSECOND);
    assert_eq!((sender.ready(), sender.limit), (Instant::from_millis(1), 2));
    let second = lost(sender.act(Instant::from_millis(1)).0);
    assert_eq!(sender.ready(), Instant::NEVER);
    sender.receive(&second, Instant::from_millis(6), Duration::NANOSECOND);
    assert_eq!((sender.ready(), sender.limit, sender.outstanding()), (Instant::from_millis(2), 4, 0));
    let mut heard = Memory::default();
    heard.on_loss(2);
    assert_eq!(sender.scheme.controller.memory(), &heard, "of losses only");
}

#[test]
fn aimd_whose_window_is_lost_halves_it() {
    let mut sender = Sender::new(Aimd::default(), 0);
    sender.start(Instant::START, u32::MAX);
    (0..3).for_each(|i| {
        let sent = Packet { seq: i, ..sender.act(Instant::from_nanos(i.into())).0.unwrap() };
        sender.receive(&sent, Instant::from_nanos(10 + u64::from(i)), Duration::NANOSECOND);
    });
    assert_eq!(sender.scheme.window(), 4);
    let window: Vec<Packet> = (0..4).map(|i| sender.act(Instant::from_nanos(20 + i)).0.unwrap()).collect();
    window.iter().for_each(|packet| {
        sender.receive(&Packet { lost: true, ..*packet }, Instant::from_nanos(40), Duration::NANOSECOND)
    });
    assert_eq!((sender.scheme.window(), sender.limit), (2, 7 + 2));
}

#[test]
#[should_panic(expected = "as many as have numbers")]
fn packet_numbers_do_not_wrap() {
    let mut sender = Sender { next_seq: NUMBERS - 3, ..Sender::new(Aimd::default(), 0) };
    sender.start(Instant::START, u32::MAX);
    while !sender.finished() {
        let packet = sender.act(Instant::START).0.unwrap();
        sender.receive(&packet, Instant::from_nanos(10), Duration::NANOSECOND);
    }
    sender.stop(Instant::from_nanos(10));
}
