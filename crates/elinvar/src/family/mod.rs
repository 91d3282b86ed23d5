//! The approximations: how they draw, how they turn evaluations into a gradient, how they move.

mod any;
mod batch;
mod choice;
mod ef_mixture;
mod factor_gaussian;
mod finite_mixture;
mod layout;
mod mcef;
mod mean_variance_mixture;
mod mixture_of_gaussians;
mod product_mixture;
mod state;
mod tensor_gaussian;
mod written;

pub use any::{AnyApproximation, with_approximation};
pub use batch::{Batch, DrawPlan};
pub use choice::{Family, Kind};
pub use ef_mixture::{EfMixture, EfMixtureGradient, EfMixtureWork};
pub use factor_gaussian::FactorGaussian;
pub use layout::{Layout, MatrixUpdate};
pub use mcef::{Mcef, Multilinear};
pub use mean_variance_mixture::{
    ExponentiallyModifiedGaussian, Gaussian, MeanVarianceMixture, Nig, ScaleMixture, SkewGaussian, StudentT,
    SymmetricNig,
};
pub use mixture_of_gaussians::{MixtureOfGaussians, MogGradient};
pub use product_mixture::ProductMixture;
pub use state::{BlockState, State};
pub(crate) use tensor_gaussian::by_factors;
pub use tensor_gaussian::{Group, TensorGaussian, TensorGradient};

use crate::Error;
use crate::estimate::Curvature;
use crate::random::Purpose;
pub use crate::rule::Taken;
use crate::rule::{AdamLikeMemory, AdamLikeRequest, Rule};
use crate::target::{Contraction, Covariance, CurvatureMut, Evaluations, Prior, Support};

/// What a step was asked to do.
#[derive(Clone, Copy, Debug)]
pub struct StepRequest {
    /// The rule for precisions and locations.
    pub rule: Rule,
    /// β of the blocks (B, P).
    pub beta: f64,
    /// β of the mixture weights.
    pub mixing_beta: f64,
    /// Bound on the KL divergence of each block's step.
    pub max_kl: Option<f64>,
}

/// A family of distributions with the steps of an iteration: draw, weigh, differentiate, move.
///
/// The order of calls is [`draw`](Approximation::draw), [`weigh`](Approximation::weigh) (again whenever the kept draws change),
/// evaluation of the target at the batch with the weights of [`contraction`](Approximation::contraction),
/// [`gradient`](Approximation::gradient), [`step`](Approximation::step). None of these allocates.
pub trait Approximation: Clone + Send + Sync + Sized {
    /// Memory for one batch.
    type Work: Send;
    /// Gradient of the bound in the family's block coordinates.
    type Gradient: Clone + Send;

    /// Which family this is, as data.
    fn family(&self) -> Family;
    /// Number of coordinates.
    fn dim(&self) -> usize;
    /// Full or diagonal.
    fn covariance_kind(&self) -> Covariance;
    /// Where its draws live.
    fn support(&self) -> Support {
        Support::Real
    }
    /// Number of components with a curvature of their own.
    fn n_blocks(&self) -> usize;

    /// Whether the declared prior has a closed form under this family.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with what to use instead.
    fn check_prior(&self, prior: &Prior) -> Result<(), Error> {
        prior.check(self.dim())?;
        if prior.shared().is_some() && self.family().name() != "student_t" {
            return Err(Error::Unsupported {
                wanted: format!("a t prior that shares w with `{}`", self.family()),
                instead: "use `student_t`, or evaluate the prior as part of the target".into(),
            });
        }
        Ok(())
    }

    /// Memory for batches drawn as the plan says.
    fn work(&self, plan: &DrawPlan) -> Self::Work;
    /// A batch of the right shape.
    fn batch(&self, plan: &DrawPlan) -> Batch;
    /// A gradient of the right shape.
    fn gradient_buffer(&self) -> Self::Gradient;

    /// Fills the batch with draws and log q; a pure function of the state, the plan and (seed, purpose, step).
    fn draw(&self, seed: u64, purpose: Purpose, step: u64, work: &mut Self::Work, batch: &mut Batch);
    /// Recomputes the weights of the draws from `batch.kept`; false if a block has no draw left.
    fn weigh(&self, work: &mut Self::Work, batch: &Batch) -> bool;
    /// The weighted sums of Hessians that [`Approximation::gradient`] needs.
    fn contraction<'w>(&self, work: &'w Self::Work) -> Contraction<'w>;
    /// ELBO of the batch with its Monte Carlo standard error; `log_p` is log p without the declared prior.
    fn elbo(&self, log_p: &[f64], prior: &Prior, work: &Self::Work, batch: &Batch) -> (f64, f64);
    /// Sets the constant that is subtracted from h = log q − log p before it enters the weights of a mixture: any constant that
    /// does not depend on the batch leaves the estimate unbiased, and one near the mean of h takes most of its noise (mathematics §1.5).
    fn set_baseline(&self, work: &mut Self::Work, h: f64) {
        let _ = (work, h);
    }
    /// The gradient of the bound; false if it is not finite.
    fn gradient(
        &self,
        evaluations: &Evaluations,
        curvature: &[f64],
        prior: &Prior,
        work: &mut Self::Work,
        batch: &Batch,
        out: &mut Self::Gradient,
    ) -> bool;
    /// Moves along the natural gradient.
    fn step(&mut self, gradient: &Self::Gradient, request: StepRequest, work: &mut Self::Work) -> Taken;
    /// Whether a step needs second-order information; a family that moves by gradients alone says no.
    fn takes_curvature(&self) -> bool {
        true
    }
    /// Whether [`Approximation::gradient`] can do with values of log p alone, as [`Curvature::GradientFree`] asks.
    ///
    /// [`Curvature::GradientFree`]: crate::estimate::Curvature::GradientFree
    fn takes_values_alone(&self) -> bool {
        false
    }
    /// How many numbers hold the contracted curvature of a step.
    fn curvature_len(&self, curvature: Curvature) -> usize {
        let _ = curvature;
        self.covariance_kind().n_entries(self.dim()) * self.n_blocks()
    }
    /// Adds −Σ_n weight g_n g_nᵀ of the gradients of single items at draw `s` to the contracted curvature.
    fn add_item_gradients(&self, s: usize, items: &[f64], work: &mut Self::Work, curvature: &mut [f64]) {
        let mut out = CurvatureMut::new(self.covariance_kind(), self.dim(), curvature);
        for (k, weight) in self.contraction(work).of_draw(s) {
            items.chunks_exact(self.dim()).for_each(|item| out.add_outer(k, -weight, item));
        }
    }

    /// Adds γ times the last displacement to a gradient, so that a plain step of length β from here has momentum:
    /// η⁺ = η + β{∇_m L + ratio (η − η_before)} with ratio = γ/β (mathematics §7.1). False if the family has no such rule.
    fn add_momentum(&self, before: &Self, ratio: f64, work: &mut Self::Work, gradient: &mut Self::Gradient) -> bool {
        let _ = (before, ratio, work, gradient);
        false
    }

    /// Number of coordinates in which the family is ℝⁿ without constraints: locations, a Cholesky factor of Σ with logarithms on
    /// its diagonal, soft-max logits (mathematics §9.4). Zero if it has no such chart.
    fn chart_len(&self) -> usize {
        0
    }
    /// Writes the coordinates of the chart.
    fn chart(&self, out: &mut [f64]) {
        let _ = out;
    }
    /// Writes the ordinary gradient of the bound in these coordinates.
    fn chart_gradient(&self, gradient: &Self::Gradient, work: &mut Self::Work, out: &mut [f64]) {
        let _ = (gradient, work, out);
    }
    /// Moves to the member with these coordinates; false, and nothing moves, if they cannot be represented.
    fn set_chart(&mut self, coordinates: &[f64], work: &mut Self::Work) -> bool {
        let _ = (coordinates, work);
        false
    }

    /// The memory of the Adam-like rule at its start; `None` if the family has no such step: it needs one block with a diagonal scale
    /// matrix and a mixing law that stays as it is (mathematics §7.2).
    fn adam_like_memory(&self) -> Option<AdamLikeMemory> {
        None
    }
    /// Makes the precision that of the prior alone, as the Adam-like rule with bias correction starts; false, and nothing moves, if
    /// the prior leaves a coordinate free.
    fn start_from_prior(&mut self, prior: &Prior) -> bool {
        let _ = prior;
        false
    }
    /// One Adam-like step; the gradient holds the curvature by squared gradients. A family without such a step stays.
    fn adam_like_step(
        &mut self,
        gradient: &Self::Gradient,
        prior: &Prior,
        request: AdamLikeRequest,
        memory: &mut AdamLikeMemory,
        work: &mut Self::Work,
    ) -> Taken {
        let _ = (gradient, prior, request, memory, work);
        Taken::by_one(0.0)
    }

    /// g₁ᵀF⁻¹g₂ in the Fisher metric of the joint.
    fn inner(&self, one: &Self::Gradient, two: &Self::Gradient, work: &mut Self::Work) -> f64;

    /// How many times ½ gᵀF⁻¹g the bound may still rise: the metric is that of the joint and of the entropy, and the bound curves
    /// less. Measured on logistic regressions, one component: 1.3 to 2.
    fn gain_factor(&self) -> f64 {
        2.0
    }

    /// Number of natural parameters.
    fn natural_len(&self) -> usize;
    /// sum += η, with locations relative to those of `reference`; `offset` holds d numbers.
    fn add_natural(&self, reference: &Self, offset: &mut [f64], sum: &mut [f64]);
    /// The member whose natural parameters are `share` times the sums of [`Approximation::add_natural`], if there is one.
    fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self>;

    /// log q(z).
    fn log_density(&self, z: &[f64]) -> f64;
    /// ∇log q(z).
    fn score(&self, z: &[f64], out: &mut [f64]);
    /// ∇²log q(z), a full d × d matrix.
    fn hessian(&self, z: &[f64], out: &mut [f64]);
    /// E\[z\].
    fn mean(&self) -> Vec<f64>;
    /// Cov\[z\], a full d × d matrix.
    fn covariance(&self) -> Vec<f64>;
    /// Var\[z_i\] of every coordinate.
    fn variances(&self) -> Vec<f64> {
        self.covariance().iter().step_by(self.dim() + 1).copied().collect()
    }
    /// The entropy where there is a rule for it; `None`: average −log q over draws.
    fn entropy(&self) -> Option<f64>;
    /// E\[log prior(z)\] in closed form.
    fn expected_log_prior(&self, prior: &Prior) -> f64 {
        prior.expected_log(&self.mean(), &self.variances())
    }

    /// The parameters as plain data.
    fn state(&self) -> State;
    /// The member of the family with these parameters.
    ///
    /// # Errors
    /// If the data are not of this family or outside its domain.
    fn from_state(state: &State) -> Result<Self, Error>;
}
