//! Tests of Tao'14's TCP/Rational, packet by packet: what arrives, what must leave.

use super::*;
use crate::scheme::ConstantWindow;

const MS: Duration = Duration::from_millis(1);
/// Minimum RTT of the path that these packets take.
const RTT: Duration = Duration::from_millis(100);

/// A sender with a window of four packets that has been switched on at 0, for ever.
fn agent() -> RationalTao14<ConstantWindow> {
    let mut agent = RationalTao14::new(ConstantWindow { packets: 4 }, 0, Settings::tao14(), Duration::ZERO);
    agent.start(Instant::START, u32::MAX);
    agent
}

/// Lets the agent act until it has nothing to do at this time: the numbers that it sends.
fn sends(agent: &mut RationalTao14<ConstantWindow>, now: Instant) -> Vec<u32> {
    let mut sent = Vec::new();
    while agent.ready() <= now {
        sent.extend(agent.act(now).0.map(|packet| packet.seq));
    }
    sent
}

/// A packet that was sent at some time reaches the receiver, and its ACK the sender: the numbers that are sent.
fn arrives(agent: &mut RationalTao14<ConstantWindow>, seq: u32, sent: Instant, now: Instant) -> Vec<u32> {
    agent.receive(&Packet { seq, sent, bytes: 1250, ..Packet::default() }, now, Duration::ZERO);
    sends(agent, now)
}

/// The first four packets, sent 1 ms apart.
fn four(agent: &mut RationalTao14<ConstantWindow>) {
    for i in 0..4 {
        agent.paced_until = Instant::from_millis(i);
        assert_eq!(agent.act(Instant::from_millis(i)).0.map(|packet| packet.seq), Some(i as u32));
    }
    assert_eq!(agent.ready(), SECOND_AFTER_FIRST);
}

/// The timer, which the first transmission started.
const SECOND_AFTER_FIRST: Instant = Instant::from_millis(1000);

#[test]
fn the_window_counts_transmissions_from_the_one_that_the_latest_ack_names() {
    let mut agent = agent();
    four(&mut agent);
    assert_eq!(arrives(&mut agent, 0, Instant::START, Instant::START + RTT), [4]);
    // 1 and 2 are lost: the ACK of 3 lets three transmissions go, of which the repairs are two.
    assert_eq!(arrives(&mut agent, 3, Instant::from_millis(3), Instant::START + RTT + 3 * MS), [1, 2, 5]);
    assert_eq!((agent.una(), agent.in_flight()), (1, 4));
}

#[test]
fn a_number_is_repaired_once_and_then_by_the_timer_alone() {
    let mut agent = agent();
    four(&mut agent);
    // 0 is lost, and so is its repair, which is transmission 5.
    assert_eq!(arrives(&mut agent, 1, Instant::from_millis(1), Instant::START + RTT + MS), [0, 4]);
    for (seq, sent) in [(2, 2 * MS), (3, 3 * MS), (4, RTT + MS)] {
        assert!(!arrives(&mut agent, seq, Instant::START + sent, Instant::START + sent + RTT).contains(&0));
    }
    assert_eq!((agent.una(), agent.totals().timeouts), (0, 0));
    // No ACK advanced the cumulative one, so that it is still the first transmission's timer, of 1 s.
    let expired = sends(&mut agent, SECOND_AFTER_FIRST);
    assert_eq!(
        (expired[0], expired.len(), agent.totals().timeouts),
        (0, 1, 1),
        "one packet, though the window is closed"
    );
    assert_eq!(agent.scheme.window(), 4);
}

#[test]
fn a_backoff_lasts_until_the_next_ack_of_anything() {
    let mut agent = agent();
    four(&mut agent);
    sends(&mut agent, SECOND_AFTER_FIRST);
    assert_eq!(agent.rto_at, SECOND_AFTER_FIRST + 2000 * MS);
    // The ACK of 0 restarts the timer, with the timeout as it was before; then its sample makes it 3 RTTs: R + 4 R/2.
    arrives(&mut agent, 0, SECOND_AFTER_FIRST, SECOND_AFTER_FIRST + RTT);
    assert_eq!(agent.rto_at, SECOND_AFTER_FIRST + RTT + 2000 * MS);
    assert_eq!(agent.rtt.rto(), 3 * RTT);
    // 7/8 R + 1/8 R, and 4 * 3/4 * R/2.
    agent.rtt.sample(0.1);
    assert_eq!(agent.rtt.rto(), 250 * MS);
    (0..50).for_each(|_| agent.rtt.sample(0.1));
    assert_eq!(agent.rtt.rto(), 200 * MS, "R and a granularity of 100 ms");
    (0..200).for_each(|_| agent.rtt.sample(0.01));
    assert_eq!(agent.rtt.rto(), 200 * MS, "the floor");
}

#[test]
fn the_timer_rests_where_all_is_acknowledged_and_nothing_more_is_to_be_sent() {
    let mut agent = agent();
    four(&mut agent);
    agent.stop(Instant::from_millis(4));
    for seq in 0..4 {
        assert!(
            arrives(&mut agent, seq, Instant::from_millis(seq.into()), Instant::from_millis(seq.into()) + RTT)
                .is_empty()
        );
    }
    assert_eq!(agent.ready(), Instant::NEVER);
    agent.start(Instant::START + 5 * RTT, u32::MAX);
    assert_eq!(sends(&mut agent, Instant::START + 5 * RTT).len(), 4);
}

#[test]
fn an_ack_takes_longer_by_its_sack_blocks() {
    let mut agent = RationalTao14::new(ConstantWindow { packets: 4 }, 0, Settings::tao14(), Duration::from_nanos(1000));
    agent.start(Instant::START, u32::MAX);
    four(&mut agent);
    assert!(arrives(&mut agent, 1, Instant::from_millis(1), Instant::START + RTT + MS).is_empty());
    assert_eq!((agent.ready(), agent.in_flight()), (Instant::START + RTT + MS + Duration::from_nanos(1000), 4));
    assert_eq!(sends(&mut agent, Instant::START + RTT + MS + Duration::from_nanos(1000)), [0, 4]);
}

#[test]
#[should_panic(expected = "as many as have numbers")]
fn packet_numbers_do_not_wrap() {
    let mut agent = agent();
    assert_eq!(agent.end, NUMBERS);
    agent.next = NUMBERS;
    agent.stop(Instant::START);
}
