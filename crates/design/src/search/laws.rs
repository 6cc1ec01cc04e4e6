//! Laws, each given by a few dozen numbers between 0 and 1: what the evolution of `policy_search.rs` moves in where a model asks
//! for a law, and who tunes one. A design can begin with any law: [`places_of`] is the way back.

use exmachina_rules::{LAW_UNIT, LEVELS, Law};

use super::places::Range::{self, Even, Log};
use crate::model::Model;

/// Numbers of a law,
pub const NUMBERS: usize = 47;
/// and without the last four, by which it shares a link with others.
pub const OWN_NUMBERS: usize = NUMBERS - 4;
/// Their ranges, in the order of [`Law`]'s fields as far as those are searched for.
const RANGES: [Range; NUMBERS] = {
    let pace = Log(0.2, 1.4);
    let share = Even(0.0, 1.0);
    [
        // The target: of the RTT, of the gap, of the spread.
        Log(0.001, 1.0),
        Log(0.01, 10.0),
        Log(0.01, 10.0),
        // Growth without a queue; at half a target and at one, as shares of that; shrinking with a long queue.
        Log(0.001, 0.5),
        share,
        Even(-0.5, 0.5),
        Log(0.003, 0.3),
        Log(0.01, 0.6),
        // Packets without a queue; at the next three levels, as shares of those at the one before.
        Log(0.02, 10.0),
        share,
        share,
        share,
        // Paces.
        pace,
        pace,
        pace,
        pace,
        pace,
        // The largest window: up to one target, at two, at four.
        Log(1.2, 6.0),
        Log(0.8, 6.0),
        Log(0.6, 4.0),
        // How growth gets faster, and up to what.
        Log(1.0, 2.0),
        Log(1.0, 60.0),
        // A beginning: window, pause in ms, growth, pace, until when, and the window then. Receivers of Linux announce 64 kB until data
        // have come, so that no more than 45 packets are wise.
        Log(2.0, 45.0),
        Log(0.001, 1.0),
        Log(0.2, 2.0),
        Log(0.15, 1.4),
        Log(0.1, 3.9),
        Log(0.4, 2.0),
        // Room; packets that the standing RTT is the least of.
        Log(0.5, 30.0),
        Log(1.0, 16.0),
        // The target: of the RTT by the root of what it delivers, never if below the least; of silences likewise, and for each
        // packet in one; and losses that are too many, never if above the most.
        Log(0.005, 1.0),
        Log(0.05, 8.0),
        Log(0.01, 1.0),
        Log(0.01, 0.6),
        // Packets that a beginning has more for each ms, never if below the least.
        Log(0.005, 2.0),
        // The share of the way that the smallest RTT goes down to a smaller one; all of it if above the most.
        Log(0.02, 1.2),
        // The share of what an RTT delivers that the next one keeps.
        Even(0.0, 0.95),
        // By what multiple packets are added faster where ACKs come in batches.
        Even(0.0, 3.0),
        // Packets that a beginning has at most for each ms, any number if above the most.
        Log(2.0, 60.0),
        // The share of what its first packets say that the path holds, and how much longer they count as having taken, ms.
        Even(0.0, 1.0),
        Log(0.03, 30.0),
        // The target: of the RTT by the fourth root of what it delivers, never if below the least.
        Log(0.002, 1.0),
        // The largest window after an RTT in the longest queue, of what the smallest RTT would deliver; any if above the most.
        Log(1.0, 16.0),
        // Sharing: the window below which a flow does, never if it is below the least; C, what a loss leaves, and RTTs. Greedier than
        // this it would leave Cubic, whose own are 0.4 and 0.7, less than half of an equal share: the score does not ask what others have.
        Log(0.02, 0.5),
        Log(0.1, 1.5),
        Log(0.5, 0.8),
        Log(16.0, 512.0),
    ]
};

/// RTTs after which a flow begins again. No path changes its length in training, where that only costs: so it is none of the numbers.
const AGAIN_RTTS: u32 = 256;

/// A target would be longer by less than this share of the RTT over the root of its packets: it never is.
const LEAST_OF_ROOT: u32 = LAW_UNIT / 100;
/// And over their fourth root.
const LEAST_OF_FOURTH: u32 = LAW_UNIT / 200;

/// Nor by less than this share of a silence.
const LEAST_SILENCE: u32 = LAW_UNIT / 10;

/// Nor does a beginning have more by less than this.
const LEAST_FIRST_RATE: u32 = LAW_UNIT / 100;

/// Nor is a beginning bounded by more than this.
const MOST_FIRST_MOST: u32 = LAW_UNIT * 50;

/// Nor is a window in the longest queue bounded by more than this.
const MOST_OF_PATH: u32 = LAW_UNIT * 12;

/// No share of losses is too large if this one is not.
const MOST_LOSS: u32 = LAW_UNIT / 2;

/// A flow that would share below this share of a window never does.
const LEAST_SHARED_BELOW: u32 = LAW_UNIT / 100 * 3;

/// How many numbers are searched for: how to share is learned from others, and without any it only costs.
pub fn numbers_for(model: &Model) -> usize {
    if model.has_neighbours() { NUMBERS } else { OWN_NUMBERS }
}

/// The law with its numbers at these places. Whatever they are, a window without a queue grows. If they say nothing of sharing, it
/// shares as the law that the search began with.
pub fn law_at(places: &[f64], begun: Option<&Law>) -> Law {
    let number: [f64; NUMBERS] = std::array::from_fn(|k| RANGES[k].at(places.get(k).copied().unwrap_or_default()));
    let [target_of_rtt, target_of_gap, target_of_spread, growth, less, none, shrink, shrink_more, packets, rest @ ..] =
        number;
    let [p1, p2, p3, pace0, pace1, pace2, pace3, pace4, most, most_at_two, most_at_four, faster, fastest, rest @ ..] =
        rest;
    let [first_window, pause_ms, first_growth, first_pace, first_until, then_window, room, least_packets, rest @ ..] =
        rest;
    let [
        target_of_root,
        silence_most,
        silence_packets,
        loss_most,
        first_rate,
        min_rtt_goes,
        delivered_keeps,
        silence_adds,
        first_most,
        first_train,
        train_ms,
        target_of_fourth,
        most_of_path,
        rest @ ..,
    ] = rest;
    let [shared_below, shared_scale, shared_cut, shared_rtts] = rest;
    let silence_most = at_least(LEAST_SILENCE, unsigned(silence_most));
    // Above what the window delivers at this pace, or it would hold itself.
    let most = most.max(1.05 * pace0);
    let law = Law {
        target_of_rtt: unsigned(target_of_rtt),
        target_of_root: at_least(LEAST_OF_ROOT, unsigned(target_of_root)),
        target_of_fourth: at_least(LEAST_OF_FOURTH, unsigned(target_of_fourth)),
        target_of_gap: unsigned(target_of_gap),
        target_of_spread: unsigned(target_of_spread),
        silence_most,
        silence_packets: if silence_most == 0 { 0 } else { unsigned(silence_packets) },
        silence_adds: if silence_most == 0 { 0 } else { unsigned(silence_adds) },
        loss_most: Some(unsigned(loss_most)).filter(|&most| most <= MOST_LOSS).unwrap_or(0),
        growth: [growth, growth * less, growth * none, -shrink, -shrink_more].map(signed),
        packets: [packets, packets * p1, packets * p1 * p2, packets * p1 * p2 * p3, 0.0].map(unsigned),
        pace: [pace0, pace1, pace2, pace3, pace4].map(unsigned),
        most: [most, most, most, most_at_two, most_at_four].map(unsigned),
        most_of_path: Some(unsigned(most_of_path)).filter(|&most| most <= MOST_OF_PATH).unwrap_or(0),
        faster: unsigned(faster),
        fastest: unsigned(fastest),
        first_window: unsigned(first_window),
        first_rate: at_least(LEAST_FIRST_RATE, unsigned(first_rate)),
        first_most: Some(unsigned(first_most)).filter(|&most| most <= MOST_FIRST_MOST).unwrap_or(0),
        first_train: unsigned(first_train),
        first_train_ns: if unsigned(first_train) == 0 { 0 } else { (1e6 * train_ms) as u32 },
        first_pause_ns: (1e6 * pause_ms) as u32,
        first_growth: unsigned(first_growth),
        first_pace: unsigned(first_pace),
        first_until: unsigned(first_until),
        then_window: unsigned(then_window),
        room: unsigned(room),
        delivered_keeps: unsigned(delivered_keeps),
        min_rtt_keeps: LAW_UNIT - unsigned(min_rtt_goes).min(LAW_UNIT),
        least_packets: libm::round(least_packets) as u32,
        again_rtts: AGAIN_RTTS,
        shared_below: at_least(LEAST_SHARED_BELOW, unsigned(shared_below)),
        shared_scale: unsigned(shared_scale),
        shared_cut: unsigned(shared_cut),
        shared_rtts: libm::round(shared_rtts) as u32,
    };
    if places.len() == NUMBERS {
        return law;
    }
    let [shared_below, shared_scale, shared_cut, shared_rtts] =
        begun.map_or([0; 4], |begun| [begun.shared_below, begun.shared_scale, begun.shared_cut, begun.shared_rtts]);
    Law { shared_below, shared_scale, shared_cut, shared_rtts, ..law }
}

/// Where a law's numbers are: the nearest places, where it is none that a search would find.
pub fn places_of(law: &Law) -> Vec<f64> {
    let share = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
    let of = |number: u32| f64::from(number) / f64::from(LAW_UNIT);
    let growth = law.growth.map(|growth| f64::from(growth) / f64::from(LAW_UNIT));
    let packets = law.packets.map(of);
    let mut numbers = vec![of(law.target_of_rtt), of(law.target_of_gap), of(law.target_of_spread)];
    numbers.extend([growth[0], share(growth[1], growth[0]), share(growth[2], growth[0]), -growth[3], -growth[4]]);
    numbers.push(packets[0]);
    numbers.extend((1..LEVELS - 1).map(|k| share(packets[k], packets[k - 1])));
    numbers.extend(law.pace.map(of));
    numbers.extend([law.most[0], law.most[3], law.most[4], law.faster, law.fastest, law.first_window].map(of));
    numbers.push(f64::from(law.first_pause_ns) / 1e6);
    numbers.extend([law.first_growth, law.first_pace, law.first_until, law.then_window, law.room].map(of));
    numbers.push(f64::from(law.least_packets));
    numbers.extend([law.target_of_root, law.silence_most, law.silence_packets].map(of));
    numbers.push(if law.loss_most == 0 { 1.0 } else { of(law.loss_most) });
    numbers.extend([law.first_rate, LAW_UNIT - law.min_rtt_keeps, law.delivered_keeps, law.silence_adds].map(of));
    numbers.push(if law.first_most == 0 { 60.0 } else { of(law.first_most) });
    numbers.extend([of(law.first_train), f64::from(law.first_train_ns) / 1e6, of(law.target_of_fourth)]);
    numbers.push(if law.most_of_path == 0 { 16.0 } else { of(law.most_of_path) });
    numbers.extend([law.shared_below, law.shared_scale].map(of));
    numbers.extend([of(law.shared_cut), f64::from(law.shared_rtts)]);
    RANGES.iter().zip(numbers).map(|(range, number)| range.place(number)).collect()
}

/// None where it is less.
fn at_least(least: u32, number: u32) -> u32 {
    if number < least { 0 } else { number }
}

fn signed(number: f64) -> i32 {
    libm::round(number * f64::from(LAW_UNIT)) as i32
}

fn unsigned(number: f64) -> u32 {
    signed(number) as u32
}

#[cfg(test)]
mod tests {
    use exmachina_net::random::{Purpose, Stream};

    use super::*;

    #[test]
    fn every_place_is_a_law() {
        for specimen in 0..1000 {
            let stream = &mut Stream::new(1, specimen, 0, Purpose::Candidates);
            let places: Vec<f64> = (0..NUMBERS).map(|_| stream.between(-0.5, 1.5)).collect();
            let law = law_at(&places, None);
            assert_eq!(law.check(), Ok(()), "{places:?}");
            assert!(law.growth[0] > 60 && law.growth[3] < 0 && law.growth[4] < 0, "{law:?}");
        }
    }

    #[test]
    fn every_law_is_found_again_at_its_places() {
        for specimen in 0..200 {
            let stream = &mut Stream::new(2, specimen, 0, Purpose::Candidates);
            let law = law_at(&(0..NUMBERS).map(|_| stream.uniform()).collect::<Vec<f64>>(), None);
            let again = law_at(&places_of(&law), None);
            let numbers = |law: &Law| places_of(law).iter().map(|place| (place * 200.0).round()).collect::<Vec<f64>>();
            assert_eq!((again.pace, again.most, numbers(&again)), (law.pace, law.most, numbers(&law)), "{law:?}");
            // What is a share of a share is rounded twice.
            let off = law.packets.iter().zip(again.packets).map(|(a, b)| a.abs_diff(b)).max();
            assert!(off <= Some(40), "{law:?} {again:?}");
        }
    }

    #[test]
    fn laws_without_what_came_later_come_back_as_they_are() {
        let mut places = [0.5; OWN_NUMBERS];
        places[OWN_NUMBERS - 13..].copy_from_slice(&[0.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        let later = |law: &Law| {
            let of_roots = [law.target_of_root, law.target_of_fourth];
            let of_queues = [law.silence_most, law.silence_packets, law.loss_most];
            let of_beginnings = [law.first_rate, law.first_most, law.first_train, law.first_train_ns];
            (
                of_roots,
                of_queues,
                of_beginnings,
                law.min_rtt_keeps,
                law.delivered_keeps,
                law.silence_adds,
                law.most_of_path,
            )
        };
        let law = law_at(&places, None);
        assert_eq!(
            (later(&law), later(&law_at(&places_of(&law), None))),
            (([0; 2], [0; 3], [0; 4], 0, 0, 0, 0), ([0; 2], [0; 3], [0; 4], 0, 0, 0, 0))
        );
    }

    #[test]
    fn all_numbers_matter() {
        let middle = law_at(&[0.5; NUMBERS], None);
        for k in 0..NUMBERS {
            let mut places = [0.5; NUMBERS];
            places[k] = 0.7;
            assert_ne!(law_at(&places, None), middle, "number {k}");
        }
    }

    #[test]
    fn where_nobody_is_to_share_with_a_law_shares_as_the_one_that_it_began_with() {
        let begun = law_at(&[0.9; NUMBERS], None);
        let alone = law_at(&[0.5; OWN_NUMBERS], None);
        assert_eq!((alone.shared_below, alone.check()), (0, Ok(())));
        let Law { shared_below, shared_scale, shared_cut, shared_rtts, .. } = begun;
        let shares = Law { shared_below, shared_scale, shared_cut, shared_rtts, ..alone };
        assert_eq!(law_at(&[0.5; OWN_NUMBERS], Some(&begun)), shares);
        assert!(shared_below > 0);
    }
}
