//! What is approximated: an unnormalised log density on ℝᵈ, evaluated on batches of draws.

mod closures;
mod column_scale;
mod constrained;
mod curvature;
mod differences;
mod draws;
#[cfg(feature = "dual")]
mod dual;
mod evaluations;
pub(crate) mod memory;
mod minibatch;
mod on_support;
pub(crate) mod pointwise;
mod prior;
mod shape;
mod support;
mod transform;
mod transforms;

pub use closures::{FromFn, FromFns, FromValues, from_fn, from_fns, from_values};
pub use column_scale::ColumnScale;
pub use constrained::Constrained;
pub use curvature::{Contraction, Covariance, CurvatureMut};
pub(crate) use differences::ByDifferences;
pub use draws::{DrawBuffer, Draws};
#[cfg(feature = "dual")]
pub use dual::{Dual, DualDensity, DualNum};
pub use evaluations::{Evaluations, Scratch};
pub use minibatch::Minibatch;
pub use on_support::OnSupport;
pub use pointwise::{Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, PointwiseValue};
pub use prior::Prior;
pub(crate) use prior::{PriorPrecision, SharedT};
pub use shape::Shape;
pub use support::Support;
pub use transform::Transform;
pub use transforms::Transforms;

use std::borrow::Cow;

/// The data items that an evaluation sums over.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Every item.
    All,
    /// The items with these indices, in this order.
    Subset(&'a [u32]),
}

impl Rows<'_> {
    /// The number of items when the target has `n_rows` of them.
    pub fn len(&self, n_rows: usize) -> usize {
        match self {
            Rows::All => n_rows,
            Rows::Subset(rows) => rows.len(),
        }
    }

    /// The index of item `i` of the selection.
    pub fn index(&self, i: usize) -> usize {
        match self {
            Rows::All => i,
            Rows::Subset(rows) => rows[i] as usize,
        }
    }
}

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
}

/// An unnormalised log density with its gradient.
///
/// The density is `log p(z) = log prior(z) + Σ_n log p(D_n | z)`: [`Target::evaluate`] sums the items, the part declared by
/// [`Target::prior`] is left out there and handled in closed form. Items are summed as they are; the scaling by N/M of a
/// mini-batch belongs to the run.
pub trait Target: Sync {
    /// Number of coordinates of z.
    fn dim(&self) -> usize;

    /// Writes log p and ∇log p at every draw, summed over `rows`.
    ///
    /// A draw at which the density does not exist gets a non-finite log p: it is dropped and counted by the run.
    ///
    /// # Errors
    /// A [`TargetError`] when nothing sensible can be computed at any draw.
    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError>;

    /// Number of data items, if the target is a sum over items that can be subsampled.
    fn n_rows(&self) -> Option<usize> {
        None
    }

    /// The part of log p that is declared instead of evaluated.
    fn prior(&self) -> Prior {
        Prior::None
    }

    /// Second derivatives, if the target has them.
    fn second_order(&self) -> Option<&dyn SecondOrder> {
        None
    }

    /// A generalised Gauss–Newton matrix in place of the Hessian, if the target has one.
    fn gauss_newton(&self) -> Option<&dyn GaussNewton> {
        None
    }

    /// Gradients of single data items, if the target has them.
    fn item_gradients(&self) -> Option<&dyn ItemGradients> {
        None
    }

    /// Whether [`Target::evaluate`] writes gradients; a target that can only say log p leaves them as they are.
    fn has_gradient(&self) -> bool {
        true
    }

    /// Where z lives. The families on ℝᵈ need every coordinate to be [`Support::Real`]; those of [`component`](crate::component)
    /// need the support of their components.
    fn support(&self) -> Support {
        Support::Real
    }

    /// The same density with its support declared: for functions of positive numbers, of probabilities or of angles.
    ///
    /// ```
    /// use elinvar::component::ComponentKind;
    /// use elinvar::target::{Support, Target, from_fn};
    /// use elinvar::{Family, Plan};
    ///
    /// // An exponential law of rate 2.
    /// let target = from_fn(1, |z, grad| {
    ///     grad[0] = -2.0;
    ///     -2.0 * z[0]
    /// });
    /// let family = Family::ef_mixture(ComponentKind::new("exponential", None)?, 1);
    /// let posterior = elinvar::fit(&target.on(Support::Positive), family, &Plan::default())?;
    /// assert!((posterior.approximation().mean()[0] - 0.5).abs() < 0.01);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    fn on(self, support: Support) -> OnSupport<Self>
    where
        Self: Sized,
    {
        OnSupport::new(self, support)
    }

    /// log p without its gradient, if that is cheaper.
    fn values(&self) -> Option<&dyn Values> {
        None
    }

    /// Length of the [`Scratch`] that an evaluation of `n_draws` draws with `n_contractions` contractions uses.
    fn scratch_len(&self, n_draws: usize, n_contractions: usize) -> usize {
        let _ = (n_draws, n_contractions);
        0
    }

    /// Names of the coordinates of z.
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|i| format!("z{i}")).collect()
    }

    /// The map from z to the scale on which results are reported.
    fn transforms(&self) -> Transforms {
        Transforms::identity(self.dim())
    }

    /// Names of the coordinates on the scale of [`Target::transforms`].
    fn constrained_names(&self) -> Vec<String> {
        self.names()
    }
}

/// The log density of a target alone: what diagnostics ask for.
pub trait Values: Target {
    /// Writes log p at every draw, summed over `rows`, as [`Target::evaluate`] does up to rounding.
    ///
    /// # Errors
    /// A [`TargetError`] when nothing sensible can be computed at any draw.
    fn log_densities(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) -> Result<(), TargetError>;
}

/// A positive semi-definite stand-in for −∇²log p: JᵀHJ with J the Jacobian of the model's outputs and H the curvature of the loss.
pub trait GaussNewton: Target {
    /// Adds −Σ_s weight\[k\]\[s\] JᵀHJ(z_s) to `out`, with the sign and the conventions of [`SecondOrder::contract`].
    ///
    /// # Errors
    /// A [`TargetError`] when it cannot be computed.
    fn contract_gauss_newton(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError>;
}

/// Gradients of the items of a sum, one by one: what curvature by squared gradients needs.
pub trait ItemGradients: Target {
    /// Writes ∇log p(D_n | z) for each of `rows`, one after the other (d numbers each).
    ///
    /// # Errors
    /// A [`TargetError`] when they cannot be computed.
    fn item_gradients(
        &self,
        z: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) -> Result<(), TargetError>;
}

/// Second derivatives of a target, contracted over draws.
///
/// The weights of the draws are known before the target is asked, so a generalised linear model needs one
/// `Xᵀ diag(r) X` per contraction instead of one per draw.
pub trait SecondOrder: Target {
    /// Adds Σ_s weight\[k\]\[s\] ∇²log p(z_s) to `out` (which arrives zeroed) for each contraction k, without the declared prior.
    ///
    /// A draw of weight zero adds nothing, whatever its Hessian: this is how a dropped draw is left out. A draw of another
    /// weight at which the Hessian does not exist makes its sums NaN.
    ///
    /// # Errors
    /// A [`TargetError`] when the second derivatives cannot be computed.
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError>;

    /// [`Target::evaluate`] and [`SecondOrder::contract`] in one pass over the data.
    ///
    /// # Errors
    /// As the two parts.
    fn evaluate_and_contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        out: &mut Evaluations,
        curvature: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.evaluate(draws, rows, out)?;
        self.contract(draws, rows, contraction, out.scratch_mut(), curvature)
    }
}
