//! Simulated time: whole nanoseconds, so that no result depends on how sums are rounded.

/// An instant or a duration, ns.
pub type Time = u64;

/// Later than every event.
pub const NEVER: Time = u64::MAX;

/// One second.
pub const SECOND: Time = 1_000_000_000;

/// Milliseconds to time, to the nearest ns.
#[must_use]
pub fn from_ms(ms: f64) -> Time {
    (ms * 1e6).round() as Time
}

/// Seconds to time, to the nearest ns.
#[must_use]
pub fn from_s(s: f64) -> Time {
    (s * 1e9).round() as Time
}

/// Time in seconds.
#[must_use]
pub fn to_s(t: Time) -> f64 {
    t as f64 * 1e-9
}

/// Time in milliseconds.
#[must_use]
pub fn to_ms(t: Time) -> f64 {
    t as f64 * 1e-6
}
