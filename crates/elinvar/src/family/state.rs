//! The parameters of any family as plain data: what files hold.

use serde::{Deserialize, Serialize};

use super::Family;
use crate::Error;
use crate::block::{LocationBlock, ScaleMatrix};
use crate::target::Covariance;

/// B and P of one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockState {
    /// The columns of B one after the other: μ, then α or the columns of A.
    pub b: Vec<f64>,
    /// The precision: d² numbers when full, d when diagonal.
    pub precision: Vec<f64>,
}

/// The parameters of an approximation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Which family.
    pub family: Family,
    /// d.
    pub dim: usize,
    /// One block per component.
    pub blocks: Vec<BlockState>,
    /// log π, normalised; a single 0 for a family with one component.
    pub log_weights: Vec<f64>,
}

impl State {
    /// The data of a family with these blocks.
    pub(crate) fn of<S: ScaleMatrix>(family: Family, blocks: &[LocationBlock<S>], log_weights: Vec<f64>) -> Self {
        let blocks = blocks.iter().map(|b| BlockState { b: b.b().to_vec(), precision: b.scale().precision().to_vec() });
        let blocks: Vec<_> = blocks.collect();
        let dim = match family.covariance {
            Covariance::Full => (blocks[0].precision.len() as f64).sqrt().round() as usize,
            Covariance::Diagonal => blocks[0].precision.len(),
        };
        Self { family, dim, blocks, log_weights }
    }

    /// The blocks, checked: each with `n_columns` columns, each precision positive definite.
    pub(crate) fn blocks<S: ScaleMatrix>(&self, n_columns: usize) -> Result<Vec<LocationBlock<S>>, Error> {
        let dim = self.dim;
        if dim == 0 {
            return Err(Error::Domain { parameter: "dimension", value: 0.0, reason: "a posterior has a coordinate" });
        }
        let blocks = self.blocks.iter().map(|block| {
            if block.b.len() != dim * n_columns {
                return Err(Error::Shape { what: "entries of B", expected: dim * n_columns, found: block.b.len() });
            }
            LocationBlock::new(block.b.clone(), S::from_precision(dim, block.precision.clone())?)
        });
        blocks.collect()
    }

    /// The only block of a family with one component, checked.
    pub(crate) fn single<S: ScaleMatrix>(&self, n_columns: usize) -> Result<LocationBlock<S>, Error> {
        if self.blocks.len() != 1 {
            return Err(Error::Shape { what: "blocks of the state", expected: 1, found: self.blocks.len() });
        }
        Ok(self.blocks(n_columns)?.remove(0))
    }
}
