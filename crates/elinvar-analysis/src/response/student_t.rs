//! Numbers with outliers.

use std::f64::consts::PI;

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ η + sigma t_nu; sigma and nu are the parameters beside the coefficients.
pub(crate) struct StudentT;

impl Response for StudentT {
    fn name(&self) -> &'static str {
        "student_t"
    }

    fn is_without_unit(&self) -> bool {
        false
    }

    fn values(&self) -> Values {
        Values::Numbers
    }

    fn log_density(&self, y: f64, Given { eta, auxiliary, .. }: Given<'_>) -> f64 {
        let (sigma, nu) = (auxiliary[0], auxiliary[1]);
        let r = (y - eta[0]) / sigma;
        let normaliser = libm::lgamma(0.5 * (nu + 1.0)) - libm::lgamma(0.5 * nu) - 0.5 * (PI * nu).ln();
        normaliser - sigma.ln() - 0.5 * (nu + 1.0) * (r * r / nu).ln_1p()
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        given.eta[0]
    }

    /// Infinite up to two degrees of freedom.
    fn variance(&self, given: Given<'_>) -> f64 {
        let (sigma, nu) = (given.auxiliary[0], given.auxiliary[1]);
        if nu > 2.0 { sigma * sigma * (nu / (nu - 2.0)) } else { f64::INFINITY }
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        let (sigma, half) = (given.auxiliary[0], 0.5 * given.auxiliary[1]);
        let spread = (stream.gamma(half) / half).sqrt();
        given.eta[0] + sigma * stream.normal() / spread.max(f64::MIN_POSITIVE)
    }
}
