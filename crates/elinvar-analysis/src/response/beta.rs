//! Shares between 0 and 1 with a logit link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// y ~ Beta with mean μ = 1/(1 + e^−η) and variance μ(1−μ)/(1 + phi), where phi is the first parameter beside the
/// coefficients.
pub(crate) struct Beta;

/// Keeps a parameter of the law off 0.
const SMALLEST: f64 = 1e-150;

/// μ·phi and (1−μ)·phi.
fn parameters(given: Given<'_>) -> [f64; 2] {
    let share = |eta: f64| given.auxiliary[0] / (1.0 + (-eta).exp());
    [given.eta[0], -given.eta[0]].map(|eta| share(eta).max(SMALLEST))
}

impl Response for Beta {
    fn name(&self) -> &'static str {
        "beta"
    }

    fn values(&self) -> Values {
        Values::Numbers
    }

    fn log_density(&self, y: f64, given: Given<'_>) -> f64 {
        if !(y > 0.0 && y < 1.0) {
            return f64::NEG_INFINITY;
        }
        let [a, b] = parameters(given);
        libm::lgamma(given.auxiliary[0]) - libm::lgamma(a) - libm::lgamma(b)
            + (a - 1.0) * y.ln()
            + (b - 1.0) * (-y).ln_1p()
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        1.0 / (1.0 + (-given.eta[0]).exp())
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        let mean = self.mean(given);
        mean * (1.0 - mean) / (1.0 + given.auxiliary[0])
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        let [a, b] = parameters(given).map(|shape| stream.gamma(shape));
        if a + b > 0.0 { a / (a + b) } else { self.mean(given) }
    }
}
