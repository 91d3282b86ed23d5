//! From a point uphill to the mode it belongs to.

use crate::Error;
use crate::block::Scale;
use crate::family::Approximation;
use crate::linalg::{axpy, dot};
use crate::run::Counts;
use crate::target::{Contraction, CurvatureMut, Draws, Evaluations, Rows, Target};

/// A mode with the curvature there.
pub(super) struct Mode {
    pub(super) at: Vec<f64>,
    pub(super) log_p: f64,
    pub(super) scale: Scale,
}

/// Climbs log p by damped Newton steps, or along the gradient preconditioned by the nearest component where the target has no
/// Hessian. `None` if that leads nowhere, or to a place that `is_known`.
pub(super) fn climb(
    target: &dyn Target,
    q: &Approximation,
    from: &[f64],
    is_known: impl Fn(&[f64], f64) -> bool,
    counts: &mut Counts,
) -> Result<Option<Mode>, Error> {
    const ITERATIONS: usize = 40;
    /// Predicted gain, in nats, at which the mode is reached.
    const GOOD_ENOUGH: f64 = 1e-2;
    let mut slope = Slope { target, evaluations: Evaluations::new(from.len(), 1), counts };
    let d = from.len();
    let (mut z, mut gradient, mut next) = (from.to_vec(), vec![0.0; d], vec![0.0; d]);
    let mut damping = 0.0;
    for _ in 0..ITERATIONS {
        let value = slope.gradient(&z, &mut gradient)?;
        if !value.is_finite() || !gradient.iter().all(|g| g.is_finite()) || is_known(&z, value) {
            return Ok(None);
        }
        let Some(scale) = slope.curvature(&z, q, damping)? else { return Ok(None) };
        let mut step = gradient.clone();
        scale.solve(&mut step);
        let gain = 0.5 * dot(&gradient, &step);
        if gain < GOOD_ENOUGH {
            return Ok((damping < 1e-3).then_some(Mode { at: z, log_p: value, scale }));
        }
        let mut length = 1.0;
        let improved = loop {
            next.copy_from_slice(&z);
            axpy(length, &step, &mut next);
            if slope.value(&next)? > value + 1e-4 * length * gain {
                break true;
            }
            length *= 0.25;
            if length < 1e-4 {
                break false;
            }
        };
        if improved {
            z.copy_from_slice(&next);
            damping *= if length == 1.0 { 0.1 } else { 1.0 };
        } else if damping < 1e3 {
            damping = (10.0 * damping).max(1e-3);
        } else {
            return Ok(None);
        }
    }
    Ok(None)
}

/// The target at one point, the declared prior included, every question counted.
struct Slope<'a> {
    target: &'a dyn Target,
    evaluations: Evaluations,
    counts: &'a mut Counts,
}

impl Slope<'_> {
    fn value(&mut self, z: &[f64]) -> Result<f64, Error> {
        self.target.evaluate(Draws::new(z.len(), z), Rows::All, &mut self.evaluations)?;
        self.counts.log_density += 1;
        self.counts.gradient += 1;
        Ok(self.evaluations.log_p()[0] + self.target.prior().log_density(z))
    }

    fn gradient(&mut self, z: &[f64], out: &mut [f64]) -> Result<f64, Error> {
        let value = self.value(z)?;
        out.copy_from_slice(self.evaluations.grad(0));
        self.target.prior().add_score(z, out);
        Ok(value)
    }

    /// −∇²log p with the smallest ridge, from `damping` on, that makes it positive definite.
    fn curvature(&mut self, z: &[f64], q: &Approximation, damping: f64) -> Result<Option<Scale>, Error> {
        let (d, shape) = (z.len(), q.locations()[0].scale().shape());
        let Some(second) = self.target.second_order() else {
            return Ok(Some(nearest(q, z).clone()));
        };
        let mut entries = vec![0.0; shape.n_entries()];
        let out = CurvatureMut::new(shape.covariance(), d, &mut entries);
        let contraction = Contraction::shared(&[-1.0], 1);
        second.contract(Draws::new(d, z), Rows::All, contraction, self.evaluations.scratch_mut(), out)?;
        self.counts.hessian += 1;
        self.target.prior().add_precision(1.0, shape, &mut entries);
        let size = entries.iter().fold(1e-8f64, |m, v| m.max(v.abs()));
        if !size.is_finite() {
            return Ok(None);
        }
        let mut ridge = damping;
        for _ in 0..12 {
            let mut damped = entries.clone();
            shape.add_identity(ridge * size, &mut damped);
            if let Ok(scale) = Scale::from_precision(shape, damped) {
                return Ok(Some(scale));
            }
            ridge = (10.0 * ridge).max(1e-8);
        }
        Ok(None)
    }
}

/// The precision of the component to which z belongs most.
fn nearest<'q>(q: &'q Approximation, z: &[f64]) -> &'q Scale {
    let logs = q.log_joint(z);
    let c = (0..q.n_components()).max_by(|a, b| logs[*a].total_cmp(&logs[*b])).unwrap_or(0);
    q.locations()[c].scale()
}
