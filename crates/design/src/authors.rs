//! A model in the authors' words, for the fields of a `.dna` file that their tools print.

use exmachina_net::network::{Network, On, PACKET_BYTES};
use exmachina_rules::{ConfigRange, OptimizationSetting, OptimizationSettings, Range};

use crate::model::{DesignTable, Model, StepRange};

/// The smallest and the largest of each parameter over the corners of the scenario.
#[must_use]
pub fn config(model: &Model) -> ConfigRange {
    let corners = model.scenario.corners();
    let range = |value: &dyn Fn(&Network) -> Option<f64>| {
        let values: Vec<f64> = corners.iter().filter_map(|corner| value(&corner.network)).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(Range { low: Some(low), high: Some(high), incr: None })
    };
    // The unit of rates is the packet per ms.
    ConfigRange {
        link_packets_per_ms: range(&|n| Some(n.packets_per_s() / 1e3)),
        rtt: range(&|n| n.rtts_ms().reduce(f64::max)),
        num_senders: range(&|n| Some(n.senders() as f64)),
        buffer_size: range(&|n| n.hops[0].limit.packets(PACKET_BYTES as u16).map(f64::from)),
        mean_off_duration: range(&|n| Some(n.flows[0].workload.off_s * 1e3)),
        mean_on_duration: range(&|n| match n.flows[0].workload.on {
            On::Seconds(s) | On::FixedSeconds(s) => Some(s * 1e3),
            // The authors count a transfer in packets where it ends by bytes.
            On::Bytes(bytes) => Some(bytes / n.flows[0].workload.bytes_per_packet),
            On::Icsi { .. } | On::Forever | On::At(_) | On::After(_) => None,
        }),
        simulation_ticks: Some((model.design.duration_s * 1e3) as u32),
        stochastic_loss_rate: range(&|n| Some(n.hops[0].loss).filter(|loss| *loss > 0.0)),
        mean_off_ms: None,
        mean_on_ms: None,
    }
}

/// The step sizes of a design.
#[must_use]
pub fn optimizer(design: &DesignTable) -> OptimizationSettings {
    let setting = |r: &StepRange| {
        Some(OptimizationSetting {
            min_value: Some(r.min),
            max_value: Some(r.max),
            min_change: Some(r.smallest),
            max_change: Some(r.largest),
            multiplier: Some(r.mult),
            default_value: Some(r.start),
        })
    };
    OptimizationSettings {
        window_increment: setting(&design.increment),
        window_multiple: setting(&design.multiple),
        intersend: setting(&design.intersend_ms),
    }
}
