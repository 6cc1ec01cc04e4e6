//! The router of XCP (Katabi et al. 2002 §3.3-3.5): tells every sender by how many bytes to change its window.
//!
//! Once per mean RTT the efficiency controller finds by how much the whole traffic should change, and the fairness
//! controller splits that over the packets of the next interval: increases in equal parts over flows, decreases in
//! proportion to their rates. What the paper leaves open follows its authors' router for ns-2: the limits and first
//! values of the intervals, and packets that carry no RTT.

use super::{Fifo, Limit, Queue};
use crate::packet::Packet;
use crate::time::{Duration, Instant};

/// The settings of XCP's router. They are stable for any capacity, delay and number of flows (§4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct XcpSettings {
    /// Part of the spare bandwidth that is handed out in an RTT.
    pub alpha: f64,
    /// Part of the persistent queue that is drained in an RTT.
    pub beta: f64,
    /// Part of the traffic that is taken from all and handed out anew in an RTT, so that shares converge.
    pub gamma: f64,
    /// The link's capacity, bytes/s; none: the long-term average of the link. A wrong one makes XCP under- or overfill
    /// the link (Remy'13 §5.3).
    pub capacity: Option<f64>,
}

impl Default for XcpSettings {
    fn default() -> Self {
        XcpSettings { alpha: 0.4, beta: 0.226, gamma: 0.1, capacity: None }
    }
}

/// Control interval while no RTT is known, s.
const FIRST_INTERVAL: f64 = 0.05;
/// RTTs above this count as this, s.
const LONGEST_RTT: f64 = 1.0;
/// Shortest control interval, s.
const SHORTEST_INTERVAL: f64 = 0.001;
/// Shortest interval over which the least queue is taken, s: bursts shorter than this are no persistent queue.
const SHORTEST_QUEUE_INTERVAL: f64 = 0.002;

/// Sums over the packets that arrived in a control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Bytes of all packets.
    bytes: f64,
    /// Sum of rtt s / cwnd: s bytes are this part of a second of its flow, so each flow adds the interval's length.
    seconds: f64,
    /// Sum of rtt^2 s / cwnd; over `seconds` it is the mean RTT of flows.
    rtt_seconds: f64,
}

/// What the packets of this interval are to be told (§3.5). Rates are in bytes/s.
#[derive(Clone, Copy, Debug, Default)]
struct Feedback {
    /// Increase still to be handed out.
    increase_left: f64,
    /// Decrease still to be handed out.
    decrease_left: f64,
    /// xi_p: increase per second of a flow (see [`Traffic::seconds`]), bytes/s.
    per_second: f64,
    /// xi_n: decrease per byte that a flow sends, 1/s.
    per_byte: f64,
}

/// A drop-tail queue with XCP's controllers.
#[derive(Clone, Debug)]
pub struct Xcp {
    settings: XcpSettings,
    capacity: f64,
    limit: Limit,
    fifo: Fifo,
    traffic: Traffic,
    feedback: Feedback,
    /// d: mean RTT of the last interval, s.
    mean_rtt: f64,
    /// Length of the present control interval, s.
    interval: f64,
    /// When the present control interval ends.
    next_control: Instant,
    /// Q: the persistent queue, the least backlog over the last queue interval, bytes (§3.3).
    persistent: f64,
    /// Least backlog so far in the present queue interval, bytes.
    least: f64,
    /// When the present queue interval ends.
    next_queue: Instant,
    /// Something came or left in the present queue interval.
    touched: bool,
}

impl Xcp {
    /// An empty queue with this room, before a link of `link` bytes per second.
    #[must_use]
    pub fn new(settings: XcpSettings, limit: Limit, link: f64) -> Xcp {
        Xcp {
            settings,
            capacity: settings.capacity.unwrap_or(link).max(1.0),
            limit,
            fifo: Fifo::default(),
            traffic: Traffic::default(),
            feedback: Feedback::default(),
            mean_rtt: FIRST_INTERVAL,
            interval: FIRST_INTERVAL,
            next_control: Instant::from_s(FIRST_INTERVAL),
            persistent: 0.0,
            least: 0.0,
            next_queue: Instant::from_s(FIRST_INTERVAL),
            touched: false,
        }
    }

    /// Ends the intervals that were over before now, in order.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while self.next_control.min(self.next_queue) <= now {
            if self.next_control <= self.next_queue {
                let silent = self.traffic.bytes == 0.0;
                self.end_control_interval();
                self.next_control = after(self.next_control, Duration::from_s(self.interval), silent.then_some(now));
            } else {
                let silent = !self.touched;
                let length = self.end_queue_interval();
                self.next_queue = after(self.next_queue, Duration::from_s(length), silent.then_some(now));
            }
            if now == Instant::NEVER {
                return;
            }
        }
    }

    /// The efficiency controller (§3.4) and the split of its outcome (§3.5).
    fn end_control_interval(&mut self) {
        let Traffic { bytes, seconds, rtt_seconds } = std::mem::take(&mut self.traffic);
        let XcpSettings { alpha, beta, gamma, .. } = self.settings;
        self.mean_rtt = if seconds > 0.0 { rtt_seconds / seconds } else { FIRST_INTERVAL };
        self.feedback = Feedback::default();
        if bytes > 0.0 {
            let input = bytes / self.interval;
            // phi / d, as a rate: the aggregate feedback phi = alpha d S - beta Q of the paper is spread over d.
            let change = alpha * (self.capacity - input) - beta * self.persistent / self.mean_rtt;
            // h: bandwidth shuffling, so much that at least gamma of the traffic changes hands.
            let shuffled = (gamma * input - change.abs()).max(0.0);
            let increase_left = change.max(0.0) + shuffled;
            let decrease_left = (-change).max(0.0) + shuffled;
            let per_second = if seconds > 0.0 { increase_left / seconds } else { 0.0 };
            self.feedback = Feedback { increase_left, decrease_left, per_second, per_byte: decrease_left / bytes };
        }
        self.interval = self.mean_rtt.max(SHORTEST_INTERVAL);
    }

    /// Takes the least backlog of a queue interval; returns the next one's length in s: half of what of the mean RTT
    /// is not queueing, as in the authors' router. (The paper says: the propagation delay.)
    fn end_queue_interval(&mut self) -> f64 {
        let backlog = self.fifo.backlog().bytes as f64;
        self.persistent = self.least;
        self.least = backlog;
        self.touched = false;
        ((self.mean_rtt - backlog / self.capacity) / 2.0).max(SHORTEST_QUEUE_INTERVAL)
    }

    /// Counts an arrival.
    fn measure(&mut self, packet: &Packet) {
        self.touched = true;
        let bytes = f64::from(packet.bytes);
        self.traffic.bytes += bytes;
        if let Some((rtt, seconds)) = flow(packet) {
            self.traffic.seconds += seconds;
            self.traffic.rtt_seconds += rtt.min(LONGEST_RTT) * seconds;
        }
    }

    /// Tells a packet that leaves what its sender may do: the least of all routers on its way (§3.5).
    fn instruct(&mut self, packet: &mut Packet) {
        let Some((rtt, seconds)) = flow(packet) else {
            // A sender that knows no RTT yet cannot be told a change per RTT.
            packet.xcp.feedback_bytes = 0.0;
            return;
        };
        let f = &mut self.feedback;
        let mut increase = (f.per_second * seconds).min(f.increase_left);
        let mut decrease = (f.per_byte * f64::from(packet.bytes)).min(f.decrease_left);
        let change = increase - decrease;
        // Changes of the window are rates times the RTT: p_i = xi_p rtt^2 s / cwnd, n_i = xi_n rtt s.
        let asked = packet.xcp.feedback_bytes / rtt;
        if asked >= change {
            packet.xcp.feedback_bytes = change * rtt;
        } else {
            // The sender wants less, or another router allows less: count what will happen.
            decrease = (decrease + change - asked).min(f.decrease_left);
            increase = (asked + decrease).max(0.0);
        }
        f.increase_left = (f.increase_left - increase).max(0.0);
        f.decrease_left = (f.decrease_left - decrease).max(0.0);
    }
}

/// The end of the next interval: one length on, or beyond `past` where all intervals until then are alike.
fn after(end: Instant, length: Duration, past: Option<Instant>) -> Instant {
    let length = length.max(Duration::NANOSECOND);
    let skipped = past.map_or(0, |now| now.since(end) / length);
    end.saturating_add(length.saturating_mul(skipped.saturating_add(1)))
}

/// The RTT of a packet's flow, s, and the time that its flow takes to send as many bytes, s. None where it knows none.
#[inline]
fn flow(packet: &Packet) -> Option<(f64, f64)> {
    let (rtt, bytes) = (packet.xcp.rtt_s, f64::from(packet.bytes));
    // A window below a packet is no window.
    (rtt > 0.0 && rtt.is_finite()).then(|| (rtt, rtt * bytes / packet.xcp.window_bytes.max(bytes).max(1.0)))
}

impl Queue for Xcp {
    fn enqueue(&mut self, mut packet: Packet, now: Instant, dropped: &mut Vec<Packet>) {
        packet.enqueued = now;
        self.catch_up(now);
        // Dropped ones too: they are input traffic (§3.3).
        self.measure(&packet);
        if self.limit.fits(self.fifo.backlog(), packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<Packet>) -> Option<Packet> {
        self.catch_up(now);
        self.least = self.least.min(self.fifo.backlog().bytes as f64);
        let mut packet = self.fifo.pop()?;
        self.touched = true;
        self.instruct(&mut packet);
        Some(packet)
    }

    fn packets(&self) -> usize {
        self.fifo.backlog().packets
    }

    fn bytes(&self) -> u64 {
        self.fifo.backlog().bytes
    }
}

#[cfg(test)]
mod tests;
