//! The same network and table with time counted in other units: to see whether what a table does hangs on how instants are
//! rounded.
//!
//! The simulator counts whole nanoseconds. A network and a table whose times are all 1.6 times as long, and whose rates are 1.6
//! times as low, behave alike but for that rounding: it is as if the clock of the engine ticked at another pace.

use exmachina_net::network::{LinkPlan, Network, On};
use exmachina_rules::{Node, NodeKind, RuleTable, Signal};

/// The same table for times that many times as long.
#[must_use]
pub fn stretched(table: &RuleTable, times: f64) -> RuleTable {
    let mut table = table.clone();
    stretch(&mut table.root, times);
    if let Some(law) = &mut table.law {
        // A law's few numbers of seconds. C is packets/s³, and it and packets for each ms are bounded: a law is not quite the same in far
        // units if it shares, or begins with as many packets as are allowed.
        let by = |number: u32, factor: f64| (f64::from(number) * factor).round() as u32;
        law.first_pause_ns = by(law.first_pause_ns, times);
        law.first_train_ns = by(law.first_train_ns, times);
        let for_each_ms = |packets| by(packets, 1.0 / times).min(1 << 22);
        (law.first_rate, law.first_most) = (for_each_ms(law.first_rate), for_each_ms(law.first_most));
        if law.shared_below > 0 {
            law.shared_scale = by(law.shared_scale, times.powi(-3)).clamp(1 << 10, 1 << 18);
        }
    }
    table
}

fn stretch(node: &mut Node, times: f64) {
    for signal in Signal::ALL.into_iter().filter(|signal| signal.is_time()) {
        node.cell.lower[signal as usize] *= times;
        node.cell.upper[signal as usize] *= times;
    }
    match &mut node.kind {
        NodeKind::Leaf(action) => action.intersend_ms *= times,
        NodeKind::Split(children) => children.iter_mut().for_each(|child| stretch(child, times)),
    }
}

/// The same network, so many times as slow.
#[must_use]
pub fn slowed(network: &Network, times: f64) -> Network {
    let mut slow = network.clone();
    slow.jitter_ms *= times;
    slow.clock_ms *= times;
    for hop in &mut slow.hops {
        hop.delay_ms *= times;
        // Models have no other links.
        if let LinkPlan::Rate(mbps) = &mut hop.link {
            *mbps /= times;
        }
    }
    for flow in &mut slow.flows {
        flow.rtt_ms *= times;
        flow.workload.off_s *= times;
        if let On::Seconds(mean) | On::FixedSeconds(mean) = &mut flow.workload.on {
            *mean *= times;
        }
    }
    slow
}

#[cfg(test)]
mod tests {
    use exmachina_net::network::Workload;
    use exmachina_net::observe::Unwatched;
    use exmachina_rules::{Action, FlatTable, LAW_UNIT, Law, first_signals};
    use exmachina_scenario::Specimen;

    use super::*;
    use crate::assignment::Assignment;

    /// Packets in a minute of true time.
    fn packets(network: &Network, table: &RuleTable, times: f64) -> f64 {
        let (network, table) = (slowed(network, times), FlatTable::new(&stretched(table, times)).unwrap());
        let outcome = Assignment::Everybody(&table).run(&Specimen::of(network, 0), 1, 60.0 * times, &mut Unwatched);
        outcome.flows.iter().map(|flow| flow.delivered as f64).sum()
    }

    #[test]
    fn it_is_the_same_system() {
        let network = Network::dumbbell(33.0, 150.0, 2, Workload::new(On::Seconds(1.0), 1.0));
        let action = Action { multiple: 0.97, increment: 12, intersend_ms: 0.3 };
        let mut table = RuleTable::single(&[Signal::AckEwma, Signal::RttRatio], action);
        table.split(0, &first_signals(&[0.0, 0.7, 1.2]), &[Signal::AckEwma, Signal::RttRatio]);
        table.set_action(0, Action { intersend_ms: 0.1, ..action });
        let usual = packets(&network, &table, 1.0);
        for times in [8.0, 1.618, 0.618] {
            assert!((packets(&network, &table, times) / usual - 1.0).abs() < 1e-3, "{times}");
        }
    }

    #[test]
    fn so_it_is_under_a_law() {
        let network = Network::dumbbell(33.0, 150.0, 2, Workload::new(On::Seconds(1.0), 1.0));
        let law = beginning_by_its_rtt();
        let table = RuleTable::of_law(&Signal::ALL[..4], law);
        let usual = packets(&network, &table, 1.0);
        for times in [8.0, 1.618, 0.618] {
            assert!((packets(&network, &table, times) / usual - 1.0).abs() < 2e-3, "{times}");
        }
        // It would not be, if what a law says of seconds stayed as it is.
        let (first_rate, first_most) = (law.first_rate * 8, law.first_most * 8);
        let unchanged = RuleTable::of_law(&Signal::ALL[..4], Law { first_rate, first_most, ..law });
        assert!((packets(&network, &unchanged, 8.0) / usual - 1.0).abs() > 5e-3);
    }

    #[test]
    fn a_law_is_usable_in_all_units() {
        let most = 1 << 22;
        let law = Law { first_rate: most, first_most: most, first_pause_ns: u32::MAX, ..beginning_by_its_rtt() };
        for times in [0.125, 1.0, 8.0] {
            let law = stretched(&RuleTable::of_law(&Signal::ALL[..4], law), times).law.unwrap();
            assert_eq!(law.check(), Ok(()), "{times}");
        }
    }

    fn beginning_by_its_rtt() -> Law {
        let unit = LAW_UNIT;
        Law {
            target_of_rtt: unit / 20,
            target_of_root: 0,
            target_of_fourth: 0,
            target_of_gap: unit / 2,
            target_of_spread: unit / 2,
            silence_most: 0,
            silence_packets: 0,
            silence_adds: 0,
            loss_most: 0,
            growth: [6000, 3000, 0, -6000, -20_000],
            packets: [unit, unit / 2, 0, 0, 0],
            pace: [unit / 2, unit, unit, unit, unit],
            most: [3 * unit; 5],
            most_of_path: 0,
            least_packets: 2,
            again_rtts: 0,
            faster: unit,
            fastest: unit,
            first_window: 4 * unit,
            first_rate: unit / 4,
            first_most: unit / 4,
            first_train: unit / 4,
            first_train_ns: 1_000_000,
            delivered_keeps: 0,
            min_rtt_keeps: 0,
            first_pause_ns: 100_000,
            first_growth: unit / 4,
            first_pace: unit / 2,
            first_until: unit,
            then_window: unit,
            room: 2 * unit,
            shared_below: 0,
            shared_scale: 0,
            shared_cut: 0,
            shared_rtts: 0,
        }
    }

    /// A rule that sends every 0.3035 ms holds while ACKs come as far apart as that, but for a tenth of a picosecond: in whole
    /// nanoseconds always, in other units as it happens.
    #[test]
    fn an_edge_on_a_pace_is_found() {
        let network = Network::dumbbell(33.0, 150.0, 1, Workload::new(On::Forever, 0.1));
        let slow = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let mut table = RuleTable::single(&[Signal::AckEwma], slow);
        table.split(0, &first_signals(&[0.0, 0.303_499_999_999_9]), &[Signal::AckEwma]);
        table.set_action(1, Action { intersend_ms: 0.3035, ..slow });
        let usual = packets(&network, &table, 1.0);
        // Paces of 606999.7, 404666.6 and 374691.1 ns.
        let ratios = [1.999_999, 1.333_333, 1.234_567].map(|times| packets(&network, &table, times) / usual);
        assert!(ratios[0] > 0.99 && ratios[1] > 0.99 && ratios[2] < 0.9, "{ratios:?}");
    }
}
