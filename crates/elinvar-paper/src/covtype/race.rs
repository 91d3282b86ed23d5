//! Runs from one start, looked at by their log-loss.

use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::family::{AnyApproximation, BlockState, Kind, State};
use elinvar::model::LogisticRegression;
use elinvar::random::{Purpose, Stream};
use elinvar::rule::{EuclideanAdam, Rule, StepSize};
use elinvar::run::Stop;
use elinvar::target::{
    Contraction, CurvatureMut, Draws, Evaluations, Prior, Rows, Scratch, SecondOrder, Target, TargetError,
};
use elinvar::{Family, Plan};

use super::data::{DIM, Data, PRIOR_PRECISION};
use crate::Error;
use crate::watch::{Watch, watch};

/// a of the t prior and, at first, of the Student-t approximation: five degrees of freedom.
const SHAPE: f64 = 2.5;

/// The regression under the t prior that shares w with a Student-t approximation (spec 02 §2.2).
struct UnderTPrior<'m>(&'m LogisticRegression);

impl Target for UnderTPrior<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        self.0.evaluate(draws, rows, out)
    }

    fn n_rows(&self) -> Option<usize> {
        self.0.n_rows()
    }

    fn prior(&self) -> Prior {
        Prior::StudentT { precision: PRIOR_PRECISION, a: SHAPE }
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        Some(self)
    }

    fn scratch_len(&self, n_draws: usize, n_contractions: usize) -> usize {
        self.0.scratch_len(n_draws, n_contractions)
    }
}

impl SecondOrder for UnderTPrior<'_> {
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.0.contract(draws, rows, contraction, scratch, out)
    }

    fn evaluate_and_contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        out: &mut Evaluations,
        curvature: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.0.evaluate_and_contract(draws, rows, contraction, out, curvature)
    }
}

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    /// Natural gradients with Hessians.
    Natural,
    /// Ordinary gradients by Adam with this step size.
    Adam(f64),
}

/// A way to fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) family: Family,
    pub(super) method: Method,
}

impl Entry {
    pub(super) fn name(&self) -> String {
        match self.method {
            Method::Natural => format!("{}, natural gradient", self.family),
            Method::Adam(_) => format!("{}, BBVI", self.family),
        }
    }
}

/// The sizes of a race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) minibatch: usize,
    pub(super) n_draws: usize,
    pub(super) epochs: f64,
    pub(super) seed: u64,
    /// Rows and draws of a log-loss on the way.
    pub(super) test: (usize, usize),
}

/// A look at a run; its seconds are those of an undisturbed machine, epochs times [`Ran::seconds_per_epoch`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) epochs: f64,
    pub(super) seconds: f64,
    pub(super) loss: f64,
}

/// What became of a run.
pub(super) struct Ran {
    pub(super) entry: Entry,
    pub(super) looks: Vec<Look>,
    pub(super) last: AnyApproximation,
    /// Steps of an epoch times the fastest of sixty steps.
    pub(super) seconds_per_epoch: f64,
}

/// N(0, I) with small α: the same for all.
fn start(family: Family, seed: u64) -> Result<AnyApproximation, Error> {
    let mut stream = Stream::open(seed, Purpose::Start, 0, 0);
    let mut b = vec![0.0; DIM];
    b.extend((DIM..DIM * family.n_columns()).map(|_| 0.1 * stream.normal()));
    let mut precision = vec![0.0; DIM * DIM];
    precision.iter_mut().step_by(DIM + 1).for_each(|p| *p = 1.0);
    let blocks = vec![BlockState { b, precision }];
    Ok(AnyApproximation::from_state(&State { family, dim: DIM, blocks, log_weights: vec![0.0] })?)
}

fn plan(method: Method, course: &Course) -> Plan {
    let plan = Plan {
        n_draws: course.n_draws,
        minibatch: Some(course.minibatch),
        seed: course.seed,
        stop: Stop { max_steps: u64::MAX, ..Stop::default() },
        ..Plan::default()
    };
    match method {
        Method::Natural => {
            let step_size = StepSize::Power { initial: 0.5, delay: 20.0, exponent: 0.9 };
            Plan { step_size, mixing_step_size: step_size, max_kl: Some(10.0), ..plan }
        }
        Method::Adam(beta) => Plan {
            rule: Rule::EuclideanAdam(EuclideanAdam::default()),
            step_size: StepSize::Constant(beta),
            curvature: Curvature::Stein { control_variate: false },
            ..plan
        },
    }
}

/// Runs an entry over the course.
pub(super) fn run(data: &Data, entry: Entry, course: &Course) -> Result<Ran, Error> {
    let under_t = UnderTPrior(&data.model);
    let target: &dyn Target = if matches!(entry.family.kind, Kind::StudentT { .. }) { &under_t } else { &data.model };
    let n_rows = data.model.design().n_rows();
    let per_epoch = n_rows as f64 / course.minibatch as f64;
    let start = start(entry.family, course.seed)?;
    let plan = plan(entry.method, course);
    let seconds_per_epoch = per_epoch * fastest_step(target, &start, &plan)?;
    let mut looks: Vec<Look> = Vec::new();
    let mut last = start.clone();
    let settings = Watch { growth: 1.35, reviews: false, steps: (course.epochs * per_epoch).ceil() as u64 };
    watch(target, &start, &plan, settings, &mut |seen, moment| {
        let losses = data.losses(&seen.state, course.test.0, course.test.1);
        let loss = losses.iter().sum::<f64>() / losses.len() as f64;
        let epochs = moment.steps as f64 / per_epoch;
        looks.push(Look { epochs, seconds: epochs * seconds_per_epoch, loss });
        last = seen.state.clone();
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Ran { entry, looks, last, seconds_per_epoch })
}

/// The smallest seconds of a step among the first: what a step takes when nothing else runs.
fn fastest_step(target: &dyn Target, start: &AnyApproximation, plan: &Plan) -> Result<f64, Error> {
    let (mut before, mut fastest) = ((0, 0.0), f64::INFINITY);
    let every_step = Watch { growth: 1.0, reviews: false, steps: 60 };
    watch(target, start, plan, every_step, &mut |_, moment| {
        // The last look comes without a step.
        if moment.steps > before.0 {
            fastest = f64::min(fastest, moment.seconds - before.1);
        }
        before = (moment.steps, moment.seconds);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(fastest)
}

impl Ran {
    /// Where the log-loss first is at most `loss` and stays there: epochs and seconds.
    pub(super) fn reaches(&self, loss: f64) -> Option<(f64, f64)> {
        let first = self.looks.iter().rposition(|look| look.loss > loss).map_or(0, |i| i + 1);
        self.looks.get(first).map(|look| (look.epochs, look.seconds))
    }

    /// The last log-loss that was looked at.
    pub(super) fn final_loss(&self) -> f64 {
        self.looks.last().map_or(f64::NAN, |look| look.loss)
    }
}
