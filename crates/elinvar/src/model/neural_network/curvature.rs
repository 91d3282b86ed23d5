//! Gradients of single items and the Gauss–Newton matrix, both from the outer products a_n d_nᵀ of each layer.

use super::NeuralNetwork;
use super::architecture::Layer;
use crate::linalg::{layer, products};
use crate::target::{Contraction, Covariance, CurvatureMut, Draws, Rows, Scratch};

/// Numbers that the Jacobian of a block may take.
const JACOBIAN: usize = 1 << 18;
/// Fisher information about log σ of one Gaussian observation.
const NOISE_INFORMATION: f64 = 2.0;

impl NeuralNetwork {
    /// Items of a block in a contraction; where the matrix is full, their Jacobian is written out.
    fn contraction_rows(&self, covariance: Covariance) -> usize {
        match covariance {
            Covariance::Full => (JACOBIAN / self.dim).clamp(8, 128).min(self.block_rows()),
            Covariance::Diagonal => self.block_rows(),
        }
    }

    /// Numbers besides the block: weights of the items, then a Jacobian and its scaled copy, or squares of a layer's
    /// two factors.
    fn products_len(&self, covariance: Covariance) -> usize {
        match covariance {
            Covariance::Full => 2 + 2 * self.dim,
            Covariance::Diagonal => 2 + self.layers.iter().map(|l| l.n_inputs() + l.fan_out).max().unwrap_or(0),
        }
    }

    pub(super) fn contraction_len(&self, covariance: Covariance) -> usize {
        let n = self.contraction_rows(covariance);
        self.block_len(n) + n * self.products_len(covariance)
    }
}

/// Writes δ_nj a_ni of a layer, for every item, to the layer's place in rows of length d.
fn write_outer_products(shape: &Layer, a: &[f64], delta: &[f64], n: usize, d: usize, rows: &mut [f64]) {
    for (i, row) in rows.chunks_exact_mut(d).take(n).enumerate() {
        for (j, column) in row[shape.range()].chunks_exact_mut(shape.n_inputs()).enumerate() {
            let slope = delta[j * n + i];
            for (k, entry) in column.iter_mut().enumerate() {
                *entry = slope * a[k * n + i];
            }
        }
    }
}

impl NeuralNetwork {
    /// Gradients of single items. The prior of a learned σ is shared by them, 1/N of it in each.
    pub(super) fn write_item_gradients(&self, z: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let (n_rows, size, d) = (rows.len(self.x.n_rows()), self.block_rows(), self.dim);
        let memory = scratch.take(self.block_len(size));
        for start in (0..n_rows).step_by(size) {
            let n = size.min(n_rows - start);
            let out = &mut out[start * d..(start + n) * d];
            let mut block = self.carve(n, memory);
            self.gather(rows, start..start + n, &mut block);
            self.forward(z, &mut block);
            self.likelihood.values(z, block.responses, block.output, &mut block.likelihood);
            self.likelihood.slopes(z, block.responses, block.output, &block.likelihood);
            if let Some(prior) = self.likelihood.learned_noise() {
                let [_, slope, _] = prior.log_density(z[d - 1]);
                let (precision, share) = ((-2.0 * z[d - 1]).exp(), slope / self.x.n_rows() as f64);
                for (row, square) in out.chunks_exact_mut(d).zip(block.likelihood.value.iter()) {
                    row[d - 1] = precision * square - 1.0 + share;
                }
            }
            let [one, two] = block.delta;
            one[..block.output.len()].copy_from_slice(block.output);
            self.backward(z, n, block.inputs, block.activations, [one, two], |shape, a, delta| {
                write_outer_products(shape, a, delta, n, d, out);
            });
        }
    }

    /// Adds −JᵀHJ. H is the Fisher information of the likelihood: the curvature of the loss in the outputs, and where σ
    /// is learned diag(1/σ², 2) in (f, log σ), to which the curvature of the prior of σ is added.
    pub(super) fn contract_gauss_newton(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        mut out: CurvatureMut<'_>,
    ) {
        let (d, covariance, n_rows) = (self.dim, out.covariance(), rows.len(self.x.n_rows()));
        let size = self.contraction_rows(covariance);
        let memory = scratch.take(self.contraction_len(covariance));
        let used = |s: usize| contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0);
        for start in (0..n_rows).step_by(size) {
            let n = size.min(n_rows - start);
            let (memory, rest) = memory.split_at_mut(self.block_len(n));
            let (weight, rest) = rest.split_at_mut(n);
            let (scaled, rest) = rest.split_at_mut(n);
            let mut block = self.carve(n, memory);
            self.gather(rows, start..start + n, &mut block);
            for (s, z) in draws.iter().enumerate().filter(|(s, _)| used(*s).next().is_some()) {
                self.forward(z, &mut block);
                self.likelihood.values(z, block.responses, block.output, &mut block.likelihood);
                for k in 0..self.likelihood.n_directions() {
                    let [one, two] = &mut block.delta;
                    let v = &mut one[..block.output.len()];
                    self.likelihood.direction(k, z, block.output, &block.likelihood, weight, v);
                    let (inputs, activations) = (&*block.inputs, &*block.activations);
                    match covariance {
                        Covariance::Full => {
                            let (jacobian, gram) = rest.split_at_mut(n * d);
                            // log σ is no weight of a layer.
                            jacobian.iter_mut().skip(d - 1).step_by(d).for_each(|entry| *entry = 0.0);
                            self.backward(z, n, inputs, activations, [one, two], |shape, a, delta| {
                                write_outer_products(shape, a, delta, n, d, jacobian);
                            });
                            for (sum, factor) in used(s) {
                                scaled.iter_mut().zip(weight.iter()).for_each(|(out, w)| *out = -factor * w);
                                products::add_weighted_gram(jacobian, d, scaled, gram, out.entries_mut(sum));
                            }
                        }
                        Covariance::Diagonal => {
                            self.backward(z, n, inputs, activations, [one, two], |shape, a, delta| {
                                let (f, o) = (shape.n_inputs(), shape.fan_out);
                                let (a_squared, delta_squared) = rest.split_at_mut(n * f);
                                a_squared.iter_mut().zip(a).for_each(|(out, a)| *out = a * a);
                                for (out, delta) in delta_squared.chunks_exact_mut(n).zip(delta.chunks_exact(n)) {
                                    for ((out, delta), w) in out.iter_mut().zip(delta).zip(weight.iter()) {
                                        *out = w * delta * delta;
                                    }
                                }
                                for (sum, factor) in used(s) {
                                    let entries = &mut out.entries_mut(sum)[shape.range()];
                                    let delta_squared = &delta_squared[..n * o];
                                    layer::add_gradient(-factor, a_squared, delta_squared, n, f, o, entries);
                                }
                            });
                        }
                    }
                }
            }
        }
        if let Some(prior) = self.likelihood.learned_noise() {
            let (last, share) = (covariance.n_entries(d) - 1, n_rows as f64 / self.x.n_rows() as f64);
            for (s, z) in draws.iter().enumerate() {
                let information = NOISE_INFORMATION * n_rows as f64 - share * prior.log_density(z[d - 1])[2];
                used(s).for_each(|(sum, factor)| out.entries_mut(sum)[last] -= factor * information);
            }
        }
        if covariance == Covariance::Full {
            out.as_mut_slice().chunks_exact_mut(d * d).for_each(|matrix| products::mirror_lower(d, matrix));
        }
    }
}
