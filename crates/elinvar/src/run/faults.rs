//! Whether the answers of a target belong together, when a fit begins and when it has ended.

use super::Counts;
use super::fitting::Fitting;
use super::start::{Placement, start_around};
use crate::Error;
use crate::evaluate::{Evaluator, Places};
use crate::family::{Approximation, DrawPlan, Family, NoiseKey};
use crate::random::Purpose;
use crate::target::{Derivatives, DrawBuffer, Fault, Target};
use crate::tuning::derivatives::{POINTS_AT_END, POINTS_AT_START};

/// Looks at a target and counts what it asks; nothing of a fit depends on that.
pub(super) struct Watch<'t> {
    target: &'t dyn Target,
    seed: u64,
    counts: Counts,
}

impl<'t> Watch<'t> {
    pub(super) fn new(target: &'t dyn Target, seed: u64) -> Self {
        Self { target, seed, counts: Counts::default() }
    }

    /// Looks around the start of a fit.
    ///
    /// # Errors
    /// [`Error::Fault`] with what is wrong; a fatal error of the target; [`Error::Interrupted`].
    pub(super) fn begin(&mut self, q: &Approximation, fit: &Fitting<'_>) -> Result<(), Error> {
        match self.look(q, 0, POINTS_AT_START, fit)? {
            // Noise ends no fit, but it is told.
            Some(Fault::Noise { .. }) | None => Ok(()),
            Some(fault) => Err(Error::Fault(fault)),
        }
    }

    /// Why a fit found no start: what is wrong with the target, if anything is, or else the error itself.
    pub(super) fn explain(&mut self, error: Error, fit: &Fitting<'_>) -> Error {
        let dim = self.target.dim();
        if !matches!(error, Error::BadStart { .. }) || dim == 0 {
            return error;
        }
        let Ok(q) = start_around(Family::gaussian().diagonal(), dim, Placement::default(), self.seed) else {
            return error;
        };
        match self.look(&q, 0, POINTS_AT_START, fit) {
            Ok(Some(fault)) => Error::Fault(fault),
            _ => error,
        }
    }

    /// Looks around what was fitted, and has the fit count all looks.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn end(mut self, q: &Approximation, fit: &mut Fitting<'_>) -> Result<Option<Fault>, Error> {
        let fault = self.look(q, 1, POINTS_AT_END, fit)?;
        fit.counts += self.counts;
        let counts = fit.counts;
        if let Some(step) = fit.last_step_mut() {
            step.counts = counts;
        }
        Ok(fault)
    }

    fn look(&mut self, q: &Approximation, step: u64, n: usize, fit: &Fitting<'_>) -> Result<Option<Fault>, Error> {
        let mut evaluator = Evaluator::new(self.target, fit.interrupt());
        if evaluator.about().derivatives == Derivatives::Known {
            return Ok(None);
        }
        let draws = drawn(q, NoiseKey { seed: self.seed, purpose: Purpose::Derivatives, step }, 3 * n);
        let fault = evaluator.look_for_faults(&Places::of(&draws));
        self.counts += evaluator.counts();
        fault
    }
}

/// `n` draws of q.
fn drawn(q: &Approximation, key: NoiseKey, n: usize) -> DrawBuffer {
    let mut estimator = q.estimator(&DrawPlan::independent(n));
    let mut batch = estimator.batch(q);
    estimator.draw(q, key, &mut batch);
    let mut draws = DrawBuffer::zeros(q.dim(), n);
    // The draws of a mixture follow each other by component.
    (0..n).for_each(|s| draws.get_mut(s).copy_from_slice(batch.draws.get(s * batch.n / n)));
    draws
}
