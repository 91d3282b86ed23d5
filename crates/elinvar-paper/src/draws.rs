//! Independent draws of an approximation that is not the result of a fit.

use elinvar::family::{AnyApproximation, Approximation, DrawPlan, with_approximation};
use elinvar::random::Purpose;
use elinvar::target::DrawBuffer;

/// `n` draws, the same for the same `seed`.
pub(crate) fn draws(q: &AnyApproximation, n: usize, seed: u64) -> DrawBuffer {
    with_approximation!(q, q => {
        let plan = DrawPlan::independent(n.div_ceil(q.n_blocks()));
        let (mut work, mut batch) = (q.work(&plan), q.batch(&plan));
        q.draw(seed, Purpose::Diagnostics, 0, &mut work, &mut batch);
        let mut draws = DrawBuffer::zeros(q.dim(), n);
        let len = n * q.dim();
        draws.as_mut_slice().copy_from_slice(&batch.draws.view().as_slice()[..len]);
        draws
    })
}
