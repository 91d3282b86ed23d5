//! Rows of a regression beside what is predicted of them, for pictures.

use elinvar::target::{DrawBuffer, Transforms};
use elinvar_data::{CalibrationBin, calibration};
use elinvar_report::Residual;

use crate::response::{Regression, Values};

/// Draws over which predictions are averaged.
const DRAWS: usize = 64;
/// Bins of predicted probability.
const BINS: usize = 10;

/// Responses with the mean and the variance that is predicted of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PredictedRows {
    is_of_classes: bool,
    observed: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl PredictedRows {
    /// Nothing for classes of more than two, whose numbers have no mean.
    pub(super) fn of(regression: &Regression<'_>, transforms: &Transforms, draws: &DrawBuffer, rows: &[usize]) -> Self {
        let response = regression.response;
        let is_of_classes = matches!(response.values(), Values::Classes(_));
        if matches!(response.values(), Values::Classes(n) if n > 2) {
            return Self::default();
        }
        let stride = draws.len().div_ceil(DRAWS).max(1);
        let n = draws.view().iter().step_by(stride).count() as f64;
        let [mut mean, mut square, mut around] = [(); 3].map(|()| vec![0.0; rows.len()]);
        for z in draws.view().iter().step_by(stride) {
            regression.under(z, transforms, rows, |place, _, given| {
                let now = response.mean(given);
                mean[place] += now / n;
                square[place] += now * now / n;
                around[place] += response.variance(given) / n;
            });
        }
        // The law of total variance.
        let total = |((around, square), mean): ((&f64, &f64), &f64)| around + (square - mean * mean).max(0.0);
        let variance = around.iter().zip(&square).zip(&mean).map(total).collect();
        let observed = rows.iter().map(|i| regression.observed(*i)).collect();
        Self { is_of_classes, observed, mean, variance }
    }

    /// Of numbers and counts.
    pub(crate) fn residuals(&self) -> Vec<Residual> {
        if self.is_of_classes {
            return Vec::new();
        }
        let rows = self.observed.iter().zip(&self.mean).zip(&self.variance);
        let residual = |((y, mean), variance): ((&f64, &f64), &f64)| Residual {
            predicted: *mean,
            residual: (y - mean) / variance.sqrt(),
        };
        rows.map(residual).collect()
    }

    /// Of two classes.
    pub(crate) fn calibration(&self) -> Vec<CalibrationBin> {
        if self.is_of_classes && !self.mean.is_empty() {
            calibration(&self.observed, &self.mean, BINS)
        } else {
            Vec::new()
        }
    }
}
