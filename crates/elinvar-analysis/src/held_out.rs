//! Rows that were held out, and how well a fit predicts them.

mod tally;

use std::sync::Arc;

use elinvar::Posterior;
use elinvar::model::DesignMatrix;
use elinvar::target::DrawBuffer;
use elinvar_data::{
    CalibrationBin, RegressionData, Score, accuracy, brier, calibration, calibration_error, log_loss, rmse,
};
use serde::Serialize;

use crate::answer_draws::AnswerDraws;
use crate::error::Error;
use crate::models::Model;
use crate::response::{Regression, Values};
use crate::stream::Stream;
use tally::Tally;

/// Draws over which predictions are averaged.
const DRAWS: usize = 1_000;
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
        let density = Metric::new("log_predictive_density", average(logs), "nats");
        Self::of(vec![density, Metric::new("rmse", error, "")])
    }

    /// Of the log probability of the class of each row, and whether it is the most probable one.
    fn of_classes(logs: &[f64], right: &[bool]) -> Self {
        let loss: Vec<f64> = logs.iter().map(|log| -log).collect();
        let right: Vec<f64> = right.iter().map(|right| f64::from(u8::from(*right))).collect();
        Self::of(vec![Metric::new("log_loss", average(&loss), "nats"), Metric::new("accuracy", average(&right), "")])
    }
}

/// Rows on which a fit is tested.
pub(crate) enum HeldOut {
    /// In memory.
    Rows(Box<RegressionData>),
    /// On disk, beside the rows of the fit.
    Streamed(Arc<Stream>),
}

/// Compares what draws of the answer predict with what the rows say.
pub(crate) fn test(
    rows: &HeldOut,
    model: &dyn Model,
    posterior: &Posterior,
    answer: &AnswerDraws<'_>,
) -> Result<Test, Error> {
    let draws_for = |n_rows: usize| answer.take_different(DRAWS.min((MOST_OUTPUTS / n_rows.max(1)).max(10)));
    match rows {
        HeldOut::Rows(rows) => {
            let (n_rows, draws) = (rows.n_rows(), draws_for(rows.n_rows()));
            let scores = match model.regression() {
                Some(regression) => of_regression(&regression, rows, posterior, &draws),
                None => model.test(rows, &draws),
            };
            Ok(Test { n_rows, n_draws: draws.len(), scores: scores.map_err(Error::Model)? })
        }
        HeldOut::Streamed(stream) => {
            let (n_rows, draws) = (stream.n_held_out, draws_for(stream.n_held_out));
            let regression = model.regression().expect("what is streamed are regressions");
            let mut tally = Tally::default();
            let tested = stream.each_held_out(|design, y| {
                let rows = Regression::plain(regression.response, &design, &y);
                tally.add(&predicted(&rows, posterior, &draws));
                Ok(())
            });
            tested.map_err(Error::of_stream)?;
            let is_class = regression.response.values() == Values::Classes(2);
            Ok(Test { n_rows, n_draws: draws.len(), scores: tally.scores(is_class) })
        }
    }
}

/// What draws predict of rows.
pub(crate) struct Predicted {
    /// The responses as the law has them.
    pub(crate) y: Vec<f64>,
    /// The log predictive density of each: the average of that of the draws.
    pub(crate) logs: Vec<f64>,
    /// The mean prediction of each.
    pub(crate) means: Vec<f64>,
}

fn predicted(rows: &Regression<'_>, posterior: &Posterior, draws: &DrawBuffer) -> Predicted {
    let all: Vec<usize> = (0..rows.y.len()).collect();
    // A running log-sum-exp for each row: the largest term and the sum relative to it.
    let mut densities = vec![(f64::NEG_INFINITY, 0.0); all.len()];
    let mut means = vec![0.0; all.len()];
    let n = draws.len() as f64;
    for z in draws.view().iter() {
        rows.under(z, posterior.transforms(), &all, |place, i, given| {
            means[place] += rows.response.mean(given) / n;
            let log = rows.log_density(i, given);
            let (top, sum) = &mut densities[place];
            if log > *top {
                *sum = *sum * (*top - log).exp() + 1.0;
                *top = log;
            } else {
                *sum += (log - *top).exp();
            }
        });
    }
    let y = all.iter().map(|i| rows.observed(*i)).collect();
    let logs = densities.into_iter().map(|(top, sum)| top + (sum / n).ln()).collect();
    Predicted { y, logs, means }
}

/// What a regression says about rows.
fn of_regression(
    regression: &Regression<'_>,
    rows: &RegressionData,
    posterior: &Posterior,
    draws: &DrawBuffer,
) -> Result<Scores, elinvar::Error> {
    let design = DesignMatrix::new(rows.features.clone(), rows.n_cols(), rows.names.clone())?;
    let (offsets, trials) = (&rows.beside.offset, &rows.beside.trials);
    let held_out = Regression { offsets, trials, ..Regression::plain(regression.response, &design, &rows.y) };
    let Predicted { y, logs, means } = predicted(&held_out, posterior, draws);
    if held_out.response.values() == Values::Classes(2) {
        return Ok(Scores::of_two_classes(&y, &means));
    }
    if let (Values::Classes(classes), false) = (held_out.response.values(), held_out.response.is_ordered()) {
        let right =
            most_probable(&held_out, posterior, draws, classes).into_iter().zip(&y).map(|(k, y)| k as f64 == *y);
        return Ok(Scores::of_classes(&logs, &right.collect::<Vec<_>>()));
    }
    Ok(Scores::of_numbers(&logs, rmse(&y, &means)))
}

/// The mean of numbers with its standard error.
fn average(values: &[f64]) -> Score {
    let n = values.len() as f64;
    let value = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
    Score { value, se: (squares / (n - 1.0) / n).sqrt() }
}

/// For each row the class with the largest probability.
fn most_probable(rows: &Regression<'_>, posterior: &Posterior, draws: &DrawBuffer, n_classes: usize) -> Vec<usize> {
    let all: Vec<usize> = (0..rows.n_rows()).collect();
    let mut sums = vec![0.0; all.len() * n_classes];
    let mut now = vec![0.0; n_classes];
    for z in draws.view().iter() {
        rows.under(z, posterior.transforms(), &all, |place, _, given| {
            rows.response.probabilities(given, &mut now);
            sums[place * n_classes..].iter_mut().zip(&now).for_each(|(sum, p)| *sum += p);
        });
    }
    let first_largest = |sums: &[f64]| (0..n_classes).rev().max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or(0);
    sums.chunks_exact(n_classes).map(first_largest).collect()
}
