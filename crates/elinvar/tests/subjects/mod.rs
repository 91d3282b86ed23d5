//! The families and small targets that the integration tests run over, and a run of any family behind one interface.
#![allow(dead_code, unused_imports, reason = "each test program uses a part")]

use std::ops::ControlFlow;

use elinvar::family::{AnyApproximation, Approximation, BlockState, Family, State};
use elinvar::law::{Logistic, VarianceGamma};
use elinvar::model::{DesignMatrix, LogisticRegression};
use elinvar::run::{Checkpoint, Counts, Run, Step, StopReason};
use elinvar::target::{Covariance, PointwiseHessian, PointwiseTarget, Support, Target, TargetError};
use elinvar::{Error, Plan, Posterior};

/// Every family, each with a full and a diagonal scale matrix.
pub(crate) fn families() -> Vec<Family> {
    let full = every_kind().map(|family| family.with_covariance(Covariance::Full));
    let full = full.into_iter().chain([Family::student_t_learned()]);
    full.flat_map(|family| [family, family.diagonal()]).chain([Family::scale_mixture(Logistic).product()]).collect()
}

/// Every family on ℝᵈ with a scale matrix once, in the order of [`Family::NAMES`].
pub(crate) fn every_kind() -> [Family; 9] {
    [
        Family::gaussian(),
        Family::mog(3),
        Family::student_t(3.0),
        Family::skew(),
        Family::emg(),
        Family::nig(2.0),
        Family::snig(2.0),
        Family::rank_k(2),
        Family::scale_mixture(VarianceGamma::new(2.5).unwrap()),
    ]
}

/// The family and its scale matrix in words.
pub(crate) fn label(family: Family) -> String {
    format!("{family} {:?}", family.covariance)
}

/// The member of a family with small numbers in B, P = I and equal weights.
pub(crate) fn standard(family: Family, dim: usize) -> AnyApproximation {
    let precision: Vec<f64> = match family.covariance {
        Covariance::Full => (0..dim * dim).map(|i| f64::from(u8::from(i % (dim + 1) == 0))).collect(),
        Covariance::Diagonal => vec![1.0; dim],
    };
    let k = family.n_components();
    let block = |c: usize| BlockState {
        b: (0..dim * family.n_columns()).map(|i| 0.1 * (i + c) as f64).collect(),
        precision: precision.clone(),
    };
    let state = State { family, dim, blocks: (0..k).map(block).collect(), log_weights: vec![-(k as f64).ln(); k] };
    AnyApproximation::from_state(&state).unwrap()
}

/// n numbers between −1 and 1.
pub(crate) fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n + 4).map(|_| next()).skip(4).collect()
}

/// Logistic regression on n made-up rows; labels depend on the first coefficients, with noise.
pub(crate) fn logistic(n: usize, d: usize) -> LogisticRegression {
    let (rows, noise) = (numbers(n * d, 11), numbers(n, 12));
    let labels = rows.chunks_exact(d).zip(noise).map(|(x, e)| f64::from(u8::from(x[0] - 0.5 * x[d - 1] + e > 0.1)));
    let labels = labels.collect();
    let names = (1..=d).map(|j| format!("x{j}")).collect();
    LogisticRegression::from_labels(DesignMatrix::new(rows, d, names).unwrap(), labels, 0.3).unwrap()
}

/// A member of any family as a normalised target with second derivatives.
pub(crate) struct Member(pub(crate) AnyApproximation);

impl PointwiseTarget for Member {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        self.0.score(z, grad);
        Ok(self.0.log_density(z))
    }

    fn support(&self) -> Support {
        self.0.support()
    }
}

impl PointwiseHessian for Member {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        self.0.hessian(z, hessian);
        Ok(())
    }
}

/// A [`Run`] of some family.
pub(crate) trait AnyRun {
    fn step(&mut self) -> Result<Step, Error>;
    fn fit(&mut self, observe: &mut dyn FnMut(&Step) -> ControlFlow<()>) -> Result<StopReason, Error>;
    fn reason_to_stop(&self) -> Option<StopReason>;
    fn state(&self) -> State;
    fn counts(&self) -> Counts;
    fn trace(&self) -> Vec<Step>;
    fn checkpoint(&self) -> Checkpoint;
    fn finish(self: Box<Self>, reason: StopReason) -> Posterior;
}

impl<A: Approximation> AnyRun for Run<'_, A>
where
    AnyApproximation: From<A>,
{
    fn step(&mut self) -> Result<Step, Error> {
        Run::step(self)
    }

    fn fit(&mut self, observe: &mut dyn FnMut(&Step) -> ControlFlow<()>) -> Result<StopReason, Error> {
        Run::fit(self, observe)
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        Run::reason_to_stop(self)
    }

    fn state(&self) -> State {
        self.q().state()
    }

    fn counts(&self) -> Counts {
        Run::counts(self)
    }

    fn trace(&self) -> Vec<Step> {
        Run::trace(self).to_vec()
    }

    fn checkpoint(&self) -> Checkpoint {
        Run::checkpoint(self)
    }

    fn finish(self: Box<Self>, reason: StopReason) -> Posterior {
        Run::finish(*self, reason)
    }
}

pub(crate) use elinvar::family::with_approximation as with_family;

/// [`Run::new`] for any family.
pub(crate) fn open<'t>(
    target: &'t dyn Target,
    start: AnyApproximation,
    plan: &Plan,
) -> Result<Box<dyn AnyRun + 't>, Error> {
    with_family!(start, q => Ok(Box::new(Run::new(target, q, plan)?)))
}

/// [`Run::resume`] for any family.
pub(crate) fn resume<'t>(target: &'t dyn Target, checkpoint: &Checkpoint) -> Result<Box<dyn AnyRun + 't>, Error> {
    fn as_before<'t, A: Approximation + 't>(
        _: A,
        target: &'t dyn Target,
        checkpoint: &Checkpoint,
    ) -> Result<Box<dyn AnyRun + 't>, Error>
    where
        AnyApproximation: From<A>,
    {
        Ok(Box::new(Run::<A>::resume(target, checkpoint)?))
    }
    with_family!(AnyApproximation::from_state(checkpoint.state())?, q => as_before(q, target, checkpoint))
}
