//! The normal distribution: its quantiles, for draws, and its distribution function.

/// The standard normal distribution function at `z`.
#[must_use]
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The point below which a standard normal draw falls with probability `p`, to about 16 digits; infinite at 0 and 1.
///
/// Wichura's algorithm AS 241 (Applied Statistics 37, 1988): a ratio of polynomials in each of three regions.
#[must_use]
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&MIDDLE.0, r) / polynomial(&MIDDLE.1, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = (-libm::log(tail)).sqrt();
    let (region, r) = if r <= 5.0 { (&NEAR_TAIL, r - 1.6) } else { (&FAR_TAIL, r - 5.0) };
    (polynomial(&region.0, r) / polynomial(&region.1, r)).copysign(q)
}

/// By Horner's rule; the constant term comes first.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Coefficients of a numerator and of its denominator.
type Ratio = ([f64; 8], [f64; 8]);

/// |p - 1/2| up to 0.425.
const MIDDLE: Ratio = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
);

/// Tails down to exp(-25).
const NEAR_TAIL: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

/// Tails below that.
const FAR_TAIL: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_known_ones() {
        // From tables of 12 digits and more: p and its quantile.
        let known = [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_08),
            (0.9, 1.281_551_565_544_6),
            (0.975, 1.959_963_984_540_05),
            (0.999, 3.090_232_306_167_81),
            (0.01, -2.326_347_874_040_84),
            (1e-6, -4.753_424_308_822_9),
            (1e-10, -6.361_340_902_404_06),
            (1e-15, -7.941_345_326_170_99),
        ];
        for (p, z) in known {
            assert!((quantile(p) - z).abs() < 1e-11, "{p}: {}, not {z}", quantile(p));
        }
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn the_distribution_function_undoes_the_quantile() {
        for i in 1..2000 {
            let p = f64::from(i) / 2000.0;
            assert!((cdf(quantile(p)) / p - 1.0).abs() < 1e-13, "{p}");
            let far = p * 1e-12;
            assert!((cdf(quantile(far)) / far - 1.0).abs() < 1e-12, "{far}");
        }
    }
}
