//! A way to move a diagonal skew-Gaussian over the weights of a network: the box of the paper, and what lies between it
//! and elinvar's form.

use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::model::{Architecture, NetworkNoise, NeuralNetwork};
use elinvar::rule::{AdamLike, BiasCorrection, Printed, PrintedStep, Rule, StepSize};
use elinvar::run::{Stop, start_at_guess};
use elinvar::{Family, Plan};

use super::super::method::{BATCH, Course, DECAYS, Look, N_DRAWS, SCHEDULE, watched};
use crate::Error;
use crate::bnn_data::Split;

/// Precision of the prior of a weight.
const PRIOR_PRECISION: f64 = 1.0;

/// Where the curvature comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Squares {
    /// The mean of the squared gradients of single rows.
    OfItems,
    /// The square of a batch's mean gradient.
    OfMean,
}

/// How wide weights are at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// A tenth of the spread of the means.
    Narrow,
    /// As under the prior: s = 0 of the boxes.
    Prior,
}

/// What a step is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// The box of App. J and nothing else: constant β, independent draws, option I, both bias corrections.
    Printed,
    /// Falling steps, low-discrepancy draws, option III, bias correction of the momentum alone.
    Elinvar,
}

/// A way to fit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arm {
    pub(super) squares: Squares,
    pub(super) start: Start,
    pub(super) steps: Steps,
    pub(super) learns_noise: bool,
    pub(super) hidden: Vec<usize>,
}

/// What is tuned of it: β, and τ = 1/σ² where the noise is not learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) beta: f64,
    pub(super) noise_precision: Option<f64>,
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.noise_precision {
            Some(precision) => write!(f, "β = {}, τ = {precision}", self.beta),
            None => write!(f, "β = {}", self.beta),
        }
    }
}

impl Arm {
    /// A box of the paper on one hidden layer of 50 units.
    pub(super) fn printed(squares: Squares) -> Self {
        Self { squares, start: Start::Prior, steps: Steps::Printed, learns_noise: false, hidden: vec![50] }
    }

    /// elinvar's form on the same.
    pub(super) fn elinvar() -> Self {
        Self {
            squares: Squares::OfItems,
            start: Start::Narrow,
            steps: Steps::Elinvar,
            learns_noise: true,
            hidden: vec![50],
        }
    }

    pub(super) fn name(&self) -> String {
        let squares = match self.squares {
            Squares::OfItems => "squares of items",
            Squares::OfMean => "squared mean",
        };
        match self.steps {
            Steps::Printed => format!("as printed, {squares}"),
            Steps::Elinvar => format!("elinvar, {squares}"),
        }
    }

    /// The name among arms that differ in noise and start.
    pub(super) fn cell(&self) -> String {
        let noise = if self.learns_noise { "σ learned" } else { "σ fixed" };
        let start = if self.start == Start::Narrow { "narrow start" } else { "start at the prior" };
        format!("{}, {noise}, {start}", self.name())
    }

    fn plan(&self, beta: f64, seed: u64, steps: u64) -> Plan {
        let (gamma1, gamma2) = DECAYS;
        let curvature = match self.squares {
            Squares::OfItems => Curvature::ItemGradients,
            Squares::OfMean => Curvature::SquaredMean,
        };
        let rule = AdamLike { gamma1, gamma2, ..AdamLike::default() };
        let plan = match self.steps {
            Steps::Printed => {
                let step = PrintedStep::AdamLike(rule);
                let rule = Rule::Printed(Printed { step, ..Printed::default() });
                Plan { rule, ..Plan::printed(N_DRAWS, beta, steps) }
            }
            Steps::Elinvar => {
                let (delay, exponent) = SCHEDULE;
                Plan {
                    rule: Rule::AdamLike(AdamLike { bias_correction: BiasCorrection::MomentumOnly, ..rule }),
                    n_draws: N_DRAWS,
                    step_size: StepSize::Power { initial: beta, delay, exponent },
                    max_kl: None,
                    stop: Stop { max_steps: u64::MAX, ..Stop::default() },
                    ..Plan::default()
                }
            }
        };
        Plan { curvature, minibatch: Some(BATCH), seed, ..plan }
    }

    /// A fit of the rows of the split, seen at the rows held out.
    pub(super) fn fit(&self, split: &Split, setting: Setting, course: Course, seed: u64) -> Result<Vec<Look>, Error> {
        let architecture = Architecture { hidden: self.hidden.clone(), ..Architecture::default() };
        let (x, y) = (split.train_x.clone(), split.train_y.clone());
        let mut model = NeuralNetwork::regression(x, y, architecture, PRIOR_PRECISION)?;
        if let Some(precision) = setting.noise_precision {
            model = model.with_noise(NetworkNoise::Fixed { precision })?;
        }
        let narrow = start_at_guess(&model, Family::skew().diagonal(), seed)?;
        let start = match self.start {
            Start::Narrow => narrow,
            Start::Prior => widened(&narrow, usize::from(self.learns_noise))?,
        };
        Ok(watched(&model, split, &start, &self.plan(setting.beta, seed, course.steps), course)?.looks)
    }
}

/// The same means and shifts with the precision of the prior; the last `kept` coordinates, which have another prior,
/// stay as they are.
fn widened(narrow: &Approximation, kept: usize) -> Result<Approximation, Error> {
    let (block, d) = (&narrow.locations()[0], narrow.dim());
    let mut precision = block.scale().precision().to_vec();
    precision[..d - kept].fill(PRIOR_PRECISION);
    Ok(Approximation::from_parts(narrow.family(), d, vec![(block.b().to_vec(), precision)], vec![0.0])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bnn_data::TableOfSplits;

    #[test]
    fn a_start_at_the_prior_is_as_wide_as_the_prior_but_in_log_sigma() {
        let split = TableOfSplits::yacht().unwrap().split(0).unwrap();
        let model = NeuralNetwork::regression(split.train_x, split.train_y, Architecture::default(), 1.0).unwrap();
        let narrow = start_at_guess(&model, Family::skew().diagonal(), 1).unwrap();
        let wide = widened(&narrow, 1).unwrap();
        let [before, after] = [&narrow, &wide].map(|q| q.locations()[0].scale().precision());
        let last = after.len() - 1;
        assert!(after[..last].iter().all(|p| *p == 1.0) && before[0] > 10.0);
        assert_eq!(after[last], before[last]);
        assert_eq!(wide.locations()[0].b(), narrow.locations()[0].b());
    }

    #[test]
    fn both_curvatures_run_and_are_told_apart() {
        let split = TableOfSplits::yacht().unwrap().validation(0).unwrap();
        let setting = Setting { beta: 0.01, noise_precision: Some(50.0) };
        let course = Course { steps: 40, growth: 40.0 };
        let end = |squares| {
            let looks = Arm::printed(squares).fit(&split, setting, course, 3).unwrap();
            looks.last().unwrap().rmse
        };
        assert!(end(Squares::OfItems).is_finite() && end(Squares::OfItems) != end(Squares::OfMean));
    }
}
