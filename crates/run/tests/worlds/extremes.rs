//! What a scenario's file may say and few do: clocks coarser than RTTs, recordings of a constant rate, rates from a packet an
//! hour to more than a computer moves, on-periods of a microsecond and of days, many senders.

use exmachina_hosts::scheme::{AnyScheme, ConstantRate, ConstantWindow, Remy};
use exmachina_hosts::transport::{Opening, Recovery};
use exmachina_net::network::{FlowPlan, LinkPlan, On};
use exmachina_net::queue::Limit;
use exmachina_net::service::Trace;
use exmachina_net::time::Duration;
use exmachina_scenario::world::{Host, World};

use super::Dice;
use super::contenders::tables;

/// Makes some of a world extreme; how much longer it is to run.
pub fn add(world: &mut World<'static>, dice: &mut Dice) -> f64 {
    for hop in &mut world.network.hops {
        if dice.chance(0.3) {
            hop.link = steady_recording(dice);
        } else if dice.chance(0.1) {
            hop.link = LinkPlan::Rate(dice.log(1e-5, 1e5));
        }
        if dice.chance(0.3) {
            hop.limit =
                dice.pick(&[Limit::Packets(100), Limit::Packets(5), Limit::Packets(u32::MAX), Limit::Bytes(9000)]);
        }
    }
    let longest_rtt = world.network.longest_rtt_ms();
    for (flow, host) in world.network.flows.iter_mut().zip(&mut world.hosts) {
        change(flow, host, dice);
        if dice.chance(0.3) {
            // As coarse as a file may say.
            host.transport.clock = Duration::from_ms(longest_rtt * dice.log(0.01, 1.0));
        }
    }
    if dice.chance(0.05) {
        let more = dice.below(world.hosts.len() as u32) as usize;
        let (flow, host) = (world.network.flows[more].clone(), world.hosts[more].clone());
        let all = 1 + dice.below(200) as usize;
        world.network.flows.resize(all, flow);
        world.hosts.resize(all, host);
    }
    if dice.chance(0.1) { 1000.0 } else { 1.0 }
}

/// Gives some senders of some worlds the transports of either tree of ns-2, connections that begin with a SYN, and polls.
pub fn add_ns2(world: &mut World<'static>, dice: &mut Dice) {
    use Recovery::{NewReno, RationalRemy13, RationalTao14, Reno, TcpLinux};
    if !dice.chance(0.3) {
        return;
    }
    for Host { transport, .. } in &mut world.hosts {
        if dice.chance(0.7) {
            let recovery = dice.pick(&[NewReno, Reno, TcpLinux, RationalRemy13, RationalTao14]);
            *transport = transport.with_recovery(recovery);
            transport.opening = dice.pick(&[Opening::Data, Opening::SynAndData, Opening::Syn]);
            transport.poll =
                dice.pick(&[Duration::ZERO, Duration::ZERO, Duration::from_millis(1), Duration::from_millis(5)]);
        }
    }
}

/// A delivery opportunity every so many ms, or so many a ms, for some ms, and again.
pub fn steady_recording(dice: &mut Dice) -> LinkPlan {
    let (gap, at_once, lines) = (dice.pick(&[1, 1, 1, 2, 5, 20, 100]), dice.pick(&[1, 1, 2, 10]), 1 + dice.below(1000));
    let text: String = (1..=lines).map(|i| format!("{}\n", i * gap).repeat(at_once)).collect();
    LinkPlan::Trace(Trace::parse(&text, "steady").expect("times that grow"), u64::from(dice.below(100)))
}

fn change(flow: &mut FlowPlan, host: &mut Host<'static>, dice: &mut Dice) {
    match &mut host.scheme {
        AnyScheme::Remy(_) => host.scheme = AnyScheme::Remy(Remy::new(dice.pick(tables()))),
        AnyScheme::ConstantWindow(_) if dice.chance(0.5) => {
            host.scheme = AnyScheme::ConstantWindow(ConstantWindow { packets: dice.pick(&[1, 2, 1000, 1_000_000]) });
        }
        AnyScheme::ConstantRate(_) if dice.chance(0.5) => {
            host.scheme = AnyScheme::ConstantRate(ConstantRate::mbps(dice.log(1e-6, 1e6), 1250));
        }
        _ => {}
    }
    if dice.chance(0.1) {
        flow.rtt_ms = dice.log(1e-6, 1e5);
    }
    if dice.chance(0.1) {
        flow.workload.on = match dice.below(3) {
            0 => On::Seconds(dice.log(1e-6, 1e6)),
            1 => On::FixedSeconds(dice.log(1e-6, 1e6)),
            _ => On::Bytes(dice.log(1e-3, 1e15)),
        };
        flow.workload.off_s = dice.log(1e-6, 100.0);
    }
}
