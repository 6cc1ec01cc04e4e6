//! Laws, each given by a few dozen numbers between 0 and 1: what the evolution of `policy_search.rs` moves in where a model asks
//! for a law.

use exmachina_rules::{LAW_UNIT, LEVELS, Law};

use super::places::Places;

/// Numbers of a law.
pub const NUMBERS: usize = 30;

/// Packets that a flow begins with, at most: receivers of Linux announce 64 kB until data have come.
const FIRST_WINDOW: f64 = 45.0;

/// The law with its numbers at these places. Whatever they are, a window without a queue grows.
pub fn law_at(places: &[f64]) -> Law {
    let p = &mut Places::of(places);
    let (target_of_rtt, target_of_gap, target_of_spread) = (p.log(0.003, 1.0), p.log(0.03, 10.0), p.log(0.03, 10.0));
    let growth = growth(p);
    let mut packets = [p.log(0.05, 10.0); LEVELS];
    (1..LEVELS).for_each(|k| packets[k] = packets[k - 1] * if k < LEVELS - 1 { p.between(0.0, 1.0) } else { 0.0 });
    let pace = p.logs::<LEVELS>(0.4, 1.4);
    // Above what the window delivers at this pace, or it would hold itself.
    let most = [p.log(1.2, 6.0).max(1.05 * pace[0]), p.log(0.8, 4.0), p.log(0.6, 3.0)];
    Law {
        target_of_rtt: unsigned(target_of_rtt),
        target_of_gap: unsigned(target_of_gap),
        target_of_spread: unsigned(target_of_spread),
        growth: growth.map(signed),
        packets: packets.map(unsigned),
        pace: pace.map(unsigned),
        most: [most[0], most[0], most[0], most[1], most[2]].map(unsigned),
        faster: unsigned(p.log(1.0, 2.0)),
        fastest: unsigned(p.log(1.0, 30.0)),
        first_window: unsigned(p.log(2.0, FIRST_WINDOW)),
        first_pause_ns: (1e6 * p.log(0.001, 1.0)) as u32,
        first_growth: unsigned(p.log(0.2, 2.0)),
        first_pace: unsigned(p.log(0.3, 1.4)),
        first_until: unsigned(p.log(0.3, 3.9)),
        then_window: unsigned(p.log(0.4, 2.0)),
        room: unsigned(p.log(0.5, 30.0)),
        least_packets: libm::round(p.log(1.0, 16.0)) as u32,
    }
}

/// Faster with less of a queue, and shrinking with a long one.
fn growth(p: &mut Places) -> [f64; LEVELS] {
    let first = p.log(0.005, 0.5);
    [first, first * p.between(0.0, 1.0), first * p.between(-0.5, 0.5), -p.log(0.003, 0.3), -p.log(0.01, 0.6)]
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
            let law = law_at(&places);
            assert_eq!(law.check(), Ok(()), "{places:?}");
            assert!(law.growth[0] > 300 && law.growth[3] < 0 && law.growth[4] < 0, "{law:?}");
        }
    }

    #[test]
    fn all_numbers_matter() {
        let middle = law_at(&[0.5; NUMBERS]);
        for k in 0..NUMBERS {
            let mut places = [0.5; NUMBERS];
            places[k] = 0.7;
            assert_ne!(law_at(&places), middle, "number {k}");
        }
    }
}
