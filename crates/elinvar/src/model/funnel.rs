//! Neal's funnel.

use crate::Error;
use crate::target::{
    About, Answer, Ask, PointwiseHessian, PointwiseTarget, PointwiseValue, Target, TargetError, by_point,
};

/// z₁ ~ N(0, 3²), z_i | z₁ ~ N(0, e^{z₁}) for i = 2…d: a scale that varies by orders of magnitude, normalised (log Z =
/// 0).
///
/// Neal, Slice sampling, Annals of Statistics 31 (2003).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Funnel {
    dim: usize,
}

const VARIANCE: f64 = 9.0;

impl Funnel {
    /// The funnel in `dim` ≥ 2 dimensions.
    ///
    /// # Errors
    /// If `dim` < 2.
    pub fn new(dim: usize) -> Result<Self, Error> {
        if dim < 2 {
            return Err(Error::Domain { parameter: "dim", value: dim as f64, reason: "a funnel needs two dimensions" });
        }
        Ok(Self { dim })
    }
}

impl PointwiseTarget for Funnel {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let n = (self.dim - 1) as f64;
        let prec = (-z[0]).exp();
        let square: f64 = z[1..].iter().map(|v| v * v).sum();
        grad[0] = -z[0] / VARIANCE - 0.5 * n + 0.5 * prec * square;
        for (g, v) in grad[1..].iter_mut().zip(&z[1..]) {
            *g = -prec * v;
        }
        self.log_density(z)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }
}

impl PointwiseValue for Funnel {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        let n = (self.dim - 1) as f64;
        let square: f64 = z[1..].iter().map(|v| v * v).sum();
        let prec = (-z[0]).exp();
        let log_normaliser = 0.5 * ((n + 1.0) * std::f64::consts::TAU.ln() + VARIANCE.ln());
        Ok(-0.5 * (z[0] * z[0] / VARIANCE + n * z[0] + prec * square) - log_normaliser)
    }
}

impl PointwiseHessian for Funnel {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = self.dim;
        let prec = (-z[0]).exp();
        let square: f64 = z[1..].iter().map(|v| v * v).sum();
        hessian.fill(0.0);
        hessian[0] = -1.0 / VARIANCE - 0.5 * prec * square;
        for i in 1..d {
            hessian[i] = prec * z[i];
            hessian[i * d] = prec * z[i];
            hessian[i * d + i] = -prec;
        }
        Ok(())
    }
}

impl Target for Funnel {
    fn about(&self) -> About {
        by_point::about_of_model(self)
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        by_point::evaluate_second_order(self, ask, answer)
    }
}
