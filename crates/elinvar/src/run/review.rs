//! The look back after a window of steps: its average is judged on fresh draws, and the next window is planned.

#[cfg(test)]
mod tests;

use super::average::Average;
use super::evaluate::Outcome;
use super::remaining::{BATCHES, Remaining};
use super::{Counts, Run, StopReason};
use crate::Error;
use crate::family::Approximation;
use crate::random::Purpose;
use crate::rule::Rule;
use crate::target::Support;

/// Steps of the first window; each later one ends when the run is 1.4 times as long.
const FIRST_WINDOW: u64 = 8;
/// Steps of the first window of a rule whose steps are short, and steps before which it is not believed to stand still.
const FIRST_UNHURRIED: u64 = 100;
const FEWEST_UNHURRIED: u64 = 2_000;
/// Steps before which a mixture is not believed to have converged, and steps of all its components together. Components that
/// share the work sit on plateaus of the bound: on the beta-binomial with K = 3 the gradient stays below the tolerance for up to
/// 350 steps, 0.003 nats below the optimum.
const FEWEST_OF_A_MIXTURE: u64 = 240;
const FEWEST_OF_COMPONENTS: u64 = 1_200;
/// Noise of a step, in nats per coordinate, up to which the average of many steps is as good as one of few draws more.
///
/// Measured: beta-binomial, K = 3, whole steps. With 16 draws (0.002) averages end 0.0003 nats from the optimum, with 8 draws
/// (0.02) 0.01 nats.
const NOISE_PER_COORDINATE: f64 = 0.01;
/// Share of that noise to which the length of steps is cut.
const NOISE_SHARE: f64 = 0.3;
/// The draws of a review may be this many times those of a step.
const REVIEW_DRAWS: usize = 8;
/// Share of its step length that a run keeps when the bound has fallen, or when whole windows bring it no closer.
const SHORTER: f64 = 0.5;
/// Times the tolerance above which a gain that does not shrink means that the steps are too long.
const CYCLE: f64 = 10.0;
/// Reviews in a row that bring nothing after which a run that can draw no more is given up.
pub(super) const IDLE_REVIEWS: u32 = 5;
/// A fit whose widths have changed by this factor since its start is not about to converge.
const WILD_SCALE: f64 = 1e8;

/// Steps before which a family of `n_blocks` components is not believed to have converged.
fn fewest_steps(n_blocks: usize) -> u64 {
    if n_blocks == 1 { 0 } else { FEWEST_OF_A_MIXTURE.max(FEWEST_OF_COMPONENTS / n_blocks as u64) }
}

/// The best state so far with its bound on fresh draws.
#[derive(Clone, Debug)]
pub(super) struct Best<A> {
    pub(super) q: A,
    pub(super) elbo: f64,
    pub(super) elbo_se: f64,
}

/// What is found when a run ends within a window.
#[derive(Clone, Debug)]
pub(super) struct Closing<A> {
    /// The average of the unfinished window, if it is no worse than the best.
    pub(super) q: Option<A>,
    pub(super) remaining: Option<(f64, f64)>,
    pub(super) counts: Counts,
}

/// What fresh batches say about a state.
struct Findings {
    elbo: f64,
    elbo_se: f64,
    remaining: Remaining,
    /// ½ E|g − E g|² in the Fisher metric for a single draw: the noise of steps.
    energy: f64,
}

impl<A: Approximation> Run<'_, A> {
    /// The step at which the first window of a run from `start` ends.
    pub(super) fn first_review(start: &A, rule: Rule) -> u64 {
        let first = if start.n_blocks() > 1 { fewest_steps(start.n_blocks()) / 4 } else { FIRST_WINDOW };
        if rule.is_unhurried() { first.max(FIRST_UNHURRIED) } else { first }
    }

    /// Whether the present window is full, so that [`Run::review`] is due.
    pub fn review_is_due(&self) -> bool {
        self.step >= self.review_at
    }

    /// Ends the window: judges the average of its states on fresh draws, keeps it if it is the best so far, and plans the next
    /// window: more draws where noise, not the distance to the optimum, limits the fit; shorter steps, from the best state, where
    /// the bound has fallen.
    ///
    /// [`Run::fit`] calls this when [`Run::review_is_due`]; a loop of one's own may, too.
    ///
    /// # Errors
    /// A fatal error of the target.
    pub fn review(&mut self) -> Result<(), Error> {
        let average = if self.plan.average { self.average.value() } else { None };
        let mut candidate = average.unwrap_or_else(|| self.q.clone());
        match self.findings_at(&mut candidate)? {
            Some(found) => {
                // The bound of the best state was the luckiest of several: before it beats a later one it is estimated anew.
                if self.best.as_ref().is_some_and(|best| found.elbo < best.elbo)
                    && let Some(mut best) = self.best.take()
                {
                    if let Some(again) = self.findings_at(&mut best.q)? {
                        (best.elbo, best.elbo_se) = (again.elbo, again.elbo_se);
                    }
                    self.best = Some(best);
                }
                self.learn(candidate, &found);
            }
            None => self.average = Average::new(self.q.clone()),
        }
        // A review costs as much as this many steps; it should not cost more than what it reviews.
        let cost = (BATCHES * self.review_draws).div_ceil(self.n_draws) as u64;
        let young = self.q.n_blocks() > 1 && !self.is_old_enough();
        let length = if young { self.step } else { 2 * self.step / 5 };
        self.review_at = self.step + length.max(FIRST_WINDOW / 2).max(cost);
        Ok(())
    }

    /// Judges the unfinished window of a run that ends before its time. Nothing but [`Run::best`] changes, so that the run can
    /// still be resumed to the bits of one that was never stopped.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        let average = if self.plan.average { self.average.value() } else { None };
        let mut candidate = average.unwrap_or_else(|| self.q.clone());
        let (radius, counts) = (self.radius, self.evaluator.counts());
        let found = self.findings_at(&mut candidate)?;
        let spent = self.evaluator.counts().since(counts);
        self.radius = radius;
        self.evaluator.set_counts(counts);
        let is_worse =
            |best: &Best<A>, found: &Findings| found.elbo < best.elbo - 2.0 * found.elbo_se.hypot(best.elbo_se);
        self.closing = Some(Closing {
            remaining: found.as_ref().map(|found| (found.remaining.mean, found.remaining.error)),
            q: found.filter(|found| !self.best.as_ref().is_some_and(|best| is_worse(best, found))).map(|_| candidate),
            counts: spent,
        });
        Ok(())
    }

    /// [`Run::findings`] at another state, on the draws of this review.
    fn findings_at(&mut self, q: &mut A) -> Result<Option<Findings>, Error> {
        let n_draws = self.n_draws;
        std::mem::swap(&mut self.q, q);
        if self.review_draws != n_draws {
            self.set_n_draws(self.review_draws);
        }
        let findings = self.findings();
        std::mem::swap(&mut self.q, q);
        if self.review_draws != n_draws {
            self.set_n_draws(n_draws);
        }
        findings
    }

    /// Bound, remaining gain and noise at the present state, from independent batches.
    fn findings(&mut self) -> Result<Option<Findings>, Error> {
        let (mut elbo, mut variance) = (0.0, 0.0);
        for b in 0..BATCHES {
            let outcome = self.estimate(Purpose::Check, self.step * BATCHES as u64 + b as u64)?;
            let Outcome::Ready { elbo: (value, error) } = outcome else { return Ok(None) };
            elbo += value / BATCHES as f64;
            variance += (error / BATCHES as f64).powi(2);
            std::mem::swap(&mut self.gradient, &mut self.checks[b]);
        }
        let (q, work, checks) = (&self.q, &mut self.work, &self.checks);
        let remaining = Remaining::of_pairs(|i, j| 0.5 * q.inner(&checks[i], &checks[j], work));
        let squares = checks.iter().map(|g| 0.5 * q.inner(g, g, work)).sum::<f64>() / BATCHES as f64;
        let energy = (squares - remaining.mean).max(0.0) * self.n_draws as f64;
        let remaining = remaining.times(q.gain_factor());
        let elbo_se = if variance.is_finite() { variance.sqrt() } else { f64::MAX };
        Ok(elbo.is_finite().then_some(Findings { elbo, elbo_se, remaining, energy }))
    }

    fn learn(&mut self, candidate: A, found: &Findings) {
        self.previous = self.remaining.replace(found.remaining);
        let (remaining, counts) = (self.last_remaining(), self.evaluator.counts());
        if let Some(last) = self.trace.last_mut() {
            (last.remaining, last.counts) = (remaining, counts);
        }
        self.average = Average::new(candidate.clone());
        let gain = self.best.as_ref().map(|best| (found.elbo - best.elbo, found.elbo_se.hypot(best.elbo_se)));
        self.idle = if gain.is_some_and(|(gain, error)| gain < 2.0 * error) { self.idle + 1 } else { 0 };
        let fallen = gain.is_some_and(|(gain, error)| gain < -3.0 * error);
        match gain {
            _ if fallen => self.retreat(),
            Some((gain, error)) if gain < -2.0 * error => {}
            _ => self.best = Some(Best { q: candidate, elbo: found.elbo, elbo_se: found.elbo_se }),
        }
        self.plan_draws(found, self.idle > 0 && !fallen);
    }

    /// The bound has fallen: back to the best state, with shorter steps from now on.
    fn retreat(&mut self) {
        if let Some(best) = self.best.as_ref().filter(|_| self.learns()) {
            self.q = best.q.clone();
            self.average = Average::new(best.q.clone());
            self.longest *= SHORTER;
            self.radius.forget();
        }
    }

    /// Sets the draws and the length of the coming steps, and the draws of the next review; `idle` says that the bound no longer
    /// rises, nor falls.
    fn plan_draws(&mut self, found: &Findings, idle: bool) {
        let tolerance = self.plan.stop.remaining_nats;
        let remaining = found.remaining;
        let most = self.plan.max_draws.max(self.plan.n_draws);
        let tolerable = NOISE_PER_COORDINATE * self.q.dim() as f64;
        let noise = found.energy / self.n_draws as f64;
        let resolved = remaining.mean > 3.0 * remaining.error;
        let stagnant = resolved && self.previous.is_some_and(|previous| remaining.mean > 0.7 * previous.mean);
        // A gain that is there, does not shrink, and is smaller than the noise: the bias that noise leaves in averages.
        let hidden = stagnant
            && self.is_old_enough()
            && !remaining.is_below(tolerance)
            && noise > remaining.mean / self.q.gain_factor();
        // The noise of a whole natural-gradient step is not that of a step of a few thousandths.
        let noisy = noise > tolerable && !self.plan.rule.is_unhurried();
        if (hidden || noisy) && !self.evaluator.has_minibatch() && 2 * self.n_draws <= most {
            self.set_n_draws(2 * self.n_draws);
            self.idle = 0;
        } else if stagnant && idle && remaining.mean > CYCLE * tolerance {
            // Steps that jump back and forth across the optimum.
            self.longest *= SHORTER;
        }
        // Steps β with noise ν settle about νβ/(2 − β) below the optimum.
        let ratio = NOISE_SHARE * tolerable * self.n_draws as f64 / found.energy;
        self.reach = if ratio.is_finite() { (2.0 * ratio / (1.0 + ratio)).clamp(0.01, 1.0) } else { 1.0 };
        self.review_draws = self.review_draws.max(self.n_draws);
        let unresolved = !resolved && !remaining.is_below(tolerance);
        if unresolved && 2 * self.review_draws <= REVIEW_DRAWS * most {
            self.review_draws *= 2;
            self.idle = 0;
        }
    }

    /// The reason to stop that reviews have given.
    pub(super) fn reason_of_reviews(&self) -> Option<StopReason> {
        let tolerance = self.plan.stop.remaining_nats;
        let (remaining, previous) = (self.remaining?, self.previous?);
        let agreed = previous.mean < tolerance + 3.0 * previous.error;
        if remaining.is_below(tolerance) && agreed && self.is_old_enough() {
            return Some(StopReason::Converged);
        }
        let young = self.plan.rule.is_unhurried() && self.step < FEWEST_UNHURRIED;
        let exhausted = (2 * self.n_draws > self.plan.max_draws || self.evaluator.has_minibatch()) && !young;
        (self.idle >= IDLE_REVIEWS && exhausted).then_some(StopReason::Stagnated)
    }

    /// The remaining gain of the last review with its standard error.
    pub(super) fn last_remaining(&self) -> Option<(f64, f64)> {
        self.remaining.map(|remaining| (remaining.mean, remaining.error))
    }

    fn is_old_enough(&self) -> bool {
        self.step >= fewest_steps(self.q.n_blocks())
    }

    /// Whether the widths have left every plausible range.
    pub(super) fn is_wild(&self) -> bool {
        let now = self.q.variances();
        // Some laws of positive numbers have no variance, and are not wild for that.
        let exists = |variance: f64| variance.is_finite() || self.q.support() == Support::Real;
        self.first_variances.iter().zip(now).any(|(first, now)| {
            let ratio = (now / first).sqrt();
            exists(*first) && exists(now) && !(ratio < WILD_SCALE && ratio > 1.0 / WILD_SCALE)
        })
    }
}
