//! In which worlds a sender must get on, and how soon: by rule, so that none is left out by luck.

use exmachina_sim::queue::QueueKind;
use exmachina_sim::scheme::AnyScheme;
use exmachina_sim::time::{SECOND, Time};
use exmachina_sim::transport::{Recovery, RttSamples};
use exmachina_sim::world::{LinkPlan, SenderPlan, World};

/// The longest that a sender may go without an advance of its cumulative ACK, and a packet that it sent may be without its place
/// in order, where RTTs are up to `rtt`; none where others or chance can be in its way.
///
/// A lone sender has none to compete with, and where no link loses anything what it loses is its own queue's doing. A
/// timeout takes 3 s at most before there are RTTs, and 1 s or some RTTs afterwards; three in a row, each twice as long as the one
/// before, and the slow start after them, are within 15 s and 20 RTTs. A link that is silent meanwhile is waited for,
/// and the timer that backed off then as long again. Where backoff lasts until a packet that was sent
/// once is acknowledged (Karn's rule), it may reach the longest timeout.
pub fn longest_stall(world: &World<'_>, sender: usize, rtt: Time) -> Option<Time> {
    let plan = &world.senders[sender];
    let lossless = plan.route.iter().all(|&hop| world.hops[usize::from(hop)].loss == 0.0);
    // One that no loss slows down, or only in its model of the path, can push its own repairs, for as long as it likes, out of
    // a short queue that drops what waits for what arrives.
    let drops_head = |&hop: &u8| {
        use QueueKind::{CoDel, FqCoDel, SfqCoDel};
        matches!(world.hops[usize::from(hop)].queue, CoDel(_) | SfqCoDel(_) | FqCoDel(_))
    };
    let models = matches!(plan.scheme, AnyScheme::Bbr1(_) | AnyScheme::Bbr3(_) | AnyScheme::Copa(_));
    let pushed_out = (models || !answers(&plan.scheme)) && plan.route.iter().any(drops_head);
    // Its timeouts repair one packet each, and each may back off to a minute.
    let one_by_one = plan.transport.recovery == Recovery::Fack;
    if world.senders.len() > 1 || !lossless || pushed_out || one_by_one {
        return None;
    }
    let silences: Option<Vec<Time>> =
        plan.route.iter().map(|&hop| silence(&world.hops[usize::from(hop)].link)).collect();
    let karn = matches!(plan.transport.rtt_samples, RttSamples::Timed | RttSamples::NewAcks);
    let backoff = if karn { super::longest_timeout(&plan.transport) } else { 0 };
    Some(15 * SECOND + 20 * rtt + 3 * silences?.into_iter().max().unwrap_or(0) + backoff)
}

/// Whether a scheme sends less where packets are lost.
pub fn answers(scheme: &AnyScheme<'_>) -> bool {
    use AnyScheme::{ConstantRate, ConstantWindow, Own, Remy};
    !matches!(scheme, Remy(_) | ConstantWindow(_) | ConstantRate(_) | Own(_))
}

/// Whether a sender answers to losses and repairs all of a window's in a few RTTs. NewReno repairs one an RTT.
pub fn answers_and_repairs(plan: &SenderPlan<'_>) -> bool {
    answers(&plan.scheme) && plan.transport.recovery != Recovery::NewReno
}

/// The longest that a link carries nothing; none where that is up to chance.
fn silence(link: &LinkPlan) -> Option<Time> {
    const MS: Time = 1_000_000;
    match link {
        LinkPlan::Rate(_) => Some(0),
        LinkPlan::Trace(trace, _) => {
            let times = trace.opportunities_ms();
            let before = std::iter::once(&0).chain(times);
            before.zip(times).map(|(a, b)| Time::from(b - a) * MS).max()
        }
        LinkPlan::Cellular(_) => None,
    }
}
