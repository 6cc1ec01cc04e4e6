//! Named random streams: every random number of a simulation comes from a stream that is found by what it is for.
//!
//! A stream is named by the root seed, the specimen, the sender and its purpose, and no two names share numbers.
//! So the workload of a sender is the same whatever algorithm it runs, whatever other senders do and whichever
//! thread runs it: candidates are compared on the same luck (Remy'13 §4.3), and results repeat bit for bit.
//! Logarithms and exponentials are libm's for the same reason: the platform's own differ in the last bit.

/// What the numbers of a stream decide. The discriminants are part of the results: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// The values of a network drawn from a scenario.
    Network = 0,
    /// Lengths of on- and off-periods.
    Workload = 1,
    /// Extra delay of each packet.
    Jitter = 2,
    /// Which packets are lost.
    Loss = 3,
    /// Who goes first among events of one instant.
    Order = 4,
    /// Candidates of a design search.
    Candidates = 5,
    /// Marks and drops of a queue, and where its flows hash to.
    Queue = 6,
    /// Delivery opportunities of a synthetic cellular link.
    Cellular = 7,
    /// Which packets are overtaken.
    Reordering = 8,
    /// What a scheme leaves to chance, such as the phase in which BBR probes.
    Scheme = 9,
    /// What is added to the networks that a design trains with.
    Training = 10,
    /// When flows are upset and links stop, and how.
    Upsets = 11,
    /// When batches of packets arrive.
    Batches = 12,
    /// How late timers are.
    Timers = 13,
    /// How the networks that a design trains with are spread over their ranges.
    Strata = 14,
}

/// Which random numbers a run draws: streams are named by these and by sender and purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Root seed.
    pub root: u64,
    /// Number of the specimen.
    pub specimen: u64,
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64: a bijection that scatters every bit of its input.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One stream of random numbers: xoshiro256++ (Blackman and Vigna, 2019).
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of this name, at its beginning.
    #[must_use]
    pub fn new(root: u64, specimen: u64, sender: u64, purpose: Purpose) -> Self {
        let mut seed = root;
        for key in [specimen, sender, purpose as u64] {
            // Mixed before each key, so that (1, 2) and (2, 1) differ.
            seed = mix(seed.wrapping_add(GOLDEN)) ^ key;
        }
        // SplitMix64 gives 0 for one state only, so these four are never all zero.
        let state = std::array::from_fn(|_| {
            seed = seed.wrapping_add(GOLDEN);
            mix(seed)
        });
        Self { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        uniform(self.next_u64())
    }

    /// Exponentially distributed with this mean; never above 36.8 means.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is in (0, 1], so the logarithm is finite.
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Uniform in [lo, hi]; hi itself only by rounding.
    #[inline]
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        between(self.next_u64(), lo, hi)
    }

    /// In [lo, hi], uniform on a logarithmic scale; lo must be above 0.
    pub fn log_between(&mut self, lo: f64, hi: f64) -> f64 {
        log_between(self.next_u64(), lo, hi)
    }

    /// Normally distributed; never further than 8.3 standard deviations from the mean.
    pub fn normal(&mut self, mean: f64, sd: f64) -> f64 {
        // The middles of 2^52 equal parts of (0, 1), so that neither end is drawn.
        const STEP: f64 = 1.0 / (1u64 << 52) as f64;
        let u = ((self.next_u64() >> 12) as f64 + 0.5) * STEP;
        mean + sd * crate::normal::quantile(u)
    }

    /// A whole number in 0..n; 0 where n is 0. The bias is below n / 2^64.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        below(self.next_u64(), n)
    }
}

/// Random bits as a number uniform in [0, 1).
#[inline]
#[must_use]
pub fn uniform(bits: u64) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 53) as f64;
    // Signed, because that is the conversion that processors have.
    (bits >> 11) as i64 as f64 * STEP
}

/// As [`Stream::between`].
#[inline]
#[must_use]
pub fn between(bits: u64, lo: f64, hi: f64) -> f64 {
    (lo + (hi - lo) * uniform(bits)).min(hi)
}

/// As [`Stream::log_between`].
#[must_use]
pub fn log_between(bits: u64, lo: f64, hi: f64) -> f64 {
    (lo * libm::exp(libm::log(hi / lo) * uniform(bits))).clamp(lo, hi)
}

/// As [`Stream::below`].
#[inline]
#[must_use]
pub fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

/// In how many parts of equal probability a range is cut.
const STRATA: u64 = 8;

/// The random bits of one specimen, spread such that of eight specimens in a row each number of the first eight, of the next
/// eight and so on falls into another eighth of its range (Latin hypercube sampling: McKay, Beckman and Conover, 1979). Each is
/// as random as any; together they say more of the range than numbers drawn one by one.
#[derive(Clone, Debug)]
pub struct Strata {
    root: u64,
    specimen: u64,
    drawn: u64,
    within: Stream,
}

impl Strata {
    /// The numbers of a specimen; other users of the same specimens begin with another number.
    #[must_use]
    pub fn new(root: u64, specimen: u64, first: u64) -> Strata {
        Strata { root, specimen, drawn: first, within: Stream::new(root, specimen, first, Purpose::Network) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let mut order = Stream::new(self.root, self.specimen / STRATA, self.drawn, Purpose::Strata);
        self.drawn += 1;
        let mut parts: [u64; STRATA as usize] = std::array::from_fn(|part| part as u64);
        for last in (1..parts.len()).rev() {
            parts.swap(last, order.below(last as u64 + 1) as usize);
        }
        let part = parts[(self.specimen % STRATA) as usize];
        part * (u64::MAX / STRATA + 1) + self.within.next_u64() / STRATA
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(mut draw: impl FnMut() -> f64) -> f64 {
        let n = 200_000;
        (0..n).map(|_| draw()).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn xoshiro_gives_its_published_numbers() {
        // First outputs from the state 1, 2, 3, 4, as in the authors' reference code.
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let first: [u64; 4] = std::array::from_fn(|_| stream.next_u64());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn a_named_stream_is_the_same_in_every_version() {
        let mut stream = Stream::new(1, 2, 3, Purpose::Workload);
        assert_eq!(stream.next_u64(), 2_197_903_374_400_917_969);
        assert_eq!(stream.uniform(), 0.007524097462212498);
        assert_eq!(stream.exponential(5.0), 8.887269786470133);
        assert_eq!(stream.log_between(10.0, 100.0), 96.77299652770928);
        assert_eq!(stream.below(1000), 295);
    }

    #[test]
    fn every_part_of_the_name_matters() {
        use Purpose::{Jitter, Loss, Network, Order, Workload};
        let mut first: Vec<u64> = [
            (0, 0, 0, Network),
            (1, 0, 0, Network),
            (0, 1, 0, Network),
            (0, 0, 1, Network),
            (1, 2, 0, Network),
            (2, 1, 0, Network),
            (0, 1, 2, Network),
            (0, 2, 1, Network),
            (0, 0, 0, Workload),
            (0, 0, 0, Jitter),
            (0, 0, 0, Loss),
            (0, 0, 0, Order),
        ]
        .map(|(root, specimen, sender, purpose)| Stream::new(root, specimen, sender, purpose).next_u64())
        .to_vec();
        let names = first.len();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), names);
    }

    #[test]
    fn means_are_right() {
        let mut s = Stream::new(7, 0, 0, Purpose::Order);
        assert!((mean(|| s.uniform()) - 0.5).abs() < 0.003);
        assert!((mean(|| s.exponential(5.0)) - 5.0).abs() < 0.05);
        assert!((mean(|| s.between(10.0, 20.0)) - 15.0).abs() < 0.03);
        assert!((mean(|| libm::log10(s.log_between(1.0, 100.0))) - 1.0).abs() < 0.006);
        assert!((mean(|| s.below(9) as f64) - 4.0).abs() < 0.03);
        assert!((mean(|| s.normal(3.0, 2.0)) - 3.0).abs() < 0.02);
    }

    #[test]
    fn strata_are_even_and_random() {
        for first in [0, 64] {
            let bits: Vec<Vec<u64>> = (0..800)
                .map(|specimen| {
                    let mut strata = Strata::new(5, specimen, first);
                    (0..3).map(|_| strata.next_u64()).collect()
                })
                .collect();
            for block in bits.chunks(8) {
                for number in 0..3 {
                    let mut parts: Vec<u64> = block.iter().map(|all| below(all[number], 8)).collect();
                    parts.sort_unstable();
                    assert_eq!(parts, [0, 1, 2, 3, 4, 5, 6, 7]);
                }
            }
            // Numbers know nothing of each other, nor of their place.
            let of = |number: usize| bits.iter().map(move |all| uniform(all[number]) - 0.5);
            let corr = |a: Vec<f64>, b: Vec<f64>| 12.0 * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / 800.0;
            assert!(corr(of(0).collect(), of(1).collect()).abs() < 0.1);
            assert!(corr(of(1).collect(), of(2).collect()).abs() < 0.1);
            assert!(corr(of(1).collect(), (0..800).map(|i| f64::from(i % 8) / 7.0 - 0.5).collect()).abs() < 0.1);
        }
    }

    #[test]
    fn normal_draws_are_normal() {
        let mut s = Stream::new(7, 0, 0, Purpose::Cellular);
        // The share of draws below some known points of the standard normal distribution.
        for (z, share) in [(-1.959_963_985, 0.025), (-0.674_489_750, 0.25), (0.0, 0.5), (1.281_551_566, 0.9)] {
            let below = mean(|| f64::from(s.normal(10.0, 0.5) < 10.0 + 0.5 * z));
            assert!((below - share).abs() < 0.004, "{below} below {z}");
        }
        assert!((mean(|| s.normal(0.0, 3.0).abs()) - 3.0 * (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.02);
    }

    #[test]
    fn below_reaches_both_ends_and_no_further() {
        let mut s = Stream::new(7, 0, 0, Purpose::Order);
        let mut seen = [0; 3];
        for _ in 0..3000 {
            seen[s.below(3) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 900), "{seen:?}");
        assert_eq!(s.below(0), 0);
        assert_eq!(s.below(1), 0);
    }
}
