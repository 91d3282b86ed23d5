//! Runs that ask for log p alone.

use super::{Counts, Plan, Run};
use crate::Error;
use crate::estimate::Curvature;
use crate::family::{Approximation, Family};
use crate::target::{Rows, Target};

/// Whether the family and the target agree about gradients.
pub(super) fn check_values(target: &dyn Target, start: &Approximation, curvature: Curvature) -> Result<(), Error> {
    if curvature == Curvature::GradientFree && !start.takes_values_alone()
        || !target.has_gradient() && curvature != Curvature::GradientFree
    {
        return Err(not_from_values(start.family()));
    }
    Ok(())
}

/// What to say where a family needs gradients and there are none.
pub(super) fn not_from_values(family: Family) -> Error {
    Error::Unsupported {
        wanted: format!("`{family}` from values of the log density alone"),
        instead: "give the target a gradient, or fit `gaussian`, `student_t` with a given, `skew`, `emg`, `nig`, `snig`, `rank_k`, `matrix` or \
                  `mog` with its number of components"
            .into(),
    }
}

impl Run<'_> {
    /// Writes log p of the batch; gradients are neither asked for nor counted, unless the target cannot do without.
    pub(super) fn evaluate_values(&mut self) -> Result<(), Error> {
        let draws = self.batch.draws.view();
        let rows = if self.minibatch.is_some() { Rows::Subset(&self.rows) } else { Rows::All };
        let n_points = draws.len() as u64;
        self.counts.log_density += n_points;
        match self.target.values() {
            Some(values) => {
                let (log_p, _, scratch) = self.evaluations.parts_mut();
                values.log_densities(draws, rows, scratch, log_p)?;
            }
            None => {
                self.counts.gradient += if self.target.has_gradient() { n_points } else { 0 };
                self.target.evaluate(draws, rows, &mut self.evaluations)?;
            }
        }
        Ok(())
    }

    /// The evaluations that `max_evaluations` limits: gradients, or values where there are no gradients.
    pub(super) fn evaluations_of_limit(&self) -> u64 {
        Self::limited(&self.plan, self.counts)
    }

    /// [`Run::evaluations_of_limit`] of other counts.
    pub(super) fn limited(plan: &Plan, counts: Counts) -> u64 {
        let Counts { log_density, gradient, .. } = counts;
        if plan.curvature == Curvature::GradientFree { log_density } else { gradient }
    }
}
