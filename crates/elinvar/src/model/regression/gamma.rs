//! Positive numbers with a constant coefficient of variation.

use super::{RowLaw, Slopes};
use crate::model::NoisePrior;
use crate::special::gamma::{digamma_minus_log, ln_gamma, trigamma};

/// y ~ Gamma with mean μ = e^η and shape α = e^a: variance μ²/α.
///
/// log p = α(log α − η) − log Γ(α) + (α − 1) log y − αy e^{−η}; with r = y/μ: ∂η = α(r − 1), ∂²η = −αr,
/// ∂α = log α − ψ(α) + 1 + log r − r, ∂²ηα = r − 1, ∂²α = 1/α − ψ′(α).
#[derive(Clone, Debug)]
pub struct Gamma;

impl RowLaw for Gamma {
    const AUXILIARY: &'static [&'static str] = &["shape"];
    /// α, α log α − log Γ(α), log α − ψ(α), 1/α − ψ′(α).
    type Shared = [f64; 4];

    fn shared(log_auxiliary: &[f64]) -> [f64; 4] {
        let shape = log_auxiliary[0].exp();
        [shape, shape * log_auxiliary[0] - ln_gamma(shape), -digamma_minus_log(shape), 1.0 / shape - trigamma(shape)]
    }

    fn value(shared: &[f64; 4], y: f64, _: f64, eta: f64) -> f64 {
        let (shape, log_ratio) = (shared[0], y.ln() - eta);
        shared[1] + shape * (log_ratio - log_ratio.exp())
    }

    fn slopes(shared: &[f64; 4], y: f64, trials: f64, eta: f64) -> Slopes {
        let [shape, _, minus_digamma, by_twice] = *shared;
        let log_ratio = y.ln() - eta;
        let ratio = log_ratio.exp();
        let by_shape = minus_digamma + 1.0 + log_ratio - ratio;
        Slopes {
            value: Self::value(shared, y, trials, eta),
            eta: shape * (ratio - 1.0),
            eta_eta: -shape * ratio,
            auxiliary: [shape * by_shape, 0.0],
            eta_auxiliary: [shape * (ratio - 1.0), 0.0],
            auxiliary_auxiliary: [shape * by_shape + shape * shape * by_twice, 0.0, 0.0],
        }
    }

    /// −log y.
    fn constant(y: f64, _: f64) -> f64 {
        -y.ln()
    }

    fn fault(y: f64, _: f64) -> Option<&'static str> {
        (y <= 0.0).then_some("a positive number")
    }

    fn usual_priors() -> Vec<NoisePrior> {
        vec![NoisePrior::Exponential { rate: 1.0 }]
    }
}
