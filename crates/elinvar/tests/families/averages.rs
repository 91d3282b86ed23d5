//! Averages over independent batches, with their standard errors.

/// Means of several numbers over batches; within a batch anything may depend on anything.
pub(crate) struct Averages {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Averages {
    pub(crate) fn new(n: usize) -> Self {
        Self { count: 0.0, mean: vec![0.0; n], squares: vec![0.0; n] }
    }

    pub(crate) fn add(&mut self, values: &[f64]) {
        assert_eq!(values.len(), self.mean.len());
        self.count += 1.0;
        for ((mean, square), value) in self.mean.iter_mut().zip(&mut self.squares).zip(values) {
            let delta = value - *mean;
            *mean += delta / self.count;
            *square += delta * (value - *mean);
        }
    }

    /// Each mean within 4.5 standard errors of what is expected: a false alarm per entry in 150 000. `allowance` covers
    /// rounding and the error of the expected values.
    #[track_caller]
    pub(crate) fn compare(&self, what: &str, expected: &[f64], allowance: f64) {
        assert_eq!(expected.len(), self.mean.len(), "{what}");
        for (k, expected) in expected.iter().enumerate() {
            let error = (self.squares[k] / (self.count - 1.0) / self.count).sqrt();
            let difference = self.mean[k] - expected;
            assert!(
                difference.abs() < 4.5 * error + allowance,
                "{what}[{k}]: {} ± {error}, expected {expected}, z = {}",
                self.mean[k],
                difference / error
            );
        }
    }
}
