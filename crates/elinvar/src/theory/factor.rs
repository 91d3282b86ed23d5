//! The exact view of a family with a number of its own for each column: ũ = (1, w₁ … w_k), s = 1.

use super::{Exact, coordinates};
use crate::Error;
use crate::family::{Approximation, Factor, Gradient, Omega};
use crate::random::Stream;

impl Factor<'_> {
    fn loading(&self, w: &[f64]) -> Vec<f64> {
        assert_eq!(w.len(), self.rank(), "w of a factor Gaussian has k numbers");
        [&[1.0], w].concat()
    }

    /// Ω and Ω⁻¹.
    fn omega(&self) -> (Vec<f64>, Vec<f64>) {
        Omega::of_independent(self.law, self.rank())
    }
}

impl Exact for Factor<'_> {
    coordinates::of_one_block!();

    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        coordinates::statistics(self.block.scale().shape(), z, &self.loading(w), 1.0)
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        let log_w: f64 = w.iter().map(|w| self.law.log_density(*w)).sum();
        coordinates::log_conditional(self.block, z, &self.loading(w), 1.0) + log_w
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let (mut w, mut eps) = (vec![0.0; self.rank()], vec![0.0; self.block.dim()]);
        stream.fill_normal(&mut w);
        w.iter_mut().for_each(|w| *w = self.law.of_normal(*w));
        stream.fill_normal(&mut eps);
        (coordinates::place(self.block, eps, &self.loading(&w), 1.0), w)
    }
}
