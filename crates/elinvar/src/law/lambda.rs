//! λ of w ~ InvGauss(1, λ), with what a fit that moves it needs to know (mathematics §4.4).

use serde::{Deserialize, Serialize};

use super::{Forms, MixingLaw};
use crate::Error;
use crate::special::gamma::log1p_minus;
use crate::special::implicit::inverse_gaussian_derivatives;
use crate::special::radial::radial_expectation;

/// Where a learned λ begins: the kurtosis of nig is that of a Student-t with 8 degrees of freedom.
pub(super) const FIRST_LAMBDA: f64 = 2.0;

/// A learned λ stays between these. Above the upper one the law is a Gaussian for all purposes, and a Gaussian target
/// would push λ up for ever; near the lower one E\[w\] = 1 hangs on one draw in a hundred.
const LEARNED: std::ops::RangeInclusive<f64> = 1e-2..=1e6;

/// Above it the information of the marginal is that of the limit: by rounding, the score of z has ten digits less.
const LIMIT: f64 = 1e5;

/// λ > 0 and whether a fit moves it. λ is the natural parameter of the statistic −(w − 1)²/(2w), whose mean is −1/(2λ).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Lambda {
    #[serde(rename = "lambda")]
    pub(super) value: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) learn: bool,
}

#[derive(Deserialize)]
struct Unchecked {
    lambda: f64,
    #[serde(default)]
    learn: bool,
}

impl TryFrom<Unchecked> for Lambda {
    type Error = Error;

    fn try_from(unchecked: Unchecked) -> Result<Self, Error> {
        Ok(Self { learn: unchecked.learn, ..Self::fixed(unchecked.lambda)? })
    }
}

impl Lambda {
    pub(super) fn fixed(value: f64) -> Result<Self, Error> {
        if value > 0.0 && value.is_finite() {
            Ok(Self { value, learn: false })
        } else {
            Err(Error::Domain { parameter: "lambda", value, reason: "the inverse-Gaussian shape is a positive number" })
        }
    }

    /// Another value, cut to where a learned λ may be; one that is no number changes nothing.
    pub(super) fn with(self, value: f64) -> Self {
        if value.is_finite() { Self { value: value.clamp(*LEARNED.start(), *LEARNED.end()), ..self } } else { self }
    }

    /// ∂w/∂λ of a draw at fixed probability.
    pub(super) fn path_derivative(self, w: f64) -> f64 {
        inverse_gaussian_derivatives(1.0, self.value, w).1
    }

    /// 1/(2λ) − (w − 1)²/(2w).
    pub(super) fn score(self, w: f64) -> f64 {
        0.5 / self.value - 0.5 * (w - 1.0) * (w - 1.0) / w
    }

    /// (1/w² − 1)/2 ∂_λ w.
    pub(super) fn sampled_fisher(w: f64, path_derivative: f64) -> f64 {
        0.5 * (1.0 - w) * (1.0 + w) / (w * w) * path_derivative
    }

    /// 1/(2λ²).
    pub(super) fn fisher(self) -> f64 {
        0.5 / (self.value * self.value)
    }

    /// ½{r − 1 − log r} with r = λ₀/λ.
    pub(super) fn divergence_from(self, other: Self) -> f64 {
        -0.5 * log1p_minus((other.value - self.value) / self.value)
    }

    /// What z without shift says about λ once the size of Σ is fitted, too: the variance of E[∂_λ log q(w) | z] without
    /// what it shares with the score ½(Q E[1/s|z] − d) of log Σ.
    pub(super) fn marginal_fisher(self, law: &impl MixingLaw, dim: usize) -> f64 {
        let (lambda, d) = (self.value, dim as f64);
        let half = 0.5 * d;
        if lambda > LIMIT {
            return 0.5 * half * (half + 1.0) / (lambda * (lambda + half)).powi(2);
        }
        let typical = (d * law.moments().s).sqrt();
        let [own, shared, scale] = radial_expectation(dim, typical, |q| {
            let forms = Forms { dim, q, ..Forms::default() };
            let given = law.conditional(forms);
            // s is w or 1/w, so that s + 1/s = w + 1/w.
            let score = 0.5 / lambda + 1.0 - 0.5 * (given.s + given.inv_s);
            let of_scale = 0.5 * (q * given.inv_s - d);
            (law.log_marginal(forms), [score * score, score * of_scale, of_scale * of_scale])
        });
        (own - shared * shared / scale).clamp(f64::MIN_POSITIVE, self.fisher())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InverseGaussian, ReciprocalInverseGaussian};
    use super::*;

    /// Far from the Gaussian by quadrature, near it by the limit: no jump between the two.
    #[test]
    fn the_information_of_the_marginal_is_continuous() {
        for dim in [1, 3, 40] {
            let (below, above) = (LIMIT * (1.0 - 1e-9), LIMIT * (1.0 + 1e-9));
            let nig =
                |lambda| Lambda::fixed(lambda).unwrap().marginal_fisher(&InverseGaussian::new(lambda).unwrap(), dim);
            let snig = |lambda| {
                let law = ReciprocalInverseGaussian::new(lambda).unwrap();
                Lambda::fixed(lambda).unwrap().marginal_fisher(&law, dim)
            };
            assert!((nig(below) / nig(above) - 1.0).abs() < 1e-3, "{dim}: {} and {}", nig(below), nig(above));
            assert!((snig(below) / snig(above) - 1.0).abs() < 1e-3, "{dim}: {} and {}", snig(below), snig(above));
        }
    }
}
