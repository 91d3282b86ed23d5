//! What came of a problem: an answer by chains and one by importance weights, each held against the truth.

use elinvar::chains::Correction;
use elinvar::posterior::Verdict;
use elinvar::run::Stop;
use elinvar::target::Target;
use elinvar::{Family, Plan};

use super::posed::Posed;
use crate::gradients_only::GradientsOnly;
use crate::moved::Moved;
use crate::problems::Moments;
use crate::truth::Errors;

/// Gradients that a fit may take: those that need more have failed at being fits of a Gaussian.
const MOST_GRADIENTS: u64 = 200_000;
/// Draws of the verdict by importance weights, at first.
const DRAWS: usize = 4_096;

/// An answer: whether it was right, whether it was trusted, and what it took beyond the fit.
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
    /// Gradients of the fit; 0 where it ended with an error.
    pub(super) fit: u64,
    pub(super) chains: Result<Answered, String>,
    pub(super) weights: Result<Answered, String>,
}

impl Outcome {
    /// Fits and judges a problem, from gradients alone.
    pub(super) fn of(class: usize, seed: u64, posed: &Posed) -> Self {
        let inner = posed.problem.target.as_ref();
        let moved = posed.map.as_ref().map(|map| Moved::new(inner, map));
        let target = GradientsOnly(moved.as_ref().map_or(inner, |moved| moved));
        let [fit, chains, weights] = answers(&target, posed.truth.as_ref(), seed);
        let gradients = fit.as_ref().map_or(0, |fit| fit.evaluations);
        Self { class, seed, name: posed.problem.name.clone(), dim: target.dim(), fit: gradients, chains, weights }
    }
}

/// The fit itself, chains and importance weights; an error of the fit is an error of all.
fn answers(target: &dyn Target, truth: Option<&Moments>, seed: u64) -> [Result<Answered, String>; 3] {
    let stop = Stop { max_evaluations: MOST_GRADIENTS, ..Stop::default() };
    let fit = match elinvar::run::fit(target, Family::gaussian(), &Plan { seed, stop, ..Plan::default() }) {
        Ok(fit) => fit,
        Err(error) => return std::array::from_fn(|_| Err(error.to_string())),
    };
    let errors = truth.map(|truth| Errors::of(&fit, truth));
    let bare = Answered { errors, trusted: false, evaluations: fit.counts().gradient, reason: String::new() };
    let mut judged = fit.clone();
    let weights = judged.judge(target, DRAWS, 7_000 + seed).map(|judgement| Answered {
        trusted: judgement.verdict == Verdict::Trust,
        reason: judgement.reason,
        evaluations: judged.diagnostics().map_or(0, |diagnostics| diagnostics.counts.gradient),
        ..bare.clone()
    });
    let mut fit = fit;
    let chains = fit.correct(target, &Correction { seed, ..Correction::default() }).map(|corrected| Answered {
        errors: truth.map(|truth| Errors::of_corrected(corrected, truth)),
        trusted: corrected.is_trusted(),
        evaluations: corrected.counts.gradient,
        reason: corrected.doubts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    });
    [Ok(bare), chains.map_err(|e| e.to_string()), weights.map_err(|e| e.to_string())]
}
