//! How much may be spent on a correction, as plain data.

use serde::{Deserialize, Serialize};

use crate::Error;

/// What chains may cost, and where their random numbers come from.
///
/// ```
/// use elinvar::research::chains::Correction;
///
/// let quick = Correction { max_gradients: 20_000, ..Correction::default() };
/// assert_eq!(quick.chains, 32);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Correction {
    /// Gradients after which no further round of chains begins.
    pub max_gradients: u64,
    /// Seconds after which no further step begins; what came of a limit of time is not the same on another machine.
    pub max_seconds: Option<f64>,
    /// Chains that find the centre and the covariance: an even number, for they run in mirrored pairs.
    pub adapting_chains: usize,
    /// Chains that answer, likewise.
    pub chains: usize,
    /// Whether coordinates may bend where a posterior is curved, which they do only where it is about N(0, I) in bent
    /// ones (mathematics §11.7) or Gaussian given a scale (§11.9).
    pub bends: bool,
    /// The answer is to have every mean within so many standard deviations where that is less than what a verdict asks
    /// for ([`limits::MEAN`](crate::posterior::limits::MEAN)).
    pub mean_within: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Correction {
    fn default() -> Self {
        Self {
            max_gradients: 200_000,
            max_seconds: None,
            adapting_chains: 8,
            chains: 32,
            bends: true,
            mean_within: f64::INFINITY,
            seed: 1,
        }
    }
}

impl Correction {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// [`Error::Domain`] with the first that does not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (parameter, n) in [("adapting chains", self.adapting_chains), ("chains", self.chains)] {
            if n < 8 || n % 2 == 1 {
                let reason = "an even number, at least 8, because chains run in mirrored pairs";
                return Err(Error::Domain { parameter, value: n as f64, reason });
            }
        }
        if self.max_gradients == 0 {
            let reason = "chains need gradients";
            return Err(Error::Domain { parameter: "gradients of a correction", value: 0.0, reason });
        }
        match self.max_seconds {
            Some(value) if value.is_nan() || value <= 0.0 => {
                Err(Error::Domain { parameter: "seconds of a correction", value, reason: "it must be positive" })
            }
            _ => Ok(()),
        }
    }
}
