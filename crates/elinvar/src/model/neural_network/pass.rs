//! A block forward through the layers, and cotangents of its outputs back to the weights.

use super::NeuralNetwork;
use super::architecture::Layer;
use super::block::Block;
use crate::linalg::layer;

impl NeuralNetwork {
    /// Writes the activations and the outputs of the block at z.
    pub(super) fn forward(&self, z: &[f64], block: &mut Block<'_>) {
        let n = block.n;
        let (mut input, mut rest): (&[f64], &mut [f64]) = (block.inputs, block.activations);
        for (l, shape) in self.layers.iter().enumerate() {
            let (f, o) = (shape.n_inputs(), shape.fan_out);
            let weights = &z[shape.range()];
            if l + 1 == self.layers.len() {
                layer::forward(input, weights, n, f, o, block.output);
                return;
            }
            let (here, after) = rest.split_at_mut(n * (o + 1));
            layer::forward(input, weights, n, f, o, &mut here[..n * o]);
            self.architecture.activation.apply(&mut here[..n * o]);
            here[n * o..].fill(1.0);
            (input, rest) = (here, after);
        }
    }

    /// Takes the cotangents of the outputs, n × outputs at the beginning of `delta[0]`, back through the layers: `sink`
    /// gets each layer with its inputs A, n × (fan-in + 1), and the cotangents D, n × fan-out, of what it computes, so
    /// that AᵀD is the derivative in its weights and a_n d_nᵀ that of item n.
    pub(super) fn backward(
        &self,
        z: &[f64],
        n: usize,
        inputs: &[f64],
        activations: &[f64],
        delta: [&mut [f64]; 2],
        mut sink: impl FnMut(&Layer, &[f64], &[f64]),
    ) {
        let [mut here, mut before] = delta;
        let mut end = activations.len();
        for (l, shape) in self.layers.iter().enumerate().rev() {
            let (f, o) = (shape.n_inputs(), shape.fan_out);
            if l == 0 {
                sink(shape, inputs, &here[..n * o]);
                return;
            }
            let a = &activations[end - n * f..end];
            end -= n * f;
            sink(shape, a, &here[..n * o]);
            let next = &mut before[..n * shape.fan_in];
            layer::backward(&here[..n * o], &z[shape.range()], n, f, o, next);
            self.architecture.activation.times_derivative(&a[..n * shape.fan_in], next);
            (here, before) = (before, here);
        }
    }
}
