//! The look back of a run after a window of steps: its average is judged on fresh draws.

#[cfg(test)]
mod tests;

use super::average::Average;
use super::evaluate::Outcome;
use super::pace::{Findings, LookBack, Remaining};
use super::{Counts, Run};
use crate::Error;
use crate::family::Approximation;
use crate::random::Purpose;
use crate::target::Support;
use crate::tuning::pace::{GAIN_BESIDE_A_CONSTANT, REVIEW_BATCHES};

/// The best state so far with its bound on fresh draws.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) q: Approximation,
    pub(super) elbo: f64,
    pub(super) elbo_se: f64,
}

/// What is found when a run ends within a window.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    /// The average of the unfinished window, if it is no worse than the best.
    pub(super) q: Option<Approximation>,
    pub(super) remaining: Option<(f64, f64)>,
    pub(super) counts: Counts,
}

impl Run<'_> {
    /// Whether the present window is full, so that [`Run::review`] is due.
    pub fn review_is_due(&self) -> bool {
        self.pace.review_is_due()
    }

    /// Ends the window: judges the average of its states on fresh draws, keeps it if it is the best so far, and plans
    /// the next window: more draws where noise, not the distance to the optimum, limits the fit; shorter steps, from
    /// the best state, where the bound has fallen. Returns the estimated gain that is left, in nats, with its standard
    /// error, if the draws could be evaluated.
    ///
    /// [`Run::fit`] calls this when [`Run::review_is_due`]; a loop of one's own may, too.
    ///
    /// # Errors
    /// A fatal error of the target.
    pub fn review(&mut self) -> Result<Option<(f64, f64)>, Error> {
        if self.pace.is_round() {
            self.average = Average::new(self.q.clone());
            self.pace.arrive();
            return Ok(None);
        }
        self.pace.begin_review();
        let mut candidate = self.candidate();
        let found = self.findings_at(&mut candidate)?;
        match &found {
            Some(found) => {
                // The bound of the best state was the luckiest of several: before it beats a later one it is estimated
                // anew.
                if self.best.as_ref().is_some_and(|best| found.elbo < best.elbo)
                    && let Some(mut best) = self.best.take()
                {
                    let again = self.findings_at(&mut best.q);
                    if let Ok(Some(again)) = &again {
                        (best.elbo, best.elbo_se) = (again.elbo, again.elbo_se);
                    }
                    // Kept also where that was interrupted.
                    self.best = Some(best);
                    again?;
                }
                self.learn(candidate, found);
                self.weigh_contained()?;
            }
            None => self.average = Average::new(self.q.clone()),
        }
        self.pace.open_window();
        self.pace.watch_widths(&self.q.variances(), self.q.support() == Support::Real);
        Ok(found.and(self.pace.last_remaining()))
    }

    /// Judges the unfinished window of a run that ends before its time. Nothing but [`Run::best`] changes, so that the
    /// run can still be resumed to the bits of one that was never stopped.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        if self.pace.is_round() || self.pace.is_plain() || self.average.count() == 0 {
            return Ok(());
        }
        let mut candidate = self.candidate();
        let before = self.evaluator.counts();
        let found = self.findings_at(&mut candidate)?;
        let counts = self.evaluator.counts().since(before);
        self.evaluator.set_counts(before);
        let best = self.best.as_ref().map(|best| (best.elbo, best.elbo_se));
        let is_good = found.is_some_and(|found| !best.is_some_and(|best| found.is_worse_than(best)));
        let remaining = found.map(|found| (found.remaining.mean, found.remaining.error));
        self.closing = Some(Closing { q: is_good.then_some(candidate), remaining, counts });
        Ok(())
    }

    /// What closing an unfinished window has found to be left, if one was closed.
    pub(super) fn closing(&self) -> Option<Option<(f64, f64)>> {
        self.closing.as_ref().map(|closing| closing.remaining)
    }

    /// What the last review has found to be left, with its standard error.
    pub(super) fn last_remaining(&self) -> Option<(f64, f64)> {
        self.pace.last_remaining()
    }

    /// The state that stands for the present window.
    fn candidate(&self) -> Approximation {
        let average = if self.plan.average { self.average.value() } else { None };
        average.unwrap_or_else(|| self.q.clone())
    }

    /// Bound, remaining gain and noise at another state, from independent batches with the draws of a review.
    fn findings_at(&mut self, q: &mut Approximation) -> Result<Option<Findings>, Error> {
        let (n_draws, review_draws) = (self.pace.n_draws(), self.pace.review_draws());
        std::mem::swap(&mut self.q, q);
        if review_draws != n_draws {
            self.make_room(review_draws);
        }
        let findings = self.findings(review_draws);
        std::mem::swap(&mut self.q, q);
        if review_draws != n_draws {
            self.make_room(n_draws);
        }
        findings
    }

    /// The same at the present state.
    fn findings(&mut self, n_draws: usize) -> Result<Option<Findings>, Error> {
        let (mut elbo, mut variance) = (0.0, 0.0);
        for b in 0..REVIEW_BATCHES {
            let index = self.pace.step() * REVIEW_BATCHES as u64 + b as u64;
            let outcome = self.estimate(Purpose::Check, index)?;
            let Outcome::Ready { elbo: (value, error) } = outcome else { return Ok(None) };
            elbo += value / REVIEW_BATCHES as f64;
            variance += (error / REVIEW_BATCHES as f64).powi(2);
            std::mem::swap(&mut self.gradient, &mut self.checks[b]);
        }
        let (q, scratch, checks) = (&self.q, &mut self.scratch, &self.checks);
        let remaining = Remaining::of_pairs(|i, j| 0.5 * q.inner(&checks[i], &checks[j], scratch));
        let squares = checks.iter().map(|g| 0.5 * q.inner(g, g, scratch)).sum::<f64>() / REVIEW_BATCHES as f64;
        let energy = (squares - remaining.mean).max(0.0) * n_draws as f64;
        let remaining = match q.shape_gain() {
            // The bound curves less still along a learned constant, and along the size of Σ, which makes up for it.
            Some(gain) => Remaining::of_pairs(|i, j| {
                let (one, two) = (&checks[i], &checks[j]);
                let shape = q.inner_of_shape(one, two);
                0.5 * (gain.min(GAIN_BESIDE_A_CONSTANT) * (q.inner(one, two, scratch) - shape) + gain * shape)
            }),
            None => remaining.times(q.gain_factor()),
        };
        let elbo_se = if variance.is_finite() { variance.sqrt() } else { f64::MAX };
        Ok(elbo.is_finite().then_some(Findings { elbo, elbo_se, remaining, energy }))
    }

    /// Goes where the look back says, and plans the coming steps.
    fn learn(&mut self, candidate: Approximation, found: &Findings) {
        let best = self.best.as_ref().map(|best| (best.elbo, best.elbo_se));
        let n_draws = self.pace.n_draws();
        let outcome = self.pace.look_back(&self.plan, found, best);
        self.average = Average::new(candidate.clone());
        match (outcome, &self.best) {
            (LookBack::Best, _) => {
                self.best = Some(Best { q: candidate, elbo: found.elbo, elbo_se: found.elbo_se });
            }
            (LookBack::Retreat, Some(best)) => {
                self.q = best.q.clone();
                self.average = Average::new(best.q.clone());
            }
            _ => {}
        }
        self.pace.plan_steps(&self.plan, found, outcome, self.q.gain_factor());
        if self.pace.n_draws() != n_draws {
            self.make_room(self.pace.n_draws());
        }
    }
}
