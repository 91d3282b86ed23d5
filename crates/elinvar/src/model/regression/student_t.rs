//! Numbers with outliers.

use std::f64::consts::PI;

use super::{RowLaw, Slopes};
use crate::model::NoisePrior;
use crate::special::gamma::{digamma, ln_gamma, trigamma};

/// y ~ η + σ t_ν with z = (β, log σ, log ν).
///
/// With e = y − η, c = e²/σ² and D = νσ² + e²: log p = log Γ((ν+1)/2) − log Γ(ν/2) − ½ log(πν) − log σ
/// − ½(ν+1) log(1 + c/ν).
#[derive(Clone, Debug)]
pub struct StudentT;

/// From here on Stirling's series has all digits.
const LARGE: f64 = 200.0;

/// What rows share: σ, ν, the normaliser and its first two derivatives in ν.
#[derive(Clone, Copy, Debug)]
pub struct SharedT {
    sigma: f64,
    nu: f64,
    normaliser: [f64; 3],
}

impl RowLaw for StudentT {
    const AUXILIARY: &'static [&'static str] = &["sigma", "nu"];
    type Shared = SharedT;

    fn shared(log_auxiliary: &[f64]) -> SharedT {
        let (sigma, nu) = (log_auxiliary[0].exp(), log_auxiliary[1].exp());
        let (upper, lower) = (0.5 * (nu + 1.0), 0.5 * nu);
        let normaliser = if nu < LARGE {
            [
                ln_gamma(upper) - ln_gamma(lower) - 0.5 * (PI * nu).ln(),
                0.5 * (digamma(upper) - digamma(lower) - 1.0 / nu),
                0.25 * (trigamma(upper) - trigamma(lower)) + 0.5 / (nu * nu),
            ]
        } else {
            // log Γ(x + ½) − log Γ(x) = ½ log x − 1/(8x) + 1/(192x³) − …, with x = ν/2.
            [
                -0.5 * (2.0 * PI).ln() - 0.25 / nu + 1.0 / (24.0 * nu.powi(3)),
                0.25 / (nu * nu) - 0.125 / nu.powi(4),
                -0.5 / nu.powi(3) + 0.5 / nu.powi(5),
            ]
        };
        SharedT { sigma, nu, normaliser }
    }

    fn value(shared: &SharedT, y: f64, _: f64, eta: f64) -> f64 {
        let SharedT { sigma, nu, normaliser } = *shared;
        let r = (y - eta) / sigma;
        normaliser[0] - sigma.ln() - 0.5 * (nu + 1.0) * (r * r / nu).ln_1p()
    }

    fn slopes(shared: &SharedT, y: f64, trials: f64, eta: f64) -> Slopes {
        let SharedT { sigma, nu, normaliser } = *shared;
        let r = (y - eta) / sigma;
        let c = r * r;
        // 1/(ν + c), with which every derivative is a product of numbers that stay finite.
        let u = 1.0 / (nu + c);
        let (m, cu, nu_u) = (nu + 1.0, c * u, nu * u);
        let by_nu = normaliser[1] - 0.5 * (c / nu).ln_1p() + 0.5 * m * cu / nu;
        // The derivative of −½ log(1 + c/ν) + ½(ν+1)c/(ν(ν+c)).
        let by_nu_nu = normaliser[2] + cu / nu - 0.5 * m * cu * (1.0 / nu + u) / nu;
        let eta_nu = r * u * (c - 1.0) * u / sigma;
        let sigma_nu = cu * (c - 1.0) * u;
        Slopes {
            value: Self::value(shared, y, trials, eta),
            eta: m * r * u / sigma,
            eta_eta: m * (cu - nu_u) * u / (sigma * sigma),
            auxiliary: [m * cu - 1.0, nu * by_nu],
            eta_auxiliary: [-2.0 * m * r * u * nu_u / sigma, nu * eta_nu],
            auxiliary_auxiliary: [-2.0 * m * cu * nu_u, nu * sigma_nu, nu * by_nu + nu * nu * by_nu_nu],
        }
    }

    fn constant(_: f64, _: f64) -> f64 {
        0.0
    }

    fn fault(y: f64, _: f64) -> Option<&'static str> {
        (!y.is_finite()).then_some("a finite number")
    }

    fn usual_priors() -> Vec<NoisePrior> {
        vec![NoisePrior::Exponential { rate: 1.0 }, NoisePrior::Gamma { shape: 2.0, rate: 0.1 }]
    }
}
