//! Members of a family that somebody has brought: draws, gradient and density.

use super::{Approximation, Batch, Density, DrawPlan, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::{OwnFamily, OwnParameters};
use crate::linalg::axpy;
use crate::random::NoiseSource;
use crate::target::Contraction;

/// Step of the differences of a score, in standard deviations.
const STEP: f64 = 1e-4;

/// A member as its family reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnMember<'q> {
    block: &'q OwnParameters,
    family: &'static dyn OwnFamily,
}

impl<'q> OwnMember<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        let block = q.own().expect("members of such a family have its block");
        Self { block, family: block.own().family() }
    }

    fn theta(&self) -> &'q [f64] {
        self.block.values()
    }
}

/// Memory for a batch.
#[derive(Debug)]
pub(crate) struct OwnEstimator {
    noise: NoiseSource,
    normals: Vec<f64>,
    n_normals: usize,
    /// Weights of the average over draws.
    weight: Vec<f64>,
    /// ∇log p − ∇log q at a draw.
    slope: Vec<f64>,
    score: Vec<f64>,
}

impl OwnEstimator {
    pub(crate) fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, n) = (q.dim(), plan.n_draws);
        let n_normals = OwnMember::of(q).family.n_normals(d);
        Self {
            noise: NoiseSource::new(plan.noise, n_normals, n),
            normals: vec![0.0; n_normals * n],
            n_normals,
            weight: vec![0.0; n],
            slope: vec![0.0; d],
            score: vec![0.0; d],
        }
    }

    fn normals(&self, s: usize) -> &[f64] {
        &self.normals[s * self.n_normals..(s + 1) * self.n_normals]
    }
}

impl Estimator for OwnEstimator {
    fn batch(&self, q: &Approximation) -> Batch {
        Batch::new(q.dim(), self.weight.len(), 0, 0)
    }

    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch) {
        let member = OwnMember::of(q);
        self.noise.begin(key.seed, key.purpose, key.step, 0);
        self.noise.fill_eps(&mut self.normals);
        for s in 0..batch.n {
            let z = batch.draws.get_mut(s);
            member.family.draw(member.theta(), self.normals(s), z);
            batch.log_q[s] = member.family.log_density(member.theta(), z);
        }
        batch.kept.fill(true);
    }

    fn weigh(&mut self, _q: &Approximation, batch: &Batch) -> bool {
        batch::weigh_equally(batch, &mut self.weight)
    }

    fn contraction(&self) -> Contraction<'_> {
        Contraction::shared(&self.weight, self.weight.len())
    }

    /// E[(∂z/∂θ)ᵀ{∇log p − ∇log q}]: along the draws alone, since E[∂ log q/∂θ] = 0 (mathematics §5.1).
    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, _baseline: f64, out: &mut Gradient) -> bool {
        let Seen { evaluations, prior, batch, .. } = *seen;
        let member = OwnMember::of(q);
        out.blocks[0].reset();
        for s in (0..batch.n).filter(|s| self.weight[*s] > 0.0) {
            let z = batch.draws.get(s);
            self.slope.copy_from_slice(evaluations.grad(s));
            self.slope.iter_mut().zip(z).enumerate().for_each(|(i, (slope, z))| *slope += prior.slope(i, *z));
            member.family.score(member.theta(), z, &mut self.score);
            axpy(-1.0, &self.score, &mut self.slope);
            self.slope.iter_mut().for_each(|slope| *slope *= self.weight[s]);
            member.family.pull_back(member.theta(), self.normals(s), &self.slope, &mut out.blocks[0].b);
        }
        out.is_finite()
    }
}

impl Density for OwnMember<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.block.dim(), "a point has {} coordinates", self.block.dim());
        self.family.log_density(self.theta(), z)
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        self.family.score(self.theta(), z, out);
    }

    /// By differences of the score.
    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        let d = self.block.dim();
        let (mut point, mut above, mut below) = (z.to_vec(), vec![0.0; d], vec![0.0; d]);
        for (j, variance) in self.variances().into_iter().enumerate() {
            let h = STEP * variance.sqrt();
            point[j] = z[j] + h;
            self.score(&point, &mut above);
            point[j] = z[j] - h;
            self.score(&point, &mut below);
            point[j] = z[j];
            for i in 0..d {
                out[j * d + i] = (above[i] - below[i]) / (2.0 * h);
            }
        }
        for j in 0..d {
            for i in 0..j {
                let middle = 0.5 * (out[j * d + i] + out[i * d + j]);
                (out[j * d + i], out[i * d + j]) = (middle, middle);
            }
        }
    }

    fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.block.dim()];
        self.family.mean(self.theta(), &mut mean);
        mean
    }

    fn covariance(&self) -> Vec<f64> {
        let d = self.block.dim();
        let mut covariance = vec![0.0; d * d];
        self.family.covariance(self.theta(), &mut covariance);
        covariance
    }

    fn entropy(&self) -> Option<f64> {
        self.family.entropy(self.theta())
    }

    fn takes_curvature(&self) -> bool {
        false
    }

    fn takes_values_alone(&self) -> bool {
        false
    }
}
