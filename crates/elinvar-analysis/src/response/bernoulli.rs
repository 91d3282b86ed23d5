//! Two classes with a logit link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// P(y = 1) = 1/(1 + e^−η).
pub(crate) struct Bernoulli;

/// 1/(1 + e^−η).
fn probability(eta: f64) -> f64 {
    1.0 / (1.0 + (-eta).exp())
}

impl Response for Bernoulli {
    fn name(&self) -> &'static str {
        "bernoulli"
    }

    fn values(&self) -> Values {
        Values::Classes(2)
    }

    fn observed(&self, y: f64) -> f64 {
        y.max(0.0)
    }

    /// −log(1 + e^−t) with t = ±η.
    fn log_density(&self, y: f64, given: Given<'_>) -> f64 {
        let t = if y > 0.5 { given.eta[0] } else { -given.eta[0] };
        t.min(0.0) - (-t.abs()).exp().ln_1p()
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        probability(given.eta[0])
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        probability(given.eta[0]) * probability(-given.eta[0])
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        f64::from(u8::from(stream.uniform() < probability(given.eta[0])))
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("odds ratio")
    }
}
