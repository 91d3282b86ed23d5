//! What a mean–variance mixture needs of its mixing law: the trait that a law implements, and its answers.

use super::lambda::Lambda;
use crate::Error;
use crate::random::MixingNoise;
use crate::rule::log_step;
use crate::special::radial::radial_entropy;

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

impl Moments {
    /// Those of a law without shift.
    pub(super) fn of_scale(s: f64, inv_s: f64) -> Self {
        Self { u: 0.0, uu: 0.0, s, inv_s, u_inv_s: 0.0, uu_inv_s: 0.0 }
    }
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

impl Conditional {
    /// Those of a law without shift.
    pub(super) fn of_scale(s: f64, inv_s: f64, var_inv_s: f64) -> Self {
        Self { s, inv_s, var_inv_s, ..Self::default() }
    }
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

impl Entropy {
    /// That of a law without shift.
    pub(super) fn of_scale(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
}

/// The entropy under a law without shift, by an integral over the radius √Q, which is about √(d E\[s\]).
pub(super) fn entropy_of_radius<L: MixingLaw>(law: &L, dim: usize) -> f64 {
    let typical = (dim as f64 * law.moments().s).sqrt();
    radial_entropy(dim, typical, |q| law.log_marginal(Forms { dim, q, ..Forms::default() }))
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
    /// What sentences call the family, where the law makes one of its own.
    const FAMILY: Option<&'static str> = None;
    /// Where a constant that a fit moves begins, if a fit can move it.
    const FIRST: Option<f64> = None;
    /// Names of the constants with their usual values, at most two.
    const CONSTANTS: &'static [(&'static str, f64)] = &[];
    /// Whether u(w) is not identically zero, that is, whether α exists.
    const SHIFTED: bool = false;
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
    fn constants(&self) -> [f64; 2] {
        [0.0; 2]
    }
    /// The free constant of the law (a or λ), if it has one.
    fn parameter(&self) -> Option<f64> {
        Self::CONSTANTS.first().map(|_| self.constants()[0])
    }
    /// A draw of w.
    fn sample<N: MixingNoise + ?Sized>(&self, noise: &mut N) -> f64;
    /// u(w).
    fn shift(&self, w: f64) -> f64 {
        let _ = w;
        0.0
    }
    /// s(w).
    fn scale(&self, w: f64) -> f64;
    /// Moments of the law.
    fn moments(&self) -> Moments;
    /// Moments of w given z.
    fn conditional(&self, forms: Forms) -> Conditional;
    /// The same with ratios of Bessel functions by the mean of the paper's bounds, where the law has such ratios.
    fn conditional_by_bounds(&self, forms: Forms) -> Conditional {
        self.conditional(forms)
    }
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
        if Self::SHIFTED { Some(self.entropy(kappa, 1)?.slope) } else { Some(0.0) }
    }
    /// log q(w), for the exact view of the theory; zero for a point mass.
    fn log_mixing_density(&self, w: f64) -> f64;

    /// The shift with this third cumulant of z along it; none for a law without shift.
    fn skewness_of_shift(&self, third: f64) -> Option<SkewnessOfShift> {
        let _ = third;
        None
    }

    /// λ, where w ~ InvGauss(1, λ): what follows is then known of it.
    fn lambda(&self) -> Option<Lambda> {
        None
    }
    /// Whether a fit moves the constant of the law; the methods below are asked for only then.
    fn is_learned(&self) -> bool {
        self.lambda().is_some_and(|lambda| lambda.learn)
    }
    /// The law with a constant that a fit moves, if it can, or with one that stays.
    fn with_learning(self, learn: bool) -> Self {
        let _ = learn;
        self
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
        self.lambda().map_or(0.0, |lambda| lambda.path_derivative(w))
    }
    /// How z moves with the constant where w moves by `dw`.
    fn path_of_draw(&self, w: f64, dw: f64) -> PathOfDraw {
        let _ = (w, dw);
        PathOfDraw::default()
    }
    /// ∂ log q(w)/∂a.
    fn shape_score(&self, w: f64) -> f64 {
        self.lambda().map_or(0.0, |lambda| lambda.score(w))
    }
    /// ∂t(w)/∂w ∂w/∂a of the statistic t whose natural parameter the constant is: its mean is F (mathematics §2.3).
    fn sampled_fisher(&self, w: f64, path_derivative: f64) -> f64 {
        self.lambda().map_or(0.0, |_| Lambda::sampled_fisher(w, path_derivative))
    }
    /// Information about the constant and slopes in it.
    fn shape_slopes(&self, dim: usize) -> Option<ShapeSlopes> {
        let _ = dim;
        None
    }
    /// F of the marginal q(z) that is left once the size of Σ is fitted, too: what z says about the constant. Up to a
    /// millisecond.
    fn marginal_fisher(&self, dim: usize) -> Option<f64> {
        self.lambda().map(|lambda| lambda.marginal_fisher(self, dim))
    }
    /// KL(this ‖ other) of the mixing laws.
    fn divergence_from(&self, other: &Self) -> f64 {
        self.lambda().zip(other.lambda()).map_or(0.0, |(lambda, other)| lambda.divergence_from(other))
    }

    /// The family in a sentence; `number` writes its constants.
    fn in_words(&self, number: fn(f64) -> String) -> String {
        let words = Self::FAMILY.unwrap_or(Self::NAME);
        let letter = |name: &'static str| if name == "lambda" { "λ" } else { name };
        let constant =
            |((name, _), value): (&(&'static str, f64), f64)| format!("{} = {}", letter(name), number(value));
        let constants: Vec<String> = Self::CONSTANTS.iter().zip(self.constants()).map(constant).collect();
        let learned = if self.is_learned() { ", learned" } else { "" };
        if constants.is_empty() { words.into() } else { format!("{words} ({}{learned})", constants.join(", ")) }
    }
}
