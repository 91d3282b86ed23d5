//! Targets given by functions.

use super::{Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget};
use crate::target::{About, Answer, Ask, Offers, Target, TargetError};

/// A function (z, ∇) → log p as a pointwise target.
#[derive(Clone, Copy, Debug)]
pub struct FromFn<F> {
    dim: usize,
    gradient: F,
}

/// Two functions, (z, ∇) → log p and (z, ∇²), as a pointwise target.
#[derive(Clone, Copy, Debug)]
pub struct FromFns<F, H> {
    first: FromFn<F>,
    hessian: H,
}

/// The target with log density `f`, which returns log p(z) and writes the gradient.
///
/// ```
/// use elinvar::research::target::{Target, from_fn};
///
/// let target = from_fn(2, |z, grad| {
///     grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
///     -0.5 * (z[0] * z[0] + z[1] * z[1])
/// });
/// assert_eq!(target.dim(), 2);
/// ```
pub fn from_fn<F>(dim: usize, f: F) -> Pointwise<FromFn<F>>
where
    F: Fn(&[f64], &mut [f64]) -> f64 + Sync,
{
    Pointwise(FromFn { dim, gradient: f })
}

/// The target with log density `f` as in [`from_fn`] and a function that writes the d × d Hessian (column-major).
pub fn from_fns<F, H>(dim: usize, f: F, hessian: H) -> PointwiseSecondOrder<FromFns<F, H>>
where
    F: Fn(&[f64], &mut [f64]) -> f64 + Sync,
    H: Fn(&[f64], &mut [f64]) + Sync,
{
    PointwiseSecondOrder(FromFns { first: FromFn { dim, gradient: f }, hessian })
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Sync> PointwiseTarget for FromFn<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        Ok((self.gradient)(z, grad))
    }
}

impl<F, H> PointwiseTarget for FromFns<F, H>
where
    F: Fn(&[f64], &mut [f64]) -> f64 + Sync,
    H: Fn(&[f64], &mut [f64]) + Sync,
{
    fn dim(&self) -> usize {
        self.first.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        self.first.gradient(z, grad)
    }
}

impl<F, H> PointwiseHessian for FromFns<F, H>
where
    F: Fn(&[f64], &mut [f64]) -> f64 + Sync,
    H: Fn(&[f64], &mut [f64]) + Sync,
{
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        (self.hessian)(z, hessian);
        Ok(())
    }
}

/// A function z → log p as a target without a gradient.
#[derive(Clone, Copy, Debug)]
pub struct FromValues<F> {
    dim: usize,
    log_density: F,
}

/// The target with log density `f`, of which nothing but values is known.
///
/// A fit needs many more draws than with gradients; the start climbs by differences. A value that is not finite drops
/// its draw.
///
/// ```
/// use elinvar::research::target::{Target, from_values};
///
/// let target = from_values(2, |z| -0.5 * (z[0] * z[0] + 4.0 * z[1] * z[1]));
/// assert!(!target.about().offers.gradient);
/// let posterior = elinvar::Fit::new(&target).family(elinvar::Family::gaussian()).run()?;
/// assert_eq!(posterior.counts().gradient, 0);
/// # Ok::<(), elinvar::Error>(())
/// ```
pub fn from_values<F>(dim: usize, f: F) -> FromValues<F>
where
    F: Fn(&[f64]) -> f64 + Sync,
{
    FromValues { dim, log_density: f }
}

impl<F: Fn(&[f64]) -> f64 + Sync> Target for FromValues<F> {
    fn about(&self) -> About {
        About { offers: Offers::VALUES, ..About::new(self.dim) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        answer.log_p_mut().iter_mut().zip(ask.draws.iter()).for_each(|(log_p, z)| *log_p = (self.log_density)(z));
        Ok(())
    }
}
