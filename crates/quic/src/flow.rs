//! One path of a QUIC connection under a table: what stacks tell of it becomes what the rules crate's controller is told.

use std::sync::Arc;
use std::time::Instant;

use exmachina_rules::{Controller, FlatTable};

use crate::beginning::Beginning;
use crate::rtt::Rtt;

/// What `Instant`s count in, ns: no RTT is taken to be less.
const TICK_NS: u64 = 1;

/// A path's window and pace, and how they follow from packets sent, acknowledged and lost. It knows neither noq nor quinn, reads no
/// clock and does no I/O; `noq.rs` and `quinn.rs` pass on to it what they are told.
#[derive(Clone, Debug)]
pub struct Flow {
    table: Arc<FlatTable>,
    controller: Controller,
    /// Where time begins, as soon as the flow does: nanoseconds are counted from here.
    beginning: Beginning,
    /// Largest UDP payload that the path takes, bytes.
    mtu: u16,
    /// Packets of the ACK frame that is being told of.
    news: Option<News>,
    /// The ACK that was taken in last.
    latest: Option<Taken>,
    /// Packets lost since then.
    lost: u32,
    rtt: Rtt,
    /// Since when nothing is outstanding.
    quiet_since: Option<Instant>,
}

/// What one ACK frame acknowledges that no other did.
#[derive(Clone, Copy, Debug)]
struct News {
    /// When the packet was sent that was sent last of them.
    sent: Instant,
    packets: u32,
}

/// An ACK, and the state that it was taken into.
#[derive(Clone, Debug)]
struct Taken {
    before: Controller,
    news: News,
    received: Instant,
    /// Packets lost since the ACK before it.
    lost: u32,
    app_limited: bool,
}

impl Flow {
    /// A new flow, on a path that takes datagrams of so many bytes. It begins when data come (`beginning.rs`), and is until then what its
    /// table begins with. All instants that it is told of later are of the same clock.
    #[must_use]
    pub fn start(table: Arc<FlatTable>, now: Instant, mtu: u16) -> Flow {
        let controller = Controller::start(&table);
        Flow {
            table,
            controller,
            beginning: Beginning::awaited(now),
            mtu,
            news: None,
            latest: None,
            lost: 0,
            rtt: Rtt::UNKNOWN,
            quiet_since: None,
        }
    }

    /// A packet of so many bytes is sent that wants an ACK, or some at once, of which the last has this number; of a search for larger
    /// packets (RFC 9000 §14.4), none.
    ///
    /// If nothing was outstanding for longer than a probe timeout, the flow begins anew, as a sender does that is switched on: what it
    /// remembers is of another time (RFC 5681 §4.1 has the same for TCP, with its retransmission timeout). What waits for ACKs is
    /// not paused. And so it does with a new packet number space; the RTT is that of the path (RFC 9002 §6), and stays.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, number: u64) {
        let silent = self.quiet_since.take().map(|since| now.saturating_duration_since(since));
        if self.beginning.has_begun() && silent.is_some_and(|silent| silent > self.rtt.probe_timeout()) {
            self.begin_anew();
            self.rtt = Rtt::UNKNOWN;
            self.beginning.wait(now);
        }
        if self.beginning.is_another_space(number) {
            self.begin_anew();
        }
        self.beginning.on_sent(now, bytes, number, self.mtu_bytes());
    }

    /// A packet is acknowledged for the first time; those of one ACK frame come one by one, and [`Flow::on_end_acks`] ends them.
    pub fn on_ack(&mut self, sent: Instant) {
        // Those of the handshake and of a time before a silence count for nothing, nor do those of an old path on a new one (RFC 9000 §9.4).
        if sent < self.beginning.since() {
            return;
        }
        let news = self.news.get_or_insert(News { sent, packets: 0 });
        news.sent = news.sent.max(sent);
        news.packets += 1;
    }

    /// An ACK frame is complete that arrived at `received`, and so many bytes are outstanding. `app_limited`: there was nothing
    /// to send, although window and pace would have allowed it.
    pub fn on_end_acks(&mut self, received: Instant, outstanding: u64, app_limited: bool) {
        let news = self.news.take();
        self.beginning.on_ack(received, outstanding, app_limited, news.is_some());
        // None of them wanted an ACK: that is no news of the path.
        let Some(news) = news else { return };
        self.rtt.update(received.saturating_duration_since(news.sent));
        self.quiet_since = (outstanding == 0).then_some(received);
        if !self.beginning.has_begun() {
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        let before = self.controller.clone();
        self.latest = Some(Taken { before, news, received, lost, app_limited });
        self.take_in_latest();
    }

    /// So many packets were declared lost.
    ///
    /// RFC 9002 §A.7 declares losses before it tells a controller of the ACK that shows them, and so does the simulator; noq and
    /// quinn do it after. So that ACK is taken in once more, after its losses. Before the flow begins there is nothing to take them into: no
    /// more than a packet of full size is outstanding, which the least window lets pass.
    pub fn on_lost(&mut self, now: Instant, packets: u32) {
        if !self.beginning.has_begun() {
            return;
        }
        match &mut self.latest {
            Some(latest) if latest.received == now => {
                latest.lost = latest.lost.saturating_add(packets);
                self.controller = latest.before.clone();
                self.controller.on_loss(packets);
                latest.before = self.controller.clone();
                self.take_in_latest();
            }
            // A timer found them (RFC 9002 §6.1.2). The next ACK is ahead by as many.
            _ => {
                self.controller.on_loss(packets);
                self.lost = self.lost.saturating_add(packets);
            }
        }
    }

    /// What a stack calls a congestion event: so many packets were declared lost, or all of a long time, of which the last was sent then.
    pub fn on_congestion(&mut self, now: Instant, sent: Instant, lost: u32, is_persistent: bool) {
        if sent < self.beginning.since() {
            return;
        }
        if is_persistent {
            self.on_persistent_congestion();
        } else if lost > 0 {
            self.on_lost(now, lost);
        }
    }

    /// All packets of a long time were lost. RFC 9002 §7.6.2 asks for the least window and §5.2 for a new smallest RTT: the flow begins
    /// anew, with a new smallest RTT and the window that its table begins with.
    pub fn on_persistent_congestion(&mut self) {
        self.begin_anew();
        self.rtt = Rtt::UNKNOWN;
    }

    /// The path takes datagrams of so many bytes from now on (RFC 9002 §7.2: the window in bytes follows).
    pub fn on_mtu(&mut self, mtu: u16) {
        self.mtu = mtu;
    }

    /// Largest datagram that the path is known to take, bytes.
    #[must_use]
    pub fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Bytes that may be outstanding: the window in packets of full size, at least one (RFC 9002 §7.2 has two; a window of one packet
    /// is among what tables ask for).
    #[must_use]
    pub fn window_bytes(&self) -> u64 {
        u64::from(self.controller.window().max(1)) * self.mtu_bytes()
    }

    /// Bytes per second, one packet of full size in the least time between two (RFC 9002 §7.7). A table that does not pace has a
    /// nanosecond between two packets.
    #[must_use]
    pub fn pacing_rate(&self) -> u64 {
        let rate = u128::from(self.mtu_bytes()) * 1_000_000_000 / u128::from(self.controller.intersend_ns().max(1));
        u64::try_from(rate.max(1)).unwrap_or(u64::MAX)
    }

    /// The window for a stack that does not pace as it is told: no more bytes than leave in a smoothed RTT at the pace, and at least one
    /// packet.
    #[must_use]
    pub fn paced_window_bytes(&self) -> u64 {
        let (window, intersend_ns) = (self.window_bytes(), self.controller.intersend_ns());
        let Some(rtt) = self.rtt.smoothed().filter(|_| intersend_ns > 0) else { return window };
        let in_an_rtt = rtt.as_nanos() * u128::from(self.mtu_bytes()) / u128::from(intersend_ns);
        u64::try_from(in_an_rtt).unwrap_or(u64::MAX).clamp(self.mtu_bytes(), window)
    }

    /// How many packets so many bytes are: of full size, and a rest is one more.
    #[must_use]
    pub fn packets(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(self.mtu_bytes())).unwrap_or(u32::MAX)
    }

    /// When the flow began, if it has: packets that were sent before are none of its.
    #[must_use]
    pub fn began(&self) -> Option<Instant> {
        self.beginning.has_begun().then(|| self.beginning.since())
    }

    /// Memory, window in packets, pace and rule.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// An ACK of k packets is k packets' worth of news. Where there was too little to send, the window does not grow (RFC 9002
    /// §7.8): it was not what limited the flow, so nothing is known of a larger one.
    fn take_in_latest(&mut self) {
        let Some(Taken { before, news, received, lost, app_limited }) = &self.latest else { return };
        let (sent_ns, received_ns) = (self.ns(news.sent), self.ns(*received));
        let advance = news.packets.saturating_add(*lost);
        self.controller.on_stretched_ack(&self.table, sent_ns, received_ns, TICK_NS, advance, news.packets);
        if *app_limited {
            self.controller.keep_window(before);
        }
    }

    fn begin_anew(&mut self) {
        self.controller = Controller::start(&self.table);
        (self.latest, self.lost) = (None, 0);
    }

    fn ns(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.beginning.since()).as_nanos() as u64
    }

    fn mtu_bytes(&self) -> u64 {
        u64::from(self.mtu.max(1))
    }
}

#[cfg(test)]
mod tests;
