//! A rule of a flat table: its box of the first four signals, and what it does to a window.

use crate::action::{Action, MAX_WINDOW};

/// A rule, laid out for the lookup. Bounds at the edge of the domain are infinite here, which clamps memory to the domain.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Rule {
    pub(crate) lower: [f64; 4],
    pub(crate) upper: [f64; 4],
    pub(crate) multiple: f64,
    pub(crate) increment: f64,
    /// Least time between two sends, to the nearest ns.
    pub intersend_ns: u64,
}

impl Rule {
    pub(crate) fn new(lower: [f64; 4], upper: [f64; 4], action: Action) -> Rule {
        let mut rule = Rule { lower, upper, multiple: 0.0, increment: 0.0, intersend_ns: 0 };
        rule.set_action(action);
        rule
    }

    pub(crate) fn set_action(&mut self, action: Action) {
        self.multiple = action.multiple;
        self.increment = f64::from(action.increment);
        self.intersend_ns = (action.intersend_ms * 1e6).round() as u64;
    }

    /// The window after this rule, in whole packets: `clamp(int(m * window + b), 0, 1e6)`.
    #[must_use]
    #[inline(always)]
    pub fn window(&self, window: u32) -> u32 {
        let wanted = self.multiple * f64::from(window as i32) + self.increment;
        let clamped = wanted.max(0.0).min(f64::from(MAX_WINDOW));
        // SAFETY: the clamped value fits, and is no NaN since `max` returns the other operand for one.
        unsafe { clamped.to_int_unchecked::<i32>() as u32 }
    }

    /// [`Rule::window`] of a window that is a float, which takes a processor the fewest steps from one to the next.
    #[inline(always)]
    pub(crate) fn window_exact(&self, window: f64) -> f64 {
        let wanted = (self.multiple * window + self.increment).trunc();
        if wanted >= 0.0 && wanted <= f64::from(MAX_WINDOW) { wanted } else { clamped(wanted) }
    }

    /// [`Rule::matches`] with wider registers.
    ///
    /// # Safety
    /// The processor must have them (AVX).
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    #[inline]
    pub fn matches_avx(&self, m: &[f64; 4]) -> bool {
        use std::arch::x86_64::{
            _CMP_LE_OQ, _CMP_LT_OQ, _mm256_and_pd, _mm256_cmp_pd, _mm256_loadu_pd, _mm256_movemask_pd,
        };
        // SAFETY: each load reads four of four f64.
        let [m, lower, upper] = [m, &self.lower, &self.upper].map(|x| unsafe { _mm256_loadu_pd(x.as_ptr()) });
        let inside = _mm256_and_pd(_mm256_cmp_pd::<_CMP_LE_OQ>(lower, m), _mm256_cmp_pd::<_CMP_LT_OQ>(m, upper));
        _mm256_movemask_pd(inside) == 15
    }

    /// Whether the first four signals lie in the rule's box: all compares at once, no branch between them.
    #[inline(always)]
    pub fn matches(&self, m: &[f64; 4]) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_mm_and_pd, _mm_cmple_pd, _mm_cmplt_pd, _mm_loadu_pd, _mm_movemask_pd};
            // SAFETY: SSE2 is part of x86-64, and each load reads two of four f64.
            unsafe {
                let half = |i: usize| {
                    let m = _mm_loadu_pd(m.as_ptr().add(i));
                    let (lower, upper) = (self.lower.as_ptr().add(i), self.upper.as_ptr().add(i));
                    _mm_and_pd(_mm_cmple_pd(_mm_loadu_pd(lower), m), _mm_cmplt_pd(m, _mm_loadu_pd(upper)))
                };
                _mm_movemask_pd(_mm_and_pd(half(0), half(2))) == 3
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            (0..4).fold(true, |inside, i| inside & (self.lower[i] <= m[i]) & (m[i] < self.upper[i]))
        }
    }
}

/// A window out of bounds, brought into them; by itself, so that the others need not wait for it.
#[cold]
#[inline(never)]
fn clamped(wanted: f64) -> f64 {
    wanted.max(0.0).min(f64::from(MAX_WINDOW))
}
