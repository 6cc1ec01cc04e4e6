//! Simulated time: whole nanoseconds, so that no result depends on how sums are rounded. An instant is a type of its own, and so is
//! a duration: what cannot be added is not.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// A moment of a run, which begins at [`Instant::START`].
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(u64);

/// From one moment to another.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Duration(u64);

/// What both can be made of, and read as.
macro_rules! nanoseconds {
    ($time:ident) => {
        impl $time {
            /// So many ns.
            #[must_use]
            #[inline(always)]
            pub const fn from_nanos(ns: u64) -> $time {
                $time(ns)
            }

            /// So many whole ms.
            #[must_use]
            #[inline(always)]
            pub const fn from_millis(ms: u64) -> $time {
                $time(ms * 1_000_000)
            }

            /// Milliseconds, to the nearest ns.
            #[must_use]
            #[inline]
            pub fn from_ms(ms: f64) -> $time {
                $time((ms * 1e6).round() as u64)
            }

            /// Seconds, to the nearest ns.
            #[must_use]
            #[inline]
            pub fn from_s(s: f64) -> $time {
                $time((s * 1e9).round() as u64)
            }

            /// In ns.
            #[must_use]
            #[inline(always)]
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// In ms.
            #[must_use]
            #[inline(always)]
            pub fn as_ms(self) -> f64 {
                self.0 as f64 * 1e-6
            }

            /// In seconds.
            #[must_use]
            #[inline(always)]
            pub fn as_s(self) -> f64 {
                self.0 as f64 * 1e-9
            }

            /// The same so much later; the latest there is, where that is past it.
            #[must_use]
            #[inline(always)]
            pub const fn saturating_add(self, other: Duration) -> $time {
                $time(self.0.saturating_add(other.0))
            }

            /// How far apart two of them are.
            #[must_use]
            #[inline(always)]
            pub const fn abs_diff(self, other: $time) -> Duration {
                Duration(self.0.abs_diff(other.0))
            }
        }

        /// As a number of ns.
        impl fmt::Debug for $time {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// As a number of ns.
        impl fmt::Display for $time {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Add<Duration> for $time {
            type Output = $time;

            #[inline(always)]
            fn add(self, other: Duration) -> $time {
                $time(self.0 + other.0)
            }
        }

        impl Sub<Duration> for $time {
            type Output = $time;

            #[inline(always)]
            fn sub(self, other: Duration) -> $time {
                $time(self.0 - other.0)
            }
        }

        impl AddAssign<Duration> for $time {
            #[inline(always)]
            fn add_assign(&mut self, other: Duration) {
                self.0 += other.0;
            }
        }

        impl SubAssign<Duration> for $time {
            #[inline(always)]
            fn sub_assign(&mut self, other: Duration) {
                self.0 -= other.0;
            }
        }

        /// How far it is past a whole number of them: since a clock of this tick ticked.
        impl Rem<Duration> for $time {
            type Output = Duration;

            #[inline(always)]
            fn rem(self, tick: Duration) -> Duration {
                Duration(self.0 % tick.0)
            }
        }

        /// How many of them go into it.
        impl Div<Duration> for $time {
            type Output = u64;

            #[inline(always)]
            fn div(self, part: Duration) -> u64 {
                self.0 / part.0
            }
        }
    };
}

nanoseconds!(Instant);
nanoseconds!(Duration);

impl Instant {
    /// When a run begins.
    pub const START: Instant = Instant(0);

    /// Later than every event.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// The time since then; none where that is yet to come.
    #[must_use]
    #[inline(always)]
    pub const fn since(self, then: Instant) -> Duration {
        Duration(self.0.saturating_sub(then.0))
    }

    /// What a clock shows that ticks this often (0 and 1 ns: it is exact).
    #[must_use]
    #[inline(always)]
    pub fn ticked(self, tick: Duration) -> Instant {
        if tick > Duration::NANOSECOND { self - self % tick } else { self }
    }

    /// So long before; the beginning, where that is before it.
    #[must_use]
    #[inline(always)]
    pub const fn saturating_sub(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_sub(duration.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Duration = Duration(0);

    /// The smallest that there is: a nanosecond.
    pub const NANOSECOND: Duration = Duration(1);

    /// One second.
    pub const SECOND: Duration = Duration(1_000_000_000);

    /// The longest that there is.
    pub const MAX: Duration = Duration(u64::MAX);

    /// So many whole seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s * 1_000_000_000)
    }

    /// So many ns, rounded down.
    #[must_use]
    #[inline(always)]
    pub fn from_nanos_f64(ns: f64) -> Duration {
        Duration(ns as u64)
    }

    /// The same of a number that is not negative, nor of centuries: in half the instructions, since processors convert signed ones.
    #[must_use]
    #[inline(always)]
    pub fn from_few_nanos_f64(ns: f64) -> Duration {
        debug_assert!((0.0..(1_u64 << 63) as f64).contains(&ns));
        Duration(ns as i64 as u64)
    }

    /// In ns, as a number that may be divided.
    #[must_use]
    #[inline(always)]
    pub fn as_nanos_f64(self) -> f64 {
        self.0 as f64
    }

    /// What is left of it after so much.
    #[must_use]
    #[inline(always)]
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// So many times as long.
    #[must_use]
    #[inline(always)]
    pub const fn saturating_mul(self, times: u64) -> Duration {
        Duration(self.0.saturating_mul(times))
    }

    /// How many of them it takes for this.
    #[must_use]
    #[inline(always)]
    pub const fn div_ceil(self, part: Duration) -> u64 {
        self.0.div_ceil(part.0)
    }
}

impl Sub for Instant {
    type Output = Duration;

    #[inline(always)]
    fn sub(self, then: Instant) -> Duration {
        Duration(self.0 - then.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;

    #[inline(always)]
    fn mul(self, times: u64) -> Duration {
        Duration(self.0 * times)
    }
}

impl Mul<Duration> for u64 {
    type Output = Duration;

    #[inline(always)]
    fn mul(self, duration: Duration) -> Duration {
        duration * self
    }
}

impl Div<u64> for Duration {
    type Output = Duration;

    #[inline(always)]
    fn div(self, parts: u64) -> Duration {
        Duration(self.0 / parts)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(durations: I) -> Duration {
        durations.fold(Duration::ZERO, Add::add)
    }
}
