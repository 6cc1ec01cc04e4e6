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
        lo + self.0.next().expect("as many places as numbers").clamp(0.0, 1.0) * (hi - lo)
    }

    /// The same where the logarithm has the place.
    ///
    /// # Panics
    /// If there are no more places.
    pub fn log(&mut self, lo: f64, hi: f64) -> f64 {
        lo * libm::pow(hi / lo, self.between(0.0, 1.0))
    }

    /// So many of the same range.
    ///
    /// # Panics
    /// If there are no more places.
    pub fn logs<const N: usize>(&mut self, lo: f64, hi: f64) -> [f64; N] {
        std::array::from_fn(|_| self.log(lo, hi))
    }
}
