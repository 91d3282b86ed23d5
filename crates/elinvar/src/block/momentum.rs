//! The last displacement of a block, added to its gradient.

use super::gradient::BlockGradient;
use super::location::{Location, LocationScratch, times_small};
use super::log_weights::LogWeights;
use crate::linalg::axpy;

impl Location {
    /// G += ratio (P − P₋) and ∇_B L += ratio P₋(B − B₋)Ω, where `before` is (B₋, P₋): a plain step β along this moves by β times
    /// the natural gradient and β·ratio times the last displacement, both in natural parameters (mathematics §7.1).
    ///
    /// Paper: App. J.
    pub(crate) fn add_momentum(
        &self,
        before: &Self,
        ratio: f64,
        omega: &[f64],
        scratch: &mut LocationScratch,
        gradient: &mut BlockGradient,
    ) {
        let d = self.dim();
        axpy(ratio, self.scale.precision(), &mut gradient.g);
        axpy(-ratio, before.scale.precision(), &mut gradient.g);
        scratch.moved.copy_from_slice(&self.b);
        axpy(-1.0, &before.b, &mut scratch.moved);
        scratch.shift.fill(0.0);
        for (x, out) in scratch.moved.chunks_exact(d).zip(scratch.shift.chunks_exact_mut(d)) {
            before.scale.add_precision_times(x, out);
        }
        times_small(d, &scratch.shift, omega, &mut scratch.direction);
        axpy(ratio, &scratch.direction, &mut gradient.b);
    }
}

impl LogWeights {
    /// E_c\[h\] −= ratio (log π_c − log π₋_c): the weights step along −E_c\[h\].
    pub(crate) fn add_momentum(&self, before: &Self, ratio: f64, expected_h: &mut [f64]) {
        axpy(-ratio, self.log(), expected_h);
        axpy(ratio, before.log(), expected_h);
    }
}
