//! The layers of a network and where their weights are.

use serde::{Deserialize, Serialize};

use super::super::kernels;
use crate::Error;

/// What a hidden unit does with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// tanh x.
    Tanh,
}

impl Activation {
    /// Applies it in place.
    pub(super) fn apply(self, values: &mut [f64]) {
        match self {
            // Not `max`, which would turn a NaN into zero.
            Activation::Relu => values.iter_mut().for_each(|v| *v = if *v <= 0.0 { 0.0 } else { *v }),
            Activation::Tanh => kernels::tanh_block(values),
        }
    }

    /// Multiplies `delta` by the derivative, which is a function of the activated value.
    pub(super) fn times_derivative(self, activated: &[f64], delta: &mut [f64]) {
        match self {
            Activation::Relu => {
                delta.iter_mut().zip(activated).for_each(|(d, a)| *d = if *a > 0.0 { *d } else { 0.0 });
            }
            Activation::Tanh => delta.iter_mut().zip(activated).for_each(|(d, a)| *d *= 1.0 - a * a),
        }
    }

    /// The variance of a weight, times its fan-in, that keeps the size of activations from layer to layer.
    pub(super) fn gain(self) -> f64 {
        match self {
            Activation::Relu => 2.0,
            Activation::Tanh => 1.0,
        }
    }
}

/// The hidden part of a network, as plain data.
///
/// ```
/// use elinvar::model::{Activation, Architecture};
///
/// let paper = Architecture { hidden: vec![50], activation: Activation::Relu };
/// assert_eq!(paper, Architecture::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// Units of each hidden layer, first to last; none at all is a linear model.
    pub hidden: Vec<usize>,
    /// What the hidden units do.
    pub activation: Activation,
}

impl Default for Architecture {
    /// One hidden layer of 50 rectified units (mathematics §9.1).
    fn default() -> Self {
        Self { hidden: vec![50], activation: Activation::Relu }
    }
}

impl Architecture {
    /// The layers between `n_inputs` features and `n_outputs` outputs.
    pub(super) fn layers(&self, n_inputs: usize, n_outputs: usize) -> Result<Vec<Layer>, Error> {
        if self.hidden.contains(&0) {
            return Err(Error::Domain { parameter: "hidden units", value: 0.0, reason: "a hidden layer has a unit" });
        }
        let mut layers: Vec<Layer> = Vec::with_capacity(self.hidden.len() + 1);
        let mut fan_in = n_inputs;
        for fan_out in self.hidden.iter().copied().chain([n_outputs]) {
            let offset = layers.last().map_or(0, |before| before.range().end);
            layers.push(Layer { fan_in, fan_out, offset });
            fan_in = fan_out;
        }
        Ok(layers)
    }
}

/// One layer: a (fan_in + 1) × fan_out matrix, one unit per column, its bias last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) fan_in: usize,
    pub(super) fan_out: usize,
    pub(super) offset: usize,
}

impl Layer {
    /// Rows of the weight matrix.
    pub(super) fn n_inputs(&self) -> usize {
        self.fan_in + 1
    }

    /// Where the weights are in z.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.n_inputs() * self.fan_out
    }
}
