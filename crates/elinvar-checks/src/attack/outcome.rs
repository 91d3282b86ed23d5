//! What came of a problem: the answer of the default plan and one by importance weights, each held against the truth.

use elinvar::posterior::Verdict;
use elinvar::run::Stop;
use elinvar::target::Target;
use elinvar::{Error, Family, Plan};

use super::posed::Posed;
use crate::gradients_only::GradientsOnly;
use crate::moved::Moved;
use crate::problems::Moments;
use crate::truth::Errors;

/// Gradients that a fit may take: those that need more have failed at being fits of a Gaussian.
const MOST_GRADIENTS: u64 = 200_000;
/// Draws of the verdict by importance weights, at first.
const DRAWS: usize = 4_096;

/// An answer: whether it was right, whether it was trusted, and what it took.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) errors: Option<Errors>,
    pub(super) trusted: bool,
    pub(super) evaluations: u64,
    pub(super) reason: String,
}

impl Answered {
    pub(super) fn right(&self) -> bool {
        self.errors.is_some_and(|errors| errors.good())
    }
}

/// Both answers to a problem.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) class: usize,
    pub(super) seed: u64,
    pub(super) name: String,
    pub(super) dim: usize,
    pub(super) default: Result<Answered, String>,
    pub(super) weights: Result<Answered, String>,
}

impl Outcome {
    /// Fits and judges a problem, from gradients alone.
    pub(super) fn of(class: usize, seed: u64, posed: &Posed) -> Self {
        let inner = posed.problem.target.as_ref();
        let moved = posed.map.as_ref().map(|map| Moved::new(inner, map));
        let target = GradientsOnly(moved.as_ref().map_or(inner, |moved| moved));
        let truth = posed.truth.as_ref();
        Self {
            class,
            seed,
            name: posed.problem.name.clone(),
            dim: target.dim(),
            default: by_default(&target, truth, seed).map_err(|e| e.to_string()),
            weights: by_weights(&target, truth, seed).map_err(|e| e.to_string()),
        }
    }
}

/// What somebody is given who asks for nothing else.
fn by_default(target: &dyn Target, truth: Option<&Moments>, seed: u64) -> Result<Answered, Error> {
    let posterior = elinvar::run::fit(target, Family::auto(), &Plan { seed, ..Plan::default() })?;
    let answer = posterior.summary(DRAWS, seed);
    Ok(Answered {
        errors: truth.map(|truth| Errors::of_numbers(&answer.coordinates, truth)),
        trusted: posterior.verdict() == Some(Verdict::Trust),
        evaluations: posterior.counts().gradient,
        reason: posterior.judgement().map_or_else(String::new, |judgement| judgement.reason.clone()),
    })
}

/// A Gaussian as it is, judged by weights.
fn by_weights(target: &dyn Target, truth: Option<&Moments>, seed: u64) -> Result<Answered, Error> {
    let stop = Stop { max_evaluations: MOST_GRADIENTS, ..Stop::default() };
    let mut fit = elinvar::run::fit(target, Family::gaussian(), &Plan { seed, stop, ..Plan::default() })?;
    let judgement = fit.judge(target, DRAWS, 7_000 + seed)?;
    let of_judgement = fit.diagnostics().map_or(0, |diagnostics| diagnostics.counts.gradient);
    Ok(Answered {
        errors: truth.map(|truth| Errors::of(&fit, truth)),
        trusted: judgement.verdict == Verdict::Trust,
        evaluations: fit.counts().gradient + of_judgement,
        reason: judgement.reason,
    })
}
