//! Looking a rule up without branches: the rank of each signal among the bounds of all boxes, then one load.
//!
//! Where the last rule does not match again, which one does is hard to predict, and walking a tree costs a mispredicted
//! branch or two (as much as everything else that an ACK costs). Counting bounds costs a dozen SIMD compares.

use crate::cell::Cell;
use crate::signal::{Point, first_signals};

/// The largest grid that is built; beyond it the cells would crowd out the cache.
const MAX_CELLS: usize = 1 << 18;
/// The signals that are ranked: the first four axes.
const AXES: usize = 4;

/// The bounds along one axis, ascending, in groups of four that are filled up with NaN: a NaN is at or below nothing, not
/// even an infinite signal, so that no rank exceeds the number of bounds and every point has a cell.
#[derive(Clone, Debug)]
struct Axis {
    /// The bounds, and one group more for what lies above all of them.
    bounds: Box<[[f64; 4]]>,
    /// The last bound of each group that is full.
    tops: Box<[[f64; 4]]>,
    /// Where its rank goes in a cell's number.
    shift: u32,
}

/// Rule numbers by the ranks of the four signals.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    axes: [Axis; AXES],
    cells: Box<[u16]>,
}

impl Grid {
    /// The grid of some boxes, `find` giving the rule at a point; none if it would be too large.
    pub fn new(boxes: &[Cell], find: impl Fn(&Point) -> usize) -> Option<Grid> {
        let mut bounds: [Vec<f64>; AXES] = Default::default();
        let mut bits = 0;
        let axes = std::array::from_fn(|a| {
            bounds[a] = boxes.iter().map(|c| c.lower[a]).filter(|b| b.is_finite()).collect();
            bounds[a].sort_unstable_by(f64::total_cmp);
            bounds[a].dedup();
            let shift = bits;
            bits += usize::BITS - bounds[a].len().leading_zeros();
            let tops: Vec<f64> = bounds[a].chunks_exact(4).map(|group| group[3]).collect();
            let all: Vec<f64> = bounds[a].iter().copied().chain([f64::NAN; 4]).collect();
            Axis { bounds: in_fours(&all), tops: in_fours(&tops), shift }
        });
        if 1usize.checked_shl(bits)? > MAX_CELLS || boxes.len() > usize::from(u16::MAX) {
            return None;
        }
        let mut grid = Grid { axes, cells: vec![0; 1 << bits].into_boxed_slice() };
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
            let full = axis.tops.iter().map(|group| reached(group, x)).sum::<usize>();
            let rank = 4 * full + reached(&axis.bounds[full], x);
            number |= rank << axis.shift;
        }
        number
    }
}

/// How many of four ascending bounds are at or below x (a NaN is above all of them): a mask and its population count, three
/// instructions.
#[inline(always)]
fn reached(bounds: &[f64; 4], x: f64) -> usize {
    let bit = |i: usize| u32::from(bounds[i] <= x) << i;
    (bit(0) | bit(1) | bit(2) | bit(3)).count_ones() as usize
}

fn in_fours(bounds: &[f64]) -> Box<[[f64; 4]]> {
    let group = |g: &[f64]| std::array::from_fn(|i| g.get(i).copied().unwrap_or(f64::NAN));
    bounds.chunks(4).map(group).collect()
}
