//! Scores of rows that are never in memory together: sums over shards.

use elinvar_data::{CalibrationBin, Score, calibration_error};

use super::{BINS, Metric, Predicted, Scores};

/// A mean and the squares around it, in the making (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Running {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let apart = value - self.mean;
        self.mean += apart / self.n;
        self.squares += apart * (value - self.mean);
    }

    fn score(&self) -> Score {
        if self.mean.is_finite() {
            return Score { value: self.mean, se: (self.squares / (self.n - 1.0) / self.n).sqrt() };
        }
        // A class that occurs was given probability 0: ∞ − ∞ on the way.
        Score { value: f64::INFINITY, se: f64::INFINITY }
    }
}

/// What the scores are functions of.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Of −log p of the response, of whether the more probable class is right, and of squared errors.
    loss: Running,
    right: Running,
    squares: Running,
    /// Rows, predicted probabilities and rows of the second class.
    bins: [(usize, f64, f64); BINS],
}

impl Tally {
    pub(super) fn add(&mut self, Predicted { y, logs, means }: &Predicted) {
        for ((y, log), mean) in y.iter().zip(logs).zip(means) {
            self.loss.add(-log);
            self.right.add(f64::from(u8::from((*y > 0.0) == (*mean >= 0.5))));
            self.squares.add((y - mean) * (y - mean));
            let bin = ((mean * BINS as f64) as usize).min(BINS - 1);
            let (n, predicted, observed) = &mut self.bins[bin];
            (*n, *predicted, *observed) = (*n + 1, *predicted + mean, *observed + y);
        }
    }

    /// Of two classes, or of numbers.
    pub(super) fn scores(&self, is_class: bool) -> Scores {
        let loss = self.loss.score();
        if !is_class {
            let density = Metric::new("log_predictive_density", Score { value: -loss.value, ..loss }, "nats");
            let squares = self.squares.score();
            let value = squares.value.sqrt();
            let se = if value > 0.0 { squares.se / (2.0 * value) } else { squares.se };
            return Scores::of(vec![density, Metric::new("rmse", Score { value, se }, "")]);
        }
        let calibration: Vec<CalibrationBin> = self.bins.iter().enumerate().filter_map(bin).collect();
        let metrics = vec![
            Metric::new("log_loss", loss, "nats"),
            Metric::new("accuracy", self.right.score(), ""),
            Metric::new("brier", self.squares.score(), ""),
            Metric::plain("calibration_error", calibration_error(&calibration), ""),
        ];
        Scores { metrics, calibration }
    }
}

fn bin((k, &(n_rows, predicted, observed)): (usize, &(usize, f64, f64))) -> Option<CalibrationBin> {
    let n = (n_rows > 0).then_some(n_rows as f64)?;
    let (low, high) = (k as f64 / BINS as f64, (k + 1) as f64 / BINS as f64);
    let (predicted, observed) = (predicted / n, observed / n);
    let se = (predicted * (1.0 - predicted) / n).sqrt();
    Some(CalibrationBin { low, high, n_rows, predicted, observed, se })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_say_what_all_rows_say() {
        let y: Vec<f64> = (0..500).map(|i| f64::from(u8::from(i * 7 % 11 < 5))).collect();
        let means: Vec<f64> = (0..500).map(|i| (f64::from(i * 37 % 500) + 0.5) / 501.0).collect();
        let log = |(y, p): (&f64, &f64)| if *y > 0.0 { p.ln() } else { (-p).ln_1p() };
        let logs: Vec<f64> = y.iter().zip(&means).map(log).collect();
        let expected = Scores::of_two_classes(&y, &means);
        let numbers = Scores::of_numbers(&logs, elinvar_data::rmse(&y, &means));
        let mut tally = Tally::default();
        for part in [0..3, 3..3, 3..400, 400..500] {
            let of = |list: &[f64]| list[part.clone()].to_vec();
            tally.add(&Predicted { y: of(&y), logs: of(&logs), means: of(&means) });
        }
        for (found, expected) in [(tally.scores(true), expected), (tally.scores(false), numbers)] {
            assert_eq!(found.metrics.len(), expected.metrics.len());
            for (a, b) in found.metrics.iter().zip(&expected.metrics) {
                assert_eq!((a.name, a.unit, a.se.is_some()), (b.name, b.unit, b.se.is_some()));
                assert!((a.value - b.value).abs() < 1e-12, "{}: {} {}", a.name, a.value, b.value);
                assert!((a.se.unwrap_or(0.0) - b.se.unwrap_or(0.0)).abs() < 1e-12, "{}", a.name);
            }
            for (a, b) in found.calibration.iter().zip(&expected.calibration) {
                assert!(a.n_rows == b.n_rows && (a.observed - b.observed).abs() < 1e-12, "{a:?} {b:?}");
            }
            assert_eq!(found.calibration.len(), expected.calibration.len());
        }
    }
}
