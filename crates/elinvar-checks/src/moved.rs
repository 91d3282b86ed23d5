//! A target in other coordinates: rescaled and rotated.

use elinvar::target::{
    Contraction, Covariance, CurvatureMut, DrawBuffer, Draws, Evaluations, Rows, Scratch, SecondOrder, Target,
    TargetError, Values,
};

use crate::problems::linear_map::{LinearMap, congruence};

/// The density of x when z = A x has the density of the target; the declared prior is part of what is evaluated.
pub(crate) struct Moved<'a> {
    inner: &'a dyn Target,
    map: &'a LinearMap,
}

impl<'a> Moved<'a> {
    pub(crate) fn new(inner: &'a dyn Target, map: &'a LinearMap) -> Self {
        Self { inner, map }
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
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        let (d, n) = (draws.dim(), draws.len());
        let z = self.original(draws);
        let mut inner = Evaluations::new(d, n);
        self.inner.evaluate(z.view(), rows, &mut inner)?;
        let prior = self.inner.prior();
        let (log_p, grad, _) = out.parts_mut();
        let mut slope = vec![0.0; d];
        for (s, grad) in grad.chunks_exact_mut(d).take(n).enumerate() {
            log_p[s] = inner.log_p()[s] + prior.log_density(z.get(s)) + self.map.log_det;
            slope.copy_from_slice(inner.grad(s));
            prior.add_score(z.get(s), &mut slope);
            self.map.apply_transposed(&slope, grad);
        }
        Ok(())
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        self.inner.second_order().map(|_| self as &dyn SecondOrder)
    }

    fn values(&self) -> Option<&dyn Values> {
        self.inner.values().map(|_| self as &dyn Values)
    }
}

impl Values for Moved<'_> {
    fn log_densities(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) -> Result<(), TargetError> {
        let Some(values) = self.inner.values() else {
            return Err(TargetError::fatal("the target has no values of its own"));
        };
        let z = self.original(draws);
        values.log_densities(z.view(), rows, scratch, out)?;
        for (s, log_p) in out.iter_mut().enumerate() {
            *log_p += self.inner.prior().log_density(z.get(s)) + self.map.log_det;
        }
        Ok(())
    }
}

impl SecondOrder for Moved<'_> {
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        _scratch: &mut Scratch,
        mut out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        let Some(second) = self.inner.second_order() else {
            return Err(TargetError::fatal("the target has no second derivatives"));
        };
        let d = draws.dim();
        let z = self.original(draws);
        let mut sums = vec![0.0; contraction.len() * d * d];
        let inner = CurvatureMut::new(Covariance::Full, d, &mut sums);
        second.contract(z.view(), rows, contraction, &mut Scratch::default(), inner)?;
        let prior = self.inner.prior();
        let mut moved = vec![0.0; d * d];
        for (k, sum) in sums.chunks_exact_mut(d * d).enumerate() {
            let weight: f64 = contraction.weights(k).iter().sum();
            sum.iter_mut().step_by(d + 1).enumerate().for_each(|(i, h)| *h -= prior.precision(i) * weight);
            congruence(d, &self.map.forward, sum, &mut moved);
            out.add_matrix(k, 1.0, &moved);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::regressions::breast_cancer_model;

    /// Values, slopes and curvatures along a line are the same in both coordinates.
    #[test]
    fn the_density_along_a_line_is_that_of_the_target() {
        let model = breast_cancer_model();
        let d = model.dim();
        let map = LinearMap::with_condition(d, 1e3, 3);
        let moved = Moved::new(&model, &map);
        let along = |x: &[f64], direction: &[f64], target: &dyn Target| {
            let mut out = Evaluations::new(d, 1);
            target.evaluate(Draws::new(d, x), Rows::All, &mut out).unwrap();
            let mut hessian = vec![0.0; d * d];
            let second = target.second_order().unwrap();
            let (sum, place) = (Contraction::shared(&[1.0], 1), CurvatureMut::new(Covariance::Full, d, &mut hessian));
            second.contract(Draws::new(d, x), Rows::All, sum, &mut Scratch::default(), place).unwrap();
            let (prior, mut grad) = (target.prior(), out.grad(0).to_vec());
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
