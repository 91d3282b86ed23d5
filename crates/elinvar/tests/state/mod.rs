//! The parameters of a member as numbers that a test can change.
#![allow(dead_code, unused_imports, reason = "each test program uses a part")]

use elinvar::Error;
use elinvar::family::{Approximation, Family};
use serde::{Deserialize, Serialize};

/// B and P of one block, as files have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlockState {
    pub(crate) b: Vec<f64>,
    pub(crate) precision: Vec<f64>,
}

/// What [`Approximation::from_parts`] is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) family: Family,
    pub(crate) dim: usize,
    pub(crate) blocks: Vec<BlockState>,
    pub(crate) log_weights: Vec<f64>,
}

/// From a member to its numbers and back.
pub(crate) trait Stated: Sized {
    fn state(&self) -> State;
    fn from_state(state: &State) -> Result<Self, Error>;
}

impl Stated for Approximation {
    fn state(&self) -> State {
        let blocks = self.parts().into_iter().map(|(b, precision)| BlockState { b, precision }).collect();
        State { family: self.family(), dim: self.dim(), blocks, log_weights: self.weights().log().to_vec() }
    }

    fn from_state(state: &State) -> Result<Self, Error> {
        let blocks = state.blocks.iter().map(|block| (block.b.clone(), block.precision.clone())).collect();
        Self::from_parts(state.family, state.dim, blocks, state.log_weights.clone())
    }
}
