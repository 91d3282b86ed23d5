//! Exact first and second derivatives of generic code by dual numbers.

use num_dual::{Dual64, HyperDual64};

use super::{PointwiseHessian, PointwiseTarget, PointwiseValue};
use crate::target::TargetError;

pub use num_dual::DualNum;

/// A log density written once for every kind of number.
///
/// ```
/// use elinvar::research::target::{Dual, DualDensity, DualNum, PointwiseTarget};
///
/// struct Quartic;
/// impl DualDensity for Quartic {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D {
///         -z[0].powi(4)
///     }
/// }
/// let mut grad = [0.0];
/// let log_p = Dual(Quartic).gradient(&[2.0], &mut grad)?;
/// assert_eq!((log_p, grad[0]), (-16.0, -32.0));
/// # Ok::<(), elinvar::research::target::TargetError>(())
/// ```
pub trait DualDensity: Sync {
    /// Number of coordinates of z.
    fn dim(&self) -> usize;

    /// log p(z).
    fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D;

    /// Names of the coordinates of z.
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|i| format!("z{i}")).collect()
    }
}

/// A [`DualDensity`] with its derivatives: d evaluations for a gradient, d(d+1)/2 for a Hessian.
///
/// Meant for small d; from about ten coordinates on, derivatives written by hand are an order of magnitude faster. Up
/// to 32 coordinates nothing is allocated.
#[derive(Clone, Copy, Debug)]
pub struct Dual<M>(pub M);

const ON_STACK: usize = 32;

/// Calls `f` with the point `z` lifted to numbers of type `T`.
fn lifted<T: Copy, R>(z: &[f64], lift: impl Fn(f64) -> T, f: impl FnOnce(&mut [T]) -> R) -> R {
    if z.len() <= ON_STACK {
        let mut point = [lift(0.0); ON_STACK];
        point.iter_mut().zip(z).for_each(|(p, z)| *p = lift(*z));
        f(&mut point[..z.len()])
    } else {
        f(&mut z.iter().map(|z| lift(*z)).collect::<Vec<T>>())
    }
}

impl<M: DualDensity> PointwiseTarget for Dual<M> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        lifted(z, Dual64::from_re, |point| {
            let mut log_p = f64::NAN;
            for (i, grad) in grad.iter_mut().enumerate() {
                point[i].eps = 1.0;
                let result = self.0.log_density(point);
                point[i].eps = 0.0;
                (log_p, *grad) = (result.re, result.eps);
            }
            Ok(log_p)
        })
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }
}

impl<M: DualDensity> PointwiseValue for Dual<M> {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        Ok(self.0.log_density(z))
    }
}

impl<M: DualDensity> PointwiseHessian for Dual<M> {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = self.0.dim();
        lifted(z, HyperDual64::from_re, |point| {
            for j in 0..d {
                point[j].eps2 = 1.0;
                for i in j..d {
                    point[i].eps1 = 1.0;
                    let second = self.0.log_density(point).eps1eps2;
                    point[i].eps1 = 0.0;
                    hessian[j * d + i] = second;
                    hessian[i * d + j] = second;
                }
                point[j].eps2 = 0.0;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Banana, Funnel};

    struct DualBanana;

    impl DualDensity for DualBanana {
        fn dim(&self) -> usize {
            2
        }

        fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D {
            let residual = z[1] - (z[0] * z[0] - 4.0) * 0.5;
            (z[0] * z[0] * 0.25 + residual * residual) * -0.5 - std::f64::consts::TAU.ln() - 2f64.ln()
        }
    }

    struct DualFunnel(usize);

    impl DualDensity for DualFunnel {
        fn dim(&self) -> usize {
            self.0
        }

        fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D {
            let square: D = z[1..].iter().map(|v| *v * *v).sum();
            let n = (self.0 - 1) as f64;
            let constant = 0.5 * (self.0 as f64 * std::f64::consts::TAU.ln() + 9f64.ln());
            (z[0] * z[0] / 9.0 + z[0] * n + (-z[0]).exp() * square) * -0.5 - constant
        }
    }

    fn assert_same(a: &impl PointwiseHessian, b: &impl PointwiseHessian, z: &[f64]) {
        let d = z.len();
        let (mut ga, mut gb, mut ha, mut hb) = (vec![0.0; d], vec![0.0; d], vec![0.0; d * d], vec![0.0; d * d]);
        let (pa, pb) = (a.gradient(z, &mut ga).unwrap(), b.gradient(z, &mut gb).unwrap());
        a.hessian(z, &mut ha).unwrap();
        b.hessian(z, &mut hb).unwrap();
        for (a, b) in [pa].iter().chain(&ga).chain(&ha).zip([pb].iter().chain(&gb).chain(&hb)) {
            assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} and {b}");
        }
    }

    #[test]
    fn dual_numbers_agree_with_derivatives_by_hand() {
        assert_same(&Dual(DualBanana), &Banana::default(), &[0.7, -1.9]);
        for d in [2, 5, ON_STACK + 1] {
            let z: Vec<f64> = (0..d).map(|i| (1.3 * i as f64 + 0.4).sin()).collect();
            assert_same(&Dual(DualFunnel(d)), &Funnel::new(d).unwrap(), &z);
        }
    }
}
