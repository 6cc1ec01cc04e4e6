//! Numbers as messages show them.

use std::fmt;

/// A number: in digits as people write it, and with an exponent where that would be many.
pub struct Shown(pub f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(number) = *self;
        if number == 0.0 || !number.is_finite() || (1e-6..1e16).contains(&number.abs()) {
            write!(f, "{number}")
        } else {
            write!(f, "{number:e}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_digits() {
        let shown = [0.0, -5.0, 0.25, 1e-6, 35_184.0, 1e15, 1e-300, -1e308, 1.5e20, f64::NAN, f64::INFINITY]
            .map(|number| Shown(number).to_string());
        let expected =
            ["0", "-5", "0.25", "0.000001", "35184", "1000000000000000", "1e-300", "-1e308", "1.5e20", "NaN", "inf"];
        assert_eq!(shown, expected);
    }
}
