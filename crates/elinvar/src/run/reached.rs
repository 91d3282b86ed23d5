//! What an interrupted fit has reached, for whoever would rather have the best so far than an error.

use super::StopReason;
use super::fitting::Fitting;
use crate::Error;
use crate::family::Approximation;
use crate::plan::Plan;
use crate::posterior::Posterior;
use crate::target::Target;

impl Fitting<'_> {
    /// Keeps what a part of the fit had reached when `outcome` says that it was interrupted. What the parts of that part
    /// have kept is given up for it, unless it had reached nothing.
    pub(super) fn or_reached<T>(
        &mut self,
        outcome: Result<T, Error>,
        reached: impl FnOnce() -> Option<Posterior>,
    ) -> Result<T, Error> {
        if self.gives_best
            && matches!(outcome, Err(Error::Interrupted))
            && let Some(posterior) = reached()
        {
            self.reached = Some(Box::new(posterior));
        }
        outcome
    }

    /// [`Fitting::or_reached`] with a member of the family, where parts have kept nothing.
    pub(super) fn or_member<T>(
        &mut self,
        outcome: Result<T, Error>,
        target: &dyn Target,
        plan: &Plan,
        member: &Approximation,
    ) -> Result<T, Error> {
        let is_known = self.reached.is_some();
        self.or_reached(outcome, || {
            let of_member = || Posterior::of_run(&target.about(), member.clone(), plan, StopReason::Interrupted, None);
            (!is_known).then(of_member)
        })
    }

    /// Forgets what was reached for a density that stands in for that of the fit.
    pub(super) fn for_another<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        self.reached = None;
        outcome
    }

    /// The best so far in place of an interruption, with the record of the fit and without a verdict.
    pub(super) fn or_best(&mut self, outcome: Result<Posterior, Error>) -> Result<Posterior, Error> {
        match (outcome, self.reached.take()) {
            (Err(Error::Interrupted), Some(mut posterior)) => {
                posterior.end_interrupted();
                self.finish(&mut posterior);
                Ok(*posterior)
            }
            (outcome, _) => outcome,
        }
    }
}
