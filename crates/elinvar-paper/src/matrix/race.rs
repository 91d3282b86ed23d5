//! The runs on a known posterior: as printed, and elinvar's.

use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, Kind, MatrixUpdate};
use elinvar::random::Noise;
use elinvar::rule::{Rule, StepSize};
use elinvar::run::{Run, Stop};
use elinvar::{Family, Plan};

use super::regression::{FEATURES, MatrixRegression, RESPONSES, SHARED};
use crate::findings::{mean_and_range, mean_and_sd};
use crate::{Error, Findings};

/// Draws of a step.
pub(super) const N_DRAWS: usize = 10;
/// Steps after which the KL divergence is put down.
pub(super) const LOOKS: [u64; 5] = [100, 1_000, 10_000, 30_000, 100_000];
/// A divergence to be reached.
pub(super) const ONE_NAT: f64 = 1.0;
pub(super) const JOINT: &str = "elinvar, joint";

/// How a run moves.
#[derive(Clone, Copy)]
pub(super) enum How {
    /// The box of the paper with its two step sizes and nothing else.
    Printed { beta_1: f64, beta_2: f64, n_draws: usize },
    /// Low-discrepancy draws, falling steps, a bound on each.
    Elinvar,
}

/// A way to fit the regression.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) family: Family,
    pub(super) how: How,
    /// What the features of the regression have in common.
    pub(super) shared: f64,
    pub(super) steps: u64,
}

pub(super) fn matrix() -> Result<Family, Error> {
    Ok(Family::matrix(FEATURES, RESPONSES)?)
}

/// All that are compared: those of the figure on the regression with correlated features, and some on the one with
/// independent features.
pub(super) fn ways(quick: bool) -> Result<Vec<Way>, Error> {
    let matrix = matrix()?;
    let (own, printed, long) = if quick { (1_000, 1_000, 1_000) } else { (3_000, 30_000, 100_000) };
    let elinvar = |name, family| Way { name, family, how: How::Elinvar, shared: SHARED, steps: own };
    let as_printed = |name, beta_1, beta_2, n_draws, steps| {
        let how = How::Printed { beta_1, beta_2, n_draws };
        Way { name, family: matrix, how, shared: SHARED, steps }
    };
    let independent = |name, beta_2, n_draws| Way { shared: 0.0, ..as_printed(name, 1e-3, beta_2, n_draws, printed) };
    Ok(vec![
        elinvar(JOINT, matrix),
        elinvar("elinvar, blockwise", matrix.with_update(MatrixUpdate::Blockwise)),
        elinvar("elinvar, diagonal", Family::gaussian().diagonal()),
        as_printed("as printed, β₁ = 3e-4, β₂ = 1e-6", 3e-4, 1e-6, N_DRAWS, long),
        as_printed("as printed, β₁ = 3e-4, β₂ = 1e-6, one draw", 3e-4, 1e-6, 1, long),
        as_printed("as printed, β₁ = 3e-4, β₂ = 1e-5", 3e-4, 1e-5, N_DRAWS, printed),
        as_printed("as printed, β₁ = β₂ = 3e-4", 3e-4, 3e-4, N_DRAWS, printed),
        independent("as printed, β₁ = 1e-3, β₂ = 1e-6, independent features", 1e-6, N_DRAWS),
        independent("as printed, β₁ = 1e-3, β₂ = 1e-6, one draw, independent features", 1e-6, 1),
        independent("as printed, β₁ = β₂ = 1e-3, independent features", 1e-3, N_DRAWS),
    ])
}

impl How {
    fn plan(self, seed: u64) -> Plan {
        let stop = Stop { max_steps: u64::MAX, max_evaluations: u64::MAX, ..Stop::default() };
        match self {
            Self::Printed { beta_1, beta_2, n_draws } => Plan {
                n_draws,
                max_draws: n_draws,
                noise: Noise::Independent,
                rule: Rule::NaturalGradient,
                curvature: Curvature::GradientOuterProduct,
                step_size: StepSize::Constant(beta_1),
                mixing_step_size: StepSize::Constant(beta_2),
                max_kl: None,
                average: false,
                stop,
                seed,
                ..Plan::default()
            },
            Self::Elinvar => Plan {
                n_draws: N_DRAWS,
                curvature: Curvature::Stein { control_variate: true },
                step_size: StepSize::Power { initial: 0.1, delay: 200.0, exponent: 0.75 },
                max_kl: Some(1.0),
                stop,
                seed,
                ..Plan::default()
            },
        }
    }

    fn update(self, family: Family) -> Family {
        match self {
            Self::Printed { .. } => family.with_update(MatrixUpdate::PaperLiteral),
            Self::Elinvar => family,
        }
    }
}

/// N(0, I) in the family.
fn standard(family: Family) -> Result<Approximation, Error> {
    let (d, p) = (FEATURES, RESPONSES);
    let identity = |n: usize| (0..n * n).map(move |k| if k % (n + 1) == 0 { 1.0 } else { 0.0 });
    let precision = match family.kind {
        Kind::Matrix { .. } => identity(d).chain(identity(p)).collect(),
        _ => vec![1.0; d * p],
    };
    let blocks = vec![(vec![0.0; d * p], precision)];
    Ok(Approximation::from_parts(family, d * p, blocks, vec![0.0])?)
}

/// Whether the divergence is looked at after so many steps: each of the first fifty, some 24 times per decade, and
/// where it is put down.
fn is_looked_at(step: u64, last_look: u64, steps: u64) -> bool {
    step <= 50 || step as f64 >= 1.1 * last_look as f64 || LOOKS.contains(&step) || step == steps
}

/// Runs of a way, one for each seed, on the regression of the first seed.
pub(super) fn race(way: &Way, seeds: std::ops::Range<u64>) -> Result<Curves, Error> {
    let regression = MatrixRegression::generated(seeds.start, way.shared)?;
    let one = |seed: u64| -> Result<Vec<(u64, f64)>, Error> {
        let start = standard(way.how.update(way.family))?;
        let mut curve = vec![(0, regression.divergence(&start))];
        let mut run = Run::new(&regression.posterior, start, &way.how.plan(seed))?;
        for step in 1..=way.steps {
            run.step()?;
            if is_looked_at(step, curve[curve.len() - 1].0, way.steps) {
                curve.push((step, regression.divergence(run.q())));
            }
        }
        Ok(curve)
    };
    Ok(Curves { name: way.name, is_drawn: way.shared == SHARED, runs: seeds.map(one).collect::<Result<_, _>>()? })
}

/// KL against steps, one curve per repetition.
pub(super) struct Curves {
    pub(super) name: &'static str,
    /// Whether the figure has it: it shows one regression.
    pub(super) is_drawn: bool,
    pub(super) runs: Vec<Vec<(u64, f64)>>,
}

impl Curves {
    /// The KL of the start.
    pub(super) fn start(&self) -> f64 {
        self.runs[0][0].1
    }

    /// The last KL of each repetition.
    pub(super) fn last(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.last().map_or(f64::NAN, |(_, kl)| *kl)).collect()
    }

    /// The smallest KL on the way of each repetition.
    pub(super) fn smallest(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.iter().map(|(_, kl)| *kl).fold(f64::INFINITY, f64::min)).collect()
    }

    /// The KL of each repetition after so many steps, if it was looked at then.
    pub(super) fn after(&self, steps: u64) -> Option<Vec<f64>> {
        let at = |run: &Vec<(u64, f64)>| run.iter().find(|(step, _)| *step == steps).map(|(_, kl)| *kl);
        self.runs.iter().map(at).collect()
    }

    /// Steps until a repetition is below this KL, averaged; nothing if one never is.
    pub(super) fn steps_to(&self, kl: f64) -> Option<f64> {
        let first = |run: &Vec<(u64, f64)>| run.iter().find(|(_, found)| *found < kl).map(|(step, _)| *step as f64);
        let steps: Vec<f64> = self.runs.iter().map(first).collect::<Option<_>>()?;
        Some(mean_and_sd(&steps).0)
    }

    /// Steps, and the mean, the smallest and the largest KL of the repetitions at each look.
    pub(super) fn mean(&self) -> Vec<(f64, f64, f64, f64)> {
        let at = |i: usize| {
            let values: Vec<f64> = self.runs.iter().map(|run| run[i].1).collect();
            let (mean, low, high) = mean_and_range(&values);
            (self.runs[0][i].0 as f64, mean, low, high)
        };
        (0..self.runs[0].len()).map(at).collect()
    }

    /// Puts its numbers down.
    pub(super) fn record(&self, findings: &mut Findings) {
        let name = self.name;
        findings.put_mean(format!("last kl, {name}"), &self.last());
        findings.put_mean(format!("smallest kl on the way, {name}"), &self.smallest());
        for steps in LOOKS {
            if let Some(kl) = self.after(steps) {
                findings.put_mean(format!("kl after {steps} steps, {name}"), &kl);
            }
        }
        if let Some(steps) = self.steps_to(ONE_NAT) {
            findings.put(format!("steps to 1 nat, {name}"), steps);
        }
    }
}
