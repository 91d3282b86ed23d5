//! Half-normal mean mixing: the skew-Gaussian (mathematics §3.2).

use std::f64::consts::{FRAC_2_PI, LN_2, PI};

use super::point_mass::gaussian_entropy;
use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, SkewnessOfShift, TwoPoint};
use crate::Error;
use crate::special::mean_mixture_entropy;
use crate::special::normal::{HALF_LOG_TWO_PI, TruncatedNormal, log_ndtr};

/// w = |n| with n ~ N(0, 1), u(w) = w: z is skew-Gaussian.
///
/// Paper: §4.3, App. E.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HalfNormal;

impl MixingLaw for HalfNormal {
    const NAME: &'static str = "skew";
    const FAMILY: Option<&'static str> = Some("skew-Gaussian");
    const SHIFTED: bool = true;

    fn from_constants(_constants: &[f64]) -> Result<Self, Error> {
        Ok(Self)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        noise.normal().abs()
    }

    fn shift(&self, w: f64) -> f64 {
        w.abs()
    }

    fn scale(&self, _w: f64) -> f64 {
        1.0
    }

    fn moments(&self) -> Moments {
        let c = FRAC_2_PI.sqrt();
        Moments { u: c, uu: 1.0, s: 1.0, inv_s: 1.0, u_inv_s: c, uu_inv_s: 1.0 }
    }

    /// u | z ~ N(L/(1+κ), 1/(1+κ)) restricted to (0, ∞).
    fn conditional(&self, forms: Forms) -> Conditional {
        let sigma = 1.0 / (1.0 + forms.kappa).sqrt();
        let truncated = TruncatedNormal::new(forms.l * sigma);
        let mean = sigma * truncated.mean;
        Conditional {
            u: mean,
            s: 1.0,
            inv_s: 1.0,
            u_inv_s: mean,
            var_u_inv_s: sigma * sigma * truncated.variance,
            ..Conditional::default()
        }
    }

    fn two_point(&self, forms: Forms) -> Option<TwoPoint> {
        let total = 1.0 + forms.kappa;
        Some(TwoPoint { u: forms.l / total, v0: FRAC_2_PI.sqrt() / total })
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let t = forms.l / (1.0 + forms.kappa).sqrt();
        // log Φ(t) + ½t²; in the lower tail −½t² is the leading part of log Φ.
        let tail = if t > -1.0 {
            log_ndtr(t) + 0.5 * t * t
        } else {
            -HALF_LOG_TWO_PI - TruncatedNormal::new(t).inverse_mills.ln()
        };
        LN_2 - forms.dim as f64 * HALF_LOG_TWO_PI - 0.5 * forms.kappa.ln_1p() - 0.5 * forms.q + tail
    }

    fn entropy(&self, kappa: f64, dim: usize) -> Option<Entropy> {
        let excess = mean_mixture_entropy::skew(kappa);
        Some(Entropy { value: gaussian_entropy(dim) + excess.value, slope: excess.slope })
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        if w >= 0.0 { LN_2 - HALF_LOG_TWO_PI - 0.5 * w * w } else { f64::NEG_INFINITY }
    }

    fn skewness_of_shift(&self, third: f64) -> Option<SkewnessOfShift> {
        let c = (2.0 / PI).sqrt();
        Some(SkewnessOfShift { mean: c, variance: 1.0 - c * c, length: (third / (c * (4.0 / PI - 1.0))).cbrt() })
    }
}
