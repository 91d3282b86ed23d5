//! How good the approximation is, from fresh draws: ELBO, importance ratios, k̂.

use serde::{Deserialize, Serialize};

use super::{CHUNK, Posterior, log_mean_exp, pareto_k_threshold, pareto_smooth, resample};
use crate::Error;
use crate::random::{Purpose, Stream};
use crate::target::{DrawBuffer, Evaluations, Rows, Target};

/// A Monte Carlo estimate with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its Monte Carlo standard error.
    pub mcse: f64,
}

impl Estimate {
    /// An estimate whose error, where it overflows or does not exist, is the largest number: files know no infinity.
    fn new(value: f64, mcse: f64) -> Self {
        Self { value: value.clamp(-f64::MAX, f64::MAX), mcse: if mcse.is_finite() { mcse } else { f64::MAX } }
    }
}

/// What fresh draws say about a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Number of draws.
    pub n_draws: usize,
    /// Draws at which log p was not finite; they count as draws of importance zero and are left out of the ELBO.
    pub dropped: usize,
    /// The evidence lower bound.
    pub elbo: Estimate,
    /// Importance-sampling estimate of the log normaliser: with the ELBO, a bracket where k̂ is good.
    pub log_normaliser: Estimate,
    /// Pareto k̂ of the importance ratios; `None` where the draws are too few to say.
    pub pareto_k: Option<f64>,
    /// Above this k̂, importance sampling with this many draws is not to be trusted.
    pub pareto_k_threshold: f64,
    /// Effective number of draws after Pareto smoothing.
    pub effective_sample_size: f64,
}

/// Draws with their log densities and normalised, Pareto-smoothed log importance weights.
#[derive(Clone, Debug)]
pub struct WeightedDraws {
    /// The draws of z.
    pub draws: DrawBuffer,
    /// log p, the declared prior included.
    pub log_p: Vec<f64>,
    /// log q.
    pub log_q: Vec<f64>,
    /// Logarithms of weights that sum to one.
    pub log_weights: Vec<f64>,
    /// What they say.
    pub diagnostics: Diagnostics,
}

impl Posterior {
    /// Draws `n` times, evaluates the target and smooths the importance ratios.
    ///
    /// # Errors
    /// The target's own error; [`Error::Domain`] if log p is finite at no draw.
    pub fn importance(&self, target: &dyn Target, n: usize, seed: u64) -> Result<WeightedDraws, Error> {
        let d = self.dim();
        if target.dim() != d {
            return Err(Error::Shape { what: "dimension of the target", expected: d, found: target.dim() });
        }
        if n < 2 {
            let reason = "a standard error needs at least two draws";
            return Err(Error::Domain { parameter: "number of draws", value: n as f64, reason });
        }
        let (draws, log_q) = self.draw(n, seed, Purpose::Diagnostics);
        let log_p = log_density_at(target, &draws)?;
        let ratios: Vec<f64> =
            log_p.iter().zip(&log_q).map(|(p, q)| if p.is_finite() { p - q } else { f64::NEG_INFINITY }).collect();
        let finite: Vec<f64> = ratios.iter().copied().filter(|r| r.is_finite()).collect();
        let count = finite.len().max(1) as f64;
        let mean = finite.iter().sum::<f64>() / count;
        let variance = finite.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (count - 1.0).max(1.0);
        let smoothed = pareto_smooth(&ratios)?;
        let normaliser = log_mean_exp(&ratios)?;
        let diagnostics = Diagnostics {
            n_draws: n,
            dropped: n - finite.len(),
            elbo: Estimate::new(mean, if count < 2.0 { f64::INFINITY } else { (variance / count).sqrt() }),
            log_normaliser: Estimate::new(normaliser.value, normaliser.standard_error),
            // JSON has no infinity; any k above one means the same.
            pareto_k: smoothed.pareto_k.map(|k| k.min(99.0)),
            pareto_k_threshold: pareto_k_threshold(n),
            effective_sample_size: smoothed.effective_sample_size,
        };
        Ok(WeightedDraws { draws, log_p, log_q, log_weights: smoothed.log_weights, diagnostics })
    }

    /// ELBO, k̂ and the importance estimate of the normaliser from `n` fresh draws; kept with the fit.
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub fn diagnose(&mut self, target: &dyn Target, n: usize, seed: u64) -> Result<Diagnostics, Error> {
        let diagnostics = self.importance(target, n, seed)?.diagnostics;
        self.record.diagnostics = Some(diagnostics);
        Ok(diagnostics)
    }

    /// `n` draws of z resampled by their smoothed importance weights from `pool` draws of q.
    ///
    /// # Errors
    /// As [`Posterior::importance`].
    pub fn sample_resampled(&self, target: &dyn Target, n: usize, pool: usize, seed: u64) -> Result<DrawBuffer, Error> {
        let weighted = self.importance(target, pool, seed)?;
        let mut stream = Stream::open(seed, Purpose::Diagnostics, u64::MAX, 0);
        let mut out = DrawBuffer::zeros(self.dim(), n);
        for (s, index) in resample(&weighted.log_weights, n, &mut stream).into_iter().enumerate() {
            out.get_mut(s).copy_from_slice(weighted.draws.get(index));
        }
        Ok(out)
    }
}

/// log p at each draw, the declared prior included.
fn log_density_at(target: &dyn Target, draws: &DrawBuffer) -> Result<Vec<f64>, Error> {
    let prior = target.prior();
    let (n, d) = (draws.len(), target.dim());
    let mut log_p = Vec::with_capacity(n);
    let mut evaluations = Evaluations::new(d, CHUNK.min(n));
    for start in (0..n).step_by(CHUNK) {
        let part = draws.view().range(start..n.min(start + CHUNK));
        if part.len() != evaluations.len() {
            evaluations = Evaluations::new(d, part.len());
        }
        target.evaluate(part, Rows::All, &mut evaluations)?;
        log_p.extend(evaluations.log_p().iter().zip(part.iter()).map(|(p, z)| p + prior.log_density(z)));
    }
    Ok(log_p)
}
