//! Boxes of memory space.

use crate::signal::{Point, SIGNALS, Signal};

/// A half-open box `[lower, upper)`; on the axes that a table does not use it is `[-inf, inf)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Included.
    pub lower: Point,
    /// Excluded.
    pub upper: Point,
}

impl Cell {
    /// All of memory space.
    pub const EVERYWHERE: Cell = Cell { lower: [f64::NEG_INFINITY; SIGNALS], upper: [f64::INFINITY; SIGNALS] };

    /// The box `[0, max)` on each of `signals`.
    #[must_use]
    pub fn domain(signals: &[Signal], max: f64) -> Cell {
        let mut cell = Cell::EVERYWHERE;
        for &s in signals {
            cell.lower[s as usize] = 0.0;
            cell.upper[s as usize] = max;
        }
        cell
    }

    /// Whether the point lies inside.
    #[must_use]
    pub fn contains(&self, point: &Point) -> bool {
        (0..SIGNALS).all(|a| self.lower[a] <= point[a] && point[a] < self.upper[a])
    }

    /// Whether no point lies inside.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        (0..SIGNALS).any(|a| self.lower[a] >= self.upper[a])
    }

    /// The parts below and above `at` on one axis.
    #[must_use]
    pub fn cut(&self, axis: usize, at: f64) -> (Cell, Cell) {
        let (mut below, mut above) = (*self, *self);
        below.upper[axis] = at;
        above.lower[axis] = at;
        (below, above)
    }
}
