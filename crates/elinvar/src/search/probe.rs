//! The target, asked for one point at a time, with second derivatives by differences where it has none.

use crate::Error;
use crate::evaluate::{Evaluator, OUT_OF_RANGE, Point};
use crate::linalg::products;
use crate::target::Covariance;

/// The target and how far apart differences are taken.
pub(crate) struct Probe<'t> {
    pub(crate) evaluator: Evaluator<'t>,
    /// Conditional standard deviations: differences of gradients are taken over a small part of them.
    pub(super) widths: Vec<f64>,
    /// Whether the start of a Gaussian by gradients is looked for: differences to one side, ascents that end in spikes.
    pub(super) is_scouting: bool,
}

impl<'t> Probe<'t> {
    pub(crate) fn new(evaluator: Evaluator<'t>) -> Self {
        Self { widths: vec![1.0; evaluator.dim()], is_scouting: false, evaluator }
    }

    pub(super) fn dim(&self) -> usize {
        self.evaluator.dim()
    }

    pub(super) fn has_hessian(&self) -> bool {
        self.evaluator.about().offers.hessian
    }

    /// As [`Evaluator::point`].
    pub(super) fn point(&mut self, z: Vec<f64>) -> Result<Option<Point>, Error> {
        self.evaluator.point(z)
    }

    /// −∇²log p at a point, d² numbers: from the target, or else from 2d gradients, d when scouting. Nothing where it
    /// is not finite.
    pub(super) fn curvature(&mut self, at: &Point) -> Result<Option<Vec<f64>>, Error> {
        if self.has_hessian() { self.second_derivatives(Covariance::Full, at) } else { self.differences(at) }
    }

    /// The second derivatives of the target, full or diagonal.
    pub(super) fn second_derivatives(&mut self, kind: Covariance, at: &Point) -> Result<Option<Vec<f64>>, Error> {
        self.evaluator.curvature_at(kind, &at.z)
    }

    /// Central differences of gradients, forward ones when scouting, over a small part of each coordinate's width; the
    /// widths are renewed on the way.
    fn differences(&mut self, at: &Point) -> Result<Option<Vec<f64>>, Error> {
        /// Small against the width, so that third derivatives do not matter, and large against rounding.
        const PART: f64 = 1e-4;
        let d = self.dim();
        let mut entries = vec![0.0; d * d];
        for j in 0..d {
            let step = (PART * self.widths[j]).max(1e-10 * at.z[j].abs()).max(1e-100);
            let (mut above, mut below) = (at.z.clone(), at.z.clone());
            above[j] += step;
            if !self.is_scouting {
                below[j] -= step;
            }
            let apart = above[j] - below[j];
            let below = if self.is_scouting { Some(at.clone()) } else { self.point(below)? };
            let (Some(above), Some(below)) = (self.point(above)?, below) else { return Ok(None) };
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
