//! Events among trials.

use super::{RowLaw, Slopes};
use crate::model::NoisePrior;
use crate::special::logistic::softplus_and_shares;

/// y ~ Binomial(n, π) with π = 1/(1 + e^−η): log p = log C(n, y) + yη − n log(1 + e^η), ∂η = y − nπ, ∂²η = −nπ(1−π).
#[derive(Clone, Debug)]
pub struct Binomial;

impl RowLaw for Binomial {
    const AUXILIARY: &'static [&'static str] = &[];
    type Shared = ();

    fn shared(_: &[f64]) {}

    fn value((): &(), y: f64, trials: f64, eta: f64) -> f64 {
        // y log π + (n − y) log(1 − π): no difference of large numbers where η is far from 0.
        let [softplus, ..] = softplus_and_shares(-eta);
        -trials * softplus - (trials - y) * eta
    }

    fn slopes(shared: &(), y: f64, trials: f64, eta: f64) -> Slopes {
        let [_, p, q] = softplus_and_shares(eta);
        Slopes {
            value: Self::value(shared, y, trials, eta),
            eta: y * q - (trials - y) * p,
            eta_eta: -trials * p * q,
            ..Slopes::default()
        }
    }

    fn constant(y: f64, trials: f64) -> f64 {
        libm::lgamma(trials + 1.0) - libm::lgamma(y + 1.0) - libm::lgamma(trials - y + 1.0)
    }

    fn fault(y: f64, trials: f64) -> Option<&'static str> {
        let is_count = |n: f64| n >= 0.0 && n.fract() == 0.0;
        (!is_count(y) || !is_count(trials) || y > trials).then_some("a whole number from 0 to the number of trials")
    }

    fn usual_priors() -> Vec<NoisePrior> {
        Vec::new()
    }
}
