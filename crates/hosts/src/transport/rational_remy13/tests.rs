//! Tests of Remy'13's TCP/Rational, packet by packet: what arrives, what must leave.

use super::*;
use crate::scheme::ConstantWindow;

const RTT: Duration = Duration::from_millis(100);

type Agent = RationalRemy13<ConstantWindow>;

/// A sender with a window of six packets that has been switched on at 0, for ever.
fn agent(opening: Opening) -> Agent {
    let settings = Settings { opening, ..Settings::remy13() };
    let mut agent = RationalRemy13::new(ConstantWindow { packets: 6 }, 0, settings);
    agent.start(Instant::START, u32::MAX);
    agent
}

/// Lets the agent act until it has nothing to do at this time: the numbers that it sends.
fn sends(agent: &mut Agent, now: Instant) -> Vec<u32> {
    let mut sent = Vec::new();
    while agent.ready() <= now {
        sent.extend(agent.act(now).0.map(|packet| packet.seq));
    }
    sent
}

fn arrives(agent: &mut Agent, seq: u32, sent: Instant, now: Instant) -> Vec<u32> {
    agent.receive(&Packet { seq, sent, bytes: 1260, ..Packet::default() }, now, Duration::ZERO);
    sends(agent, now)
}

#[test]
fn duplicates_let_two_packets_go_and_then_everything_again_once() {
    let mut agent = agent(Opening::Data);
    assert_eq!(sends(&mut agent, Instant::START), [0, 1, 2, 3, 4, 5]);
    // 0 is lost.
    assert_eq!(arrives(&mut agent, 1, Instant::START, Instant::START + RTT), [6]);
    assert_eq!(arrives(&mut agent, 2, Instant::START, Instant::START + RTT), [7]);
    // A constant window does not collapse: all six go again.
    assert_eq!(arrives(&mut agent, 3, Instant::START, Instant::START + RTT), [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        (
            arrives(&mut agent, 4, Instant::START, Instant::START + RTT),
            arrives(&mut agent, 5, Instant::START, Instant::START + RTT)
        ),
        (vec![], vec![])
    );
    assert_eq!((agent.totals().reductions, agent.totals().timeouts), (1, 0));
}

#[test]
fn a_syn_goes_alone_and_an_rtt_ahead() {
    let mut agent = agent(Opening::Syn);
    assert_eq!(sends(&mut agent, Instant::START), [0]);
    agent.receive(&Packet { bytes: HEADER_BYTES, ..Packet::default() }, Instant::START + RTT, Duration::ZERO);
    assert_eq!(sends(&mut agent, Instant::START + RTT), [1, 2, 3, 4, 5, 6]);
    assert_eq!(agent.totals().in_order, 0);
}

#[test]
fn the_timer_runs_on_and_doubles() {
    let mut agent = agent(Opening::Data);
    sends(&mut agent, Instant::START);
    assert_eq!(agent.ready(), Instant::from_millis(3000));
    (0..6).for_each(|seq| _ = arrives(&mut agent, seq, Instant::START, Instant::START + RTT));
    agent.stop(Instant::START + RTT);
    // All that was sent is still acknowledged; 8 R of 8ths and 2 R: 3 R, which later samples of R bring down.
    (6..12).for_each(|seq| _ = arrives(&mut agent, seq, Instant::START + RTT, Instant::START + 2 * RTT));
    let rto = agent.rtt.rto();
    assert_eq!(agent.ready(), Instant::START + 2 * RTT + rto);
    assert!(sends(&mut agent, Instant::START + 2 * RTT + rto).is_empty());
    assert_eq!((agent.totals().timeouts, agent.ready()), (0, Instant::START + 2 * RTT + rto + 2 * rto));
}

#[test]
#[should_panic(expected = "as many as have numbers")]
fn packet_numbers_do_not_wrap() {
    let mut agent = agent(Opening::Data);
    assert_eq!(agent.end, NUMBERS);
    agent.edge = NUMBERS;
    agent.stop(Instant::START);
}
