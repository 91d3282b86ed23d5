//! Normalisers and moments by the trapezium rule, which is exact to rounding for smooth densities that vanish at the
//! ends.

use elinvar::target::{Answer, Ask, DrawBuffer, Target, Want};

use super::Moments;

/// Log normaliser and moments of a two-dimensional target that is negligible outside the box.
pub(crate) fn moments_2d(target: &dyn Target, low: [f64; 2], high: [f64; 2], n: usize) -> (f64, Moments) {
    let step = [0, 1].map(|i| (high[i] - low[i]) / (n - 1) as f64);
    let mut draws = DrawBuffer::zeros(2, n);
    let mut out = Answer::new(2, n);
    let prior = target.about().prior;
    let mut sums = Sums::new(2);
    for i in 0..n {
        let first = low[0] + step[0] * i as f64;
        for j in 0..n {
            draws.get_mut(j).copy_from_slice(&[first, low[1] + step[1] * j as f64]);
        }
        target
            .evaluate(&Ask::all(draws.view(), Want::Gradients), &mut out)
            .expect("a density that can be evaluated on a grid");
        for (z, log_p) in draws.view().iter().zip(out.log_p()) {
            sums.add(log_p + prior.log_density(z), z, &[z[0] * z[0], z[1] * z[1]]);
        }
    }
    sums.finish((step[0] * step[1]).ln())
}

/// Log normaliser and moments when, given a number t, everything is known: `conditional` returns log p(t) and writes
/// the means and second moments.
pub(crate) fn moments_over(
    dim: usize,
    low: f64,
    high: f64,
    n: usize,
    mut conditional: impl FnMut(f64, &mut [f64], &mut [f64]) -> f64,
) -> (f64, Moments) {
    let step = (high - low) / (n - 1) as f64;
    let (mut first, mut second) = (vec![0.0; dim], vec![0.0; dim]);
    let mut sums = Sums::new(dim);
    for i in 0..n {
        let log_p = conditional(low + step * i as f64, &mut first, &mut second);
        sums.add(log_p, &first, &second);
    }
    sums.finish(step.ln())
}

/// Weighted sums whose weights are given by their logarithms.
struct Sums {
    largest: f64,
    total: f64,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sums {
    fn new(dim: usize) -> Self {
        Self { largest: f64::NEG_INFINITY, total: 0.0, first: vec![0.0; dim], second: vec![0.0; dim] }
    }

    fn add(&mut self, log_weight: f64, first: &[f64], second: &[f64]) {
        // Densities that do not exist at a point have no mass there.
        if log_weight.is_nan() || log_weight == f64::NEG_INFINITY {
            return;
        }
        if log_weight > self.largest {
            let factor = (self.largest - log_weight).exp();
            self.total *= factor;
            self.first.iter_mut().chain(&mut self.second).for_each(|v| *v *= factor);
            self.largest = log_weight;
        }
        let weight = (log_weight - self.largest).exp();
        self.total += weight;
        self.first.iter_mut().zip(first).for_each(|(sum, v)| *sum += weight * v);
        self.second.iter_mut().zip(second).for_each(|(sum, v)| *sum += weight * v);
    }

    fn finish(self, log_cell: f64) -> (f64, Moments) {
        let mean: Vec<f64> = self.first.iter().map(|v| v / self.total).collect();
        let sd = self.second.iter().zip(&mean).map(|(v, m)| (v / self.total - m * m).sqrt()).collect();
        (self.largest + self.total.ln() + log_cell, Moments { mean, sd })
    }
}
