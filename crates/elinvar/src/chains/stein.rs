//! Means, standard deviations and quantiles from states and gradients, by Stein's identity (mathematics §11.2).
//!
//! With s = C ∇log p, for any direction a: E\[aᵀs\] = 0 and E[aᵀ(z − c) aᵀs] = −aᵀCa. So aᵀs and aᵀ(z − c) aᵀs + aᵀCa
//! have mean zero under p and are control variates for functions of aᵀz; for a Gaussian they remove all noise from its
//! mean and variance. Their two coefficients are fitted.

use crate::linalg::{axpy, dot};

/// Log ratio of the reduced to the plain variance beyond which the coefficients are those of an outlier.
const OUTLIER: f64 = 1.4;
/// Skewness over mirrored pairs up to which an error is taken as it is, and how much it grows with what is beyond.
/// Johnson's correction of Student's t at 2.5 errors is 0.225 for 16 pairs.
const SKEWNESS: f64 = 0.75;
const SKEWED: f64 = 0.225;
/// Times the error by halves of runs beyond which that by whole runs shows that the halves are not independent, which
/// it does by chance in a fortieth of all cases for 16 pairs; and the ratio of Student's quantiles for 15 and 31
/// degrees of freedom at 1e−4.
const SLOW: f64 = 1.22;
const FEWER: f64 = 1.2;
/// Share of probability to either side of a quantile over which the density there is taken.
const BANDWIDTH: f64 = 0.03;

/// A mean and a standard deviation with standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    /// Standard error of the mean, in standard deviations.
    pub(crate) mean_error: f64,
    /// Standard error of the logarithm of the standard deviation.
    pub(crate) log_sd_error: f64,
    /// Share of the second moment that a single state has.
    pub(crate) largest: f64,
    /// log (sd / plain standard deviation of the states), and the error of the latter's logarithm.
    pub(crate) apart: (f64, f64),
    /// The mean less the plain mean of the states, and the error of the latter, in standard deviations: Stein's
    /// identity does not hold where the density ends at an edge.
    pub(crate) mean_apart: (f64, f64),
}

impl Moments {
    /// Those of the sum with a constant and independent noise of this variance.
    pub(crate) fn beside(self, constant: f64, variance: f64) -> Self {
        let sd = (self.sd * self.sd + variance).sqrt();
        let share = self.sd / sd;
        Self {
            mean: self.mean + constant,
            sd,
            mean_error: self.mean_error * share,
            log_sd_error: self.log_sd_error * share * share,
            largest: self.largest * share * share,
            ..self
        }
    }
}

/// Control variates of n chains over some steps: numbers of mean zero under p, one per state.
#[derive(Clone, Debug)]
pub(crate) struct Controls {
    chains: usize,
    count: usize,
    /// Means over both chains of each pair, over the early half of the steps and over the late one.
    pairs: Vec<Vec<f64>>,
    /// Every so many states the coefficients are fitted to.
    stride: usize,
    /// The columns at these states, centred, made orthogonal and of unit length, with what each is made of.
    fitted: Vec<(Vec<f64>, Vec<f64>)>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What is left of a control variate without those before it, below which it says nothing new.
const NEW: f64 = 1e-8;
/// States that coefficients are fitted to, at most about.
const FITTED: usize = 4_000;

impl Controls {
    /// Of a direction a: the numbers aᵀz and aᵀs at every state, and aᵀCa.
    pub(crate) fn new(chains: usize, along: &[f64], scores: Vec<f64>, variance: f64) -> Self {
        let centre = mean(along);
        let second: Vec<f64> = along.iter().zip(&scores).map(|(z, s)| (z - centre) * s + variance).collect();
        // Of odd length, so that all chains have their turn.
        let stride = (along.len() / FITTED).max(1) | 1;
        let mut controls = Self { chains, count: 0, pairs: Vec::new(), stride, fitted: Vec::new() };
        controls.add(scores);
        controls.add(second);
        controls
    }

    fn sample(&self, values: &[f64]) -> Vec<f64> {
        let mut sample: Vec<f64> = values.iter().step_by(self.stride).copied().collect();
        let centre = mean(&sample);
        sample.iter_mut().for_each(|v| *v -= centre);
        sample
    }

    /// Adds a control variate, if it is not a combination of those before.
    pub(crate) fn add(&mut self, column: Vec<f64>) {
        let mut sample = self.sample(&column);
        let before = dot(&sample, &sample);
        let mut parts = vec![0.0; self.count + 1];
        parts[self.count] = 1.0;
        // Twice, for the rounding of the first time.
        for _ in 0..2 {
            for (other, of) in &self.fitted {
                let along = dot(&sample, other);
                axpy(-along, other, &mut sample);
                axpy(-along, of, &mut parts[..of.len()]);
            }
        }
        let left = dot(&sample, &sample);
        if !(left > NEW * before && left.is_finite()) {
            return;
        }
        let size = left.sqrt();
        sample.iter_mut().chain(&mut parts).for_each(|v| *v /= size);
        self.fitted.push((sample, parts));
        self.pairs.push(self.plain_pairs(&column));
        self.count += 1;
    }

    /// The coefficients of all for a function with these values.
    fn coefficients(&self, values: &[f64]) -> Vec<f64> {
        let sample = self.sample(values);
        let mut coefficients = vec![0.0; self.count];
        for (column, parts) in &self.fitted {
            axpy(dot(&sample, column), parts, &mut coefficients[..parts.len()]);
        }
        coefficients
    }

    fn plain_pairs(&self, values: &[f64]) -> Vec<f64> {
        let pairs = self.chains / 2;
        let middle = values.len() / self.chains / 2 * self.chains;
        let mut means = vec![0.0; 2 * pairs];
        let (early, late) = means.split_at_mut(pairs);
        for (sums, steps) in [(early, &values[..middle]), (late, &values[middle..])] {
            let each = (steps.len() / pairs) as f64;
            steps.chunks_exact(pairs).for_each(|half| axpy(1.0, half, sums));
            sums.iter_mut().for_each(|sum| *sum /= each);
        }
        // A single step has no halves.
        means.split_off(if middle == 0 { pairs } else { 0 })
    }

    /// The mean of the function over both chains of each mirrored pair, by halves of the steps, reduced.
    fn of_pairs(&self, values: &[f64], coefficients: &[f64]) -> Vec<f64> {
        let mut sums = self.plain_pairs(values);
        for (coefficient, pairs) in coefficients.iter().zip(&self.pairs) {
            axpy(-coefficient, pairs, &mut sums);
        }
        sums
    }

    /// The mean of a function with its standard error.
    pub(crate) fn mean(&self, values: &[f64]) -> (f64, f64) {
        let pairs = self.of_pairs(values, &self.coefficients(values));
        (mean(&pairs), error(&pairs))
    }

    /// Mean and standard deviation of a function with their errors.
    pub(crate) fn moments(&self, values: &[f64]) -> Moments {
        let centre = mean(values);
        let deviations: Vec<f64> = values.iter().map(|f| f - centre).collect();
        let squares: Vec<f64> = deviations.iter().map(|y| y * y).collect();
        let plain = mean(&squares);
        let largest = squares.iter().copied().fold(0.0, f64::max) / (plain * squares.len() as f64);
        let plain_pairs = self.of_pairs(&squares, &[]);
        let (mut first, mut second) = (
            self.of_pairs(&deviations, &self.coefficients(&deviations)),
            self.of_pairs(&squares, &self.coefficients(&squares)),
        );
        let variance = |first: &[f64], second: &[f64]| mean(second) - mean(first).powi(2);
        let ratio = variance(&first, &second).max(f64::MIN_POSITIVE) / plain;
        if ratio.is_nan() || ratio.ln().abs() > OUTLIER {
            (first, second) = (self.of_pairs(&deviations, &[]), plain_pairs.clone());
        }
        let shift = mean(&first);
        let sd = variance(&first, &second).max(f64::MIN_POSITIVE).sqrt();
        let of_variance: Vec<f64> = second.iter().zip(&first).map(|(s, f)| s - 2.0 * shift * f).collect();
        let mean_apart = (shift / sd, error(&self.of_pairs(&deviations, &[])) / sd);
        Moments {
            mean: centre + shift,
            sd,
            mean_error: error(&first) / sd,
            log_sd_error: error(&of_variance) / (2.0 * sd * sd),
            largest,
            apart: (0.5 * (sd * sd / plain).ln(), error(&plain_pairs) / (2.0 * plain)),
            mean_apart,
        }
    }

    /// The p-quantile of a function with its standard error: that of the values, corrected by how often they are below
    /// it, over the density there.
    pub(crate) fn quantile(&self, values: &[f64], sorted: &[f64], p: f64) -> (f64, f64) {
        let place = at(sorted, p);
        let below: Vec<f64> = values.iter().map(|f| f64::from(u8::from(*f <= place))).collect();
        let (share, share_error) = self.mean(&below);
        let (low, high) = ((p - BANDWIDTH).max(0.0), (p + BANDWIDTH).min(1.0));
        let slope = (at(sorted, high) - at(sorted, low)) / (high - low);
        // A correction beyond the bandwidth would extrapolate the density.
        let correction = (p - share).clamp(-BANDWIDTH, BANDWIDTH);
        (place + slope * correction, slope * share_error.hypot(p - share - correction))
    }
}

/// The p-quantile of sorted values, interpolated.
fn at(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    low + (high - low) * position.fract()
}

/// The standard error of the mean of values of pairs, first those of the early half of the steps and then those of the
/// late one.
///
/// They count as independent, which leaves more of them to judge by, unless the means of whole runs differ so much more
/// that the halves of a run do not: then the error is that of whole runs, with what Student's law of half as many asks
/// for. It is larger where values are skewed: then that law does not hold and the values seen so far are mostly those
/// of the short side.
fn error(values: &[f64]) -> f64 {
    let centre = mean(values);
    let skewness = {
        let of = |power: i32| values.iter().map(|v| (v - centre).powi(power)).sum::<f64>() / values.len() as f64;
        let second = of(2);
        if second > 0.0 { of(3).abs() / second.powf(1.5) } else { 0.0 }
    };
    let by = |values: &mut dyn Iterator<Item = f64>, n: f64| {
        (values.map(|v| (v - centre).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt()
    };
    let (early, late) = values.split_at(values.len() / 2);
    let by_halves = by(&mut values.iter().copied(), values.len() as f64);
    let whole = by(&mut early.iter().zip(late).map(|(a, b)| 0.5 * (a + b)), early.len() as f64);
    let plain = if whole > SLOW * by_halves { FEWER * whole } else { by_halves.max(whole) };
    plain * (1.0 + SKEWED * (skewness - SKEWNESS).max(0.0))
}

#[cfg(test)]
mod tests;
