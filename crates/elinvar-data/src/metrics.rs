//! How well predictions agree with rows that were held back.
//!
//! Predictions are averaged over draws of the posterior first ([`mean_predictions`]), then compared: the log loss of
//! the averaged probability is that of the posterior predictive distribution. A class is 1 where the target is
//! positive, so targets may be written −1 and 1 or 0 and 1.

use serde::Serialize;

/// A mean over test rows with its standard error, which is NaN for a single row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The mean.
    pub value: f64,
    /// Its standard error as an estimate for rows to come.
    pub se: f64,
}

impl Score {
    fn mean_of(scores: impl Iterator<Item = f64>) -> Score {
        let scores: Vec<f64> = scores.collect();
        let n = scores.len() as f64;
        let value = scores.iter().sum::<f64>() / n;
        if value.is_infinite() {
            return Score { value, se: f64::INFINITY };
        }
        let squares: f64 = scores.iter().map(|score| (score - value).powi(2)).sum();
        Score { value, se: (squares / (n - 1.0) / n).sqrt() }
    }
}

/// What a linear predictor is turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A mean: η.
    Identity,
    /// The probability of class 1: 1/(1 + e^−η).
    Logit,
    /// A mean count: e^η.
    Log,
}

impl Link {
    fn mean(self, eta: f64) -> f64 {
        match self {
            Link::Identity => eta,
            Link::Logit => 1.0 / (1.0 + (-eta).exp()),
            Link::Log => eta.exp(),
        }
    }
}

/// The prediction for each row of a design matrix with `n_cols` columns, averaged over draws of the coefficients;
/// parameters behind the coefficients of a draw are not used.
///
/// # Panics
///
/// If a draw has fewer than `n_cols` numbers or there is no draw.
pub fn mean_predictions<'a>(
    features: &[f64],
    n_cols: usize,
    draws: impl IntoIterator<Item = &'a [f64]>,
    link: Link,
) -> Vec<f64> {
    let mut sums = vec![0.0; features.len() / n_cols];
    let mut n_draws = 0.0;
    for draw in draws {
        let coefficients = &draw[..n_cols];
        for (sum, row) in sums.iter_mut().zip(features.chunks_exact(n_cols)) {
            *sum += link.mean(row.iter().zip(coefficients).map(|(x, beta)| x * beta).sum());
        }
        n_draws += 1.0;
    }
    assert!(n_draws > 0.0, "at least one draw");
    sums.iter_mut().for_each(|sum| *sum /= n_draws);
    sums
}

fn pairs<'a>(y: &'a [f64], predicted: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    assert_eq!(y.len(), predicted.len(), "one prediction for each row");
    y.iter().copied().zip(predicted.iter().copied())
}

/// Mean of −log p(class) in nats, where `probability` is that of class 1; infinite if a class that occurs was given
/// probability 0.
///
/// # Panics
///
/// If the lengths differ; so do all functions of this kind.
pub fn log_loss(y: &[f64], probability: &[f64]) -> Score {
    Score::mean_of(pairs(y, probability).map(|(y, p)| if y > 0.0 { -p.ln() } else { -(-p).ln_1p() }))
}

/// Share of rows whose class is the more probable one; a probability of ½ counts as class 1.
pub fn accuracy(y: &[f64], probability: &[f64]) -> Score {
    Score::mean_of(pairs(y, probability).map(|(y, p)| f64::from(u8::from((y > 0.0) == (p >= 0.5)))))
}

/// Mean of (class − probability)².
pub fn brier(y: &[f64], probability: &[f64]) -> Score {
    Score::mean_of(pairs(y, probability).map(|(y, p)| (f64::from(u8::from(y > 0.0)) - p).powi(2)))
}

/// Root of the mean of (y − prediction)²; the standard error is by the delta method.
pub fn rmse(y: &[f64], predicted: &[f64]) -> Score {
    let squares = Score::mean_of(pairs(y, predicted).map(|(y, p)| (y - p).powi(2)));
    let value = squares.value.sqrt();
    Score { value, se: if value > 0.0 { squares.se / (2.0 * value) } else { squares.se } }
}

/// Rows whose predicted probability is in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Lower end, included.
    pub low: f64,
    /// Upper end, included in the last bin only.
    pub high: f64,
    /// Number of rows.
    pub n_rows: usize,
    /// Mean of the predicted probabilities.
    pub predicted: f64,
    /// Share of class 1.
    pub observed: f64,
    /// Standard error of `observed` if every row had the probability `predicted`.
    pub se: f64,
}

/// Predicted probabilities against observed shares in `n_bins` intervals of equal width; intervals without rows are
/// left out.
pub fn calibration(y: &[f64], probability: &[f64], n_bins: usize) -> Vec<CalibrationBin> {
    let width = 1.0 / n_bins as f64;
    let mut sums = vec![(0_usize, 0.0, 0.0); n_bins];
    for (y, p) in pairs(y, probability) {
        let (n_rows, predicted, observed) = &mut sums[((p * n_bins as f64) as usize).min(n_bins - 1)];
        *n_rows += 1;
        *predicted += p;
        *observed += f64::from(u8::from(y > 0.0));
    }
    let bin = |(k, &(n_rows, predicted, observed)): (usize, &(usize, f64, f64))| {
        let (n, low, high) = (n_rows as f64, k as f64 * width, (k + 1) as f64 * width);
        let (predicted, observed) = (predicted / n, observed / n);
        CalibrationBin { low, high, n_rows, predicted, observed, se: (predicted * (1.0 - predicted) / n).sqrt() }
    };
    sums.iter().enumerate().filter(|(_, sums)| sums.0 > 0).map(bin).collect()
}

/// Mean over rows of |predicted − observed| of their bin: the expected calibration error.
pub fn calibration_error(bins: &[CalibrationBin]) -> f64 {
    let n_rows: usize = bins.iter().map(|bin| bin.n_rows).sum();
    bins.iter().map(|bin| bin.n_rows as f64 * (bin.predicted - bin.observed).abs()).sum::<f64>() / n_rows as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const Y: [f64; 4] = [1.0, -1.0, 1.0, -1.0];
    const P: [f64; 4] = [0.8, 0.4, 0.3, 0.0];

    #[track_caller]
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-14 * (1.0 + b.abs()), "{a} and {b}");
    }

    #[test]
    fn scores_computed_by_hand() {
        // −ln 0.8, −ln 0.6, −ln 0.3 and 0; the product 0.8·0.6·0.3 is 0.144.
        near(log_loss(&Y, &P).value, -(0.144_f64.ln()) / 4.0);
        assert_eq!(accuracy(&Y, &P).value, 0.75);
        near(accuracy(&Y, &P).se, (0.25 * 0.75 / 3.0_f64).sqrt());
        near(brier(&Y, &P).value, (0.04 + 0.16 + 0.49) / 4.0);
        near(rmse(&[1.0, 2.0, 3.0], &[1.0, 4.0, 0.0]).value, (13.0_f64 / 3.0).sqrt());
        // Squares 0, 4, 9: variance 61/3, standard error of their mean √(61/9).
        near(rmse(&[1.0, 2.0, 3.0], &[1.0, 4.0, 0.0]).se, (61.0_f64 / 9.0).sqrt() / (2.0 * (13.0_f64 / 3.0).sqrt()));
        assert_eq!(log_loss(&[1.0, 0.0], &[0.0, 0.5]).value, f64::INFINITY);
        assert_eq!(log_loss(&[0.0, 1.0, 0.0, 1.0], &P).value, log_loss(&[-1.0, 1.0, -1.0, 1.0], &P).value);
        assert!(log_loss(&[1.0], &[0.5]).se.is_nan());
    }

    #[test]
    fn predictions_are_averaged_before_they_are_scored() {
        let features = [1.0, 2.0, 1.0, -1.0];
        let draws: [&[f64]; 2] = [&[0.0, 0.0, 9.0], &[1.0, 3.0, 9.0]];
        let sigmoid = |eta: f64| 1.0 / (1.0 + (-eta).exp());
        let p = mean_predictions(&features, 2, draws, Link::Logit);
        near(p[0], (0.5 + sigmoid(7.0)) / 2.0);
        near(p[1], (0.5 + sigmoid(-2.0)) / 2.0);
        assert_eq!(mean_predictions(&features, 2, draws, Link::Identity), [3.5, -1.0]);
        near(mean_predictions(&features, 2, draws, Link::Log)[0], (1.0 + 7.0_f64.exp()) / 2.0);
    }

    #[test]
    fn calibration_bins_hold_every_row_once() {
        let y = [0.0, 1.0, 1.0, 0.0, 1.0];
        let p = [0.0, 0.05, 0.5, 0.59, 1.0];
        let bins = calibration(&y, &p, 10);
        assert_eq!(bins.iter().map(|bin| bin.n_rows).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!((bins[0].low, bins[2].high), (0.0, 1.0));
        near(bins[0].predicted, 0.025);
        near(bins[1].predicted, 0.545);
        assert_eq!((bins[0].observed, bins[1].observed, bins[2].observed), (0.5, 0.5, 1.0));
        near(calibration_error(&bins), (2.0 * 0.475 + 2.0 * 0.045) / 5.0);
    }
}
