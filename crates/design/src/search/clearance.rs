//! Distance between the splits of a table and what its averages settle at.
//!
//! A flow that is paced every 0.3 ms has ACKs every 0.3 ms. A split of `ack_ewma` at 0.3 ms then decides by the last bit of
//! a clock which rule holds: in whole nanoseconds always the same one, in another simulator the other, on a real clock
//! either. So no split of an average time is near a pace of the same table, nor near what a link of one given rate makes of
//! it, the time of a packet or of a few.

use exmachina_rules::{Action, RuleTable, Signal};

use super::moves;
use crate::model::{DesignTable, Model};

/// A split is no nearer than this share of what an average settles at.
pub const NEAREST: f64 = 0.01;
/// More than that, so that rounding does not undo it.
const APART: f64 = 1.1 * NEAREST;
/// Where a split cannot be as far off as that, it is at least further than this.
const KNIFE: f64 = 0.1 * NEAREST;
/// Links of so many given rates, shared by so many senders at most, have their packets' times kept clear of.
const MOST_RATES: usize = 8;
const MOST_SHARING: f64 = 16.0;
/// Where one thing's way out is another's neighbourhood, it is given up after so many.
const MOST_MOVES: usize = 16;

/// Signals that are averages of times between packets.
const AVERAGES: [Signal; 3] = [Signal::SendEwma, Signal::AckEwma, Signal::SlowAckEwma];

/// Whether a signal is such an average.
pub fn is_average(signal: Signal) -> bool {
    AVERAGES.contains(&signal)
}

/// The places at which a table splits averages, ascending.
pub fn edges(table: &RuleTable) -> Vec<f64> {
    let bounds = |(cell, _): &(exmachina_rules::Cell, Action)| AVERAGES.map(|s| cell.lower[s as usize]);
    let mut all: Vec<f64> = table.rules().iter().flat_map(bounds).filter(|&edge| edge > 0.0).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    all
}

/// What averages settle at, ms: the paces of a table, and the times that packets of a model's links take, ascending.
pub fn settled(table: &RuleTable, model: &Model) -> Vec<f64> {
    let mut all: Vec<f64> = table.rules().iter().map(|(_, action)| action.intersend_ms).filter(|&r| r > 0.0).collect();
    let sharing = model.scenario.most_senders().min(MOST_SHARING) as u32;
    for link in &model.scenario.links {
        let rates = link.rate_mbps.points().filter(|rates| rates.len() <= MOST_RATES).unwrap_or_default();
        let packet_ms = |rate: &f64| exmachina_net::network::PACKET_BYTES * 8e-3 / rate;
        all.extend(rates.iter().map(packet_ms).flat_map(|ms| (1..=sharing).map(move |k| f64::from(k) * ms)));
    }
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    all
}

/// How near a split of an average is to what that settles at, as a share of it: infinite where nothing is split, or settles.
#[must_use]
pub fn nearest(table: &RuleTable, model: &Model) -> f64 {
    let settled = settled(table, model);
    let apart = |edge: f64| settled.iter().map(move |at| (edge / at - 1.0).abs()).fold(f64::INFINITY, f64::min);
    edges(table).into_iter().map(apart).fold(f64::INFINITY, f64::min)
}

/// The nearest place to `at` that is near none of these; `at` itself if there is none within reach.
pub fn clear_of(at: f64, others: &[f64]) -> f64 {
    let walk = |step: f64| {
        let mut place = at;
        for _ in 0..MOST_MOVES {
            match others.iter().find(|&&other| (place / other - 1.0).abs() < NEAREST) {
                Some(other) => place = other * step,
                None => return Some(place),
            }
        }
        None
    };
    let ways = [1.0 - APART, 1.0 + APART].into_iter().filter_map(walk);
    ways.min_by(|a, b| (a - at).abs().total_cmp(&(b - at).abs())).unwrap_or(at)
}

/// The same between two others of its signal. Where one of these has the place already, half of the wider way to them off the
/// knife edge on which it stands.
fn clear_between(at: f64, below: f64, above: f64, others: &[f64]) -> f64 {
    let to = clear_of(at, others);
    if to == at || (below < to && to < above) {
        return to;
    }
    if !others.iter().any(|other| (at / other - 1.0).abs() < KNIFE) {
        at
    } else if at - below > above - at {
        at - (0.5 * (at - below)).min(APART * at)
    } else {
        at + (0.5 * (above - at)).min(APART * at)
    }
}

/// The action, with a pace near none of these edges: as it is, where that is so already, else legal.
pub fn clear_action(action: Action, edges: &[f64], design: &DesignTable) -> Action {
    if action.intersend_ms <= 0.0 {
        return action;
    }
    match clear_of(action.intersend_ms, edges) {
        same if same == action.intersend_ms => action,
        intersend_ms => moves::legal(Action { intersend_ms, ..action }, design),
    }
}

/// The table with its edges moved off what averages settle at, and then its paces off the edges that could not be; and with no
/// rule that mutes.
pub fn clear_table(table: &RuleTable, model: &Model) -> RuleTable {
    let mut table = table.clone();
    let settled = settled(&table, model);
    for signal in AVERAGES {
        let mut bounds = table.edges(signal);
        for i in 0..bounds.len() {
            let below = if i == 0 { 0.0 } else { bounds[i - 1] };
            let above = bounds.get(i + 1).copied().unwrap_or(f64::INFINITY);
            let (from, to) = (bounds[i], clear_between(bounds[i], below, above, &settled));
            if to != from {
                table.move_bound(signal, from, to);
                bounds[i] = to;
            }
        }
    }
    let edges = edges(&table);
    for (rule, (_, action)) in table.rules().into_iter().enumerate() {
        let action = moves::speaking(clear_action(action, &edges, &model.design), &model.design);
        table.set_action(rule, action);
    }
    table
}

#[cfg(test)]
mod tests {
    use exmachina_rules::SIGNALS;

    use super::*;

    fn model(rate: &str) -> Model {
        let text = format!(
            "[link]\nrate_mbps = {rate}\n[path]\nrtt_ms = 150\n[senders]\ncount = 2\n[workload]\n\
             on = {{ seconds = 1 }}\noff = {{ seconds = 1 }}\n[design]\n\
             intersend_ms = {{ min = 0.01, max = 30, smallest = 0.01, largest = 30, mult = 4, start = 1 }}"
        );
        Model::parse(&text, "m.toml").unwrap()
    }

    fn is_clear(table: &RuleTable, model: &Model) -> bool {
        nearest(table, model) > 0.9 * NEAREST
    }

    #[test]
    fn a_place_moves_as_little_as_it_must() {
        assert_eq!(clear_of(0.5, &[0.3, 0.7]), 0.5);
        let moved = clear_of(0.3035, &[0.303]);
        assert!((moved / 0.303 - 1.0 - APART).abs() < 1e-12, "{moved}");
        // The way up leads into another's neighbourhood: further up, or down.
        let moved = clear_of(1.001, &[1.0, 1.015]);
        assert!((moved - (1.0 - APART)).abs() < 1e-12, "{moved}");
        // Nothing is clear of a thicket.
        let thicket: Vec<f64> = (0..1000).map(|i| libm::pow(1.005, f64::from(i))).collect();
        assert_eq!(clear_of(10.0, &thicket), 10.0);
    }

    /// tao-rtt-150 split `ack_ewma` at 0.30350000000000027 ms, and sent every 0.3035 ms; the link sends every 0.30303 ms.
    #[test]
    fn a_knife_edge_is_taken_out() {
        let model = model("33");
        let action = |intersend_ms| Action { multiple: 1.0, increment: 1, intersend_ms };
        let mut table = RuleTable::single(&Signal::ALL[..4], action(0.3035));
        let mut at = [0.0; SIGNALS];
        at[Signal::AckEwma as usize] = 0.303_500_000_000_000_27;
        table.split(0, &at, &[Signal::AckEwma]);
        at[Signal::SendEwma as usize] = 0.7;
        table.split(1, &at, &[Signal::SendEwma]);
        table.set_action(2, action(0.7));
        assert!(nearest(&table, &model) < 1e-12);
        let cleared = clear_table(&table, &model);
        assert!(is_clear(&cleared, &model), "{:?}", cleared.rules());
        assert_eq!(cleared.len(), table.len());
        assert_eq!(clear_table(&cleared, &model), cleared);
        assert!(exmachina_rules::FlatTable::new(&cleared).is_ok());
    }

    /// tao-delta-0.1 split `ack_ewma` at 0.989, twice at the 1 ms that its link takes for a packet, and at 1.011 ms.
    #[test]
    fn a_knife_edge_between_others_is_moved_towards_them() {
        let model = model("10");
        let pace = Action { multiple: 1.0, increment: 1, intersend_ms: 0.1 };
        let mut table = RuleTable::single(&Signal::ALL[..4], pace);
        for (rule, edge) in [0.989, 0.999_999_999_8, 0.999_999_999_999_999_6, 1.011].into_iter().enumerate() {
            let mut at = [0.0; SIGNALS];
            at[Signal::AckEwma as usize] = edge;
            table.split(rule, &at, &[Signal::AckEwma]);
        }
        let cleared = clear_table(&table, &model);
        let bounds = cleared.edges(Signal::AckEwma);
        assert_eq!((cleared.len(), bounds.len(), bounds[0], bounds[3]), (5, 4, 0.989, 1.011));
        assert!(bounds[1..3].iter().all(|edge| (edge - 1.0).abs() > KNIFE), "{bounds:?}");
        assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
        assert_eq!(clear_table(&cleared, &model), cleared);
    }

    #[test]
    fn links_of_any_rate_have_no_time_of_a_packet() {
        let table = RuleTable::single(&Signal::ALL[..4], Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 });
        assert_eq!(settled(&table, &model("{ uniform = [10, 20] }")), [3.0]);
        assert_eq!(settled(&table, &model("{ list = [10, 20] }")), [0.5, 1.0, 2.0, 3.0]);
        assert_eq!(nearest(&table, &model("10")), f64::INFINITY, "a table of one rule is split nowhere");
    }
}
