//! The learned tail of a Student-t as a quantity of the posterior.

use serde::{Deserialize, Serialize};

use super::Posterior;
use crate::law::Law;

/// The shape a of a Student-t that the fit has found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TailIndex {
    /// a: the density falls like |z|^−(2a + d).
    pub a: f64,
    /// 2a.
    pub degrees_of_freedom: f64,
    /// How far a may be from the best one: where the bound is lower by as much as the last review of the fit left to
    /// gain, with one standard error of that estimate. The bound is taken to curve like the information that a draw z
    /// has about a once the size of Σ is fitted, which is exact where the target is a t. `None` if there was no review.
    pub standard_error: Option<f64>,
}

impl Posterior {
    /// The tail of the posterior where the fit has learned it: `student_t` with a learned shape, `None` for everything
    /// else.
    pub fn tail_index(&self) -> Option<TailIndex> {
        let law = self.approximation().law();
        let Law::InverseGamma(t) = law else { return None };
        let a = if law.is_learned() { t.shape() } else { return None };
        let information = law.marginal_fisher(self.dim())?;
        let error = |(mean, error): (f64, f64)| (2.0 * (mean.abs() + error) / information).sqrt();
        Some(TailIndex { a, degrees_of_freedom: 2.0 * a, standard_error: self.record.remaining.map(error) })
    }
}
