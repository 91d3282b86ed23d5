//! Evaluations until a fit is within a given distance of the best that its family can do.

use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{Batch, DrawPlan, Estimator, NoiseKey};
use elinvar::random::Purpose;
use elinvar::rule::{EuclideanAdam, Rule, StepSize};
use elinvar::run::Run;
use elinvar::target::{Answer, Ask, Target, Want};
use elinvar::{Error, Plan};

/// Draws of the first look at a state, and of the second where the first is promising.
const LOOKS: [usize; 2] = [1_024, 16_384];
/// A state is looked at whenever the evaluations have grown by this factor.
const GROWTH: f64 = 1.2;
/// How close to the best of the family, in nats, a state must come in each look.
const WITHIN: f64 = 0.01;
const QUICKLY_WITHIN: f64 = 0.1;

/// Memory for the bound at states of one family, from `n` independent draws.
struct Look {
    estimator: Box<dyn Estimator>,
    batch: Batch,
    evaluations: Answer,
}

impl Look {
    fn new(q: &Approximation, n: usize) -> Self {
        let estimator = q.estimator(&DrawPlan::independent(n));
        let batch = estimator.batch(q);
        let evaluations = Answer::new(q.dim(), batch.draws.len());
        Self { estimator, batch, evaluations }
    }

    /// The bound with its standard error.
    fn elbo(&mut self, q: &Approximation, target: &dyn Target) -> Result<(f64, f64), Error> {
        let Self { estimator, batch, evaluations } = self;
        estimator.draw(q, NoiseKey { seed: 4_242, purpose: Purpose::Diagnostics, step: 0 }, batch);
        target.evaluate(&Ask::all(batch.draws.view(), Want::Gradients), evaluations)?;
        for s in 0..batch.n {
            batch.kept[s] = evaluations.log_p()[s].is_finite();
        }
        estimator.weigh(q, batch);
        Ok(estimator.elbo(q, evaluations.log_p(), &target.about().prior, batch))
    }
}

/// The bounds of the best member of the family in both looks. Draws come from the same noise as those of every state
/// that is compared with it, so that the difference is known far better than either.
pub(crate) fn bounds(best: &Approximation, target: &dyn Target) -> Result<[f64; 2], Error> {
    let mut bounds = [0.0; 2];
    for (bound, n) in bounds.iter_mut().zip(LOOKS) {
        *bound = Look::new(best, n).elbo(best, target)?.0;
    }
    Ok(bounds)
}

/// Two looks at a state: a quick one, and a close one where the first is promising.
struct Goal<'t> {
    target: &'t dyn Target,
    best: [f64; 2],
    looks: [Look; 2],
}

impl Goal<'_> {
    fn is_reached(&mut self, q: &Approximation) -> Result<bool, Error> {
        for ((look, best), within) in self.looks.iter_mut().zip(self.best).zip([QUICKLY_WITHIN, WITHIN]) {
            let (bound, _) = look.elbo(q, self.target)?;
            if bound.is_nan() || bound < best - within {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Gradients until the iterate, or the best average so far, is within 0.01 nats of the best member; `None` if `budget`
/// gradients do not suffice. The evaluations of the looks do not count.
pub(crate) fn evaluations_to_reach(
    target: &dyn Target,
    start: &Approximation,
    plan: &Plan,
    best: [f64; 2],
    budget: u64,
) -> Result<Option<u64>, Error> {
    let looks = LOOKS.map(|n| Look::new(start, n));
    let mut goal = Goal { target, best, looks };
    if goal.is_reached(start)? {
        return Ok(Some(0));
    }
    let reviewed = !matches!(plan.rule, Rule::EuclideanAdam(_));
    let mut run = Run::new(target, start.clone(), plan)?;
    let mut look_at = 1.0;
    while run.counts().gradient < budget {
        if run.reason_to_stop().is_some() {
            return Ok(goal.is_reached(run.best())?.then_some(run.counts().gradient));
        }
        run.step()?;
        if reviewed && run.review_is_due() {
            run.review()?;
        }
        let spent = run.counts().gradient;
        if spent as f64 >= look_at {
            look_at = (spent as f64 * GROWTH).max(spent as f64 + 1.0);
            if goal.is_reached(run.q())? || (reviewed && goal.is_reached(run.best())?) {
                return Ok(Some(spent));
            }
        }
    }
    Ok(None)
}

/// A plan of the black-box baseline.
pub(crate) struct Opponent {
    pub(crate) rate: f64,
    pub(crate) decays: bool,
    pub(crate) curvature: Curvature,
}

impl Opponent {
    /// All that are tried; the best counts. Where the target has a Hessian it is used, which makes the opponent
    /// stronger.
    pub(crate) fn all(has_hessian: bool) -> Vec<Self> {
        let curvature = if has_hessian { Curvature::Hessian } else { Curvature::Stein { control_variate: false } };
        let rates = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003];
        rates.into_iter().flat_map(|rate| [true, false].map(|decays| Self { rate, decays, curvature })).collect()
    }

    /// The plan with as many draws and the same noise as ours.
    pub(crate) fn plan(&self, seed: u64) -> Plan {
        let step_size = if self.decays {
            StepSize::Power { initial: self.rate, delay: 100.0, exponent: 0.6 }
        } else {
            StepSize::Constant(self.rate)
        };
        let mut plan = Plan { seed, step_size, mixing_step_size: step_size, max_kl: None, ..Plan::default() };
        plan.curvature = self.curvature;
        plan.rule = Rule::EuclideanAdam(EuclideanAdam::default());
        plan.stop.max_steps = u64::MAX / 8;
        plan
    }
}

impl std::fmt::Display for Opponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.rate, if self.decays { " decaying" } else { "" })
    }
}
