//! In which worlds a sender must get on, and how soon: by rule, so that none is left out by luck.

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::transport::{Recovery, RttSamples, Stack};
use exmachina_net::network::{HopPlan, LinkPlan};
use exmachina_net::queue::{Limit, Overflow, QueueKind};
use exmachina_net::time::Duration;
use exmachina_scenario::world::{Host, World};

/// The longest that a sender may go without an advance of its cumulative ACK, and a packet that it sent may be without its place
/// in order, where RTTs are up to `rtt`; none where others or chance can be in its way.
///
/// A lone sender has none to compete with, and where no link loses anything what it loses is its own queue's doing. A
/// timeout takes 3 s at most before there are RTTs, and 1 s or some RTTs afterwards; three in a row, each twice as long as the one
/// before, and the slow start after them, are within 15 s and 20 RTTs. A link that is silent meanwhile is waited for,
/// and the timer that backed off then as long again. Where backoff lasts until a packet that was sent
/// once is acknowledged (Karn's rule), it may reach the longest timeout.
pub fn longest_stall(world: &World<'_>, sender: usize, rtt: Duration) -> Option<Duration> {
    let host = &world.hosts[sender];
    let on_route = || hops(world, sender);
    let lossless = on_route().all(|hop| hop.loss == 0.0);
    if on_route().any(|hop| repairs_may_drown(host, hop)) {
        return None;
    }
    // Its timeouts repair one packet each, and each may back off to a minute or more.
    let one_by_one = host.transport.recovery() == Recovery::RationalTao14;
    if world.hosts.len() > 1 || !lossless || one_by_one {
        return None;
    }
    let silences: Option<Vec<Duration>> = on_route().map(|hop| silence(&hop.link)).collect();
    // ns-2's own TCPs have that rule whatever the samples.
    let karn = match host.transport.stack {
        Stack::Modular(parts) => matches!(parts.timer.samples, RttSamples::Timed | RttSamples::NewAcks),
        stack => matches!(stack, Stack::NewReno | Stack::Reno),
    };
    let backoff = if karn { super::longest_timeout(&host.transport) } else { Duration::ZERO };
    Some(Duration::from_secs(15) + 20 * rtt + 3 * silences?.into_iter().max().unwrap_or(Duration::ZERO) + backoff)
}

/// The hops that a sender's packets take.
fn hops<'w>(world: &'w World<'_>, sender: usize) -> impl Iterator<Item = &'w HopPlan> {
    let network = &world.network;
    network.flows[sender].route.iter().map(|&hop| &network.hops[usize::from(hop)])
}

/// Whether a queue may drop what a lone sender sends again for as long as it likes.
fn repairs_may_drown(host: &Host<'_>, hop: &HopPlan) -> bool {
    use AnyScheme::{Bbr1, Bbr3, Copa};
    let from_head = match &hop.queue {
        QueueKind::CoDel(codel) => Some(codel.target),
        QueueKind::SfqCoDel(settings) => Some(settings.codel.target),
        QueueKind::FqCoDel(settings) => Some(settings.codel.target),
        QueueKind::Cobalt(settings) => Some(settings.codel.target),
        _ => None,
    };
    // One that no loss slows down, or only in its model of the path, can push its own repairs out of a short queue that drops
    // what waits for what arrives.
    let models = matches!(host.scheme, Bbr1(_) | Bbr3(_) | Copa(_));
    let pushed_out = (models || !answers(&host.scheme)) && from_head.is_some();
    // CoDel is not meant for a target below a packet's time (RFC 8290 §5.2.2): it drops whatever waits for another, and can be in
    // step with one window so that it is always the repair.
    let packet_ms = f64::from(host.transport.packet_bytes) * 8e-3 / hop.link.mean_mbps();
    let in_step = from_head.is_some_and(|target| Duration::from_ms(packet_ms) > target);
    // Copa answers to delay. What a full queue adds to every RTT for 10 s counts for the path's own (§2.1), and it drops the rest
    // of what would tell: then nothing slows it down.
    let hides_delay = matches!(host.scheme, Copa(_)) && hop.limit != Limit::Infinite;
    // A loss leaves a window of two packets at least (RFC 5681 §3.1, eq. 4), so that another goes right behind a repair. Between
    // opportunities both wait, and where there is one place the repair gives way, each time, whatever finds that it was lost. Only a
    // timeout that leaves a window of one sends it alone.
    let one_place = hop.limit.packets(host.transport.packet_bytes).is_some_and(|places| places <= 1);
    let gives_way = one_place && drops_oldest(&hop.queue) && !matches!(hop.link, LinkPlan::Rate(_));
    pushed_out || in_step || hides_delay || gives_way
}

/// Whether a full queue drops what waits for what arrives.
fn drops_oldest(queue: &QueueKind) -> bool {
    match queue {
        QueueKind::SfqCoDel(settings) => settings.overflow == Overflow::LongestHead,
        QueueKind::FqCoDel(_) | QueueKind::Cobalt(_) => true,
        _ => false,
    }
}

/// Whether a scheme sends less where packets are lost.
pub fn answers(scheme: &AnyScheme<'_>) -> bool {
    use AnyScheme::{ConstantRate, ConstantWindow, Own, Remy};
    !matches!(scheme, Remy(_) | ConstantWindow(_) | ConstantRate(_) | Own(_))
}

/// Whether a sender answers to losses and repairs all of a window's in a few RTTs. NewReno repairs one an RTT; XCP's window is
/// what its routers allow, from 1 to hundreds in an RTT, of which a queue of less takes few, each time; and of twice what a path
/// holds, which a slow start gets to, Linux's Cubic leaves four fifths at a cut, which is still more: on ns-2's Linux agent that
/// window stays as it is until all that was outstanding is repaired, and the queue, full all the while, takes few repairs.
pub fn answers_and_repairs(world: &World<'_>, sender: usize) -> bool {
    let host = &world.hosts[sender];
    let overflows = |hop: &HopPlan| {
        matches!(hop.queue, QueueKind::Xcp(_)) && world.network.hops.iter().any(|any| any.limit != Limit::Infinite)
    };
    let told = matches!(host.scheme, AnyScheme::Xcp(_)) && hops(world, sender).any(overflows);
    let still_more = matches!(host.scheme, AnyScheme::LinuxCubic(_)) && host.transport.recovery() == Recovery::TcpLinux;
    answers(&host.scheme) && host.transport.recovery() != Recovery::NewReno && !told && !still_more
}

/// The longest that a link carries nothing; none where that is up to chance.
fn silence(link: &LinkPlan) -> Option<Duration> {
    match link {
        LinkPlan::Rate(_) => Some(Duration::ZERO),
        LinkPlan::Trace(trace, _) => {
            let times = trace.opportunities_ms();
            let before = std::iter::once(&0).chain(times);
            before.zip(times).map(|(a, b)| Duration::from_millis(u64::from(b - a))).max()
        }
        LinkPlan::Cellular(_) => None,
    }
}
