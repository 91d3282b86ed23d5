//! Single points, for climbs; the declared prior is part of what they say.

use super::Evaluator;
use crate::Error;
use crate::target::{Contraction, Covariance, Draws, Rows, Shape, Want};

/// Numbers beyond this are as good as infinite: the density or the point has run away.
pub(crate) const OUT_OF_RANGE: f64 = 1e100;

/// A point with a finite log density and gradient.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) z: Vec<f64>,
    pub(crate) log_p: f64,
    pub(crate) gradient: Vec<f64>,
}

impl Evaluator<'_> {
    /// log p and its gradient at z; nothing where they are not finite. A t prior that shares w is replaced by the
    /// normal with its covariance.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(crate) fn point(&mut self, z: Vec<f64>) -> Result<Option<Point>, Error> {
        if !z.iter().all(|v| v.abs() < OUT_OF_RANGE) {
            return Ok(None);
        }
        self.asker.ask(Draws::new(z.len(), &z), Rows::All, Want::Gradients, &mut self.single)?;
        let log_p = self.single.log_p()[0] + self.prior_of_points.log_density(&z);
        let mut gradient = self.single.grad(0).to_vec();
        self.prior_of_points.add_score(&z, &mut gradient);
        if log_p > OUT_OF_RANGE {
            self.overflow = true;
        }
        if !(log_p.abs() < OUT_OF_RANGE && gradient.iter().all(|v| v.abs() < OUT_OF_RANGE)) {
            self.asker.counts.dropped += 1;
            return Ok(None);
        }
        Ok(Some(Point { z, log_p, gradient }))
    }

    /// −∇²log p at a point whose gradient was asked for before, full or diagonal. Nothing where it is not finite, or
    /// the target has none.
    ///
    /// # Errors
    /// As [`Evaluator::point`].
    pub(crate) fn curvature_at(&mut self, kind: Covariance, z: &[f64]) -> Result<Option<Vec<f64>>, Error> {
        if !self.about.offers.hessian {
            return Ok(None);
        }
        self.single.set_curvature(kind, 1);
        let want = Want::HessianAlone(Contraction::shared(&[-1.0], 1));
        self.asker.ask(Draws::new(z.len(), z), Rows::All, want, &mut self.single)?;
        let mut entries = self.single.curvature().to_vec();
        self.prior_of_points.add_precision(1.0, Shape::new(kind, z.len()), &mut entries);
        Ok(entries.iter().all(|v| v.abs() < OUT_OF_RANGE).then_some(entries))
    }
}
