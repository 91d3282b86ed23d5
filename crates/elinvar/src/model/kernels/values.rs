//! Sums of log densities where nothing else is wanted: one logarithm for hundreds of rows.

use std::f64::consts::SQRT_2;

use super::{ATANH, LN_2_HIGH, LN_2_LOW, exp_negative, mul_add, polynomial};
use crate::special::simd::best_instructions;

/// Numbers of a vector, at most.
const LANES: usize = 8;
/// [`LANES`] times as many factors of at most 2 have a product that does not overflow.
const FACTORS: usize = 120;

/// log x for normal x > 0, by the method of `ln_1p_and_reciprocal` around the nearest power of two.
#[inline(always)]
fn ln<const FMA: bool>(x: f64) -> f64 {
    let bits = x.to_bits();
    // Beside 2⁵² an exponent is a number.
    let exponent = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 1.0f64.to_bits());
    let upper = mantissa > SQRT_2;
    let (k, m) = if upper { (exponent + 1.0, 0.5 * mantissa) } else { (exponent, mantissa) };
    let s = (m - 1.0) / (m + 1.0);
    let (square, twice) = (s * s, s + s);
    let rest = mul_add::<FMA>(twice * square, polynomial::<FMA, 7>(square, ATANH), twice);
    let log = mul_add::<FMA>(k, LN_2_HIGH, mul_add::<FMA>(k, LN_2_LOW, rest));
    if x.is_nan() { x } else { log }
}

/// Π (1 + e^{−|t|}) and Σ min(t, 0) with t = yη, of at most 8 [`FACTORS`] + 7 rows.
#[inline(always)]
fn logistic_product<const FMA: bool>(y: &[f64], eta: &[f64]) -> [f64; 2] {
    let (mut product, mut excess) = ([1.0; LANES], [0.0; LANES]);
    let (ys, etas) = (y.chunks_exact(LANES), eta.chunks_exact(LANES));
    for (lane, (y, eta)) in ys.remainder().iter().zip(etas.remainder()).enumerate() {
        let t = y * eta;
        product[lane] += exp_negative::<FMA>(-t.abs());
        excess[lane] = if t < 0.0 { t } else { 0.0 };
    }
    for (y, eta) in ys.zip(etas) {
        for lane in 0..LANES {
            let t = y[lane] * eta[lane];
            let e = exp_negative::<FMA>(-t.abs());
            product[lane] = mul_add::<FMA>(product[lane], e, product[lane]);
            excess[lane] += if t < 0.0 { t } else { 0.0 };
        }
    }
    let [a, b, c, d, e, f, g, h] = product;
    let [i, j, k, l, m, n, o, p] = excess;
    [((a * e) * (b * f)) * ((c * g) * (d * h)), ((i + m) + (j + n)) + ((k + o) + (l + p))]
}

/// Adds Σ log σ(yη) of each draw to its sum, up to the rounding of the sum of `logistic`; `eta` has the rows of one
/// draw after the other.
///
/// log Π (1 + e^{−|t|}) = Σ log(1 + e^{−|t|}) with t = yη: a factor is between 1 and 2, so that one logarithm does for
/// hundreds of them. No division is left for each, and the rounding is that of a sum of as many terms.
#[inline(always)]
pub(crate) fn logistic_values<const FMA: bool>(y: &[f64], eta: &[f64], sums: &mut [f64]) {
    let n = y.len();
    let part = LANES * FACTORS;
    for (eta, sums) in eta.chunks(LANES * n).zip(sums.chunks_mut(LANES)) {
        for begin in (0..n).step_by(part) {
            let rows = begin..n.min(begin + part);
            let mut products = [1.0; LANES];
            for ((eta, product), sum) in eta.chunks_exact(n).zip(&mut products).zip(&mut *sums) {
                let [of_rows, excess] = logistic_product::<FMA>(&y[rows.clone()], &eta[rows.clone()]);
                (*product, *sum) = (of_rows, *sum + excess);
            }
            products.iter_mut().for_each(|product| *product = ln::<FMA>(*product));
            sums.iter_mut().zip(&products).for_each(|(sum, log)| *sum -= log);
        }
    }
}

best_instructions! {
    /// [`logistic_values`] with the best instructions of this machine.
    logistic_values_block = logistic_values(y: &[f64], eta: &[f64], sums: &mut [f64])
}

#[cfg(test)]
mod tests {
    use super::super::{logistic_block, sum};
    use super::*;

    const BOUND: f64 = 1e-15;

    fn spread(width: f64, n: usize) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| width * (2.0 * i as f64 / n as f64 - 1.0))
    }

    #[test]
    fn values_are_the_sum_of_the_values() {
        for n in [1, 7, 8, 64, 65, 960, 967, 5_003] {
            for width in [0.1, 3.0, 40.0, 900.0] {
                // More draws than a vector has numbers.
                let eta: Vec<f64> = spread(width, 11 * n).map(|v| (1.3 * v).cos() * v).collect();
                let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
                let mut found = vec![2.5; 11];
                logistic_values_block(&y, &eta, &mut found);
                for (eta, found) in eta.chunks_exact(n).zip(found) {
                    let (mut slope, mut value, mut curvature) = (eta.to_vec(), vec![0.0; n], vec![0.0; n]);
                    logistic_block(&y, &mut slope, &mut value, &mut curvature);
                    let expected = 2.5 + sum(&value);
                    // Each of n factors rounds once, and the sums of their logarithms as any sums do.
                    let bound = BOUND * (n as f64 + expected.abs());
                    assert!((found - expected).abs() <= bound, "{n} rows to {width}: {found}, {expected}");
                }
            }
        }
        let mut found = [0.0; 2];
        logistic_values_block(&[1.0, -1.0], &[0.0, f64::NAN, 1.0, f64::INFINITY], &mut found);
        assert!(found[0].is_nan() && found[1] == f64::NEG_INFINITY, "{found:?}");
    }

    #[test]
    fn logarithms_agree_with_std() {
        for x in (-1_000..1_020).flat_map(|k| [1.0, 1.2, 1.41, 1.42, 1.999].map(|m| m * 2f64.powi(k))) {
            for found in [ln::<false>(x), ln::<true>(x)] {
                assert!((found - x.ln()).abs() <= BOUND * x.ln().abs().max(1e-3), "{x}: {found}, {}", x.ln());
            }
        }
    }
}
