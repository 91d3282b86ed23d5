//! What all finite mixtures share: labels of draws, weights of draws by schemes M, C and D, the bound, the metric of
//! the weights.

use super::batch::mean_difference;
use super::{Batch, DrawPlan};
use crate::block::LogWeights;
use crate::estimate::Sampling;
use crate::random::{Noise, Stream};
use crate::special::logistic::log_sum_exp;
use crate::target::Prior;

/// Blocks of a stream above this are used for labels, below it for the noise of a component.
pub(super) const LABEL_BLOCK: u32 = 1 << 20;

/// A component, drawn with its weight.
pub(crate) fn draw_label(weights: &LogWeights, stream: &mut Stream) -> usize {
    let mut u = stream.uniform();
    // Rounding may leave the last cumulative weight just below u.
    let last = weights.len() - 1;
    let below = |c: &usize| {
        u -= weights.weight(*c);
        u < 0.0
    };
    (0..last).find(below).unwrap_or(last)
}

/// Draws the component of every draw of scheme M.
pub(super) fn draw_labels(weights: &LogWeights, noise: Noise, stream: &mut Stream, labels: &mut [u32]) {
    // Antithetic partners come from the same component.
    let run = if noise == Noise::Antithetic { 2 } else { 1 };
    for labels in labels.chunks_mut(run) {
        labels.fill(draw_label(weights, stream) as u32);
    }
}

/// The draws that component `c` of `n` draws in all is moved by.
pub(super) fn draws_of(plan: &DrawPlan, n: usize, c: usize) -> std::ops::Range<usize> {
    match plan.sampling {
        Sampling::OwnDraws => c * plan.n_draws..(c + 1) * plan.n_draws,
        Sampling::Mixture | Sampling::Whole | Sampling::Implicit | Sampling::Stratified => 0..n,
    }
}

/// The draws of a batch as [`weigh`] sees them.
pub(super) struct Labelled<'w> {
    /// The component each draw comes from.
    pub(super) label: &'w [u32],
    /// For each component the log density of all draws.
    pub(super) log_components: &'w [f64],
    /// Room for K numbers, twice.
    pub(super) scratch: [&'w mut [f64]; 2],
}

/// Weights of E_c[·] by the scheme; a dropped draw has weight zero and the others of its sum share what it had. False
/// if a component has no draw left.
pub(super) fn weigh(plan: &DrawPlan, draws: Labelled<'_>, batch: &Batch, weight: &mut [f64]) -> bool {
    let Labelled { label, log_components, scratch: [logs, log_counts] } = draws;
    let (n, k, m) = (label.len(), logs.len(), plan.n_draws);
    if plan.sampling == Sampling::OwnDraws {
        for c in 0..k {
            let own = c * m..(c + 1) * m;
            let n_kept = batch.kept[own.clone()].iter().filter(|kept| **kept).count();
            if n_kept == 0 {
                return false;
            }
            for s in own {
                weight[s] = if batch.kept[s] { 1.0 / n_kept as f64 } else { 0.0 };
            }
        }
        return true;
    }
    let n_kept = batch.n_kept();
    if n_kept == 0 {
        return false;
    }
    if plan.sampling == Sampling::Stratified {
        log_counts.fill(0.0);
        let kept = label.iter().zip(&batch.kept).filter(|(_, kept)| **kept);
        kept.for_each(|(c, _)| log_counts[*c as usize] += 1.0);
        log_counts.iter_mut().for_each(|count| *count = count.ln());
    }
    for s in 0..n {
        // Scheme M: δ_c/n = q_c/(n q); scheme D: q_c/Σ_k n_k q_k.
        let log_base = match plan.sampling {
            Sampling::Mixture | Sampling::Whole | Sampling::Implicit => batch.log_q[s] + (n_kept as f64).ln(),
            _ => {
                for c in 0..k {
                    logs[c] = log_counts[c] + log_components[c * n + s];
                }
                log_sum_exp(logs)
            }
        };
        for c in 0..k {
            let share = (log_components[c * n + s] - log_base).exp();
            weight[c * n + s] = if batch.kept[s] { share } else { 0.0 };
        }
    }
    true
}

/// The bound with its standard error; each component has its share of the draws unless they come from the mixture.
pub(super) fn elbo(log_p: &[f64], prior: &Prior, weights: &LogWeights, plan: &DrawPlan, batch: &Batch) -> (f64, f64) {
    if plan.sampling.is_of_mixture() {
        return mean_difference(log_p, prior, batch, 0..batch.n);
    }
    let m = plan.n_draws;
    let (mut value, mut variance) = (0.0, 0.0);
    for c in 0..weights.len() {
        let weight = weights.weight(c);
        let (mean, error) = mean_difference(log_p, prior, batch, c * m..(c + 1) * m);
        value += weight * mean;
        variance += weight * weight * error * error;
    }
    (value, variance.sqrt())
}

/// g₁ᵀF⁻¹g₂ of the weights for gradients −E_c\[h\]: the covariance of the two under π.
pub(super) fn inner_of_weights(weights: &LogWeights, one: &[f64], two: &[f64]) -> f64 {
    let centre = |h: &[f64]| h.iter().enumerate().map(|(c, h)| weights.weight(c) * h).sum::<f64>();
    let (mean_one, mean_two) = (centre(one), centre(two));
    let terms = one.iter().zip(two).enumerate();
    terms.map(|(c, (one, two))| weights.weight(c) * (one - mean_one) * (two - mean_two)).sum()
}
