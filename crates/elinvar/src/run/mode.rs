//! A rough mode with its curvature: where a fit starts.

use super::Counts;
use crate::Error;
use crate::block::{Diagonal, Full, ScaleMatrix};
use crate::linalg::{axpy, dot};
use crate::target::{Contraction, Covariance, CurvatureMut, Draws, Evaluations, Prior, Rows, Target};

/// A point and a precision around it.
pub(super) struct Region {
    pub(super) centre: Vec<f64>,
    /// d² numbers when full, d when diagonal.
    pub(super) precision: Vec<f64>,
}

impl Region {
    /// N(0, I): where nothing better is known.
    fn standard(dim: usize, covariance: Covariance) -> Self {
        let mut precision = vec![0.0; covariance.n_entries(dim)];
        match covariance {
            Covariance::Full => (0..dim).for_each(|i| precision[i * dim + i] = 1.0),
            Covariance::Diagonal => precision.fill(1.0),
        }
        Self { centre: vec![0.0; dim], precision }
    }
}

/// The log density at one point with its derivatives, the declared prior included.
struct Probe<'t> {
    target: &'t dyn Target,
    covariance: Covariance,
    evaluations: Evaluations,
    curvature: Vec<f64>,
    counts: Counts,
}

impl Probe<'_> {
    fn value(&mut self, z: &[f64]) -> Result<f64, Error> {
        self.target.evaluate(Draws::new(z.len(), z), Rows::All, &mut self.evaluations)?;
        self.counts.log_density += 1;
        self.counts.gradient += 1;
        Ok(self.evaluations.log_p()[0] + self.target.prior().log_density(z))
    }

    /// Leaves ∇log p in `gradient` and −∇²log p in `self.curvature`.
    fn derivatives(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        let d = z.len();
        let value = self.value(z)?;
        gradient.copy_from_slice(self.evaluations.grad(0));
        self.curvature.fill(0.0);
        if let Some(second) = self.target.second_order() {
            let out = CurvatureMut::new(self.covariance, d, &mut self.curvature);
            let contraction = Contraction::shared(&[-1.0], 1);
            second.contract(Draws::new(d, z), Rows::All, contraction, self.evaluations.scratch_mut(), out)?;
            self.counts.hessian += 1;
        }
        if let Prior::Gaussian { precision, leading } = self.target.prior() {
            axpy(-precision, &z[..leading], &mut gradient[..leading]);
            match self.covariance {
                Covariance::Full => Full::add_identity(d, precision, leading, &mut self.curvature),
                Covariance::Diagonal => Diagonal::add_identity(d, precision, leading, &mut self.curvature),
            }
        }
        Ok(value)
    }

    /// The curvature with the smallest ridge (of a tenfold ladder) that makes it positive definite, as `S`.
    fn regularised<S: ScaleMatrix>(&self, d: usize, damping: f64) -> Option<S> {
        let size = self.curvature.iter().fold(1e-8f64, |m, v| m.max(v.abs()));
        if !size.is_finite() {
            return None;
        }
        let mut ridge = damping;
        for _ in 0..12 {
            let mut entries = self.curvature.clone();
            S::add_identity(d, ridge * size, d, &mut entries);
            if let Ok(matrix) = S::from_precision(d, entries) {
                return Some(matrix);
            }
            ridge = (10.0 * ridge).max(1e-8);
        }
        None
    }
}

/// Damped Newton from the origin. A target without second derivatives, without a finite density at the origin or without a
/// mode within reach gives the standard normal.
pub(super) fn locate(target: &dyn Target, covariance: Covariance) -> Result<(Region, Counts), Error> {
    match covariance {
        Covariance::Full => locate_with::<Full>(target),
        Covariance::Diagonal => locate_with::<Diagonal>(target),
    }
}

fn locate_with<S: ScaleMatrix>(target: &dyn Target) -> Result<(Region, Counts), Error> {
    const ITERATIONS: usize = 60;
    /// Predicted gain, in nats, below which the mode is good enough to start from.
    const GOOD_ENOUGH: f64 = 1e-3;
    let d = target.dim();
    let mut probe = Probe {
        target,
        covariance: S::COVARIANCE,
        evaluations: Evaluations::new(d, 1),
        curvature: vec![0.0; S::COVARIANCE.n_entries(d)],
        counts: Counts::default(),
    };
    let give_up = |counts| Ok((Region::standard(d, S::COVARIANCE), counts));
    if target.second_order().is_none() {
        return give_up(probe.counts);
    }
    let (mut z, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    let mut damping = 0.0;
    for _ in 0..ITERATIONS {
        let value = probe.derivatives(&z, &mut gradient)?;
        if !value.is_finite() || !gradient.iter().all(|v| v.is_finite()) {
            return give_up(probe.counts);
        }
        let Some(matrix) = probe.regularised::<S>(d, damping) else { return give_up(probe.counts) };
        let mut step = gradient.clone();
        matrix.solve(&mut step);
        let gain = 0.5 * dot(&gradient, &step);
        if gain < GOOD_ENOUGH && damping < 1e-3 {
            return Ok((Region { centre: z, precision: matrix.precision().to_vec() }, probe.counts));
        }
        let mut length = 1.0;
        let mut next = vec![0.0; d];
        let improved = loop {
            next.copy_from_slice(&z);
            axpy(length, &step, &mut next);
            let reached = probe.value(&next)?;
            if reached > value + 1e-4 * length * gain {
                break true;
            }
            length *= 0.25;
            if length < 1e-6 {
                break false;
            }
        };
        if improved {
            z.copy_from_slice(&next);
            damping = if length == 1.0 { 0.1 * damping } else { damping };
        } else if damping < 1e3 {
            damping = (10.0 * damping).max(1e-3);
        } else {
            return give_up(probe.counts);
        }
    }
    give_up(probe.counts)
}
