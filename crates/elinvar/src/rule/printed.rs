//! The rule of the paper as it is printed, with what the paper leaves open or names as an alternative.

use serde::{Deserialize, Serialize};

use super::{AdamLike, Rule};
use crate::Error;

/// What becomes of a step that would leave the domain, on which the paper says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLeaving {
    /// The run ends with [`LeftDomain`](crate::Error::LeftDomain).
    #[default]
    End,
    /// β is halved for all blocks together until none leaves it, as in the program of the authors.
    Halve,
}

/// Where the gradient of the entropy of a `skew` or `emg` comes from; the entropies of other families have one form.
///
/// Paper: App. E, App. F.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntropyGradient {
    /// By its one-dimensional integral.
    #[default]
    Exact,
    /// −log q at the draws, differentiated along them.
    Reparameterised,
}

/// How a declared prior enters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorTerm {
    /// At the draws for `mog` and `nig`, whose boxes have it inside h, and in closed form elsewhere.
    #[default]
    AsPrinted,
    /// In closed form.
    ClosedForm,
    /// At the draws; a t prior that shares w stays in closed form.
    Sampled,
}

/// How ratios of Bessel functions are computed in a step of `nig` and `snig`.
///
/// Paper: App. G, App. H.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BesselRatio {
    /// To full accuracy.
    #[default]
    Exact,
    /// By the mean of two bounds, which is off by a factor of up to 70 where its argument is small (mathematics §8.3);
    /// `snig` in one dimension has no such bounds and stays exact.
    MeanOfBounds,
}

/// Which Fisher matrix a component of an `ef_mixture` is divided by.
///
/// Paper: App. B.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FisherMatrix {
    /// The closed form.
    #[default]
    Exact,
    /// E\[∂z/∂η t′(z)ᵀ\] over the draws of the step, as it comes: not symmetric, and of rank one for a single draw. The
    /// Birnbaum–Saunders law with a learned p keeps the closed form.
    Sampled,
}

/// Which update is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintedStep {
    /// The natural-gradient step of the boxes of §2 to §5 and App. B to App. H.
    #[default]
    Natural,
    /// The same with γ times the last displacement (App. J), 0 ≤ γ < 1.
    Momentum {
        /// γ = m/(1 − m) in the paper's m.
        gamma: f64,
    },
    /// The Adam boxes of App. J, for diagonal scale matrices.
    AdamLike(AdamLike),
}

impl PrintedStep {
    /// The step of this name with its usual constants.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "natural" => Some(Self::Natural),
            "momentum" => Some(Self::Momentum { gamma: 0.5 }),
            "adam_like" => Some(Self::AdamLike(AdamLike::default())),
            _ => None,
        }
    }

    /// Whether every constant lies in its domain.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::Natural => Ok(()),
            Self::Momentum { gamma } => Rule::NaturalMomentum { gamma }.check(),
            Self::AdamLike(rule) => Rule::AdamLike(rule).check(),
        }
    }
}

/// The options of [`printed`](super::Rule::Printed); the defaults are the boxes.
///
/// ```
/// use elinvar::Plan;
/// use elinvar::research::rule::{OnLeaving, Printed, Rule};
///
/// let halving = Rule::Printed(Printed { on_leaving: OnLeaving::Halve, ..Printed::default() });
/// let plan = Plan { rule: halving, ..Plan::printed(10, 0.01, 1_000) };
/// assert_eq!((plan.n_draws, plan.max_kl, plan.average), (10, None, false));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Printed {
    /// Which update is taken.
    pub step: PrintedStep,
    /// What becomes of a step that would leave the domain.
    pub on_leaving: OnLeaving,
    /// Where the gradient of the entropy of a `skew` or `emg` comes from.
    pub entropy: EntropyGradient,
    /// How a declared prior enters.
    pub prior: PriorTerm,
    /// How ratios of Bessel functions are computed.
    pub bessel: BesselRatio,
    /// Which Fisher matrix a component of an `ef_mixture` is divided by.
    pub fisher: FisherMatrix,
}
