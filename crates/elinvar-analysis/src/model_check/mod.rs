//! Whether a regression could have made its own responses: tables drawn from the fit beside the one that was given.
//!
//! For every draw of the answer a table of responses is drawn, and statistics of it are held against those of the given
//! responses (posterior predictive checks; Gelman, Meng and Stern, Statistica Sinica 6, 1996). The verdict on the
//! approximation says nothing about this: a posterior may be computed exactly under a model that is plainly wrong.

mod predicted;
mod r_squared;
mod sentence;
mod statistics;

use elinvar::Posterior;
use elinvar::random::{Purpose, Stream};
use elinvar::target::DrawBuffer;
use serde::Serialize;

use crate::response::Regression;
pub(crate) use predicted::PredictedRows;
pub use r_squared::RSquared;
use statistics::Statistics;

/// Tables that are drawn.
pub(crate) const DRAWS: usize = 512;
/// Rows that they have; of larger tables so many are chosen at random.
const MOST_ROWS: usize = 1_024;
/// A statistic with a smaller p-value speaks against the model. Of 1 200 tables that their own model had made, four
/// were accused by the checks together, when light tails still counted; a test allows three of 120.
const LEVEL: f64 = 0.005;

/// What responses drawn from a fit say about the model.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ModelCheck {
    /// Whether no statistic speaks against the model.
    pub fits: bool,
    /// What was found, and what to try, in a sentence.
    pub reason: String,
    /// Tables that were drawn.
    pub n_draws: usize,
    /// Their rows; fewer than the fit has where these are many.
    pub n_rows: usize,
    /// The statistics that were compared.
    pub checks: Vec<Check>,
    /// The share of the variance that the model explains.
    pub r_squared: Option<RSquared>,
    /// The rows beside what is predicted of them.
    #[serde(skip)]
    pub(crate) rows: PredictedRows,
}

/// A statistic of the responses beside what the model expects of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// The word for it: `mean`, `sd`, `min`, `max`, `zeros`, `dispersion`, `tails`, `calibration` or `classes`.
    pub name: &'static str,
    /// Of the responses; an average over draws where it depends on parameters.
    pub observed: f64,
    /// The average over drawn tables.
    pub expected: f64,
    /// Twice the smaller of the shares of drawn tables that have at least, and at most, as much (of tails: twice the
    /// first); at least 2/(draws + 1).
    pub p: f64,
}

impl Check {
    /// Whether it speaks against the model.
    pub fn fails(&self) -> bool {
        self.p < LEVEL
    }
}

/// Checks a regression by draws of its answer; nothing where a response cannot be drawn, because a mean is too large.
pub(crate) fn check(
    regression: &Regression<'_>,
    posterior: &Posterior,
    draws: &DrawBuffer,
    seed: u64,
) -> Option<ModelCheck> {
    let rows = chosen_rows(regression.n_rows(), MOST_ROWS, seed);
    let mut statistics = Statistics::new(regression, posterior.transforms(), draws, &rows);
    for (s, z) in draws.view().iter().enumerate() {
        let mut stream = Stream::open(seed, Purpose::Responses, s as u64, 0);
        statistics.add(z, &mut stream);
    }
    let checks = statistics.checks()?;
    let (fits, n_draws) = (!checks.iter().any(Check::fails), draws.len());
    let reason = sentence::of(&checks, regression.response, n_draws);
    let r_squared = r_squared::of(regression, posterior.transforms(), draws, seed);
    let predicted = PredictedRows::of(regression, posterior.transforms(), draws, &rows);
    Some(ModelCheck { fits, reason, n_draws, n_rows: rows.len(), checks, r_squared, rows: predicted })
}

/// All rows, or one at random of each of `most` equal parts of the table.
pub(crate) fn chosen_rows(n: usize, most: usize, seed: u64) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let mut stream = Stream::open(seed, Purpose::Responses, u64::MAX, 0);
    let mut pick = |k: usize| {
        let (start, end) = (k * n / most, (k + 1) * n / most);
        start + stream.below(u32::try_from(end - start).unwrap_or(u32::MAX)) as usize
    };
    (0..most).map(&mut pick).collect()
}

#[cfg(test)]
mod tests;
