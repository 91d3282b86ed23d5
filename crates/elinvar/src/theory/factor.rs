//! The exact view of the factor Gaussian: ũ = (1, w₁ … w_k), s = 1, Ω = I.

use super::{Exact, coordinates};
use crate::Error;
use crate::family::{Approximation, Factor, Gradient};
use crate::linalg::dot;
use crate::random::Stream;
use crate::special::normal::HALF_LOG_TWO_PI;

impl Factor<'_> {
    fn loading(&self, w: &[f64]) -> Vec<f64> {
        assert_eq!(w.len(), self.rank(), "w of a factor Gaussian has k numbers");
        [&[1.0], w].concat()
    }

    /// Ω = Ω⁻¹ = I.
    fn identity(&self) -> Vec<f64> {
        let r = self.block.n_columns();
        (0..r * r).map(|i| if i % r == i / r { 1.0 } else { 0.0 }).collect()
    }
}

impl Exact for Factor<'_> {
    fn natural(&self) -> Vec<f64> {
        coordinates::natural(self.block)
    }

    fn with_natural(&self, q: &Approximation, natural: &[f64]) -> Result<Approximation, Error> {
        Approximation::single(q.family(), coordinates::with_natural(self.block, natural)?)
    }

    fn expectation(&self) -> Vec<f64> {
        coordinates::expectation(self.block, &self.identity())
    }

    fn with_expectation(&self, q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error> {
        Approximation::single(q.family(), coordinates::with_expectation(self.block, &self.identity(), expectation)?)
    }

    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        coordinates::statistics(self.block.scale().shape(), z, &self.loading(w), 1.0)
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        let log_w = -0.5 * dot(w, w) - w.len() as f64 * HALF_LOG_TWO_PI;
        coordinates::log_conditional(self.block, z, &self.loading(w), 1.0) + log_w
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let (mut w, mut eps) = (vec![0.0; self.rank()], vec![0.0; self.block.dim()]);
        stream.fill_normal(&mut w);
        stream.fill_normal(&mut eps);
        (coordinates::place(self.block, eps, &self.loading(&w), 1.0), w)
    }

    fn log_partition(&self) -> f64 {
        coordinates::log_partition(self.block, &self.identity())
    }

    fn fisher(&self) -> Vec<f64> {
        coordinates::fisher(self.block, &self.identity())
    }

    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64> {
        coordinates::natural_gradient(self.block, &gradient.blocks[0], &self.identity())
    }
}
