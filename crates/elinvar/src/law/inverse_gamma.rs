//! Inverse-gamma scale mixing: Student's t (spec 02).

use serde::{Deserialize, Serialize};

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments};
use crate::Error;
use crate::special::gamma::{digamma_minus_log, ln_gamma_ratio, log1p_minus, stirling_remainder};
use crate::special::normal::HALF_LOG_TWO_PI;

/// w ~ IG(a, a), s(w) = w: z is Student's t with 2a degrees of freedom and scale matrix Σ.
///
/// a > 1: below that neither the covariance nor the expectation of a Gaussian prior exists. Paper: §4.2, App. D.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct InverseGamma {
    a: f64,
}

#[derive(Deserialize)]
struct Unchecked {
    a: f64,
}

impl TryFrom<Unchecked> for InverseGamma {
    type Error = Error;

    fn try_from(unchecked: Unchecked) -> Result<Self, Error> {
        Self::new(unchecked.a)
    }
}

impl InverseGamma {
    /// The law with shape a.
    ///
    /// # Errors
    /// [`Error::Domain`] unless a is finite and larger than 1.
    pub fn new(a: f64) -> Result<Self, Error> {
        if a > 1.0 && a.is_finite() {
            Ok(Self { a })
        } else {
            let reason = "the shape must be finite and above 1, or the covariance does not exist";
            Err(Error::Domain { parameter: "a", value: a, reason })
        }
    }

    /// The shape a: half the degrees of freedom.
    pub fn shape(&self) -> f64 {
        self.a
    }
}

impl MixingLaw for InverseGamma {
    const NAME: &'static str = "student_t";
    const SHIFTED: bool = false;

    fn parameter(&self) -> Option<f64> {
        Some(self.a)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.a / noise.gamma(self.a)
    }

    fn shift(&self, _w: f64) -> f64 {
        0.0
    }

    fn scale(&self, w: f64) -> f64 {
        w
    }

    fn moments(&self) -> Moments {
        Moments { u: 0.0, uu: 0.0, s: self.a / (self.a - 1.0), inv_s: 1.0, u_inv_s: 0.0, uu_inv_s: 0.0 }
    }

    /// w | z ~ IG(a + d/2, a + Q/2).
    fn conditional(&self, forms: Forms) -> Conditional {
        let shape = self.a + 0.5 * forms.dim as f64;
        let scale = self.a + 0.5 * forms.q;
        Conditional {
            s: scale / (shape - 1.0),
            inv_s: shape / scale,
            var_inv_s: shape / (scale * scale),
            ..Conditional::default()
        }
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let half_dim = 0.5 * forms.dim as f64;
        ln_gamma_ratio(self.a, half_dim)
            - forms.dim as f64 * HALF_LOG_TWO_PI
            - (self.a + half_dim) * (0.5 * forms.q / self.a).ln_1p()
    }

    fn entropy(&self, _kappa: f64, dim: usize) -> Option<Entropy> {
        let (a, half_dim) = (self.a, 0.5 * dim as f64);
        let b = a + half_dim;
        let digamma_difference = digamma_minus_log(b) - digamma_minus_log(a) + (half_dim / a).ln_1p();
        let value = dim as f64 * HALF_LOG_TWO_PI - ln_gamma_ratio(a, half_dim) + b * digamma_difference;
        Some(Entropy { value, slope: 0.0 })
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        // a log a − log Γ(a) − (a+1) log w − a/w around its mode, where its terms of size a cancel.
        let normaliser = 0.5 * self.a.ln() - HALF_LOG_TWO_PI - stirling_remainder(self.a);
        normaliser + self.a * log1p_minus(1.0 / w - 1.0) - w.ln()
    }
}
