//! The parameters of any family as plain data: what files hold.

use serde::{Deserialize, Serialize};

use super::Family;
use crate::Error;
use crate::block::{LocationBlock, ScaleMatrix};
use crate::target::Covariance;

/// B and P of one block; for `matrix`, W and the precision factors of one group, one after the other; for a family without them,
/// its own parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockState {
    /// The columns of B one after the other: μ, then α or the columns of A. For an exponential-family component its usual
    /// parameters, coordinate after coordinate.
    pub b: Vec<f64>,
    /// The precision: d² numbers when full, d when diagonal, none where there is no matrix.
    pub precision: Vec<f64>,
}

/// The parameters of an approximation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Which family.
    pub family: Family,
    /// d.
    pub dim: usize,
    /// One block per component; for `matrix`, one per group.
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
            // A damaged file may claim any size.
            let expected = dim.saturating_mul(n_columns);
            if block.b.len() != expected {
                return Err(Error::Shape { what: "entries of B", expected, found: block.b.len() });
            }
            let scale = S::from_precision(dim, block.precision.clone())?;
            if S::COVARIANCE == Covariance::Full {
                check_symmetry(dim, &block.precision)?;
            }
            LocationBlock::new(block.b.clone(), scale)
        });
        blocks.collect()
    }

    /// The only block of a family with one component, checked.
    pub(crate) fn single<S: ScaleMatrix>(&self, n_columns: usize) -> Result<LocationBlock<S>, Error> {
        if self.blocks.len() != 1 {
            return Err(Error::Shape { what: "blocks of the state", expected: 1, found: self.blocks.len() });
        }
        if self.log_weights != [0.0] {
            let value = self.log_weights.iter().map(|log| log.exp()).sum();
            return Err(Error::Domain {
                parameter: "sum of weights",
                value,
                reason: "a single component has weight one",
            });
        }
        Ok(self.blocks(n_columns)?.remove(0))
    }
}

/// Factors are made from the lower triangle alone; an upper one that says something else is a mistake.
pub(super) fn check_symmetry(dim: usize, p: &[f64]) -> Result<(), Error> {
    let pairs = (0..dim).flat_map(|i| (0..i).map(move |j| (i, j)));
    let asymmetry =
        |(i, j): (usize, usize)| (p[i * dim + j] - p[j * dim + i]).abs() / (p[i * dim + i] * p[j * dim + j]).sqrt();
    match pairs.map(asymmetry).find(|value| value.is_nan() || *value > 1e-8) {
        None => Ok(()),
        Some(value) => {
            let reason = "the precision matrix is symmetric";
            Err(Error::Domain { parameter: "relative asymmetry", value, reason })
        }
    }
}
