//! Looking a rule up without branches: the rank of each signal among the bounds of all boxes, then one load.
//!
//! Where the last rule does not match again, which one does is hard to predict, and walking a tree costs a mispredicted
//! branch or two (as much as everything else that an ACK costs). Ranks cost a load and four compares at once.

use crate::signal::{Point, first_signals};

/// The largest grid that is built; beyond it the cells would crowd out the cache.
const MAX_CELLS: usize = 1 << 18;
/// The signals that are ranked: the first four axes.
const AXES: usize = 4;

/// The most bins of an axis: what a level of cache has room for besides all else.
const MAX_BINS: usize = 1 << 12;

/// The bounds along one axis, ascending, with NaN behind them: a NaN is at or below nothing, not even an infinite signal, so that
/// no rank exceeds the number of bounds and every point has a cell.
///
/// Numbers are put into bins by their exponent and the first bits of their mantissa, so few of them that no bin holds more than four bounds:
/// a rank is that of the bin, which a load finds, and how many of the next four bounds are reached.
#[derive(Clone, Debug)]
struct Axis {
    bounds: Box<[f64]>,
    /// The rank of the lower end of each bin.
    bins: Box<[u16]>,
    /// The bits below those that name a bin, and the name of the first bin.
    bits: u32,
    first: i64,
    /// Where its rank goes in a cell's number.
    shift: u32,
}

impl Axis {
    /// That of some bounds; none where too many are too close.
    fn new(bounds: &[f64], shift: u32) -> Option<Axis> {
        let name = |x: f64, bits: u32| x.to_bits() as i64 >> bits;
        // Bounds of a domain are positive; one that is not has no bin.
        let (Some(&low), Some(&high)) = (bounds.first(), bounds.last()) else {
            let bounds = vec![f64::NAN; 4].into_boxed_slice();
            return Some(Axis { bounds, bins: vec![0].into_boxed_slice(), bits: 63, first: 0, shift });
        };
        if low <= 0.0 || bounds.len() > usize::from(u16::MAX) {
            return None;
        }
        let fits = |bits: &u32| bounds.windows(5).all(|five| name(five[0], *bits) != name(five[4], *bits));
        let bits = (0..=62).rev().find(fits)?;
        let (first, last) = (name(low, bits), name(high, bits));
        if last - first >= MAX_BINS as i64 {
            return None;
        }
        let rank = |bin: i64| bounds.partition_point(|&bound| name(bound, bits) < bin) as u16;
        let bins = (first..=last).map(rank).collect();
        let bounds = bounds.iter().copied().chain([f64::NAN; 4]).collect();
        Some(Axis { bounds, bins, bits, first, shift })
    }

    /// How many bounds are at or below x.
    #[inline(always)]
    fn rank(&self, x: f64) -> usize {
        // What is no number is at the lower end.
        let x = if x > 0.0 { x } else { 0.0 };
        // Those below the first bin, or above the last, are looked up in it.
        let last = self.bins.len() as i64 - 1;
        let bin = ((x.to_bits() as i64 >> self.bits) - self.first).max(0).min(last);
        // SAFETY: the bin is one of the bins; behind each one's rank there are four bounds or NaNs.
        unsafe {
            let rank = usize::from(*self.bins.get_unchecked(bin as usize));
            rank + reached(&*self.bounds.as_ptr().add(rank).cast(), x)
        }
    }
}

/// Rule numbers by the ranks of the four signals.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    axes: [Axis; AXES],
    cells: Box<[u16]>,
}

impl Grid {
    /// The grid of boxes with these lower ends, `find` giving the rule at a point; none if it would be too large.
    pub fn new(lower: &[[f64; AXES]], find: impl Fn(&Point) -> usize) -> Option<Grid> {
        let mut bounds: [Vec<f64>; AXES] = Default::default();
        let mut bits = 0;
        let axes = std::array::from_fn(|a| {
            bounds[a] = lower.iter().map(|ends| ends[a]).filter(|b| b.is_finite()).collect();
            bounds[a].sort_unstable_by(f64::total_cmp);
            bounds[a].dedup();
            let shift = bits;
            bits += usize::BITS - bounds[a].len().leading_zeros();
            Axis::new(&bounds[a], shift)
        });
        let [Some(a), Some(b), Some(c), Some(d)] = axes else { return None };
        if 1usize.checked_shl(bits)? > MAX_CELLS || lower.len() > usize::from(u16::MAX) {
            return None;
        }
        let mut grid = Grid { axes: [a, b, c, d], cells: vec![0; 1 << bits].into_boxed_slice() };
        let points = bounds.map(|b| [f64::NEG_INFINITY].into_iter().chain(b).collect::<Vec<_>>());
        for &w in &points[0] {
            for &x in &points[1] {
                for &y in &points[2] {
                    for &z in &points[3] {
                        let number = grid.cell(&[w, x, y, z]);
                        grid.cells[number] = find(&first_signals(&[w, x, y, z])) as u16;
                    }
                }
            }
        }
        Some(grid)
    }

    /// The rule at a point.
    #[inline(always)]
    pub fn rule(&self, point: &[f64; AXES]) -> usize {
        usize::from(self.cells[self.cell(point)])
    }

    #[inline(always)]
    fn cell(&self, point: &[f64; AXES]) -> usize {
        let mut number = 0;
        for (axis, &x) in self.axes.iter().zip(point) {
            number |= axis.rank(x) << axis.shift;
        }
        number
    }
}

/// How many of four ascending bounds are at or below x (a NaN is above all of them): a mask and its population count. By hand:
/// a compiler that sees four of these side by side turns them over, and takes three times as long.
#[inline(always)]
fn reached(bounds: &[f64; 4], x: f64) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_castpd_ps, _mm_cmple_pd, _mm_loadu_pd, _mm_movemask_ps, _mm_set1_pd, _mm_shuffle_ps,
        };
        // SAFETY: SSE2 is part of x86-64, and each load reads two of four f64.
        unsafe {
            let half = |i: usize| _mm_castpd_ps(_mm_cmple_pd(_mm_loadu_pd(bounds.as_ptr().add(i)), _mm_set1_pd(x)));
            _mm_movemask_ps(_mm_shuffle_ps::<0b10_00_10_00>(half(0), half(2))).count_ones() as usize
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        (0..4).map(|i| usize::from(bounds[i] <= x)).sum()
    }
}
