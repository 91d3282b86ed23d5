//! Who takes part in the race, with what settings.

use elinvar::Plan;
use elinvar::estimate::Curvature;
use elinvar::random::Noise;
use elinvar::rule::{EuclideanAdam, Rule, StepSize};

/// Draws of an iteration: of the mixture as a whole, or those of all components together, as near as K allows.
const DRAWS: usize = 20;

/// A way to move the mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    /// The retraction with falling steps, bounded by a nat each, every component by draws of its own.
    Elinvar,
    /// Update (16) and nothing else.
    Printed,
    /// Adam on the chart of the family, with the Hessian in the gradient of the scale matrices.
    WithHessian,
    /// Adam on the chart of the family by reparameterisation gradients, the logits by the score function.
    Reparameterised,
}

pub(super) const ARMS: [Arm; 4] = [Arm::Elinvar, Arm::Printed, Arm::WithHessian, Arm::Reparameterised];

impl Arm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Elinvar => "elinvar",
            Self::Printed => "as printed",
            Self::WithHessian => "black box with Hessians",
            Self::Reparameterised => "black box by reparameterisation",
        }
    }

    pub(super) fn is_black_box(self) -> bool {
        matches!(self, Self::WithHessian | Self::Reparameterised)
    }

    /// Every setting that is tried.
    pub(super) fn settings(self) -> Vec<Runner> {
        let with = |decays: bool, sizes: &[f64]| {
            sizes.iter().map(|size| Runner::Tuned { arm: self, size: *size, decays }).collect::<Vec<_>>()
        };
        match self {
            Self::Elinvar => with(true, &[1.0, 0.3, 0.1, 0.03, 0.01]),
            Self::Printed => with(false, &[0.3, 0.1, 0.03, 0.01, 0.003, 0.001]),
            _ => {
                let rates = [1.0, 0.3, 0.1, 0.03, 0.01];
                [with(true, &rates), with(false, &rates)].concat()
            }
        }
    }

    /// A setting given by hand, for runs that do not tune.
    pub(super) fn known(self, name: &str, components: usize) -> Runner {
        let (size, decays) = match (self, name, components) {
            (Self::Elinvar, "Sonar", _) => (0.1, true),
            (Self::Elinvar, ..) => (0.3, true),
            (Self::Printed, _, 1) => (0.3, false),
            (Self::Printed, ..) => (0.03, false),
            (Self::WithHessian, "Breast-Cancer", 1) => (0.3, false),
            (Self::Reparameterised, "Sonar", _) => (0.03, true),
            _ => (0.1, true),
        };
        Runner::Tuned { arm: self, size, decays }
    }
}

/// An arm with its setting, or the default plan, its draws and reviews included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Runner {
    Tuned { arm: Arm, size: f64, decays: bool },
    Default,
}

impl Runner {
    pub(super) fn plan(self, components: usize, seed: u64, steps: u64) -> Plan {
        let Self::Tuned { arm, size, decays } = self else { return Plan { seed, ..Plan::default() } };
        if arm == Arm::Printed {
            return Plan { seed, ..Plan::printed(DRAWS, size, steps) };
        }
        let n_draws = (DRAWS as f64 / components as f64).round().max(1.0) as usize;
        let own = own_draws(n_draws, size, decays, seed);
        let adam = |curvature| {
            let rule = Rule::EuclideanAdam(EuclideanAdam::default());
            Plan { rule, curvature, max_kl: None, ..own.clone() }
        };
        match arm {
            Arm::WithHessian => adam(Curvature::Hessian),
            Arm::Reparameterised => adam(Curvature::Stein { control_variate: false }),
            _ => own,
        }
    }
}

/// elinvar's plan of the race with so many draws for each component.
pub(super) fn own_draws(n_draws: usize, size: f64, decays: bool, seed: u64) -> Plan {
    let step_size = match decays {
        true => StepSize::Power { initial: size, delay: 100.0, exponent: 0.6 },
        false => StepSize::Constant(size),
    };
    Plan {
        n_draws,
        max_draws: n_draws,
        noise: Noise::Independent,
        curvature: Curvature::Hessian,
        rule: Rule::Retraction,
        step_size,
        mixing_step_size: step_size,
        max_kl: Some(1.0),
        seed,
        ..Plan::default()
    }
}

impl std::fmt::Display for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Tuned { arm, size, decays } = self else { return write!(f, "default plan") };
        let falling = if *decays && *arm != Arm::Elinvar { ", falling" } else { "" };
        write!(f, "{} {size}{falling}", if arm.is_black_box() { "rate" } else { "β =" })
    }
}
