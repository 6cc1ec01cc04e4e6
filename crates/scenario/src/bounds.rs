//! How large and how small the numbers of scenario files may be, and why: what messages say stands beside each bound.
//!
//! Within them a run ends in a time that follows from its length, and nothing overflows.

use exmachina_net::schedule::LONGEST_RUN;

use super::Shown;

/// The longest run, simulated seconds: [`LONGEST_RUN`].
#[must_use]
pub fn longest_run_s() -> f64 {
    LONGEST_RUN.as_s().floor()
}

/// Refuses a length that no run can have.
///
/// # Errors
/// Says which it can have, and why.
pub fn check_duration(seconds: f64, longest: f64, reason: &str) -> Result<f64, String> {
    if seconds > 0.0 && seconds <= longest {
        return Ok(seconds);
    }
    Err(format!("expected more than 0 and at most {longest} simulated seconds ({reason}), got {}", Shown(seconds)))
}

/// Why no run is longer than [`longest_run_s`].
pub const CLOCK_ENDS: &str = "the simulator's clock counts no further";

/// Rates, Mbit/s. A packet of 1250 bytes takes 10 s on the slowest link, and 10 ns on the fastest, where the clock's ns
/// still tell one packet from the next.
pub(super) const RATES: (f64, f64) = (0.001, 1e6);
pub(super) const RATE: &str = "a rate from 0.001 Mbit/s (a packet takes 10 s) to 1000000 Mbit/s (10 ns)";

/// RTTs, ms. Shorter ones are lost in the clock's whole ns; no on-period waits longer for its end.
pub(super) const RTTS_MS: (f64, f64) = (0.001, 1e6);
pub(super) const RTT: &str = "an RTT from 0.001 ms (the clock counts whole ns) to 1000000 ms";

/// Mean on- and off-times, s: senders that switch more often than this do nothing else, and a run of them never ends.
pub(super) const PERIODS_S: (f64, f64) = (1e-6, 1e9);
pub(super) const PERIOD: &str = "a mean from 0.000001 s (below it a run is nothing but switching) to 1000000000 s";

/// Mean transfers, bytes. Less than a packet is sent as one.
pub(super) const TRANSFERS_BYTES: (f64, f64) = (1.0, 1e15);
pub(super) const TRANSFER: &str = "a mean from 1 to 1e15 bytes";
