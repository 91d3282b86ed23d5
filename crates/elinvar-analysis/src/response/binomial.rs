//! Events among trials with a logit link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ Binomial(trials, 1/(1 + e^−η)).
pub(crate) struct Binomial;

/// 1/(1 + e^−η).
fn probability(eta: f64) -> f64 {
    1.0 / (1.0 + (-eta).exp())
}

impl Response for Binomial {
    fn name(&self) -> &'static str {
        "binomial"
    }

    fn values(&self) -> Values {
        Values::Counts
    }

    fn log_density(&self, y: f64, Given { eta, trials, .. }: Given<'_>) -> f64 {
        if y > trials {
            return f64::NEG_INFINITY;
        }
        let of = |t: f64, n: f64| if n > 0.0 { n * (t.min(0.0) - (-t.abs()).exp().ln_1p()) } else { 0.0 };
        let choose = libm::lgamma(trials + 1.0) - libm::lgamma(y + 1.0) - libm::lgamma(trials - y + 1.0);
        choose + of(eta[0], y) + of(-eta[0], trials - y)
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        given.trials * probability(given.eta[0])
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        given.trials * probability(given.eta[0]) * probability(-given.eta[0])
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        stream.binomial(given.trials as u64, probability(given.eta[0]))
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("odds ratio")
    }
}
