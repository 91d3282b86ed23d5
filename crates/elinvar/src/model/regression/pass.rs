//! One pass over the rows of a regression.

use std::ops::Range;

use super::super::glm::block_rows;
use super::super::join::join;
use super::{MOST, Regression, RowLaw};
use crate::linalg::{axpy, products};
use crate::target::{Ask, Contraction, Covariance, Parts, Rows, Shape, Want};

/// Chunks of rows of a large problem.
pub(super) const N_CHUNKS: usize = 8;
/// Evaluations of a row from which the rows are cut into chunks: each costs far more than a multiplication.
const LARGE: usize = 1 << 14;

/// Lengths of the memory of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    p: usize,
    k: usize,
    n_draws: usize,
    n_sums: usize,
    shape: Covariance,
    block: usize,
}

impl Sizes {
    pub(super) fn of(p: usize, k: usize, n_draws: usize, n_sums: usize, shape: Covariance) -> Self {
        Self { p, k, n_draws, n_sums, shape, block: block_rows(n_draws) }
    }

    /// Entries of XᵀWX of a sum.
    fn gram(&self) -> usize {
        self.shape.n_entries(self.p)
    }

    /// Sums of a chunk: log p, ∇β, ∇a, ∂²a of each draw; XᵀWX and Xᵀ∂²ηa of each sum.
    fn partial(&self) -> usize {
        self.n_draws * (1 + self.p + self.k + 3) + self.n_sums * (self.gram() + self.k * self.p)
    }

    /// η, ∂²η and ∂²ηa of a block for each draw; weights, scaled rows and gathered rows; β of each draw.
    fn work(&self) -> usize {
        self.block * self.n_draws * (2 + self.k) + self.block * (1 + 2 * self.p) + self.n_draws * self.p
    }

    pub(super) fn total(&self) -> usize {
        self.partial() + self.work()
    }
}

/// What a pass computes.
#[derive(Clone, Copy)]
struct Pass<'a> {
    ask: &'a Ask<'a>,
    contraction: Option<Contraction<'a>>,
    sizes: Sizes,
}

/// The sums of a chunk.
struct Sums<'a> {
    log_p: &'a mut [f64],
    beta: &'a mut [f64],
    auxiliary: &'a mut [f64],
    auxiliary_auxiliary: &'a mut [f64],
    gram: &'a mut [f64],
    cross: &'a mut [f64],
}

impl<'a> Sums<'a> {
    fn split(sizes: &Sizes, partial: &'a mut [f64]) -> Self {
        let s = sizes.n_draws;
        let (log_p, rest) = partial.split_at_mut(s);
        let (beta, rest) = rest.split_at_mut(s * sizes.p);
        let (auxiliary, rest) = rest.split_at_mut(s * sizes.k);
        let (auxiliary_auxiliary, rest) = rest.split_at_mut(3 * s);
        let (gram, cross) = rest.split_at_mut(sizes.n_sums * sizes.gram());
        Self { log_p, beta, auxiliary, auxiliary_auxiliary, gram, cross }
    }
}

impl<L: RowLaw> Regression<L> {
    pub(super) fn pass(&self, ask: &Ask<'_>, parts: Parts<'_>) {
        let Parts { log_p, grad, mut curvature, scratch, .. } = parts;
        let (p, k) = (self.x.n_cols(), L::AUXILIARY.len());
        let (d, n, n_draws) = (p + k, ask.rows.len(self.x.n_rows()), ask.draws.len());
        assert_eq!(ask.draws.dim(), d, "draws have the dimension of the model");
        let contraction = ask.contraction();
        let shape = if contraction.is_some() { curvature.covariance() } else { Covariance::Diagonal };
        let sizes = Sizes::of(p, k, n_draws, contraction.map_or(0, |sums| sums.len()), shape);
        let chunks = if n.saturating_mul(n_draws) >= LARGE { N_CHUNKS } else { 1 };
        let memory = scratch.take(chunks * sizes.total());
        self.chunks(Pass { ask, contraction, sizes }, 0..chunks, (n, chunks), memory);
        let (first, others) = memory.split_at_mut(sizes.total());
        let first = &mut first[..sizes.partial()];
        others.chunks_exact(sizes.total()).for_each(|chunk| axpy(1.0, &chunk[..sizes.partial()], first));
        let sums = Sums::split(&sizes, first);
        let share = n as f64 / self.n_rows_of_whole as f64;
        for (s, (z, log_p)) in ask.draws.iter().zip(log_p).enumerate() {
            let priors = self.auxiliary_priors.iter().zip(&z[p..]).map(|(prior, a)| prior.log_density(*a));
            *log_p = sums.log_p[s] + share * priors.clone().map(|prior| prior[0]).sum::<f64>();
            if matches!(ask.want, Want::Values) {
                continue;
            }
            let grad = &mut grad[s * d..(s + 1) * d];
            grad[..p].copy_from_slice(&sums.beta[s * p..(s + 1) * p]);
            grad[p..].copy_from_slice(&sums.auxiliary[s * k..(s + 1) * k]);
            for (j, prior) in priors.enumerate() {
                grad[p + j] += share * prior[1];
                sums.auxiliary_auxiliary[3 * s + 2 * j] += share * prior[2];
            }
        }
        let Some(contraction) = contraction else { return };
        for sum in 0..contraction.len() {
            let gram = &sums.gram[sum * sizes.gram()..(sum + 1) * sizes.gram()];
            let cross = &sums.cross[sum * k * p..(sum + 1) * k * p];
            let mut corner = [0.0; 3];
            for (s, weight) in contraction.draws(sum).zip(contraction.weights(sum)).filter(|(_, w)| **w != 0.0) {
                axpy(*weight, &sums.auxiliary_auxiliary[3 * s..3 * s + 3], &mut corner);
            }
            write_curvature(&sizes, gram, cross, corner, curvature.entries_mut(sum));
        }
    }

    fn chunks(&self, pass: Pass<'_>, chunks: Range<usize>, (n, total): (usize, usize), memory: &mut [f64]) {
        if chunks.len() == 1 {
            let (partial, work) = memory.split_at_mut(pass.sizes.partial());
            partial.fill(0.0);
            let rows = chunks.start * n / total..chunks.end * n / total;
            return self.chunk(pass, rows, Sums::split(&pass.sizes, partial), work);
        }
        let middle = chunks.start + chunks.len() / 2;
        let (left, right) = memory.split_at_mut((middle - chunks.start) * pass.sizes.total());
        join(
            || self.chunks(pass, chunks.start..middle, (n, total), left),
            || self.chunks(pass, middle..chunks.end, (n, total), right),
        );
    }

    fn chunk(&self, pass: Pass<'_>, range: Range<usize>, sums: Sums<'_>, work: &mut [f64]) {
        let Sizes { p, k, n_draws, block, shape, .. } = pass.sizes;
        let (eta, work) = work.split_at_mut(block * n_draws);
        let (curved, work) = work.split_at_mut(block * n_draws);
        let (crossed, work) = work.split_at_mut(block * n_draws * k);
        let (weights, work) = work.split_at_mut(block);
        let (scaled, work) = work.split_at_mut(block * p);
        let (gathered, betas) = work.split_at_mut(block * p);
        for (beta, z) in betas.chunks_exact_mut(p).zip(pass.ask.draws.iter()) {
            beta.copy_from_slice(&z[..p]);
        }
        let rows = pass.ask.rows;
        for start in range.clone().step_by(block) {
            let n = block.min(range.end - start);
            let x = match rows {
                Rows::Subset(_) => {
                    for (i, row) in gathered.chunks_exact_mut(p).take(n).enumerate() {
                        row.copy_from_slice(self.x.row(rows.index(start + i)));
                    }
                    &gathered[..n * p]
                }
                _ => self.x.rows(start..start + n),
            };
            let eta = &mut eta[..n * n_draws];
            products::rows_times(x, p, betas, eta);
            for (s, (eta, z)) in eta.chunks_exact_mut(n).zip(pass.ask.draws.iter()).enumerate() {
                let shared = L::shared(&z[p..]);
                if matches!(pass.ask.want, Want::Values) {
                    sums.log_p[s] += self.values(&shared, eta, |i| rows.index(start + i));
                    continue;
                }
                let mut total = [0.0; 1 + MOST + 3];
                for (i, eta) in eta.iter_mut().enumerate() {
                    let row = rows.index(start + i);
                    let (at, weight) = (*eta + self.offset.get(row).unwrap_or(&0.0), self.weight(row));
                    let slopes = L::slopes(&shared, self.y[row], self.trials_of(row), at);
                    total[0] += weight * slopes.value + self.constants[row];
                    *eta = weight * slopes.eta;
                    curved[s * n + i] = weight * slopes.eta_eta;
                    for j in 0..k {
                        total[1 + j] += weight * slopes.auxiliary[j];
                        crossed[(j * n_draws + s) * n + i] = weight * slopes.eta_auxiliary[j];
                    }
                    let corner = total[1 + MOST..].iter_mut().zip(slopes.auxiliary_auxiliary);
                    corner.for_each(|(total, part)| *total += weight * part);
                }
                sums.log_p[s] += total[0];
                axpy(1.0, &total[1..1 + k], &mut sums.auxiliary[s * k..(s + 1) * k]);
                axpy(1.0, &total[1 + MOST..], &mut sums.auxiliary_auxiliary[3 * s..3 * s + 3]);
            }
            if matches!(pass.ask.want, Want::Values) {
                continue;
            }
            products::add_rows_transposed_times(x, p, eta, sums.beta);
            let Some(contraction) = pass.contraction else { continue };
            let weights = &mut weights[..n];
            let entries = pass.sizes.gram();
            for sum in 0..contraction.len() {
                let gram = &mut sums.gram[sum * entries..(sum + 1) * entries];
                contract(contraction, sum, &curved[..n_draws * n], weights);
                Shape::new(shape, p).add_weighted_gram(x, weights, scaled, gram);
                for j in 0..k {
                    let of_one = &crossed[j * n_draws * n..(j + 1) * n_draws * n];
                    contract(contraction, sum, of_one, weights);
                    let cross = &mut sums.cross[(sum * k + j) * p..(sum * k + j + 1) * p];
                    products::add_rows_transposed_times(x, p, weights, cross);
                }
            }
        }
    }

    /// Σ w_n log p of rows with these x_nᵀβ.
    fn values(&self, shared: &L::Shared, eta: &[f64], index: impl Fn(usize) -> usize) -> f64 {
        let mut sum = 0.0;
        for (i, eta) in eta.iter().enumerate() {
            let row = index(i);
            let at = eta + self.offset.get(row).unwrap_or(&0.0);
            let value = L::value(shared, self.y[row], self.trials_of(row), at);
            sum += self.weight(row) * value + self.constants[row];
        }
        sum
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }
}

/// The weighted sum over draws of what each row has under each draw.
fn contract(contraction: Contraction<'_>, sum: usize, of_draws: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let n = out.len();
    for (s, weight) in contraction.draws(sum).zip(contraction.weights(sum)) {
        // A dropped draw has weight zero; its curvature may be infinite.
        if *weight != 0.0 {
            axpy(*weight, &of_draws[s * n..(s + 1) * n], out);
        }
    }
}

/// Puts XᵀWX, of which the lower triangle is known, the columns beside it and the corner together.
fn write_curvature(sizes: &Sizes, gram: &[f64], cross: &[f64], corner: [f64; 3], out: &mut [f64]) {
    let (p, k) = (sizes.p, sizes.k);
    let d = p + k;
    if sizes.shape == Covariance::Diagonal {
        out[..p].copy_from_slice(gram);
        (0..k).for_each(|j| out[p + j] = corner[2 * j]);
        return;
    }
    for j in 0..p {
        out[j * d + j..j * d + p].copy_from_slice(&gram[j * p + j..(j + 1) * p]);
        (0..k).for_each(|a| out[j * d + p + a] = cross[a * p + j]);
    }
    for a in 0..k {
        for b in a..k {
            out[(p + a) * d + p + b] = corner[a + b];
        }
    }
    products::mirror_lower(d, out);
}
