//! A target in other coordinates: rescaled and rotated.

use elinvar::target::{About, Answer, Ask, Covariance, DrawBuffer, Draws, Offers, Parts, Target, TargetError};

use crate::problems::linear_map::{LinearMap, congruence};

/// The density of x when z = A x has the density of the target; the declared prior is part of what is evaluated.
pub(crate) struct Moved<'a> {
    inner: &'a dyn Target,
    about: About,
    map: &'a LinearMap,
}

impl<'a> Moved<'a> {
    pub(crate) fn new(inner: &'a dyn Target, map: &'a LinearMap) -> Self {
        Self { inner, about: inner.about(), map }
    }

    fn original(&self, draws: Draws<'_>) -> DrawBuffer {
        let mut z = DrawBuffer::zeros(draws.dim(), draws.len());
        for (s, x) in draws.iter().enumerate() {
            self.map.apply(x, z.get_mut(s));
        }
        z
    }
}

impl Target for Moved<'_> {
    fn about(&self) -> About {
        let offers = self.about.offers;
        About {
            offers: Offers { gauss_newton: false, item_gradients: false, gaussian_expectation: false, ..offers },
            ..About::new(self.about.dim)
        }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let (d, n, prior) = (ask.draws.dim(), ask.draws.len(), &self.about.prior);
        let z = self.original(ask.draws);
        let mut inner = Answer::new(d, n);
        inner.set_curvature(Covariance::Full, ask.contraction().map_or(0, |sums| sums.len()));
        self.inner.evaluate(&Ask { draws: z.view(), ..*ask }, &mut inner)?;
        let Parts { log_p, grad, mut curvature, .. } = answer.parts_mut();
        let mut slope = vec![0.0; d];
        for (s, grad) in grad.chunks_exact_mut(d).take(n).enumerate() {
            log_p[s] = inner.log_p()[s] + prior.log_density(z.get(s)) + self.map.log_det;
            slope.copy_from_slice(inner.grad(s));
            prior.add_score(z.get(s), &mut slope);
            self.map.apply_transposed(&slope, grad);
        }
        let Some(contraction) = ask.contraction() else { return Ok(()) };
        let mut moved = vec![0.0; d * d];
        for (k, sum) in inner.parts_mut().curvature.as_mut_slice().chunks_exact_mut(d * d).enumerate() {
            let weight: f64 = contraction.weights(k).iter().sum();
            sum.iter_mut().step_by(d + 1).enumerate().for_each(|(i, h)| *h -= prior.precision(i) * weight);
            congruence(d, &self.map.forward, sum, &mut moved);
            curvature.add_matrix(k, 1.0, &moved);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::regressions::breast_cancer_model;
    use elinvar::target::{Contraction, Want};

    /// Values, slopes and curvatures along a line are the same in both coordinates.
    #[test]
    fn the_density_along_a_line_is_that_of_the_target() {
        let model = breast_cancer_model();
        let d = model.dim();
        let map = LinearMap::with_condition(d, 1e3, 3);
        let moved = Moved::new(&model, &map);
        let along = |x: &[f64], direction: &[f64], target: &dyn Target| {
            let mut out = Answer::new(d, 1).with_curvature(Covariance::Full, 1);
            let want = Want::Hessian(Contraction::shared(&[1.0], 1));
            target.evaluate(&Ask::all(Draws::new(d, x), want), &mut out).unwrap();
            let (hessian, prior, mut grad) = (out.curvature(), target.about().prior, out.grad(0).to_vec());
            prior.add_score(x, &mut grad);
            let slope = grad.iter().zip(direction).map(|(g, v)| g * v).sum::<f64>();
            let mut bend = 0.0;
            for i in 0..d {
                bend += (0..d).map(|j| direction[i] * hessian[j * d + i] * direction[j]).sum::<f64>();
                bend -= prior.precision(i) * direction[i] * direction[i];
            }
            [out.log_p()[0] + prior.log_density(x), slope, bend]
        };
        let (x, v): (Vec<f64>, Vec<f64>) =
            (0..d).map(|i| ((1.1 * i as f64).sin() * 0.3, (0.7 * i as f64).cos())).unzip();
        let (mut z, mut w) = (vec![0.0; d], vec![0.0; d]);
        map.apply(&x, &mut z);
        map.apply(&v, &mut w);
        let (one, two) = (along(&x, &v, &moved), along(&z, &w, &model));
        for (i, (a, b)) in one.iter().zip(two).enumerate() {
            let b = if i == 0 { b + map.log_det } else { b };
            assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{a} and {b}");
        }
    }
}
