//! Counts with a log link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ Poisson(e^η).
pub(crate) struct Poisson;

impl Response for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn values(&self) -> Values {
        Values::Counts
    }

    fn log_density(&self, y: f64, given: Given<'_>) -> f64 {
        y * given.eta[0] - given.eta[0].exp() - libm::lgamma(y + 1.0)
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        given.eta[0].exp()
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        given.eta[0].exp()
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        stream.poisson(given.eta[0].exp())
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("rate ratio")
    }
}
