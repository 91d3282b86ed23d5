//! What a family knows of its members at a point and as a whole.

use crate::target::Prior;

/// The density of a member with its derivatives and moments.
pub(crate) trait Density {
    /// log q(z).
    fn log_density(&self, z: &[f64]) -> f64;
    /// ∇log q(z).
    fn score(&self, z: &[f64], out: &mut [f64]);
    /// ∇²log q(z), a full d × d matrix.
    fn hessian(&self, z: &[f64], out: &mut [f64]);
    /// E\[z\].
    fn mean(&self) -> Vec<f64>;
    /// Cov\[z\], a full d × d matrix.
    fn covariance(&self) -> Vec<f64>;
    /// Var\[z_i\] of every coordinate.
    fn variances(&self) -> Vec<f64> {
        let d = self.mean().len();
        self.covariance().iter().step_by(d + 1).copied().collect()
    }
    /// The entropy where there is a rule for it; `None`: average −log q over draws.
    fn entropy(&self) -> Option<f64> {
        None
    }
    /// E\[log prior(z)\] in closed form.
    fn expected_log_prior(&self, prior: &Prior) -> f64 {
        prior.expected_log(&self.mean(), &self.variances())
    }

    /// Whether a step needs second-order information; a family that moves by gradients alone says no.
    fn takes_curvature(&self) -> bool {
        true
    }
    /// Whether a gradient can be made of values of log p alone, as [`Curvature::GradientFree`] asks.
    ///
    /// [`Curvature::GradientFree`]: crate::estimate::Curvature::GradientFree
    fn takes_values_alone(&self) -> bool {
        true
    }
    /// How many times ½ gᵀF⁻¹g the bound may still rise: the metric is that of the joint and of the entropy, and the bound curves
    /// less. Measured on logistic regressions, one component: 1.3 to 2.
    fn gain_factor(&self) -> f64 {
        2.0
    }
}
