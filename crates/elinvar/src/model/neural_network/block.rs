//! The memory of a block of items on its way through the layers.

use std::ops::Range;

use super::NeuralNetwork;
use super::likelihood::LikelihoodMemory;
use crate::target::Rows;

/// n items: matrices are n × units, unit after unit, with a last column of ones where a layer reads them.
pub(super) struct Block<'a> {
    pub(super) n: usize,
    /// n × (features + 1).
    pub(super) inputs: &'a mut [f64],
    pub(super) responses: &'a mut [f64],
    /// n × (units + 1) of each hidden layer, one after the other.
    pub(super) activations: &'a mut [f64],
    /// n × outputs.
    pub(super) output: &'a mut [f64],
    pub(super) likelihood: LikelihoodMemory<'a>,
    /// n × units of the widest layer, twice.
    pub(super) delta: [&'a mut [f64]; 2],
}

/// Numbers of a block that a thread works on at a time: about half a megabyte, which stays in its cache.
const BLOCK: usize = 1 << 16;

impl NeuralNetwork {
    fn widest(&self) -> usize {
        self.layers.iter().map(|layer| layer.fan_out).max().unwrap_or(1)
    }

    /// Numbers that one item takes in a [`Block`].
    fn item_len(&self) -> usize {
        let first = self.layers[0].n_inputs();
        let hidden: usize = self.layers[1..].iter().map(|layer| layer.n_inputs()).sum();
        first + hidden + self.likelihood.n_outputs() + 4 + 2 * self.widest()
    }

    /// Items of a block.
    pub(super) fn block_rows(&self) -> usize {
        (BLOCK / self.item_len()).clamp(32, 512)
    }

    /// Numbers that a block of `n` items takes.
    pub(super) fn block_len(&self, n: usize) -> usize {
        n * self.item_len()
    }

    /// Cuts `memory` into the parts of a block of `n` items.
    pub(super) fn carve<'a>(&self, n: usize, memory: &'a mut [f64]) -> Block<'a> {
        let hidden: usize = self.layers[1..].iter().map(|layer| layer.n_inputs()).sum();
        let (inputs, memory) = memory.split_at_mut(n * self.layers[0].n_inputs());
        let (responses, memory) = memory.split_at_mut(n);
        let (activations, memory) = memory.split_at_mut(n * hidden);
        let (output, memory) = memory.split_at_mut(n * self.likelihood.n_outputs());
        let (value, memory) = memory.split_at_mut(n);
        let (spare, memory) = memory.split_at_mut(2 * n);
        let (one, memory) = memory.split_at_mut(n * self.widest());
        let two = &mut memory[..n * self.widest()];
        let likelihood = LikelihoodMemory { value, spare };
        Block { n, inputs, responses, activations, output, likelihood, delta: [one, two] }
    }

    /// Copies items `range` of the selection into the block.
    pub(super) fn gather(&self, rows: Rows<'_>, range: Range<usize>, block: &mut Block<'_>) {
        let (n, f) = (block.n, self.layers[0].fan_in);
        for (i, at) in range.enumerate() {
            let index = rows.index(at);
            for (j, value) in self.x.row(index).iter().enumerate() {
                block.inputs[j * n + i] = *value;
            }
            block.responses[i] = self.y[index];
        }
        block.inputs[n * f..].fill(1.0);
    }
}
