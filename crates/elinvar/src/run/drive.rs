//! The loop: a step, sometimes a look back, until there is a reason to stop.

use super::fitting::Fitting;
use super::{Run, StopReason};
use crate::Error;

/// Drives a run to its end, or to that of the patience of whoever watches the fit that it belongs to.
///
/// # Errors
/// As [`Run::step`]; those of the journal; [`Error::Interrupted`] if the fit was ended and can be continued.
pub(super) fn drive(run: &mut Run<'_>, fit: &mut Fitting<'_>) -> Result<StopReason, Error> {
    fit.open(run)?;
    loop {
        if let Some(reason) = run.reason_to_stop() {
            if reason != StopReason::Converged {
                run.close()?;
            }
            return Ok(reason);
        }
        let mut step = run.step()?;
        if run.review_is_due()
            && let Some(remaining) = run.review()?
        {
            (step.remaining, step.counts) = (Some(remaining), run.counts);
        }
        let over = fit.record(step).is_break();
        if over || fit.entry_is_due() {
            fit.keep(run)?;
        }
        if over {
            return fit.end_early(run);
        }
    }
}
