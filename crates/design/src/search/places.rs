//! Places within ranges, 0 to 1 each: the numbers of a policy or a law as an evolution sees them.

/// Takes numbers from their places, one after another.
pub struct Places<'a>(std::slice::Iter<'a, f64>);

impl<'a> Places<'a> {
    /// Those of these places.
    pub fn of(places: &'a [f64]) -> Places<'a> {
        Places(places.iter())
    }

    /// The next number, of a range.
    ///
    /// # Panics
    /// If there are no more places.
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        Range::Even(lo, hi).at(self.next())
    }

    /// The same where the logarithm has the place.
    ///
    /// # Panics
    /// If there are no more places.
    pub fn log(&mut self, lo: f64, hi: f64) -> f64 {
        Range::Log(lo, hi).at(self.next())
    }

    fn next(&mut self) -> f64 {
        *self.0.next().expect("as many places as numbers")
    }

    /// So many of the same range.
    ///
    /// # Panics
    /// If there are no more places.
    pub fn logs<const N: usize>(&mut self, lo: f64, hi: f64) -> [f64; N] {
        std::array::from_fn(|_| self.log(lo, hi))
    }
}

/// A range of a number that has one place.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// From one to the other, evenly.
    Even(f64, f64),
    /// The same where the logarithm has the place.
    Log(f64, f64),
}

impl Range {
    /// The number at a place; the nearest end, where that is outside.
    pub fn at(self, place: f64) -> f64 {
        let place = place.clamp(0.0, 1.0);
        match self {
            Range::Even(lo, hi) => lo + place * (hi - lo),
            Range::Log(lo, hi) => lo * libm::pow(hi / lo, place),
        }
    }

    /// The place of a number; that of the nearest end, where it is outside.
    pub fn place(self, number: f64) -> f64 {
        match self {
            Range::Even(lo, hi) => ((number - lo) / (hi - lo)).clamp(0.0, 1.0),
            Range::Log(lo, hi) => (libm::log(number.clamp(lo, hi) / lo) / libm::log(hi / lo)).clamp(0.0, 1.0),
        }
    }
}
