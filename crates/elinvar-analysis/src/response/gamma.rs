//! Positive numbers with a log link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ Gamma with mean e^η and variance μ²/shape, where shape is the first parameter beside the coefficients.
pub(crate) struct Gamma;

impl Response for Gamma {
    fn name(&self) -> &'static str {
        "gamma"
    }

    fn values(&self) -> Values {
        Values::Numbers
    }

    fn log_density(&self, y: f64, Given { eta, auxiliary, .. }: Given<'_>) -> f64 {
        if y <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let (shape, log_ratio) = (auxiliary[0], y.ln() - eta[0]);
        shape * shape.ln() - libm::lgamma(shape) + shape * (log_ratio - log_ratio.exp()) - y.ln()
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        given.eta[0].exp()
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        let mean = given.eta[0].exp();
        mean * (mean / given.auxiliary[0])
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        let shape = given.auxiliary[0];
        let ratio = stream.gamma(shape) / shape;
        if ratio > 0.0 { given.eta[0].exp() * ratio } else { 0.0 }
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("ratio of means")
    }
}
