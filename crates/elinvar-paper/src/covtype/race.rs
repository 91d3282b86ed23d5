//! Runs from one start, looked at by their log-loss.

use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::family::Approximation;
use elinvar::random::{Purpose, Stream};
use elinvar::rule::{EuclideanAdam, Rule, StepSize};
use elinvar::run::Stop;
use elinvar::target::{Borrowed, Prior, Target, WithPrior};
use elinvar::{Family, Plan};

use super::data::{DIM, Data, PRIOR_PRECISION};
use crate::Error;
use crate::findings::mean_and_range;
use crate::watch::{Watch, watch};

/// a of the t prior and, at first, of the Student-t approximation: five degrees of freedom.
pub(super) const SHAPE: f64 = 2.5;

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    /// Natural gradients with Hessians, in elinvar's form.
    Natural,
    /// The update as printed: independent draws, constant β, option I, no bound.
    Printed { beta: f64 },
    /// Ordinary gradients by Adam.
    Adam { rate: f64, decays: bool },
}

impl Method {
    /// Every step size of the printed update that is tried.
    pub(super) fn printed() -> impl Iterator<Item = Self> {
        [0.3, 0.1, 0.03, 0.01, 0.003, 0.001].into_iter().map(|beta| Self::Printed { beta })
    }

    /// Every setting of Adam that is tried.
    pub(super) fn adams() -> impl Iterator<Item = Self> {
        let with = |decays| [0.001, 0.003, 0.01, 0.03].map(|rate| Self::Adam { rate, decays });
        [true, false].into_iter().flat_map(with)
    }
}

/// A way to fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) family: Family,
    pub(super) method: Method,
}

impl Entry {
    /// Whether it is a Student-t that does not learn a.
    pub(super) fn is_fixed_t(&self) -> bool {
        self.family == Family::student_t(SHAPE)
    }

    pub(super) fn name(&self) -> String {
        match self.method {
            Method::Natural => format!("{}, natural gradient", self.family),
            Method::Printed { .. } if self.is_fixed_t() => format!("{}, as printed, a fixed", self.family.name()),
            Method::Printed { .. } => format!("{}, as printed", self.family),
            Method::Adam { .. } => format!("{}, BBVI", self.family),
        }
    }
}

/// The sizes of a race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) minibatch: usize,
    pub(super) n_draws: usize,
    pub(super) epochs: f64,
    /// The first seed.
    pub(super) seed: u64,
    pub(super) repetitions: u64,
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

/// What became of the repetitions of an entry.
pub(super) struct Ran {
    pub(super) entry: Entry,
    /// The looks of each repetition, all after the same epochs.
    pub(super) looks: Vec<Vec<Look>>,
    /// Where each repetition ended.
    pub(super) last: Vec<Approximation>,
    /// Steps of an epoch times the fastest step of all repetitions.
    pub(super) seconds_per_epoch: f64,
    /// The share of steps that were shorter than asked for, the mean over repetitions.
    pub(super) shortened: f64,
    /// Steps that would have left the domain, which ended their repetitions, and what would have been outside.
    pub(super) left: Vec<(u64, String)>,
}

/// N(0, I) with small α: the same for all.
fn start(family: Family, seed: u64) -> Result<Approximation, Error> {
    let mut stream = Stream::open(seed, Purpose::Start, 0, 0);
    let mut b = vec![0.0; DIM];
    b.extend((DIM..DIM * family.n_columns()).map(|_| 0.1 * stream.normal()));
    let mut precision = vec![0.0; DIM * DIM];
    precision.iter_mut().step_by(DIM + 1).for_each(|p| *p = 1.0);
    let blocks = vec![(b, precision)];
    Ok(Approximation::from_parts(family, DIM, blocks, vec![0.0])?)
}

fn plan(method: Method, course: &Course, seed: u64) -> Plan {
    let plan = Plan {
        n_draws: course.n_draws,
        minibatch: Some(course.minibatch),
        seed,
        stop: Stop { max_steps: u64::MAX, ..Stop::default() },
        ..Plan::default()
    };
    match method {
        Method::Printed { beta } => {
            Plan { minibatch: Some(course.minibatch), seed, ..Plan::printed(course.n_draws, beta, u64::MAX >> 11) }
        }
        Method::Natural => {
            let step_size = StepSize::Power { initial: 0.5, delay: 20.0, exponent: 0.9 };
            Plan { step_size, mixing_step_size: step_size, max_kl: Some(10.0), ..plan }
        }
        Method::Adam { rate, decays } => Plan {
            rule: Rule::EuclideanAdam(EuclideanAdam::default()),
            step_size: match decays {
                true => StepSize::Power { initial: rate, delay: 100.0, exponent: 0.6 },
                false => StepSize::Constant(rate),
            },
            curvature: Curvature::Stein { control_variate: false },
            ..plan
        },
    }
}

/// Runs an entry over the course, one repetition after the other.
pub(super) fn run(data: &Data, entry: Entry, course: &Course) -> Result<Ran, Error> {
    // The t prior shares w with a Student-t approximation (mathematics §2.2).
    let under_t =
        WithPrior::new(Borrowed(&data.model), Prior::student_t(PRIOR_PRECISION, SHAPE, data.model.about().dim));
    let target: &dyn Target = if entry.family.name() == "student_t" { &under_t } else { &data.model };
    let per_epoch = data.model.design().n_rows() as f64 / course.minibatch as f64;
    let mut ran = Ran {
        entry,
        looks: Vec::new(),
        last: Vec::new(),
        seconds_per_epoch: f64::INFINITY,
        shortened: 0.0,
        left: Vec::new(),
    };
    let settings = Watch { growth: 1.35, reviews: false, steps: (course.epochs * per_epoch).ceil() as u64 };
    for seed in course.seed..course.seed + course.repetitions {
        let start = start(entry.family, seed)?;
        let (mut looks, mut last) = (Vec::new(), start.clone());
        let ended = watch(target, &start, &plan(entry.method, course, seed), settings, &mut |seen, moment| {
            let losses = data.losses(&seen.state, course.test.0, course.test.1);
            let loss = losses.iter().sum::<f64>() / losses.len() as f64;
            looks.push(Look { epochs: moment.steps as f64 / per_epoch, seconds: 0.0, loss });
            last = seen.state.clone();
            Ok(ControlFlow::Continue(()))
        });
        match ended {
            Ok(steps) => {
                ran.seconds_per_epoch = ran.seconds_per_epoch.min(per_epoch * steps.fastest);
                ran.shortened += steps.shortened / course.repetitions as f64;
            }
            Err(elinvar::Error::LeftDomain { step, what, .. }) => ran.left.push((step + 1, what)),
            Err(error) => return Err(error.into()),
        }
        ran.looks.push(looks);
        ran.last.push(last);
    }
    ran.looks.iter_mut().flatten().for_each(|look| look.seconds = look.epochs * ran.seconds_per_epoch);
    Ok(ran)
}

impl Ran {
    /// The mean log-loss at each look, with the lowest and the highest.
    pub(super) fn curve(&self) -> Vec<(Look, f64, f64)> {
        let at = |i: usize| {
            let losses: Vec<f64> = self.looks.iter().map(|looks| looks[i].loss).collect();
            let (mean, low, high) = mean_and_range(&losses);
            (Look { loss: mean, ..self.looks[0][i] }, low, high)
        };
        // A repetition that left its domain has fewer.
        (0..self.looks.iter().map(Vec::len).min().unwrap_or(0)).map(at).collect()
    }

    /// Where the mean log-loss first is at most `loss` and stays there: epochs and seconds.
    pub(super) fn reaches(&self, loss: f64) -> Option<(f64, f64)> {
        if !self.left.is_empty() {
            return None;
        }
        let curve = self.curve();
        let first = curve.iter().rposition(|(look, _, _)| look.loss > loss).map_or(0, |i| i + 1);
        curve.get(first).map(|(look, _, _)| (look.epochs, look.seconds))
    }

    /// The mean of the last log-losses that were looked at.
    pub(super) fn final_loss(&self) -> f64 {
        self.curve().last().map_or(f64::NAN, |(look, _, _)| look.loss)
    }
}
