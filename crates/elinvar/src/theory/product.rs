//! The exact view of products of scale mixtures: w has a number for each coordinate.

use super::{Exact, coordinates};
use crate::Error;
use crate::family::{Approximation, Gradient, Product};
use crate::random::Stream;
use crate::special::normal::HALF_LOG_TWO_PI;

impl Product<'_> {
    /// Ω = E[1/s] of a coordinate.
    fn information(&self) -> f64 {
        self.law.moments().inv_s
    }

    fn scales(&self, w: &[f64]) -> Vec<f64> {
        assert_eq!(w.len(), self.block.dim(), "a product has a w for each coordinate");
        w.iter().map(|w| self.law.scale(*w)).collect()
    }
}

impl Exact for Product<'_> {
    fn natural(&self) -> Vec<f64> {
        coordinates::natural(self.block)
    }

    fn with_natural(&self, q: &Approximation, natural: &[f64]) -> Result<Approximation, Error> {
        Approximation::single(q.family(), coordinates::with_natural(self.block, natural)?)
    }

    fn expectation(&self) -> Vec<f64> {
        coordinates::expectation(self.block, &[self.information()])
    }

    fn with_expectation(&self, q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error> {
        Approximation::single(
            q.family(),
            coordinates::with_expectation(self.block, &[self.information().recip()], expectation)?,
        )
    }

    /// z_i/s_i, then z_i²/s_i.
    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        let scales = self.scales(w);
        let first = z.iter().zip(&scales).map(|(z, s)| z / s);
        first.chain(z.iter().zip(&scales).map(|(z, s)| z * z / s)).collect()
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        let (mu, precision) = (self.block.column(0), self.block.scale().precision());
        let of = |i: usize, s: f64| {
            let r = z[i] - mu[i];
            0.5 * (precision[i] / s).ln() - HALF_LOG_TWO_PI - 0.5 * precision[i] * r * r / s
        };
        let conditional: f64 = self.scales(w).into_iter().enumerate().map(|(i, s)| of(i, s)).sum();
        conditional + w.iter().map(|w| self.law.log_mixing_density(*w)).sum::<f64>()
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let (mu, precision) = (self.block.column(0), self.block.scale().precision());
        let w: Vec<f64> = mu.iter().map(|_| self.law.sample(stream)).collect();
        let place = |i: usize, w: f64, eps: f64| mu[i] + (self.law.scale(w) / precision[i]).sqrt() * eps;
        let z = w.iter().enumerate().map(|(i, w)| place(i, *w, stream.normal())).collect();
        (z, w)
    }

    fn log_partition(&self) -> f64 {
        coordinates::log_partition(self.block, &[self.information()])
    }

    fn fisher(&self) -> Vec<f64> {
        coordinates::fisher(self.block, &[self.information()])
    }

    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64> {
        coordinates::natural_gradient(self.block, &gradient.blocks[0], &[self.information().recip()])
    }
}
