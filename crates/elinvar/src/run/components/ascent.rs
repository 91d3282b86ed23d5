//! From a point uphill to the mode it belongs to.

use crate::Error;
use crate::block::Scale;
use crate::evaluate::{Evaluator, Point};
use crate::family::Approximation;
use crate::linalg::{axpy, dot};

/// A mode with the curvature there.
pub(super) struct Mode {
    pub(super) at: Vec<f64>,
    pub(super) log_p: f64,
    pub(super) scale: Scale,
}

/// Climbs log p by damped Newton steps, or along the gradient preconditioned by the nearest component where the target
/// has no Hessian. `None` if that leads nowhere, or to a place that `is_known`.
pub(super) fn climb(
    evaluator: &mut Evaluator<'_>,
    q: &Approximation,
    from: &[f64],
    is_known: impl Fn(&[f64], f64) -> bool,
) -> Result<Option<Mode>, Error> {
    const ITERATIONS: usize = 40;
    /// Predicted gain, in nats, at which the mode is reached.
    const GOOD_ENOUGH: f64 = 1e-2;
    let mut z = from.to_vec();
    let mut damping = 0.0;
    for _ in 0..ITERATIONS {
        let Some(Point { log_p: value, gradient, .. }) = evaluator.point(z.clone())? else { return Ok(None) };
        if is_known(&z, value) {
            return Ok(None);
        }
        let Some(scale) = curvature(evaluator, &z, q, damping)? else { return Ok(None) };
        let mut step = gradient.clone();
        scale.solve(&mut step);
        let gain = 0.5 * dot(&gradient, &step);
        if gain < GOOD_ENOUGH {
            return Ok((damping < 1e-3).then_some(Mode { at: z, log_p: value, scale }));
        }
        let mut length = 1.0;
        let improved = loop {
            let mut next = z.clone();
            axpy(length, &step, &mut next);
            if let Some(next) = evaluator.point(next)?.filter(|at| at.log_p > value + 1e-4 * length * gain) {
                break Some(next.z);
            }
            length *= 0.25;
            if length < 1e-4 {
                break None;
            }
        };
        if let Some(next) = improved {
            z = next;
            damping *= if length == 1.0 { 0.1 } else { 1.0 };
        } else if damping < 1e3 {
            damping = (10.0 * damping).max(1e-3);
        } else {
            return Ok(None);
        }
    }
    Ok(None)
}

/// −∇²log p with the smallest ridge, from `damping` on, that makes it positive definite.
fn curvature(
    evaluator: &mut Evaluator<'_>,
    z: &[f64],
    q: &Approximation,
    damping: f64,
) -> Result<Option<Scale>, Error> {
    if !evaluator.about().offers.hessian {
        return Ok(Some(nearest(q, z).clone()));
    }
    let shape = q.locations()[0].scale().shape();
    let Some(entries) = evaluator.curvature_at(shape.covariance(), z)? else { return Ok(None) };
    let size = entries.iter().fold(1e-8f64, |m, v| m.max(v.abs()));
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

/// The precision of the component to which z belongs most.
fn nearest<'q>(q: &'q Approximation, z: &[f64]) -> &'q Scale {
    let logs = q.log_joint(z);
    let c = (0..q.n_components()).max_by(|a, b| logs[*a].total_cmp(&logs[*b])).unwrap_or(0);
    q.locations()[c].scale()
}
