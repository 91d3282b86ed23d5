//! What a fit gives: numbers with errors, and where they come from.

use serde::{Deserialize, Serialize};

use super::summary::Approximated;
use super::{Posterior, limits};
use crate::chains::CorrectedNumber;
use crate::record::Estimate;
use crate::special::normal_quantile::normal_quantile;

/// Where the numbers of an [`Answer`] come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GivenBy {
    /// The approximation as it is.
    Approximation,
    /// Draws of the approximation, and of wider laws around it, weighted towards the target.
    Weights,
    /// Chains on the target.
    Chains,
}

impl GivenBy {
    /// The word for it in files and output.
    pub fn name(self) -> &'static str {
        match self {
            GivenBy::Approximation => "approximation",
            GivenBy::Weights => "weights",
            GivenBy::Chains => "chains",
        }
    }
}

/// Means, standard deviations, quantiles and log evidence, each with its error: what a fit gives, and what its verdict
/// judges.
///
/// Errors are one standard error. That of a bare approximation is as large as importance weights would move its
/// numbers, and the largest number where nobody has looked.
///
/// [`Posterior::summary`] makes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Where it comes from.
    pub given_by: GivenBy,
    /// The parameters on the scale that is printed.
    pub parameters: Vec<CorrectedNumber>,
    /// The coordinates of z.
    pub coordinates: Vec<CorrectedNumber>,
    /// Independent draws that its draws are worth; `None` for draws of the approximation.
    pub effective_draws: Option<f64>,
    /// The log evidence, log ∫ p; the approximation has a lower bound only, its ELBO.
    pub log_evidence: Option<Estimate>,
}

impl Answer {
    /// The numbers of the parameter of this name, on the natural scale.
    pub fn parameter(&self, name: &str) -> Option<&CorrectedNumber> {
        self.parameters.iter().find(|number| number.name == name)
    }
}

impl std::ops::Index<&str> for Answer {
    type Output = CorrectedNumber;

    /// The numbers of the parameter of this name, on the natural scale.
    ///
    /// # Panics
    /// If no parameter has this name.
    fn index(&self, name: &str) -> &CorrectedNumber {
        self.parameter(name).unwrap_or_else(|| {
            let names: Vec<&str> = self.parameters.iter().map(|number| number.name.as_str()).collect();
            panic!("no parameter is called {name}; there are {}", names.join(", "))
        })
    }
}

/// What importance weights have given, as files hold it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Weighed {
    pub(super) parameters: Vec<CorrectedNumber>,
    pub(super) coordinates: Vec<CorrectedNumber>,
    pub(super) effective_draws: f64,
    pub(super) log_evidence: Estimate,
}

impl Posterior {
    /// Where the answer comes from: chains where they were run, importance weights where a verdict has found them
    /// sharp, otherwise the approximation.
    pub fn given_by(&self) -> GivenBy {
        if self.corrected().is_some() {
            GivenBy::Chains
        } else if self.record.weighed.is_some() {
            GivenBy::Weights
        } else {
            GivenBy::Approximation
        }
    }

    /// The answer: what chains or importance weights gave where there is that, otherwise
    /// [`Posterior::summary_of_approximation`].
    ///
    /// ```
    /// use elinvar::model::Banana;
    /// use elinvar::GivenBy;
    /// use elinvar::{Family, Plan};
    ///
    /// let posterior = elinvar::Fit::new(&Banana::default()).family(Family::auto()).run()?;
    /// let answer = posterior.summary(10_000, 1);
    /// assert_eq!(answer.given_by, GivenBy::Chains);
    /// for row in &answer.parameters {
    ///     println!("{}: {} ± {}, sd {} ± {}", row.name, row.mean.value, row.mean.mcse, row.sd.value, row.sd.mcse);
    /// }
    /// # Ok::<(), elinvar::Error>(())
    /// ```
    pub fn summary(&self, n: usize, seed: u64) -> Answer {
        if let Some(corrected) = self.corrected() {
            return Answer {
                given_by: GivenBy::Chains,
                parameters: corrected.parameters.clone(),
                coordinates: corrected.coordinates.clone(),
                effective_draws: Some(corrected.effective_states),
                log_evidence: self.record.log_evidence,
            };
        }
        match &self.record.weighed {
            Some(weighed) => Answer {
                given_by: GivenBy::Weights,
                parameters: weighed.parameters.clone(),
                coordinates: weighed.coordinates.clone(),
                effective_draws: Some(weighed.effective_draws),
                log_evidence: Some(weighed.log_evidence),
            },
            None => self.summary_of_approximation(n, seed),
        }
    }

    /// The approximation itself: quantiles from `n` draws, and so are mean and standard deviation of a transformed
    /// parameter; those of one that is linear in z are exact. Fewer than two draws are taken as two.
    pub fn summary_of_approximation(&self, n: usize, seed: u64) -> Answer {
        let Approximated { parameters, coordinates } = self.approximated(n, seed);
        // The shifts of all parameters come first, in their order.
        let shifts = self.diagnostics().map_or(&[][..], |known| &known.shifts);
        let with_errors = |(k, number): (usize, CorrectedNumber)| {
            let shift = shifts.get(k).filter(|shift| shift.name == number.name && shift.instead.is_none());
            let Some(shift) = shift else { return number };
            let sd = number.sd.value;
            let off = |shift: Estimate| shift.value.abs().hypot(shift.mcse);
            let (mean, log_sd) = (off(shift.mean), off(shift.log_sd));
            let at = |quantile: Estimate, p: f64| {
                Estimate::new(quantile.value, sd * mean.hypot(normal_quantile(p) * log_sd))
            };
            CorrectedNumber {
                mean: Estimate::new(number.mean.value, sd * mean),
                sd: Estimate::new(sd, sd * log_sd),
                q5: at(number.q5, 0.05),
                q50: at(number.q50, 0.5),
                q95: at(number.q95, 0.95),
                ..number
            }
        };
        Answer {
            given_by: GivenBy::Approximation,
            parameters: parameters.into_iter().enumerate().map(with_errors).collect(),
            coordinates,
            effective_draws: None,
            log_evidence: None,
        }
    }
}

/// The number among those judged with a quantile whose standard error is too large, and that error in standard
/// deviations. One error decides, not two: it rests on the few states around a quantile and is itself noisy.
pub(super) fn unsharp_quantile<'a>(numbers: impl Iterator<Item = &'a CorrectedNumber>) -> Option<(&'a str, f64)> {
    let sizes = numbers.filter(|number| number.judged).map(|number| (number.name.as_str(), number.quantile_error()));
    sizes.filter(|(_, size)| *size > limits::QUANTILE).max_by(|a, b| a.1.total_cmp(&b.1))
}
