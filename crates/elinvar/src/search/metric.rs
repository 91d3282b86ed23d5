//! A precision matrix around a point, stored densely or by its diagonal.

use crate::block::Scale;
use crate::linalg::{axpy, dot};
use crate::target::{Covariance, Shape};

/// A positive definite precision with its factor.
#[derive(Clone, Debug)]
pub(crate) struct Metric(Scale);

impl From<Scale> for Metric {
    fn from(scale: Scale) -> Self {
        Self(scale)
    }
}

impl Metric {
    /// The metric with these entries, d² or d of them, if it is positive definite.
    pub(super) fn new(dim: usize, entries: Vec<f64>) -> Option<Self> {
        if !entries.iter().all(|v| v.is_finite()) {
            return None;
        }
        let dense = entries.len() == dim * dim && dim > 1;
        Scale::from_precision(if dense { Shape::Full(dim) } else { Shape::Diagonal(dim) }, entries).ok().map(Self)
    }

    /// I.
    pub(super) fn unit(dim: usize) -> Self {
        Self(Scale::from_precision(Shape::Diagonal(dim), vec![1.0; dim]).expect("ones are positive"))
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// log |P|.
    pub(super) fn log_det(&self) -> f64 {
        self.0.log_det_precision()
    }

    /// x ← P⁻¹x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.0.solve(x);
    }

    /// x ← L⁻ᵀx: standard normals become draws with covariance P⁻¹.
    pub(super) fn unwhiten(&self, x: &mut [f64]) {
        self.0.unwhiten(x);
    }

    /// (a − b)ᵀP(a − b).
    pub(crate) fn square_distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut apart = a.to_vec();
        axpy(-1.0, b, &mut apart);
        let mut white = vec![0.0; apart.len()];
        self.0.whiten(&apart, &mut white);
        dot(&white, &white)
    }

    /// P + c ggᵀ (its diagonal, when P is one).
    pub(super) fn plus_outer(&self, c: f64, g: &[f64]) -> Option<Self> {
        let mut entries = self.entries().to_vec();
        self.0.shape().add_outer(c, g, &mut entries);
        Self::new(self.dim(), entries)
    }

    /// c P.
    pub(super) fn scaled(&self, c: f64) -> Option<Self> {
        Self::new(self.dim(), self.entries().iter().map(|v| c * v).collect())
    }

    fn entries(&self) -> &[f64] {
        self.0.precision()
    }

    /// The entries as a scale matrix of the given kind stores them.
    pub(crate) fn stored_as(&self, covariance: Covariance) -> Vec<f64> {
        let (own, wanted) = (self.0.shape(), Shape::new(covariance, self.dim()));
        if own == wanted {
            return self.entries().to_vec();
        }
        wanted.with_diagonal(self.entries().iter().step_by(own.stride()).copied())
    }
}
