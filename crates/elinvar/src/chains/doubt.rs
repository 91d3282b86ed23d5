//! Why an answer of chains is not to be trusted.

use serde::{Deserialize, Serialize};

use crate::target::Fault;

/// A reason not to trust what chains found, as data with a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Doubt {
    /// The mean of a parameter may be wrong by more than a tenth of its standard deviation.
    Mean {
        /// The parameter.
        name: String,
        /// How wrong it may be, in standard deviations.
        within: f64,
    },
    /// The standard deviation of a parameter may be wrong by more than 15 %.
    StandardDeviation {
        /// The parameter.
        name: String,
        /// How wrong its logarithm may be.
        within: f64,
    },
    /// The early and the late half of the states differ by more than their errors.
    Drift {
        /// The parameter with the largest difference.
        name: String,
    },
    /// Mean or standard deviation by Stein's identity and those of the same states differ by more than their errors.
    Disagreement {
        /// The coordinate of z.
        name: String,
    },
    /// Steps were rejected too often.
    StandingStill {
        /// Mean probability of acceptance.
        acceptance: f64,
        /// That of the chain with the least.
        least: f64,
    },
    /// Chains move so slowly that there may be places which none has seen.
    Slow {
        /// Steps that an independent state takes.
        steps: f64,
    },
    /// The centre or the covariance still changed from round to round.
    NotSettled,
    /// A tail that is expected to matter and that chains have not shown to be empty.
    Tail {
        /// The coordinate of z, or the one that the direction of the tail moves most.
        name: String,
        /// The standard deviation along it, as far out as the density was followed, over that of the chains.
        times: f64,
    },
    /// A maximum of the density that no chain was near to.
    OtherMode {
        /// How far it is, in standard deviations of the coordinate in which it is farthest.
        distance: f64,
        /// Its share of the mass by Laplace's method.
        share: f64,
        /// The first coordinates of z there.
        #[serde(default)]
        place: String,
    },
    /// The density was NaN or +∞, or a gradient was not finite.
    Faults {
        /// How often.
        count: u64,
        /// Of so many evaluations.
        of: u64,
    },
    /// Answers of the target contradict each other.
    Fault(Fault),
    /// A search for modes went up without end: there may be mass, even without end, where chains have not been.
    Unbounded,
    /// No chain ever was at a place of positive density.
    NoDensity,
}

impl Doubt {
    /// Whether it is about the size of an error alone, so that more states are its remedy.
    pub fn is_of_size(&self) -> bool {
        matches!(self, Doubt::Mean { .. } | Doubt::StandardDeviation { .. })
    }

    /// Whether more steps may take it away; chains do not cross to a mode that is far.
    pub fn may_pass(&self) -> bool {
        !matches!(self, Doubt::OtherMode { .. } | Doubt::Unbounded)
    }

    /// Whether the means are free of it.
    pub fn spares_means(&self) -> bool {
        matches!(self, Doubt::StandardDeviation { .. })
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Doubt::Mean { name, within } => {
                write!(f, "the mean of {name} is known to {within:.2} standard deviations only")
            }
            Doubt::StandardDeviation { name, within } => {
                write!(f, "the standard deviation of {name} is known to {:.0} % only", 100.0 * within.exp_m1())
            }
            Doubt::Drift { name } => write!(f, "the early and the late states differ in {name}"),
            Doubt::Disagreement { name } => {
                write!(f, "states and gradients disagree about {name}")
            }
            Doubt::StandingStill { acceptance, least } => write!(
                f,
                "chains stand still: {:.0} % of their steps are accepted, {:.0} % of those of one chain",
                100.0 * acceptance,
                100.0 * least
            ),
            Doubt::Slow { steps } => write!(
                f,
                "chains move slowly, {steps:.0} steps for each independent state, so that there may be places which \
                 none has seen"
            ),
            Doubt::NotSettled => f.write_str("the covariance had not settled"),
            Doubt::Tail { name, times } => write!(
                f,
                "{name} has a long tail that the chains have not explored; its standard deviation may be {times:.1} \
                 times as large"
            ),
            Doubt::OtherMode { distance, share, place } => {
                let at = if place.is_empty() { String::new() } else { format!(" at z = {place}") };
                let percent = 100.0 * share;
                write!(
                    f,
                    "another mode{at}, {distance:.1} standard deviations away, may have {percent:.0} % of the mass"
                )
            }
            Doubt::Faults { count, of } => {
                write!(f, "the log density or its gradient was not a number at {count} of {of} points")
            }
            Doubt::Fault(fault) => write!(f, "{fault}"),
            Doubt::Unbounded => f.write_str(
                "a search for modes went up without end: this log density has no maximum, and may have more mass there \
                 than where the chains are",
            ),
            Doubt::NoDensity => f.write_str("no chain was at a place of positive density"),
        }
    }
}
