//! Autoregressive moving average of order (1, 1).

use elinvar::Error;
use elinvar::internals::special::normal::HALF_LOG_TWO_PI;
use elinvar::model::NoisePrior;
use elinvar::target::{PointwiseHessian, PointwiseTarget, PointwiseValue, TargetError, Transform, Transforms};

/// y_t = μ + φ y_{t−1} + θ e_{t−1} + e_t with e_t ~ N(0, σ²), y₀ = μ and e₀ = 0; z = (μ, φ, θ, log σ).
///
/// e₁ = y₁ − μ − φμ and e_t = y_t − μ − φ y_{t−1} − θ e_{t−1} with first and second derivatives run forward in t. With
/// R = Σ e_t², log p = −T(log σ + ½ log 2π) − R/(2σ²) + the priors μ ~ N(0, s_μ²), φ, θ ~ N(0, s²) and a
/// [`NoisePrior`] of σ. For |θ| > 1 the residuals grow like |θ|ᵗ: where they overflow, the point is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arma11 {
    series: Vec<f64>,
    mean_sd: f64,
    coefficient_sd: f64,
    noise_prior: NoisePrior,
}

/// Coordinates of e that matter for derivatives: μ, φ, θ.
const N: usize = 3;
const THETA: usize = 2;
const OVERFLOW: &str = "the residuals of the moving average overflow: |θ| is too large";

/// R = Σ e_t² with ½ of its first and second derivatives, of those the lower triangle.
struct Squares {
    value: f64,
    half_slope: [f64; N],
    half_curvature: [[f64; N]; N],
}

impl Arma11 {
    /// The model for a series, with μ ~ N(0, 10²), φ, θ ~ N(0, 2²) and σ ~ half-Cauchy(0, 2.5).
    ///
    /// # Errors
    /// If there are fewer than two values or one is not finite.
    pub(crate) fn new(series: Vec<f64>) -> Result<Self, Error> {
        if series.len() < 2 {
            return Err(Error::Shape { what: "values of the series", expected: 2, found: series.len() });
        }
        if let Some(t) = series.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data {
                place: format!("value {} of the series", t + 1),
                problem: format!("{} is not a finite number", series[t]),
            });
        }
        Ok(Self { series, mean_sd: 10.0, coefficient_sd: 2.0, noise_prior: NoisePrior::HalfCauchy { scale: 2.5 } })
    }

    fn prior_sds(&self) -> [f64; N] {
        [self.mean_sd, self.coefficient_sd, self.coefficient_sd]
    }

    /// log p, given R.
    fn log_density_of(&self, z: &[f64], squares: f64) -> f64 {
        let (n, prec) = (self.series.len() as f64, (-2.0 * z[N]).exp());
        let mut log_p = self.noise_prior.log_density(z[N])[0] - n * (z[N] + HALF_LOG_TWO_PI) - 0.5 * prec * squares;
        for (z, sd) in z.iter().zip(self.prior_sds()) {
            log_p -= 0.5 * (z / sd) * (z / sd) + sd.ln() + HALF_LOG_TWO_PI;
        }
        log_p
    }

    fn squares(&self, z: &[f64], with_curvature: bool) -> Result<Squares, TargetError> {
        let [mu, phi, theta] = [z[0], z[1], z[2]];
        let mut sums = Squares { value: 0.0, half_slope: [0.0; N], half_curvature: [[0.0; N]; N] };
        let (mut e, mut slope, mut curvature) = (0.0, [0.0; N], [[0.0; N]; N]);
        // Only the first predecessor, μ itself, depends on the parameters.
        let (mut previous, mut previous_in_mu) = (mu, 1.0);
        for y in &self.series {
            if with_curvature {
                curvature.as_flattened_mut().iter_mut().for_each(|entry| *entry *= -theta);
                (0..N).for_each(|a| curvature[THETA][a] -= slope[a]);
                curvature[THETA][THETA] -= slope[THETA];
                curvature[1][0] -= previous_in_mu;
            }
            slope =
                [-1.0 - phi * previous_in_mu - theta * slope[0], -previous - theta * slope[1], -e - theta * slope[2]];
            e = y - mu - phi * previous - theta * e;
            (previous, previous_in_mu) = (*y, 0.0);
            sums.value += e * e;
            for a in 0..N {
                sums.half_slope[a] += e * slope[a];
                if with_curvature {
                    for b in 0..=a {
                        sums.half_curvature[a][b] += slope[a] * slope[b] + e * curvature[a][b];
                    }
                }
            }
        }
        let finite = sums.half_slope.iter().chain(sums.half_curvature.as_flattened()).all(|v| v.is_finite());
        if !(sums.value.is_finite() && finite) {
            return Err(TargetError::recoverable(OVERFLOW));
        }
        Ok(sums)
    }
}

impl PointwiseTarget for Arma11 {
    fn dim(&self) -> usize {
        N + 1
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let squares = self.squares(z, false)?;
        let (n, prec) = (self.series.len() as f64, (-2.0 * z[N]).exp());
        for (a, sd) in self.prior_sds().into_iter().enumerate() {
            grad[a] = -prec * squares.half_slope[a] - z[a] / (sd * sd);
        }
        grad[N] = self.noise_prior.log_density(z[N])[1] - n + prec * squares.value;
        Ok(self.log_density_of(z, squares.value))
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        ["mu", "phi", "theta", "log_sigma"].map(str::to_owned).to_vec()
    }

    fn transforms(&self) -> Transforms {
        let blocks = vec![Transform::Identity, Transform::Identity, Transform::Identity, Transform::Log];
        Transforms::new(blocks).expect("identity and log need no constants")
    }

    fn constrained_names(&self) -> Vec<String> {
        ["mu", "phi", "theta", "sigma"].map(str::to_owned).to_vec()
    }
}

impl PointwiseValue for Arma11 {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let (mut previous, mut e, mut squares) = (z[0], 0.0, 0.0);
        for y in &self.series {
            e = y - z[0] - z[1] * previous - z[2] * e;
            squares += e * e;
            previous = *y;
        }
        if squares.is_finite() { Ok(self.log_density_of(z, squares)) } else { Err(TargetError::recoverable(OVERFLOW)) }
    }
}

impl PointwiseHessian for Arma11 {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        const D: usize = N + 1;
        let squares = self.squares(z, true)?;
        let prec = (-2.0 * z[N]).exp();
        for (a, sd) in self.prior_sds().into_iter().enumerate() {
            for b in 0..=a {
                let entry = -prec * squares.half_curvature[a][b];
                (hessian[a * D + b], hessian[b * D + a]) = (entry, entry);
            }
            hessian[a * D + a] -= 1.0 / (sd * sd);
            let cross = 2.0 * prec * squares.half_slope[a];
            (hessian[a * D + N], hessian[N * D + a]) = (cross, cross);
        }
        hessian[N * D + N] = self.noise_prior.log_density(z[N])[2] - 2.0 * prec * squares.value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Vec<f64> {
        (0..30).map(|t| (0.41 * f64::from(t)).sin() + 0.2 * (2.3 * f64::from(t)).cos()).collect()
    }

    #[test]
    fn residuals_by_the_expanded_moving_average_give_the_density() {
        let (y, z) = (series(), [0.2, 0.7, -0.4, -0.6]);
        let model = Arma11::new(y.clone()).unwrap();
        let found = model.gradient(&z, &mut [0.0; 4]).unwrap();
        // e_t = Σ_j (−θ)^j u_{t−j} with u the residuals of the autoregression alone.
        let u = |t: usize| y[t] - z[0] - z[1] * if t == 0 { z[0] } else { y[t - 1] };
        let normal = |t: f64, sd: f64| -0.5 * (t / sd).powi(2) - (sd * std::f64::consts::TAU.sqrt()).ln();
        let sigma = z[3].exp();
        let mut expected = normal(z[0], 10.0) + normal(z[1], 2.0) + normal(z[2], 2.0) + z[3];
        expected += (2.0 / (std::f64::consts::PI * 2.5 * (1.0 + (sigma / 2.5).powi(2)))).ln();
        for t in 0..y.len() {
            let e: f64 = (0..=t).map(|j| (-z[2]).powi(j as i32) * u(t - j)).sum();
            expected += normal(e, sigma);
        }
        assert!((found - expected).abs() < 1e-11 * expected.abs(), "{found} {expected}");
    }

    #[test]
    fn an_exploding_recursion_is_refused_where_it_overflows() {
        let model = Arma11::new((0..200).map(|t| f64::from(t % 7)).collect()).unwrap();
        assert!(model.gradient(&[0.0, 0.5, 1.5, 0.0], &mut [0.0; 4]).unwrap().is_finite());
        let problem = model.gradient(&[0.0, 0.5, 100.0, 0.0], &mut [0.0; 4]).unwrap_err();
        assert!(problem.recoverable);
        assert!(model.hessian(&[0.0, 0.5, 100.0, 0.0], &mut [0.0; 16]).is_err());
    }

    #[test]
    fn constants_that_are_not_positive_are_refused() {
        assert!(Arma11::new(vec![1.0]).is_err() && Arma11::new(vec![1.0, f64::INFINITY]).is_err());
    }
}
