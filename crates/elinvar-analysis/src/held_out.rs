//! Rows that were held out, and how well a fit predicts them.

use elinvar::Posterior;
use elinvar::model::{DesignMatrix, NeuralNetwork};
use elinvar_data::{
    CalibrationBin, Link, RegressionData, Score, accuracy, brier, calibration, calibration_error, log_loss,
    mean_predictions, rmse,
};
use serde::Serialize;

use crate::error::Failure;
use crate::job::About;
use crate::models::classes;
use crate::number::{grouped, significant, with_error};
use crate::settings::{Likelihood, ModelName};

/// Draws over which predictions are averaged.
const DRAWS: usize = 1_000;
/// Numbers that predictions of a network may take at once.
const MOST_OUTPUTS: usize = 1 << 25;
/// Bins of predicted probability.
const BINS: usize = 10;

/// Rows that were held out.
pub struct HeldOut {
    data: RegressionData,
    model: ModelName,
    likelihood: Option<Likelihood>,
    network: Option<NeuralNetwork>,
}

/// What a fit makes of rows that it has not seen.
#[derive(Clone, Debug, Serialize)]
pub struct Test {
    pub n_rows: usize,
    /// Draws over which predictions were averaged.
    pub n_draws: usize,
    pub metrics: Vec<Metric>,
    /// Observed against predicted shares; empty unless there are two classes.
    pub calibration: Vec<CalibrationBin>,
}

/// A number about test rows.
#[derive(Clone, Debug, Serialize)]
pub struct Metric {
    pub name: &'static str,
    pub value: f64,
    /// Standard error over rows.
    pub se: Option<f64>,
    pub unit: &'static str,
}

impl Metric {
    fn new(name: &'static str, Score { value, se }: Score, unit: &'static str) -> Self {
        Self { name, value, se: Some(se).filter(|se| se.is_finite()), unit }
    }

    fn plain(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name, value, se: None, unit }
    }
}

impl HeldOut {
    pub fn new(data: RegressionData, about: &About, network: Option<NeuralNetwork>) -> Self {
        let likelihood = about.network.as_ref().map(|network| network.likelihood);
        Self { data, model: about.model, likelihood, network }
    }

    /// Compares what the posterior predicts with what the rows say.
    pub fn test(&self, posterior: &Posterior, seed: u64) -> Result<Test, Failure> {
        let n_rows = self.data.n_rows();
        let n_draws = DRAWS.min((MOST_OUTPUTS / n_rows.max(1)).max(10));
        let (metrics, calibration) = match &self.network {
            Some(network) => self.of_network(network, posterior, n_draws, seed)?,
            None => self.of_coefficients(posterior, n_draws, seed),
        };
        Ok(Test { n_rows, n_draws, metrics, calibration })
    }

    fn of_coefficients(&self, posterior: &Posterior, n_draws: usize, seed: u64) -> (Vec<Metric>, Vec<CalibrationBin>) {
        let draws = posterior.sample(n_draws, seed);
        let predict = |link| mean_predictions(&self.data.features, self.data.n_cols(), draws.view().iter(), link);
        let y = &self.data.y;
        match self.model {
            ModelName::Logistic => two_classes(y, &predict(Link::Logit)),
            ModelName::Poisson => {
                let logs = self.log_predictive(draws.view().iter(), |y, eta, _| y * eta - eta.exp() - ln_factorial(y));
                let error = rmse(y, &predict(Link::Log));
                (vec![density(logs), Metric::new("rmse", error, "")], Vec::new())
            }
            _ => {
                let normal = |y: f64, eta: f64, log_sigma: f64| {
                    let z = (y - eta) * (-log_sigma).exp();
                    -0.5 * z * z - log_sigma - 0.5 * std::f64::consts::TAU.ln()
                };
                let logs = self.log_predictive(draws.view().iter(), normal);
                let error = rmse(y, &predict(Link::Identity));
                (vec![density(logs), Metric::new("rmse", error, "")], Vec::new())
            }
        }
    }

    /// log of the mean over draws of p(y | η, last parameter), for each row.
    fn log_predictive<'a>(
        &self,
        draws: impl Iterator<Item = &'a [f64]>,
        log_density: impl Fn(f64, f64, f64) -> f64,
    ) -> Vec<f64> {
        let (n_cols, n_rows) = (self.data.n_cols(), self.data.n_rows());
        // A running log-sum-exp: the largest term and the sum relative to it.
        let mut sums = vec![(f64::NEG_INFINITY, 0.0); n_rows];
        let mut n = 0.0_f64;
        for z in draws {
            let last = z.get(n_cols).copied().unwrap_or(0.0);
            for ((row, y), (top, sum)) in self.data.features.chunks_exact(n_cols).zip(&self.data.y).zip(&mut sums) {
                let eta: f64 = row.iter().zip(z).map(|(x, beta)| x * beta).sum();
                let log = log_density(*y, eta, last);
                if log > *top {
                    *sum = *sum * (*top - log).exp() + 1.0;
                    *top = log;
                } else {
                    *sum += (log - *top).exp();
                }
            }
            n += 1.0;
        }
        sums.into_iter().map(|(top, sum)| top + (sum / n).ln()).collect()
    }

    fn of_network(
        &self,
        network: &NeuralNetwork,
        posterior: &Posterior,
        n_draws: usize,
        seed: u64,
    ) -> Result<(Vec<Metric>, Vec<CalibrationBin>), Failure> {
        let failure = |e: elinvar::Error| Failure::Model(e.to_string());
        let draws = posterior.sample(n_draws, seed);
        let x = DesignMatrix::new(self.data.features.clone(), self.data.n_cols(), self.data.names.clone());
        let predictions = network.predict(draws.view(), &x.map_err(failure)?).map_err(failure)?;
        let y = &self.data.y;
        match self.likelihood {
            Some(Likelihood::Binary) => Ok(two_classes(&classes(y.clone()), &predictions.mean())),
            Some(Likelihood::Multiclass) => {
                let loss = predictions.log_loss(y).map_err(failure)?;
                let mean = predictions.mean();
                let n_classes = mean.len() / y.len();
                let best = |p: &[f64]| p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(k, _)| k);
                let right = mean.chunks_exact(n_classes).zip(y).filter(|(p, y)| best(p) == **y as usize).count();
                let share = right as f64 / y.len() as f64;
                let metrics = vec![Metric::plain("log_loss", loss, "nats"), Metric::plain("accuracy", share, "")];
                Ok((metrics, Vec::new()))
            }
            _ => {
                let log_density = predictions.log_likelihood(y).map_err(failure)?;
                let error = rmse(y, &predictions.mean());
                let metrics =
                    vec![Metric::plain("log_predictive_density", log_density, "nats"), Metric::new("rmse", error, "")];
                Ok((metrics, Vec::new()))
            }
        }
    }
}

fn two_classes(y: &[f64], probability: &[f64]) -> (Vec<Metric>, Vec<CalibrationBin>) {
    let bins = calibration(y, probability, BINS);
    let metrics = vec![
        Metric::new("log_loss", log_loss(y, probability), "nats"),
        Metric::new("accuracy", accuracy(y, probability), ""),
        Metric::new("brier", brier(y, probability), ""),
        Metric::plain("calibration_error", calibration_error(&bins), ""),
    ];
    (metrics, bins)
}

fn density(logs: Vec<f64>) -> Metric {
    let n = logs.len() as f64;
    let value = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|log| (log - value).powi(2)).sum();
    let se = (squares / (n - 1.0) / n).sqrt();
    Metric::new("log_predictive_density", Score { value, se }, "nats")
}

/// log y! for a whole number.
fn ln_factorial(y: f64) -> f64 {
    elinvar::special::gamma::ln_gamma(y + 1.0)
}

/// The metrics as lines of a page.
pub fn table(test: &Test) -> String {
    let rows = if test.n_rows == 1 { "row" } else { "rows" };
    let mut text = format!("Test on {} held-out {rows}\n", grouped(test.n_rows as u64));
    for metric in &test.metrics {
        let value = match metric.se {
            Some(se) => with_error(metric.value, se),
            None => significant(metric.value),
        };
        let unit = if metric.unit.is_empty() { String::new() } else { format!(" {}", metric.unit) };
        text += &format!("  {:<24}{value}{unit}\n", metric.name.replace('_', " "));
    }
    text
}
