//! The inverse of the normal distribution function.

/// Φ⁻¹(p), relatively accurate for p → 0 (Wichura 1988, algorithm AS 241, double precision); ±∞ at 0 and 1, NaN
/// outside.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180625 - centred * centred;
        return centred * horner(&CENTRE_NUMERATOR, r) / horner(&CENTRE_DENOMINATOR, r);
    }
    let tail = if centred < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return if tail == 0.0 { f64::INFINITY.copysign(centred) } else { f64::NAN };
    }
    let r = (-tail.ln()).sqrt();
    let magnitude = if r <= 5.0 {
        horner(&NEAR_NUMERATOR, r - 1.6) / horner(&NEAR_DENOMINATOR, r - 1.6)
    } else {
        horner(&FAR_NUMERATOR, r - 5.0) / horner(&FAR_DENOMINATOR, r - 5.0)
    };
    magnitude.copysign(centred)
}

#[inline]
fn horner(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

const CENTRE_NUMERATOR: [f64; 8] = [
    3.387_132_872_796_366_6,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_4e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_DENOMINATOR: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_66e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_854e3,
];
const NEAR_NUMERATOR: [f64; 8] = [
    1.423_437_110_749_683_6,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_6,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_5e-2,
    7.745_450_142_783_414e-4,
];
const NEAR_DENOMINATOR: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_NUMERATOR: [f64; 8] = [
    6.657_904_643_501_104,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_DENOMINATOR: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::super::normal::{log_ndtr, normal_cdf};
    use super::*;

    #[test]
    fn inverts_the_distribution_function() {
        let mut p = 1e-300_f64;
        while p < 0.5 {
            let t = normal_quantile(p);
            // d log Φ/dt = ρ(t), so a relative error ε in t shows as |t| ρ(t) ε in log Φ.
            let sensitivity = (-t * super::super::normal::inverse_mills(t)).max(1.0);
            assert!((log_ndtr(t) - p.ln()).abs() < 2e-15 * sensitivity + 3e-16 * p.ln().abs(), "p = {p:e}");
            if p > 1e-10 {
                assert!((normal_quantile(1.0 - p) + t).abs() < 1e-15 / p);
            }
            p *= 1.7;
        }
        for i in 1..1000 {
            let p = i as f64 / 1000.0;
            assert!((normal_cdf(normal_quantile(p)) - p).abs() < 2e-16 + 1e-15 * p.min(1.0 - p));
        }
    }

    #[test]
    fn ends() {
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan() && normal_quantile(-0.1).is_nan() && normal_quantile(f64::NAN).is_nan());
    }
}
