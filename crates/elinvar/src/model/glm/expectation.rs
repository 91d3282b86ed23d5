//! Expectations of a generalised linear model under a Gaussian: a one-dimensional integral for each row (mathematics
//! §12.6).

use std::ops::Range;

use super::block::BESIDE;
use super::{Glm, Likelihood, Pass, SMALLEST_BLOCK, Sums};
use crate::linalg::{axpy, products};
use crate::model::kernels;
use crate::special::trapezoid::Trapezoid;
use crate::target::{Covariance, Shape};

/// The covariance of a Gaussian.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) shape: Covariance,
    pub(super) covariance: &'a [f64],
}

/// Rows of a block.
pub(crate) const EXPECTATION_BLOCK: usize = 4 * SMALLEST_BLOCK;
const BLOCK: usize = EXPECTATION_BLOCK;

/// Numbers of memory for a chunk.
pub(super) fn memory(d: usize, shape: Covariance, subset: bool) -> usize {
    let products = if shape == Covariance::Full { BLOCK * d } else { 0 };
    6 * BLOCK + products + if subset { BLOCK * (d + BESIDE) } else { 0 }
}

/// The expectation of a function of η ~ N(m, s²) with the poles of a logistic function, by the trapezoidal rule, which
/// converges geometrically: replaces `eta`, the means, by E ℓ′, writes E ℓ and E ℓ″; returns the number of nodes.
/// `variance` is overwritten by s; `node` holds four numbers per row.
pub(crate) fn by_nodes<L: Likelihood + ?Sized>(
    y: &[f64],
    eta: &mut [f64],
    variance: &mut [f64],
    [value, curvature]: [&mut [f64]; 2],
    node: &mut [f64],
) -> usize {
    let n = y.len();
    let mut widest: f64 = 0.0;
    for v in variance.iter_mut() {
        *v = v.max(0.0).sqrt();
        // A number that is not one must not be lost here.
        widest = if *v > widest || v.is_nan() { *v } else { widest };
    }
    let rule = Trapezoid::new(std::f64::consts::PI / widest, 0.0);
    let [at, node_value, node_curvature, slope] = split_in_four(node, n);
    slope.fill(0.0);
    value.fill(0.0);
    curvature.fill(0.0);
    for (u, weight) in rule.nodes() {
        at.iter_mut().zip(&*eta).zip(&*variance).for_each(|((at, m), s)| *at = m + s * u);
        L::block(y, at, node_value, node_curvature);
        axpy(weight, at, slope);
        axpy(weight, node_value, value);
        axpy(weight, node_curvature, curvature);
    }
    eta.copy_from_slice(slope);
    rule.len()
}

fn split_in_four(memory: &mut [f64], n: usize) -> [&mut [f64]; 4] {
    let (a, rest) = memory.split_at_mut(n);
    let (b, rest) = rest.split_at_mut(n);
    let (c, rest) = rest.split_at_mut(n);
    [a, b, c, &mut rest[..n]]
}

impl<L: Likelihood> Glm<L> {
    /// Adds the expectations over rows `range`: E log p and the sum of nodes over rows to `log_p`, E∇log p and E∇²log
    /// p.
    pub(super) fn expect_chunk(
        &self,
        (pass, around): (Pass<'_>, Around<'_>),
        range: Range<usize>,
        work: &mut [f64],
        sums: Sums<'_>,
    ) {
        let (d, mean) = (self.rows.x.n_cols(), pass.draws.get(0));
        let is_full = around.shape == Covariance::Full;
        let (eta, work) = work.split_at_mut(BLOCK);
        let (variance, work) = work.split_at_mut(BLOCK);
        let (node, work) = work.split_at_mut(4 * BLOCK);
        let (spread, gathered) = work.split_at_mut(if is_full { BLOCK * d } else { 0 });
        for start in range.clone().step_by(BLOCK) {
            let n = BLOCK.min(range.end - start);
            let rows = self.gather(pass.rows, start..start + n, gathered);
            let (x, y) = (rows.x, rows.y);
            let (eta, variance) = (&mut eta[..n], &mut variance[..n]);
            products::rows_times(x, d, mean, eta);
            rows.add_offset(eta);
            variance.fill(0.0);
            if is_full {
                let spread = &mut spread[..n * d];
                products::rows_times(x, d, around.covariance, spread);
                for (j, column) in spread.chunks_exact(n).enumerate() {
                    let entries = variance.iter_mut().zip(column).zip(x[j..].iter().step_by(d));
                    entries.for_each(|((v, s), x)| *v += s * x);
                }
            } else {
                for (v, row) in variance.iter_mut().zip(x.chunks_exact(d)) {
                    *v = row.iter().zip(around.covariance).map(|(x, c)| x * x * c).sum();
                }
            }
            let mut sums_of_rows = [[0.0; BLOCK]; 2];
            let [value, curvature] = sums_of_rows.each_mut().map(|numbers| &mut numbers[..n]);
            let nodes = L::expectation_block(y, eta, variance, [&mut *value, &mut *curvature], node);
            rows.weigh([value, &mut *eta, curvature]);
            let [value, curvature] = sums_of_rows.each_ref().map(|numbers| &numbers[..n]);
            sums.log_p[0] += kernels::sum(value) + rows.constant;
            sums.log_p[1] += (nodes * n) as f64;
            products::add_rows_transposed_times(x, d, eta, sums.grad);
            Shape::new(around.shape, d).add_weighted_gram(x, curvature, spread, sums.curvature);
        }
    }
}
