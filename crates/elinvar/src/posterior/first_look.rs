//! Whether importance weights suffice for an answer, found out at little cost, and whether chains may give a better
//! one.

use super::Posterior;
use super::correction::cannot_be_corrected;
use super::diagnose::Looked;
use crate::Error;
use crate::chains;
use crate::evaluate::Evaluator;
use crate::family::Kind;
use crate::record::StopReason;
use crate::target::{About, Target};
use crate::tuning::answers;

/// Whether chains are run on a target without being asked for.
pub(crate) fn may_be_corrected(target: &dyn Target) -> bool {
    let about = target.about();
    cannot_be_corrected(&about).is_none() && about.dim <= answers::MOST_COORDINATES
}

/// As many draws for a verdict as are usual, or fewer where the target is a sum over so many rows that each of them is
/// dear: no fewer than a first look takes. A verdict whose noise decides takes more ([`Posterior::judge`]).
///
/// ```
/// use elinvar::model::Banana;
/// use elinvar::posterior::affordable_draws;
/// use elinvar::target::{About, Target};
///
/// let about = Banana::default().about();
/// assert_eq!(affordable_draws(&about, 10_000), 10_000);
/// let long = About { n_rows: Some(100_000_000), ..about };
/// assert_eq!(affordable_draws(&long, 10_000), 1_024);
/// ```
pub fn affordable_draws(about: &About, usual: usize) -> usize {
    let per_draw = about.n_rows.unwrap_or(0).saturating_mul(about.dim).max(1);
    usual.min((answers::PRODUCTS / per_draw).max(answers::FIRST_LOOK))
}

impl Posterior {
    /// Whether chains may be expected to say more than importance weights: there is a density to move on, and a place
    /// to start from.
    pub(crate) fn is_worth_chains(&self, evaluator: &Evaluator<'_>) -> bool {
        let q = self.approximation();
        let lost = [StopReason::Diverged, StopReason::BadEvaluations, StopReason::Interrupted];
        may_be_corrected(evaluator.target())
            && !lost.contains(&self.stop_reason())
            && q.mean().iter().chain(&q.covariance()).all(|x| x.is_finite())
    }

    /// Whether importance weights confirm the approximation, judged on `n` draws if need be. Only then the answer is
    /// theirs; the diagnostics are kept in any case.
    ///
    /// Weights are looked at closely only where a first look leaves hope: where they keep few of the draws, or show the
    /// approximation to be wrong, more of them would say so more precisely. Where log p alone costs as much as its
    /// gradient they do not decide at all, since chains cost less.
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub(crate) fn weights_suffice(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        n: usize,
        seed: u64,
    ) -> Result<bool, Error> {
        let before = evaluator.counts();
        let is_confirmed = self.confirm_step_by_step(evaluator, n, seed)?;
        // Draws of a Gaussian do not see a long tail that it does not have.
        let is_tailed = is_confirmed && self.family().kind == Kind::Gaussian && {
            let q = self.approximation();
            chains::promises_tail(evaluator, q.mean(), &q.covariance(), seed)?
        };
        if let Some(diagnostics) = &mut self.record.diagnostics {
            diagnostics.counts = evaluator.counts().since(before);
        }
        let suffice = is_confirmed && !is_tailed;
        if !suffice {
            self.record.weighed = None;
        }
        Ok(suffice)
    }

    fn confirm_step_by_step(&mut self, evaluator: &mut Evaluator<'_>, n: usize, seed: u64) -> Result<bool, Error> {
        if !evaluator.about().offers.values {
            let few = answers::bridge_draws(evaluator.about());
            let weighted = self.importance_by(evaluator, few, seed, &[])?;
            self.looked = Some(Looked { seed, log_p: weighted.log_p, wide: Vec::new() });
            self.record.diagnostics = Some(weighted.diagnostics);
            return Ok(false);
        }
        let first = n.min(answers::FIRST_LOOK);
        let (_, is_hopeless) = self.confirm(evaluator, first, Looked { seed, ..Looked::default() })?;
        if is_hopeless {
            return Ok(false);
        }
        let looked = self.looked.take().unwrap_or_default();
        Ok(self.confirm(evaluator, n, looked)?.0)
    }
}
