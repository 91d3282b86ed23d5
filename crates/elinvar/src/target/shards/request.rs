//! What a shard is asked, as plain data.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::target::{Answer, Ask, Contraction, Covariance, Draws, Rows, TargetError, Want};

/// A request to every shard: an [`Ask`] over all rows that owns its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Number of coordinates.
    pub dim: usize,
    /// Where: all coordinates, point after point.
    pub draws: Vec<f64>,
    /// What.
    pub wanted: Wanted,
}

/// What to sum over the rows of a shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Wanted {
    /// log p at every draw.
    Values,
    /// log p and ∇log p at every draw.
    Gradients,
    /// Weighted sums of second derivatives.
    Contracted {
        /// Of what, and with what beside them.
        which: Which,
        /// Full matrices or diagonals.
        covariance: Covariance,
        /// The weights of all sums, one sum after the other.
        weights: Vec<f64>,
        /// Draws of each sum.
        per_sum: usize,
        /// Whether each sum runs over draws of its own, one sum after the other, and not all over the first.
        own_draws: bool,
    },
    /// Expectations under the Gaussian around the one draw.
    GaussianExpectation {
        /// Whether its covariance, and the sum of second derivatives, is full or a diagonal.
        covariance: Covariance,
        /// Its d² or d entries.
        entries: Vec<f64>,
    },
}

/// Which second derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// Hessians, with log p and ∇log p.
    Hessian,
    /// Hessians and nothing else.
    HessianAlone,
    /// Gauss–Newton matrices, with log p and ∇log p.
    GaussNewton,
}

impl Request {
    /// The request that asks the same; `covariance` is the kind of matrices that the answer has room for.
    pub(super) fn of(ask: &Ask<'_>, covariance: Covariance) -> Result<Self, TargetError> {
        if !matches!(ask.rows, Rows::All) {
            return Err(TargetError::fatal("shards are evaluated whole; leave the mini-batch out"));
        }
        let contracted = |which: Which, sums: Contraction<'_>| Wanted::Contracted {
            which,
            covariance,
            weights: (0..sums.len()).flat_map(|k| sums.weights(k)).copied().collect(),
            per_sum: sums.draws(0).len(),
            own_draws: sums.draws(1).start > 0,
        };
        let wanted = match ask.want {
            Want::Values => Wanted::Values,
            Want::Gradients => Wanted::Gradients,
            Want::Hessian(sums) => contracted(Which::Hessian, sums),
            Want::HessianAlone(sums) => contracted(Which::HessianAlone, sums),
            Want::GaussNewton(sums) => contracted(Which::GaussNewton, sums),
            Want::GaussianExpectation { shape, covariance } => {
                Wanted::GaussianExpectation { covariance: shape, entries: covariance.to_vec() }
            }
            Want::ItemGradients { .. } => return Err(TargetError::not_offered()),
        };
        Ok(Self { dim: ask.draws.dim(), draws: ask.draws.as_slice().to_vec(), wanted })
    }

    /// Number of draws.
    pub fn n_draws(&self) -> usize {
        self.draws.len() / self.dim
    }

    /// Room for the answer of a shard, which can be used for one after the other.
    pub fn room(&self) -> Answer {
        Answer::new(self.dim, self.n_draws())
    }

    /// Checks that the numbers of numbers agree, which is not said of a request that came from somewhere else.
    ///
    /// # Errors
    /// [`Error::Shape`] with the first that does not.
    pub fn check(&self) -> Result<(), Error> {
        let shape = |what, expected, found| Err(Error::Shape { what, expected, found });
        if self.dim == 0 || self.draws.is_empty() || !self.draws.len().is_multiple_of(self.dim) {
            return shape("coordinates of the draws of a request", self.dim.max(1), self.draws.len());
        }
        match &self.wanted {
            Wanted::Values | Wanted::Gradients => Ok(()),
            Wanted::Contracted { weights, per_sum, own_draws, .. } => {
                if *per_sum == 0 || weights.is_empty() || !weights.len().is_multiple_of(*per_sum) {
                    return shape("weights of the sums of a request", *per_sum, weights.len());
                }
                let used = if *own_draws { weights.len() } else { *per_sum };
                if used > self.n_draws() {
                    return shape("draws with a weight", self.n_draws(), used);
                }
                Ok(())
            }
            Wanted::GaussianExpectation { covariance, entries } => {
                if self.n_draws() != 1 {
                    return shape("centres of a Gaussian", 1, self.n_draws());
                }
                if entries.len() != covariance.n_entries(self.dim) {
                    return shape("entries of a covariance", covariance.n_entries(self.dim), entries.len());
                }
                Ok(())
            }
        }
    }

    /// Numbers in log p, gradients and sums of second derivatives of an answer.
    pub(super) fn lengths(&self) -> [usize; 3] {
        let n = self.n_draws();
        match &self.wanted {
            Wanted::Values => [n, 0, 0],
            Wanted::Gradients => [n, n * self.dim, 0],
            Wanted::Contracted { which, covariance, weights, per_sum, .. } => {
                let entries = weights.len() / per_sum * covariance.n_entries(self.dim);
                if *which == Which::HessianAlone { [0, 0, entries] } else { [n, n * self.dim, entries] }
            }
            Wanted::GaussianExpectation { covariance, .. } => [1, self.dim, covariance.n_entries(self.dim)],
        }
    }

    /// The kind and number of the sums of second derivatives.
    pub(super) fn matrices(&self) -> Option<(Covariance, usize)> {
        match &self.wanted {
            Wanted::Values | Wanted::Gradients => None,
            Wanted::Contracted { covariance, weights, per_sum, .. } => Some((*covariance, weights.len() / per_sum)),
            Wanted::GaussianExpectation { covariance, .. } => Some((*covariance, 1)),
        }
    }

    /// The same request as a target is asked it.
    pub(super) fn ask(&self) -> Ask<'_> {
        let want = match &self.wanted {
            Wanted::Values => Want::Values,
            Wanted::Gradients => Want::Gradients,
            Wanted::Contracted { which, weights, per_sum, own_draws, .. } => {
                let sums = if *own_draws {
                    Contraction::own(weights, *per_sum)
                } else {
                    Contraction::shared(weights, *per_sum)
                };
                match which {
                    Which::Hessian => Want::Hessian(sums),
                    Which::HessianAlone => Want::HessianAlone(sums),
                    Which::GaussNewton => Want::GaussNewton(sums),
                }
            }
            Wanted::GaussianExpectation { covariance, entries } => {
                Want::GaussianExpectation { shape: *covariance, covariance: entries }
            }
        };
        Ask::all(Draws::new(self.dim, &self.draws), want)
    }
}
