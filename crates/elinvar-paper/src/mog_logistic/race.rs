//! Runs from the same start with the same number of draws, and how soon they are where.

use std::ops::ControlFlow;

use elinvar::Error;
use elinvar::family::Approximation;
use elinvar::target::Target;

use super::runner::{ARMS, Arm, Runner};
use crate::authors::scattered_start;
use crate::bound::bound;
use crate::threads;
use crate::watch::{Steps, Watch, watch};

/// How far from the final divergence of the black box counts as having reached it, in nats: a curve that is flat at its
/// end should not be charged for its end.
pub(super) const TOLERANCE: f64 = 0.01;

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
    /// Where it ended.
    pub(super) last: Approximation,
    /// The share of its steps that were shorter than asked for.
    pub(super) shortened: f64,
    /// The step that would have left the domain, and so ended the run.
    pub(super) left: Option<u64>,
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
    let (mut looks, mut last) = (Vec::new(), start.clone());
    let reviews = runner == Runner::Default;
    let settings = Watch { growth: course.growth, reviews, steps: course.steps };
    let plan = runner.plan(components, seed, course.steps);
    let ended = watch(target, &start, &plan, settings, &mut |seen, moment| {
        let state = if reviews { &seen.best } else { &seen.state };
        let kl = log_evidence - bound(state, target, course.look_draws, 99)?.elbo;
        let (steps, evaluations) = (moment.steps as f64, moment.counts.gradient as f64);
        looks.push(Look { steps, evaluations, seconds: moment.seconds, kl });
        last.clone_from(state);
        Ok(ControlFlow::Continue(()))
    });
    let (steps, left) = match ended {
        Ok(steps) => (steps, None),
        Err(Error::LeftDomain { step, .. }) => {
            let median = looks.last().map_or(0.0, |look| look.seconds / look.steps.max(1.0));
            (Steps { median, ..Steps::default() }, Some(step + 1))
        }
        Err(error) => return Err(error),
    };
    if !reviews {
        // All steps cost the same, and what others do on this machine is not part of it.
        looks.iter_mut().for_each(|look| look.seconds = look.steps * steps.median);
    }
    Ok(Ran { looks, last, shortened: steps.shortened, left })
}

/// A setting on the way of the tuning.
pub(super) struct Try {
    pub(super) runner: Runner,
    pub(super) kl: f64,
    pub(super) left: Option<u64>,
}

/// For each arm the setting that comes first, in evaluations, within 0.01 nats of the best that a black box reaches by
/// the end with any of its settings; where none of them comes so close, the setting that ends closest. A run that left
/// its domain is no choice while there is another.
pub(super) fn tune(
    target: &dyn Target,
    components: usize,
    seed: u64,
    course: Course,
    log_evidence: f64,
) -> Result<([Runner; ARMS.len()], Vec<Try>), Error> {
    let all: Vec<(Arm, Runner)> =
        ARMS.iter().flat_map(|arm| arm.settings().into_iter().map(move |runner| (*arm, runner))).collect();
    // A choice needs fewer looks than a curve.
    let course = Course { look_draws: course.look_draws / 2, growth: course.growth * course.growth, ..course };
    let runs = threads::for_each(all.len(), |i| run(target, components, all[i].1, seed, course, log_evidence));
    let runs: Vec<Ran> = runs.into_iter().collect::<Result<_, _>>()?;
    let end = |i: usize| runs[i].looks.last().map_or(f64::INFINITY, |look| look.kl);
    let black_boxes = (0..all.len()).filter(|i| all[*i].0.is_black_box());
    let goal = black_boxes.map(end).fold(f64::INFINITY, f64::min) + TOLERANCE;
    let score = |i: &usize| {
        let reached = first_within(&mean_of(std::slice::from_ref(&runs[*i])), goal).map(|look| look.evaluations);
        [f64::from(u8::from(runs[*i].left.is_some())), reached.unwrap_or(f64::INFINITY), end(*i)]
    };
    let by_score = |a: &usize, b: &usize| {
        let (a, b) = (score(a), score(b));
        a.iter().zip(&b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    let best = |arm: Arm| {
        let own = (0..all.len()).filter(|i| all[*i].0 == arm);
        own.min_by(by_score).map_or(arm.known("", components), |i| all[i].1)
    };
    let tries = (0..all.len()).map(|i| Try { runner: all[i].1, kl: end(i), left: runs[i].left });
    Ok((ARMS.map(best), tries.collect()))
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
        let last = scattered_start(1, 1, 1.0, 1.0, 1).unwrap();
        let looks = vec![look(0.0, 9.0), look(10.0, 4.0), look(100.0, 1.0)];
        let ran = Ran { looks, last, shortened: 0.0, left: None };
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
        let end = |arm: Arm| {
            let ran = run(&target, 1, arm.known("Breast-Cancer", 1), 1, course, -34.243).unwrap();
            ran.looks.last().unwrap().kl
        };
        let [elinvar, printed, with_hessian, reparameterised] = ARMS.map(end);
        assert!(elinvar < 0.3 && elinvar < with_hessian, "{elinvar} {with_hessian}");
        assert!(printed < 0.3 && printed < reparameterised, "{printed} {reparameterised}");
    }

    #[test]
    fn a_run_that_leaves_its_domain_says_at_which_step() {
        let target = crate::data::breast_cancer().unwrap();
        let course = Course { steps: 300, look_draws: 200, growth: 1e6 };
        let far = Runner::Tuned { arm: Arm::Printed, size: 0.3, decays: false };
        let ran = run(&target, 10, far, 101, course, -34.243).unwrap();
        let step = ran.left.expect("steps of 0.3 by two draws a component");
        assert!((1..300).contains(&step) && ran.looks.len() == 2, "{step} {}", ran.looks.len());
    }
}
