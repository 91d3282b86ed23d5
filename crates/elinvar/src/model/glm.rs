//! Generalised linear models: Σ_n ℓ(y_n, x_nᵀz), its gradient and its contracted Hessians in one pass over the rows.
//!
//! Rows are taken in blocks: η = X Z is one product for all draws, a kernel turns η into value, slope ℓ′ and curvature
//! ℓ″, the gradient is Xᵀ ℓ′, and contraction k is Xᵀ diag(Σ_s w_ks ℓ″_s) X. Large problems are cut into a fixed number
//! of chunks of rows whose sums are added in order: the result depends on neither the number of threads nor on whether
//! threads exist.

mod block;
mod expectation;

use std::marker::PhantomData;
use std::ops::Range;

use super::DesignMatrix;
use super::join::join;
use super::kernels;
use super::rows::{RegressionRows, methods_of_rows};
use crate::Error;
use crate::linalg::{axpy, products};
use crate::target::{
    About, Answer, Ask, Concavity, Contraction, Covariance, Derivatives, Draws, Offers, Parts, Prior, Room, Rows,
    Scratch, Shape, Target, TargetError, Want,
};
use block::BESIDE;
use expectation::Around;
pub(super) use expectation::{EXPECTATION_BLOCK, by_nodes};

/// Chunks of rows of a large problem.
const N_CHUNKS: usize = 8;
/// Number of multiplications N·d·S from which the rows are cut into chunks: about ten times the cost of waking a
/// thread.
const LARGE: usize = 1 << 19;
/// Numbers η of a block, where there are few draws.
const LINEAR: usize = 4096;
/// Fewest rows of a block.
const SMALLEST_BLOCK: usize = 64;

/// ℓ(y, η) elementwise, concave in η: a [`Glm`] says so of its log density.
pub trait Likelihood: Send + Sync {
    /// Writes ℓ, replaces η by ∂ℓ/∂η and writes ∂²ℓ/∂η².
    fn block(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]);

    /// Adds Σℓ and `constant` of each draw, whose η follow each other, to its sum, where nothing else is wanted; what
    /// else is written is unspecified.
    fn add_values(y: &[f64], eta: &mut [f64], [value, curvature]: [&mut [f64]; 2], constant: f64, sums: &mut [f64]) {
        for (eta, sum) in eta.chunks_exact_mut(y.len()).zip(sums) {
            Self::block(y, eta, value, curvature);
            *sum += kernels::sum(value) + constant;
        }
    }

    /// Writes E ℓ, replaces the means of η ~ N(m, s²) by E ∂ℓ/∂η and writes E ∂²ℓ/∂η²; the variances may be
    /// overwritten. Returns how many evaluations of ℓ a row was worth. `node` holds four numbers per row, of which
    /// there are at most 256.
    fn expectation_block(
        y: &[f64],
        eta: &mut [f64],
        variance: &mut [f64],
        outputs: [&mut [f64]; 2],
        node: &mut [f64],
    ) -> usize;
}

/// A generalised linear model with a declared prior of the coefficients: [`LogisticRegression`] and
/// [`PoissonRegression`].
///
/// [`LogisticRegression`]: super::LogisticRegression
/// [`PoissonRegression`]: super::PoissonRegression
#[derive(Clone, Debug)]
pub struct Glm<L> {
    rows: RegressionRows,
    /// What ℓ leaves out of log p(y | η), one number per row, or empty.
    constants: Vec<f64>,
    prior: Prior,
    likelihood: PhantomData<L>,
}

/// What one pass computes.
#[derive(Clone, Copy)]
struct Pass<'a> {
    draws: Draws<'a>,
    rows: Rows<'a>,
    order: Order,
    contraction: Option<(Contraction<'a>, Covariance)>,
    /// The covariance of a Gaussian around the one draw, whose expectations are wanted.
    around: Option<Around<'a>>,
}

/// Which sums besides the contractions.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    None,
    Value,
    Gradient,
}

/// Where the sums of a pass go; slices that are not wanted are empty.
struct Sums<'a> {
    log_p: &'a mut [f64],
    grad: &'a mut [f64],
    curvature: &'a mut [f64],
}

methods_of_rows!(Glm<L: Likelihood>);

impl<L: Likelihood> Target for Glm<L> {
    fn about(&self) -> About {
        About {
            names: self.rows.x.names().to_vec(),
            parameters: self.rows.x.table_names().to_vec(),
            transforms: self.rows.x.transforms(1, []),
            prior: self.prior.clone(),
            n_rows: Some(self.rows.x.n_rows()),
            offers: Offers {
                values: true,
                hessian: true,
                gauss_newton: true,
                item_gradients: true,
                gaussian_expectation: true,
                ..Offers::GRADIENT
            },
            derivatives: Derivatives::Known,
            concavity: Concavity::Concave,
            room: room(self.rows.x.n_cols()),
            ..About::new(self.rows.x.n_cols())
        }
    }

    /// The Gauss–Newton matrix is the Hessian: η is linear in z.
    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let Ask { draws, rows, want } = *ask;
        let Parts { log_p, grad, mut curvature, items, work, scratch } = answer.parts_mut();
        let mut pass = Pass { draws, rows, order: Order::Gradient, contraction: None, around: None };
        match want {
            Want::Values => {
                pass.order = Order::Value;
                self.run(pass, scratch, Sums { log_p, grad: &mut [], curvature: &mut [] });
            }
            Want::Gradients => self.run(pass, scratch, Sums { log_p, grad, curvature: &mut [] }),
            Want::HessianAlone(contraction) => {
                pass.order = Order::None;
                pass.contraction = Some((contraction, curvature.covariance()));
                self.run(pass, scratch, Sums { log_p: &mut [], grad: &mut [], curvature: curvature.as_mut_slice() });
            }
            Want::Hessian(contraction) | Want::GaussNewton(contraction) => {
                pass.contraction = Some((contraction, curvature.covariance()));
                self.run(pass, scratch, Sums { log_p, grad, curvature: curvature.as_mut_slice() });
            }
            Want::GaussianExpectation { shape, covariance } => {
                pass.around = Some(Around { shape, covariance });
                let mut sums = [0.0; 2];
                self.run(pass, scratch, Sums { log_p: &mut sums, grad, curvature: curvature.as_mut_slice() });
                log_p[0] = sums[0];
                // A product of the rows with a matrix is half as many gradients as it has columns.
                let nodes = sums[1] / rows.len(self.rows.x.n_rows()).max(1) as f64;
                let products = if shape == Covariance::Full { 0.5 * self.rows.x.n_cols() as f64 } else { 1.0 };
                *work = (products + nodes).ceil() as u64;
            }
            Want::ItemGradients { draw } => self.write_item_gradients(draws.get(draw), rows, scratch, items),
        }
        Ok(())
    }
}

impl<L: Likelihood> Glm<L> {
    /// The model with these responses; `constants` is what ℓ leaves out of log p(y | η), one number per row, or empty.
    pub(super) fn with_constants(
        x: DesignMatrix,
        y: Vec<f64>,
        constants: Vec<f64>,
        prior_precision: f64,
    ) -> Result<Self, Error> {
        let rows = RegressionRows::new(x, y)?;
        check_precision(prior_precision)?;
        let prior = Prior::Gaussian { precision: prior_precision, leading: rows.x.n_cols() };
        Ok(Self { rows, constants, prior, likelihood: PhantomData })
    }

    /// The same model with another prior of the coefficients.
    ///
    /// # Errors
    /// As [`Prior::check`].
    pub fn with_coefficient_prior(self, prior: Prior) -> Result<Self, Error> {
        prior.check(self.rows.x.n_cols())?;
        Ok(Self { prior, ..self })
    }

    /// ℓ′(y_n, x_nᵀz) x_n for each row.
    fn write_item_gradients(&self, z: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let (d, total) = (self.rows.x.n_cols(), rows.len(self.rows.x.n_rows()));
        // The smallest block of a pass, so that the memory of any pass is enough.
        let block = SMALLEST_BLOCK;
        let (eta, work) = scratch.take(block * (3 + d + BESIDE)).split_at_mut(block);
        let (value, work) = work.split_at_mut(block);
        let (curvature, gathered) = work.split_at_mut(block);
        for (start, out) in (0..total).step_by(block).zip(out.chunks_mut(block * d)) {
            let n = block.min(total - start);
            let rows = self.gather(rows, start..start + n, gathered);
            products::rows_times(rows.x, d, z, &mut eta[..n]);
            rows.add_offset(&mut eta[..n]);
            L::block(rows.y, &mut eta[..n], &mut value[..n], &mut curvature[..n]);
            rows.weigh([&mut eta[..n], &mut [], &mut []]);
            for ((out, row), slope) in out.chunks_exact_mut(d).zip(rows.x.chunks_exact(d)).zip(&*eta) {
                out.iter_mut().zip(row).for_each(|(out, x)| *out = slope * x);
            }
        }
    }

    fn run(&self, pass: Pass<'_>, scratch: &mut Scratch, sums: Sums<'_>) {
        let (d, n_draws) = (self.rows.x.n_cols(), pass.draws.len());
        assert_eq!(pass.draws.dim(), d, "draws have the dimension of the model");
        let n = pass.rows.len(self.rows.x.n_rows());
        let subset = matches!(pass.rows, Rows::Subset(_));
        let work = match pass.around {
            Some(around) => expectation::memory(d, around.shape, subset),
            None => work_len(d, n_draws, subset, pass.contraction.is_some()),
        };
        let n_values = match pass.order {
            Order::None => 0,
            // The expectation, and what it cost.
            _ if pass.around.is_some() => 2,
            _ => n_draws,
        };
        let n_slopes = if pass.order == Order::Gradient { n_draws * d } else { 0 };
        let log_p = &mut sums.log_p[..n_values];
        let grad = &mut sums.grad[..n_slopes];
        let chunks = n_chunks(n, d, if pass.around.is_some() { d } else { n_draws });
        log_p.fill(0.0);
        grad.fill(0.0);
        if chunks == 1 {
            let sums = Sums { log_p, grad, curvature: &mut *sums.curvature };
            self.run_chunk(pass, 0..n, scratch.take(work), sums);
        } else {
            let lengths = [work, n_values, n_slopes, sums.curvature.len()];
            let stride = lengths.iter().sum();
            let memory = scratch.take(chunks * stride);
            self.run_chunks(pass, 0..chunks, n, memory, lengths);
            for part in memory.chunks_exact(stride) {
                let partial = split(part, lengths);
                axpy(1.0, partial[1], log_p);
                axpy(1.0, partial[2], grad);
                axpy(1.0, partial[3], sums.curvature);
            }
        }
        let shape = pass.contraction.map(|(_, shape)| shape).or(pass.around.map(|around| around.shape));
        if shape == Some(Covariance::Full) {
            sums.curvature.chunks_exact_mut(d * d).for_each(|matrix| products::mirror_lower(d, matrix));
        }
    }

    fn run_chunks(&self, pass: Pass<'_>, chunks: Range<usize>, n: usize, memory: &mut [f64], lengths: [usize; 4]) {
        if chunks.len() == 1 {
            let (work, partial) = memory.split_at_mut(lengths[0]);
            partial.fill(0.0);
            let (log_p, partial) = partial.split_at_mut(lengths[1]);
            let (grad, curvature) = partial.split_at_mut(lengths[2]);
            let rows = chunks.start * n / N_CHUNKS..chunks.end * n / N_CHUNKS;
            return self.run_chunk(pass, rows, work, Sums { log_p, grad, curvature });
        }
        let middle = chunks.start + chunks.len() / 2;
        let stride = lengths.iter().sum::<usize>();
        let (left, right) = memory.split_at_mut((middle - chunks.start) * stride);
        join(
            || self.run_chunks(pass, chunks.start..middle, n, left, lengths),
            || self.run_chunks(pass, middle..chunks.end, n, right, lengths),
        );
    }

    fn run_chunk(&self, pass: Pass<'_>, range: Range<usize>, work: &mut [f64], sums: Sums<'_>) {
        if let Some(around) = pass.around {
            return self.expect_chunk((pass, around), range, work, sums);
        }
        let (d, n_draws) = (self.rows.x.n_cols(), pass.draws.len());
        let block = block_rows(n_draws);
        let kept = if pass.contraction.is_some() { n_draws } else { 1 };
        let (eta, work) = work.split_at_mut(block * n_draws);
        let (curvature, work) = work.split_at_mut(block * kept);
        let (value, work) = work.split_at_mut(block);
        let (weights, work) = work.split_at_mut(if pass.contraction.is_some() { block } else { 0 });
        let (scaled, gathered) = work.split_at_mut(if pass.contraction.is_some() { block * d } else { 0 });
        for start in range.clone().step_by(block) {
            let n = block.min(range.end - start);
            let rows = self.gather(pass.rows, start..start + n, gathered);
            let (x, eta) = (rows.x, &mut eta[..n * n_draws]);
            products::rows_times(x, d, pass.draws.as_slice(), eta);
            rows.add_offset(eta);
            if pass.order == Order::Value && !rows.is_weighted() {
                L::add_values(rows.y, eta, [&mut value[..n], &mut curvature[..n]], rows.constant, sums.log_p);
                continue;
            }
            for (s, eta) in eta.chunks_exact_mut(n).enumerate() {
                let at = if kept > 1 { s * n } else { 0 };
                L::block(rows.y, eta, &mut value[..n], &mut curvature[at..at + n]);
                rows.weigh([&mut value[..n], eta, &mut curvature[at..at + n]]);
                if pass.order != Order::None {
                    sums.log_p[s] += kernels::sum(&value[..n]) + rows.constant;
                }
            }
            if pass.order == Order::Gradient {
                products::add_rows_transposed_times(x, d, eta, sums.grad);
            }
            let Some((contraction, covariance)) = pass.contraction else { continue };
            let weights = &mut weights[..n];
            for (k, out) in sums.curvature.chunks_exact_mut(covariance.n_entries(d)).enumerate() {
                weights.fill(0.0);
                for (s, weight) in contraction.draws(k).zip(contraction.weights(k)) {
                    // A dropped draw has weight zero; its curvature may be infinite.
                    if *weight != 0.0 {
                        axpy(*weight, &curvature[s * n..(s + 1) * n], weights);
                    }
                }
                Shape::new(covariance, d).add_weighted_gram(x, weights, scaled, out);
            }
        }
    }
}

/// Checks δ > 0.
pub(super) fn check_precision(precision: f64) -> Result<(), Error> {
    if precision > 0.0 && precision.is_finite() {
        return Ok(());
    }
    Err(Error::Domain { parameter: "prior precision", value: precision, reason: "it must be positive and finite" })
}

/// Rows of a block: enough for the matrix product, few enough for η and ℓ″ of all draws to stay in the cache.
pub(super) fn block_rows(n_draws: usize) -> usize {
    (LINEAR / n_draws.max(1)).clamp(SMALLEST_BLOCK, products::GRAM_BLOCK)
}

fn work_len(d: usize, n_draws: usize, subset: bool, contract: bool) -> usize {
    let block = block_rows(n_draws);
    let eta_and_value = block * (n_draws + 1);
    let curvature = if contract { block * (n_draws + 1) + block * d } else { block };
    eta_and_value + curvature + if subset { block * (d + BESIDE) } else { 0 }
}

/// The largest [`work_len`], and sums, of all chunks: a block of n rows has n ≤ GRAM_BLOCK, and with S draws n·S is at
/// most LINEAR + SMALLEST_BLOCK·S.
fn room(d: usize) -> Room {
    let once = 2 * LINEAR + products::GRAM_BLOCK * (2 * d + 2 + BESIDE);
    let per_draw = 2 * SMALLEST_BLOCK + d + 1;
    Room { once: N_CHUNKS * once, per_draw: N_CHUNKS * per_draw, of_sums: 0, per_entry: N_CHUNKS }
}

fn n_chunks(n: usize, d: usize, n_draws: usize) -> usize {
    if n.saturating_mul(d).saturating_mul(n_draws) >= LARGE { N_CHUNKS } else { 1 }
}

fn split(part: &[f64], lengths: [usize; 4]) -> [&[f64]; 4] {
    let mut rest = part;
    lengths.map(|length| {
        let (head, tail) = rest.split_at(length);
        rest = tail;
        head
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_enough_for_every_pass_and_not_for_much_more() {
        for (d, n_draws, entries) in [(1, 1, 1), (2, 6, 4), (11, 16, 121), (11, 96, 363), (54, 2000, 54), (200, 17, 0)]
        {
            let work = work_len(d, n_draws, true, true);
            let taken = N_CHUNKS * (work + n_draws + n_draws * d + entries);
            let reserved = room(d).of(n_draws, entries);
            assert!((taken..6 * taken).contains(&reserved), "d = {d}, S = {n_draws}: {reserved} for {taken}");
        }
    }
}
