//! Branch-free exp, log1p and sigmoid, and the elementwise likelihood kernels built on them.
//!
//! Every function is one straight line of arithmetic and selections, so that a loop over slices vectorises. `FMA` says
//! whether a fused multiply–add is an instruction (then it is used) or a library call (then it must not be): the two
//! readings agree to a few units in the last place, not bit by bit. The functions at the end choose once per machine.

mod values;

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

pub(crate) use values::logistic_values_block;

use crate::special::simd::best_instructions;

/// 1.5·2⁵²: adding it rounds to an integer, which then sits in the low bits of the sum.
const ROUND: f64 = 6755399441055744.0;
/// The first 42 bits of ln 2: its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.6931471805598903;
const LN_2_LOW: f64 = 5.497923018708371e-14;
/// Below this e^x is taken as if x were this; the result is still a normal number.
const EXP_LOW: f64 = -708.0;
/// Above this e^x overflows.
const EXP_HIGH: f64 = 709.782712893384;
/// (eʳ − 1 − r)/r² on |r| ≤ ½ ln 2, interpolated at Chebyshev nodes; the error of eʳ is 2e-17.
const EXP: [f64; 10] = [
    2.510038549551032e-08,
    2.7620088445409746e-07,
    2.7557268459997064e-06,
    2.4801521295954376e-05,
    0.00019841269863053618,
    0.0013888888917213717,
    0.008333333333330062,
    0.04166666666662413,
    0.16666666666666669,
    0.5000000000000001,
];
/// (atanh(s)/s − 1)/s² as a polynomial in s² on |s| ≤ (√2−1)/(√2+1), by the same method; error 4e-18.
const ATANH: [f64; 7] = [
    0.0730856419990365,
    0.07665833338298587,
    0.09091445389013066,
    0.11111105556052474,
    0.1428571431305726,
    0.199999999999496,
    0.3333333333333335,
];

#[inline(always)]
fn mul_add<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[0];
    for c in &coefficients[1..] {
        sum = mul_add::<FMA>(sum, x, *c);
    }
    sum
}

/// e^x for x in [`EXP_LOW`, `EXP_HIGH`], as 2ᵏ eʳ.
#[inline(always)]
fn exp_in_range<const FMA: bool>(x: f64) -> f64 {
    let shifted = mul_add::<FMA>(x, LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = mul_add::<FMA>(k, -LN_2_LOW, mul_add::<FMA>(k, -LN_2_HIGH, x));
    let e = mul_add::<FMA>(r * r, polynomial::<FMA, 10>(r, EXP), r) + 1.0;
    let scaled = f64::from_bits(e.to_bits().wrapping_add(shifted.to_bits() << 52));
    // The payload of a NaN would be shifted into the exponent.
    if x.is_nan() { x } else { scaled }
}

/// e^x for x ≤ 0; arguments below −708 give e⁻⁷⁰⁸.
#[inline(always)]
pub(crate) fn exp_negative<const FMA: bool>(x: f64) -> f64 {
    exp_in_range::<FMA>(if x < EXP_LOW { EXP_LOW } else { x })
}

/// e^x for every x: zero below −708, infinite above 709.78.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    let low = if x < EXP_LOW { EXP_LOW } else { x };
    let e = exp_in_range::<FMA>(if low > EXP_HIGH { 0.0 } else { low });
    let e = if x < EXP_LOW { 0.0 } else { e };
    if x > EXP_HIGH { f64::INFINITY } else { e }
}

/// log(1 + u) and 1/(1 + u) for 0 ≤ u ≤ 1, with one division for both.
///
/// The logarithm is 2 atanh(u/(2+u)) below √2 − 1 and ln 2 + 2 atanh((u−1)/(u+3)) above.
#[inline(always)]
pub(crate) fn ln_1p_and_reciprocal<const FMA: bool>(u: f64) -> (f64, f64) {
    let lower = u < SQRT_2 - 1.0;
    let numerator = if lower { u } else { u - 1.0 };
    let denominator = if lower { u + 2.0 } else { u + 3.0 };
    let offset = if lower { 0.0 } else { LN_2 };
    let inverse = 1.0 / ((1.0 + u) * denominator);
    let s = numerator * ((1.0 + u) * inverse);
    let square = s * s;
    let twice = s + s;
    let log = offset + mul_add::<FMA>(twice * square, polynomial::<FMA, 7>(square, ATANH), twice);
    (log, denominator * inverse)
}

/// Value, slope and curvature of log σ(yη) in η for labels y = ±1; `eta` is replaced by the slope.
///
/// With t = yη: −log(1 + e⁻ᵗ), y σ(−t), −σ(t) σ(−t). All three are exact in both tails.
#[inline(always)]
pub(crate) fn logistic<const FMA: bool>(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
    for (((y, eta), value), curvature) in y.iter().zip(eta).zip(value).zip(curvature) {
        let t = y * *eta;
        let e = exp_negative::<FMA>(-t.abs());
        let (log, larger) = ln_1p_and_reciprocal::<FMA>(e);
        let smaller = e * larger;
        let excess = if t < 0.0 { t } else { 0.0 };
        *value = excess - log;
        *eta = y * if t < 0.0 { larger } else { smaller };
        *curvature = -(smaller * larger);
    }
}

/// Value, slope and curvature of yη − e^η in η for counts y; `eta` is replaced by the slope.
#[inline(always)]
pub(crate) fn poisson<const FMA: bool>(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
    for (((y, eta), value), curvature) in y.iter().zip(eta).zip(value).zip(curvature) {
        let e = exp::<FMA>(*eta);
        *value = y * *eta - e;
        *eta = y - e;
        *curvature = -e;
    }
}

/// tanh of every value, in place, to a few units in the last place: −t/(2 + t) with t = e^{−2|x|} − 1, and the sign of
/// x.
///
/// t is 2ᵏ(eʳ − 1) + (2ᵏ − 1): for small x k is zero and nothing cancels.
#[inline(always)]
pub(crate) fn tanh<const FMA: bool>(values: &mut [f64]) {
    for value in values {
        let x = *value;
        let doubled = -2.0 * x.abs();
        // e⁻⁴⁰ is lost beside one, and a lower bound keeps 2ᵏ a normal number.
        let y = if doubled < -40.0 { -40.0 } else { doubled };
        let shifted = mul_add::<FMA>(y, LOG2_E, ROUND);
        let k = shifted - ROUND;
        let r = mul_add::<FMA>(k, -LN_2_LOW, mul_add::<FMA>(k, -LN_2_HIGH, y));
        let less_one = mul_add::<FMA>(r * r, polynomial::<FMA, 10>(r, EXP), r);
        let power = f64::from_bits(1.0f64.to_bits().wrapping_add(shifted.to_bits() << 52));
        let t = mul_add::<FMA>(power, less_one, power - 1.0);
        let size = -t / (2.0 + t);
        *value = if x.is_nan() { x } else { size.copysign(x) };
    }
}

/// Soft-max of `labels.len()` items, class after class in `eta`, which is replaced by the probabilities; `value`
/// receives log p of the item's label, a class number. `spare` holds two numbers per item.
#[inline(always)]
pub(crate) fn softmax<const FMA: bool>(labels: &[f64], eta: &mut [f64], value: &mut [f64], spare: &mut [f64]) {
    let n = labels.len();
    let (top, total) = spare[..2 * n].split_at_mut(n);
    top.copy_from_slice(&eta[..n]);
    for class in eta.chunks_exact(n).skip(1) {
        for (top, eta) in top.iter_mut().zip(class) {
            *top = if *eta > *top || eta.is_nan() { *eta } else { *top };
        }
    }
    for (i, ((value, label), top)) in value.iter_mut().zip(labels).zip(top.iter()).enumerate() {
        *value = eta[*label as usize * n + i] - top;
    }
    total.fill(0.0);
    for class in eta.chunks_exact_mut(n) {
        for ((eta, top), total) in class.iter_mut().zip(top.iter()).zip(total.iter_mut()) {
            *eta = exp_negative::<FMA>(*eta - *top);
            *total += *eta;
        }
    }
    value.iter_mut().zip(total.iter()).for_each(|(value, total)| *value -= total.ln());
    for class in eta.chunks_exact_mut(n) {
        class.iter_mut().zip(total.iter()).for_each(|(p, total)| *p /= total);
    }
}

/// Σ values in eight interleaved lanes: an order that vectorises and rounds less than a running sum.
#[inline(always)]
pub(crate) fn sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let whole = values.chunks_exact(8);
    let rest: f64 = whole.remainder().iter().sum();
    for chunk in whole {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    (((a + e) + (b + f)) + ((c + g) + (d + h))) + rest
}

best_instructions! {
    /// [`logistic`] with the best instructions of this machine.
    logistic_block = logistic(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64])
}

best_instructions! {
    /// [`poisson`] with the best instructions of this machine.
    poisson_block = poisson(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64])
}

best_instructions! {
    /// [`tanh`] with the best instructions of this machine.
    tanh_block = tanh(values: &mut [f64])
}

best_instructions! {
    /// [`softmax`] with the best instructions of this machine.
    softmax_block = softmax(labels: &[f64], eta: &mut [f64], value: &mut [f64], spare: &mut [f64])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: f64 = 1e-15;

    fn grid(low: f64, high: f64, n: usize) -> impl Iterator<Item = f64> {
        (0..=n).map(move |i| low + (high - low) * (i as f64 + 0.37 * ((i * 7919 % 101) as f64 / 101.0)) / n as f64)
    }

    fn check_scalars<const FMA: bool>() {
        for x in grid(-708.0, 709.0, 200_000) {
            let (e, std) = (exp::<FMA>(x), x.exp());
            assert!((e - std).abs() <= BOUND * std, "e^{x}: {e} against {std}");
        }
        for u in grid(0.0, 0.995, 100_000).chain((0..300).map(|k| 0.5f64.powi(k))) {
            let ((l, reciprocal), std) = (ln_1p_and_reciprocal::<FMA>(u), u.ln_1p());
            assert!((l - std).abs() <= BOUND * std, "log1p({u}): {l} against {std}");
            assert!((reciprocal * (1.0 + u) - 1.0).abs() <= BOUND, "1/(1 + {u}): {reciprocal}");
        }
        assert_eq!((exp::<FMA>(f64::INFINITY), exp::<FMA>(710.0)), (f64::INFINITY, f64::INFINITY));
        assert_eq!((exp::<FMA>(f64::NEG_INFINITY), exp::<FMA>(-1e9), exp::<FMA>(0.0)), (0.0, 0.0, 1.0));
        assert!(exp::<FMA>(f64::NAN).is_nan() && exp::<FMA>(f64::from_bits(0x7ff0_0000_0000_0123)).is_nan());
        assert!(exp::<FMA>(709.7827).is_finite());
    }

    #[test]
    fn exp_and_log1p_agree_with_std_without_fma() {
        check_scalars::<false>();
    }

    #[test]
    fn exp_and_log1p_agree_with_std_with_fma() {
        check_scalars::<true>();
    }

    #[test]
    fn kernels_agree_with_std_in_value_and_relatively_in_the_tails() {
        let eta: Vec<f64> = grid(-700.0, 700.0, 40_000).chain(grid(-3.0, 3.0, 40_000)).collect();
        let n = eta.len();
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let counts: Vec<f64> = (0..n).map(|i| (i % 7) as f64).collect();
        let (mut value, mut curvature) = (vec![0.0; n], vec![0.0; n]);
        let mut slope = eta.clone();
        logistic_block(&y, &mut slope, &mut value, &mut curvature);
        for i in 0..n {
            let t = y[i] * eta[i];
            let e = (-t.abs()).exp();
            let (upper, lower) = (1.0 / (1.0 + e), e / (1.0 + e));
            let expected = if t > 0.0 { -e.ln_1p() } else { t - e.ln_1p() };
            let tail = if t > 0.0 { lower } else { upper };
            assert!((value[i] - expected).abs() <= BOUND * expected.abs().max(1.0), "value at {t}");
            assert!((slope[i] - y[i] * tail).abs() <= BOUND * tail, "slope at {t}");
            assert!((curvature[i] + upper * lower).abs() <= BOUND * upper * lower, "curvature at {t}");
        }
        let mut slope = eta.clone();
        poisson_block(&counts, &mut slope, &mut value, &mut curvature);
        for i in 0..n {
            let e = eta[i].exp();
            let size = BOUND * (e + (counts[i] * eta[i]).abs()).max(1.0);
            assert!((value[i] - (counts[i] * eta[i] - e)).abs() <= size && (slope[i] - (counts[i] - e)).abs() <= size);
            assert!((curvature[i] + e).abs() <= BOUND * e, "curvature at {}", eta[i]);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn kernels_depend_on_fma_alone_and_by_little() {
        let eta: Vec<f64> = grid(-30.0, 30.0, 1_002).collect();
        let n = eta.len();
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let labels: Vec<f64> = (0..n / 4).map(|i| (i % 4) as f64).collect();
        let found = crate::special::simd::on_each_level(|| {
            let (mut value, mut curvature, mut spare) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            let mut all = Vec::new();
            for kernel in [logistic_block, poisson_block] {
                let mut slope = eta.clone();
                kernel(&y, &mut slope, &mut value, &mut curvature);
                [&slope, &value, &curvature].into_iter().for_each(|numbers| all.extend_from_slice(numbers));
            }
            let (mut t, mut p) = (eta.clone(), eta[..4 * labels.len()].to_vec());
            tanh_block(&mut t);
            softmax_block(&labels, &mut p, &mut value[..n / 4], &mut spare);
            [&t, &p, &value[..n / 4]].into_iter().for_each(|numbers| all.extend_from_slice(numbers));
            all
        });
        for (level, numbers) in found.get(1..).unwrap_or_default() {
            assert!(numbers == &found[1].1, "{level:?} has the bits of AVX2");
            for (a, b) in numbers.iter().zip(&found[0].1) {
                // Differences of terms of up to 30, which round by 2⁻⁴⁹.
                assert!((a - b).abs() <= 16.0 * BOUND * b.abs().max(30.0), "{a} with fused operations, {b} without");
            }
        }
    }

    #[test]
    fn tanh_agrees_with_std_relatively() {
        let tiny = (0..300).map(|k| 0.5f64.powi(k));
        let x: Vec<f64> = grid(-25.0, 25.0, 100_000).chain(grid(-1.0, 1.0, 100_000)).chain(tiny).collect();
        let mut found = x.clone();
        tanh_block(&mut found);
        for (x, found) in x.iter().zip(&found) {
            assert!((found - x.tanh()).abs() <= 2.0 * BOUND * x.tanh().abs(), "tanh {x}: {found}");
        }
        let mut odd = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        tanh_block(&mut odd);
        assert!(odd[..4] == [0.0, 0.0, 1.0, -1.0] && odd[4].is_nan(), "{odd:?}");
    }

    #[test]
    fn softmax_agrees_with_its_definition() {
        let (n, classes) = (50, 4);
        let eta: Vec<f64> = grid(-40.0, 40.0, n * classes - 1).map(|v| (7.0 * v).sin() * v).collect();
        let labels: Vec<f64> = (0..n).map(|i| (i % classes) as f64).collect();
        let (mut p, mut value, mut spare) = (eta.clone(), vec![0.0; n], vec![0.0; 2 * n]);
        softmax_block(&labels, &mut p, &mut value, &mut spare);
        for i in 0..n {
            let of = |c: usize| eta[c * n + i];
            let top = (0..classes).map(of).fold(f64::MIN, f64::max);
            let log_total = top + (0..classes).map(|c| (of(c) - top).exp()).sum::<f64>().ln();
            assert!((value[i] - of(i % classes) + log_total).abs() < 1e-13 * value[i].abs().max(1.0));
            for c in 0..classes {
                let expected = (of(c) - log_total).exp();
                assert!((p[c * n + i] - expected).abs() < 1e-13 * expected);
            }
        }
    }

    #[test]
    fn a_nan_predictor_gives_nan() {
        let (mut eta, mut value, mut curvature) = ([f64::NAN, 1.0], [0.0; 2], [0.0; 2]);
        logistic_block(&[1.0, 1.0], &mut eta, &mut value, &mut curvature);
        assert!(value[0].is_nan() && eta[0].is_nan() && curvature[0].is_nan());
        assert!(value[1].is_finite() && eta[1].is_finite() && curvature[1].is_finite());
    }

    #[test]
    fn lanes_sum_like_a_loop() {
        for n in [0, 1, 7, 8, 9, 255, 256] {
            let values: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            assert!((sum(&values) - values.iter().sum::<f64>()).abs() < 1e-12);
        }
    }
}
