//! Numbers with normal noise of one size.

use std::f64::consts::TAU;

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ N(η, sigma²), where sigma is the first parameter beside the coefficients.
pub(crate) struct Normal;

impl Response for Normal {
    fn name(&self) -> &'static str {
        "normal"
    }

    fn is_without_unit(&self) -> bool {
        false
    }

    fn values(&self) -> Values {
        Values::Numbers
    }

    fn log_density(&self, y: f64, Given { eta, auxiliary, .. }: Given<'_>) -> f64 {
        let t = (y - eta[0]) / auxiliary[0];
        -0.5 * t * t - auxiliary[0].ln() - 0.5 * TAU.ln()
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        given.eta[0]
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        given.auxiliary[0] * given.auxiliary[0]
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        given.eta[0] + given.auxiliary[0] * stream.normal()
    }
}
