//! The step size as a function of the step index.

use serde::{Deserialize, Serialize};

use crate::Error;

/// A schedule β_t, t = 0, 1, 2, …
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepSize {
    /// β_t = 1 within a trust region whose radius the run learns.
    Auto,
    /// β_t = β.
    Constant(f64),
    /// β_t = initial · (1 + t/delay)^−exponent (mathematics §10.8).
    Power {
        /// β₀.
        initial: f64,
        /// Number of steps after which the decay sets in.
        delay: f64,
        /// 0.6 is usual; above ½ the noise averages out.
        exponent: f64,
    },
}

impl StepSize {
    /// β_t.
    pub(crate) fn at(&self, step: u64) -> f64 {
        match *self {
            StepSize::Auto => 1.0,
            StepSize::Constant(beta) => beta,
            StepSize::Power { initial, delay, exponent } => initial * (1.0 + step as f64 / delay).powf(-exponent),
        }
    }

    /// Whether every β_t is a positive number.
    ///
    /// # Errors
    /// [`Error::Domain`] naming the value that is not.
    pub(crate) fn check(&self, parameter: &'static str) -> Result<(), Error> {
        let positive = |value: f64, reason: &'static str| {
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::Domain { parameter, value, reason }) }
        };
        match *self {
            StepSize::Auto => Ok(()),
            StepSize::Constant(beta) => positive(beta, "a step size is a positive number"),
            StepSize::Power { initial, delay, exponent } => {
                positive(initial, "the initial step size is a positive number")?;
                positive(delay, "the delay is a positive number of steps")?;
                if (0.0..=1.0).contains(&exponent) {
                    Ok(())
                } else {
                    Err(Error::Domain { parameter, value: exponent, reason: "the exponent lies between 0 and 1" })
                }
            }
        }
    }
}
