//! How a gradient becomes a step.

pub(crate) mod adam_like;
mod euclidean_adam;
mod matrix_update;
pub(crate) mod positive;
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
    /// Paper: §3, Theorem 3.
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
    /// Paper: §6.
    EuclideanAdam(EuclideanAdam),
}

impl Rule {
    /// The step size that `auto` stands for; `None` if a run learns it.
    pub fn auto_step_size(&self) -> Option<f64> {
        match *self {
            Rule::NaturalGradient | Rule::Retraction => None,
            Rule::NaturalMomentum { gamma } => Some(1.0 - gamma),
            Rule::AdamLike(_) => Some(1e-3),
            Rule::EuclideanAdam(_) => Some(1e-2),
        }
    }

    /// Whether steps have the size of the coordinates rather than of the gap that is left, so that many of them are
    /// needed.
    pub(crate) fn is_unhurried(&self) -> bool {
        matches!(self, Rule::AdamLike(_) | Rule::EuclideanAdam(_))
    }

    /// Whether every constant lies in its domain.
    ///
    /// # Errors
    /// [`Error::Domain`] naming the one that does not.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Rule::NaturalGradient | Rule::Retraction => Ok(()),
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
