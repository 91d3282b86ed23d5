//! Leave-one-out cross-validation by Pareto-smoothed importance sampling: how well a model predicts a row that it has
//! not seen, without a fit for every row.
//!
//! A. Vehtari, A. Gelman, J. Gabry, Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC,
//! Statistics and Computing 27 (2017). The posterior without row i has the weights 1/p(y_i | θ_s) at draws θ_s of the
//! posterior; their tail is smoothed as that of a verdict is.

mod page;
mod pointwise;
mod ranking;

use std::path::PathBuf;

use elinvar::posterior::pareto_k_threshold;
use elinvar::random::{Purpose, Stream};
use serde::Serialize;

pub use ranking::ElpdRanking;

use crate::answer_draws::AnswerDraws;
use crate::error::Error;
use crate::job::Job;
use crate::kept::Kept;
use crate::response::Values;
use crate::size::check_draws;
use crate::stream::Refused;
use crate::words::{self, FileName};

/// Draws unless others are asked for.
const DRAWS: usize = 4_000;
/// Rows that are left out, one at a time; of larger tables so many are chosen at random.
const MOST_ROWS: usize = 20_000;

/// What a fit says of its own rows, each left out.
pub struct Loo {
    path: PathBuf,
    /// What was fitted, in a line.
    title: String,
    model: String,
    /// What of the fit the densities are of: two kinds have no common zero.
    kind: Kind,
    /// Rows of the fit.
    n_rows: usize,
    n_draws: usize,
    /// Of the draws, and of the choice of rows.
    seed: u64,
    /// The rows that were left out, one at a time.
    rows: Vec<LeftOut>,
    /// Their responses, all of them in the order of the fit.
    responses: Vec<f64>,
}

/// A row that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its number in the file, counted from 1.
    pub row: usize,
    /// log p(y_i | all other rows).
    pub elpd: f64,
    /// log p(y_i | all rows).
    pub lpd: f64,
    /// k̂ of its weights; infinite where a draw rules the row out.
    pub pareto_k: f64,
}

/// Whether a response has a density or probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Density,
    Probability,
}

/// A sum over all rows with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Total {
    value: f64,
    se: f64,
}

impl Loo {
    /// Leaves out every row of a kept fit.
    ///
    /// # Errors
    /// [`Error::NoRegression`], and those of the model and its data.
    pub fn new(kept: &Kept, draws: Option<usize>, seed: u64) -> Result<Self, Error> {
        let job = kept.job()?;
        Self::of_job(&job, kept, draws, seed)
    }

    fn of_job(job: &Job, kept: &Kept, draws: Option<usize>, seed: u64) -> Result<Self, Error> {
        let posterior = &kept.posterior;
        if job.rows.is_streamed() {
            let remedy = "; judge it by a file of rows that were held out";
            return Err(Refused::NotWithStream { what: "elinvar loo, which leaves out every row,", remedy }.into());
        }
        let Some(regression) = job.model.regression() else {
            let model = job.settings().model.name.map_or("this model", |name| name.name());
            return Err(Error::NoRegression { model: model.into(), command: "loo" });
        };
        let n = draws.unwrap_or(DRAWS);
        check_draws("--draws", n, 1, posterior.dim())?;
        let draws = AnswerDraws::new(posterior, job.target(), None, seed)?.take_different(n);
        let chosen = chosen_rows(regression.n_rows(), seed);
        let found = pointwise::of(&regression, posterior.transforms(), &draws, &chosen);
        let left_out = |(i, (elpd, lpd, pareto_k)): (&usize, (f64, f64, f64))| LeftOut {
            row: job.rows.file_row(*i) + 1,
            elpd,
            lpd,
            pareto_k,
        };
        Ok(Self {
            path: kept.path.clone(),
            title: words::title(job, posterior, FileName::Given),
            model: job.settings().model.name.map_or("", |name| name.name()).into(),
            kind: if regression.response.values() == Values::Numbers { Kind::Density } else { Kind::Probability },
            n_rows: regression.n_rows(),
            n_draws: draws.len(),
            seed,
            rows: chosen.iter().zip(found).map(left_out).collect(),
            responses: (0..regression.n_rows()).map(|i| regression.observed(i)).collect(),
        })
    }

    /// The rows that were left out, one at a time.
    pub fn rows(&self) -> &[LeftOut] {
        &self.rows
    }

    /// k̂ from which a row is not to be relied on.
    fn threshold(&self) -> f64 {
        pareto_k_threshold(self.n_draws)
    }

    fn unreliable(&self) -> impl Iterator<Item = &LeftOut> {
        self.rows.iter().filter(|row| row.pareto_k > self.threshold())
    }

    /// The expected log predictive density of as many new rows.
    fn elpd(&self) -> Total {
        self.total(self.rows.iter().map(|row| row.elpd))
    }

    /// The effective number of parameters.
    fn p_loo(&self) -> Total {
        self.total(self.rows.iter().map(|row| row.lpd - row.elpd))
    }

    /// The sum over all rows of the fit of what is known of those left out. Its error is that of another table of as
    /// many rows, √(N var), and where rows were chosen that of the choice besides.
    fn total(&self, values: impl Iterator<Item = f64> + Clone) -> Total {
        let (n, all) = (self.rows.len() as f64, self.n_rows as f64);
        let mean = values.clone().sum::<f64>() / n;
        let variance = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
        let of_choice = all * all / n * (1.0 - n / all);
        Total { value: all * mean, se: (variance * (all + of_choice)).sqrt() }
    }
}

/// All rows, or some at random.
fn chosen_rows(n: usize, seed: u64) -> Vec<usize> {
    if n <= MOST_ROWS {
        return (0..n).collect();
    }
    let mut order: Vec<u32> = (0..u32::try_from(n).unwrap_or(u32::MAX)).collect();
    Stream::open(seed, Purpose::Responses, u64::MAX, 1).shuffle(&mut order);
    let mut chosen: Vec<usize> = order[..MOST_ROWS].iter().map(|i| *i as usize).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests;
