//! A target on a simplex as a density on ℝᶜ⁻¹: where its start is looked for.

use crate::linalg::dot;
use crate::target::{About, Answer, Ask, DrawBuffer, Offers, Parts, Support, Target, TargetError, Transform, Want};

/// The density of y, from which shares that sum to one are broken off as from a stick.
pub(crate) struct FreeSimplex<'t> {
    target: &'t dyn Target,
    /// C.
    len: usize,
    transform: Transform,
}

impl<'t> FreeSimplex<'t> {
    pub(crate) fn new(target: &'t dyn Target) -> Self {
        let len = target.about().dim;
        Self { target, len, transform: Transform::Simplex { len } }
    }

    /// z(y).
    pub(crate) fn constrain(&self, y: &[f64], z: &mut [f64]) {
        self.transform.constrain(y, z);
        z.iter_mut().for_each(|z| *z = Support::Simplex.inside(*z));
    }

    /// log |∂z/∂y|.
    pub(crate) fn log_jacobian(&self, y: &[f64]) -> f64 {
        self.transform.log_jacobian(y)
    }
}

impl Target for FreeSimplex<'_> {
    fn about(&self) -> About {
        About { offers: Offers::GRADIENT, ..About::new(self.len - 1) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let Ask { draws, rows, .. } = *ask;
        let mut points = DrawBuffer::zeros(self.len, draws.len());
        draws.iter().enumerate().for_each(|(s, y)| self.constrain(y, points.get_mut(s)));
        let mut inside = Answer::new(self.len, draws.len());
        self.target.evaluate(&Ask { draws: points.view(), rows, want: Want::Gradients }, &mut inside)?;
        let mut jacobian = vec![0.0; self.len * (self.len - 1)];
        let Parts { log_p, grad, .. } = answer.parts_mut();
        for (s, (y, grad)) in draws.iter().zip(grad.chunks_exact_mut(draws.dim())).enumerate() {
            log_p[s] = inside.log_p()[s] + self.log_jacobian(y);
            self.transform.jacobian(y, points.get(s), &mut jacobian);
            for (to, column) in grad.iter_mut().zip(jacobian.chunks_exact(self.len)) {
                *to = dot(column, inside.grad(s));
            }
            self.transform.add_log_jacobian_gradient(y, grad);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Draws, from_fn};

    #[test]
    fn the_gradient_on_the_free_scale_is_that_of_the_density_there() {
        let target = from_fn(3, |z, grad| {
            (0..3).for_each(|i| grad[i] = (i as f64 + 0.5) / z[i]);
            grad[0] += 2.0 * z[1];
            grad[1] += 2.0 * z[0];
            (0..3).map(|i| (i as f64 + 0.5) * z[i].ln()).sum::<f64>() + 2.0 * z[0] * z[1]
        });
        let target = target.on(Support::Simplex);
        let free = FreeSimplex::new(&target);
        let at = |y: &[f64]| {
            let mut out = Answer::new(2, 1);
            free.evaluate(&Ask::all(Draws::new(2, y), Want::Gradients), &mut out).unwrap();
            (out.log_p()[0], out.grad(0).to_vec())
        };
        let (y, h) = ([0.4, -0.7], 1e-5);
        let (value, slope) = at(&y);
        let mut z = [0.0; 3];
        free.constrain(&y, &mut z);
        let by_hand = (0..3).map(|i| (i as f64 + 0.5) * z[i].ln()).sum::<f64>() + 2.0 * z[0] * z[1];
        assert!((value - by_hand - free.log_jacobian(&y)).abs() < 1e-13);
        for i in 0..2 {
            let (mut above, mut below) = (y, y);
            above[i] += h;
            below[i] -= h;
            let difference = (at(&above).0 - at(&below).0) / (2.0 * h);
            assert!((slope[i] - difference).abs() < 1e-8, "{i}: {} {difference}", slope[i]);
        }
    }
}
