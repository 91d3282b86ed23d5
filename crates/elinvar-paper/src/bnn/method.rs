//! The ways to fit a network, and a fit that is looked at.

use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::model::{Architecture, NeuralNetwork};
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Rule, StepSize};
use elinvar::run::Stop;
use elinvar::run::start_at_guess;
use elinvar::{Family, Plan};

use crate::Error;
use crate::bnn_data::Split;
use crate::watch::{Watch, watch};

/// Rows of a batch and draws of a step (mathematics §9.2, E6).
pub(super) const BATCH: usize = 32;
pub(super) const N_DRAWS: usize = 10;
/// Draws of a prediction.
pub(super) const N_PREDICTIONS: usize = 200;
/// Decays of the means of gradients and of their squares, of every method: those of the authors' program for Vadam.
pub(super) const DECAYS: (f64, f64) = (0.9, 0.99);
/// Steps after which every step size decays, and its exponent.
pub(super) const SCHEDULE: (f64, f64) = (1_000.0, 0.6);

/// What moves the approximation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mover {
    /// The Adam-like rule, with the curvature from the squares of the gradients of single rows.
    AdamLike,
    /// The Adam-like rule, with the curvature from the square of a batch's mean gradient (mathematics §7.4).
    SquaredMean,
    /// Adam on reparameterisation gradients.
    BlackBox,
}

/// A way to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) skew: bool,
    pub(super) mover: Mover,
}

/// Ours first, then what it is compared with.
pub(super) const METHODS: [Method; 4] = [
    Method { name: "skew, Adam-like", skew: true, mover: Mover::AdamLike },
    Method { name: "skew, Adam-like, squared mean", skew: true, mover: Mover::SquaredMean },
    Method { name: "gaussian, BBVI", skew: false, mover: Mover::BlackBox },
    Method { name: "skew, BBVI", skew: true, mover: Mover::BlackBox },
];

impl Method {
    fn plan(self, beta: f64, seed: u64) -> Plan {
        let (delay, exponent) = SCHEDULE;
        let (gamma1, gamma2) = DECAYS;
        let (rule, curvature) = match self.mover {
            Mover::BlackBox => {
                let adam = EuclideanAdam { beta1: gamma1, beta2: gamma2, ..EuclideanAdam::default() };
                (Rule::EuclideanAdam(adam), Curvature::Stein { control_variate: false })
            }
            adam_like => {
                // log σ has a prior of its own, so s cannot start from that of the weights: it starts from the widths
                // of the start.
                let bias_correction = BiasCorrection::MomentumOnly;
                let rule = AdamLike { gamma1, gamma2, bias_correction, ..AdamLike::default() };
                let is_squared_mean = adam_like == Mover::SquaredMean;
                let curvature = if is_squared_mean { Curvature::SquaredMean } else { Curvature::ItemGradients };
                (Rule::AdamLike(rule), curvature)
            }
        };
        Plan {
            rule,
            curvature,
            n_draws: N_DRAWS,
            minibatch: Some(BATCH),
            step_size: StepSize::Power { initial: beta, delay, exponent },
            max_kl: None,
            seed,
            stop: Stop { max_steps: u64::MAX, ..Stop::default() },
            ..Plan::default()
        }
    }
}

/// A look at a run: steps, evaluations of the gradient, and the RMSE and log-likelihood of the rows held out, in units
/// of the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) steps: f64,
    pub(super) evaluations: f64,
    pub(super) rmse: f64,
    pub(super) log_likelihood: f64,
}

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) steps: u64,
    /// A look whenever the steps have grown by this factor.
    pub(super) growth: f64,
}

/// A run and the median seconds of its steps.
pub(super) struct Fitted {
    pub(super) looks: Vec<Look>,
    pub(super) seconds_per_step: f64,
}

/// Fits the rows of the split that are fitted and looks at the predictions of those held out.
pub(super) fn fit(split: &Split, method: Method, beta: f64, course: Course, seed: u64) -> Result<Fitted, Error> {
    let (x, y) = (split.train_x.clone(), split.train_y.clone());
    let model = NeuralNetwork::regression(x, y, Architecture::default(), 1.0)?;
    let family = if method.skew { Family::skew() } else { Family::gaussian() }.diagonal();
    let start = start_at_guess(&model, family, seed)?;
    watched(&model, split, &start, &method.plan(beta, seed), course)
}

/// Runs a plan from `start` over the course and looks at the predictions of the rows held out.
pub(super) fn watched(
    model: &NeuralNetwork,
    split: &Split,
    start: &Approximation,
    plan: &Plan,
    course: Course,
) -> Result<Fitted, Error> {
    let mut looks = Vec::new();
    let settings = Watch { growth: course.growth, reviews: false, steps: course.steps };
    let seconds_per_step = watch(model, start, plan, settings, &mut |seen, moment| {
        let (rmse, log_likelihood) = predict(model, split, &seen.state)?;
        let (steps, evaluations) = (moment.steps as f64, moment.counts.gradient as f64);
        looks.push(Look { steps, evaluations, rmse, log_likelihood });
        Ok(ControlFlow::Continue(()))
    })?
    .median;
    Ok(Fitted { looks, seconds_per_step })
}

fn predict(model: &NeuralNetwork, split: &Split, q: &Approximation) -> Result<(f64, f64), elinvar::Error> {
    let draws = crate::draws::draws(q, N_PREDICTIONS, 1);
    let predictions = model.predict(draws.view(), &split.test_x)?;
    let log_likelihood = predictions.log_likelihood(&split.test_y)? - split.scale.ln();
    Ok((split.scale * predictions.rmse(&split.test_y)?, log_likelihood))
}
