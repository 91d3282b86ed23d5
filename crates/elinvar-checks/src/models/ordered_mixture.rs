//! A mixture of two normal distributions with ordered means, fitted to numbers.

use elinvar::Error;
use elinvar::internals::special::gamma::ln_beta;
use elinvar::internals::special::logistic::{log1p_exp, logistic_variance, sigmoid};
use elinvar::internals::special::normal::HALF_LOG_TWO_PI;
use elinvar::model::NoisePrior;
use elinvar::target::{PointwiseHessian, PointwiseTarget, PointwiseValue, TargetError, Transform, Transforms};

/// y_i ~ w N(μ₁, σ₁²) + (1 − w) N(μ₂, σ₂²) with μ₁ < μ₂; z = (μ₁, log(μ₂ − μ₁), log σ₁, log σ₂, logit w).
///
/// Priors: μ_k ~ N(0, s²), a [`NoisePrior`] of each σ_k, w ~ Beta(a, a). The Jacobian of z is included. With
/// l_k = log(w_k N(y | μ_k, σ_k²)), responsibilities r_k and D = ∇l₁ − ∇l₂, a datum adds log(e^{l₁} + e^{l₂}) to log p,
/// Σ r_k ∇l_k to its gradient and Σ r_k ∇²l_k + r₁r₂ DDᵀ to its Hessian.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderedMixture {
    y: Vec<f64>,
    mean_sd: f64,
    noise_prior: NoisePrior,
    weight_shape: f64,
}

const D: usize = 5;

/// The parameters at a point, and what is needed of them for every datum.
struct Parameters {
    mu: [f64; 2],
    gap: f64,
    inv_sigma: [f64; 2],
    log_scale: [f64; 2],
    weight: [f64; 2],
}

impl Parameters {
    fn new(z: &[f64]) -> Self {
        let gap = z[1].exp();
        Self {
            mu: [z[0], z[0] + gap],
            gap,
            inv_sigma: [(-z[2]).exp(), (-z[3]).exp()],
            log_scale: [-log1p_exp(-z[4]) - z[2] - HALF_LOG_TWO_PI, -log1p_exp(z[4]) - z[3] - HALF_LOG_TWO_PI],
            weight: [sigmoid(z[4]), sigmoid(-z[4])],
        }
    }

    /// (y − μ_k)/σ_k, log(e^{l₁} + e^{l₂}) and the responsibilities.
    fn at(&self, y: f64) -> ([f64; 2], f64, [f64; 2]) {
        let t = [(y - self.mu[0]) * self.inv_sigma[0], (y - self.mu[1]) * self.inv_sigma[1]];
        let l = [self.log_scale[0] - 0.5 * t[0] * t[0], self.log_scale[1] - 0.5 * t[1] * t[1]];
        let lead = l[0] - l[1];
        // From the larger one: a narrow component far away is at −1e17, and its rounding would be that of the sum.
        (t, l[0].max(l[1]) + log1p_exp(-lead.abs()), [sigmoid(lead), sigmoid(-lead)])
    }

    /// ∇l₁ and ∇l₂.
    fn slopes(&self, t: [f64; 2]) -> [[f64; D]; 2] {
        let [first, second] = [t[0] * self.inv_sigma[0], t[1] * self.inv_sigma[1]];
        [
            [first, 0.0, t[0] * t[0] - 1.0, 0.0, self.weight[1]],
            [second, self.gap * second, 0.0, t[1] * t[1] - 1.0, -self.weight[0]],
        ]
    }
}

impl OrderedMixture {
    /// The model for numbers y, with μ_k ~ N(0, 2²), σ_k ~ half-normal(2) and w ~ Beta(5, 5).
    ///
    /// # Errors
    /// If there is no number or one is not finite.
    pub(crate) fn new(y: Vec<f64>) -> Result<Self, Error> {
        if y.is_empty() {
            return Err(Error::Shape { what: "data of a mixture", expected: 1, found: 0 });
        }
        if let Some(i) = y.iter().position(|v| !v.is_finite()) {
            return Err(Error::Data {
                place: format!("number {}", i + 1),
                problem: format!("{} is not a finite number", y[i]),
            });
        }
        Ok(Self { y, mean_sd: 2.0, noise_prior: NoisePrior::HalfNormal { scale: 2.0 }, weight_shape: 5.0 })
    }

    /// The priors with the Jacobian of z.
    fn log_prior(&self, z: &[f64], at: &Parameters) -> f64 {
        let (shape, prec) = (self.weight_shape, 1.0 / (self.mean_sd * self.mean_sd));
        self.noise_prior.log_density(z[2])[0] + self.noise_prior.log_density(z[3])[0] + z[1]
            - 2.0 * (self.mean_sd.ln() + HALF_LOG_TWO_PI)
            - 0.5 * prec * (at.mu[0] * at.mu[0] + at.mu[1] * at.mu[1])
            - shape * (log1p_exp(z[4]) + log1p_exp(-z[4]))
            - ln_beta(shape, shape)
    }

    fn refuse_overflow(z: &[f64]) -> Result<Parameters, TargetError> {
        let at = Parameters::new(z);
        let finite = at.gap.is_finite() && at.inv_sigma.iter().all(|v| v.is_finite());
        if finite { Ok(at) } else { Err(TargetError::recoverable("μ₂ − μ₁ or 1/σ is too large for a number")) }
    }
}

impl PointwiseTarget for OrderedMixture {
    fn dim(&self) -> usize {
        D
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let at = Self::refuse_overflow(z)?;
        let (shape, prec) = (self.weight_shape, 1.0 / (self.mean_sd * self.mean_sd));
        grad.copy_from_slice(&[
            -prec * (at.mu[0] + at.mu[1]),
            1.0 - prec * at.gap * at.mu[1],
            self.noise_prior.log_density(z[2])[1],
            self.noise_prior.log_density(z[3])[1],
            shape * (at.weight[1] - at.weight[0]),
        ]);
        let mut log_p = self.log_prior(z, &at);
        for y in &self.y {
            let (t, value, r) = at.at(*y);
            let slopes = at.slopes(t);
            log_p += value;
            grad.iter_mut().zip(slopes[0].iter().zip(&slopes[1])).for_each(|(g, (a, b))| *g += r[0] * a + r[1] * b);
        }
        Ok(log_p)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        ["mu1", "log_gap", "log_sigma1", "log_sigma2", "logit_weight"].map(str::to_owned).to_vec()
    }

    fn transforms(&self) -> Transforms {
        let blocks = vec![Transform::Ordered { len: 2 }, Transform::Log, Transform::Log, Transform::Logit];
        Transforms::new(blocks).expect("two ordered values are allowed")
    }

    fn constrained_names(&self) -> Vec<String> {
        ["mu1", "mu2", "sigma1", "sigma2", "weight"].map(str::to_owned).to_vec()
    }
}

impl PointwiseValue for OrderedMixture {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let at = Self::refuse_overflow(z)?;
        Ok(self.y.iter().fold(self.log_prior(z, &at), |sum, y| sum + at.at(*y).1))
    }
}

impl PointwiseHessian for OrderedMixture {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let at = Self::refuse_overflow(z)?;
        let (gap, prec) = (at.gap, 1.0 / (self.mean_sd * self.mean_sd));
        let (weight_variance, n) = (logistic_variance(z[4]), self.y.len() as f64);
        let mut h = [[0.0; D]; D];
        h[0][0] = -2.0 * prec;
        h[1][0] = -prec * gap;
        h[1][1] = -prec * gap * (at.mu[1] + gap);
        h[2][2] = self.noise_prior.log_density(z[2])[2];
        h[3][3] = self.noise_prior.log_density(z[3])[2];
        h[4][4] = -(2.0 * self.weight_shape + n) * weight_variance;
        for y in &self.y {
            let (t, _, r) = at.at(*y);
            let slopes = at.slopes(t);
            let scaled = [r[0] * at.inv_sigma[0], r[1] * at.inv_sigma[1]];
            let (flat, twist) = (scaled[1] * at.inv_sigma[1], scaled[1] * t[1]);
            h[0][0] -= scaled[0] * at.inv_sigma[0] + flat;
            h[1][0] -= gap * flat;
            h[1][1] -= gap * (gap * flat - twist);
            h[2][0] -= 2.0 * scaled[0] * t[0];
            h[2][2] -= 2.0 * r[0] * t[0] * t[0];
            h[3][0] -= 2.0 * twist;
            h[3][1] -= 2.0 * gap * twist;
            h[3][3] -= 2.0 * r[1] * t[1] * t[1];
            let between = r[0] * r[1];
            for a in 0..D {
                let factor = between * (slopes[0][a] - slopes[1][a]);
                (0..=a).for_each(|b| h[a][b] += factor * (slopes[0][b] - slopes[1][b]));
            }
        }
        for a in 0..D {
            for b in 0..=a {
                (hessian[a * D + b], hessian[b * D + a]) = (h[a][b], h[a][b]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_on_the_constrained_scale_and_its_jacobian() {
        let y: Vec<f64> = (0..25).map(|i| 3.0 * (1.7 * f64::from(i)).sin() - 0.5).collect();
        let model = OrderedMixture::new(y.clone()).unwrap();
        let z = [-1.2, 0.9, 0.3, -0.2, 0.6];
        let mut x = [0.0; D];
        PointwiseTarget::transforms(&model).constrain(&z, &mut x);
        let [mu1, mu2, sigma1, sigma2, w] = x;
        let density =
            |t: f64, m: f64, s: f64| (-0.5 * ((t - m) / s).powi(2)).exp() / (s * std::f64::consts::TAU.sqrt());
        let half = |t: f64| 2.0 * density(t, 0.0, 2.0);
        // Beta(5, 5) has the constant Γ(10)/Γ(5)² = 630.
        let prior = density(mu1, 0.0, 2.0) * density(mu2, 0.0, 2.0) * half(sigma1) * half(sigma2) * 630.0;
        let mut expected = prior.ln() + 4.0 * (w * (1.0 - w)).ln();
        expected +=
            y.iter().map(|y| (w * density(*y, mu1, sigma1) + (1.0 - w) * density(*y, mu2, sigma2)).ln()).sum::<f64>();
        expected += PointwiseTarget::transforms(&model).log_jacobian(&z);
        let found = model.gradient(&z, &mut [0.0; D]).unwrap();
        assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} {expected}");
    }

    #[test]
    fn a_component_of_no_weight_leaves_a_finite_density() {
        let model = OrderedMixture::new(vec![0.1, -0.3, 0.2]).unwrap();
        let mut grad = [0.0; D];
        let log_p = model.gradient(&[0.0, 6.0, 0.0, -5.0, 50.0], &mut grad).unwrap();
        assert!(log_p.is_finite() && grad.iter().all(|g| g.is_finite()));
        assert!(model.gradient(&[0.0, 1.0, -800.0, 0.0, 0.0], &mut grad).is_err());
    }
}
