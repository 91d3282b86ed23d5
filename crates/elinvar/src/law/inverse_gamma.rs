//! Inverse-gamma scale mixing: Student's t (mathematics §2).

use super::{Conditional, Entropy, Forms, MixingLaw, MixingNoise, Moments, PathOfDraw, ShapeSlopes};
use crate::Error;
use crate::special::gamma::{digamma_minus_log, ln_gamma_ratio, log1p_minus, stirling_remainder, trigamma_minus_inv};
use crate::special::implicit::inverse_gamma_derivative;
use crate::special::normal::HALF_LOG_TWO_PI;

/// A learned a stays between these. Above the upper one the law is a Gaussian for all purposes: the two differ by less
/// than 1e−12 d² nats, and a Gaussian target would push a up for ever.
const LEARNED: std::ops::RangeInclusive<f64> = 1.000_001..=1e6;

/// w ~ IG(a, a), s(w) = w: z is Student's t with 2a degrees of freedom and scale matrix Σ.
///
/// a > 1: below that neither the covariance nor the expectation of a Gaussian prior exists.
///
/// Paper: §4.2, eq. (17), App. D.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseGamma {
    a: f64,
    /// Whether a fit moves a.
    learn: bool,
}

impl InverseGamma {
    /// The law with shape a.
    ///
    /// # Errors
    /// [`Error::Domain`] unless a is finite and larger than 1.
    pub fn new(a: f64) -> Result<Self, Error> {
        if a > 1.0 && a.is_finite() {
            Ok(Self { a, learn: false })
        } else {
            let reason = "a Student-t approximation needs a > 1: below that it has no covariance";
            Err(Error::Domain { parameter: "a", value: a, reason })
        }
    }

    /// The law with any a: as somebody asks for it, or that of w under a t prior, which needs no covariance.
    pub(crate) fn unchecked(a: f64) -> Self {
        Self { a, learn: false }
    }

    /// The shape a: half the degrees of freedom.
    pub fn shape(&self) -> f64 {
        self.a
    }
}

impl MixingLaw for InverseGamma {
    const NAME: &'static str = "student_t";
    const FAMILY: Option<&'static str> = Some("Student-t");
    const FIRST: Option<f64> = Some(2.5);
    const CONSTANTS: &'static [(&'static str, f64)] = &[("a", 4.0)];

    fn from_constants(constants: &[f64]) -> Result<Self, Error> {
        Self::new(constants[0])
    }

    fn constants(&self) -> [f64; 2] {
        [self.a, 0.0]
    }

    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64 {
        self.a / noise.gamma(self.a)
    }

    fn scale(&self, w: f64) -> f64 {
        w
    }

    fn moments(&self) -> Moments {
        Moments::of_scale(self.a / (self.a - 1.0), 1.0)
    }

    /// w | z ~ IG(a + d/2, a + Q/2).
    fn conditional(&self, forms: Forms) -> Conditional {
        let shape = self.a + 0.5 * forms.dim as f64;
        let scale = self.a + 0.5 * forms.q;
        Conditional::of_scale(scale / (shape - 1.0), shape / scale, shape / (scale * scale))
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
        let gaussian = dim as f64 * HALF_LOG_TWO_PI;
        Some(Entropy::of_scale(gaussian - ln_gamma_ratio(a, half_dim) + b * digamma_difference))
    }

    fn log_mixing_density(&self, w: f64) -> f64 {
        // a log a − log Γ(a) − (a+1) log w − a/w around its mode, where its terms of size a cancel.
        let normaliser = 0.5 * self.a.ln() - HALF_LOG_TWO_PI - stirling_remainder(self.a);
        normaliser + self.a * log1p_minus(1.0 / w - 1.0) - w.ln()
    }

    fn is_learned(&self) -> bool {
        self.learn
    }

    fn with_learning(self, learn: bool) -> Self {
        Self { learn, ..self }
    }

    fn with_parameter(&self, value: f64) -> Self {
        if !value.is_finite() {
            return *self;
        }
        Self { a: value.clamp(*LEARNED.start(), *LEARNED.end()), ..*self }
    }

    fn lowest_parameter(&self) -> f64 {
        1.0
    }

    fn path_derivative(&self, w: f64) -> f64 {
        inverse_gamma_derivative(self.a, w)
    }

    /// ∂_a w/(2w) (z − μ).
    fn path_of_draw(&self, w: f64, dw: f64) -> PathOfDraw {
        PathOfDraw { offset: 0.5 * dw / w, shift: 0.0 }
    }

    /// −1/w − log w − m_a.
    fn shape_score(&self, w: f64) -> f64 {
        log1p_minus(1.0 / w - 1.0) - digamma_minus_log(self.a)
    }

    /// (1 − w)/w² ∂_a w.
    fn sampled_fisher(&self, w: f64, path_derivative: f64) -> f64 {
        (1.0 - w) / (w * w) * path_derivative
    }

    /// F_a = ψ′(a) − 1/a, ∂_a H = (a + d/2){ψ′(a + d/2) − ψ′(a)} + d/(2a) and ∂E\[w\]/∂a = −1/(a − 1)².
    ///
    /// Paper: §4.2, App. D.
    fn shape_slopes(&self, dim: usize) -> Option<ShapeSlopes> {
        let (a, b) = (self.a, self.a + 0.5 * dim as f64);
        let fisher = trigamma_minus_inv(a);
        // (a + d/2)(1/b − 1/a) + d/(2a) = 0.
        let entropy = Some(b * (trigamma_minus_inv(b) - fisher));
        Some(ShapeSlopes { fisher, entropy, s: -1.0 / ((a - 1.0) * (a - 1.0)) })
    }

    /// That of B = Q/(2a + Q) ~ Beta(d/2, a), whose score is log(1 − B) + B(a + d/2)/a, without what it shares with the
    /// score (a + d/2)B of log|Σ|: Var log(1 − B) − Cov(B, log(1 − B))²/Var B.
    fn marginal_fisher(&self, dim: usize) -> Option<f64> {
        let (a, half) = (self.a, 0.5 * dim as f64);
        let b = a + half;
        let fisher = trigamma_minus_inv(a);
        // ψ′(b) − ψ′(a), of which 1/b − 1/a is taken apart.
        let excess = trigamma_minus_inv(b) - fisher;
        // For large a the terms of order 1/a² cancel: d/2 (d/2 + 1)/(2 a⁴) is left.
        let exact = half / (a * b) - excess - half * (b + 1.0) / (a * b * b);
        let limit = 0.5 * half * (half + 1.0) / (a * a * b * b);
        let marginal = if a > 1e3 { limit } else { exact };
        Some(marginal.clamp(f64::MIN_POSITIVE, fisher))
    }

    /// (a − a₀)(ψ(a) − log a) + ½ log(a/a₀) − c(a) + c(a₀) with Stirling's remainder c.
    fn divergence_from(&self, other: &Self) -> f64 {
        let (a, from) = (self.a, other.a);
        let remainders = stirling_remainder(from) - stirling_remainder(a);
        (a - from) * digamma_minus_log(a) + 0.5 * (a / from).ln() + remainders
    }

    fn in_words(&self, number: fn(f64) -> String) -> String {
        let learned = if self.learn { " (learned)" } else { "" };
        format!("Student-t with {} degrees of freedom{learned}", number(2.0 * self.a))
    }
}
