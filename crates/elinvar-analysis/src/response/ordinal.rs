//! Ordered classes with a cumulative logit link.

use elinvar::random::Stream;

use super::{Given, Response, Values};

/// P(y ≤ k) = 1/(1 + e^{−(c_k − η)}); the cut points are the parameters beside the coefficients.
pub(crate) struct Ordinal {
    pub(crate) n_classes: usize,
}

/// 1/(1 + e^−t).
fn below(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

impl Ordinal {
    fn probability(&self, class: usize, Given { eta, auxiliary, .. }: Given<'_>) -> f64 {
        // The difference of the smaller tails loses no digits.
        let at = |k: usize| auxiliary[k] - eta[0];
        match class {
            0 => below(at(0)),
            k if k + 1 == self.n_classes => below(-at(k - 1)),
            k if at(k - 1) > 0.0 => (below(-at(k - 1)) - below(-at(k))).max(0.0),
            k => (below(at(k)) - below(at(k - 1))).max(0.0),
        }
    }

    fn expectation(&self, given: Given<'_>, f: impl Fn(f64) -> f64) -> f64 {
        (0..self.n_classes).map(|k| f(k as f64) * self.probability(k, given)).sum()
    }
}

impl Response for Ordinal {
    fn name(&self) -> &'static str {
        "ordinal"
    }

    fn values(&self) -> Values {
        Values::Classes(self.n_classes)
    }

    fn log_density(&self, y: f64, given: Given<'_>) -> f64 {
        self.probability(y as usize, given).ln()
    }

    fn mean(&self, given: Given<'_>) -> f64 {
        self.expectation(given, |k| k)
    }

    fn variance(&self, given: Given<'_>) -> f64 {
        let mean = self.mean(given);
        self.expectation(given, |k| (k - mean) * (k - mean))
    }

    fn draw(&self, given: Given<'_>, stream: &mut Stream) -> f64 {
        let mut left = stream.uniform();
        for k in 0..self.n_classes - 1 {
            left -= self.probability(k, given);
            if left < 0.0 {
                return k as f64;
            }
        }
        (self.n_classes - 1) as f64
    }

    fn probabilities(&self, given: Given<'_>, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = self.probability(k, given));
    }

    fn ratio(&self) -> Option<&'static str> {
        Some("odds ratio")
    }
}
