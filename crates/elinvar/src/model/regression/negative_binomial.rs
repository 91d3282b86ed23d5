//! Counts with more spread than a Poisson law.

use super::{RowLaw, Slopes};
use crate::model::NoisePrior;
use crate::model::rising_factorial::{log_rise, polygamma_rises};
use crate::special::logistic::softplus_and_shares;

/// y ~ NB with mean μ = e^η and variance μ + μ²/φ, where φ = e^a is the shape.
///
/// log p = log (φ)_y − log y! + y(η − a) − (y + φ) log(1 + e^{η−a}), with the rising factorial (φ)_y = Γ(φ+y)/Γ(φ).
/// With t = η − a, π = 1/(1 + e^{−t}): ∂η = y(1−π) − φπ, ∂²η = −(y+φ)π(1−π), and with Δ = ψ(φ+y) − ψ(φ):
/// ∂a = φ(Δ − log(1+e^t)) − ∂η, ∂²ηa = yπ(1−π) − φπ², ∂²a = φ(Δ − log(1+e^t)) + φ(φΔ′ + π) − ∂²ηa.
#[derive(Clone, Debug)]
pub struct NegativeBinomial;

impl RowLaw for NegativeBinomial {
    const AUXILIARY: &'static [&'static str] = &["shape"];
    type Shared = [f64; 2];

    fn shared(log_auxiliary: &[f64]) -> [f64; 2] {
        [log_auxiliary[0], log_auxiliary[0].exp()]
    }

    fn value([a, shape]: &[f64; 2], y: f64, _: f64, eta: f64) -> f64 {
        let [softplus, ..] = softplus_and_shares(eta - a);
        log_rise(*shape, y as u64) + y * eta - (y + shape) * softplus
    }

    fn slopes(shared: &[f64; 2], y: f64, trials: f64, eta: f64) -> Slopes {
        let [a, shape] = *shared;
        let [softplus, p, q] = softplus_and_shares(eta - a);
        let [digamma, trigamma] = polygamma_rises(shape, y as u64);
        let by_eta = y * q - shape * p;
        let by_shape = shape * (digamma - softplus);
        let crossed = y * p * q - shape * p * p;
        Slopes {
            value: Self::value(shared, y, trials, eta),
            eta: by_eta,
            eta_eta: -(y + shape) * p * q,
            auxiliary: [by_shape - by_eta, 0.0],
            eta_auxiliary: [crossed, 0.0],
            auxiliary_auxiliary: [by_shape + shape * (shape * trigamma + p) - crossed, 0.0, 0.0],
        }
    }

    fn constant(y: f64, _: f64) -> f64 {
        -libm::lgamma(y + 1.0)
    }

    fn fault(y: f64, _: f64) -> Option<&'static str> {
        (y < 0.0 || y.fract() != 0.0).then_some("a whole number ≥ 0")
    }

    fn usual_priors() -> Vec<NoisePrior> {
        vec![NoisePrior::Exponential { rate: 1.0 }]
    }
}
