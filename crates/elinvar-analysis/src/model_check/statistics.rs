//! Statistics of responses, given and drawn.

use elinvar::random::Stream;
use elinvar::target::{DrawBuffer, Transforms};

use super::Check;
use crate::response::{Regression, Values};

/// Bins of predicted probability, as many rows in each.
const BINS: usize = 10;
/// Draws by which rows are put into bins.
const BINNING_DRAWS: usize = 64;

/// Sums over draws, a column for each statistic.
pub(super) struct Statistics<'a> {
    regression: &'a Regression<'a>,
    transforms: &'a Transforms,
    rows: &'a [usize],
    names: Vec<&'static str>,
    /// The bin of each row; none for numbers and counts.
    bins: Vec<usize>,
    tallies: Vec<Tally>,
    /// Responses of the rows.
    observed: Vec<f64>,
    /// What the rows count, their mean being 1.
    weights: Vec<f64>,
    drawn: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// Probabilities of the classes of each row.
    probabilities: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    n: f64,
    observed: f64,
    expected: f64,
    at_least: f64,
    at_most: f64,
}

impl<'a> Statistics<'a> {
    pub(super) fn new(
        regression: &'a Regression<'a>,
        transforms: &'a Transforms,
        draws: &DrawBuffer,
        rows: &'a [usize],
    ) -> Self {
        let names: Vec<&'static str> = match regression.response.values() {
            Values::Numbers => vec!["mean", "sd", "min", "max", "dispersion", "tails"],
            Values::Counts => vec!["mean", "sd", "zeros", "max", "dispersion"],
            Values::Classes(2) => vec!["mean", "calibration"],
            Values::Classes(_) => vec!["classes"],
        };
        let n_classes = if let Values::Classes(n) = regression.response.values() { n } else { 0 };
        let bins = if n_classes == 2 { bins(regression, transforms, draws, rows) } else { Vec::new() };
        Self {
            tallies: vec![Tally::default(); names.len()],
            names,
            bins,
            observed: rows.iter().map(|i| regression.observed(*i)).collect(),
            weights: weights(regression, rows),
            drawn: vec![0.0; rows.len()],
            mean: vec![0.0; rows.len()],
            variance: vec![0.0; rows.len()],
            probabilities: vec![0.0; rows.len() * n_classes],
            regression,
            transforms,
            rows,
        }
    }

    /// Draws a table under z and compares.
    pub(super) fn add(&mut self, z: &[f64], stream: &mut Stream) {
        let response = self.regression.response;
        let n_classes = self.probabilities.len() / self.rows.len();
        let Self { drawn, mean, variance, probabilities, .. } = self;
        self.regression.under(z, self.transforms, self.rows, |place, _, given| {
            drawn[place] = response.draw(given, stream);
            mean[place] = response.mean(given);
            variance[place] = response.variance(given);
            if n_classes > 0 {
                response.probabilities(given, &mut probabilities[place * n_classes..(place + 1) * n_classes]);
            }
        });
        for k in 0..self.names.len() {
            let (given, drawn) = (self.value(k, &self.observed), self.value(k, &self.drawn));
            let tally = &mut self.tallies[k];
            // A mean that overflows under some draw has nothing to say.
            if given.is_finite() && drawn.is_finite() {
                tally.n += 1.0;
                tally.observed += given;
                tally.expected += drawn;
                tally.at_least += f64::from(u8::from(drawn >= given));
                tally.at_most += f64::from(u8::from(drawn <= given));
            }
        }
    }

    /// Statistic k of responses, under the draw that was added last.
    fn value(&self, k: usize, y: &[f64]) -> f64 {
        let n = y.len() as f64;
        // A row of weight 2 counts as two.
        let weighted = || y.iter().zip(&self.weights);
        let counted = || weighted().filter(|(_, w)| **w > 0.0).map(|(y, _)| *y);
        let average = || weighted().map(|(y, w)| w * y).sum::<f64>() / n;
        let residuals = || {
            let rows = y.iter().zip(&self.mean).zip(&self.variance).zip(&self.weights);
            rows.map(|(((y, m), v), w)| ((y - m) * (y - m), *v, *w))
        };
        match self.names[k] {
            "mean" => average(),
            "sd" => {
                let mean = average();
                (weighted().map(|(y, w)| w * (y - mean) * (y - mean)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt()
            }
            "min" => counted().fold(f64::INFINITY, f64::min),
            "max" => counted().fold(f64::NEG_INFINITY, f64::max),
            "zeros" => weighted().filter(|(y, _)| **y == 0.0).map(|(_, w)| w).sum::<f64>() / n,
            // A row that cannot vary says nothing: its variance has underflowed.
            "dispersion" => {
                residuals().filter(|(_, v, _)| *v > 0.0).map(|(square, v, w)| w * square / v).sum::<f64>() / n
            }
            "tails" => {
                let (squares, fourths) = residuals().fold((0.0, 0.0), |(a, b), (square, v, w)| {
                    let square = square / v;
                    (a + w * square, b + w * square * square)
                });
                n * fourths / (squares * squares)
            }
            "calibration" => {
                let mut sums = [[0.0; 2]; BINS];
                for (i, ((y, mean), bin)) in y.iter().zip(&self.mean).zip(&self.bins).enumerate() {
                    let weight = self.weights[i];
                    sums[*bin][0] += weight * (y - mean);
                    sums[*bin][1] += weight * weight * self.variance[i];
                }
                sums.iter().filter(|[_, v]| *v > 0.0).map(|[off, v]| off * off / v).sum::<f64>() / BINS as f64
            }
            _ => self.of_classes(y),
        }
    }

    /// Σ (count − expected)²/expected over classes, for each of them.
    fn of_classes(&self, y: &[f64]) -> f64 {
        let n_classes = self.probabilities.len() / self.rows.len();
        let mut counts = vec![[0.0; 2]; n_classes];
        for ((y, p), w) in y.iter().zip(self.probabilities.chunks_exact(n_classes)).zip(&self.weights) {
            counts[(*y as usize).min(n_classes - 1)][0] += w;
            counts.iter_mut().zip(p).for_each(|(count, p)| count[1] += w * p);
        }
        counts.iter().filter(|[_, e]| *e > 0.0).map(|[n, e]| (n - e) * (n - e) / e).sum::<f64>() / n_classes as f64
    }

    /// What was found; `None` if no draw could be compared.
    pub(super) fn checks(&self) -> Option<Vec<Check>> {
        let check = |(name, tally): (&&'static str, &Tally)| {
            // Tails that are lighter than those of the law do no harm.
            let below = if *name == "tails" { tally.n } else { tally.at_most };
            let tail = (tally.at_least.min(below) + 1.0) / (tally.n + 1.0);
            let (observed, expected) = (tally.observed / tally.n, tally.expected / tally.n);
            Check { name, observed, expected, p: (2.0 * tail).min(1.0) }
        };
        let compared = self.names.iter().zip(&self.tallies).filter(|(_, tally)| tally.n > 0.0);
        let checks: Vec<Check> = compared.map(check).collect();
        (!checks.is_empty()).then_some(checks)
    }
}

/// What rows count, divided by their mean; all the same where that is 0.
fn weights(regression: &Regression<'_>, rows: &[usize]) -> Vec<f64> {
    let total: f64 = rows.iter().map(|i| regression.weight(*i)).sum();
    let mean = total / rows.len() as f64;
    rows.iter().map(|i| if mean > 0.0 { regression.weight(*i) / mean } else { 1.0 }).collect()
}

/// The bin of each row by its predicted probability.
fn bins(regression: &Regression<'_>, transforms: &Transforms, draws: &DrawBuffer, rows: &[usize]) -> Vec<usize> {
    let mut mean = vec![0.0; rows.len()];
    let stride = draws.len().div_ceil(BINNING_DRAWS).max(1);
    for z in draws.view().iter().step_by(stride) {
        regression.under(z, transforms, rows, |place, _, given| mean[place] += regression.response.mean(given));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| mean[*a].total_cmp(&mean[*b]));
    let mut bins = vec![0; rows.len()];
    order.iter().enumerate().for_each(|(rank, place)| bins[*place] = rank * BINS / rows.len());
    bins
}
