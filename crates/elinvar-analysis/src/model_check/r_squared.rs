//! The share of the variance that a regression explains.

use elinvar::target::{DrawBuffer, Transforms};
use serde::Serialize;

use super::chosen_rows;
use crate::response::{Regression, Values};

/// Draws of the share.
const DRAWS: usize = 128;
/// Rows that it is computed from; of larger tables so many are chosen at random.
const MOST_ROWS: usize = 4_096;

/// Bayesian R²: the variance of the predicted means over that and the expected variance around them (Gelman, Goodrich,
/// Gabry and Vehtari, The American Statistician 73, 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RSquared {
    /// Its median over draws.
    pub median: f64,
    /// Its 5 % quantile.
    pub q5: f64,
    /// Its 95 % quantile.
    pub q95: f64,
}

/// `None` for classes of more than two, whose numbers have no mean, and where a variance is not finite.
pub(super) fn of(
    regression: &Regression<'_>,
    transforms: &Transforms,
    draws: &DrawBuffer,
    seed: u64,
) -> Option<RSquared> {
    let response = regression.response;
    if matches!(response.values(), Values::Classes(n) if n > 2) {
        return None;
    }
    let rows = chosen_rows(regression.n_rows(), MOST_ROWS, seed);
    let total: f64 = rows.iter().map(|i| regression.weight(*i)).sum();
    if total <= 0.0 {
        return None;
    }
    let n = rows.len() as f64;
    // What a row counts; the mean is 1/n.
    let weight = |place: usize| regression.weight(rows[place]) / total;
    let mut shares = Vec::with_capacity(DRAWS);
    let mut means = vec![0.0; rows.len()];
    for z in draws.view().iter().step_by(draws.len().div_ceil(DRAWS).max(1)) {
        let mut around = 0.0;
        regression.under(z, transforms, &rows, |place, _, given| {
            means[place] = response.mean(given);
            around += weight(place) * response.variance(given);
        });
        let weighted = || means.iter().enumerate().map(|(place, m)| (weight(place), m));
        let mean = weighted().map(|(w, m)| w * m).sum::<f64>();
        let explained = weighted().map(|(w, m)| w * (m - mean) * (m - mean)).sum::<f64>() * n / (n - 1.0).max(1.0);
        shares.push(explained / (explained + around));
    }
    if shares.iter().any(|share| !share.is_finite()) {
        return None;
    }
    shares.sort_by(f64::total_cmp);
    let at = |p: f64| shares[((p * shares.len() as f64) as usize).min(shares.len() - 1)];
    Some(RSquared { median: at(0.5), q5: at(0.05), q95: at(0.95) })
}
