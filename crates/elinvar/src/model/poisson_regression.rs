//! Poisson regression with a log link.

use super::DesignMatrix;
use super::glm::{Glm, Likelihood};
use super::kernels;
use crate::Error;

/// Counts y_n ~ Poisson(e^{x_nᵀz}), and the prior z ~ N(0, I/δ) on every coefficient.
///
/// Σ_n y_n η_n − e^{η_n} − log y_n! with η_n = x_nᵀz; gradient Σ (y_n − e^{η_n}) x_n; Hessian −Σ e^{η_n} x_n x_nᵀ.
/// A draw at which e^η overflows has log p = −∞.
pub type PoissonRegression = Glm<Poisson>;

/// Counts y whose log y! is computed once.
const SMALL: usize = 256;

/// The likelihood of [`PoissonRegression`].
#[derive(Clone, Debug)]
pub struct Poisson;

impl Likelihood for Poisson {
    #[inline]
    fn block(y: &[f64], eta: &mut [f64], value: &mut [f64], curvature: &mut [f64]) {
        kernels::poisson_block(y, eta, value, curvature);
    }

    /// E e^η = e^{m + s²/2}.
    fn expectation_block(
        y: &[f64],
        eta: &mut [f64],
        variance: &mut [f64],
        [value, curvature]: [&mut [f64]; 2],
        _: &mut [f64],
    ) -> usize {
        eta.iter_mut().zip(&*variance).for_each(|(eta, v)| *eta += 0.5 * v);
        kernels::poisson_block(y, eta, value, curvature);
        value.iter_mut().zip(y).zip(&*variance).for_each(|((value, y), v)| *value -= 0.5 * y * v);
        1
    }
}

impl PoissonRegression {
    /// The model for counts 0, 1, 2, ….
    ///
    /// # Errors
    /// If the number of counts is not the number of rows, a count is not a whole number ≥ 0, or δ is not positive.
    pub fn new(x: DesignMatrix, counts: Vec<f64>, prior_precision: f64) -> Result<Self, Error> {
        let is_count = |y: &f64| y.is_finite() && *y >= 0.0 && y.fract() == 0.0;
        if let Some(i) = counts.iter().position(|y| !is_count(y)) {
            return Err(Error::Data {
                place: format!("count of row {}", i + 1),
                problem: format!("{} is not a whole number ≥ 0", counts[i]),
            });
        }
        // Counts are small where there are many, and shards are made anew for every pass.
        let small: Vec<f64> = (0..counts.len().min(SMALL)).map(|y| -libm::lgamma(y as f64 + 1.0)).collect();
        let constant = |y: &f64| small.get(*y as usize).copied().unwrap_or_else(|| -libm::lgamma(y + 1.0));
        let constants = counts.iter().map(constant).collect();
        Self::with_constants(x, counts, constants, prior_precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Answer, Ask, Contraction, Covariance, Draws, Target, Want};

    #[test]
    fn an_overflowing_draw_does_not_touch_the_others() {
        let x =
            DesignMatrix::new((0..40).map(|i| (i as f64).sin()).collect(), 2, vec!["a".into(), "b".into()]).unwrap();
        let model = PoissonRegression::new(x, (0..20).map(|i| f64::from(i % 4)).collect(), 1.0).unwrap();
        let (good, both) = ([0.3, -0.2], [0.3, -0.2, 2000.0, 100.0]);
        let (mut alone, mut pair) = (Answer::new(2, 1), Answer::new(2, 2).with_curvature(Covariance::Full, 1));
        model.evaluate(&Ask::all(Draws::new(2, &good), Want::Gradients), &mut alone).unwrap();
        let want = Want::Hessian(Contraction::shared(&[1.0, 0.0], 2));
        model.evaluate(&Ask::all(Draws::new(2, &both), want), &mut pair).unwrap();
        assert!((alone.log_p()[0] - pair.log_p()[0]).abs() < 1e-12 && !pair.log_p()[1].is_finite());
        assert!(pair.grad(0).iter().zip(alone.grad(0)).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(pair.curvature().iter().all(|v| v.is_finite() && *v != 0.0));
    }

    #[test]
    fn the_density_at_zero_is_known() {
        let x = DesignMatrix::new(vec![1.0, 2.0], 1, vec!["x".into()]).unwrap();
        let model = PoissonRegression::new(x.clone(), vec![0.0, 3.0], 1.0).unwrap();
        let mut out = Answer::new(1, 1);
        model.evaluate(&Ask::all(Draws::new(1, &[0.0]), Want::Gradients), &mut out).unwrap();
        assert!((out.log_p()[0] - (-2.0 - 6f64.ln())).abs() < 1e-14);
        assert!((out.grad(0)[0] - (-1.0 + 2.0 * 2.0)).abs() < 1e-14);
        assert!(PoissonRegression::new(x, vec![0.5, 1.0], 1.0).unwrap_err().to_string().contains("row 1"));
        // Weights take the place of others, and count the constants of rows once.
        let weighed = model.with_weights(vec![1.0, 3.0]).and_then(|model| model.with_weights(vec![1.0, 2.0])).unwrap();
        weighed.evaluate(&Ask::all(Draws::new(1, &[0.0]), Want::Gradients), &mut out).unwrap();
        assert!((out.log_p()[0] - (-3.0 - 2.0 * 6f64.ln())).abs() < 1e-14);
    }
}
