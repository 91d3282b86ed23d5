//! Estimators of the slope of the bound in the shape a of a Student-t.

use serde::{Deserialize, Serialize};

use crate::special::implicit::inverse_gamma_derivative;

/// How ∇_{m_a}E\[f\] = ∇_aE\[f\]/(ψ′(a) − 1/a) is estimated from draws (mathematics §2.3).
///
/// Paper: §4.2, eq. (21), App. D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ShapeEstimator {
    /// The numerator averaged over draws, the denominator exact: unbiased.
    #[default]
    Exact,
    /// Both averaged over the same draws, with a bias of order 1/S: from ten draws on, and where the sampled
    /// denominator is at least a tenth of the exact one; else as `Exact`.
    Ratio,
    /// w²/{2(1 − w)} tr(Σ∇²f) of each draw, as printed: it has a pole at w = 1, and its mean does not exist.
    PaperLiteral,
}

/// Draws from which the denominator of [`ShapeEstimator::Ratio`] may be sampled.
const FEWEST_DRAWS: usize = 10;
/// Share of the exact denominator below which the sampled one is not used.
const SMALLEST_SHARE: f64 = 0.1;

impl ShapeEstimator {
    /// The denominator: `exact` is ψ′(a) − 1/a, `sampled` its mean over `n` draws.
    pub(crate) fn denominator(self, exact: f64, sampled: f64, n: usize) -> f64 {
        let usable = n >= FEWEST_DRAWS && sampled >= SMALLEST_SHARE * exact;
        if self == ShapeEstimator::Ratio && usable { sampled } else { exact }
    }
}

impl std::fmt::Display for ShapeEstimator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ShapeEstimator::Exact => "exact",
            ShapeEstimator::Ratio => "ratio",
            ShapeEstimator::PaperLiteral => "paper_literal",
        })
    }
}

/// ∇_aE\[f\] = ½E\[∂_aw tr(Σ∇²f)\] from w and tr(Σ∇²f) of each draw.
///
/// Paper: App. D.
pub fn shape_slope_by_traces(a: f64, draws: &[(f64, f64)]) -> f64 {
    let sum: f64 = draws.iter().map(|&(w, trace)| 0.5 * inverse_gamma_derivative(a, w) * trace).sum();
    sum / draws.len() as f64
}

/// The mean of (1 − w)/w² ∂_aw over draws, whose expectation is ψ′(a) − 1/a.
///
/// Paper: App. D.
pub fn sampled_shape_information(a: f64, w: &[f64]) -> f64 {
    let sum: f64 = w.iter().map(|&w| (1.0 - w) / (w * w) * inverse_gamma_derivative(a, w)).sum();
    sum / w.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_draws_and_a_denominator() {
        let exact = 0.06;
        assert_eq!(ShapeEstimator::Ratio.denominator(exact, 0.05, 10), 0.05);
        for (sampled, n) in [(0.05, 9), (0.005, 100), (-0.02, 100), (f64::NAN, 100)] {
            assert_eq!(ShapeEstimator::Ratio.denominator(exact, sampled, n), exact);
        }
        assert_eq!(ShapeEstimator::Exact.denominator(exact, 0.05, 100), exact);
    }
}
