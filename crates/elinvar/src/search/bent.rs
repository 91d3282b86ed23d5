//! Directions to climb where the log density is not concave.

use crate::linalg::{axpy, dot, eigen};
use crate::tuning;

/// Eigenvalues of the scaled curvature below this are zero to the accuracy of a Hessian.
const ZERO: f64 = 1e-10;

/// A curvature that is not positive definite, in coordinates scaled to a unit diagonal and along its eigenvectors.
///
/// With D = diag |P| the scaled matrix is D^{−½}PD^{−½}: nothing here depends on the units of the coordinates.
pub(super) struct Bent {
    d: usize,
    /// D^{½}.
    scale: Vec<f64>,
    values: Vec<f64>,
    /// Eigenvectors as columns.
    vectors: Vec<f64>,
    /// The scaled gradient along each eigenvector.
    along: Vec<f64>,
}

impl Bent {
    pub(super) fn new(curvature: &[f64], gradient: &[f64]) -> Option<Self> {
        let d = gradient.len();
        let scale: Vec<f64> = (0..d)
            .map(|i| {
                let size = curvature[i * d + i].abs().max(1e-8 * gradient[i] * gradient[i]);
                // A coordinate in which nothing varies keeps its own unit.
                if size > 0.0 { size.sqrt() } else { 1.0 }
            })
            .collect();
        let scaled: Vec<f64> = (0..d * d)
            .map(|at| curvature[at] / (scale[at % d] * scale[at / d]))
            .map(|v| v.clamp(-1e12, 1e12))
            .collect();
        let (values, vectors) = eigen::symmetric(d, &scaled)?;
        let g: Vec<f64> = gradient.iter().zip(&scale).map(|(g, s)| g / s).collect();
        let along = vectors.chunks_exact(d).map(|v| dot(v, &g)).collect();
        Some(Self { d, scale, values, vectors, along })
    }

    /// The step Σ_i c_i v_i in the coordinates of z.
    fn step(&self, coefficients: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut step = vec![0.0; self.d];
        for (c, vector) in coefficients.zip(self.vectors.chunks_exact(self.d)) {
            axpy(c, vector, &mut step);
        }
        step.iter_mut().zip(&self.scale).for_each(|(s, scale)| *s /= scale);
        step
    }

    /// ±P⁻¹g, whichever climbs: the one step that does not depend on the choice of coordinates.
    pub(super) fn newton(&self, floor: f64) -> Vec<f64> {
        let inverse = |v: f64| v.signum() / v.abs().max(floor).max(ZERO);
        let slope: f64 = self.along.iter().zip(&self.values).map(|(a, v)| a * a * inverse(*v)).sum();
        let sign = if slope < 0.0 { -1.0 } else { 1.0 };
        self.step(self.along.iter().zip(&self.values).map(|(a, v)| sign * a * inverse(*v)))
    }

    /// |P|⁻¹g, which climbs along every eigenvector.
    pub(super) fn flipped(&self, floor: f64) -> Vec<f64> {
        self.step(self.along.iter().zip(&self.values).map(|(a, v)| a / v.abs().max(floor).max(ZERO)))
    }

    /// ½gᵀ|P|⁻¹g, flat directions left out.
    pub(super) fn gain(&self) -> f64 {
        let curved = self.along.iter().zip(&self.values).filter(|(_, v)| v.abs() > ZERO);
        0.5 * curved.map(|(a, v)| a * a / v.abs()).sum::<f64>()
    }

    /// Whether there is nothing to climb: no curvature upwards, no gradient where there is no curvature.
    pub(super) fn is_flat(&self, gain: f64) -> bool {
        let upwards = self.values.iter().any(|v| *v < -ZERO);
        let sloping = self.along.iter().zip(&self.values).any(|(a, v)| v.abs() <= ZERO && a.abs() > 1e-3);
        !upwards && !sloping && self.gain() < gain
    }

    /// One unit along the direction of the strongest upward curvature: the way off a saddle.
    pub(super) fn escape(&self) -> Vec<f64> {
        let length = self.values[0].abs().max(ZERO).sqrt().recip();
        let sign = if self.along[0] < 0.0 { -1.0 } else { 1.0 };
        self.step((0..self.d).map(|i| if i == 0 { sign * length } else { 0.0 }))
    }

    /// A precision of the same shape in which no direction is more than ten times as wide as its coordinates taken
    /// singly.
    pub(super) fn regularised(&self) -> Vec<f64> {
        let d = self.d;
        // A coordinate without any curvature has unit width, not ten.
        let floor = if self.values.iter().all(|v| v.abs() <= ZERO) { 1.0 } else { tuning::search::WIDEST_DIRECTION };
        let mut entries = vec![0.0; d * d];
        for (value, vector) in self.values.iter().zip(self.vectors.chunks_exact(d)) {
            let weight = value.abs().max(floor);
            for (j, column) in entries.chunks_exact_mut(d).enumerate() {
                axpy(weight * vector[j], vector, column);
            }
        }
        for (at, entry) in entries.iter_mut().enumerate() {
            *entry *= self.scale[at % d] * self.scale[at / d];
        }
        entries
    }
}
