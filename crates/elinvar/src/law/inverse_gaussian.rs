//! Inverse-Gaussian mean and scale mixing: the normal inverse-Gaussian law (mathematics §4.1).

use std::f64::consts::LN_2;

use super::lambda::{FIRST_LAMBDA, Lambda};
use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, PathOfDraw, ShapeSlopes, SkewnessOfShift};
use crate::Error;
use crate::special::bessel_k::{bessel_k, paper_ratio};
use crate::special::implicit::inverse_gaussian_log_density;
use crate::special::normal::HALF_LOG_TWO_PI;

/// w ~ InvGauss(1, λ), u(w) = s(w) = w: z is normal inverse-Gaussian.
///
/// Paper: App. G.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGaussian {
    lambda: Lambda,
}

impl InverseGaussian {
    /// The law with E\[w\] = 1 and Var(w) = 1/λ.
    ///
    /// # Errors
    /// [`Error::Domain`] unless λ is finite and positive.
    pub fn new(lambda: f64) -> Result<Self, Error> {
        Ok(Self { lambda: Lambda::fixed(lambda)? })
    }

    /// The law with any λ, as somebody asks for it.
    pub(crate) fn unchecked(lambda: f64) -> Self {
        Self { lambda: Lambda { value: lambda, learn: false } }
    }

    fn conditional_of(a: f64, b: f64, k: Ratios) -> Conditional {
        let mean = (b / a).sqrt() * k.lower;
        Conditional {
            u: mean,
            s: mean,
            inv_s: (a / b).sqrt() * k.upper,
            u_inv_s: 1.0,
            var_inv_s: a / b * k.turan,
            ..Conditional::default()
        }
    }
}

/// K_{v−1}/K_v, K_{v+1}/K_v and K_{v+2}/K_v − (K_{v+1}/K_v)².
#[derive(Clone, Copy)]
pub(super) struct Ratios {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) turan: f64,
}

impl Ratios {
    /// The first by the mean of the paper's bounds, which hold for v ≥ ½, the others from it by the recurrence.
    pub(super) fn by_bounds(v: f64, x: f64) -> Self {
        let lower = paper_ratio(v, x);
        let upper = lower + 2.0 * v / x;
        Self { lower, upper, turan: 1.0 + 2.0 * (v + 1.0) / x * upper - upper * upper }
    }
}

impl MixingLaw for InverseGaussian {
    const NAME: &'static str = "nig";
    const FAMILY: Option<&'static str> = Some("normal inverse-Gaussian");
    const FIRST: Option<f64> = Some(FIRST_LAMBDA);
    const CONSTANTS: &'static [(&'static str, f64)] = &[("lambda", 2.0)];
    const SHIFTED: bool = true;
    const EXACT_ENTROPY: bool = false;

    fn from_constants(constants: &[f64]) -> Result<Self, Error> {
        Self::new(constants[0])
    }

    fn constants(&self) -> [f64; 2] {
        [self.lambda.value, 0.0]
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        sample_inverse_gaussian(self.lambda.value, noise)
    }

    fn shift(&self, w: f64) -> f64 {
        w
    }

    fn scale(&self, w: f64) -> f64 {
        w
    }

    fn moments(&self) -> Moments {
        let inverse = 1.0 + 1.0 / self.lambda.value;
        Moments { u: 1.0, uu: inverse, s: 1.0, inv_s: inverse, u_inv_s: 1.0, uu_inv_s: 1.0 }
    }

    /// w | z ~ GIG(−(d+1)/2, κ + λ, Q + λ).
    fn conditional(&self, forms: Forms) -> Conditional {
        let (a, b) = (forms.kappa + self.lambda.value, forms.q + self.lambda.value);
        let k = bessel_k(0.5 * (forms.dim as f64 + 1.0), (a * b).sqrt());
        Self::conditional_of(a, b, Ratios { lower: k.ratio, upper: k.upper_ratio, turan: k.turan() })
    }

    fn conditional_by_bounds(&self, forms: Forms) -> Conditional {
        let (a, b) = (forms.kappa + self.lambda.value, forms.q + self.lambda.value);
        Self::conditional_of(a, b, Ratios::by_bounds(0.5 * (forms.dim as f64 + 1.0), (a * b).sqrt()))
    }

    fn log_marginal(&self, forms: Forms) -> f64 {
        let Forms { dim, q, l, kappa } = forms;
        let lambda = self.lambda.value;
        let order = 0.5 * (dim as f64 + 1.0);
        let (a, b) = (kappa + lambda, q + lambda);
        let x = (a * b).sqrt();
        // L + λ − x; Ab − (L+λ)² = (κQ − L²) + λ(κ + Q − 2L), both parts non-negative by Cauchy–Schwarz.
        let sum = l + lambda;
        let gap = if sum > 0.0 {
            -((kappa * q - l * l).max(0.0) + lambda * (kappa + q - 2.0 * l).max(0.0)) / (x + sum)
        } else {
            sum - x
        };
        0.5 * lambda.ln() - 2.0 * order * HALF_LOG_TWO_PI
            + LN_2
            + gap
            + bessel_k(order, x).log_scaled
            + 0.5 * order * (a / b).ln()
    }

    fn entropy(&self, _kappa: f64, _dim: usize) -> Option<Entropy> {
        None
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        inverse_gaussian_log_density(1.0, self.lambda.value, w)
    }

    fn skewness_of_shift(&self, third: f64) -> Option<SkewnessOfShift> {
        Some(SkewnessOfShift { mean: 1.0, variance: 1.0 / self.lambda.value, length: third * self.lambda.value / 3.0 })
    }

    fn lambda(&self) -> Option<Lambda> {
        Some(self.lambda)
    }

    fn with_learning(self, learn: bool) -> Self {
        Self { lambda: Lambda { learn, ..self.lambda } }
    }

    fn with_parameter(&self, value: f64) -> Self {
        Self { lambda: self.lambda.with(value) }
    }

    /// ∂_λ w {(z − μ − wα)/(2w) + α}.
    fn path_of_draw(&self, w: f64, dw: f64) -> PathOfDraw {
        PathOfDraw { offset: 0.5 * dw / w, shift: 0.5 * dw }
    }

    fn shape_slopes(&self, _dim: usize) -> Option<ShapeSlopes> {
        Some(ShapeSlopes { fisher: self.lambda.fisher(), entropy: None, s: 0.0 })
    }
}

/// Michael, Schucany and Haas (1976) for InvGauss(1, λ): the smaller root of its quadratic in the form that does not
/// cancel.
pub(crate) fn sample_inverse_gaussian<N: MixingNoise + ?Sized>(lambda: f64, noise: &mut N) -> f64 {
    let normal = noise.normal();
    let y = normal * normal;
    let x = 2.0 * lambda / (2.0 * lambda + y + (y * (4.0 * lambda + y)).sqrt());
    if noise.uniform() * (1.0 + x) <= 1.0 { x } else { 1.0 / x }
}
