//! Importance ratios of made-up draws: resampled draws, tail, effective size.

use elinvar_report::{Draws, Headline, ParetoFit, Tail, TraceRow};

use super::random::Random;

pub(crate) struct Importance {
    pub(crate) draws: Draws,
    pub(crate) tail: Tail,
    effective: f64,
}

impl Importance {
    /// `log_ratio` of the standard normal numbers behind each draw.
    pub(crate) fn new(draws: &Draws, z: &[Vec<f64>], log_ratio: impl Fn(&[f64]) -> f64) -> Self {
        let ratios: Vec<f64> = z.iter().map(|row| log_ratio(row)).collect();
        let largest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ratios.iter().map(|r| (r - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        let effective = total * total / weights.iter().map(|w| w * w).sum::<f64>();
        let chosen = resample(&weights, total);
        let columns = draws.columns.iter().map(|column| chosen.iter().map(|i| column[*i]).collect()).collect();
        let mut sorted: Vec<f64> = ratios.iter().map(|r| r - largest).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let len = (3.0 * (z.len() as f64).sqrt()).ceil() as usize;
        let tail =
            Tail { fit: Some(fit(&sorted, len)), n_draws: z.len() as u64, log_ratios: sorted[..4 * len].to_vec() };
        Self { draws: Draws { columns, weights: Vec::new() }, tail, effective }
    }

    pub(crate) fn headline(&self, trace: &[TraceRow]) -> Headline {
        Headline {
            pareto_k: self.tail.fit.map(|fit| fit.shape),
            pareto_k_threshold: 0.7,
            effective_draws: Some(self.effective),
            n_draws: self.tail.n_draws,
            converged: true,
            steps: trace.len() as u64,
            ..Headline::default()
        }
    }
}

/// Systematic resampling.
fn resample(weights: &[f64], total: f64) -> Vec<usize> {
    let n = weights.len();
    let start = Random::new(5).uniform();
    let mut chosen = Vec::with_capacity(n);
    let mut sum = 0.0;
    for (i, w) in weights.iter().enumerate() {
        sum += w / total * n as f64;
        while chosen.len() < n && (chosen.len() as f64 + start) < sum {
            chosen.push(i);
        }
    }
    chosen
}

/// By probability-weighted moments (J. R. M. Hosking, J. R. Wallis, Technometrics 29, 1987).
fn fit(sorted: &[f64], len: usize) -> ParetoFit {
    let log_cutoff = sorted[len];
    let mut excess: Vec<f64> = sorted[..len].iter().map(|r| r.exp() - log_cutoff.exp()).collect();
    excess.reverse();
    let n = len as f64;
    let a0 = excess.iter().sum::<f64>() / n;
    let a1 = excess.iter().enumerate().map(|(i, x)| x * (n - 1.0 - i as f64) / (n - 1.0)).sum::<f64>() / n;
    let shape = 2.0 - a0 / (a0 - 2.0 * a1);
    ParetoFit { shape, scale: 2.0 * a0 * a1 / (a0 - 2.0 * a1), log_cutoff, len: len as u64 }
}
