//! Arms on tables: tuned on validation rows, then run over the splits.

use super::super::method::{Course, Look};
use super::super::race::{FROM, Loss, mean_over_log_steps};
use super::super::tune::SEED;
use super::arm::{Arm, Setting};
use crate::bnn_data::TableOfSplits;
use crate::{Error, threads};

/// The step sizes that every arm tries.
pub(super) const STEP_SIZES: [f64; 5] = [0.01, 0.025, 0.06, 0.15, 0.4];
/// The precisions of the noise that are tried where it is not learned, for responses of variance one.
pub(super) const NOISE_PRECISIONS: [f64; 5] = [5.0, 25.0, 125.0, 625.0, 3_125.0];

/// A setting and what it led to.
pub(super) struct Try {
    pub(super) table: &'static str,
    pub(super) arm: String,
    pub(super) setting: Setting,
    /// Log RMSE of the validation rows, mean over log steps from the hundredth on; infinite if a run broke down.
    pub(super) score: f64,
}

/// An arm on a table.
pub(super) struct Ran {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) setting: Setting,
    pub(super) splits: Vec<Vec<Look>>,
    /// Splits whose run broke down.
    pub(super) broken: usize,
}

/// All settings: each step size with each of these precisions of the noise, or with learned noise.
pub(super) fn settings(noise_precisions: &[Option<f64>]) -> Vec<Setting> {
    let with = |noise_precision: &Option<f64>| {
        let noise_precision = *noise_precision;
        STEP_SIZES.map(|beta| Setting { beta, noise_precision })
    };
    noise_precisions.iter().flat_map(with).collect()
}

/// Tries these settings on the validation rows of the first split.
pub(super) fn tries(
    table: &TableOfSplits,
    arm: &Arm,
    name: &str,
    settings: &[Setting],
    course: Course,
    seed: u64,
) -> Vec<Try> {
    let score = |i: usize| -> Result<f64, Error> {
        let looks = arm.fit(&table.validation(0)?, settings[i], course, seed + SEED)?;
        Ok(mean_over_log_steps(&looks, Loss::LogRmse, FROM[1]))
    };
    let told = |score: Result<f64, Error>| score.ok().filter(|score| score.is_finite()).unwrap_or(f64::INFINITY);
    let scores = threads::for_each(settings.len(), score).into_iter().map(told);
    let of_setting =
        |(setting, score): (&Setting, f64)| Try { table: table.name, arm: name.into(), setting: *setting, score };
    settings.iter().zip(scores).map(of_setting).collect()
}

/// The setting with the lowest score.
pub(super) fn best(tries: &[Try]) -> Option<Setting> {
    tries.iter().min_by(|a, b| a.score.total_cmp(&b.score)).map(|best| best.setting)
}

/// The arm on the first splits of the table.
pub(super) fn race(
    table: &TableOfSplits,
    arm: &Arm,
    name: String,
    setting: Setting,
    course: Course,
    seed: u64,
    n_splits: usize,
) -> Result<Ran, Error> {
    let splits: Vec<_> = (0..n_splits).map(|k| table.split(k)).collect::<Result<_, _>>()?;
    let fits = threads::for_each(n_splits, |k| arm.fit(&splits[k], setting, course, seed + k as u64).ok());
    let is_sound = |looks: &Vec<Look>| looks.last().is_some_and(|look| look.rmse.is_finite());
    let sound: Vec<Vec<Look>> = fits.into_iter().flatten().filter(is_sound).collect();
    Ok(Ran { table: table.name, name, setting, broken: n_splits - sound.len(), splits: sound })
}
