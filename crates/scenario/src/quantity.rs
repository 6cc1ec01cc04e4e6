//! A quantity of a scenario: one value, or a distribution of values.

use std::fmt;

use exmachina_net::random::{Stream, below, between, log_between};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Shown;

/// The most points of one grid.
const MAX_POINTS: u32 = 10_000;

/// What is known of one number: its value, or how likely each value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// This value: `15`.
    Exact(f64),
    /// Every value from `lo` to `hi` is equally likely: `{ uniform = [lo, hi] }`.
    Uniform {
        /// Smallest value.
        lo: f64,
        /// Largest value.
        hi: f64,
    },
    /// Every ratio is equally likely, so 1 to 10 as likely as 10 to 100: `{ log_uniform = [lo, hi] }`.
    LogUniform {
        /// Smallest value, above 0.
        lo: f64,
        /// Largest value.
        hi: f64,
    },
    /// Every whole number from `lo` to `hi`, both included, is equally likely: `uniform`, for things one counts.
    Whole {
        /// Smallest value.
        lo: u32,
        /// Largest value.
        hi: u32,
    },
    /// Each of these values is equally likely: `list`, `grid` and `log_grid`.
    Points(Vec<f64>),
}

impl Quantity {
    /// One value at random. Takes exactly one number from the stream, whatever the distribution: so making one
    /// quantity of a scenario exact leaves the draws of the others as they were.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.at(stream.next_u64())
    }

    /// The value that random bits stand for.
    #[must_use]
    pub fn at(&self, bits: u64) -> f64 {
        match self {
            Self::Exact(value) => *value,
            Self::Uniform { lo, hi } => between(bits, *lo, *hi),
            Self::LogUniform { lo, hi } => log_between(bits, *lo, *hi),
            Self::Whole { lo, hi } => f64::from(*lo) + below(bits, u64::from(hi - lo) + 1) as f64,
            Self::Points(points) => points[below(bits, points.len() as u64) as usize],
        }
    }

    /// The smallest and the largest value.
    #[must_use]
    pub fn extremes(&self) -> (f64, f64) {
        match self {
            Self::Exact(value) => (*value, *value),
            Self::Uniform { lo, hi } | Self::LogUniform { lo, hi } => (*lo, *hi),
            Self::Whole { lo, hi } => (f64::from(*lo), f64::from(*hi)),
            Self::Points(points) => {
                points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &p| (lo.min(p), hi.max(p)))
            }
        }
    }

    /// All values, if they were listed one by one (an exact value is a list of one).
    #[must_use]
    pub fn points(&self) -> Option<&[f64]> {
        match self {
            Self::Exact(value) => Some(std::slice::from_ref(value)),
            Self::Points(points) => Some(points),
            Self::Uniform { .. } | Self::LogUniform { .. } | Self::Whole { .. } => None,
        }
    }

    /// Reads a quantity all of whose values are in an interval, which `expected` puts in words.
    pub(super) fn within<'de, D: Deserializer<'de>>(
        deserializer: D,
        expected: &str,
        allowed: impl Fn(f64) -> bool,
    ) -> Result<Self, D::Error> {
        let quantity = Self::deserialize(deserializer)?;
        let (lo, hi) = quantity.extremes();
        match [lo, hi].into_iter().find(|&value| !allowed(value)) {
            Some(value) => Err(D::Error::custom(format!("expected {expected}, got {}", Shown(value)))),
            None => Ok(quantity),
        }
    }

    /// The same quantity for something one counts.
    pub(super) fn whole(self) -> Result<Self, String> {
        let whole = |value: f64| {
            let nearest = value.round();
            // The points of a grid such as log_grid = [1, 1000] are whole but for rounding.
            if (value - nearest).abs() <= 1e-9 * nearest {
                Ok(nearest)
            } else {
                Err(format!("expected whole numbers, got {}", Shown(value)))
            }
        };
        Ok(match self {
            Self::Exact(value) => Self::Exact(whole(value)?),
            Self::Uniform { lo, hi } => Self::Whole { lo: whole(lo)? as u32, hi: whole(hi)? as u32 },
            Self::Whole { .. } => self,
            Self::LogUniform { .. } => return Err("expected whole numbers; log_uniform gives others".to_owned()),
            Self::Points(points) => Self::Points(points.into_iter().map(whole).collect::<Result<_, _>>()?),
        })
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl<'de> Visitor<'de> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or { uniform = [lo, hi] }, log_uniform, list, grid or log_grid")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Quantity, E> {
        Ok(Quantity::Exact(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Quantity, E> {
        finite(value).map(Quantity::Exact).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Quantity, A::Error> {
        Distribution::deserialize(MapAccessDeserializer::new(map))?.quantity().map_err(A::Error::custom)
    }
}

/// A distribution as it is written: exactly one of the first five, and `points` with the grids.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Distribution {
    uniform: Option<Vec<f64>>,
    log_uniform: Option<Vec<f64>>,
    list: Option<Vec<f64>>,
    grid: Option<Vec<f64>>,
    log_grid: Option<Vec<f64>>,
    points: Option<u32>,
}

impl Distribution {
    fn quantity(self) -> Result<Quantity, String> {
        let forms = [
            ("uniform", self.uniform),
            ("log_uniform", self.log_uniform),
            ("list", self.list),
            ("grid", self.grid),
            ("log_grid", self.log_grid),
        ];
        let mut given = forms.into_iter().filter_map(|(form, numbers)| Some((form, numbers?)));
        let (Some((form, numbers)), None) = (given.next(), given.next()) else {
            return Err("expected exactly one of uniform, log_uniform, list, grid, log_grid".to_owned());
        };
        for &number in &numbers {
            finite(number)?;
        }
        match (form, self.points) {
            ("grid" | "log_grid", None) => Err(format!("expected {{ {form} = [lo, hi], points = k }}, got no points")),
            ("grid" | "log_grid", Some(k)) if !(2..=MAX_POINTS).contains(&k) => {
                Err(format!("expected points from 2 to {MAX_POINTS}, got {k}"))
            }
            ("grid" | "log_grid", Some(k)) => range(form, &numbers).map(|(lo, hi)| grid(form, lo, hi, k)),
            (_, Some(_)) => Err(format!("expected no points beside {form}: they belong to grid and log_grid")),
            ("list", None) if numbers.is_empty() => {
                Err("expected at least one value in { list = [a, b, c] }".to_owned())
            }
            ("list", None) => Ok(Quantity::Points(numbers)),
            ("uniform", None) => range(form, &numbers).map(|(lo, hi)| Quantity::Uniform { lo, hi }),
            (_, None) => range(form, &numbers).map(|(lo, hi)| Quantity::LogUniform { lo, hi }),
        }
    }
}

/// The two ends of a range, in order.
fn range(form: &str, numbers: &[f64]) -> Result<(f64, f64), String> {
    let &[lo, hi] = numbers else {
        return Err(format!("expected two numbers in {{ {form} = [lo, hi] }}, got {}", numbers.len()));
    };
    if lo == hi {
        return Err(format!("empty range: write the one value, {lo}"));
    }
    if lo > hi {
        return Err(format!("expected lo < hi in {{ {form} = [lo, hi] }}, got [{lo}, {hi}]"));
    }
    if form.starts_with("log_") && lo <= 0.0 {
        return Err(format!("expected lo > 0 in {{ {form} = [lo, hi] }}, got {}", Shown(lo)));
    }
    Ok((lo, hi))
}

/// `k` evenly spaced values, the ends exact.
fn grid(form: &str, lo: f64, hi: f64, k: u32) -> Quantity {
    let value = |i: u32| {
        let share = f64::from(i) / f64::from(k - 1);
        match i {
            0 => lo,
            _ if i == k - 1 => hi,
            _ if form == "log_grid" => lo * libm::exp(libm::log(hi / lo) * share),
            _ => lo + (hi - lo) * share,
        }
    };
    Quantity::Points((0..k).map(value).collect())
}

fn finite(value: f64) -> Result<f64, String> {
    if value.is_finite() { Ok(value) } else { Err(format!("expected a finite number, got {}", Shown(value))) }
}
