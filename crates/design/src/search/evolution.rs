//! CMA-ES: the evolution strategy with covariance matrix adaptation, for a few dozen numbers and scores that luck has part in
//! (Hansen 2016, arXiv:1604.00772).
//!
//! Only the order of a generation's candidates counts. The directions in which steps are long are learned from those that were good.
//! Where the original has the inverse root of the covariance matrix, this has the normal numbers that candidates were
//! drawn with (as Cholesky variants do, Suttorp et al. 2009).

use exmachina_net::random::Stream;
use serde::{Deserialize, Serialize};

/// A normal distribution that moves, from one generation to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evolution {
    /// Its centre.
    pub mean: Vec<f64>,
    /// Its size: the standard deviation, times what the covariance matrix has.
    pub size: f64,
    /// Generations that it has learned from.
    pub generation: u32,
    covariance: Vec<Vec<f64>>,
    /// Sums of the steps of the centre, older ones fading: as they are, and in units of the distribution.
    path: Vec<f64>,
    normal_path: Vec<f64>,
}

/// A generation.
pub struct Draws {
    /// Its candidates.
    pub candidates: Vec<Vec<f64>>,
    /// The normal numbers that they were drawn with.
    normal: Vec<Vec<f64>>,
}

/// How much is learned from a generation (Hansen 2016, table 1).
struct Rates {
    /// Weights of the better half, the best first.
    weights: Vec<f64>,
    /// How many candidates the weights amount to.
    effective: f64,
    /// For the size: its path's share of the new, and how much it is damped.
    size: f64,
    damping: f64,
    /// For the covariance matrix: its path's share of the new, and the shares of the path and of the generation in it.
    path: f64,
    one: f64,
    generation: f64,
    /// The expected length of a normal vector.
    length: f64,
}

impl Rates {
    fn of(numbers: usize, candidates: usize) -> Rates {
        let (n, half) = (numbers as f64, candidates / 2);
        let raw = |i: usize| libm::log(0.5 * (candidates as f64 + 1.0)) - libm::log(i as f64 + 1.0);
        let total: f64 = (0..half).map(raw).sum();
        let weights: Vec<f64> = (0..half).map(|i| raw(i) / total).collect();
        let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let size = (effective + 2.0) / (n + effective + 5.0);
        let one = 2.0 / ((n + 1.3) * (n + 1.3) + effective);
        let generation = 2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0) * (n + 2.0) + effective);
        Rates {
            weights,
            effective,
            size,
            damping: 1.0 + 2.0 * (((effective - 1.0) / (n + 1.0)).max(0.0).sqrt() - 1.0).max(0.0) + size,
            path: (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n),
            one,
            generation: generation.min(1.0 - one),
            length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

impl Evolution {
    /// A round distribution.
    pub fn around(mean: Vec<f64>, size: f64) -> Evolution {
        let n = mean.len();
        let unit = |i: usize| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
        let covariance = (0..n).map(unit).collect();
        Evolution { mean, size, generation: 0, covariance, path: vec![0.0; n], normal_path: vec![0.0; n] }
    }

    /// Draws a generation.
    pub fn draw(&self, count: usize, stream: &mut Stream) -> Draws {
        let (n, root) = (self.mean.len(), self.root());
        let normal: Vec<Vec<f64>> = (0..count).map(|_| (0..n).map(|_| stream.normal(0.0, 1.0)).collect()).collect();
        let place = |z: &[f64], i: usize| {
            let along: f64 = root[i].iter().zip(z).map(|(l, z)| l * z).sum();
            self.mean[i] + self.size * along
        };
        let candidates = normal.iter().map(|z| (0..n).map(|i| place(z, i)).collect()).collect();
        Draws { candidates, normal }
    }

    /// Learns from a generation; `order` has the numbers of its candidates, the best first.
    pub fn learn(&mut self, draws: &Draws, order: &[usize]) {
        let (n, rates) = (self.mean.len(), Rates::of(self.mean.len(), order.len()));
        let weighted =
            |of: &dyn Fn(usize) -> f64| -> f64 { order.iter().zip(&rates.weights).map(|(&k, w)| w * of(k)).sum() };
        let before = std::mem::take(&mut self.mean);
        self.mean = (0..n).map(|i| weighted(&|k| draws.candidates[k][i])).collect();
        self.generation += 1;

        let gain = (rates.size * (2.0 - rates.size) * rates.effective).sqrt();
        for (i, path) in self.normal_path.iter_mut().enumerate() {
            *path = (1.0 - rates.size) * *path + gain * weighted(&|k| draws.normal[k][i]);
        }
        let length = self.normal_path.iter().map(|p| p * p).sum::<f64>().sqrt() / rates.length;
        let young = (1.0 - libm::pow(1.0 - rates.size, 2.0 * f64::from(self.generation))).sqrt();
        // Steps that got much longer at once are the size's doing.
        let steady = if length / young < 1.4 + 2.0 / (n as f64 + 1.0) { 1.0 } else { 0.0 };
        let gain = steady * (rates.path * (2.0 - rates.path) * rates.effective).sqrt();
        for (i, path) in self.path.iter_mut().enumerate() {
            *path = (1.0 - rates.path) * *path + gain * (self.mean[i] - before[i]) / self.size;
        }
        let lost = (1.0 - steady) * rates.path * (2.0 - rates.path);
        let kept = 1.0 - rates.one - rates.generation + rates.one * lost;
        for i in 0..n {
            for j in 0..=i {
                let step = |k: usize, i: usize| (draws.candidates[k][i] - before[i]) / self.size;
                let generation = weighted(&|k| step(k, i) * step(k, j));
                let one = self.path[i] * self.path[j];
                self.covariance[i][j] = kept * self.covariance[i][j] + rates.one * one + rates.generation * generation;
                self.covariance[j][i] = self.covariance[i][j];
            }
        }
        self.size *= libm::exp(rates.size / rates.damping * (length - 1.0));
    }

    /// The lower triangle that times itself is the covariance matrix (Cholesky), row by row.
    fn root(&self) -> Vec<Vec<f64>> {
        let mut root: Vec<Vec<f64>> = Vec::new();
        for (j, row) in self.covariance.iter().enumerate() {
            let mut own: Vec<f64> = Vec::new();
            for k in 0..=j {
                let other = root.get(k).unwrap_or(&own);
                let sum: f64 = own.iter().zip(other).take(k).map(|(a, b)| a * b).sum();
                let rest = row[k] - sum;
                own.push(if k == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / other[k] });
            }
            root.push(own);
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::random::Purpose;

    use super::*;

    fn seek(worth: impl Fn(&[f64], &mut Stream) -> f64, numbers: usize, generations: u32) -> Evolution {
        let stream = &mut Stream::new(1, 2, 3, Purpose::Candidates);
        let mut evolution = Evolution::around(vec![0.5; numbers], 0.25);
        for _ in 0..generations {
            let draws = evolution.draw(16, stream);
            let worths: Vec<f64> = draws.candidates.iter().map(|at| worth(at, stream)).collect();
            let mut order: Vec<usize> = (0..16).collect();
            order.sort_by(|&a, &b| worths[b].total_cmp(&worths[a]));
            evolution.learn(&draws, &order);
        }
        evolution
    }

    /// How far from 0.2 in every number.
    fn off(evolution: &Evolution) -> f64 {
        evolution.mean.iter().map(|x| (x - 0.2).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn it_finds_the_top_of_a_narrow_ridge() {
        // Axes of 1 to 1000, turned: what is good for one number depends on the next.
        let ridge = |at: &[f64], _: &mut Stream| {
            let turned = at.windows(2).map(|pair| pair[0] - pair[1]).chain([at.iter().sum::<f64>() - 2.0]);
            -turned.enumerate().map(|(i, x)| libm::pow(10.0, i as f64 / 3.0) * x * x).sum::<f64>()
        };
        let found = seek(ridge, 10, 400);
        assert!(off(&found) < 1e-6, "{found:?}");
        assert!(found.size < 1e-3, "{}", found.size);
    }

    #[test]
    fn luck_does_not_lead_it_astray() {
        let noisy = |at: &[f64], stream: &mut Stream| {
            -at.iter().map(|x| (x - 0.2) * (x - 0.2)).sum::<f64>() + stream.normal(0.0, 0.02)
        };
        let found = seek(noisy, 20, 300);
        assert!(off(&found) < 0.1, "{found:?}");
    }

    #[test]
    fn the_root_times_itself_is_the_matrix() {
        let ridge = |at: &[f64], _: &mut Stream| -(at[0] - at[1]) * (at[0] - at[1]) - 0.01 * at[2] * at[2];
        let found = seek(ridge, 3, 20);
        let root = found.root();
        for i in 0..3 {
            for j in 0..=i {
                let product: f64 = root[i].iter().zip(&root[j]).map(|(a, b)| a * b).sum();
                assert!(
                    (product - found.covariance[i][j]).abs() < 1e-12
                        && found.covariance[i][j] == found.covariance[j][i]
                );
            }
        }
    }
}
