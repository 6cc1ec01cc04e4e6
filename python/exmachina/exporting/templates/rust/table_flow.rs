//! The state of one flow under a rule table.

use super::table::{
    DEPTH, FAR, FAST_SHIFT, LOOKS_FURTHER, LOSS_SHIFT, MAX_WINDOW, MOST_IN_ONE, MULTIPLE_BITS, PLANES, ROOT, RULES,
    SLOW_SHIFT,
};
use super::Ack;

/// Bits below a nanosecond in averages: what one with weight 1/256 loses by rounding stays far below a split's unit.
const TIME_BITS: u32 = 20;
const LOSS_BITS: u32 = 40;
/// Longer times count as this long, 36 minutes: twice as much is no overflow in the units of averages.
const MAX_NS: i64 = 1 << 41;
/// Longer RTTs count as this long, 39 hours: a ratio needs 16 bits more.
const MAX_RTT_NS: u64 = (1 << 47) - 1;
/// After so many losses in a row the share of losses is 1, to 7 digits.
const MOST_LOST: u32 = 4096;

/// The state of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    last_sent_ns: u64,
    last_received_ns: u64,
    /// None before the first ACK.
    min_rtt_ns: Option<u64>,
    /// In 2^-20 ns, like the other averages.
    send_ewma: i64,
    ack_ewma: i64,
    slow_ack_ewma: i64,
    /// In 2^-16; 0 until the second ACK.
    rtt_ratio: i64,
    /// The share of the packets that were lost, in 2^-40.
    loss: u64,
    /// Packets from the largest ACK to the latest one.
    advance: u32,
    window: u32,
    rule: usize,
}

impl Flow {
    /// A new flow, or one that goes on after a pause.
    #[must_use]
    pub fn start() -> Flow {
        let mut flow = Flow {
            last_sent_ns: 0,
            last_received_ns: 0,
            min_rtt_ns: None,
            send_ewma: 0,
            ack_ewma: 0,
            slow_ack_ewma: 0,
            rtt_ratio: 0,
            loss: 0,
            advance: 0,
            window: 0,
            rule: 0,
        };
        flow.act();
        flow
    }

    /// An ACK of new packets. One of several is as many packets' worth of news, spaced evenly from the ACK before it to this
    /// one; of a flow's first packets nothing is known but that they arrived.
    pub fn on_ack(&mut self, ack: &Ack) {
        let packets = ack.packets.clamp(1, MOST_IN_ONE);
        let from = self.min_rtt_ns.is_some().then_some((self.last_sent_ns, self.last_received_ns));
        for k in 1..packets {
            if let Some((sent_ns, received_ns)) = from {
                let sent_ns = between(sent_ns, ack.sent_ns, k, packets);
                self.update(sent_ns, between(received_ns, ack.received_ns, k, packets), ack.tick_ns, 1);
            } else {
                self.act();
            }
        }
        let in_one = ack.packets.max(1) - 1;
        let advance = if in_one > 0 { ack.advance.min(ack.advance.saturating_sub(in_one).max(1)) } else { ack.advance };
        self.update(ack.sent_ns, ack.received_ns, ack.tick_ns, advance);
    }

    /// So many packets were lost; before the ACK that shows it.
    pub fn on_loss(&mut self, packets: u32) {
        for _ in 0..packets.min(MOST_LOST) {
            self.loss += ((1 << LOSS_BITS) - self.loss) >> LOSS_SHIFT;
        }
    }

    /// Packets that may be outstanding: at least one, because a transport with none never hears of its path again.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.window.max(1)
    }

    /// The window as rules count it, which may be 0.
    #[must_use]
    pub fn window_of_rules(&self) -> u32 {
        self.window
    }

    /// Least time between two packets, ns.
    #[must_use]
    pub fn intersend_ns(&self) -> u64 {
        RULES[self.rule].intersend_ns
    }

    /// Number of the rule that was used last.
    #[must_use]
    pub fn rule(&self) -> usize {
        self.rule
    }

    /// One packet's worth of news.
    fn update(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64, advance: u32) {
        let rtt = rtt(sent_ns, received_ns, tick_ns);
        if let Some(least) = self.min_rtt_ns {
            let sent = sent_ns.wrapping_sub(self.last_sent_ns) as i64;
            let received = received_ns.wrapping_sub(self.last_received_ns) as i64;
            let least = least.min(rtt);
            self.min_rtt_ns = Some(least);
            self.send_ewma = averaged(self.send_ewma, sent, FAST_SHIFT);
            self.ack_ewma = averaged(self.ack_ewma, received, FAST_SHIFT);
            self.slow_ack_ewma = averaged(self.slow_ack_ewma, received, SLOW_SHIFT);
            self.rtt_ratio = ((rtt << 16) / least) as i64;
        } else {
            self.min_rtt_ns = Some(rtt);
        }
        self.last_sent_ns = sent_ns;
        self.last_received_ns = received_ns;
        self.advance = advance;
        self.loss -= self.loss >> LOSS_SHIFT;
        self.act();
    }

    /// Looks up the rule for what the flow remembers, and carries it out.
    fn act(&mut self) {
        self.rule = lookup(&self.point());
        let rule = &RULES[self.rule];
        let wanted = (rule.multiple * u64::from(self.window)) as i64 + (i64::from(rule.increment) << MULTIPLE_BITS);
        self.window = (wanted >> MULTIPLE_BITS).clamp(0, i64::from(MAX_WINDOW)) as u32;
    }

    /// The signals in the order of the table's axes: times in 2^-20 ns, ratios in 2^-16.
    fn point(&self) -> [i64; 7] {
        let mut point = [self.send_ewma, self.ack_ewma, self.rtt_ratio, self.slow_ack_ewma, 0, 0, 0];
        if LOOKS_FURTHER && self.rtt_ratio != 0 {
            let rtt = self.last_received_ns.wrapping_sub(self.last_sent_ns) as i64;
            let diff = rtt.saturating_sub(self.min_rtt_ns.unwrap_or(0) as i64).max(0);
            point[4] = diff.min(MAX_NS) << TIME_BITS;
            point[5] = self.ack_ewma.max(0).saturating_mul(i64::from(self.advance)).min(FAR);
            point[6] = (self.loss >> (LOSS_BITS - 16)) as i64;
        }
        point
    }
}

/// The number of the rule for a point.
fn lookup(point: &[i64; 7]) -> usize {
    let mut next = ROOT;
    for _ in 0..DEPTH {
        if next < 0 {
            break;
        }
        let plane = &PLANES[next as usize];
        next = plane.next[usize::from(point[plane.axis] < plane.at)];
    }
    !next as usize
}

/// An average with weight 2^-shift, rounded to nearest, so that it does not drift.
fn averaged(average: i64, ns: i64, shift: u32) -> i64 {
    let way = (ns.clamp(-MAX_NS, MAX_NS) << TIME_BITS) - average;
    average + ((way + (1 << (shift - 1))) >> shift)
}

fn rtt(sent_ns: u64, received_ns: u64, tick_ns: u64) -> u64 {
    let shown = (received_ns.wrapping_sub(sent_ns) as i64).max(0) as u64;
    shown.max(tick_ns).clamp(1, MAX_RTT_NS)
}

/// The instant `k` of `n` parts of the way from one to another, which may be earlier on clocks that are set back.
fn between(from: u64, to: u64, k: u32, n: u32) -> u64 {
    let way = to.wrapping_sub(from) as i64;
    let (far, k, n) = (way.unsigned_abs(), u64::from(k), u64::from(n));
    let part = far / n * k + far % n * k / n;
    if way < 0 {
        from.wrapping_sub(part)
    } else {
        from.wrapping_add(part)
    }
}
