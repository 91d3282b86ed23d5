//! The Gaussian that a family contains: a fit that does not rise above it ends there.

use super::pace::Pace;
use super::{Run, StopReason};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::family::{Approximation, DrawPlan, NoiseKey};
use crate::plan::Plan;
use crate::random::Purpose;
use crate::record::Estimate;
use crate::tuning::contained::{CLEAR_ERRORS, DRAWS, LAST_DRAWS, MOST_LAST_DRAWS};

/// A fitted Gaussian, as a member of the family whose start was made from it.
#[derive(Clone, Debug)]
pub(super) struct Contained {
    pub(super) q: Approximation,
    /// What its fit had left to gain.
    pub(super) remaining: Option<(f64, f64)>,
    /// Gradients up to its end by natural-gradient steps, the search for modes included.
    pub(super) gradients: u64,
}

/// Why a run has ended, and what is left to gain with its error.
pub(super) type Ended = (StopReason, Option<(f64, f64)>);

/// By how much the bound of `q` is above that of `other`, from values at draws that share their ε.
///
/// # Errors
/// A fatal error of the target.
fn lead(
    evaluator: &mut Evaluator<'_>,
    plan: &Plan,
    q: &Approximation,
    other: &Approximation,
    (n, step): (usize, u64),
) -> Result<Estimate, Error> {
    let mut bounds = |q: &Approximation| -> Result<Vec<f64>, Error> {
        let mut estimator = q.estimator(&DrawPlan { noise: plan.noise, ..DrawPlan::independent(n) });
        let mut batch = estimator.batch(q);
        estimator.draw(q, NoiseKey { seed: plan.seed, purpose: Purpose::Contained, step }, &mut batch);
        let values = evaluator.values(&batch.draws)?;
        Ok(values.iter().zip(&batch.log_q).map(|(log_p, log_q)| log_p - log_q).collect())
    };
    let (own, others) = (bounds(q)?, bounds(other)?);
    // A point without density has no place in either bound.
    let differences: Vec<f64> = own.iter().zip(&others).map(|(a, b)| a - b).filter(|d| d.is_finite()).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
    Ok(Estimate::new(mean, (squares / (count * (count - 1.0))).sqrt()))
}

impl Run<'_> {
    /// Weighs the best state against the Gaussian that the family contains, if its fit is known.
    pub(super) fn weigh_contained(&mut self) -> Result<(), Error> {
        let (Some(contained), Some(best)) = (&self.contained, &self.best) else { return Ok(()) };
        let (gaussian, of_gaussian) = (contained.q.clone(), contained.gradients);
        let at = (DRAWS, self.pace.step());
        let mut lead = lead(&mut self.evaluator, &self.plan, &best.q, &gaussian, at)?;
        let is_open = lead.value.abs() < CLEAR_ERRORS * lead.mcse;
        let is_late = Pace::is_late(self.evaluator.counts().gradient, of_gaussian);
        if is_open && (is_late || self.pace.would_end(&self.plan)) {
            // What few draws have left open is no reason to end.
            lead = self.close_lead(&best.q.clone(), &gaussian)?;
        }
        // The answer has had the length of another batch.
        self.evaluator.make_room(&self.q, &*self.estimator, &self.batch);
        let gradients = (self.evaluator.counts().gradient, of_gaussian);
        self.pace.weigh_contained(&self.plan, lead, gradients, self.q.family().is_shifted());
        Ok(())
    }

    /// By how much what was reached is above the Gaussian, from four times the draws as long as that is open.
    fn close_lead(&mut self, reached: &Approximation, gaussian: &Approximation) -> Result<Estimate, Error> {
        // Without values of their own, they are gradients.
        let most = if self.evaluator.about().offers.values { MOST_LAST_DRAWS } else { LAST_DRAWS };
        let mut n = LAST_DRAWS;
        loop {
            let found = lead(&mut self.evaluator, &self.plan, reached, gaussian, (n, u64::MAX - n as u64))?;
            if found.value.abs() > CLEAR_ERRORS * found.mcse || 4 * n > most {
                return Ok(found);
            }
            n *= 4;
        }
    }

    /// Keeps the Gaussian unless the run has ended above it by more than the error, or clearly where it was given up:
    /// what is not to be seen is not worth another family. What is left to gain then is what the fit of the Gaussian
    /// had left.
    ///
    /// # Errors
    /// A fatal error of the target.
    pub(super) fn settle(&mut self, reason: StopReason, remaining: Option<(f64, f64)>) -> Result<Ended, Error> {
        let Some(contained) = self.contained.take().filter(|_| reason != StopReason::Interrupted) else {
            return Ok((reason, remaining));
        };
        let lead = match self.pace.clear_lead(&self.plan).filter(|_| self.closing.is_none()) {
            Some(lead) => lead,
            None => self.close_lead(&self.best().clone(), &contained.q)?,
        };
        // Given up, it may have more to gain than the tolerance.
        let given_up = reason == StopReason::Converged && !self.pace.has_little_left(&self.plan);
        // A lead below the tolerance is not worth a fit that has not converged.
        let least = if given_up { (2.0 * lead.mcse).max(self.plan.stop.remaining_nats) } else { lead.mcse };
        if lead.value >= least {
            return Ok((if given_up { StopReason::Stagnated } else { reason }, remaining));
        }
        (self.closing, self.best, self.q) = (None, None, contained.q);
        Ok((reason, contained.remaining))
    }
}
