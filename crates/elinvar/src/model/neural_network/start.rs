//! Means and widths with which a fit of a network begins: climbs to a mode from zero do not leave zero, where all units
//! are alike.

use super::{NetworkLikelihood, NeuralNetwork};
use crate::target::Guess;

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

    /// The means of weights spread with variance c/fan-in (c = 2 for rectified units, 1 for tanh and outputs), biases
    /// begin at zero, and every coordinate is narrow beside its layer. The bias of a regression's output begins at the
    /// mean of the responses, log σ at the logarithm of their standard deviation.
    pub(super) fn guess(&self) -> Guess {
        let mut means = vec![0.0; self.dim];
        let mut spreads = vec![0.0; self.dim];
        let mut widths = vec![RELATIVE_WIDTH; self.dim];
        for (l, layer) in self.layers.iter().enumerate() {
            let spread = self.spread(l);
            widths[layer.range()].fill(RELATIVE_WIDTH * spread);
            for unit in spreads[layer.range()].chunks_exact_mut(layer.n_inputs()) {
                unit[..layer.fan_in].fill(spread);
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
        Guess { means, spreads, widths }
    }
}
