//! A target on positive numbers, probabilities or angles as a density on ℝᵈ: where its start is looked for.

use crate::target::{
    Contraction, CurvatureMut, DrawBuffer, Draws, Evaluations, Rows, Scratch, SecondOrder, Shape, Support, Target,
    TargetError, Transform,
};

/// The density of y with z = eʸ on positive numbers, z = 1/(1 + e⁻ʸ) on (0, 1), and z = y on angles and all of ℝ.
///
/// The declared prior is evaluated, because it is no Gaussian of y; so the target has no rows of its own.
pub(super) struct FreeScale<'t> {
    target: &'t dyn Target,
    transform: Transform,
}

impl<'t> FreeScale<'t> {
    pub(super) fn new(target: &'t dyn Target) -> Self {
        let transform = match target.support() {
            Support::Positive => Transform::Log,
            Support::Unit => Transform::Logit,
            _ => Transform::Identity,
        };
        Self { target, transform }
    }

    /// z(y).
    pub(super) fn constrain(&self, y: f64) -> f64 {
        let mut z = [0.0];
        self.transform.constrain(&[y], &mut z);
        self.target.support().inside(z[0])
    }

    /// Σ log dz_i/dy_i.
    pub(super) fn log_jacobian(&self, y: &[f64]) -> f64 {
        y.iter().map(|y| self.transform.log_jacobian(&[*y])).sum()
    }

    fn slope(&self, y: f64, z: f64) -> f64 {
        let mut slope = [0.0];
        self.transform.jacobian(&[y], &[z], &mut slope);
        slope[0]
    }

    fn points(&self, draws: Draws<'_>) -> DrawBuffer {
        let mut points = DrawBuffer::zeros(draws.dim(), draws.len());
        let pairs = points.as_mut_slice().iter_mut().zip(draws.as_slice());
        pairs.for_each(|(z, y)| *z = self.constrain(*y));
        points
    }

    /// Adds the declared prior to what was evaluated, and its gradient.
    fn add_prior(&self, points: &DrawBuffer, out: &mut Evaluations) {
        let prior = self.target.prior();
        if prior.is_none() {
            return;
        }
        for s in 0..points.len() {
            out.log_p_mut()[s] += prior.log_density(points.get(s));
            prior.add_score(points.get(s), out.grad_mut(s));
        }
    }
}

impl Target for FreeScale<'_> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        let points = self.points(draws);
        self.target.evaluate(points.view(), rows, out)?;
        self.add_prior(&points, out);
        for (s, y) in draws.iter().enumerate() {
            out.log_p_mut()[s] += self.log_jacobian(y);
            for ((g, y), z) in out.grad_mut(s).iter_mut().zip(y).zip(points.get(s)) {
                *g *= self.slope(*y, *z);
                self.transform.add_log_jacobian_gradient(&[*y], std::slice::from_mut(g));
            }
        }
        Ok(())
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        self.target.second_order().map(|_| self as &dyn SecondOrder)
    }
}

impl SecondOrder for FreeScale<'_> {
    /// With J = diag(dz/dy): JHJ + diag(g z″ + (log J)″).
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        _scratch: &mut Scratch,
        mut out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        let second = self.target.second_order().ok_or(TargetError::fatal("the target has no second derivatives"))?;
        let d = draws.dim();
        let points = self.points(draws);
        let mut hessian = vec![0.0; d * d];
        let mut evaluations = Evaluations::new(d, 1);
        for (s, y) in draws.iter().enumerate() {
            if contraction.of_draw(s).all(|(_, weight)| weight == 0.0) {
                continue;
            }
            let z = points.get(s);
            let mut point = DrawBuffer::zeros(d, 1);
            point.as_mut_slice().copy_from_slice(z);
            hessian.fill(0.0);
            let whole = CurvatureMut::new(crate::target::Covariance::Full, d, &mut hessian);
            let one = Contraction::shared(&[1.0], 1);
            second.evaluate_and_contract(point.view(), rows, one, &mut evaluations, whole)?;
            self.add_prior(&point, &mut evaluations);
            self.target.prior().add_precision(-1.0, Shape::Full(d), &mut hessian);
            let slope: Vec<f64> = y.iter().zip(z).map(|(y, z)| self.slope(*y, *z)).collect();
            for (at, entry) in hessian.iter_mut().enumerate() {
                *entry *= slope[at % d] * slope[at / d];
            }
            for (i, (y, z)) in y.iter().zip(z).enumerate() {
                let g = evaluations.grad(0)[i];
                hessian[i * d + i] += self.transform.second_derivative(&[*y], &[*z], &[g], 0, 0);
                hessian[i * d + i] += self.transform.log_jacobian_curvature(&[*y], 0);
            }
            for (k, weight) in contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
                out.add_matrix(k, weight, &hessian);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Covariance, Prior, from_fns};

    /// A target on some support, with a declared prior on the first coordinate.
    struct Declared<T>(T, Support);

    impl<T: Target> Target for Declared<T> {
        fn dim(&self) -> usize {
            2
        }

        fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
            self.0.evaluate(draws, rows, out)
        }

        fn prior(&self) -> Prior {
            Prior::Gaussian { precision: 0.7, leading: 1 }
        }

        fn support(&self) -> Support {
            self.1
        }

        fn second_order(&self) -> Option<&dyn SecondOrder> {
            self.0.second_order()
        }
    }

    fn at(target: &dyn Target, y: &[f64]) -> Evaluations {
        let mut out = Evaluations::new(2, 1);
        target.evaluate(Draws::new(2, y), Rows::All, &mut out).unwrap();
        out
    }

    #[test]
    fn derivatives_on_the_free_scale_are_those_of_the_density_there() {
        let plain = || {
            from_fns(
                2,
                |z, grad| {
                    (grad[0], grad[1]) = (1.5 / z[0] - z[1], 0.5 / z[1] - z[0]);
                    1.5 * z[0].ln() + 0.5 * z[1].ln() - z[0] * z[1]
                },
                |z, h| h.copy_from_slice(&[-1.5 / (z[0] * z[0]), -1.0, -1.0, -0.5 / (z[1] * z[1])]),
            )
        };
        for support in [Support::Positive, Support::Unit] {
            let target = Declared(plain(), support);
            let free = FreeScale::new(&target);
            let (y, h) = ([0.4, -0.3], 1e-4);
            // The value itself, by hand.
            let z = y.map(|y: f64| if support == Support::Unit { 1.0 / (1.0 + (-y).exp()) } else { y.exp() });
            let jacobian: f64 = z.iter().map(|z| if support == Support::Unit { z * (1.0 - z) } else { *z }).product();
            let log_p = 1.5 * z[0].ln() + 0.5 * z[1].ln() - z[0] * z[1];
            let expected = log_p + target.prior().log_density(&z) + jacobian.ln();
            assert!((at(&free, &y).log_p()[0] - expected).abs() < 1e-13, "{support}");

            let mut hessian = [0.0; 4];
            let out = CurvatureMut::new(Covariance::Full, 2, &mut hessian);
            free.contract(Draws::new(2, &y), Rows::All, Contraction::shared(&[1.0], 1), &mut Scratch::default(), out)
                .unwrap();
            for i in 0..2 {
                let moved = |sign: f64| {
                    let mut moved = y;
                    moved[i] += sign * h;
                    at(&free, &moved)
                };
                let (above, below) = (moved(1.0), moved(-1.0));
                let slope = (above.log_p()[0] - below.log_p()[0]) / (2.0 * h);
                assert!((at(&free, &y).grad(0)[i] - slope).abs() < 1e-7, "{support}, gradient {i}");
                for j in 0..2 {
                    let second = (above.grad(0)[j] - below.grad(0)[j]) / (2.0 * h);
                    assert!((hessian[i * 2 + j] - second).abs() < 1e-7, "{support}, Hessian {i} {j}");
                }
            }
        }
    }
}
