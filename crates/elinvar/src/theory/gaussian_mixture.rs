//! The exact view of a mixture: each component's coordinates, then log(π_c/π_K) for c < K (mathematics §1.2).

use super::{Exact, check_length, coordinates};
use crate::Error;
use crate::block::LogWeights;
use crate::family::{Approximation, GaussianMixture, Gradient, draw_label};
use crate::random::Stream;
use crate::target::Shape;

impl GaussianMixture<'_> {
    fn n_components(&self) -> usize {
        self.components.len()
    }

    fn shape(&self) -> Shape {
        self.components[0].scale().shape()
    }

    /// Number of coordinates of one component.
    fn per_component(&self) -> usize {
        coordinates::count(self.shape(), 1)
    }

    fn check_coordinates(&self, found: &[f64]) -> Result<(), Error> {
        check_length(self.n_components() * self.per_component() + self.n_mixing(), found)
    }

    /// The component with this label.
    fn labelled(&self, w: &[f64]) -> usize {
        assert!(w.len() == 1 && w[0] >= 0.0 && (w[0] as usize) < self.n_components(), "w of a mixture is a label");
        w[0] as usize
    }
}

impl Exact for GaussianMixture<'_> {
    fn n_mixing(&self) -> usize {
        self.n_components() - 1
    }

    fn natural(&self) -> Vec<f64> {
        let log = self.weights.log();
        let last = log[self.n_mixing()];
        let components = self.components.iter().flat_map(coordinates::natural);
        components.chain(log[..self.n_mixing()].iter().map(|log| log - last)).collect()
    }

    fn with_natural(&self, _q: &Approximation, natural: &[f64]) -> Result<Approximation, Error> {
        self.check_coordinates(natural)?;
        let (first, odds) = natural.split_at(natural.len() - self.n_mixing());
        let components =
            first.chunks_exact(self.per_component()).map(|eta| coordinates::from_natural(self.shape(), 1, eta));
        let components = components.collect::<Result<Vec<_>, Error>>()?;
        Approximation::mixture(LogWeights::new([odds, &[0.0]].concat())?, components)
    }

    fn expectation(&self) -> Vec<f64> {
        let components = self.components.iter().enumerate().flat_map(|(c, block)| {
            let weight = self.weights.weight(c);
            coordinates::expectation(block, &[1.0]).into_iter().map(move |m| weight * m)
        });
        components.chain((0..self.n_mixing()).map(|c| self.weights.weight(c))).collect()
    }

    fn with_expectation(&self, _q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error> {
        self.check_coordinates(expectation)?;
        let (first, weights) = expectation.split_at(expectation.len() - self.n_mixing());
        let weights = [weights, &[1.0 - weights.iter().sum::<f64>()]].concat();
        if let Some(value) = weights.iter().copied().find(|weight| weight.is_nan() || *weight <= 0.0) {
            return Err(Error::Domain { parameter: "weight", value, reason: "weights are positive and sum to one" });
        }
        let parts = first.chunks_exact(self.per_component()).zip(&weights);
        let components = parts.map(|(m, weight)| {
            let m: Vec<f64> = m.iter().map(|m| m / weight).collect();
            coordinates::from_expectation(self.shape(), 1, &[1.0], &m)
        });
        let components = components.collect::<Result<Vec<_>, Error>>()?;
        Approximation::mixture(LogWeights::new(weights.iter().map(|weight| weight.ln()).collect())?, components)
    }

    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        let (label, n) = (self.labelled(w), self.per_component());
        let mut out = vec![0.0; self.n_components() * n + self.n_mixing()];
        out[label * n..(label + 1) * n].copy_from_slice(&coordinates::statistics(self.shape(), z, &[1.0], 1.0));
        if label < self.n_mixing() {
            out[self.n_components() * n + label] = 1.0;
        }
        out
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        let label = self.labelled(w);
        coordinates::log_conditional(&self.components[label], z, &[1.0], 1.0) + self.weights.log()[label]
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let label = draw_label(self.weights, stream);
        let mut eps = vec![0.0; self.shape().dim()];
        stream.fill_normal(&mut eps);
        (coordinates::place(&self.components[label], eps, &[1.0], 1.0), vec![label as f64])
    }

    fn log_partition(&self) -> f64 {
        let parts = self.components.iter().enumerate();
        parts.map(|(c, block)| self.weights.weight(c) * coordinates::log_partition(block, &[1.0])).sum()
    }

    /// π_c times the Gaussian matrix of each component, and diag(π) − ππᵀ without the last weight.
    fn fisher(&self) -> Vec<f64> {
        let (k, m, n_mixing) = (self.n_components(), self.per_component(), self.n_mixing());
        let n = k * m + n_mixing;
        let mut out = vec![0.0; n * n];
        for (c, block) in self.components.iter().enumerate() {
            let weight = self.weights.weight(c);
            for (j, column) in coordinates::fisher(block, &[1.0]).chunks_exact(m).enumerate() {
                for (i, value) in column.iter().enumerate() {
                    out[(c * m + j) * n + c * m + i] = weight * value;
                }
            }
        }
        for a in 0..n_mixing {
            for b in 0..n_mixing {
                let (pi_a, pi_b) = (self.weights.weight(a), self.weights.weight(b));
                let diagonal = if a == b { pi_a } else { 0.0 };
                out[(k * m + a) * n + k * m + b] = diagonal - pi_a * pi_b;
            }
        }
        out
    }

    /// The stored gradient of a component is divided by π_c already, as m_c = π_c(·) asks for; −(E_c\[h\] − E_K\[h\]) for the weights.
    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64> {
        let last = gradient.expected_h[self.n_mixing()];
        let blocks = self.components.iter().zip(&gradient.blocks);
        let components = blocks.flat_map(|(block, gradient)| coordinates::natural_gradient(block, gradient, &[1.0]));
        components.chain(gradient.expected_h[..self.n_mixing()].iter().map(|h| last - h)).collect()
    }
}
