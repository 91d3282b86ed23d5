//! The loop: a step, sometimes a look back, until there is a reason to stop.

use super::components::GrowthState;
use super::fitting::Fitting;
use super::journal::{self, Content, Entry};
use super::{Counts, Plan, Run, Step, StopReason};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::posterior::Posterior;

/// What the loop drives: a [`Run`], or a run by least change.
pub(super) trait Driven<'t> {
    fn plan(&self) -> &Plan;
    /// Its way to the target, which counts.
    fn evaluator(&self) -> &Evaluator<'t>;
    fn evaluator_mut(&mut self) -> &mut Evaluator<'t>;
    /// Steps so far.
    fn n_steps(&self) -> u64;
    fn reason_to_stop(&self) -> Option<StopReason>;
    /// A step, with the look back that is due after it.
    ///
    /// # Errors
    /// Those of the target.
    fn advance_once(&mut self) -> Result<Step, Error>;
    /// Judges a run that ends before its time.
    ///
    /// # Errors
    /// Those of the target.
    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// What it has reached when it is interrupted, if that is a member of its family.
    fn reached_by_now(&self, remaining: Option<(f64, f64)>) -> Option<Posterior>;
    /// If it was closed: what its judgement says is left to gain, if it could say.
    fn closing(&self) -> Option<Option<(f64, f64)>> {
        None
    }
    /// All evaluations, those of closing included.
    fn counts(&self) -> Counts {
        self.evaluator().counts()
    }
    /// The fingerprint of a run that has not begun, but for its limits.
    fn origin(&self, counts: Counts) -> String;
    /// Whether the run, which has not begun, will come through an entry of another with other limits.
    fn passes(&self, entry: &Entry) -> bool;
    /// Whether no limit cuts the run short in a way that a later limit could not undo.
    fn is_whole(&self) -> bool {
        true
    }
    /// Where it stands.
    fn content(&self) -> Content;
    /// Where it stands as a round of a growing mixture.
    fn content_within(&self, _growth: &GrowthState) -> Content {
        self.content()
    }
    /// Goes to where the content was taken.
    ///
    /// # Errors
    /// If it belongs to another family.
    fn restore_from(&mut self, content: Content) -> Result<(), Error>;
}

/// Drives a run to its end, or to that of the patience of whoever watches the fit that it belongs to.
///
/// # Errors
/// As [`Run::step`]; those of the journal; [`Error::Interrupted`] if the fit was ended and can be continued.
pub(super) fn drive<'t>(run: &mut impl Driven<'t>, fit: &mut Fitting<'_>) -> Result<StopReason, Error> {
    fit.open(run)?;
    let reason = take_steps(run, fit);
    if matches!(reason, Err(Error::Interrupted)) {
        fit.counts = run.evaluator().counts();
    }
    let remaining = fit.remaining();
    fit.or_reached(reason, || run.reached_by_now(remaining))
}

fn take_steps<'t>(run: &mut impl Driven<'t>, fit: &mut Fitting<'_>) -> Result<StopReason, Error> {
    loop {
        if let Some(reason) = run.reason_to_stop() {
            if reason != StopReason::Converged {
                run.close()?;
            }
            return Ok(reason);
        }
        let step = run.advance_once()?;
        let over = fit.record(step).is_break();
        if over || fit.entry_is_due() {
            fit.keep(run)?;
        }
        if over {
            return fit.end_early(run);
        }
    }
}

impl<'t> Driven<'t> for Run<'t> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn evaluator(&self) -> &Evaluator<'t> {
        &self.evaluator
    }

    fn evaluator_mut(&mut self) -> &mut Evaluator<'t> {
        &mut self.evaluator
    }

    fn n_steps(&self) -> u64 {
        self.pace.step()
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        Run::reason_to_stop(self)
    }

    fn advance_once(&mut self) -> Result<Step, Error> {
        let mut step = self.step()?;
        if self.review_is_due()
            && let Some(remaining) = self.review()?
        {
            (step.remaining, step.counts) = (Some(remaining), self.evaluator.counts());
        }
        Ok(step)
    }

    fn close(&mut self) -> Result<(), Error> {
        Run::close(self)
    }

    fn reached_by_now(&self, remaining: Option<(f64, f64)>) -> Option<Posterior> {
        Some(self.posterior(StopReason::Interrupted, remaining))
    }

    fn closing(&self) -> Option<Option<(f64, f64)>> {
        Run::closing(self)
    }

    fn counts(&self) -> Counts {
        Run::counts(self)
    }

    fn origin(&self, counts: Counts) -> String {
        journal::origin(&self.q, &self.plan, counts)
    }

    fn passes(&self, entry: &Entry) -> bool {
        Run::passes(self, entry)
    }

    fn content(&self) -> Content {
        Content::Run(Box::new(self.state()))
    }

    fn is_whole(&self) -> bool {
        self.pace.is_whole(&self.plan.stop)
    }

    fn content_within(&self, growth: &GrowthState) -> Content {
        Content::Growth(Box::new(growth.within(self)))
    }

    fn restore_from(&mut self, content: Content) -> Result<(), Error> {
        match content {
            Content::Run(state) => self.restore(&state),
            _ => Ok(()),
        }
    }
}
