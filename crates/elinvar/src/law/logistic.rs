//! Squared Kolmogorov scale mixing: the logistic law (mathematics §10.6).

use std::f64::consts::PI;

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, entropy_of_radius};
use crate::Error;
use crate::special::kolmogorov;
use crate::special::normal::HALF_LOG_TWO_PI;

/// s = 4K² with K the limit of Kolmogorov's statistic: in one dimension z is logistic with scale √Σ.
///
/// Paper: §4.2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Logistic;

const MEAN: f64 = PI * PI / 3.0;
const MEAN_INVERSE: f64 = 0.426_278_398_817_505_8;

impl MixingLaw for Logistic {
    const NAME: &'static str = "logistic";

    fn from_constants(_constants: &[f64]) -> Result<Self, Error> {
        Ok(Logistic)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        kolmogorov::quantile(noise.uniform())
    }

    fn scale(&self, w: f64) -> f64 {
        w
    }

    fn moments(&self) -> Moments {
        Moments::of_scale(MEAN, MEAN_INVERSE)
    }

    fn conditional(&self, forms: Forms) -> Conditional {
        if forms.dim == 1 { of_the_line(forms.q.sqrt()) } else { Sums::new(forms).conditional() }
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        if forms.dim == 1 {
            let r = forms.q.sqrt();
            return -r - 2.0 * (-r).exp().ln_1p();
        }
        Sums::new(forms).log_total - forms.dim as f64 * HALF_LOG_TWO_PI
    }

    fn entropy(&self, _kappa: f64, dim: usize) -> Option<Entropy> {
        Some(Entropy::of_scale(if dim == 1 { 2.0 } else { entropy_of_radius(self, dim) }))
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        kolmogorov::log_density(w)
    }
}

/// Closed forms in one dimension: E[1/s|z] = tanh(r/2)/r, and E[s|z] = {log(1 + e⁻ʳ) + rσ(−r)}/q(r).
fn of_the_line(r: f64) -> Conditional {
    let e = (-r).exp();
    let tail = if e > 0.0 { e.ln_1p() / e } else { 1.0 };
    let s = (tail + r / (1.0 + e)) * (1.0 + e) * (1.0 + e);
    let square = r * r;
    let (inv_s, var_inv_s) = if r < 0.1 {
        // Taylor series of tanh(r/2)/r and of {tanh(r/2)/r − ½sech²(r/2)}/r².
        let inverse = [0.5, -1.0 / 24.0, 1.0 / 240.0, -17.0 / 40_320.0, 31.0 / 725_760.0, -691.0 / 159_667_200.0];
        let variance = [1.0 / 12.0, -1.0 / 60.0, 17.0 / 6_720.0, -31.0 / 90_720.0, 691.0 / 15_966_720.0];
        let horner = |c: &[f64]| c.iter().rev().fold(0.0, |sum, c| sum * square + c);
        (horner(&inverse), horner(&variance))
    } else {
        let t = (0.5 * r).tanh();
        let sech = 2.0 * e.sqrt() / (1.0 + e);
        (t / r, (t / r - 0.5 * sech * sech) / square)
    };
    Conditional::of_scale(s, inv_s, var_inv_s)
}

/// Sums over s in more dimensions: the trapezoid rule in τ = log s for s^{−d/2} e^{−Q/2s} q(s).
struct Sums {
    log_total: f64,
    mean: f64,
    mean_inverse: f64,
    variance_inverse: f64,
}

impl Sums {
    /// The integrand is log-concave in τ and analytic for |Im τ| < π/2: with a step of 0.15 or a third of its width the
    /// sums have the digits of a double.
    fn new(forms: Forms) -> Self {
        let (half, q) = (0.5 * forms.dim as f64, forms.q);
        let log_term = |tau: f64| {
            let s = tau.exp();
            kolmogorov::log_density(s) + (1.0 - half) * tau - 0.5 * q / s
        };
        // The mode for the tail e^{−s/2} of q(s), and not below the bulk of q(s) where Q and d are small.
        let fewer = half - 1.0;
        let root = (fewer * fewer + q + PI * PI).sqrt();
        let s = (q + PI * PI) / (root + fewer);
        let width = (0.5 * (s + (q + PI * PI) / s)).sqrt().recip();
        let step = (width / 3.0).min(0.15);
        let start = s.ln();
        let peak = log_term(start);
        let (mut total, mut mean, mut inverse, mut squares) = (0.0, 0.0, 0.0, 0.0);
        // Moments of the ratio of 1/s to that at the start, around 1: nothing cancels where 1/s hardly varies.
        let mut add = |tau: f64| {
            let mass = (log_term(tau) - peak).exp();
            let excess = (start - tau).exp_m1();
            total += mass;
            mean += mass * (tau - start).exp();
            inverse += mass * excess;
            squares += mass * excess * excess;
            mass
        };
        add(start);
        for direction in [-step, step] {
            let mut largest: f64 = 1.0;
            for j in 1..100_000 {
                let mass = add(start + direction * f64::from(j));
                largest = largest.max(mass);
                // 1/s² grows like e^{2|τ|} towards zero, where q(s) falls like e^{−π²/2s}.
                if mass < 1e-22 * largest {
                    break;
                }
            }
        }
        let (mean, inverse, squares) = (mean / total, inverse / total, squares / total);
        Self {
            log_total: peak + (total * step).ln(),
            mean: mean * s,
            mean_inverse: (1.0 + inverse) / s,
            variance_inverse: (squares - inverse * inverse) / (s * s),
        }
    }

    fn conditional(&self) -> Conditional {
        Conditional::of_scale(self.mean, self.mean_inverse, self.variance_inverse)
    }
}
