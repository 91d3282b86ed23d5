//! Expectations of log σ(yη) and its derivatives for Gaussian η (mathematics §12.6).

use super::Bernoulli;
use crate::model::glm::{EXPECTATION_BLOCK, by_nodes};
use crate::special::normal::{normal_cdf, normal_density};

/// Rows with one rule; those of a block are sorted by their width first.
const GROUP: usize = 32;
/// Width from which the logistic law is the narrow one of the two.
const WIDE: f64 = 4.0;
/// Spacing and last node of the rule for a logistic law: e^{−2π²/h}, times ten or so for the double poles, and e^{−27}.
const SPACING: f64 = 0.64;
const LAST: i32 = 42;

/// The rows of a block by groups of about the same width; see [`Likelihood::expectation_block`].
///
/// [`Likelihood::expectation_block`]: crate::model::glm::Likelihood::expectation_block
pub(super) fn by_width(
    y: &[f64],
    eta: &mut [f64],
    variance: &mut [f64],
    [value, curvature]: [&mut [f64]; 2],
    node: &mut [f64],
) -> usize {
    let n = y.len();
    let mut order: [usize; EXPECTATION_BLOCK] = std::array::from_fn(|i| i);
    let order = &mut order[..n];
    order.sort_unstable_by(|a, b| variance[*a].total_cmp(&variance[*b]).then(a.cmp(b)));
    let narrow = order.partition_point(|i| variance[*i] <= WIDE * WIDE);
    let mut work = 0;
    for group in order[..narrow].chunks(GROUP) {
        let mut numbers = [[0.0; GROUP]; 5];
        let [own_y, own_eta, own_variance, own_value, own_curvature] =
            numbers.each_mut().map(|numbers| &mut numbers[..group.len()]);
        for (k, i) in group.iter().enumerate() {
            (own_y[k], own_eta[k], own_variance[k]) = (y[*i], eta[*i], variance[*i]);
        }
        let nodes = by_nodes::<Bernoulli>(own_y, own_eta, own_variance, [own_value, own_curvature], node);
        for (k, i) in group.iter().enumerate() {
            (eta[*i], value[*i], curvature[*i]) = (own_eta[k], own_value[k], own_curvature[k]);
        }
        work += nodes * group.len();
    }
    for i in &order[narrow..] {
        // X = −yη, and log σ(yη) = −softplus(X).
        let [softplus, slope, bend] = of_wide(-y[*i] * eta[*i], variance[*i].sqrt());
        (value[*i], eta[*i], curvature[*i]) = (-softplus, y[*i] * slope, -bend);
    }
    work += (n - narrow) * (2 * LAST as usize + 1);
    work.div_ceil(n.max(1))
}

/// E softplus(X), E σ(X) and E σ′(X) for X ~ N(m, s²), integrated over the logistic law T instead: softplus(x) is E(x −
/// T)₊ and σ(x) is P(T < x).
fn of_wide(m: f64, s: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for k in -LAST..=LAST {
        let t = f64::from(k) * SPACING;
        let e = (-t.abs()).exp();
        let weight = SPACING * e / ((1.0 + e) * (1.0 + e));
        let u = (m - t) / s;
        let (below, density) = (normal_cdf(u), normal_density(u));
        sums[0] += weight * ((m - t) * below + s * density);
        sums[1] += weight * below;
        sums[2] += weight * density / s;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::glm::Likelihood;

    #[test]
    fn narrow_and_wide_laws_agree_with_a_fine_grid() {
        let widths = [0.0, 1e-3, 0.3, 0.9, 1.7, 3.0, 3.9, 4.1, 6.0, 20.0, 300.0];
        let rows: Vec<(f64, f64, f64)> = widths
            .iter()
            .flat_map(|s| [-9.0, -1.3, 0.2, 4.0, 60.0].map(|m| (m, *s)))
            .flat_map(|(m, s)| [(1.0, m, s), (-1.0, m, s)])
            .collect();
        let y: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let mut eta: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let mut variance: Vec<f64> = rows.iter().map(|row| row.2 * row.2).collect();
        let (mut value, mut curvature, mut node) = (eta.clone(), eta.clone(), vec![0.0; 4 * rows.len()]);
        let outputs = [&mut value[..], &mut curvature[..]];
        let nodes = Bernoulli::expectation_block(&y, &mut eta, &mut variance, outputs, &mut node);
        assert!((10..90).contains(&nodes), "{nodes}");
        for (i, (y, m, s)) in rows.iter().enumerate() {
            // Ten times as fine as the integrand needs, to ±10 standard deviations.
            let step = 0.05f64.min(0.2 / s.max(1e-9));
            let last = (10.0 / step) as i64;
            let mut sums = [0.0; 4];
            for k in -last..=last {
                let u = k as f64 * step;
                let (weight, t) = ((-0.5 * u * u).exp(), y * (m + s * u));
                let p = 1.0 / (1.0 + t.exp());
                let log_sigma = if t > 0.0 { -(-t).exp().ln_1p() } else { t - t.exp().ln_1p() };
                let terms = [1.0, log_sigma, y * p, -p * (1.0 - p)];
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
            }
            for (found, expected) in [value[i], eta[i], curvature[i]].iter().zip(&sums[1..]) {
                let expected = expected / sums[0];
                let size = 1.0 + expected.abs();
                assert!((found - expected).abs() < 1e-10 * size, "y {y}, N({m}, {s}²): {found} and {expected}");
            }
        }
    }
}
