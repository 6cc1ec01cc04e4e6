//! What a design trains its senders with, so that they get along with real ones: receivers that acknowledge several packets
//! at a time and take no more than so many before the first ACK, timers that are late, clocks that are coarse, and flows whose window and averages are set elsewhere now and then.
//!
//! Delays count when packets arrive, as in `transport/`: how long an ACK waits is the receiver's doing, not the network's.

use exmachina_hosts::scheme::Scheme;
use exmachina_net::endpoint::Endpoint;
use exmachina_net::network::EACH_PACKET;
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::time::{Duration, Instant};

use super::{Acks, Network, Seed, Sender};

/// How far windows and averages are set elsewhere, up or down: at most by this factor.
const FARTHEST: f64 = 16.0;

/// Held ACKs, late timers, the clock and the upsets of one sender.
#[derive(Clone, Debug)]
pub struct Training {
    pub(super) acks: Acks,
    /// How long one waits at most.
    pub(super) delay: Duration,
    /// There is nothing but upsets.
    pub(super) only_upsets: bool,
    /// The tick of its clock.
    pub(super) clock: Duration,
    /// Packets that arrived and are not acknowledged yet.
    pub(super) held: u32,
    /// The last of them: its number and when it was sent.
    pub(super) last: (u32, Instant),
    /// Mean time between upsets, s, and when the next one is.
    upset_s: f64,
    pub(super) upset_at: Instant,
    upsets: Stream,
    /// How late its pacing timer is at most, ns.
    pub(super) latest: f64,
    pub(super) timers: Stream,
    /// What its receivers take before their first ACK of a flow, packets; 0: all.
    first_window: u32,
    /// The end of its transfer, while that hides it.
    end: Option<u32>,
}

impl Training {
    /// That of a sender; none where nothing asks for it.
    pub(super) fn of(network: &Network, seed: Seed, sender: u16) -> Option<Box<Training>> {
        let upset_s = network.upsets.flow_s;
        let latest = network.roughness.late_ms * 1e6;
        let clock = Duration::from_ms(network.clock_ms);
        let only_upsets = network.acks == EACH_PACKET && latest == 0.0 && clock <= Duration::NANOSECOND;
        let first_window = network.first_receive_window;
        if only_upsets && upset_s == 0.0 && first_window == 0 {
            return None;
        }
        let mut upsets = Stream::new(seed.root, seed.specimen, u64::from(sender), Purpose::Upsets);
        let upset_at = if upset_s > 0.0 { Instant::from_s(upsets.exponential(upset_s)) } else { Instant::NEVER };
        Some(Box::new(Training {
            acks: network.acks,
            delay: Duration::from_ms(network.acks.delay_ms),
            only_upsets,
            clock,
            held: 0,
            last: (0, Instant::START),
            upset_s,
            upset_at,
            upsets,
            latest,
            timers: Stream::new(seed.root, seed.specimen, u64::from(sender), Purpose::Timers),
            first_window,
            end: None,
        }))
    }

    /// Whether a flow is upset now: by how much its window and its averages are multiplied then.
    fn upset(&mut self, now: Instant) -> Option<(f64, f64)> {
        if now < self.upset_at {
            return None;
        }
        while self.upset_at <= now {
            self.upset_at += Duration::from_s(self.upsets.exponential(self.upset_s)).max(Duration::NANOSECOND);
        }
        let mut factor = || self.upsets.log_between(1.0 / FARTHEST, FARTHEST);
        Some((factor(), factor()))
    }
}

impl<S: Scheme> Sender<S> {
    /// A packet of the present flow arrives where its ACK may have to wait, or the flow is upset.
    #[inline(never)]
    pub(super) fn train(&mut self, seq: u32, sent: Instant, received: Instant, clock: Duration) {
        let due = self.due;
        let Some(training) = &mut self.training else { return };
        let expected = if training.held > 0 { training.last.0 + 1 } else { self.acked };
        training.held += 1;
        training.last = (seq, sent);
        let upset = training.upset(received);
        // At once after a gap (RFC 5681 §4.2).
        let at_once = training.held >= training.acks.packets || seq != expected;
        if at_once {
            self.acknowledge_held(received, clock);
        } else if due == Instant::NEVER {
            self.due = received + training.delay;
        }
        if let Some((window, averages)) = upset {
            self.scheme.upset(window, averages);
            self.open();
        }
    }

    /// Takes in the ACK of all packets that wait for one.
    pub(super) fn acknowledge_held(&mut self, now: Instant, clock: Duration) {
        let Some(training) = self.training.as_mut().filter(|training| training.held > 0) else { return };
        let (held, (seq, sent)) = (std::mem::take(&mut training.held), training.last);
        self.due = Instant::NEVER;
        self.open_receive_window();
        self.take_in(seq, sent, now, clock, held);
    }

    /// A packet goes now: when the next one does, if a pause is all that holds it back. What a late timer cost is made up
    /// for.
    #[inline(never)]
    pub(super) fn set_timer(&mut self, now: Instant, pause: Duration) -> Instant {
        if let Some(training) = self.training.as_mut().filter(|training| training.latest > 0.0) {
            self.last_send = now - self.late_by;
            self.late_by = Duration::from_nanos_f64(training.timers.uniform() * training.latest);
        }
        (self.last_send + pause + self.late_by).max(now)
    }

    /// Before the first ACK of a flow, or after the loss of all that was under way: its end is where the receiver takes no more.
    pub(super) fn close_receive_window(&mut self) {
        if let Some(training) = self.training.as_mut().filter(|training| training.first_window > 0) {
            training.end = Some(self.end);
            self.end = self.end.min(self.acked.saturating_add(training.first_window));
        }
    }

    /// Its end is what it was; tells whether it was hidden.
    pub(super) fn open_receive_window(&mut self) -> bool {
        let end = self.training.as_mut().and_then(|training| training.end.take());
        self.end = end.unwrap_or(self.end);
        end.is_some()
    }

    /// Those of a flow that ended are acknowledged to nobody.
    pub(super) fn forget_held(&mut self) {
        if let Some(training) = &mut self.training {
            (training.held, training.end) = (0, None);
            self.due = Instant::NEVER;
        }
    }

    /// The time of an ACK that waited, or of a send: whether there is something to send now.
    #[cold]
    pub(super) fn waited(&mut self, now: Instant) -> bool {
        let clock = self.training.as_ref().map_or(Duration::ZERO, |training| training.clock);
        self.acknowledge_held(now, clock);
        self.planned = self.ready();
        self.planned <= now
    }
}
