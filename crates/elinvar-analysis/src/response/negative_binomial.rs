//! Counts with more spread than a Poisson law, with a log link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ NB with mean e^η and variance μ + μ²/shape, where shape is the first parameter beside the coefficients.
pub(crate) struct NegativeBinomial;

impl Response for NegativeBinomial {
    fn name(&self) -> &'static str {
        "negative_binomial"
    }

    fn values(&self) -> Values {
        Values::Counts
    }

    /// log (φ)_y − log y! + y t − (y + φ) log(1 + e^t) with t = η − log φ.
    fn log_density(&self, y: f64, Given { eta, auxiliary, .. }: Given<'_>) -> f64 {
        let shape = auxiliary[0];
        let t = eta[0] - shape.ln();
        let softplus = t.max(0.0) + (-t.abs()).exp().ln_1p();
        let rising = libm::lgamma(shape + y) - libm::lgamma(shape);
        rising - libm::lgamma(y + 1.0) + y * t - (y + shape) * softplus
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        given.eta[0].exp()
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        let mean = given.eta[0].exp();
        mean + mean * (mean / given.auxiliary[0])
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        let shape = given.auxiliary[0];
        let mean = given.eta[0].exp() * (stream.gamma(shape) / shape);
        stream.poisson(if mean.is_nan() { 0.0 } else { mean })
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("rate ratio")
    }
}
