//! Everything a fit can be told, as plain data.

mod pooled;
mod written;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::estimate::{Curvature, FEWEST_DRAWS, MixingWeights, Sampling, ShapeEstimator};
use crate::family::{DrawPlan, Family, Kind};
use crate::random::Noise;
use crate::rule::{Printed, Rule, StepSize};
use crate::target::{About, Covariance, Offers, Target};
use crate::tuning::residual::COORDINATES_OF_A_DIAGONAL;

/// Largest number of draws of a step and component.
pub(crate) const MOST_DRAWS: usize = 1 << 20;
/// Standard deviations within which a mean is right.
pub(crate) const RIGHT_MEAN: f64 = 0.1;
/// The sharpest means that chains can be asked for, in standard deviations: a million independent states.
const MOST_SHARP: f64 = 0.001;

/// Limits of a run: [`Plan::stop`]; the usual ones are set by [`Fit::max_gradients`](crate::Fit::max_gradients) and
/// [`Fit::max_seconds`](crate::Fit::max_seconds).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Converged when the estimated remaining gain of the bound, in nats, is below this with two standard errors to
    /// spare; of a `gaussian` by residual scores, when twice the gain and its error are below this for every ten
    /// coordinates, or for all of them where expectations are exact.
    pub remaining_nats: f64,
    /// At most this many steps.
    pub max_steps: u64,
    /// At most about this many gradients.
    pub max_evaluations: u64,
    /// At most about this many seconds, if anything; the only limit that depends on the machine.
    pub max_seconds: Option<f64>,
    /// Chains go on until every mean is within so many standard deviations, at most the 0.1 that a verdict asks for;
    /// below it there are chains in any case. The verdict stays what it is.
    #[serde(skip_serializing_if = "is_usual")]
    pub mean_within: f64,
}

impl Default for Stop {
    fn default() -> Self {
        let mean_within = RIGHT_MEAN;
        Self { remaining_nats: 0.01, max_steps: 3_000, max_evaluations: 100_000_000, max_seconds: None, mean_within }
    }
}

/// Whether means are to be as sharp as a verdict asks; files say so only where they are to be sharper.
fn is_usual(mean_within: &f64) -> bool {
    *mean_within == RIGHT_MEAN
}

impl Stop {
    fn check(&self) -> Result<(), Error> {
        let refuse = |parameter, value, reason| Err(Error::Domain { parameter, value, reason });
        if !self.remaining_nats.is_finite() || self.remaining_nats < 0.0 {
            return refuse(
                "stop.remaining_nats",
                self.remaining_nats,
                "the tolerance is a number of nats, zero or more",
            );
        }
        if let Some(seconds) = self.max_seconds
            && (!seconds.is_finite() || seconds < 0.0)
        {
            return refuse("stop.max_seconds", seconds, "the limit is a number of seconds, zero or more");
        }
        if !(MOST_SHARP..=RIGHT_MEAN).contains(&self.mean_within) {
            let reason = "means can be asked for within 0.001 to 0.1 standard deviations";
            return refuse("stop.mean_within", self.mean_within, reason);
        }
        Ok(())
    }
}

/// Whether chains on the target correct what a fit gives: [`Plan::correct`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correct {
    /// Under `auto`, where importance weights do not confirm the approximation. A family that was named is judged by
    /// importance weights, and what they give is its answer where they confirm it.
    #[default]
    WhereNeeded,
    /// Whatever importance weights say, for every family.
    Always,
    /// Never, and importance weights judge but change nothing: the answer is the approximation.
    Never,
}

/// The choices of a fit; two runs with the same target, start and plan give the same bits.
///
/// ```
/// use elinvar::Plan;
///
/// let plan = Plan { n_draws: 32, seed: 7, ..Plan::default() };
/// let text = serde_json::to_string(&plan).unwrap();
/// assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Draws per step and component at first.
    pub n_draws: usize,
    /// The draws are doubled up to this number when noise is what keeps a run from stopping.
    pub max_draws: usize,
    /// Where the normals of the draws come from.
    pub noise: Noise,
    /// Where the draws of a mixture come from.
    pub sampling: Sampling,
    /// Number of data items per step; `None`: all of them.
    pub minibatch: Option<usize>,
    /// Where second-order information comes from.
    pub curvature: Curvature,
    /// Options I, II and III of mathematics §0.5.
    pub weights: MixingWeights,
    /// How the slope in the shape of a Student-t is estimated, where it is learned.
    pub shape: ShapeEstimator,
    /// How a gradient becomes a step.
    pub rule: Rule,
    /// Step size of locations and precisions; `auto` is learned under `natural_gradient` and `retraction`, and a
    /// constant of the rule under the others ([`Rule::auto_step_size`]).
    pub step_size: StepSize,
    /// Step size of mixture weights and of a learned shape; that of the components under rules with a memory. Of a
    /// matrix by `paper_literal` it is β₂, that of the precisions, with `auto` for the same as `step_size`.
    pub mixing_step_size: StepSize,
    /// Bound on the KL divergence, in nats, between a block before and after a step; at first, if the step size is
    /// learned. The two rules named after Adam know no such bound.
    #[serde(serialize_with = "written::write_max_kl")]
    pub max_kl: Option<f64>,
    /// Whether the result is the average of the last steps, in natural parameters.
    pub average: bool,
    /// Number of fits from starts of their own, of which the best is kept.
    pub restarts: usize,
    /// Whether chains correct the answer; [`Correction`](crate::chains::Correction) has their limits, and those of
    /// `stop` hold for both together.
    pub correct: Correct,
    /// When to stop.
    pub stop: Stop,
    /// Seed of every random number of the run.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            n_draws: 16,
            max_draws: 1_024,
            noise: Noise::QuasiMonteCarlo,
            sampling: Sampling::OwnDraws,
            minibatch: None,
            curvature: Curvature::Auto,
            weights: MixingWeights::Conditional,
            shape: ShapeEstimator::Exact,
            rule: Rule::Retraction,
            step_size: StepSize::Auto,
            mixing_step_size: StepSize::Auto,
            max_kl: Some(1.0),
            average: true,
            restarts: 1,
            correct: Correct::WhereNeeded,
            stop: Stop::default(),
            seed: 1,
        }
    }
}

impl Plan {
    /// Whether there are to be chains whatever importance weights say.
    pub(crate) fn insists_on_chains(&self) -> bool {
        self.correct == Correct::Always || self.stop.mean_within < RIGHT_MEAN
    }

    /// The default plan carried on to the last thousandths of a nat.
    pub fn thorough() -> Self {
        Self { stop: Stop { remaining_nats: 1e-3, ..Stop::default() }, ..Self::default() }
    }

    /// The update boxes of the paper as they are printed: `n_draws` independent draws of q in all, of a mixture as a
    /// whole; the constant step size β; no bound on a step, no baseline, no average, no growing number of draws; so
    /// many steps. A gradient in α and Σ takes the w of its draw (option I; set `weights` to `marginal` for option II),
    /// that in a learned shape of the Student-t the factor of eq. (21).
    ///
    /// The boxes say nothing about where to start: a fit starts at N(0, I) without a search, the components of a
    /// mixture around points drawn from it, unless it is given a place
    /// ([`Fit::start_around`](crate::Fit::start_around), [`Fit::start_from`](crate::Fit::start_from)).
    ///
    /// ```
    /// use elinvar::model::Banana;
    /// use elinvar::prelude::*;
    ///
    /// let model = Banana::default();
    /// let place = Placement { mean: 0.0, sd: 1.0, variance: 1.0 };
    /// let fit = Fit::new(&model).family(Family::mog(3)).plan(Plan::printed(10, 0.01, 50)).start_around(place);
    /// let last = fit.judged_by(0).run()?;
    /// assert_eq!(last.trace().len(), 50);
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    pub fn printed(n_draws: usize, step_size: f64, steps: u64) -> Self {
        Self {
            n_draws,
            max_draws: n_draws,
            noise: Noise::Independent,
            sampling: Sampling::Whole,
            weights: MixingWeights::Sampled,
            shape: ShapeEstimator::PaperLiteral,
            rule: Rule::Printed(Printed::default()),
            step_size: StepSize::Constant(step_size),
            mixing_step_size: StepSize::Constant(step_size),
            max_kl: None,
            average: false,
            correct: Correct::Never,
            stop: Stop { max_steps: steps, max_evaluations: u64::MAX >> 11, ..Stop::default() },
            ..Self::default()
        }
    }

    /// The part of the plan that shapes a batch of `n_draws` draws per component.
    pub(crate) fn draw_plan(&self, n_draws: usize) -> DrawPlan {
        DrawPlan {
            n_draws,
            noise: self.noise,
            sampling: self.sampling,
            curvature: self.curvature,
            weights: self.weights,
            shape: self.shape,
            printed: self.rule.printed(),
            pathwise: self.is_pathwise(),
        }
    }

    /// Whether a mixture is differentiated along the draws like the target: what gradients say about log p − log q has
    /// no noise where the two agree. Rules of the paper say it with `stein_plain`.
    fn is_pathwise(&self) -> bool {
        match self.curvature {
            Curvature::Stein { control_variate: true } => self.rule.printed().is_none() && self.minibatch.is_none(),
            Curvature::Stein { control_variate: false } => self.rule.is_euclidean(),
            _ => false,
        }
    }

    /// Checks the rule and makes the automatic choices of its step sizes.
    fn resolve_rule(&mut self) -> Result<(), Error> {
        self.rule.check()?;
        let Some(beta) = self.rule.auto_step_size() else { return Ok(()) };
        if self.step_size == StepSize::Auto {
            self.step_size = StepSize::Constant(beta);
        }
        if self.rule.printed().is_some() {
            // What the rule does without: said here, so that the resolved plan tells the truth.
            (self.max_kl, self.average, self.max_draws) = (None, false, self.n_draws);
            if self.mixing_step_size == StepSize::Auto {
                self.mixing_step_size = self.step_size;
            }
            return Ok(());
        }
        if self.mixing_step_size != StepSize::Auto && self.mixing_step_size != self.step_size {
            return Err(Error::Unsupported {
                wanted: format!("a step size of its own for the weights under `{}`", self.rule),
                instead: "leave `mixing_step_size` at `auto`: weights and components take the same steps".into(),
            });
        }
        self.mixing_step_size = self.step_size;
        Ok(())
    }

    /// What a member of `paper_literal` takes for its second step size where none is given.
    pub(crate) fn resolve_literal(&mut self) {
        if self.mixing_step_size == StepSize::Auto {
            self.mixing_step_size = self.step_size;
        }
        // The box is made of gradients.
        if self.rule.printed().is_some() && self.curvature == Curvature::Hessian {
            self.curvature = Curvature::GradientOuterProduct;
        }
    }

    /// What follows for the curvature from a target without a gradient, and for the rest of the plan from such a
    /// curvature.
    fn resolve_without_gradient(&mut self, offers: Offers) -> Result<(), Error> {
        if !offers.gradient {
            if !matches!(self.curvature, Curvature::Auto | Curvature::GradientFree) {
                return Err(Error::Unsupported {
                    wanted: format!("curvature `{}` for a target without a gradient", self.curvature),
                    instead: "use `auto` or `gradient_free`, which need the log density only".into(),
                });
            }
            self.curvature = Curvature::GradientFree;
        }
        if self.curvature != Curvature::GradientFree {
            return Ok(());
        }
        if self.rule.adam_like().is_some() {
            return Err(Error::Unsupported {
                wanted: format!("the rule `{}` with curvature `gradient_free`", self.rule),
                instead: "its curvature is made of squared gradients: use `retraction`, `natural_gradient` or `euclidean_adam`".into(),
            });
        }
        if self.n_draws < FEWEST_DRAWS {
            return Err(Error::Domain {
                parameter: "n_draws",
                value: self.n_draws as f64,
                reason: "curvature `gradient_free` compares at least four draws",
            });
        }
        // The identities hold for each w, not on average over w given z.
        self.weights = MixingWeights::Sampled;
        Ok(())
    }

    /// Whether a fit of `family` goes by residual scores: because the plan says so with `least_change`, or because it
    /// leaves curvature, rule and step sizes to the library.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the plan says so and it is not possible.
    pub(crate) fn goes_by_residuals(&self, target: &dyn Target, family: Family) -> Result<bool, Error> {
        let offers = target.about().offers;
        let has_steps = family.covariance == Covariance::Full || target.dim() <= COORDINATES_OF_A_DIAGONAL;
        let is_gaussian = family.kind == Kind::Gaussian && has_steps;
        let is_free = self.rule == Plan::default().rule
            && self.step_size == StepSize::Auto
            && self.max_kl.is_some()
            && self.minibatch.is_none();
        if self.curvature != Curvature::LeastChange {
            let is_auto = self.curvature == Curvature::Auto && is_free;
            return Ok(is_auto && is_gaussian && offers.gradient);
        }
        let refuse = |wanted: String, instead: &str| Err(Error::Unsupported { wanted, instead: instead.into() });
        if !is_gaussian {
            return refuse(
                format!("curvature `least_change` for `{family}`"),
                "fit a full `gaussian`, or a diagonal one of up to 512 coordinates, or use `stein`",
            );
        }
        if !offers.gradient {
            return refuse(
                "curvature `least_change` for a target without a gradient".into(),
                "use `auto` or `gradient_free`, which need the log density only",
            );
        }
        if !is_free {
            return refuse(
                "curvature `least_change` with a rule, step size, KL bound or mini-batch of one's own".into(),
                "leave these at their defaults: it chooses its own steps",
            );
        }
        Ok(true)
    }

    /// [`Plan::resolve`] for a run by residual scores: by Hessians where there are any.
    ///
    /// # Errors
    /// As [`Plan::resolve`].
    pub(crate) fn resolve_by_residuals(&self, target: &dyn Target) -> Result<Plan, Error> {
        let by_hessians = self.curvature == Curvature::Auto && target.about().offers.hessian;
        let curvature = if by_hessians { Curvature::Hessian } else { Curvature::LeastChange };
        Plan { curvature, ..self.clone() }.resolve(target)
    }

    /// The plan with every automatic choice made for this target, checked.
    ///
    /// # Errors
    /// A sentence about the first choice that is not possible.
    pub fn resolve(&self, target: &dyn Target) -> Result<Plan, Error> {
        let mut plan = self.clone();
        if plan.n_draws == 0 {
            return Err(Error::Domain { parameter: "n_draws", value: 0.0, reason: "a step needs at least one draw" });
        }
        for (parameter, n) in [("n_draws", plan.n_draws), ("max_draws", plan.max_draws)] {
            if n > MOST_DRAWS {
                let reason = "a step has at most 1 048 576 draws per component";
                return Err(Error::Domain { parameter, value: n as f64, reason });
            }
        }
        if plan.restarts == 0 {
            return Err(Error::Domain { parameter: "restarts", value: 0.0, reason: "a fit needs at least one start" });
        }
        plan.step_size.check("step_size")?;
        plan.mixing_step_size.check("mixing_step_size")?;
        plan.resolve_rule()?;
        plan.stop.check()?;
        if plan.correct == Correct::Never && plan.stop.mean_within < RIGHT_MEAN {
            return Err(Error::Unsupported {
                wanted: "sharper means of a fit that is not corrected".into(),
                instead: "leave one of `stop.mean_within` and `correct = \"never\"` out: chains sharpen means".into(),
            });
        }
        if let Some(bound) = plan.max_kl
            && (bound.is_nan() || bound <= 0.0)
        {
            return Err(Error::Domain {
                parameter: "max_kl",
                value: bound,
                reason: "the bound is a positive number of nats",
            });
        }
        let About { offers, n_rows, .. } = target.about();
        plan.resolve_without_gradient(offers)?;
        match plan.curvature {
            Curvature::Auto if plan.rule.adam_like().is_some() => {
                let has_items = offers.item_gradients && n_rows.is_some();
                plan.curvature = if has_items { Curvature::ItemGradients } else { Curvature::SquaredMean };
            }
            Curvature::Auto if offers.hessian => plan.curvature = Curvature::Hessian,
            // The reparameterisation gradient.
            Curvature::Auto if plan.rule.printed().is_some() => {
                plan.curvature = Curvature::Stein { control_variate: false };
            }
            Curvature::Auto => plan.curvature = Curvature::Stein { control_variate: true },
            Curvature::Hessian if !offers.hessian => {
                return Err(Error::Unsupported {
                    wanted: "curvature `hessian` for a target without second derivatives".into(),
                    instead: "use `stein`, which needs gradients only, or give the target a Hessian".into(),
                });
            }
            Curvature::GaussNewton if !offers.gauss_newton => {
                return Err(Error::Unsupported {
                    wanted: "curvature `gauss_newton` for a target without a Gauss–Newton matrix".into(),
                    instead: "use `hessian` or `stein`, or set `Offers::gauss_newton`".into(),
                });
            }
            Curvature::ItemGradients if !offers.item_gradients || n_rows.is_none() => {
                return Err(Error::Unsupported {
                    wanted: "curvature `item_gradients` for a target without gradients of single items".into(),
                    instead: "use `squared_mean`, or set `Offers::item_gradients`".into(),
                });
            }
            _ => {}
        }
        if let Some(size) = plan.minibatch {
            let Some(n_rows) = n_rows else {
                return Err(Error::Unsupported {
                    wanted: "a mini-batch of a target that is not a sum over data items".into(),
                    instead: "leave `minibatch` out, or set `About::n_rows`".into(),
                });
            };
            if size == 0 || size > n_rows || n_rows > u32::MAX as usize {
                let reason = "a mini-batch has between 1 and as many items as the data";
                return Err(Error::Domain { parameter: "minibatch", value: size as f64, reason });
            }
        }
        Ok(plan)
    }
}
