//! A member in the making, as the numbers that files have.

use crate::Error;
use crate::family::{Approximation, Family, Kind};
use crate::search::Region;
use crate::target::Covariance;

/// B and the entries of the precision.
pub(super) type Numbers = (Vec<f64>, Vec<f64>);

/// What [`Approximation::from_parts`] is given.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) family: Family,
    pub(super) dim: usize,
    pub(super) blocks: Vec<Numbers>,
    pub(super) log_weights: Vec<f64>,
}

impl Draft {
    /// The Gaussian of a region.
    pub(super) fn gaussian(region: &Region, covariance: Covariance) -> Self {
        Self {
            family: Family { kind: Kind::Gaussian, covariance },
            dim: region.centre.len(),
            blocks: vec![(region.centre.clone(), region.metric.stored_as(covariance))],
            log_weights: vec![0.0],
        }
    }

    /// A family in place of a fitted Gaussian, whose numbers it has at first.
    pub(super) fn in_place_of(gaussian: &Approximation, family: Family) -> Self {
        let block = &gaussian.locations()[0];
        let numbers = (block.b().to_vec(), block.scale().precision().to_vec());
        Self { family, dim: gaussian.dim(), blocks: vec![numbers], log_weights: vec![0.0] }
    }

    /// The same numbers as another kind of family.
    pub(super) fn of_kind(mut self, kind: Kind) -> Self {
        self.family.kind = kind;
        self
    }

    /// The Gaussian with the diagonal of its precision alone, if that is what is wanted.
    pub(super) fn narrowed_to(mut self, covariance: Covariance) -> Self {
        if (self.family.covariance, covariance) == (Covariance::Full, Covariance::Diagonal) {
            self.family.covariance = covariance;
            let stride = if self.dim > 1 { self.dim + 1 } else { 1 };
            for (_, precision) in &mut self.blocks {
                *precision = precision.iter().step_by(stride).copied().collect();
            }
        }
        self
    }

    pub(super) fn finish(self) -> Result<Approximation, Error> {
        Approximation::from_parts(self.family, self.dim, self.blocks, self.log_weights)
    }
}
