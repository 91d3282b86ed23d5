//! Independent draws of an approximation that is not the result of a fit.

use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::family::{DrawPlan, NoiseKey};
use elinvar::random::Purpose;
use elinvar::target::DrawBuffer;

/// `n` draws, the same for the same `seed`.
pub(crate) fn draws(q: &Approximation, n: usize, seed: u64) -> DrawBuffer {
    let mut estimator = q.estimator(&DrawPlan::independent(n.div_ceil(q.n_components())));
    let mut batch = estimator.batch(q);
    estimator.draw(q, NoiseKey { seed, purpose: Purpose::Diagnostics, step: 0 }, &mut batch);
    let mut draws = DrawBuffer::zeros(q.dim(), n);
    let len = n * q.dim();
    draws.as_mut_slice().copy_from_slice(&batch.draws.view().as_slice()[..len]);
    draws
}
