//! Generalised inverse Gaussian scale mixing: the symmetric generalised hyperbolic law (mathematics §10.6).

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, entropy_of_radius};
use crate::Error;
use crate::special::gig::Gig;
use crate::special::normal::HALF_LOG_TWO_PI;

/// s ~ GIG(p, ω/η, ωη) with η such that E\[s\] = 1: p = −½ is the symmetric normal inverse-Gaussian law, p = 1 the
/// hyperbolic one in one dimension; ω → ∞ is the Gaussian, and ω → 0 with p > 1 the variance-gamma law. Tails
/// e^{−√(ω/η)|z|}.
///
/// Paper: §4.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralisedHyperbolic {
    constants: Constants,
    /// The law of s.
    gig: Gig,
    eta: f64,
    sampler: Sampler,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Constants {
    p: f64,
    omega: f64,
}

impl GeneralisedHyperbolic {
    /// The law with index p and concentration ω.
    ///
    /// # Errors
    /// [`Error::Domain`] unless |p| ≤ 100 and 10⁻⁶ ≤ ω ≤ 10⁸.
    pub fn new(p: f64, omega: f64) -> Result<Self, Error> {
        if p.is_nan() || p.abs() > 100.0 {
            return Err(Error::Domain { parameter: "p", value: p, reason: "the index lies between −100 and 100" });
        }
        if !(1e-6..=1e8).contains(&omega) {
            return Err(Error::Domain { parameter: "omega", value: omega, reason: "it lies between 1e-6 and 1e8" });
        }
        let eta = Gig { p, a: omega, b: omega }.moments().mean.recip();
        let gig = Gig { p, a: omega / eta, b: omega * eta };
        Ok(Self { constants: Constants { p, omega }, gig, eta, sampler: Sampler::new(p.abs(), omega) })
    }

    /// s | z ~ GIG(p − d/2, ω/η, ωη + Q).
    fn posterior(&self, forms: Forms) -> Gig {
        Gig { p: self.gig.p - 0.5 * forms.dim as f64, b: self.gig.b + forms.q, ..self.gig }
    }
}

impl MixingLaw for GeneralisedHyperbolic {
    const NAME: &'static str = "generalised_hyperbolic";
    const CONSTANTS: &'static [(&'static str, f64)] = &[("p", 1.0), ("omega", 1.0)];

    fn from_constants(constants: &[f64]) -> Result<Self, Error> {
        Self::new(constants[0], constants[1])
    }

    fn constants(&self) -> [f64; 2] {
        [self.constants.p, self.constants.omega]
    }

    fn parameter(&self) -> Option<f64> {
        Some(self.constants.omega)
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        let draw = self.sampler.sample(noise);
        self.eta * if self.gig.p < 0.0 { draw.recip() } else { draw }
    }

    fn scale(&self, w: f64) -> f64 {
        w
    }

    fn moments(&self) -> Moments {
        let inv_s = self.gig.moments().mean_inverse;
        Moments::of_scale(1.0, inv_s)
    }

    fn conditional(&self, forms: Forms) -> Conditional {
        let m = self.posterior(forms).moments();
        Conditional::of_scale(m.mean, m.mean_inverse, m.variance_inverse)
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let posterior = self.posterior(forms);
        // ω − x without cancellation.
        let gap = -self.gig.a * forms.q / (posterior.x() + self.gig.x());
        posterior.log_normaliser_plus_x() - self.gig.log_normaliser_plus_x() + gap - forms.dim as f64 * HALF_LOG_TWO_PI
    }

    fn entropy(&self, _kappa: f64, dim: usize) -> Option<Entropy> {
        Some(Entropy::of_scale(entropy_of_radius(self, dim)))
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        if w <= 0.0 {
            return f64::NEG_INFINITY;
        }
        // ½(As + b/s) − ω is half ω times the square of √(s/η) − √(η/s).
        let root = (w / self.eta).sqrt();
        let distance = root - root.recip();
        (self.gig.p - 1.0) * w.ln()
            - 0.5 * self.constants.omega * distance * distance
            - self.gig.log_normaliser_plus_x()
    }
}

/// Devroye (2014) for GIG(λ, ω, ω), λ ≥ 0: log x has a log-concave density, under a hat of a plateau and two
/// exponential tails.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sampler {
    lambda: f64,
    alpha: f64,
    mode: f64,
    /// The plateau reaches from −left to right.
    left: f64,
    right: f64,
    /// Where the tails touch the density, their rates, and its logarithm there.
    lower: Tail,
    upper: Tail,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tail {
    at: f64,
    rate: f64,
    drop: f64,
}

impl Sampler {
    fn new(lambda: f64, omega: f64) -> Self {
        let radius = omega.hypot(lambda);
        let alpha = omega * omega / (radius + lambda);
        let mut sampler = Self {
            lambda,
            alpha,
            mode: (lambda + radius) / omega,
            left: 0.0,
            right: 0.0,
            lower: Tail { at: 0.0, rate: 0.0, drop: 0.0 },
            upper: Tail { at: 0.0, rate: 0.0, drop: 0.0 },
        };
        let right = match -sampler.log_density(1.0) {
            drop if drop > 2.0 => (2.0 / (alpha + lambda)).sqrt(),
            drop if drop < 0.5 => (4.0 / (alpha + 2.0 * lambda)).ln(),
            _ => 1.0,
        };
        let left = match -sampler.log_density(-1.0) {
            drop if drop > 2.0 => (4.0 / (alpha * 1f64.cosh() + lambda)).sqrt(),
            drop if drop < 0.5 => lambda.recip().min((alpha.recip() * (1.0 + (1.0 + 2.0 * alpha).sqrt())).ln_1p()),
            _ => 1.0,
        };
        let tail = |at: f64| Tail { at, rate: sampler.slope(at).abs(), drop: -sampler.log_density(at) };
        (sampler.lower, sampler.upper) = (tail(-left), tail(right));
        sampler.left = left - sampler.lower.drop / sampler.lower.rate;
        sampler.right = right - sampler.upper.drop / sampler.upper.rate;
        sampler
    }

    /// The log density of log(x/mode), zero at its mode 0.
    fn log_density(&self, y: f64) -> f64 {
        -self.alpha * (y.cosh() - 1.0) - self.lambda * (y.exp_m1() - y)
    }

    fn slope(&self, y: f64) -> f64 {
        -self.alpha * y.sinh() - self.lambda * y.exp_m1()
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        let (below, above) = (self.lower.rate.recip(), self.upper.rate.recip());
        let plateau = self.left + self.right;
        let total = below + plateau + above;
        loop {
            let (u, v) = (noise.uniform() * total, noise.uniform());
            let (y, log_hat) = if u < plateau {
                (-self.left + plateau * v, 0.0)
            } else if u < plateau + above {
                let y = self.right - above * v.ln();
                (y, -self.upper.drop - self.upper.rate * (y - self.upper.at))
            } else {
                let y = -self.left + below * v.ln();
                (y, -self.lower.drop + self.lower.rate * (y - self.lower.at))
            };
            if noise.uniform().ln() + log_hat <= self.log_density(y) {
                return self.mode * y.exp();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hat_covers_the_density() {
        for lambda in [0.0, 0.3, 1.0, 7.0, 100.0] {
            for omega in [1e-6, 0.01, 0.5, 2.0, 50.0, 1e8] {
                let s = Sampler::new(lambda, omega);
                assert!(s.left >= 0.0 && s.right >= 0.0 && s.lower.rate > 0.0 && s.upper.rate > 0.0, "{s:?}");
                for i in -400..=400 {
                    let y = f64::from(i) * 0.05 * (s.left + s.right);
                    let hat = if y > s.right {
                        -s.upper.drop - s.upper.rate * (y - s.upper.at)
                    } else if y < -s.left {
                        -s.lower.drop + s.lower.rate * (y - s.lower.at)
                    } else {
                        0.0
                    };
                    assert!(s.log_density(y) <= hat + 1e-9, "λ = {lambda}, ω = {omega}, y = {y}");
                }
                // The mass under the hat against that of the density: few are rejected.
                let step = 1e-3 * (s.left + s.right + s.lower.rate.recip() + s.upper.rate.recip());
                let mass: f64 = (-10_000..10_000).map(|i| s.log_density(f64::from(i) * step).exp() * step).sum();
                let hat = s.left + s.right + s.lower.rate.recip() + s.upper.rate.recip();
                assert!(mass / hat > 0.3, "λ = {lambda}, ω = {omega}: {} accepted", mass / hat);
            }
        }
    }
}
