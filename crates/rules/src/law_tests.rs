//! Laws: what flows under them do, whatever they meet.

use proptest::prelude::*;

use crate::MAX_WINDOW;
use crate::law::{LAW_UNIT, LEVELS, Law};
use crate::law_flow::{LEAST_WINDOW, LONGEST_PAUSE_NS, LawFlow, MOST_WINDOW, of_roots};
use crate::law_level::{LEVEL_AT, LEVEL_WIDTH, Level};

pub(crate) const MS: u64 = 1_000_000;

/// In 2^-16.
pub(crate) fn of(number: f64) -> u32 {
    (number * f64::from(LAW_UNIT)) as u32
}

pub(crate) fn law() -> Law {
    Law {
        target_of_rtt: of(0.05),
        target_of_root: 0,
        target_of_fourth: 0,
        target_of_gap: of(0.5),
        target_of_spread: of(1.0),
        growth: [of(0.1) as i32, of(0.05) as i32, 0, -(of(0.05) as i32), -(of(0.3) as i32)],
        packets: [of(1.0), of(0.5), of(0.25), 0, 0],
        pace: [0.5, 0.7, 0.9, 1.0, 1.0].map(of),
        most: [3.0, 3.0, 3.0, 2.0, 1.0].map(of),
        most_of_path: 0,
        least_packets: 2,
        again_rtts: 0,
        faster: of(1.5),
        fastest: of(4.0),
        first_window: of(10.0),
        first_rate: 0,
        first_most: 0,
        first_train: 0,
        first_train_ns: 0,
        delivered_keeps: 0,
        min_rtt_keeps: 0,
        first_pause_ns: 10_000,
        first_growth: of(1.0),
        first_pace: of(0.5),
        first_until: of(1.0),
        then_window: of(1.0),
        room: of(2.0),
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

/// A path of so many RTTs without a queue, from now on: the window and the pace say what goes, in evenly spaced ACKs of two packets.
pub(crate) fn along(flow: &mut LawFlow, law: &Law, rtt_ns: u64, rtts: u64) {
    let mut now = flow.low_from_ns.max(rtt_ns);
    for _ in 0..rtts {
        let packets = (rtt_ns / flow.intersend_ns()).clamp(2, u64::from(flow.window(law)));
        for _ in 0..packets / 2 {
            now += rtt_ns / (packets / 2);
            flow.on_ack(law, now - rtt_ns, now, 1, 2);
        }
    }
}

#[test]
fn what_is_said_at_the_levels_is_done_there_and_what_is_between_between() {
    let values = [10, 20, 40, 40, -60];
    let at = |length: u64| Level::of(length).signed(&values);
    assert_eq!(LEVEL_AT.map(at), [10, 20, 40, 40, -60].map(i64::from));
    assert_eq!([1 << 14, 3 << 14, 3 << 16].map(at), [15, 30, -10]);
    for k in 0..LEVELS - 1 {
        assert_eq!(1 << LEVEL_WIDTH[k], LEVEL_AT[k + 1] - LEVEL_AT[k]);
    }
}

#[test]
fn a_flow_begins_by_its_first_numbers_until_there_is_a_queue() {
    let law = law();
    let mut flow = LawFlow::start(&law);
    assert_eq!((flow.window(&law), flow.intersend_ns()), (12, 10_000));
    for i in 0..10 {
        flow.on_ack(&law, i * MS, (100 + i) * MS, 1, 1);
    }
    // Twice as many after an RTT, at twice the pace that the window alone would give.
    assert_eq!((flow.window(&law), flow.intersend_ns()), (22, 100 * MS / 40));
    (10..60).for_each(|i| flow.on_ack(&law, i * MS, (150 + i) * MS, 1, 1));
    assert!(!flow.begins && flow.window < 20 << 16, "{flow:?}");
}

#[test]
fn where_there_is_no_queue_every_window_grows() {
    let law = law();
    for rtt_ns in [MS / 5, 700 * MS] {
        for factor in [1e-6, 1.0, 1e2] {
            let mut flow = LawFlow::start(&law);
            along(&mut flow, &law, rtt_ns, 3);
            flow.begins = false;
            flow.upset(factor, 1.0 / factor);
            let before = flow.window;
            along(&mut flow, &law, rtt_ns, 25);
            assert!(flow.window >= (10 * before).min(MOST_WINDOW), "{rtt_ns} ns, {factor}: {flow:?}");
        }
    }
}

#[test]
fn a_queue_that_stays_makes_windows_small() {
    let law = law();
    let mut flow = LawFlow::start(&law);
    (0..100).for_each(|i| flow.on_ack(&law, i * MS, (100 + i) * MS, 1, 1));
    let before = flow.window;
    (100..1000).for_each(|i| flow.on_ack(&law, i * MS, (300 + i) * MS, 1, 1));
    assert!(flow.window < before / 10 && flow.window >= LEAST_WINDOW, "{before} {flow:?}");
    assert!(flow.intersend_ns() > 10 * MS);
}

/// An RTT of so many ms, of which the link adds what is in the window beyond 20 packets; ACKs of one packet, evenly spaced.
pub(crate) fn on_a_link(flow: &mut LawFlow, law: &Law, now: &mut u64, rtt_ms: u64, rtts: u64) {
    for _ in 0..rtts {
        let window = u64::from(flow.window(law));
        let rtt = rtt_ms * MS * window.max(20) / 20;
        for _ in 0..window {
            *now += rtt / window;
            flow.on_ack(law, now.wrapping_sub(rtt), *now, 1, 1);
        }
    }
}

#[test]
fn beginning_again_in_vain_leaves_the_smallest_rtt_as_it_was() {
    let law = Law { again_rtts: 20, ..law() };
    let (mut flow, mut now, mut begun) = (LawFlow::start(&law), 0, 0);
    let mut before = flow.clone();
    on_a_link(&mut flow, &law, &mut now, 100, 30);
    for _ in 0..3000 {
        let rtt = 100 * MS * u64::from(flow.window(&law)).max(20) / 20;
        now += rtt / u64::from(flow.window(&law));
        before.clone_from(&flow);
        flow.on_ack(&law, now - rtt, now, 1, 1);
        begun += u32::from(flow.begins && !before.begins);
        assert!(flow.begins || flow.min_rtt_ns == 100 * MS, "{before:?} {flow:?}");
    }
    assert!(begun > 3, "{begun}");
}

/// A law of those who share: from an eighth of the window on, as RFC 9438 has it, and tries again after 100 RTTs.
fn sharing() -> Law {
    Law { shared_below: of(0.125), shared_scale: of(0.4), shared_cut: of(0.7), shared_rtts: 100, ..law() }
}

/// So many RTTs of so many ms, whatever the flow does: others have filled the queue.
fn among_others(flow: &mut LawFlow, law: &Law, now: &mut u64, rtt_ms: u64, rtts: u64) {
    for _ in 0..rtts {
        let window = u64::from(flow.window(law));
        for _ in 0..window {
            *now += rtt_ms * MS / window;
            flow.on_ack(law, now.wrapping_sub(rtt_ms * MS), *now, 1, 1);
        }
    }
}

/// One that shares, since a loss at a window of some 1000 packets.
fn who_shares(law: &Law, now: &mut u64) -> LawFlow {
    let mut flow = LawFlow::start(law);
    among_others(&mut flow, law, now, 100, 4);
    while !flow.shares || flow.window < 1000 << 16 {
        among_others(&mut flow, law, now, 200, 1);
    }
    flow.on_loss(1);
    among_others(&mut flow, law, now, 200, 1);
    flow
}

#[test]
fn where_a_queue_stands_though_little_is_left_of_a_window_it_becomes_that_of_cubic() {
    let (law, mut now) = (sharing(), 0);
    let mut flow = who_shares(&law, &mut now);
    let (top, began) = (flow.top, now - 200 * MS);
    assert!(top >= 1000 << 16 && (7 * top / 10..75 * top / 100).contains(&flow.window), "{flow:?}");
    // RFC 9438 §4.2: back after the cube root of what was lost over C, slowly at last; and then faster.
    let away_s = libm::cbrt(0.3 * (top >> 16) as f64 / 0.4);
    let mut at = |part: f64| {
        while ((now - began) as f64) < part * away_s * 1e9 {
            among_others(&mut flow, &law, &mut now, 200, 1);
        }
        flow.window as f64 / top as f64
    };
    for (part, window) in [(0.5, 1.0 - 0.3 / 8.0), (1.0, 1.0), (1.5, 1.0 + 0.3 / 8.0)] {
        assert!((at(part) - window).abs() < 0.015, "{part}: {} {window}", at(part));
    }
}

#[test]
fn who_gives_way_as_all_others_do_takes_nobody_for_others() {
    let (law, mut now) = (Law { shared_below: of(0.5), ..sharing() }, 0);
    let mut flow = LawFlow::start(&law);
    while flow.window < 256 << 16 {
        among_others(&mut flow, &law, &mut now, 100, 1);
    }
    // A link that holds 64 of its packets without a queue: the RTT follows the window, but for the 400 ms that others always have.
    for with_others in [false, true] {
        let (mut flow, mut now, mut shared) = (flow.clone(), now, false);
        for _ in 0..60 {
            let own = u64::from(flow.window(&law)) * 100 / 64;
            among_others(&mut flow, &law, &mut now, if with_others { 400 + own } else { own.max(100) }, 1);
            shared |= flow.shares;
        }
        assert_eq!(shared, with_others, "{flow:?}");
    }
}

#[test]
fn others_are_there_once_a_queue_has_stood_for_eight_rtts() {
    let (law, mut now) = (sharing(), 0);
    let mut flow = LawFlow::start(&law);
    among_others(&mut flow, &law, &mut now, 100, 40);
    let mut rtts = 0;
    while !flow.shares {
        among_others(&mut flow, &law, &mut now, 400, 1);
        rtts += 1;
    }
    assert!(flow.stood >= 32 && (8..14).contains(&rtts), "{rtts} {flow:?}");
    // Of 1 ms they would have to be as many as are in 128 ms.
    let (mut flow, mut now) = (LawFlow::start(&law), 0);
    let mut short = |rtt_us: u64, flow: &mut LawFlow| {
        for _ in 0..flow.window(&law) {
            now += rtt_us * MS / 1000 / u64::from(flow.window(&law));
            flow.on_ack(&law, now.wrapping_sub(rtt_us * MS / 1000), now, 1, 1);
        }
        now
    };
    let came = (0..11).fold(0, |_, _| short(250, &mut flow));
    let mut last = came;
    while !flow.shares && last - came < 1000 * MS {
        last = short(1000, &mut flow);
    }
    assert!((110 * MS..220 * MS).contains(&(last - came)), "{}", last - came);
}

#[test]
fn what_is_set_elsewhere_is_no_shrinking() {
    let (law, mut now) = (sharing(), 0);
    let mut flow = LawFlow::start(&law);
    among_others(&mut flow, &law, &mut now, 100, 4);
    among_others(&mut flow, &law, &mut now, 400, 1);
    let of_top = |flow: &LawFlow| flow.window as f64 / flow.top as f64;
    let before = of_top(&flow);
    assert!(before.is_finite(), "{flow:?}");
    flow.set_window(40);
    assert!((of_top(&flow) / before - 1.0).abs() < 0.15, "{before} {flow:?}");
}

#[test]
fn of_losses_in_an_rtt_one_is_answered_and_those_who_share_nothing_answer_none() {
    let (law, mut now) = (sharing(), 0);
    let mut flow = who_shares(&law, &mut now);
    among_others(&mut flow, &law, &mut now, 200, 2);
    let before = flow.window;
    for _ in 0..3 {
        flow.on_loss(1);
        flow.on_ack(&law, now - 200 * MS, now, 1, 1);
    }
    assert!((69 * before / 100..71 * before / 100).contains(&flow.window), "{before} {flow:?}");
    let (mut told, mut alone) = (LawFlow::start(&law), LawFlow::start(&law));
    for i in 0..500 {
        told.on_loss(1);
        told.on_ack(&law, i * MS, (100 + i) * MS, 1, 1);
        alone.on_ack(&law, i * MS, (100 + i) * MS, 1, 1);
    }
    told.losses = 0;
    assert_eq!(told, alone);
}

#[test]
fn it_is_tried_ever_more_rarely_whether_the_queue_goes_until_it_does() {
    let (law, mut now) = (sharing(), 0);
    let mut flow = who_shares(&law, &mut now);
    let mut tried = Vec::new();
    for rtt in 0..3000 {
        let shared = flow.shares;
        among_others(&mut flow, &law, &mut now, 200, 1);
        if shared && !flow.shares {
            tried.push(rtt);
        }
    }
    let apart: Vec<u64> = tried.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(apart.len() >= 3 && apart.windows(2).all(|pair| pair[1] > pair[0] * 3 / 2), "{tried:?}");
    while !flow.shares {
        among_others(&mut flow, &law, &mut now, 200, 1);
    }
    among_others(&mut flow, &law, &mut now, 100, 8);
    assert!(!flow.shares && flow.patience == 1, "{flow:?}");
}

#[test]
fn of_two_flows_in_one_queue_the_smaller_strives_for_more() {
    let law = Law { target_of_root: of(0.2), ..law() };
    let longer = |packets: u64| of_roots(&law, packets << 16);
    assert_eq!([4, 64, 10_000].map(longer), [of(0.2) / 2, of(0.2) / 8, of(0.2) / 100].map(u64::from));
    let fourth = Law { target_of_root: 0, target_of_fourth: of(0.2), ..law };
    assert_eq!(
        [16, 256, 10_000].map(|packets| of_roots(&fourth, packets << 16)),
        [2, 4, 10].map(|root| u64::from(of(0.2)) / root)
    );
    // Of less than a packet it is that of one.
    assert_eq!(longer(0), longer(1));
    let mut flow = LawFlow::start(&law);
    assert_eq!(flow.longer, of_roots(&law, law.first_window.into()));
    along(&mut flow, &law, 100 * MS, 10);
    assert_eq!((flow.longer, flow.delivered > 500 << 16), (of_roots(&law, flow.delivered), true));
    assert_eq!(LawFlow::start(&Law { target_of_root: 0, ..law }).longer, 0);
}

#[test]
fn what_cannot_be_followed_is_refused_by_name() {
    let of_law = |change: fn(&mut Law)| {
        let mut law = law();
        change(&mut law);
        law.check().map_err(|error| error.to_string())
    };
    assert_eq!(of_law(|_| ()), Ok(()));
    let error = |change| of_law(change).unwrap_err();
    assert_eq!(
        error(|law| law.growth[0] = 0),
        "law: growth is 0, expected above 0 where there is no queue, and at most 1"
    );
    assert_eq!(error(|law| law.pace[4] = 0), "law: pace is 0, expected above 0 and at most 16");
    assert_eq!(
        error(|law| law.most[0] = law.pace[0].max(LAW_UNIT)),
        "law: most is 65536, expected above 1, and above pace, where there is no queue, and at most 64"
    );
    assert_eq!(error(|law| law.first_growth = 0), "law: first_growth is 0, expected above 0 and at most 64");
    assert_eq!(error(|law| law.first_until = 0), "law: first_until is 0, expected above 0 and at most 64");
    assert_eq!(error(|law| law.first_pace = 4 << 16), "law: first_pace is 262144, expected above 0 and below 4");
    assert_eq!(error(|law| law.least_packets = 0), "law: least_packets is 0, expected 1 to 64");
    assert_eq!(error(|law| law.target_of_root = 1 << 19), "law: target_of_root is 524288, expected 0 to 4");
    assert_eq!(error(|law| law.silence_most = u32::MAX), "law: silence_most is 4294967295, expected 0 to 64");
    assert_eq!(error(|law| law.loss_most = 1 << 17), "law: loss_most is 131072, expected 0 to 1");
    assert_eq!(error(|law| law.first_rate = 1 << 23), "law: first_rate is 8388608, expected 0 to 64");
    assert_eq!(error(|law| law.first_window = 1), "law: first_window is 1, expected 2 to 1024");
    let with = |change: fn(&mut Law)| {
        let mut law = sharing();
        change(&mut law);
        law.check().unwrap_err().to_string()
    };
    assert_eq!(with(|law| law.shared_below = LAW_UNIT), "law: shared_below is 65536, expected 0 to 1/2");
    assert_eq!(with(|law| law.shared_scale = 0), "law: shared_scale is 0, expected 1/64 to 4");
    assert_eq!(with(|law| law.shared_cut = 0), "law: shared_cut is 0, expected 1/4 to 1");
    assert_eq!(with(|law| law.shared_rtts = 0), "law: shared_rtts is 0, expected 1 to 4096");
    assert_eq!(error(|law| law.room = u32::MAX), "law: room is 4294967295, expected 0 to 64");
}

proptest! {
    /// Overflows panic in tests.
    #[test]
    fn whatever_clocks_show_a_window_and_a_pause_stay_in_bounds(
        acks in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>()), 1..50),
        largest in any::<bool>(),
        shares in any::<bool>(),
        lost in any::<u64>(),
    ) {
        let mut law = if shares { Law { shared_below: LAW_UNIT / 2, shared_rtts: 1, ..sharing() } } else { law() };
        if largest {
            let most = 1 << 22;
            (law.target_of_rtt, law.target_of_gap, law.target_of_spread) = (most, most, most);
            (law.target_of_root, law.target_of_fourth) = (4 * LAW_UNIT, 4 * LAW_UNIT);
            law.again_rtts = 1;
            (law.silence_most, law.silence_packets, law.loss_most) = (most, most, if shares { 1 } else { 0 });
            (law.packets, law.most, law.pace) = ([most; LEVELS], [most; LEVELS], [1 << 20; LEVELS]);
            (law.growth, law.faster, law.fastest, law.room) = ([1 << 16; LEVELS], most, most, most);
        }
        prop_assert_eq!(law.check(), Ok(()));
        let mut flow = LawFlow::start(&law);
        for (k, (sent, received, tick, packets)) in acks.into_iter().enumerate() {
            if lost >> k & 1 == 1 {
                flow.on_loss(1);
            }
            if shares && k == 10 {
                (flow.begins, flow.shares, flow.top) = (false, true, flow.window);
            }
            flow.on_ack(&law, sent, received, tick, packets);
            prop_assert!((2..=MAX_WINDOW).contains(&flow.window(&law)), "{:?}", flow);
            prop_assert!((1..=LONGEST_PAUSE_NS).contains(&flow.intersend_ns()), "{:?}", flow);
        }
    }
}
