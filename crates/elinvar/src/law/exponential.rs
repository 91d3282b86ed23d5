//! Exponential mean mixing: the exponentially modified Gaussian (mathematics §3.3).

use super::point_mass::gaussian_entropy;
use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, SkewnessOfShift, TwoPoint};
use crate::Error;
use crate::special::mean_mixture_entropy;
use crate::special::normal::{HALF_LOG_TWO_PI, TruncatedNormal, log_ndtr};

/// w ~ Exp(1), u(w) = w: z is exponentially modified Gaussian.
///
/// Paper: App. F.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exponential;

/// Below this κ, |L| ≤ √(κQ) is far below the rounding of 1 and κ² would underflow: z says nothing about w.
const NO_SHIFT: f64 = 1e-100;

impl MixingLaw for Exponential {
    const NAME: &'static str = "emg";
    const FAMILY: Option<&'static str> = Some("exponentially modified Gaussian");
    const SHIFTED: bool = true;

    fn from_constants(_constants: &[f64]) -> Result<Self, Error> {
        Ok(Self)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        -noise.uniform().ln()
    }

    fn shift(&self, w: f64) -> f64 {
        w
    }

    fn scale(&self, _w: f64) -> f64 {
        1.0
    }

    fn moments(&self) -> Moments {
        Moments { u: 1.0, uu: 2.0, s: 1.0, inv_s: 1.0, u_inv_s: 1.0, uu_inv_s: 2.0 }
    }

    /// u | z ~ N((L−1)/κ, 1/κ) restricted to (0, ∞); the prior Exp(1) at κ = 0.
    fn conditional(&self, forms: Forms) -> Conditional {
        let (mean, variance) = if forms.kappa < NO_SHIFT {
            (1.0, 1.0)
        } else {
            let root = forms.kappa.sqrt();
            let truncated = TruncatedNormal::new((forms.l - 1.0) / root);
            (truncated.mean / root, truncated.variance / forms.kappa)
        };
        Conditional { u: mean, s: 1.0, inv_s: 1.0, u_inv_s: mean, var_u_inv_s: variance, ..Conditional::default() }
    }

    /// u(z) = (L−1)/κ, v₀ = 1/κ; none at κ = 0, where they are infinite. Their variance grows like 1/κ.
    fn two_point(&self, forms: Forms) -> Option<TwoPoint> {
        (forms.kappa >= NO_SHIFT).then(|| TwoPoint { u: (forms.l - 1.0) / forms.kappa, v0: 1.0 / forms.kappa })
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let gaussian = -(forms.dim as f64) * HALF_LOG_TWO_PI;
        if forms.kappa < NO_SHIFT {
            return gaussian - 0.5 * forms.q;
        }
        let root = forms.kappa.sqrt();
        let t = (forms.l - 1.0) / root;
        if t > -1.0 {
            // ½(t² − Q) with the parts of t² and Q that nearly cancel taken first.
            let exponent = 0.5 * ((forms.l * forms.l / forms.kappa - forms.q) + (1.0 - 2.0 * forms.l) / forms.kappa);
            gaussian + HALF_LOG_TWO_PI - 0.5 * forms.kappa.ln() + log_ndtr(t) + exponent
        } else {
            // m(−t)/√κ = 1/{√κ ρ(t)} and √κ ρ = 1 − L + √κ(t + ρ), which tends to 1 as κ → 0.
            gaussian - 0.5 * forms.q - (root * TruncatedNormal::new(t).mean - forms.l).ln_1p()
        }
    }

    fn entropy(&self, kappa: f64, dim: usize) -> Option<Entropy> {
        let excess = mean_mixture_entropy::emg(kappa);
        Some(Entropy { value: gaussian_entropy(dim) + excess.value, slope: excess.slope })
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        if w >= 0.0 { -w } else { f64::NEG_INFINITY }
    }

    fn skewness_of_shift(&self, third: f64) -> Option<SkewnessOfShift> {
        Some(SkewnessOfShift { mean: 1.0, variance: 1.0, length: (0.5 * third).cbrt() })
    }
}
