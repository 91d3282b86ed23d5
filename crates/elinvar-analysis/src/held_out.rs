//! Rows that were held out, and how well a fit predicts them.

use elinvar::Posterior;
use elinvar::posterior::{GivenBy, WeightedDraws, resample};
use elinvar::random::{Purpose, Stream};
use elinvar::target::DrawBuffer;
use elinvar_data::{CalibrationBin, RegressionData, Score, accuracy, brier, calibration, calibration_error, log_loss};
use serde::Serialize;

use crate::error::Error;
use crate::models::Model;

/// Draws over which predictions are averaged.
const DRAWS: usize = 1_000;
/// Draws that are weighed where those of the verdict are not at hand.
const POOL: usize = 10_000;
/// Numbers that predictions of a network may take at once.
const MOST_OUTPUTS: usize = 1 << 25;
/// Bins of predicted probability.
const BINS: usize = 10;

/// What a fit makes of rows that it has not seen.
#[derive(Clone, Debug, Serialize)]
pub struct Test {
    /// Rows that were held out.
    pub n_rows: usize,
    /// Draws over which predictions were averaged.
    pub n_draws: usize,
    /// What they say.
    #[serde(flatten)]
    pub scores: Scores,
}

/// Numbers about test rows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scores {
    /// One by one, the most telling first.
    pub metrics: Vec<Metric>,
    /// Observed against predicted shares; empty unless there are two classes.
    pub calibration: Vec<CalibrationBin>,
}

/// A number about test rows.
#[derive(Clone, Debug, Serialize)]
pub struct Metric {
    /// The word for it in files.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Standard error over rows.
    pub se: Option<f64>,
    /// What it is measured in; empty for a share.
    pub unit: &'static str,
}

impl Metric {
    pub(crate) fn new(name: &'static str, Score { value, se }: Score, unit: &'static str) -> Self {
        Self { name, value, se: Some(se).filter(|se| se.is_finite()), unit }
    }

    pub(crate) fn plain(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name, value, se: None, unit }
    }
}

impl Scores {
    pub(crate) fn of(metrics: Vec<Metric>) -> Self {
        Self { metrics, calibration: Vec::new() }
    }

    /// Of predicted probabilities of the second of two classes.
    pub(crate) fn of_two_classes(y: &[f64], probability: &[f64]) -> Self {
        let calibration = calibration(y, probability, BINS);
        let metrics = vec![
            Metric::new("log_loss", log_loss(y, probability), "nats"),
            Metric::new("accuracy", accuracy(y, probability), ""),
            Metric::new("brier", brier(y, probability), ""),
            Metric::plain("calibration_error", calibration_error(&calibration), ""),
        ];
        Self { metrics, calibration }
    }

    /// Of the log predictive density of each row, and the error of the mean prediction.
    pub(crate) fn of_numbers(logs: &[f64], error: Score) -> Self {
        let n = logs.len() as f64;
        let value = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - value).powi(2)).sum();
        let se = (squares / (n - 1.0) / n).sqrt();
        let density = Metric::new("log_predictive_density", Score { value, se }, "nats");
        Self::of(vec![density, Metric::new("rmse", error, "")])
    }
}

/// Compares what the posterior predicts with what the rows say: draws are those of the answer. `weighted` are the draws
/// of the verdict, where they are at hand.
pub(crate) fn test(
    rows: &RegressionData,
    model: &dyn Model,
    posterior: &Posterior,
    weighted: Option<&WeightedDraws>,
    seed: u64,
) -> Result<Test, Error> {
    let n_rows = rows.n_rows();
    let n_draws = DRAWS.min((MOST_OUTPUTS / n_rows.max(1)).max(10));
    let draws = match (posterior.corrected(), posterior.given_by()) {
        (Some(corrected), _) => corrected.draws(n_draws.min(corrected.n_states())),
        (None, GivenBy::Weights) => match weighted {
            Some(weighted) => resampled(weighted, n_draws, seed),
            None => {
                let again = posterior.importance(model.target(), POOL, seed).map_err(Error::of_fit)?;
                resampled(&again, n_draws, seed)
            }
        },
        _ => posterior.sample_z(n_draws, seed),
    };
    let n_draws = draws.len();
    let scores = model.test(rows, &draws).map_err(Error::Model)?;
    Ok(Test { n_rows, n_draws, scores })
}

/// Draws chosen by their weights.
fn resampled(weighted: &WeightedDraws, n: usize, seed: u64) -> DrawBuffer {
    let mut stream = Stream::open(seed, Purpose::Sample, u64::MAX, 1);
    let chosen = resample(&weighted.log_weights, n, &mut stream);
    let mut draws = DrawBuffer::zeros(weighted.draws.view().dim(), chosen.len());
    for (s, index) in chosen.iter().enumerate() {
        draws.get_mut(s).copy_from_slice(weighted.draws.get(*index));
    }
    draws
}
