//! What a flow under a law makes of a path that sends in batches, trembles or loses packets.

use crate::MAX_WINDOW;
use crate::law::Law;
use crate::law_flow::LawFlow;
use crate::law_silence::{ALL_SILENT, Silence};
use crate::law_tests::{MS, along, law, of, on_a_link};

/// A law of those who bear batches and jitter.
fn enduring() -> Law {
    Law { silence_most: of(0.8), silence_packets: of(0.2), target_of_rtt: of(0.01), target_of_spread: of(1.0), ..law() }
}

/// Two seconds on a path of 20 ms without a queue, where a packet arrives no earlier than `at_the_earliest` says and none overtakes
/// another.
fn in_order(law: &Law, mut at_the_earliest: impl FnMut(u64) -> u64) -> LawFlow {
    let (mut flow, mut now, mut newest) = (LawFlow::start(law), 0, 0);
    let mut under_way = std::collections::VecDeque::new();
    while now < 2000 * MS {
        now += 2 * flow.intersend_ns().max(20_000);
        newest = at_the_earliest(now + 20 * MS).max(newest);
        under_way.push_back((now, newest));
        let has_room =
            |under_way: &std::collections::VecDeque<_>, flow: &LawFlow| 2 * under_way.len() < flow.window(law) as usize;
        while under_way.front().is_some_and(|&(_, at)| at <= now || !has_room(&under_way, &flow)) {
            let (sent, at) = under_way.pop_front().unwrap_or_default();
            now = now.max(at);
            flow.on_ack(law, sent, at, 1, 2);
        }
    }
    flow
}

#[test]
fn who_waits_for_a_batch_or_a_late_packet_stands_in_no_queue() {
    let mut random = 1_u64;
    let mut jittery = |at: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        at + (random >> 33) % (8 * MS)
    };
    let bears = enduring();
    let patient = [bears, Law { silence_most: 0, ..bears }];
    let [with, without] = patient.map(|law| in_order(&law, &mut jittery));
    assert!(with.longer > 0 && with.delivered > 2 * without.delivered, "{with:?} {without:?}");
    assert_eq!(without.silence, Silence::default());
    let batched = in_order(&bears, |at| at.next_multiple_of(5 * MS));
    let of_five_ms = u64::from(of(0.8 * 5.0 / 20.0));
    assert!(batched.longer > of_five_ms * 99 / 100 && batched.longer <= of_five_ms, "{batched:?}");
    assert_eq!(in_order(&bears, |at| at).longer, 0);
}

/// Packets that are answered in four seconds on a path of 5 ms that lets one pass in a quarter of a millisecond, where an ACK
/// answers so many, or what has come 40 ms after the first of them.
fn answered(law: &Law, together: usize) -> usize {
    const STEP: u64 = MS / 20;
    let (mut flow, mut may_send, mut newest, mut answered) = (LawFlow::start(law), 0, 0, 0);
    let mut under_way = std::collections::VecDeque::new();
    for now in (0..4000 * MS).step_by(STEP as usize) {
        let come = under_way.iter().take_while(|&&(_, at)| at <= now).count();
        if come >= together || under_way.front().is_some_and(|&(_, at)| at + 40 * MS <= now) {
            let (sent, _) = under_way.drain(..come).next_back().unwrap();
            flow.on_ack(law, sent, now, 1, come as u32);
            answered += come;
        }
        if under_way.len() < flow.window(law) as usize && now >= may_send {
            newest = (now + 5 * MS).max(newest + MS / 4);
            under_way.push_back((now, newest));
            may_send = now + flow.intersend_ns();
        }
    }
    answered
}

#[test]
fn who_is_answered_by_few_acks_does_not_wait_for_the_receivers_timer() {
    let law = Law { first_window: of(4.0), ..law() };
    let [often, seldom, never] = [2, 24, 240].map(|together| answered(&law, together));
    assert!(often > 12_000, "{often}");
    assert!(seldom > often / 10 * 9, "{seldom} {often}");
    // Sixty packets more at most, each 45 ms.
    assert!(never > 4000 / 45 * 60, "{never}");
}

#[test]
fn what_one_ack_answers_is_forgotten_by_half_in_each_rtt() {
    let law = Law { first_window: of(4.0), first_growth: 1, ..law() };
    let mut flow = LawFlow::start(&law);
    let window = |flow: &LawFlow| u64::from(flow.window(&law)) - (flow.window >> 16) - 2;
    for (packets, more) in [(2, 0), (3, 4), (6, 4), (7, 8), (24, 24), (5, 24), (1000, 60)] {
        flow.on_ack(&law, 0, 20 * MS, 1, packets);
        assert_eq!(window(&flow), more, "{packets}");
    }
    for (k, more) in [(2, 28), (3, 12), (4, 4), (5, 0)] {
        flow.window = 100 << 16;
        flow.on_ack(&law, (k - 1) * 20 * MS, k * 20 * MS, 1, 50);
        assert_eq!(window(&flow), more, "{k}");
    }
}

#[test]
fn who_is_far_away_begins_with_more_packets_and_keeps_them_till_they_are_delivered() {
    let law = Law { first_rate: of(0.25), ..law() };
    for (rtt_ms, more) in [(4, 1), (40, 10), (600, 150)] {
        let (mut flow, rtt) = (LawFlow::start(&law), rtt_ms * MS);
        assert_eq!(flow.window(&law), 12);
        flow.on_ack(&law, 0, rtt, 1, 2);
        assert_eq!(flow.window(&law), 12 + more + 2);
        // This RTT delivers ten packets only, and the first of the next takes no more than it adds: four times ten and ten are less.
        for k in 1..5 {
            flow.on_ack(&law, 0, rtt + k, 1, 2);
        }
        let window = flow.window(&law);
        flow.on_ack(&law, rtt, 2 * rtt + 1, 1, 2);
        assert!(flow.delivered <= 12 << 16, "{flow:?}");
        assert_eq!(flow.window(&law), window + 2);
    }
    let mut flow = LawFlow::start(&Law { first_rate: 1 << 22, ..law });
    flow.on_ack(&law, 0, u64::MAX >> 1, 1, 2);
    assert!(flow.window(&law) <= MAX_WINDOW);
}

#[test]
fn who_is_near_begins_with_fewer_packets() {
    let law = Law { first_rate: of(0.25), first_most: of(7.0), ..law() };
    for (rtt_us, packets) in [(10, 2), (240, 2), (1000, 7), (1400, 9), (1600, 10), (4000, 11)] {
        let mut flow = LawFlow::start(&law);
        flow.on_ack(&law, 0, rtt_us * MS / 1000, 1, 1);
        // Two packets of room, and what the ACK adds.
        assert_eq!(flow.window(&law), 2 + packets + 1, "{rtt_us}");
    }
}

#[test]
fn the_first_packets_say_what_the_path_holds() {
    let first_train_ns = MS as u32;
    let law = Law { first_window: of(16.0), first_growth: of(0.5), first_train: of(0.25), first_train_ns, ..law() };
    // A quarter of what comes in 50 ms if all is as far apart as these 16, had they taken a millisecond more; half a packet for each
    // is more where they are slow.
    for (apart_us, packets, counts) in [(0, 187, 93), (10, 163, 81), (200, 46, 23), (1000, 24, 16)] {
        let mut flow = LawFlow::start(&law);
        (0..16).for_each(|k| flow.on_ack(&law, 0, 50 * MS + k * apart_us * MS / 1000, 1, 1));
        assert_eq!((flow.window(&law) - 2, flow.delivered >> 16), (packets, counts), "{apart_us}");
        // They count until what was sent by them can have come, whatever came until then, and not an RTT longer.
        let mut now = 260 * MS;
        flow.on_ack(&law, now - 50 * MS, now, 1, 1);
        assert_eq!(flow.delivered >> 16 >= counts, counts > 16, "{flow:?}");
        (0..16).for_each(|k| flow.on_ack(&law, now - 50 * MS, now + k, 1, 1));
        now += 60 * MS;
        flow.on_ack(&law, now - 50 * MS, now, 1, 1);
        assert!((14..=17).contains(&(flow.delivered >> 16)), "{flow:?}");
    }
}

#[test]
fn what_the_first_ack_answers_says_nothing_of_the_path() {
    let first_train_ns = MS as u32;
    let law = Law { first_window: of(16.0), first_growth: of(0.5), first_train: of(0.25), first_train_ns, ..law() };
    let mut flow = LawFlow::start(&law);
    flow.on_ack(&law, 0, 50 * MS, 1, 24);
    assert_eq!((flow.window >> 16, flow.arrived), (16 + 12, 2));
    flow.on_ack(&law, 0, 74 * MS, 1, 24);
    // Twenty-five packets in 25 ms are 50 in an RTT, and a quarter of these is no reason.
    assert_eq!((flow.window >> 16, flow.arrived), (16 + 24, 26));
}

#[test]
fn a_beginning_that_ends_soon_leaves_what_its_first_packets_said() {
    let law = Law { first_window: of(16.0), first_train: of(0.5), first_train_ns: MS as u32, ..law() };
    let after = |law: &Law| {
        let mut flow = LawFlow::start(law);
        (0..16).for_each(|k| flow.on_ack(law, 0, 50 * MS + k * MS / 10, 1, 1));
        // A queue as long as the path.
        (0..40).for_each(|k| flow.on_ack(law, 110 * MS, 210 * MS + k * MS, 1, 1));
        assert!(!flow.begins, "{flow:?}");
        flow.window >> 16
    };
    let (with, without) = (after(&law), after(&Law { first_train: 0, ..law }));
    assert!(with > 2 * without, "{with} {without}");
}

#[test]
fn one_silence_is_an_outage_and_one_before_a_packet_was_sent_no_silence() {
    let law = enduring();
    let mut flow = LawFlow::start(&law);
    let mut now = 0;
    on_a_link(&mut flow, &law, &mut now, 20, 40);
    assert!(!flow.begins && flow.longer == 0, "{flow:?}");
    now += 15 * MS;
    for _ in 0..10 {
        on_a_link(&mut flow, &law, &mut now, 20, 1);
        assert_eq!(flow.longer, 0, "an outage: {flow:?}");
    }
    for _ in 0..10 {
        now += 1000 * MS;
        (0..20).for_each(|i| flow.on_ack(&law, now - MS, now + i * MS, 1, 1));
        now += 20 * MS;
    }
    assert!(flow.longer < of(0.1).into(), "idle: {flow:?}");
}

#[test]
fn who_loses_too_many_packets_in_an_rtt_has_the_longest_queue() {
    let law = Law { loss_most: of(0.1), ..law() };
    let mut flow = LawFlow::start(&law);
    let mut now = 0;
    on_a_link(&mut flow, &law, &mut now, 20, 10);
    let mut lose = |flow: &mut LawFlow, one_in: u64| {
        let before = flow.window;
        for i in 0..400 {
            now += MS;
            if i % one_in == 0 {
                flow.on_loss(1);
            }
            flow.on_ack(&law, now - 20 * MS, now, 1, 1);
        }
        flow.window < before / 2
    };
    assert_eq!([lose(&mut flow, 20), lose(&mut flow, 5)], [false, true], "{flow:?}");
    let mut never = LawFlow { crowded: false, ..LawFlow::start(&Law { loss_most: 0, ..law }) };
    never.on_loss(100);
    along(&mut never, &Law { loss_most: 0, ..law }, 20 * MS, 5);
    assert!(!never.crowded);
}

#[test]
fn an_rtt_in_a_queue_of_many_rtts_ends_with_a_window_of_the_path() {
    // A link that takes 5 ms for a packet, a path of 100 ms, and a queue of so many packets, all the flow's own.
    let after = |most_of_path: f64, queue: u64| {
        let law = Law { most_of_path: of(most_of_path), ..law() };
        let (mut flow, mut now) = (LawFlow::start(&law), 1000 * MS);
        on_a_link(&mut flow, &law, &mut now, 100, 100);
        (flow.window, flow.delivered) = ((20 + queue) << 16, (20 + queue) << 16);
        let mut windows = Vec::new();
        // What is under way comes back, and nothing is sent meanwhile: the RTT is shorter for each packet.
        for left in (0..queue).rev() {
            now += 5 * MS;
            flow.on_ack(&law, now - (100 + 5 * left) * MS, now, 1, 1);
            windows.push(flow.window >> 16);
        }
        windows
    };
    let [any, three, two] = [0.0, 3.0, 2.0].map(|most| after(most, 400));
    // The path holds 20, and ten packets more are always allowed. That the queue stands is known after half an RTT.
    assert!(
        any[220] > 200 && (60..=70).contains(&three[220]) && (42..=50).contains(&two[220]),
        "{any:?} {three:?} {two:?}"
    );
    // The rest of that RTT, 180 packets, takes what it would take of a window of 400, and not each of them the same.
    assert!(3 * three[399] > 2 * three[220] && 3 * any[399] < 2 * any[220], "{any:?} {three:?}");
    assert_eq!(after(3.0, 10), after(0.0, 10));
}

#[test]
fn a_longer_path_is_found_out_by_beginning_again() {
    let (never, again) = (law(), Law { again_rtts: 50, ..law() });
    for (law, least, most) in [(never, 2, 4), (again, 15, 30)] {
        let (mut flow, mut now) = (LawFlow::start(&law), 0);
        on_a_link(&mut flow, &law, &mut now, 100, 200);
        assert!((15..30).contains(&flow.window(&law)), "{flow:?}");
        on_a_link(&mut flow, &law, &mut now, 150, 400);
        assert!((least..=most).contains(&flow.window(&law)), "{}: {flow:?}", law.again_rtts);
    }
}

#[test]
fn the_smallest_rtt_takes_the_word_of_many() {
    let of_one_then_many = |keeps: f64| {
        let law = Law { min_rtt_keeps: of(keeps), ..law() };
        let mut flow = LawFlow::start(&law);
        let mut now = 1000 * MS;
        let mut see = |rtt: u64, acks: u64| {
            for _ in 0..acks {
                now += MS;
                flow.on_ack(&law, now - rtt, now, 1, 1);
            }
            flow.min_rtt_ns
        };
        [see(100 * MS, 50), see(60 * MS, 1), see(100 * MS, 50), see(60 * MS, 40)]
    };
    assert_eq!(of_one_then_many(0.0), [100, 60, 60, 60].map(|ms| ms * MS));
    let [before, lucky, later, shorter] = of_one_then_many(0.875);
    assert_eq!([before, lucky, later], [100, 95, 95].map(|ms| ms * MS));
    assert!((60 * MS..61 * MS).contains(&shorter), "{shorter}");
}

#[test]
fn an_rtt_that_sees_next_to_nothing_of_a_batch_is_not_believed() {
    let law = Law { delivered_keeps: of(0.75), ..law() };
    let mut flow = LawFlow::start(&law);
    // Batches each 20 ms, the RTT: of one all ACKs come within an RTT, and within the next none but the last.
    for rtt in 0..6 {
        let at = 20 * MS * (rtt + 1);
        (0..25).for_each(|k| flow.on_ack(&law, at - 20 * MS + k, at + k, 1, 2));
    }
    let batch = flow.delivered;
    assert!((45 << 16..55 << 16).contains(&batch), "{flow:?}");
    for (left, at) in [(0.75, 150), (0.5625, 171), (0.421_875, 192)] {
        flow.on_ack(&law, (at - 20) * MS, at * MS, 1, 1);
        assert!((flow.delivered as f64 / batch as f64 - left).abs() < 1e-3, "{flow:?}");
    }
}

#[test]
fn where_acks_come_in_batches_more_packets_are_added() {
    let after_a_second = |adds: f64, silence_ms: u64| {
        let law = Law {
            silence_adds: of(adds),
            growth: [1, 0, 0, 0, 0],
            packets: [of(1.0); 5],
            most: [of(60.0); 5],
            ..enduring()
        };
        let mut flow = LawFlow { begins: false, window: 40 << 16, delivered: 40 << 16, ..LawFlow::start(&law) };
        // Paths of 20 ms, 40 packets in each RTT, whose ACKs come together after so long a silence.
        for rtt in 0..50 {
            for batch in 1..=20 / silence_ms {
                let at = MS * (1000 + 20 * rtt + silence_ms * batch);
                (0..2 * silence_ms).for_each(|k| flow.on_ack(&law, at + k - 20 * MS, at + k, 1, 1));
            }
        }
        (flow.silent, flow.window >> 16)
    };
    // An ACK adds a window's part of a packet: of windows the squares grow, from 40² by twice as much as there are ACKs.
    let [(all, once), (_, twice)] = [0.0, 1.0].map(|adds| after_a_second(adds, 10));
    assert_eq!((all, once), (ALL_SILENT, 74));
    assert!((96..=98).contains(&twice), "{twice}");
    let (some, between) = after_a_second(1.0, 2);
    assert!(some > 0 && some < ALL_SILENT && between > once && between < twice, "{some} {between}");
    assert_eq!(after_a_second(1.0, 1), (0, once));
}
