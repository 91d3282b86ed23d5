//! k columns along positive numbers: w given z is a normal law on the orthant w > 0 (mathematics §3.8).

use super::Factor;
use super::estimator::FactorEstimator;
use crate::block::BlockGradient;
use crate::linalg::{axpy, dot};
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::special::orthant::OrthantNormal;

/// What one point says about w.
pub(super) struct Loadings {
    pub(super) log_q: f64,
    /// ∇log q = −P(z − μ − A E[w|z]).
    pub(super) score: Vec<f64>,
    given: OrthantNormal,
    /// PA.
    directions: Vec<f64>,
}

impl Loadings {
    pub(super) fn of(q: &Factor<'_>, z: &[f64]) -> Self {
        let (d, k, scale) = (q.block.dim(), q.rank(), q.block.scale());
        assert_eq!(z.len(), d, "a point has {d} coordinates");
        let difference: Vec<f64> = z.iter().zip(q.block.column(0)).map(|(z, mu)| z - mu).collect();
        let (mut y, mut white, mut directions) = (vec![0.0; d], vec![0.0; d * k], vec![0.0; d * k]);
        scale.whiten(&difference, &mut y);
        scale.whiten(&q.block.b()[d..], &mut white);
        scale.factor_times(&white, &mut directions);
        let mut gram = vec![0.0; k * k];
        write_gram(d, &white, &mut gram);
        let along: Vec<f64> = white.chunks_exact(d).map(|a| dot(a, &y)).collect();
        let given = q.law.given(&gram, &along);
        let constant = 0.5 * scale.log_det_precision() - d as f64 * HALF_LOG_TWO_PI;
        let log_q = constant - 0.5 * dot(&y, &y) + given.log_mass;
        let mut score = vec![0.0; d];
        scale.factor_times(&y, &mut score);
        score.iter_mut().for_each(|v| *v = -*v);
        directions.chunks_exact(d).zip(given.mean).for_each(|(a, mean)| axpy(mean, a, &mut score));
        Self { log_q, score, given, directions }
    }

    /// Adds PA Cov[w|z] AᵀP, a full matrix.
    pub(super) fn add_covariance(&self, out: &mut [f64]) {
        let d = self.score.len();
        for (i, a) in self.directions.chunks_exact(d).enumerate() {
            for (j, b) in self.directions.chunks_exact(d).enumerate() {
                for (column, b) in out.chunks_exact_mut(d).zip(b) {
                    axpy(self.given.covariance[i][j] * b, a, column);
                }
            }
        }
    }
}

/// AᵀPA from LᵀA.
fn write_gram(d: usize, white: &[f64], gram: &mut [f64]) {
    let products = white.chunks_exact(d).flat_map(|a| white.chunks_exact(d).map(move |b| dot(a, b)));
    gram.iter_mut().zip(products).for_each(|(entry, product)| *entry = product);
}

impl Factor<'_> {
    /// LᵀA, AᵀPA and PA.
    pub(super) fn write_directions(&self, work: &mut FactorEstimator) {
        let (d, k) = (self.block.dim(), self.rank());
        self.block.scale().whiten(&self.block.b()[d..], &mut work.factors.white);
        write_gram(d, &work.factors.white, &mut work.products[..k * k]);
        self.block.scale().factor_times(&work.factors.white, &mut work.directions[0]);
    }

    /// ∇_A H = PA C and −2∇_Σ H = −P + PA C AᵀP, C the mean of Cov[w|z] over the draws.
    pub(super) fn add_entropy_by_draws(&self, work: &mut FactorEstimator, out: &mut BlockGradient) {
        let (d, k) = (self.block.dim(), self.rank());
        let [directions, spread] = &mut work.directions;
        spread.fill(0.0);
        for (weight, covariance) in work.weight.iter().zip(work.products[k * k..].chunks_exact(k * k)) {
            for (row, spread) in covariance.chunks_exact(k).zip(spread.chunks_exact_mut(d)) {
                row.iter().zip(directions.chunks_exact(d)).for_each(|(c, a)| axpy(weight * c, a, spread));
            }
        }
        axpy(1.0, spread, &mut out.b[d..]);
        let shape = self.block.scale().shape();
        axpy(-1.0, self.block.scale().precision(), &mut out.g);
        let ones = [1.0; crate::law::MOST_DIRECTIONS];
        shape.add_symmetrised(directions, spread, &ones[..k], &mut work.gram, &mut out.g);
    }
}
