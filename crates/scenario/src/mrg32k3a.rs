//! MRG32k3a (L'Ecuyer 1999), the random numbers of ns-2, with its streams and substreams (L'Ecuyer et al. 2002).
//!
//! Only for replaying what ns-2 drew (`replay.rs`): everything else draws from `random.rs`.

/// The moduli of the two recurrences.
const M: [u64; 2] = [4_294_967_087, 4_294_944_443];
/// Each recurrence's next value is `a * s[1] - b * s[0]`, and `a * s[2] - b * s[0]`.
const A: [u64; 2] = [1_403_580, 527_612];
const B: [u64; 2] = [810_728, 1_370_589];
/// As RngStreams has it: 1 / (M[0] + 1) to 19 digits.
const NORM: f64 = 2.328_306_549_295_728e-10;

type Matrix = [[u64; 3]; 3];

/// One step of each recurrence, as a matrix that multiplies its state.
const STEP: [Matrix; 2] =
    [[[0, 1, 0], [0, 0, 1], [M[0] - B[0], A[0], 0]], [[0, 1, 0], [0, 0, 1], [M[1] - B[1], 0, A[1]]]];
/// From the beginning of a substream to that of the next, 2^76 steps.
const SUBSTREAM: [Matrix; 2] = [power_of_two(STEP[0], 76, M[0]), power_of_two(STEP[1], 76, M[1])];
/// From the beginning of a stream to that of the next, 2^127 steps.
const STREAM: [Matrix; 2] = [power_of_two(STEP[0], 127, M[0]), power_of_two(STEP[1], 127, M[1])];

/// The product of two matrices, modulo `m`.
const fn product(a: &Matrix, b: &Matrix, m: u64) -> Matrix {
    let mut c = [[0; 3]; 3];
    let mut i = 0;
    while i < 9 {
        let (row, column) = (i / 3, i % 3);
        let mut k = 0;
        while k < 3 {
            // Both factors are below 2^32.
            c[row][column] = (c[row][column] + a[row][k] * b[k][column] % m) % m;
            k += 1;
        }
        i += 1;
    }
    c
}

/// The matrix of 2^`exponent` steps.
const fn power_of_two(step: Matrix, exponent: u32, m: u64) -> Matrix {
    let mut power = step;
    let mut i = 0;
    while i < exponent {
        power = product(&power, &power, m);
        i += 1;
    }
    power
}

/// A generator somewhere in one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mrg32k3a {
    state: [[u64; 3]; 2],
    /// Where the present substream began.
    substream: [[u64; 3]; 2],
}

impl Mrg32k3a {
    /// The generator at the beginning of stream number `stream`, all six words of stream 0 being `seed`.
    #[must_use]
    pub fn new(seed: u32, stream: u32) -> Mrg32k3a {
        let words = [[u64::from(seed); 3]; 2];
        let mut generator = Mrg32k3a { state: words, substream: words };
        (0..stream).for_each(|_| generator.jump(&STREAM));
        generator
    }

    /// Goes to the beginning of the next substream.
    pub fn next_substream(&mut self) {
        self.jump(&SUBSTREAM);
    }

    /// Goes on from the beginning of the present substream, not from the present state.
    fn jump(&mut self, matrices: &[Matrix; 2]) {
        for (half, matrix) in matrices.iter().enumerate() {
            let s = self.substream[half];
            let row = |row: &[u64; 3]| row.iter().zip(s).fold(0, |sum, (a, x)| (sum + a * x % M[half]) % M[half]);
            self.substream[half] = [row(&matrix[0]), row(&matrix[1]), row(&matrix[2])];
        }
        self.state = self.substream;
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        let next = |half: usize, s: &mut [u64; 3], at: usize| {
            // Each product is below 2^53.
            let value = (A[half] * s[at] + M[half] - B[half] * s[0] % M[half]) % M[half];
            *s = [s[1], s[2], value];
            value
        };
        let [first, second] = &mut self.state;
        let (p, q) = (next(0, first, 1), next(1, second, 2));
        let difference = if p > q { p - q } else { p + M[0] - q };
        difference as f64 * NORM
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_so_many_steps() {
        for (half, step) in STEP.iter().enumerate() {
            let mut steps = *step;
            (1..8).for_each(|_| steps = product(&steps, step, M[half]));
            assert_eq!(power_of_two(*step, 3, M[half]), steps);
        }
        // The matrices of L'Ecuyer's RngStreams: A1p76, A2p127, first rows.
        assert_eq!(SUBSTREAM[0][0], [82_758_667, 1_871_391_091, 4_127_413_238]);
        assert_eq!(STREAM[1][0], [1_464_411_153, 277_697_599, 1_610_723_613]);
    }

    #[test]
    fn a_step_of_the_matrix_is_a_step_of_the_generator() {
        let mut stepped = Mrg32k3a::new(12_345, 0);
        let mut drawn = stepped;
        // Words near the moduli are among them, whose products need all 64 bits.
        for _ in 0..100_000 {
            stepped.jump(&STEP);
            drawn.uniform();
            assert_eq!(stepped.state, drawn.state);
        }
    }

    #[test]
    fn the_first_number_from_the_usual_seed_is_the_published_one() {
        assert!((Mrg32k3a::new(12_345, 0).uniform() - 0.127_011_122_046_577).abs() < 1e-14);
    }

    #[test]
    fn a_substream_is_left_from_its_beginning() {
        let mut drawn = Mrg32k3a::new(1, 2);
        let mut fresh = drawn;
        drawn.uniform();
        drawn.next_substream();
        fresh.next_substream();
        assert_eq!(drawn, fresh);
        assert_ne!(fresh, Mrg32k3a::new(1, 3));
    }
}
