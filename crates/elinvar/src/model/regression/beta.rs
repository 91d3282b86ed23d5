//! Shares between 0 and 1.

use super::{RowLaw, Slopes};
use crate::model::NoisePrior;
use crate::special::gamma::{digamma, ln_gamma, trigamma};
use crate::special::logistic::softplus_and_shares;

/// y ~ Beta(μφ, (1−μ)φ) with mean μ = 1/(1 + e^−η) and precision φ = e^a.
///
/// log p = log Γ(φ) − log Γ(μφ) − log Γ((1−μ)φ) + (μφ − 1) log y + ((1−μ)φ − 1) log(1−y). With
/// g = ψ((1−μ)φ) − ψ(μφ) + log y − log(1−y): ∂μ = φg, ∂²μ = −φ²(ψ′(μφ) + ψ′((1−μ)φ)).
#[derive(Clone, Debug)]
pub struct Beta;

/// Keeps a parameter of the law off 0, where its digamma is not a number.
const SMALLEST: f64 = 1e-150;

impl RowLaw for Beta {
    const AUXILIARY: &'static [&'static str] = &["phi"];
    /// φ, log Γ(φ), ψ(φ), ψ′(φ).
    type Shared = [f64; 4];

    fn shared(log_auxiliary: &[f64]) -> [f64; 4] {
        let phi = log_auxiliary[0].exp();
        [phi, ln_gamma(phi), digamma(phi), trigamma(phi)]
    }

    fn value(shared: &[f64; 4], y: f64, _: f64, eta: f64) -> f64 {
        let phi = shared[0];
        let [_, mu, rest] = softplus_and_shares(eta);
        let (a, b) = ((mu * phi).max(SMALLEST), (rest * phi).max(SMALLEST));
        shared[1] - ln_gamma(a) - ln_gamma(b) + a * y.ln() + b * (-y).ln_1p()
    }

    fn slopes(shared: &[f64; 4], y: f64, trials: f64, eta: f64) -> Slopes {
        let [phi, _, digamma_phi, trigamma_phi] = *shared;
        let [_, mu, rest] = softplus_and_shares(eta);
        let (a, b) = ((mu * phi).max(SMALLEST), (rest * phi).max(SMALLEST));
        let (log_y, log_rest) = (y.ln(), (-y).ln_1p());
        let (digamma_a, digamma_b) = (digamma(a), digamma(b));
        let (trigamma_a, trigamma_b) = (trigamma(a), trigamma(b));
        let g = digamma_b - digamma_a + log_y - log_rest;
        let slope = mu * rest;
        let by_phi = digamma_phi - mu * digamma_a - rest * digamma_b + mu * log_y + rest * log_rest;
        let by_phi_phi = trigamma_phi - mu * mu * trigamma_a - rest * rest * trigamma_b;
        // φ²μ(1−μ) = ab, in which neither factor overflows.
        let mu_phi = slope * g + a * rest * (rest * trigamma_b) - b * mu * (mu * trigamma_a);
        Slopes {
            value: Self::value(shared, y, trials, eta),
            eta: phi * slope * g,
            eta_eta: -(a * rest) * (a * rest) * (trigamma_a + trigamma_b) + phi * slope * (rest - mu) * g,
            auxiliary: [phi * by_phi, 0.0],
            eta_auxiliary: [phi * mu_phi, 0.0],
            auxiliary_auxiliary: [phi * by_phi + phi * phi * by_phi_phi, 0.0, 0.0],
        }
    }

    /// −log y − log(1 − y).
    fn constant(y: f64, _: f64) -> f64 {
        -y.ln() - (-y).ln_1p()
    }

    fn fault(y: f64, _: f64) -> Option<&'static str> {
        (!(y > 0.0 && y < 1.0)).then_some("a number between 0 and 1")
    }

    fn usual_priors() -> Vec<NoisePrior> {
        vec![NoisePrior::Exponential { rate: 1.0 }]
    }
}
