//! A target on positive numbers, probabilities or angles as a density on ℝᵈ: where its start is looked for.

use crate::target::{
    About, Answer, Ask, Contraction, Covariance, DrawBuffer, Draws, Offers, Parts, Shape, Support, Target, TargetError,
    Transform, Want,
};

/// The density of y with z = eʸ on positive numbers, z = 1/(1 + e⁻ʸ) on (0, 1), and z = y on angles and all of ℝ.
///
/// The declared prior is evaluated, because it is no Gaussian of y; so the target has no rows of its own.
pub(crate) struct FreeScale<'t> {
    target: &'t dyn Target,
    about: About,
    transform: Transform,
}

impl<'t> FreeScale<'t> {
    pub(crate) fn new(target: &'t dyn Target) -> Self {
        let about = target.about();
        let transform = match about.support {
            Support::Positive => Transform::Log,
            Support::Unit => Transform::Logit,
            _ => Transform::Identity,
        };
        Self { target, about, transform }
    }

    /// z(y).
    pub(crate) fn constrain(&self, y: f64) -> f64 {
        let mut z = [0.0];
        self.transform.constrain(&[y], &mut z);
        self.about.support.inside(z[0])
    }

    /// Σ log dz_i/dy_i.
    pub(crate) fn log_jacobian(&self, y: &[f64]) -> f64 {
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

    /// Writes log p and its gradient in y at the points z(y), the prior included.
    fn write(&self, draws: Draws<'_>, points: &DrawBuffer, log_p: &mut [f64], grad: &mut [f64]) {
        for (s, (y, grad)) in draws.iter().zip(grad.chunks_exact_mut(draws.dim())).enumerate() {
            let z = points.get(s);
            log_p[s] += self.about.prior.log_density(z);
            self.about.prior.add_score(z, grad);
            log_p[s] += self.log_jacobian(y);
            for ((g, y), z) in grad.iter_mut().zip(y).zip(z) {
                *g *= self.slope(*y, *z);
                self.transform.add_log_jacobian_gradient(&[*y], std::slice::from_mut(g));
            }
        }
    }

    /// With J = diag(dz/dy): JHJ + diag(g z″ + (log J)″), for the Hessian H and the gradient g at z.
    fn pull_back(&self, y: &[f64], z: &[f64], g: &[f64], hessian: &mut [f64]) {
        let d = y.len();
        let slope: Vec<f64> = y.iter().zip(z).map(|(y, z)| self.slope(*y, *z)).collect();
        for (at, entry) in hessian.iter_mut().enumerate() {
            *entry *= slope[at % d] * slope[at / d];
        }
        for (i, (y, z)) in y.iter().zip(z).enumerate() {
            hessian[i * d + i] += self.transform.second_derivative(&[*y], &[*z], &[g[i]], 0, 0);
            hessian[i * d + i] += self.transform.log_jacobian_curvature(&[*y], 0, 0);
        }
    }
}

impl Target for FreeScale<'_> {
    fn about(&self) -> About {
        let offers = Offers { hessian: self.about.offers.hessian, ..Offers::GRADIENT };
        About { offers, ..About::new(self.about.dim) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let Ask { draws, rows, .. } = *ask;
        let (d, points) = (draws.dim(), self.points(draws));
        let alone = matches!(ask.want, Want::HessianAlone(_));
        if !alone {
            self.target.evaluate(&Ask { draws: points.view(), rows, want: Want::Gradients }, answer)?;
        }
        let Parts { log_p, grad, mut curvature, .. } = answer.parts_mut();
        if let Some(contraction) = ask.contraction() {
            let mut whole = Answer::new(d, 1);
            for (s, y) in draws.iter().enumerate() {
                if contraction.of_draw(s).all(|(_, weight)| weight == 0.0) {
                    continue;
                }
                let z = points.get(s);
                whole.set_curvature(Covariance::Full, 1);
                let want = Want::Hessian(Contraction::shared(&[1.0], 1));
                self.target.evaluate(&Ask { draws: Draws::new(d, z), rows, want }, &mut whole)?;
                let mut g = whole.grad(0).to_vec();
                self.about.prior.add_score(z, &mut g);
                let hessian = whole.parts_mut().curvature.into_slice();
                self.about.prior.add_precision(-1.0, Shape::Full(d), hessian);
                self.pull_back(y, z, &g, hessian);
                for (k, weight) in contraction.of_draw(s).filter(|(_, weight)| *weight != 0.0) {
                    curvature.add_matrix(k, weight, hessian);
                }
            }
        }
        if !alone {
            self.write(draws, &points, log_p, grad);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Prior, WithPrior, from_fns};

    fn at(target: &dyn Target, y: &[f64]) -> Answer {
        let mut out = Answer::new(2, 1).with_curvature(Covariance::Full, 1);
        let want = Want::Hessian(Contraction::shared(&[1.0], 1));
        target.evaluate(&Ask::all(Draws::new(2, y), want), &mut out).unwrap();
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
            let prior = Prior::Gaussian { precision: 0.7, leading: 1 };
            let target = WithPrior::new(plain().on(support), prior.clone());
            let free = FreeScale::new(&target);
            let (y, h) = ([0.4, -0.3], 1e-4);
            let whole = at(&free, &y);
            // The value itself, by hand.
            let z = y.map(|y: f64| if support == Support::Unit { 1.0 / (1.0 + (-y).exp()) } else { y.exp() });
            let jacobian: f64 = z.iter().map(|z| if support == Support::Unit { z * (1.0 - z) } else { *z }).product();
            let log_p = 1.5 * z[0].ln() + 0.5 * z[1].ln() - z[0] * z[1];
            let expected = log_p + prior.log_density(&z) + jacobian.ln();
            assert!((whole.log_p()[0] - expected).abs() < 1e-13, "{support}");

            let hessian = whole.curvature();
            for i in 0..2 {
                let moved = |sign: f64| {
                    let mut moved = y;
                    moved[i] += sign * h;
                    at(&free, &moved)
                };
                let (above, below) = (moved(1.0), moved(-1.0));
                let slope = (above.log_p()[0] - below.log_p()[0]) / (2.0 * h);
                assert!((whole.grad(0)[i] - slope).abs() < 1e-7, "{support}, gradient {i}");
                for j in 0..2 {
                    let second = (above.grad(0)[j] - below.grad(0)[j]) / (2.0 * h);
                    assert!((hessian[i * 2 + j] - second).abs() < 1e-7, "{support}, Hessian {i} {j}");
                }
            }
        }
    }
}
