//! What a scheme is asked and told, and what it can do.

use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Controller, FlatTable};

use super::{Ack, Congestion};

/// A congestion-control scheme.
pub trait Scheme: Clone {
    /// A connection is opened at `now`: forget everything.
    fn start(&mut self, now: Instant);
    /// Another on-period begins on an open connection, whose last packet was sent `idle` ago.
    fn resume(&mut self, _now: Instant, _idle: Duration) {}
    /// An ACK of the present connection arrives.
    fn on_ack(&mut self, ack: &Ack);
    /// Packets were lost: called once per window (on entering recovery), before `on_ack` of the same ACK.
    fn on_loss(&mut self, _loss: &Congestion) {}
    /// So many packets were lost: all that are, before `on_ack` of the ACK that shows it. Of the design simulator's senders,
    /// whose ACKs do not say so.
    fn on_lost(&mut self, _packets: u32) {}
    /// Sets its window, and what it has averaged, elsewhere: to these multiples. Of designs; others know no such thing.
    fn upset(&mut self, _window: f64, _averages: f64) {}
    /// ns-2's TCP sets the window to 1, for a loss or a timeout, where rules set it otherwise.
    fn collapse(&mut self) {}
    /// The receiver echoes an ECN mark: called once per window (RFC 3168 §6.1.2), before `on_ack` of the same ACK.
    fn on_ecn(&mut self, _mark: &Congestion) {}
    /// The retransmission timer expired (RFC 5681 §3.1).
    fn on_rto(&mut self, _timeout: &Congestion) {}
    /// Everything that was lost has been repaired. `limit`: the window that a transport allows at once that leaves the way
    /// back to the threshold to the scheme (ns-2's TCP/Linux).
    fn on_recovered(&mut self, _now: Instant, _limit: Option<u32>) {}
    /// A part of the window that was lost has been repaired, and it deflates by so many packets (RFC 6582 §3.2, step 5).
    fn on_partial_ack(&mut self, _deflate: u32) {}
    /// Losses are about to lower the window, and that may prove an error: what [`Scheme::on_spurious`] restores is to be kept.
    fn keep(&mut self) {}
    /// What was taken for lost was late (RFC 4015; RFC 9438 §4.9): the window is to be again what it was at
    /// [`Scheme::keep`], if it is not larger.
    fn on_spurious(&mut self, _now: Instant) {}
    /// The connection was idle for so many timeouts and part of one more (RFC 2861 §3): the window is halved for each, but not
    /// below the initial one.
    fn after_idle(&mut self, _timeouts: u32, _initial_window: u32) {}
    /// Packets that may be in flight.
    fn window(&self) -> u32;
    /// Least time between two sends.
    fn intersend(&self) -> Duration;
    /// An ACK of a packet of an earlier on-period arrived, and it starts anew with each.
    fn on_stale_ack(&mut self) {}
    /// The rule table and the flow under it, of a scheme that is nothing besides.
    fn flow(&mut self) -> Option<(&FlatTable, &mut Controller)> {
        None
    }
    /// Slow-start threshold in packets, for time plots; NaN where the scheme has none.
    fn ssthresh(&self) -> f64 {
        f64::NAN
    }
    /// What it has and does that the transport must know.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

/// What a scheme has and does that the transport must know; all of it the same for as long as a connection lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Its packets may be marked instead of dropped (ECN-capable transport, RFC 3168 §5).
    pub ecn: bool,
    /// What it does in recovery is its own: the transport does not lower the window for it (BBR, Remy).
    pub owns_recovery: bool,
    /// Its packets carry an [`XcpHeader`](exmachina_net::packet::XcpHeader), which the transport fills in.
    pub xcp: bool,
    /// It starts anew with each on-period, and is not told of ACKs of packets of an earlier one.
    pub forgets: bool,
}
