//! Targets written as a function of one point.

mod closures;
pub(crate) mod density;
#[cfg(feature = "dual")]
pub(super) mod dual;
pub(crate) mod memory;
mod over_rows;
mod spread;

pub use over_rows::{SumOverRows, sum_over_rows};

pub use closures::{FromFn, FromFns, FromValues, from_fn, from_fns, from_values};

use super::{About, Answer, Ask, Derivatives, Offers, Parts, Room, Support, Target, TargetError, Transforms, Want};

/// A log density with its gradient at one point of ℝᵈ.
pub trait PointwiseTarget: Sync {
    /// Number of coordinates of z.
    fn dim(&self) -> usize;

    /// Returns log p(z) and writes ∇log p(z).
    ///
    /// # Errors
    /// A recoverable [`TargetError`] drops the draw, a fatal one ends the fit.
    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError>;

    /// log p(z) without its gradient, if that is cheaper; without it, diagnostics ask for gradients and count them.
    fn value(&self) -> Option<&dyn PointwiseValue> {
        None
    }

    /// Where z lives.
    fn support(&self) -> Support {
        Support::Real
    }

    /// Names of the coordinates of z.
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|i| format!("z{i}")).collect()
    }

    /// The map from z to the scale on which results are reported.
    fn transforms(&self) -> Transforms {
        Transforms::identity(self.dim())
    }

    /// Names of the coordinates on that scale.
    fn constrained_names(&self) -> Vec<String> {
        self.names()
    }
}

/// A pointwise target whose log density costs less than its gradient.
///
/// ```
/// use elinvar::research::target::{Pointwise, PointwiseTarget, PointwiseValue, Target, TargetError};
///
/// struct Quartic;
/// impl PointwiseTarget for Quartic {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
///         grad[0] = -4.0 * z[0].powi(3);
///         self.log_density(z)
///     }
///     fn value(&self) -> Option<&dyn PointwiseValue> {
///         Some(self)
///     }
/// }
/// impl PointwiseValue for Quartic {
///     fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
///         Ok(-z[0].powi(4))
///     }
/// }
/// assert!(Pointwise(Quartic).about().offers.values);
/// ```
pub trait PointwiseValue: PointwiseTarget {
    /// log p(z).
    ///
    /// # Errors
    /// A recoverable [`TargetError`] drops the draw, a fatal one ends the fit.
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError>;
}

/// A pointwise target with second derivatives.
pub trait PointwiseHessian: PointwiseTarget {
    /// Writes ∇²log p(z), a d × d matrix with both triangles.
    ///
    /// # Errors
    /// A recoverable [`TargetError`] makes the Hessian at this point NaN, a fatal one ends the fit.
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError>;
}

/// A pointwise target as a [`Target`] with first derivatives only.
#[derive(Clone, Copy, Debug)]
pub struct Pointwise<M>(pub M);

/// A pointwise target as a [`Target`] with second derivatives.
#[derive(Clone, Copy, Debug)]
pub struct PointwiseSecondOrder<M>(pub M);

/// What a pointwise target says about itself, without second derivatives.
pub(crate) fn about<M: PointwiseTarget + ?Sized>(model: &M) -> About {
    About {
        dim: model.dim(),
        names: model.names(),
        parameters: model.constrained_names(),
        transforms: model.transforms(),
        support: model.support(),
        offers: Offers { values: model.value().is_some(), ..Offers::GRADIENT },
        ..About::new(0)
    }
}

/// The same with second derivatives.
pub(crate) fn about_second_order<M: PointwiseHessian + ?Sized>(model: &M) -> About {
    let about = about(model);
    let room = Room { of_sums: about.dim * about.dim, ..Room::default() };
    About { offers: Offers { hessian: true, ..about.offers }, room, ..about }
}

/// The same of a model of the library, whose derivatives are tested.
pub(crate) fn about_of_model<M: PointwiseHessian + ?Sized>(model: &M) -> About {
    About { derivatives: Derivatives::Known, ..about_second_order(model) }
}

/// Log densities, with or without gradients, at every draw.
pub(crate) fn evaluate<M: PointwiseTarget + ?Sized>(
    model: &M,
    ask: &Ask<'_>,
    answer: &mut Answer,
) -> Result<(), TargetError> {
    let Parts { log_p, grad, .. } = answer.parts_mut();
    let value = model.value().filter(|_| matches!(ask.want, Want::Values));
    let points = ask.draws.iter().zip(log_p).zip(grad.chunks_exact_mut(ask.draws.dim()));
    spread::each(points, &|z, log_p, grad| {
        let result = match value {
            Some(model) => model.log_density(z),
            None => model.gradient(z, grad),
        };
        match result {
            Ok(value) => *log_p = value,
            Err(error) if error.recoverable => {
                *log_p = f64::NAN;
                if value.is_none() {
                    grad.fill(f64::NAN);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    })
}

/// The same, and contracted Hessians, each computed once.
pub(crate) fn evaluate_second_order<M: PointwiseHessian + ?Sized>(
    model: &M,
    ask: &Ask<'_>,
    answer: &mut Answer,
) -> Result<(), TargetError> {
    if !matches!(ask.want, Want::HessianAlone(_)) {
        evaluate(model, ask, answer)?;
    }
    let Some(contraction) = ask.contraction() else { return Ok(()) };
    let Parts { mut curvature, scratch, .. } = answer.parts_mut();
    let hessian = scratch.take(ask.draws.dim() * ask.draws.dim());
    for (s, z) in ask.draws.iter().enumerate() {
        if contraction.of_draw(s).all(|(_, weight)| weight == 0.0) {
            continue;
        }
        match model.hessian(z, hessian) {
            Ok(()) => {}
            Err(error) if error.recoverable => hessian.fill(f64::NAN),
            Err(error) => return Err(error),
        }
        for (k, weight) in contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
            curvature.add_matrix(k, weight, hessian);
        }
    }
    Ok(())
}

impl<M: PointwiseTarget> Target for Pointwise<M> {
    fn about(&self) -> About {
        about(&self.0)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        evaluate(&self.0, ask, answer)
    }
}

impl<M: PointwiseHessian> Target for PointwiseSecondOrder<M> {
    fn about(&self) -> About {
        about_second_order(&self.0)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        evaluate_second_order(&self.0, ask, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Contraction, Covariance, Draws};

    /// log p = −z²; fails as told at negative points.
    struct Half {
        recoverable: bool,
    }

    impl PointwiseTarget for Half {
        fn dim(&self) -> usize {
            1
        }

        fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
            if z[0] < 0.0 {
                return Err(TargetError { message: "negative".into(), recoverable: self.recoverable });
            }
            grad[0] = -2.0 * z[0];
            Ok(-z[0] * z[0])
        }
    }

    impl PointwiseHessian for Half {
        fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
            if z[0] < 0.0 {
                return Err(TargetError { message: "negative".into(), recoverable: self.recoverable });
            }
            hessian[0] = -2.0;
            Ok(())
        }
    }

    #[test]
    fn a_recoverable_failure_stays_at_its_draw_and_a_fatal_one_ends_the_evaluation() {
        let z = [1.0, -1.0, 2.0];
        let draws = Draws::new(1, &z);
        let weights = [0.5, 0.0, 0.5, 0.5, 1.0, 0.0];
        let ask = Ask::all(draws, Want::Hessian(Contraction::shared(&weights, 3)));
        let mut out = Answer::new(1, 3).with_curvature(Covariance::Full, 2);
        let target = PointwiseSecondOrder(Half { recoverable: true });
        target.evaluate(&ask, &mut out).unwrap();
        assert_eq!((out.log_p()[0], out.log_p()[2]), (-1.0, -4.0));
        assert!(out.log_p()[1].is_nan() && out.grad(1)[0].is_nan());
        assert!(out.curvature()[0] == -2.0 && out.curvature()[1].is_nan());

        let target = PointwiseSecondOrder(Half { recoverable: false });
        assert!(!target.evaluate(&ask, &mut out).unwrap_err().recoverable);
    }
}
