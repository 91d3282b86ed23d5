//! The step size of each method on each table, chosen on rows that the tests do not see.

use crate::Error;
use crate::bnn_data::TableOfSplits;
use crate::findings::mean_and_sd;
use crate::threads;

use super::method::{Course, METHODS, Method, fit};
use super::race::{FROM, Loss, mean_over_log_steps};

/// The step sizes that every method tries.
pub(super) const STEP_SIZES: [f64; 7] = [0.0016, 0.004, 0.01, 0.025, 0.06, 0.15, 0.4];
/// The splits whose training rows are fitted and predicted.
pub(super) const N_SPLITS: usize = 2;
/// Added to the seed: the runs of the race have others.
pub(super) const SEED: u64 = 100;

/// A step size and what it led to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Try {
    pub(super) table: &'static str,
    pub(super) method: Method,
    pub(super) beta: f64,
    /// Log RMSE of the validation rows, mean over the logarithm of the steps from the hundredth on and over splits;
    /// infinite if a run broke down.
    pub(super) score: f64,
}

/// All tries of all methods on a table, method after method.
pub(super) fn tries(table: &TableOfSplits, course: Course, seed: u64) -> Vec<Try> {
    let (n_sizes, n) = (STEP_SIZES.len(), METHODS.len() * STEP_SIZES.len() * N_SPLITS);
    let score = |i: usize| -> Result<f64, Error> {
        let (setting, k) = (i / N_SPLITS, i % N_SPLITS);
        let (method, beta) = (METHODS[setting / n_sizes], STEP_SIZES[setting % n_sizes]);
        let fitted = fit(&table.validation(k)?, method, beta, course, seed + SEED + k as u64)?;
        Ok(mean_over_log_steps(&fitted.looks, Loss::LogRmse, FROM[1]))
    };
    // A run that broke down has no score, or one that is no number.
    let told = |score: Result<f64, Error>| score.ok().filter(|score| score.is_finite()).unwrap_or(f64::INFINITY);
    let scores: Vec<f64> = threads::for_each(n, score).into_iter().map(told).collect();
    let of_setting = |(setting, scores): (usize, &[f64])| Try {
        table: table.name,
        method: METHODS[setting / n_sizes],
        beta: STEP_SIZES[setting % n_sizes],
        score: mean_and_sd(scores).0,
    };
    scores.chunks_exact(N_SPLITS).enumerate().map(of_setting).collect()
}

/// The step size of a method with the lowest score.
pub(super) fn best(tries: &[Try], method: Method) -> f64 {
    let of_method = tries.iter().filter(|each| each.method == method);
    of_method.min_by(|a, b| a.score.total_cmp(&b.score)).map_or(f64::NAN, |best| best.beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_score_of_the_method_wins_and_a_breakdown_never_does() {
        let each = |method, beta, score| Try { table: "toy", method, beta, score };
        let (ours, other) = (METHODS[0], METHODS[2]);
        let tries =
            [each(ours, 0.1, 0.3), each(ours, 0.2, 0.2), each(other, 0.1, 0.1), each(other, 0.2, f64::INFINITY)];
        assert_eq!([best(&tries, ours), best(&tries, other)], [0.2, 0.1]);
        assert!(best(&tries, METHODS[1]).is_nan());
    }

    #[test]
    fn every_method_tries_the_same_sizes() {
        let tries = tries(&TableOfSplits::yacht().unwrap(), Course { steps: 120, growth: 3.0 }, 1);
        for method in METHODS {
            let of_method: Vec<&Try> = tries.iter().filter(|each| each.method == method).collect();
            assert_eq!(of_method.iter().map(|each| each.beta).collect::<Vec<_>>(), STEP_SIZES, "{}", method.name);
            assert!(of_method.iter().all(|each| !each.score.is_nan()));
        }
    }
}
