//! Natural against ordinary gradients from the same start with the same number of draws.

use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::random::Noise;
use elinvar::rule::{EuclideanAdam, Rule, StepSize};
use elinvar::target::Target;
use elinvar::{Error, Plan};

use crate::authors::scattered_start;
use crate::bound::bound;
use crate::watch::{Watch, watch};

/// Draws of an iteration, those of all components together, as near as K allows.
const DRAWS: usize = 20;

/// How far from the final divergence of the black box counts as having reached it, in nats: a curve that is flat at its
/// end should not be charged for its end.
pub(super) const TOLERANCE: f64 = 0.01;

/// A runner with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Runner {
    /// Natural-gradient steps of size β.
    Natural { beta: f64, decays: bool },
    /// Adam on the chart of the family: means, Cholesky factors with log diagonal, soft-max logits.
    BlackBox { rate: f64, decays: bool, curvature: Curvature },
    /// The default plan, its draws and reviews included.
    Default,
}

impl Runner {
    /// Every setting of natural gradients that is tried.
    pub(super) fn natural() -> Vec<Self> {
        [0.3, 0.1, 0.03].map(|beta| Self::Natural { beta, decays: true }).to_vec()
    }

    /// Every setting of the black box that is tried: three times as many, and with the Hessian if it likes.
    pub(super) fn black_box() -> Vec<Self> {
        let pathwise = Curvature::Stein { control_variate: false };
        let kinds = [(true, Curvature::Hessian), (false, Curvature::Hessian), (true, pathwise)];
        let with = |(decays, curvature)| [0.3, 0.1, 0.03].map(|rate| Self::BlackBox { rate, decays, curvature });
        kinds.into_iter().flat_map(with).collect()
    }

    fn plan(self, components: usize, seed: u64) -> Plan {
        let (size, decays) = match self {
            Self::Natural { beta, decays } => (beta, decays),
            Self::BlackBox { rate, decays, .. } => (rate, decays),
            Self::Default => return Plan { seed, ..Plan::default() },
        };
        let step_size = match decays {
            true => StepSize::Power { initial: size, delay: 100.0, exponent: 0.6 },
            false => StepSize::Constant(size),
        };
        let n_draws = (DRAWS as f64 / components as f64).round().max(1.0) as usize;
        let (rule, curvature, max_kl) = match self {
            Self::BlackBox { curvature, .. } => (Rule::EuclideanAdam(EuclideanAdam::default()), curvature, None),
            _ => (Rule::Retraction, Curvature::Hessian, Some(1.0)),
        };
        Plan {
            n_draws,
            max_draws: n_draws,
            noise: Noise::Independent,
            curvature,
            rule,
            step_size,
            mixing_step_size: step_size,
            max_kl,
            seed,
            ..Plan::default()
        }
    }
}

impl std::fmt::Display for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let falling = |decays: &bool| if *decays { ", falling" } else { "" };
        match self {
            Self::Natural { beta, decays } => write!(f, "natural, β = {beta}{}", falling(decays)),
            Self::BlackBox { rate, decays, curvature } => {
                let with = if *curvature == Curvature::Hessian { "Hessian" } else { "pathwise" };
                write!(f, "black box, rate {rate}{}, {with}", falling(decays))
            }
            Self::Default => write!(f, "default plan"),
        }
    }
}

/// A look at a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) steps: f64,
    /// Gradients of the log joint, each at one draw.
    pub(super) evaluations: f64,
    pub(super) seconds: f64,
    pub(super) kl: f64,
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) looks: Vec<Look>,
    /// The share of its steps that were shorter than asked for.
    pub(super) shortened: f64,
}

/// How long runs are and how closely they are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Iterations.
    pub(super) steps: u64,
    /// Draws of a look.
    pub(super) look_draws: usize,
    /// Factor between looks.
    pub(super) growth: f64,
}

/// The divergences of a run along its way; `log_evidence` makes them out of bounds.
pub(super) fn run(
    target: &dyn Target,
    components: usize,
    runner: Runner,
    seed: u64,
    course: Course,
    log_evidence: f64,
) -> Result<Ran, Error> {
    let start = scattered_start(target.dim(), components, 1.0, 1.0, seed)?;
    let mut looks = Vec::new();
    let reviews = runner == Runner::Default;
    let settings = Watch { growth: course.growth, reviews, steps: course.steps };
    let steps = watch(target, &start, &runner.plan(components, seed), settings, &mut |seen, moment| {
        let state = if reviews { &seen.best } else { &seen.state };
        let kl = log_evidence - bound(state, target, course.look_draws, 99)?.elbo;
        let (steps, evaluations) = (moment.steps as f64, moment.counts.gradient as f64);
        looks.push(Look { steps, evaluations, seconds: moment.seconds, kl });
        Ok(ControlFlow::Continue(()))
    })?;
    if !reviews {
        // All steps cost the same, and what others do on this machine is not part of it.
        looks.iter_mut().for_each(|look| look.seconds = look.steps * steps.median);
    }
    Ok(Ran { looks, shortened: steps.shortened })
}

/// For natural gradients and the black box the setting that comes first, in evaluations, within 0.01 nats of the best
/// that the black box reaches by the end with any of its settings; where none of them comes so close, the setting that
/// ends closest.
pub(super) fn tune(
    target: &dyn Target,
    components: usize,
    seed: u64,
    course: Course,
    log_evidence: f64,
) -> Result<[Runner; 2], Error> {
    let (natural, black_box) = (Runner::natural(), Runner::black_box());
    let all: Vec<Runner> = natural.iter().chain(&black_box).copied().collect();
    let curves = crate::threads::for_each(all.len(), |i| {
        let ran = run(target, components, all[i], seed, course, log_evidence)?;
        Ok::<_, Error>(mean_of(&[ran]))
    });
    let curves: Vec<Vec<Mean>> = curves.into_iter().collect::<Result<_, _>>()?;
    let end = |i: usize| curves[i].last().map_or(f64::INFINITY, |mean| mean.look.kl);
    let goal = (natural.len()..all.len()).map(end).fold(f64::INFINITY, f64::min) + TOLERANCE;
    let score = |i: &usize| {
        let reached = first_within(&curves[*i], goal).map(|look| look.evaluations);
        (reached.unwrap_or(f64::INFINITY), end(*i))
    };
    let best = |range: std::ops::Range<usize>| {
        let by_score = |a: &usize, b: &usize| {
            let ((a_at, a_end), (b_at, b_end)) = (score(a), score(b));
            a_at.total_cmp(&b_at).then(a_end.total_cmp(&b_end))
        };
        all[range.min_by(by_score).unwrap_or(0)]
    };
    Ok([best(0..natural.len()), best(natural.len()..all.len())])
}

/// Looks of several seeds at the same steps: their mean divergence with the smallest and the largest, and the median
/// seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    pub(super) look: Look,
    pub(super) low: f64,
    pub(super) high: f64,
}

pub(super) fn mean_of(runs: &[Ran]) -> Vec<Mean> {
    let n = runs.iter().map(|ran| ran.looks.len()).min().unwrap_or(0);
    let at = |i: usize| {
        let of = |f: &dyn Fn(&Look) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(|ran| f(&ran.looks[i])).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (kls, seconds, evaluations) = (of(&|look| look.kl), of(&|look| look.seconds), of(&|look| look.evaluations));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let look = Look {
            steps: runs[0].looks[i].steps,
            evaluations: mean(&evaluations),
            seconds: seconds[seconds.len() / 2],
            kl: mean(&kls),
        };
        Mean { look, low: kls[0], high: kls[kls.len() - 1] }
    };
    (0..n).map(at).collect()
}

/// The first look whose divergence is at most `kl`, interpolated between two looks in the logarithms.
pub(super) fn first_within(curve: &[Mean], kl: f64) -> Option<Look> {
    let i = curve.iter().position(|mean| mean.look.kl <= kl)?;
    let here = curve[i].look;
    let Some(before) = i.checked_sub(1).map(|i| curve[i].look) else { return Some(here) };
    if before.steps <= 0.0 || before.kl <= here.kl {
        return Some(here);
    }
    let share = ((before.kl / kl).ln() / (before.kl / here.kl).ln()).clamp(0.0, 1.0);
    let between = |f: fn(&Look) -> f64| f(&before) * (f(&here) / f(&before)).powf(share);
    Some(Look {
        steps: between(|look| look.steps),
        evaluations: between(|look| look.evaluations),
        seconds: between(|look| look.seconds),
        kl,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(steps: f64, kl: f64) -> Look {
        Look { steps, evaluations: 20.0 * steps, seconds: 0.1 * steps, kl }
    }

    #[test]
    fn the_first_look_within_a_divergence_is_interpolated() {
        let ran = Ran { looks: vec![look(0.0, 9.0), look(10.0, 4.0), look(100.0, 1.0)], shortened: 0.0 };
        let curve = mean_of(&[ran.clone(), ran]);
        let found = first_within(&curve, 2.0).unwrap();
        assert!((found.steps - 10.0 * 10f64.sqrt()).abs() < 1e-9, "{found:?}");
        assert!(
            (found.evaluations / found.steps - 20.0).abs() < 1e-9 && (found.seconds / found.steps - 0.1).abs() < 1e-9
        );
        assert!(first_within(&curve, 0.5).is_none());
        assert_eq!(first_within(&curve, 9.0).unwrap().steps, 0.0);
    }

    #[test]
    fn natural_gradients_beat_the_black_box_on_a_small_regression() {
        let target = crate::data::breast_cancer().unwrap();
        let course = Course { steps: 60, look_draws: 1_000, growth: 1e6 };
        let end = |runner| run(&target, 1, runner, 1, course, -34.243).unwrap().looks.last().unwrap().kl;
        let natural = end(Runner::Natural { beta: 0.3, decays: true });
        let black_box = end(Runner::BlackBox { rate: 0.1, decays: true, curvature: Curvature::Hessian });
        assert!(natural < 0.3 && natural < black_box, "{natural} {black_box}");
    }
}
