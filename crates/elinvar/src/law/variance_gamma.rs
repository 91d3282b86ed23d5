//! Gamma scale mixing: the variance-gamma law (mathematics §10.6).

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, entropy_of_radius};
use crate::Error;
use crate::special::gamma::{log1p_minus, stirling_remainder};
use crate::special::gig::Gig;
use crate::special::normal::HALF_LOG_TWO_PI;

/// s ~ Gamma(k, rate k), mean one: tails e^{−√(2k)|z|}, k > 1.
///
/// Where k ≤ d/2 the density of z has a pole at its centre: there log q and the conditional moments are those of a
/// point at the distance 10⁻⁶⁰ from it. Paper: §4.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceGamma {
    k: f64,
}

impl VarianceGamma {
    /// The law with shape k.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 0 < k ≤ 1, the Laplace law k = 1 among them: E[1/s] and with it the Fisher
    /// information of μ is infinite. [`Error::Domain`] unless k is a positive finite number.
    pub fn new(k: f64) -> Result<Self, Error> {
        if !(k > 0.0 && k.is_finite()) {
            return Err(Error::Domain { parameter: "k", value: k, reason: "it is finite and larger than 1" });
        }
        if k <= 1.0 {
            let name = if k == 1.0 {
                "the Laplace law, variance_gamma with k = 1,".into()
            } else {
                format!("variance_gamma with k = {k},")
            };
            return Err(Error::Unsupported {
                wanted: format!(
                    "{name} whose Fisher information of μ is infinite, so that a natural step in μ is zero,"
                ),
                instead: "use variance_gamma with k > 1, student_t or logistic".into(),
            });
        }
        Ok(Self { k })
    }

    /// s | z ~ GIG(k − d/2, 2k, Q).
    fn posterior(&self, forms: Forms) -> Gig {
        Gig { p: self.k - 0.5 * forms.dim as f64, a: 2.0 * self.k, b: forms.q }
    }
}

impl MixingLaw for VarianceGamma {
    const NAME: &'static str = "variance_gamma";
    const CONSTANTS: &'static [(&'static str, f64)] = &[("k", 2.0)];

    fn from_constants(constants: &[f64]) -> Result<Self, Error> {
        Self::new(constants[0])
    }

    fn constants(&self) -> [f64; 2] {
        [self.k, 0.0]
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        noise.gamma(self.k) / self.k
    }

    fn scale(&self, w: f64) -> f64 {
        w
    }

    fn moments(&self) -> Moments {
        Moments::of_scale(1.0, self.k / (self.k - 1.0))
    }

    fn conditional(&self, forms: Forms) -> Conditional {
        let m = self.posterior(forms).moments();
        Conditional::of_scale(m.mean, m.mean_inverse, m.variance_inverse)
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let gig = self.posterior(forms);
        // k log k − log Γ(k) by Stirling: k + ½ log k − ½ log 2π − c(k).
        let gamma = self.k + 0.5 * self.k.ln() - HALF_LOG_TWO_PI - stirling_remainder(self.k);
        gamma + gig.log_normaliser_plus_x() - gig.x() - forms.dim as f64 * HALF_LOG_TWO_PI
    }

    fn entropy(&self, _kappa: f64, dim: usize) -> Option<Entropy> {
        Some(Entropy::of_scale(entropy_of_radius(self, dim)))
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        if w <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let normaliser = 0.5 * self.k.ln() - HALF_LOG_TWO_PI - stirling_remainder(self.k);
        normaliser + self.k * log1p_minus(w - 1.0) - w.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pole_is_finite_and_laplace_is_refused_with_the_reason() {
        let law = VarianceGamma::new(1.3).unwrap();
        for dim in [1, 3, 30] {
            let forms = Forms { dim, q: 0.0, ..Forms::default() };
            let c = law.conditional(forms);
            assert!(
                law.log_marginal(forms).is_finite() && c.s >= 0.0 && c.inv_s.is_finite() && c.var_inv_s.is_finite()
            );
        }
        for k in [1.0, 0.4] {
            let sentence = VarianceGamma::new(k).unwrap_err().to_string();
            assert!(sentence.contains("Fisher information of μ is infinite"), "{sentence}");
        }
        assert!(VarianceGamma::new(1.0).unwrap_err().to_string().contains("Laplace"));
        assert!(matches!(VarianceGamma::new(f64::NAN), Err(Error::Domain { .. })));
    }
}
