//! Mixing laws q(w): everything a mean–variance mixture needs of them, as scalar functions.
//!
//! The family is z | w ~ N(μ + u(w) α, s(w) Σ), w ~ q(w) (mathematics §0.5). With P = Σ⁻¹, Q = (z−μ)ᵀP(z−μ), L =
//! (z−μ)ᵀPα and κ = αᵀPα, all that the algorithms ask of q(w) is a function of (Q, L, κ, d). There is no linear algebra
//! here.

mod exponential;
mod generalised_hyperbolic;
mod half_normal;
mod inverse_gamma;
mod inverse_gaussian;
mod lambda;
mod logistic;
mod point_mass;
mod reciprocal_inverse_gaussian;
mod registered;
mod variance_gamma;

pub use exponential::Exponential;
pub use generalised_hyperbolic::GeneralisedHyperbolic;
pub use half_normal::HalfNormal;
pub use inverse_gamma::InverseGamma;
pub use inverse_gaussian::InverseGaussian;
pub(crate) use inverse_gaussian::sample_inverse_gaussian;
pub use logistic::Logistic;
pub use point_mass::PointMass;
pub use reciprocal_inverse_gaussian::ReciprocalInverseGaussian;
pub use registered::Law;
pub use variance_gamma::VarianceGamma;

use crate::Error;
pub use crate::random::MixingNoise;
use crate::rule::log_step;

/// The three scalars of a point, and the dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forms {
    /// d, the dimension of z.
    pub dim: usize,
    /// Q = (z−μ)ᵀP(z−μ).
    pub q: f64,
    /// L = (z−μ)ᵀPα.
    pub l: f64,
    /// κ = αᵀPα.
    pub kappa: f64,
}

/// Moments of the law that enter Ω, Υ and s̄ (mathematics §0.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// E\[u\].
    pub u: f64,
    /// E\[u²\].
    pub uu: f64,
    /// s̄ = E\[s\]; infinite where it does not exist.
    pub s: f64,
    /// E[1/s].
    pub inv_s: f64,
    /// E[u/s].
    pub u_inv_s: f64,
    /// E[u²/s].
    pub uu_inv_s: f64,
}

/// Moments of w given z.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditional {
    /// E[u | z].
    pub u: f64,
    /// E[s | z].
    pub s: f64,
    /// E[1/s | z].
    pub inv_s: f64,
    /// E[u/s | z].
    pub u_inv_s: f64,
    /// Var[1/s | z].
    pub var_inv_s: f64,
    /// Cov[1/s, u/s | z].
    pub cov_inv_s_u_inv_s: f64,
    /// Var[u/s | z].
    pub var_u_inv_s: f64,
}

/// The marginal form of mathematics §3.1, option II: g_α = u(z) ∇f(z) + v₀ ∇f(ẑ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPoint {
    /// u(z).
    pub u: f64,
    /// v₀.
    pub v0: f64,
}

/// H(z) = ½ log|Σ| + h(κ): the part that depends on the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entropy {
    /// h(κ), all constants included.
    pub value: f64,
    /// e(κ) = 2h′(κ) = E[Var(u | z)]: ∇_α H = e Pα and 2∇_Σ H = P − e Pα(Pα)ᵀ.
    pub slope: f64,
}

/// What a law whose constant a fit moves says about that constant (mathematics §2.1, §2.4, §4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeSlopes {
    /// F, the Fisher information of the constant under q(w).
    pub fisher: f64,
    /// ∂H(z)/∂a at fixed Σ, where it has a closed form.
    pub entropy: Option<f64>,
    /// ∂E\[s\]/∂a.
    pub s: f64,
}

/// How a draw moves with the constant of its law at fixed probability: ∂z/∂a = offset (z − μ) + shift α.
///
/// In general ½(s′/s)(z − μ − uα) + u′α, times ∂w/∂a, with the derivatives of s and u in w.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathOfDraw {
    /// ½(s′/s) ∂w/∂a.
    pub offset: f64,
    /// (u′ − ½us′/s) ∂w/∂a.
    pub shift: f64,
}

/// How a start gives a member of a shifted law the third cumulant of its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkewnessOfShift {
    /// E\[u\].
    pub mean: f64,
    /// Var(u).
    pub variance: f64,
    /// |α|, whitened, with which z has the third cumulant that was asked for.
    pub length: f64,
}

/// A mixing law q(w) with its shift u(w) and scale s(w).
pub trait MixingLaw: Copy + PartialEq + Send + Sync + std::fmt::Debug {
    /// The family's name in files, commands and plots.
    const NAME: &'static str;
    /// Names of the constants with their usual values, at most two.
    const CONSTANTS: &'static [(&'static str, f64)];
    /// Whether u(w) is not identically zero, that is, whether α exists.
    const SHIFTED: bool;
    /// Whether w is random.
    const MIXES: bool = true;
    /// Whether [`MixingLaw::entropy`] is known. A law without it has u ∝ s, so that u/s is constant given z.
    const EXACT_ENTROPY: bool = true;

    /// The law with these constants.
    ///
    /// # Errors
    /// If one lies outside its domain.
    fn from_constants(constants: &[f64]) -> Result<Self, Error>;
    /// The constants, in the order of the list.
    fn constants(&self) -> [f64; 2];
    /// The free constant of the law (a or λ), if it has one.
    fn parameter(&self) -> Option<f64>;
    /// A draw of w.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64;
    /// u(w).
    fn shift(&self, w: f64) -> f64;
    /// s(w).
    fn scale(&self, w: f64) -> f64;
    /// Moments of the law.
    fn moments(&self) -> Moments;
    /// Moments of w given z.
    fn conditional(&self, forms: Forms) -> Conditional;
    /// The paper's two-point form of g_α, where it differs from E[u | z].
    fn two_point(&self, forms: Forms) -> Option<TwoPoint> {
        let _ = forms;
        None
    }
    /// log q(z) − ½ log|P|.
    fn log_marginal(&self, forms: Forms) -> f64;
    /// The entropy, where it is known up to a one-dimensional integral; `None`: log q must be averaged over draws.
    fn entropy(&self, kappa: f64, dim: usize) -> Option<Entropy>;
    /// e(κ) alone, where the entropy is known.
    fn entropy_slope(&self, kappa: f64) -> Option<f64> {
        self.entropy(kappa, 1).map(|entropy| entropy.slope)
    }
    /// log q(w), for the exact view of the theory; zero for a point mass.
    fn log_mixing_density(&self, w: f64) -> f64;

    /// The shift with this third cumulant of z along it; none for a law without shift.
    fn skewness_of_shift(&self, third: f64) -> Option<SkewnessOfShift> {
        let _ = third;
        None
    }

    /// Whether a fit moves the constant of the law; the methods below are asked for only then.
    fn is_learned(&self) -> bool {
        false
    }
    /// The law with another constant, cut to where the law exists.
    fn with_parameter(&self, value: f64) -> Self {
        let _ = value;
        *self
    }
    /// The infimum of the constant.
    fn lowest_parameter(&self) -> f64 {
        0.0
    }
    /// The constant after a step β along its natural gradient: a step in the logarithm of its distance from the
    /// infimum, which it changes by at most a factor e.
    fn moved_parameter(&self, natural_gradient: f64, beta: f64) -> f64 {
        self.parameter().map_or(0.0, |now| log_step(now, self.lowest_parameter(), natural_gradient, beta))
    }
    /// ∂w/∂a of a draw at fixed probability: some ten microseconds.
    fn path_derivative(&self, w: f64) -> f64 {
        let _ = w;
        0.0
    }
    /// How z moves with the constant where w moves by `dw`.
    fn path_of_draw(&self, w: f64, dw: f64) -> PathOfDraw {
        let _ = (w, dw);
        PathOfDraw::default()
    }
    /// ∂ log q(w)/∂a.
    fn shape_score(&self, w: f64) -> f64 {
        let _ = w;
        0.0
    }
    /// ∂t(w)/∂w ∂w/∂a of the statistic t whose natural parameter the constant is: its mean is F (mathematics §2.3).
    fn sampled_fisher(&self, w: f64, path_derivative: f64) -> f64 {
        let _ = (w, path_derivative);
        0.0
    }
    /// Information about the constant and slopes in it.
    fn shape_slopes(&self, dim: usize) -> Option<ShapeSlopes> {
        let _ = dim;
        None
    }
    /// F of the marginal q(z) that is left once the size of Σ is fitted, too: what z says about the constant. Up to a
    /// millisecond.
    fn marginal_fisher(&self, dim: usize) -> Option<f64> {
        let _ = dim;
        None
    }
    /// KL(this ‖ other) of the mixing laws.
    fn divergence_from(&self, other: &Self) -> f64 {
        let _ = other;
        0.0
    }
}
