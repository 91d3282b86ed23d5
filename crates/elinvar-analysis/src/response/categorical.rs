//! Classes without an order.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// P(y = k) ∝ e^{η_k}, with η_0 = 0 for the first class.
pub(crate) struct Categorical {
    pub(crate) n_classes: usize,
}

impl Categorical {
    /// log P(y = k).
    fn log_probability(class: usize, eta: &[f64]) -> f64 {
        let top = eta.iter().copied().fold(0.0, f64::max);
        let sum: f64 = (-top).exp() + eta.iter().map(|eta| (eta - top).exp()).sum::<f64>();
        let own = if class == 0 { 0.0 } else { eta[class - 1] };
        own - top - sum.ln()
    }

    fn probability(class: usize, eta: &[f64]) -> f64 {
        Self::log_probability(class, eta).exp()
    }

    fn expectation(&self, eta: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        (0..self.n_classes).map(|k| f(k as f64) * Self::probability(k, eta)).sum()
    }
}

impl Response for Categorical {
    fn name(&self) -> &'static str {
        "categorical"
    }

    fn values(&self) -> Values {
        Values::Classes(self.n_classes)
    }

    fn n_predictors(&self) -> usize {
        self.n_classes - 1
    }

    fn is_ordered(&self) -> bool {
        false
    }

    fn log_density(&self, y: f64, given: Given<'_>) -> f64 {
        Self::log_probability(y as usize, given.eta)
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        self.expectation(given.eta, |k| k)
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        let mean = self.mean(given);
        self.expectation(given.eta, |k| (k - mean) * (k - mean))
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        let mut left = stream.uniform();
        for k in 0..self.n_classes - 1 {
            left -= Self::probability(k, given.eta);
            if left < 0.0 {
                return k as f64;
            }
        }
        (self.n_classes - 1) as f64
    }

    fn probabilities(&self, given: Given<'_>, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = Self::probability(k, given.eta));
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("odds ratio")
    }
}
