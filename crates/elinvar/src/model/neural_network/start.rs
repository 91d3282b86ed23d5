//! Means and widths with which a fit of a network begins: climbs to a mode from zero do not leave zero, where all units are alike.

use super::{NetworkLikelihood, NeuralNetwork};
use crate::random::Stream;

/// Standard deviation of a weight at the start, relative to the spread of the means of its layer.
const RELATIVE_WIDTH: f64 = 0.1;

impl NeuralNetwork {
    /// The spread of the means of each layer's weights.
    fn spread(&self, l: usize) -> f64 {
        let last = l + 1 == self.layers.len();
        let gain = if last { 1.0 } else { self.architecture.activation.gain() };
        // The prior has the last word where it is narrower.
        (gain / self.layers[l].fan_in as f64).min(1.0 / self.prior_precision).sqrt()
    }

    /// Standard deviation of each coordinate.
    pub(crate) fn start_widths(&self) -> Vec<f64> {
        let mut widths = vec![RELATIVE_WIDTH; self.dim];
        for (l, layer) in self.layers.iter().enumerate() {
            widths[layer.range()].fill(RELATIVE_WIDTH * self.spread(l));
        }
        widths
    }

    /// A mean of each coordinate.
    pub(crate) fn start_means(&self, stream: &mut Stream) -> Vec<f64> {
        let mut means = vec![0.0; self.dim];
        for (l, layer) in self.layers.iter().enumerate() {
            let spread = self.spread(l);
            for unit in means[layer.range()].chunks_exact_mut(layer.n_inputs()) {
                unit[..layer.fan_in].iter_mut().for_each(|weight| *weight = spread * stream.normal());
            }
        }
        if let NetworkLikelihood::Gaussian(_) = self.likelihood {
            let n = self.y.len() as f64;
            let mean = self.y.iter().sum::<f64>() / n;
            means[self.n_weights() - 1] = mean;
            if self.likelihood.learned_noise().is_some() {
                let variance = self.y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
                // Responses that are all alike say nothing about a scale.
                means[self.dim - 1] = if variance > 0.0 { 0.5 * variance.ln() } else { 0.0 };
            }
        }
        means
    }
}
