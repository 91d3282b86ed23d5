//! What is approximated: an unnormalised log density on ℝᵈ, evaluated on batches of draws.

mod about;
mod answer;
pub(crate) mod around;
mod ask;
pub(crate) mod by_point;
mod column_scale;
mod curvature;
mod draws;
pub(crate) mod fault;
pub(crate) mod minibatch;
mod model;
mod parameters;
mod prior;
mod row_space;
mod shape;
pub mod shards;
mod support;
mod transform;
mod transforms;

pub use about::{About, Concavity, Derivatives, Guess, Offers, Room};
pub use answer::{Answer, Parts, Scratch};
pub use around::{Borrowed, Constrained, OnSupport, WithPrior};
pub(crate) use around::{ByDifferences, FreeScale, FreeSimplex};
pub use ask::{Ask, Rows, Want};
pub use by_point::density::{Density, log_density, log_density_only};
#[cfg(feature = "dual")]
pub use by_point::dual::{Dual, DualDensity, DualNum};
pub use by_point::{
    FromFn, FromFns, FromValues, Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, PointwiseValue,
    SumOverRows, from_fn, from_fns, from_values, sum_over_rows,
};
pub use column_scale::ColumnScale;
pub use curvature::{Contraction, CurvatureMut};
pub use draws::{DrawBuffer, Draws};
pub use fault::Fault;
pub(crate) use minibatch::Minibatch;
pub use model::Model;
pub use parameters::{Parameters, Size};
pub use prior::Prior;
pub(crate) use prior::{PriorPrecision, SharedT};
pub use row_space::RowSpace;
pub use shape::{Covariance, Shape};
pub use support::Support;
pub use transform::Transform;
pub(crate) use transforms::Combination;
pub use transforms::Transforms;

use std::borrow::Cow;

/// Why a target could not be evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the model could not be evaluated: {message}")]
pub struct TargetError {
    /// What happened, as a sentence; a fixed one costs no allocation, which matters where many draws fail.
    pub message: Cow<'static, str>,
    /// Whether leaving out the draw is a remedy; otherwise the fit ends.
    pub recoverable: bool,
}

impl TargetError {
    /// A failure at one draw only: the draw is dropped and counted.
    pub fn recoverable(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), recoverable: true }
    }

    /// A failure that ends the fit.
    pub fn fatal(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), recoverable: false }
    }

    /// What to say when a target is asked for what it does not offer.
    pub fn not_offered() -> Self {
        Self::fatal("the target was asked for derivatives that it does not offer")
    }
}

/// An unnormalised log density.
///
/// The density is `log p(z) = log prior(z) + Σ_n log p(D_n | z)`: [`Target::evaluate`] sums the items; the prior that
/// [`About`] declares is left out there and handled in closed form. Items are summed as they are; the scaling by N/M of
/// a mini-batch belongs to the run.
///
/// ```
/// use elinvar::research::target::{About, Answer, Ask, Target, TargetError, Want};
///
/// /// A standard normal in two dimensions.
/// struct Round;
///
/// impl Target for Round {
///     fn about(&self) -> About {
///         About::new(2)
///     }
///
///     fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
///         for (s, z) in ask.draws.iter().enumerate() {
///             answer.log_p_mut()[s] = -0.5 * (z[0] * z[0] + z[1] * z[1]);
///             answer.grad_mut(s).iter_mut().zip(z).for_each(|(g, z)| *g = -z);
///         }
///         Ok(())
///     }
/// }
/// let posterior = elinvar::Fit::new(&Round).family(elinvar::Family::gaussian()).run()?;
/// // A fit ends within 0.01 nats of the best Gaussian, and a mean m costs ½m².
/// assert!(posterior.approximation().mean()[0].abs() < 0.15);
/// # Ok::<(), elinvar::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a model nor a target",
    note = "implement `elinvar::Model` (one point at a time) or `elinvar::research::target::Target` (whole batches), or make a model from a closure by `elinvar::log_density`"
)]
pub trait Target: Sync {
    /// Names, scales, support, prior, rows, what it can answer. Asked for once per fit, so it need not be stored.
    fn about(&self) -> About;

    /// Answers the request at every draw, summed over its rows. Nothing is asked that [`About`] does not offer.
    ///
    /// Sums of second derivatives arrive zeroed. A draw at which the density does not exist gets a non-finite log p: it
    /// is dropped and counted by the run.
    ///
    /// # Errors
    /// A [`TargetError`] when nothing sensible can be computed at any draw.
    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError>;

    /// Number of coordinates of z.
    fn dim(&self) -> usize {
        self.about().dim
    }

    /// The same density with its support declared: for functions of positive numbers, of probabilities or of angles.
    ///
    /// ```
    /// use elinvar::research::component::ComponentKind;
    /// use elinvar::research::target::{Support, Target, from_fn};
    /// use elinvar::{Family, Plan};
    ///
    /// // An exponential law of rate 2.
    /// let target = from_fn(1, |z, grad| {
    ///     grad[0] = -2.0;
    ///     -2.0 * z[0]
    /// });
    /// let family = Family::ef_mixture(ComponentKind::new("exponential", None)?, 1);
    /// let posterior = elinvar::Fit::new(&target.on(Support::Positive)).family(family).run()?;
    /// assert!((posterior.approximation().mean()[0] - 0.5).abs() < 0.01);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    fn on(self, support: Support) -> OnSupport<Self>
    where
        Self: Sized,
    {
        OnSupport::new(self, support)
    }
}
