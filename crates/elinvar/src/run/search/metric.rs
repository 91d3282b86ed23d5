//! A precision matrix around a point, stored densely or by its diagonal.

use crate::block::{Diagonal, Full, ScaleMatrix};
use crate::linalg::{axpy, dot};
use crate::target::Covariance;

/// A positive definite precision with its factor.
#[derive(Clone, Debug)]
pub(crate) enum Metric {
    Dense(Full),
    Diagonal(Diagonal),
}

impl Metric {
    /// The metric with these entries, d² or d of them, if it is positive definite.
    pub(super) fn new(dim: usize, entries: Vec<f64>) -> Option<Self> {
        if !entries.iter().all(|v| v.is_finite()) {
            return None;
        }
        if entries.len() == dim * dim && dim > 1 {
            Full::from_precision(dim, entries).ok().map(Self::Dense)
        } else {
            Diagonal::from_precision(dim, entries).ok().map(Self::Diagonal)
        }
    }

    /// I.
    pub(super) fn unit(dim: usize) -> Self {
        Self::Diagonal(Diagonal::from_precision(dim, vec![1.0; dim]).expect("ones are positive"))
    }

    fn dim(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.dim(),
            Self::Diagonal(matrix) => matrix.dim(),
        }
    }

    /// log |P|.
    pub(super) fn log_det(&self) -> f64 {
        match self {
            Self::Dense(matrix) => matrix.log_det_precision(),
            Self::Diagonal(matrix) => matrix.log_det_precision(),
        }
    }

    /// x ← P⁻¹x.
    pub(super) fn solve(&self, x: &mut [f64]) {
        match self {
            Self::Dense(matrix) => matrix.solve(x),
            Self::Diagonal(matrix) => matrix.solve(x),
        }
    }

    /// x ← L⁻ᵀx: standard normals become draws with covariance P⁻¹.
    pub(super) fn unwhiten(&self, x: &mut [f64]) {
        match self {
            Self::Dense(matrix) => matrix.unwhiten(x),
            Self::Diagonal(matrix) => matrix.unwhiten(x),
        }
    }

    /// (a − b)ᵀP(a − b).
    pub(super) fn square_distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut apart = a.to_vec();
        axpy(-1.0, b, &mut apart);
        let mut white = vec![0.0; apart.len()];
        match self {
            Self::Dense(matrix) => matrix.whiten(&apart, &mut white),
            Self::Diagonal(matrix) => matrix.whiten(&apart, &mut white),
        }
        dot(&white, &white)
    }

    /// P + c ggᵀ (its diagonal, when P is one).
    pub(super) fn plus_outer(&self, c: f64, g: &[f64]) -> Option<Self> {
        let mut entries = self.entries().to_vec();
        match self {
            Self::Dense(_) => Full::add_outer(c, g, &mut entries),
            Self::Diagonal(_) => Diagonal::add_outer(c, g, &mut entries),
        }
        Self::new(self.dim(), entries)
    }

    /// c P.
    pub(super) fn scaled(&self, c: f64) -> Option<Self> {
        Self::new(self.dim(), self.entries().iter().map(|v| c * v).collect())
    }

    fn entries(&self) -> &[f64] {
        match self {
            Self::Dense(matrix) => matrix.precision(),
            Self::Diagonal(matrix) => matrix.precision(),
        }
    }

    /// The entries as a scale matrix of the given kind stores them.
    pub(crate) fn stored_as(&self, covariance: Covariance) -> Vec<f64> {
        let d = self.dim();
        let entries = self.entries();
        match (self, covariance) {
            (Self::Dense(_), Covariance::Full) | (Self::Diagonal(_), Covariance::Diagonal) => entries.to_vec(),
            (Self::Dense(_), Covariance::Diagonal) => (0..d).map(|i| entries[i * d + i]).collect(),
            (Self::Diagonal(_), Covariance::Full) => {
                let mut full = vec![0.0; d * d];
                (0..d).for_each(|i| full[i * d + i] = entries[i]);
                full
            }
        }
    }
}
