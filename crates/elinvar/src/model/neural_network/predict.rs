//! What a network says about new items, and how well that agrees with their responses (mathematics §9.3).

use super::super::DesignMatrix;
use super::{NetworkLikelihood, NeuralNetwork};
use crate::Error;
use crate::special::normal::HALF_LOG_TWO_PI;
use crate::target::{Draws, Rows};

/// Probabilities are kept this far from 0 and 1 in a log-loss.
const CLIP: f64 = 1e-15;

/// The outputs of a network for new items, one set per draw.
#[derive(Clone, Debug)]
pub struct Predictions {
    likelihood: NetworkLikelihood,
    n_rows: usize,
    /// Draw after draw, output after output, one number per item.
    outputs: Vec<f64>,
    /// log σ of each draw of a regression.
    log_sigma: Vec<f64>,
}

impl NeuralNetwork {
    /// The outputs for the rows of `x` at each of the draws.
    ///
    /// # Errors
    /// If the draws have another dimension than the model, or `x` another number of columns.
    pub fn predict(&self, draws: Draws<'_>, x: &DesignMatrix) -> Result<Predictions, Error> {
        if draws.dim() != self.dim {
            return Err(Error::Shape { what: "dimension of the draws", expected: self.dim, found: draws.dim() });
        }
        if x.n_cols() != self.x.n_cols() {
            return Err(Error::Shape { what: "columns of the features", expected: self.x.n_cols(), found: x.n_cols() });
        }
        let (n_rows, n_outputs) = (x.n_rows(), self.likelihood.n_outputs());
        // The same network over the new items; their responses are not known.
        let network = Self { x: x.clone(), y: vec![0.0; n_rows], ..self.clone() };
        let size = network.block_rows();
        let mut memory = vec![0.0; network.block_len(size)];
        let mut outputs = vec![0.0; draws.len() * n_outputs * n_rows];
        for start in (0..n_rows).step_by(size) {
            let n = size.min(n_rows - start);
            let mut block = network.carve(n, &mut memory);
            network.gather(Rows::All, start..start + n, &mut block);
            for (z, out) in draws.iter().zip(outputs.chunks_exact_mut(n_outputs * n_rows)) {
                network.forward(z, &mut block);
                for (from, to) in block.output.chunks_exact(n).zip(out.chunks_exact_mut(n_rows)) {
                    to[start..start + n].copy_from_slice(from);
                }
            }
        }
        let is_regression = matches!(self.likelihood, NetworkLikelihood::Gaussian(_));
        let log_sigma = draws.iter().filter(|_| is_regression).map(|z| self.likelihood.log_sigma(z)).collect();
        Ok(Predictions { likelihood: self.likelihood, n_rows, outputs, log_sigma })
    }
}

impl Predictions {
    /// Number of items.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of draws.
    pub fn n_draws(&self) -> usize {
        self.outputs.len() / (self.n_rows * self.likelihood.n_outputs())
    }

    /// Output `k` of draw `s`, one number per item.
    pub fn output(&self, s: usize, k: usize) -> &[f64] {
        let at = (s * self.likelihood.n_outputs() + k) * self.n_rows;
        &self.outputs[at..at + self.n_rows]
    }

    /// The predictive mean of a regression, the probability of class 1 of two, or the probabilities of the classes,
    /// item after item.
    pub fn mean(&self) -> Vec<f64> {
        let n_outputs = self.likelihood.n_outputs();
        let mut mean = vec![0.0; self.n_rows * n_outputs];
        let share = 1.0 / self.n_draws() as f64;
        for s in 0..self.n_draws() {
            for (i, mean) in mean.chunks_exact_mut(n_outputs).enumerate() {
                match self.likelihood {
                    NetworkLikelihood::Gaussian(_) => mean[0] += share * self.output(s, 0)[i],
                    NetworkLikelihood::Bernoulli => mean[0] += share / (1.0 + (-self.output(s, 0)[i]).exp()),
                    NetworkLikelihood::Categorical { .. } => {
                        let top = (0..n_outputs).map(|k| self.output(s, k)[i]).fold(f64::NEG_INFINITY, f64::max);
                        let total: f64 = (0..n_outputs).map(|k| (self.output(s, k)[i] - top).exp()).sum();
                        for (k, mean) in mean.iter_mut().enumerate() {
                            *mean += share * (self.output(s, k)[i] - top).exp() / total;
                        }
                    }
                }
            }
        }
        mean
    }

    /// √(mean of (y − predictive mean)²).
    ///
    /// # Errors
    /// If there is not one response per item, or the model is a classification.
    pub fn rmse(&self, y: &[f64]) -> Result<f64, Error> {
        self.check(y, true, "the root mean squared error")?;
        let squares: f64 = self.mean().iter().zip(y).map(|(mean, y)| (y - mean) * (y - mean)).sum();
        Ok((squares / y.len() as f64).sqrt())
    }

    /// The mean over items of log mean_s N(y | f_s, σ_s²), in nats.
    ///
    /// # Errors
    /// If there is not one response per item, or the model is a classification.
    pub fn log_likelihood(&self, y: &[f64]) -> Result<f64, Error> {
        self.check(y, true, "the predictive density")?;
        let mut logs = vec![0.0; self.n_draws()];
        let mut total = 0.0;
        for (i, y) in y.iter().enumerate() {
            for (s, log) in logs.iter_mut().enumerate() {
                let standardised = (y - self.output(s, 0)[i]) * (-self.log_sigma[s]).exp();
                *log = -0.5 * standardised * standardised - self.log_sigma[s] - HALF_LOG_TWO_PI;
            }
            let top = logs.iter().fold(f64::NEG_INFINITY, |top, log| top.max(*log));
            total += top + (logs.iter().map(|log| (log - top).exp()).sum::<f64>() / logs.len() as f64).ln();
        }
        Ok(total / y.len() as f64)
    }

    /// The mean over items of −log p̂(label) in nats, p̂ the mean over draws; divide by ln 2 for bits.
    ///
    /// # Errors
    /// If there is not one label per item, a label is no class, or the model is a regression.
    pub fn log_loss(&self, labels: &[f64]) -> Result<f64, Error> {
        self.check(labels, false, "the log-loss")?;
        let (mean, classes) = (self.mean(), self.likelihood.n_outputs());
        super::check_classes(labels, classes.max(2))?;
        let loss = labels.iter().enumerate().map(|(i, label)| {
            let p = match self.likelihood {
                NetworkLikelihood::Bernoulli if *label == 1.0 => mean[i],
                NetworkLikelihood::Bernoulli => 1.0 - mean[i],
                _ => mean[i * classes + *label as usize],
            };
            -p.clamp(CLIP, 1.0 - CLIP).ln()
        });
        Ok(loss.sum::<f64>() / labels.len() as f64)
    }

    fn check(&self, y: &[f64], regression: bool, wanted: &str) -> Result<(), Error> {
        if y.len() != self.n_rows {
            return Err(Error::Shape { what: "responses (one per row)", expected: self.n_rows, found: y.len() });
        }
        if matches!(self.likelihood, NetworkLikelihood::Gaussian(_)) == regression {
            return Ok(());
        }
        let (kind, instead) = if regression {
            ("classification", "use `log_loss`")
        } else {
            ("regression", "use `rmse` or `log_likelihood`")
        };
        Err(Error::Unsupported { wanted: format!("{wanted} of a {kind}"), instead: instead.into() })
    }
}
