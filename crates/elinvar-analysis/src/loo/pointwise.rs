//! The rows one by one.

use elinvar::posterior::pareto_smooth;
use elinvar::target::{DrawBuffer, Transforms};

use crate::response::Regression;

/// Numbers that are held at once: log densities of a block of rows at all draws.
const BLOCK: usize = 1 << 20;

/// For each row log p(y_i | others), log p(y_i | all) and k̂.
pub(super) fn of(
    regression: &Regression<'_>,
    transforms: &Transforms,
    draws: &DrawBuffer,
    rows: &[usize],
) -> Vec<(f64, f64, f64)> {
    let n = draws.len();
    let block = (BLOCK / n).clamp(1, rows.len().max(1));
    let mut logs = vec![0.0; block * n];
    let mut found = Vec::with_capacity(rows.len());
    for rows in rows.chunks(block) {
        for (s, z) in draws.view().iter().enumerate() {
            regression.under(z, transforms, rows, |place, i, given| {
                logs[place * n + s] = regression.log_density(i, given);
            });
        }
        found.extend(logs.chunks_exact(n).take(rows.len()).map(left_out));
    }
    found
}

/// What log densities of a row at draws of the posterior say about the posterior without it.
pub(super) fn left_out(logs: &[f64]) -> (f64, f64, f64) {
    let lpd = log_sum_exp(logs.iter().copied()) - (logs.len() as f64).ln();
    let ratios: Vec<f64> = logs.iter().map(|log| -log).collect();
    match pareto_smooth(&ratios) {
        Ok(smoothed) => {
            let elpd = log_sum_exp(logs.iter().zip(&smoothed.log_weights).map(|(log, weight)| log + weight));
            (elpd, lpd, smoothed.pareto_k.unwrap_or(f64::INFINITY))
        }
        // A draw at which the row is impossible has all the weight.
        Err(_) => (f64::NEG_INFINITY, lpd, f64::INFINITY),
    }
}

fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if top.is_infinite() { top } else { top + values.map(|value| (value - top).exp()).sum::<f64>().ln() }
}
