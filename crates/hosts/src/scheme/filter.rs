//! The least or greatest of the samples of a sliding window: of time, of round trips, of whatever is counted up.

use std::collections::VecDeque;

/// Keeps the samples that may still become the extreme: each newer one that is better removes the older.
#[derive(Clone, Debug)]
pub(super) struct Extreme {
    /// Whether the least is looked for.
    least: bool,
    /// Where on the scale each sample was taken, and its value; the best first.
    samples: VecDeque<(u64, f64)>,
}

impl Extreme {
    /// Of the least.
    pub(super) fn least() -> Extreme {
        Extreme { least: true, samples: VecDeque::new() }
    }

    /// Of the greatest.
    pub(super) fn greatest() -> Extreme {
        Extreme { least: false, samples: VecDeque::new() }
    }

    /// Takes a sample at `at`; forgets those more than `window` older.
    pub(super) fn update(&mut self, at: u64, value: f64, window: u64) {
        while let Some(&(_, last)) = self.samples.back() {
            let beaten = if self.least { value <= last } else { value >= last };
            if !beaten {
                break;
            }
            self.samples.pop_back();
        }
        self.samples.push_back((at, value));
        while self.samples.len() > 1 && self.samples[0].0.saturating_add(window) < at {
            self.samples.pop_front();
        }
    }

    /// The extreme; `None` before the first sample.
    pub(super) fn get(&self) -> Option<f64> {
        self.samples.front().map(|&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_extreme_of_the_last_samples() {
        let values = [5.0, 3.0, 4.0, 9.0, 2.0, 8.0, 8.0, 7.0, 1.0, 6.0];
        let (mut least, mut greatest) = (Extreme::least(), Extreme::greatest());
        assert_eq!(least.get(), None);
        for (i, &v) in values.iter().enumerate() {
            least.update(i as u64, v, 2);
            greatest.update(i as u64, v, 2);
            let window = &values[i.saturating_sub(2)..=i];
            assert_eq!(least.get(), window.iter().copied().reduce(f64::min));
            assert_eq!(greatest.get(), window.iter().copied().reduce(f64::max));
        }
        // The newest sample stays, however old it is.
        least.update(1000, 50.0, 2);
        assert_eq!(least.get(), Some(50.0));
    }
}
