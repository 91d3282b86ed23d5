//! How a gradient becomes a step.

pub(crate) mod adam_like;
mod euclidean_adam;
mod matrix_update;
pub(crate) mod positive;
mod printed;
pub(crate) mod retraction;
mod step_size;
pub(crate) mod taken;
pub(crate) mod trust_region;

pub use adam_like::{AdamLike, BiasCorrection, Root};
pub(crate) use adam_like::{AdamLikeMemory, AdamLikeRequest};
pub use euclidean_adam::EuclideanAdam;
pub(crate) use euclidean_adam::EuclideanAdamMemory;
pub use matrix_update::MatrixUpdate;
pub(crate) use positive::log_step;
pub use printed::{BesselRatio, EntropyGradient, FisherMatrix, OnLeaving, Printed, PrintedStep, PriorTerm};
pub use step_size::StepSize;
pub(crate) use taken::Taken;
pub(crate) use trust_region::{largest_step, take};

use serde::{Deserialize, Serialize};

use crate::Error;

/// The update of a block, given the gradient of the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// P⁺ = P − 2β∇_ΣL, B⁺ = B + βΣ⁺(∇_B L)Ω⁻¹, halved as a whole until P⁺ keeps a share of P (mathematics §0.5).
    ///
    /// Paper: §2, §3, Theorem 3, eq. (4), eq. (6).
    NaturalGradient,
    /// P⁺ = P + βG + ½β²GΣG with G = −2∇_ΣL, B⁺ = B + βΣ(∇_B L)Ω⁻¹: positive definite for every β (mathematics §10.1).
    ///
    /// Lin, Schmidt & Khan 2020.
    #[default]
    Retraction,
    /// The plain step with γ times the last displacement: η⁺ = η + β∇_m L + γ(η − η₋), in natural parameters
    /// (mathematics §7.1).
    ///
    /// The displacement is halved as a whole, momentum included, until it is admissible and within the KL bound; the
    /// next step takes γ times what was left of it. `auto` steps have β = 1 − γ.
    ///
    /// Paper: App. J.
    NaturalMomentum {
        /// 0 ≤ γ < 1, in the paper's notation m/(1 − m): its m from ½ on, γ ≥ 1, is unstable on a quadratic.
        gamma: f64,
    },
    /// Running means of gradients and of squared gradients, for diagonal scale matrices (mathematics §7.2).
    ///
    /// Paper: App. J.
    AdamLike(AdamLike),
    /// Adam on the coordinates of the family's chart: the black-box baseline (mathematics §9.4).
    ///
    /// Paper: §6, eq. (3).
    EuclideanAdam(EuclideanAdam),
    /// Ordinary gradient ascent of the bound on the coordinates of the family's chart, halved where it leaves them
    /// (mathematics §9.4).
    ///
    /// Paper: eq. (3).
    GradientDescent,
    /// The update boxes as they are printed: the plain step of constant length with no bound, no average, no baseline
    /// and no review, as many times as [`Stop::max_steps`](crate::run::Stop) says. The result is the last state. See
    /// [`Plan::printed`](crate::Plan::printed) for the rest of what a box says.
    Printed(Printed),
}

impl Rule {
    /// The step size that `auto` stands for; `None` if a run learns it.
    pub fn auto_step_size(&self) -> Option<f64> {
        match *self {
            Rule::NaturalGradient | Rule::Retraction => None,
            Rule::NaturalMomentum { gamma } => Some(1.0 - gamma),
            Rule::AdamLike(_) | Rule::GradientDescent => Some(1e-3),
            // The paper states none.
            Rule::EuclideanAdam(_) | Rule::Printed(_) => Some(1e-2),
        }
    }

    /// The options of the rule `printed`, where that is the rule.
    pub fn printed(&self) -> Option<Printed> {
        match self {
            Rule::Printed(options) => Some(*options),
            _ => None,
        }
    }

    /// The Adam-like rule, where it is the rule or the step of `printed`.
    pub(crate) fn adam_like(&self) -> Option<AdamLike> {
        match self {
            Rule::AdamLike(rule) => Some(*rule),
            Rule::Printed(Printed { step: PrintedStep::AdamLike(rule), .. }) => Some(*rule),
            _ => None,
        }
    }

    /// Whether it moves the coordinates of the family's chart by the ordinary gradient.
    pub(crate) fn is_euclidean(&self) -> bool {
        matches!(self, Rule::EuclideanAdam(_) | Rule::GradientDescent)
    }

    /// Whether steps have the size of the coordinates rather than of the gap that is left, so that many of them are
    /// needed.
    pub(crate) fn is_unhurried(&self) -> bool {
        matches!(self, Rule::AdamLike(_) | Rule::EuclideanAdam(_) | Rule::GradientDescent)
    }

    /// Whether every constant lies in its domain.
    ///
    /// # Errors
    /// [`Error::Domain`] naming the one that does not.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Rule::NaturalGradient | Rule::Retraction | Rule::GradientDescent => Ok(()),
            Rule::Printed(options) => options.step.check(),
            Rule::NaturalMomentum { gamma } => check_rate(
                "gamma",
                *gamma,
                "momentum takes a share γ of the last step with 0 ≤ γ < 1: from 1 on it explodes",
            ),
            Rule::AdamLike(settings) => settings.check(),
            Rule::EuclideanAdam(settings) => settings.check(),
        }
    }
}

/// Checks 0 ≤ value < 1.
fn check_rate(parameter: &'static str, value: f64, reason: &'static str) -> Result<(), Error> {
    if (0.0..1.0).contains(&value) { Ok(()) } else { Err(Error::Domain { parameter, value, reason }) }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Rule::NaturalGradient => "natural_gradient",
            Rule::Retraction => "retraction",
            Rule::NaturalMomentum { .. } => "natural_momentum",
            Rule::AdamLike(_) => "adam_like",
            Rule::EuclideanAdam(_) => "euclidean_adam",
            Rule::GradientDescent => "gradient_descent",
            Rule::Printed(_) => "printed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_with_their_words_and_read_back() {
        let rules = [
            Rule::NaturalGradient,
            Rule::Retraction,
            Rule::NaturalMomentum { gamma: 0.25 },
            Rule::AdamLike(AdamLike { root: Root::Newton, ..AdamLike::default() }),
            Rule::EuclideanAdam(EuclideanAdam { beta1: 0.5, ..EuclideanAdam::default() }),
            Rule::Printed(Printed { on_leaving: OnLeaving::Halve, ..Printed::default() }),
            Rule::GradientDescent,
        ];
        for rule in rules {
            let text = serde_json::to_string(&rule).unwrap();
            assert!(text.contains(&format!("\"{rule}\"")), "{text}");
            assert_eq!(serde_json::from_str::<Rule>(&text).unwrap(), rule);
        }
        let short: Rule = serde_json::from_str(r#"{"adam_like": {"root": "vadam_root"}}"#).unwrap();
        assert_eq!(short, Rule::AdamLike(AdamLike { root: Root::VadamRoot, ..AdamLike::default() }));
        assert!(serde_json::from_str::<Rule>(r#"{"adam_like": {"gamma": 1}}"#).is_err());
    }

    #[test]
    fn constants_outside_their_domain_are_refused_with_a_sentence() {
        for gamma in [-0.1, 1.0, 3.0, f64::NAN] {
            let problem = Rule::NaturalMomentum { gamma }.check().unwrap_err().to_string();
            assert!(problem.contains("0 ≤ γ < 1"), "{problem}");
            assert!(Rule::AdamLike(AdamLike { gamma1: gamma, ..AdamLike::default() }).check().is_err());
            assert!(Rule::AdamLike(AdamLike { gamma2: gamma, ..AdamLike::default() }).check().is_err());
            assert!(Rule::EuclideanAdam(EuclideanAdam { beta1: gamma, ..EuclideanAdam::default() }).check().is_err());
            assert!(Rule::EuclideanAdam(EuclideanAdam { beta2: gamma, ..EuclideanAdam::default() }).check().is_err());
        }
        assert!(Rule::EuclideanAdam(EuclideanAdam { epsilon: 0.0, ..EuclideanAdam::default() }).check().is_err());
        assert!(Rule::NaturalMomentum { gamma: 0.0 }.check().is_ok());
    }
}
