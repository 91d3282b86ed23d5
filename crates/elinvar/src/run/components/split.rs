//! Two components in place of one, along the direction in which the target bends most.

use super::judge::Judged;
use super::prune::Survivors;
use crate::block::{Location, LogWeights, Scale};
use crate::family::Approximation;
use crate::linalg::{axpy, dot};
use crate::run::pooled::{Pool, shares};
use crate::special::order;
use crate::tuning;

impl Judged {
    /// The survivors with the worst of them split, at most `room`.
    pub(super) fn split(&self, survivors: &Survivors, room: usize, pool: Option<&Pool>) -> Approximation {
        let by_source = pool.map_or_else(|| self.shares(), |pool| shares(pool, &self.q));
        let shares: Vec<f64> = survivors.source.iter().map(|c| c.map_or(0.0, |c| by_source[c])).collect();
        let largest = shares.iter().copied().fold(0.0, f64::max);
        let mut worst: Vec<usize> =
            (0..shares.len()).filter(|c| shares[*c] >= tuning::growth::DIVERGENCE_WORTH_A_SPLIT * largest).collect();
        order::descending(&mut worst, |c| shares[*c]);
        worst.truncate(room);
        let q = &survivors.q;
        let (mut blocks, mut log_weights) = (q.locations().to_vec(), q.weights().log().to_vec());
        for c in worst {
            let Some(source) = survivors.source[c] else { continue };
            let direction = match pool {
                Some(pool) => {
                    let (weight, z, pull) = pool.around(&self.q.locations()[source]);
                    self.bent_direction(source, &weight, &z, pull)
                }
                None => {
                    let own = source * self.per_component..(source + 1) * self.per_component;
                    let (d, z) = (self.q.dim(), self.draws.view().range(own.clone()));
                    let pull = self.pull[own.start * d..own.end * d].to_vec();
                    let counts: Vec<f64> = self.weight[own].iter().map(|w| f64::from(u8::from(*w > 0.0))).collect();
                    self.bent_direction(source, &counts, z.as_slice(), pull)
                }
            };
            if let Some([one, two]) = halves(&blocks[c], &direction) {
                log_weights[c] -= std::f64::consts::LN_2;
                log_weights.push(log_weights[c]);
                blocks[c] = one;
                blocks.push(two);
            }
        }
        match LogWeights::new(log_weights).and_then(|weights| Approximation::mixture(weights, blocks)) {
            Ok(mixture) => mixture,
            Err(_) => q.clone(),
        }
    }

    /// The unit direction u, whitened by component `c`, with the largest |T(u, ·, ·)|, T = E_c[∇³(log p − log q)].
    ///
    /// Two halves at ±u that are shaped differently change third derivatives along u, and the bound gains by the square
    /// of what there is of them to match. With x the whitened draw and g the whitened gradient, weighted,
    /// T = E[(xxᵀ − I) ⊗ g] by parts, symmetrised; its contraction with itself is a matrix whose leading eigenvector is
    /// wanted.
    fn bent_direction(&self, c: usize, weight: &[f64], z: &[f64], mut g: Vec<f64>) -> Vec<f64> {
        let (d, m) = (self.q.dim(), weight.len());
        let block = &self.q.locations()[c];
        let (mut x, mut offset, mut score) = (vec![0.0; d * m], vec![0.0; d * m], vec![0.0; d]);
        for (i, (weight, z)) in weight.iter().zip(z.chunks_exact(d)).enumerate() {
            let at = i * d..(i + 1) * d;
            if *weight == 0.0 {
                g[at].fill(0.0);
                continue;
            }
            offset[at.clone()].iter_mut().zip(z).zip(block.column(0)).for_each(|((o, z), mu)| *o = z - mu);
            self.q.score(z, &mut score);
            g[at].iter_mut().zip(&score).for_each(|(g, score)| *g = weight * (*g - score));
        }
        block.scale().whiten(&offset, &mut x);
        block.scale().whiten_gradient(&mut g);
        let mut u = vec![0.0; d];
        // Any start that is not orthogonal to the answer will do; draws far out on the bent side are not.
        for (x, g) in x.chunks_exact(d).zip(g.chunks_exact(d)) {
            axpy(dot(x, g), x, &mut u);
        }
        u[0] += 1e-3 * dot(&u, &u).sqrt() + 1e-300;
        let (mut matrix, mut next) = (vec![0.0; d * d], vec![0.0; d]);
        for _ in 0..tuning::growth::SPLIT_ITERATIONS {
            let norm = dot(&u, &u).sqrt();
            if !(norm > 0.0 && norm.is_finite()) {
                break;
            }
            u.iter_mut().for_each(|v| *v /= norm);
            third_derivatives_along(&u, &x, &g, &mut matrix);
            contract(&matrix, &x, &g, &mut next);
            std::mem::swap(&mut u, &mut next);
        }
        let norm = dot(&u, &u).sqrt();
        if norm > 0.0 && norm.is_finite() {
            u.iter_mut().for_each(|v| *v /= norm);
        } else {
            u.fill(0.0);
            u[0] = 1.0;
        }
        u
    }
}

/// M = T(u, ·, ·), up to a factor.
fn third_derivatives_along(u: &[f64], x: &[f64], g: &[f64], matrix: &mut [f64]) {
    let d = u.len();
    matrix.fill(0.0);
    let mut column = vec![0.0; d];
    for (x, g) in x.chunks_exact(d).zip(g.chunks_exact(d)) {
        let (ux, ug) = (dot(u, x), dot(u, g));
        column.copy_from_slice(x);
        column.iter_mut().zip(u).for_each(|(v, u)| *v = *v * ux - u);
        for (j, entries) in matrix.chunks_exact_mut(d).enumerate() {
            axpy(g[j], &column, entries);
            axpy(column[j], g, entries);
            axpy(ug * x[j], x, entries);
            entries[j] -= ug;
        }
    }
}

/// out = Σ_kl T_·kl M_kl, up to a factor.
fn contract(matrix: &[f64], x: &[f64], g: &[f64], out: &mut [f64]) {
    let d = out.len();
    out.fill(0.0);
    let trace: f64 = (0..d).map(|i| matrix[i * d + i]).sum();
    let (mut mx, mut mg) = (vec![0.0; d], vec![0.0; d]);
    for (x, g) in x.chunks_exact(d).zip(g.chunks_exact(d)) {
        for (i, row) in matrix.chunks_exact(d).enumerate() {
            mx[i] = dot(row, x);
            mg[i] = dot(row, g);
        }
        axpy(2.0 * dot(x, &mg), x, out);
        axpy(-2.0, &mg, out);
        axpy(dot(x, &mx) - trace, g, out);
    }
}

/// The two halves of a component at ±√VARIANCE_BETWEEN_HALVES along a whitened unit direction; together they have its
/// mean and covariance.
fn halves(block: &Location, direction: &[f64]) -> Option<[Location; 2]> {
    let between = tuning::growth::VARIANCE_BETWEEN_HALVES;
    let scale = block.scale();
    let mut precision = scale.precision().to_vec();
    scale.take_out(between, direction, 1.0, &mut precision);
    let mut offset = direction.to_vec();
    scale.unwhiten(&mut offset);
    let half = |sign: f64| {
        let mut b = block.column(0).to_vec();
        axpy(sign * between.sqrt(), &offset, &mut b);
        Location::new(b, Scale::from_precision(scale.shape(), precision.clone()).ok()?).ok()
    };
    Some([half(1.0)?, half(-1.0)?])
}
