//! A block as a point of ℝⁿ: locations, then the lower factor of Σ with logarithms on its diagonal (mathematics §9.4).

use super::gradient::BlockGradient;
use super::location::{Location, LocationScratch, columns_in_range};
use super::log_weights::LogWeights;
use super::scale::{Candidate, in_range};

impl Location {
    /// Number of coordinates.
    pub(crate) fn chart_len(&self) -> usize {
        self.b.len() + self.scale.chart_len()
    }

    /// Writes B, then the factor of Σ.
    pub(crate) fn chart(&self, out: &mut [f64]) {
        let (b, factor) = out.split_at_mut(self.b.len());
        b.copy_from_slice(&self.b);
        self.scale.chart(&mut Candidate::new(self.scale.shape()), factor);
    }

    /// Writes `share` times the ordinary gradient in these coordinates.
    pub(crate) fn chart_gradient(
        &self,
        share: f64,
        gradient: &BlockGradient,
        scratch: &mut LocationScratch,
        out: &mut [f64],
    ) {
        let (b, factor) = out.split_at_mut(self.b.len());
        b.iter_mut().zip(&gradient.b).for_each(|(out, slope)| *out = share * slope);
        self.scale.chart_gradient(share, &gradient.g, &mut scratch.candidate, factor);
    }

    /// Writes the block with these coordinates to the scratch; false if it cannot be represented.
    pub(crate) fn propose_chart(&self, coordinates: &[f64], scratch: &mut LocationScratch) -> bool {
        let (b, factor) = coordinates.split_at(self.b.len());
        scratch.moved.copy_from_slice(b);
        in_range(b)
            && self.scale.propose_chart(factor, &mut scratch.candidate)
            && columns_in_range(&self.scale, scratch)
    }

    /// Moves to the block with these coordinates; false, and nothing moves, if it cannot be represented.
    pub(crate) fn set_chart(&mut self, coordinates: &[f64], scratch: &mut LocationScratch) -> bool {
        if !self.propose_chart(coordinates, scratch) {
            return false;
        }
        std::mem::swap(&mut self.b, &mut scratch.moved);
        self.scale.accept(&mut scratch.candidate);
        true
    }
}

impl LogWeights {
    /// Writes the gradient in the logits of a soft-max, −π_c(E_c\[h\] − Σ_j π_j E_j\[h\]).
    pub(crate) fn chart_gradient(&self, expected_h: &[f64], out: &mut [f64]) {
        let mean: f64 = expected_h.iter().enumerate().map(|(c, h)| self.weight(c) * h).sum();
        for (c, (out, h)) in out.iter_mut().zip(expected_h).enumerate() {
            *out = -self.weight(c) * (h - mean);
        }
    }

    /// Moves to the soft-max of these logits; false, and nothing moves, if it cannot be represented.
    pub(crate) fn set_chart(&mut self, logits: &[f64]) -> bool {
        let fold = |start, f: fn(f64, f64) -> f64| logits.iter().copied().fold(start, f);
        let (highest, lowest) = (fold(f64::NEG_INFINITY, f64::max), fold(f64::INFINITY, f64::min));
        // Beyond it no difference is left of the logarithms, and products of them overflow.
        if !(in_range(logits) && highest - lowest < 1e100) {
            return false;
        }
        let total = logits.iter().map(|logit| (logit - highest).exp()).sum::<f64>().ln();
        self.set(logits.iter().map(|logit| (logit - highest) - total));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;
    use crate::target::Shape;

    fn block(shape: Shape, precision: Vec<f64>) -> Location {
        let b = (0..2 * shape.dim()).map(|i| (i as f64 + 1.0).sin()).collect();
        Location::new(b, Scale::from_precision(shape, precision).unwrap()).unwrap()
    }

    /// A positive definite matrix whose eigenvalues span eight orders.
    fn graded(dim: usize) -> Vec<f64> {
        let scale = |i: usize| 10f64.powf(8.0 * i as f64 / dim as f64 - 4.0).sqrt();
        let entry = |i: usize, j: usize| if i == j { 2.0 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) };
        (0..dim * dim).map(|k| entry(k % dim, k / dim) * scale(k % dim) * scale(k / dim)).collect()
    }

    fn there_and_back(block: &Location) {
        let mut coordinates = vec![0.0; block.chart_len()];
        block.chart(&mut coordinates);
        let mut found = block.clone();
        let mut scratch = LocationScratch::new(block);
        assert!(found.set_chart(&coordinates, &mut scratch));
        assert_eq!(found.b(), block.b());
        for (a, b) in found.scale().precision().iter().zip(block.scale().precision()) {
            assert!((a - b).abs() < 1e-13 * b.abs().max(1e-4), "{a} {b}");
        }
        let n = coordinates.len();
        for bad in [f64::NAN, f64::INFINITY, 800.0, -800.0] {
            let mut wrong = coordinates.clone();
            wrong[n - 1] = bad;
            let before = found.clone().scale().precision().to_vec();
            assert!(!found.set_chart(&wrong, &mut scratch), "{bad}");
            assert_eq!(found.scale().precision(), before);
        }
    }

    #[test]
    fn a_block_goes_to_its_coordinates_and_back() {
        for dim in [1, 2, 5, 19] {
            there_and_back(&block(Shape::Full(dim), graded(dim)));
            there_and_back(&block(Shape::Diagonal(dim), (0..dim).map(|i| graded(dim)[i * dim + i]).collect()));
        }
    }

    /// C Cᵀ P = I.
    #[test]
    fn the_coordinates_are_the_lower_factor_of_the_covariance() {
        for dim in [2, 4, 18] {
            let block = block(Shape::Full(dim), graded(dim));
            let mut coordinates = vec![0.0; block.chart_len()];
            block.chart(&mut coordinates);
            let (mut c, mut at) = (vec![0.0; dim * dim], 2 * dim);
            for j in 0..dim {
                for i in j..dim {
                    c[j * dim + i] = if i == j { coordinates[at].exp() } else { coordinates[at] };
                    at += 1;
                }
            }
            let product = |a: &[f64], b: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
                let entry = |i: usize, j: usize| (0..dim).map(|k| a[k * dim + i] * b(k, j)).sum::<f64>();
                (0..dim * dim).map(|k| entry(k % dim, k / dim)).collect()
            };
            let sigma = product(&c, &|k, j| c[k * dim + j]);
            let precision = graded(dim);
            let identity = product(&sigma, &|k, j| precision[j * dim + k]);
            let scale = |i: usize| precision[i * dim + i].sqrt();
            for (k, entry) in identity.iter().enumerate() {
                let expected = f64::from(u8::from(k % dim == k / dim));
                let error = (entry - expected) * scale(k % dim) / scale(k / dim);
                assert!(error.abs() < 1e-12, "{entry} at {k}, d = {dim}");
            }
        }
    }
}
