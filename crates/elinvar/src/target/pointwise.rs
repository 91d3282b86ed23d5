//! Targets written as a function of one point.

use super::{
    Contraction, CurvatureMut, Draws, Evaluations, Rows, Scratch, Support, Target, TargetError, Transforms, Values,
};

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
/// use elinvar::target::{Pointwise, PointwiseTarget, PointwiseValue, Target, TargetError};
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
/// assert!(Pointwise(Quartic).values().is_some());
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

/// Evaluates `model` at every draw.
pub(crate) fn evaluate<M: PointwiseTarget + ?Sized>(
    model: &M,
    draws: Draws<'_>,
    out: &mut Evaluations,
) -> Result<(), TargetError> {
    let (log_p, grad, _) = out.parts_mut();
    for ((z, log_p), grad) in draws.iter().zip(log_p).zip(grad.chunks_exact_mut(draws.dim())) {
        match model.gradient(z, grad) {
            Ok(value) => *log_p = value,
            Err(error) if error.recoverable => {
                *log_p = f64::NAN;
                grad.fill(f64::NAN);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the log density of `model`, which must have a cheap one, at every draw.
pub(crate) fn log_densities<M: PointwiseTarget + ?Sized>(
    model: &M,
    draws: Draws<'_>,
    out: &mut [f64],
) -> Result<(), TargetError> {
    let model = model.value().ok_or(TargetError::fatal("the model has no log density without its gradient"))?;
    for (z, log_p) in draws.iter().zip(out) {
        *log_p = match model.log_density(z) {
            Ok(value) => value,
            Err(error) if error.recoverable => f64::NAN,
            Err(error) => return Err(error),
        };
    }
    Ok(())
}

/// Contracts the Hessians of `model`, each computed once.
pub(crate) fn contract<M: PointwiseHessian + ?Sized>(
    model: &M,
    draws: Draws<'_>,
    contraction: Contraction<'_>,
    scratch: &mut Scratch,
    mut out: CurvatureMut<'_>,
) -> Result<(), TargetError> {
    let hessian = scratch.take(draws.dim() * draws.dim());
    for (s, z) in draws.iter().enumerate() {
        if contraction.of_draw(s).all(|(_, weight)| weight == 0.0) {
            continue;
        }
        match model.hessian(z, hessian) {
            Ok(()) => {}
            Err(error) if error.recoverable => hessian.fill(f64::NAN),
            Err(error) => return Err(error),
        }
        for (k, weight) in contraction.of_draw(s) {
            if weight != 0.0 {
                out.add_matrix(k, weight, hessian);
            }
        }
    }
    Ok(())
}

impl<M: PointwiseTarget> Target for Pointwise<M> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, _rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        evaluate(&self.0, draws, out)
    }

    fn support(&self) -> Support {
        self.0.support()
    }

    fn values(&self) -> Option<&dyn Values> {
        self.0.value().map(|_| self as &dyn Values)
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    fn transforms(&self) -> Transforms {
        self.0.transforms()
    }

    fn constrained_names(&self) -> Vec<String> {
        self.0.constrained_names()
    }
}

impl<M: PointwiseTarget> Values for Pointwise<M> {
    fn log_densities(
        &self,
        draws: Draws<'_>,
        _rows: Rows<'_>,
        _scratch: &mut Scratch,
        out: &mut [f64],
    ) -> Result<(), TargetError> {
        log_densities(&self.0, draws, out)
    }
}

/// Implements [`Target`], [`Values`] and [`SecondOrder`](super::SecondOrder) for a type through the [`PointwiseHessian`] that the
/// expression names.
macro_rules! second_order_target {
    ([$($generics:tt)*] $type:ty, $this:ident => $model:expr) => {
        impl<$($generics)*> $crate::target::Target for $type {
            fn dim(&self) -> usize {
                let $this = self;
                $crate::target::PointwiseTarget::dim($model)
            }

            fn evaluate(
                &self,
                draws: $crate::target::Draws<'_>,
                _rows: $crate::target::Rows<'_>,
                out: &mut $crate::target::Evaluations,
            ) -> Result<(), $crate::target::TargetError> {
                let $this = self;
                $crate::target::pointwise::evaluate($model, draws, out)
            }

            fn support(&self) -> $crate::target::Support {
                let $this = self;
                $crate::target::PointwiseTarget::support($model)
            }

            fn second_order(&self) -> Option<&dyn $crate::target::SecondOrder> {
                Some(self)
            }

            fn values(&self) -> Option<&dyn $crate::target::Values> {
                let $this = self;
                $crate::target::PointwiseTarget::value($model).map(|_| self as &dyn $crate::target::Values)
            }

            fn scratch_len(&self, _n_draws: usize, n_contractions: usize) -> usize {
                let $this = self;
                let d = $crate::target::PointwiseTarget::dim($model);
                if n_contractions > 0 { d * d } else { 0 }
            }

            fn names(&self) -> Vec<String> {
                let $this = self;
                $crate::target::PointwiseTarget::names($model)
            }

            fn transforms(&self) -> $crate::target::Transforms {
                let $this = self;
                $crate::target::PointwiseTarget::transforms($model)
            }

            fn constrained_names(&self) -> Vec<String> {
                let $this = self;
                $crate::target::PointwiseTarget::constrained_names($model)
            }
        }

        impl<$($generics)*> $crate::target::Values for $type {
            fn log_densities(
                &self,
                draws: $crate::target::Draws<'_>,
                _rows: $crate::target::Rows<'_>,
                _scratch: &mut $crate::target::Scratch,
                out: &mut [f64],
            ) -> Result<(), $crate::target::TargetError> {
                let $this = self;
                $crate::target::pointwise::log_densities($model, draws, out)
            }
        }

        impl<$($generics)*> $crate::target::SecondOrder for $type {
            fn contract(
                &self,
                draws: $crate::target::Draws<'_>,
                _rows: $crate::target::Rows<'_>,
                contraction: $crate::target::Contraction<'_>,
                scratch: &mut $crate::target::Scratch,
                out: $crate::target::CurvatureMut<'_>,
            ) -> Result<(), $crate::target::TargetError> {
                let $this = self;
                $crate::target::pointwise::contract($model, draws, contraction, scratch, out)
            }
        }
    };
}
pub(crate) use second_order_target;

second_order_target!([M: PointwiseHessian] PointwiseSecondOrder<M>, this => &this.0);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Covariance, SecondOrder};

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
        let mut out = Evaluations::new(1, 3);
        let target = PointwiseSecondOrder(Half { recoverable: true });
        target.evaluate(draws, Rows::All, &mut out).unwrap();
        assert_eq!((out.log_p()[0], out.log_p()[2]), (-1.0, -4.0));
        assert!(out.log_p()[1].is_nan() && out.grad(1)[0].is_nan());

        let mut entries = [0.0, 0.0];
        let weights = [0.5, 0.0, 0.5, 0.5, 1.0, 0.0];
        let curvature = CurvatureMut::new(Covariance::Full, 1, &mut entries);
        target
            .contract(draws, Rows::All, Contraction::shared(&weights, 3), &mut Scratch::default(), curvature)
            .unwrap();
        assert!(entries[0] == -2.0 && entries[1].is_nan());

        let target = PointwiseSecondOrder(Half { recoverable: false });
        assert!(!target.evaluate(draws, Rows::All, &mut out).unwrap_err().recoverable);
    }
}
