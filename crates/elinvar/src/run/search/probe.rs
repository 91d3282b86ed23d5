//! Single evaluations of the target, the declared prior included, each of them counted.

use crate::Error;
use crate::linalg::products;
use crate::run::{Counts, Journal};
use crate::target::{
    Contraction, Covariance, CurvatureMut, Draws, Evaluations, Prior, Rows, Shape, Target, TargetError,
};

/// Numbers beyond this are as good as infinite: the density or the point has run away.
const OUT_OF_RANGE: f64 = 1e100;

/// A point with a finite log density and gradient.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) z: Vec<f64>,
    pub(super) log_p: f64,
    pub(super) gradient: Vec<f64>,
}

/// The target, asked for one point at a time.
pub(super) struct Probe<'t> {
    target: &'t dyn Target,
    prior: Prior,
    evaluations: Evaluations,
    pub(super) counts: Counts,
    /// Conditional standard deviations: differences of gradients are taken over a small part of them.
    pub(super) widths: Vec<f64>,
    /// Whether a density above every bound was met.
    pub(super) overflow: bool,
    /// By which the fit may be interrupted.
    pub(super) journal: Option<&'t dyn Journal>,
}

impl<'t> Probe<'t> {
    pub(super) fn new(target: &'t dyn Target) -> Self {
        let d = target.dim();
        Self {
            target,
            prior: target.prior().without_mixing(d),
            evaluations: Evaluations::new(d, 1),
            counts: Counts::default(),
            widths: vec![1.0; d],
            overflow: false,
            journal: None,
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.target.dim()
    }

    pub(super) fn has_hessian(&self) -> bool {
        self.target.second_order().is_some()
    }

    /// log p and its gradient at z; nothing where they are not finite.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn point(&mut self, z: Vec<f64>) -> Result<Option<Point>, Error> {
        if !z.iter().all(|v| v.abs() < OUT_OF_RANGE) {
            return Ok(None);
        }
        if self.journal.is_some_and(Journal::is_over) {
            return Err(Error::Interrupted);
        }
        self.counts.log_density += 1;
        self.counts.gradient += 1;
        match self.target.evaluate(Draws::new(z.len(), &z), Rows::All, &mut self.evaluations) {
            Ok(()) => {}
            Err(error) if error.recoverable => return Ok(self.dropped()),
            Err(error) => return Err(error.into()),
        }
        let log_p = self.evaluations.log_p()[0] + self.prior.log_density(&z);
        let mut gradient = self.evaluations.grad(0).to_vec();
        self.prior.add_score(&z, &mut gradient);
        if log_p > OUT_OF_RANGE {
            self.overflow = true;
        }
        let finite = log_p.abs() < OUT_OF_RANGE && gradient.iter().all(|v| v.abs() < OUT_OF_RANGE);
        if !finite {
            return Ok(self.dropped());
        }
        Ok(Some(Point { z, log_p, gradient }))
    }

    fn dropped(&mut self) -> Option<Point> {
        self.counts.dropped += 1;
        None
    }

    /// −∇²log p at a point, d² numbers: from the target, or else from 2d gradients. Nothing where it is not finite.
    pub(super) fn curvature(&mut self, at: &Point) -> Result<Option<Vec<f64>>, Error> {
        if self.has_hessian() { self.second_derivatives(Covariance::Full, at) } else { self.differences(at) }
    }

    /// The second derivatives of the target, full or diagonal.
    pub(super) fn second_derivatives(&mut self, kind: Covariance, at: &Point) -> Result<Option<Vec<f64>>, Error> {
        let d = self.dim();
        let Some(second) = self.target.second_order() else { return Ok(None) };
        let mut entries = vec![0.0; kind.n_entries(d)];
        self.counts.hessian += 1;
        let (out, contraction) = (CurvatureMut::new(kind, d, &mut entries), Contraction::shared(&[-1.0], 1));
        match second.contract(Draws::new(d, &at.z), Rows::All, contraction, self.evaluations.scratch_mut(), out) {
            Err(TargetError { recoverable: true, .. }) => return Ok(None),
            result => result?,
        }
        self.prior.add_precision(1.0, Shape::new(kind, d), &mut entries);
        Ok(entries.iter().all(|v| v.abs() < OUT_OF_RANGE).then_some(entries))
    }

    /// Central differences of gradients over a small part of each coordinate's width; the widths are renewed on the way.
    fn differences(&mut self, at: &Point) -> Result<Option<Vec<f64>>, Error> {
        /// Small against the width, so that third derivatives do not matter, and large against rounding.
        const PART: f64 = 1e-4;
        let d = self.dim();
        let mut entries = vec![0.0; d * d];
        for j in 0..d {
            let step = (PART * self.widths[j]).max(1e-10 * at.z[j].abs()).max(1e-100);
            let (mut above, mut below) = (at.z.clone(), at.z.clone());
            above[j] += step;
            below[j] -= step;
            let apart = above[j] - below[j];
            let (Some(above), Some(below)) = (self.point(above)?, self.point(below)?) else { return Ok(None) };
            let column = &mut entries[j * d..(j + 1) * d];
            for (entry, (a, b)) in column.iter_mut().zip(above.gradient.iter().zip(&below.gradient)) {
                *entry = (b - a) / apart;
            }
        }
        for j in 0..d {
            for i in j + 1..d {
                entries[j * d + i] = 0.5 * (entries[j * d + i] + entries[i * d + j]);
            }
        }
        products::mirror_lower(d, &mut entries);
        for (j, width) in self.widths.iter_mut().enumerate() {
            let curvature = entries[j * d + j].abs();
            if curvature > 0.0 && curvature < OUT_OF_RANGE {
                *width = curvature.sqrt().recip();
            }
        }
        Ok(entries.iter().all(|v| v.abs() < OUT_OF_RANGE).then_some(entries))
    }
}
