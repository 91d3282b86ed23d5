//! Curved, hollow and sharp-edged targets.

use elinvar::internals::special::normal::{TruncatedNormal, log_ndtr};
use elinvar::model::{Banana, Funnel};
use elinvar::target::{Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, TargetError};

use super::grid::moments_over;
use super::{Moments, Problem};

/// z₁ ~ N(0, σ²), z₂ | z₁ ~ N(b(z₁² − σ²), 1).
pub(crate) fn banana(sigma: f64, bend: f64) -> Problem {
    let second = (1.0 + 2.0 * bend * bend * sigma.powi(4)).sqrt();
    let moments = Moments { mean: vec![0.0; 2], sd: vec![sigma, second] };
    let target = Banana::new(sigma, bend).expect("a positive sd and a finite bend");
    Problem::known(format!("banana σ = {sigma}, b = {bend}"), target, 0.0, moments)
}

/// z₁ ~ N(0, 9), z_i | z₁ ~ N(0, e^{z₁}): the variance of z_i is E e^{z₁} = e^{9/2}.
pub(crate) fn funnel(dim: usize) -> Problem {
    let mut sd = vec![2.25f64.exp(); dim];
    sd[0] = 3.0;
    let target = Funnel::new(dim).expect("two or more dimensions");
    Problem::known(format!("funnel d = {dim}"), target, 0.0, Moments { mean: vec![0.0; dim], sd })
}

/// z₁ ~ N(1, 1/2a), z_i | z_{i−1} ~ N(z_{i−1}², 1/2b).
struct Rosenbrock {
    dim: usize,
    a: f64,
    b: f64,
}

impl PointwiseTarget for Rosenbrock {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let first = z[0] - 1.0;
        grad.fill(0.0);
        grad[0] = -2.0 * self.a * first;
        let mut log_p = -self.a * first * first;
        for i in 1..z.len() {
            let residual = z[i] - z[i - 1] * z[i - 1];
            log_p -= self.b * residual * residual;
            grad[i] -= 2.0 * self.b * residual;
            grad[i - 1] += 4.0 * self.b * residual * z[i - 1];
        }
        Ok(log_p)
    }
}

/// E zᵏ for k = 0 … n of N(m, v).
fn normal_moments(mean: f64, variance: f64, n: usize) -> Vec<f64> {
    let mut moments = vec![1.0, mean];
    for k in 2..=n {
        moments.push(mean * moments[k - 1] + (k - 1) as f64 * variance * moments[k - 2]);
    }
    moments
}

/// E zᵏ for k = 0 … n of z = y² + N(0, v), from the moments of y up to 2n.
fn moments_after(before: &[f64], variance: f64) -> Vec<f64> {
    let moment = |k: usize| {
        // The term of N(0, v)²ʲ: k!/(2j)!(k − 2j)! · (2j − 1)!! vʲ E y²⁽ᵏ⁻²ʲ⁾.
        let (mut term, mut sum) = (1.0, 0.0);
        for j in 0..=k / 2 {
            sum += term * before[2 * (k - 2 * j)];
            let left = (k - 2 * j) as f64;
            term *= left * (left - 1.0) * variance / (2 * (j + 1)) as f64;
        }
        sum
    };
    (0..before.len().div_ceil(2)).map(moment).collect()
}

/// A ridge that bends once for every coordinate after the first.
pub(crate) fn rosenbrock(dim: usize, a: f64, b: f64) -> Problem {
    let mut moments = normal_moments(1.0, 0.5 / a, 1 << dim);
    let mut known = Moments { mean: Vec::new(), sd: Vec::new() };
    for _ in 0..dim {
        known.mean.push(moments[1]);
        known.sd.push((moments[2] - moments[1] * moments[1]).sqrt());
        moments = moments_after(&moments, 0.5 / b);
    }
    let log_normaliser =
        0.5 * (std::f64::consts::PI / a).ln() + 0.5 * (dim as f64 - 1.0) * (std::f64::consts::PI / b).ln();
    let target = Pointwise(Rosenbrock { dim, a, b });
    Problem::known(format!("Rosenbrock ({a}, {b}) d = {dim}"), target, log_normaliser, known)
}

/// log p = −(r − R)²/(2s²) with r = |z| in the plane.
struct Ring {
    radius: f64,
    width: f64,
}

impl PointwiseTarget for Ring {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let r = z[0].hypot(z[1]);
        let t = (r - self.radius) / self.width;
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -t / self.width * z / r);
        Ok(-0.5 * t * t)
    }
}

impl PointwiseHessian for Ring {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let r = z[0].hypot(z[1]);
        let variance = self.width * self.width;
        // Curvature −1/s² along the radius, −(r − R)/(r s²) across it.
        let across = -(r - self.radius) / (r * variance);
        for j in 0..2 {
            for i in 0..2 {
                let along = z[i] * z[j] / (r * r);
                let identity = f64::from(u8::from(i == j));
                hessian[2 * j + i] = -along / variance + (identity - along) * across;
            }
        }
        Ok(())
    }
}

/// A ring in the plane.
pub(crate) fn ring(radius: f64, width: f64) -> Problem {
    let low = (radius - 12.0 * width).max(0.0);
    let radial = |r: f64, first: &mut [f64], second: &mut [f64]| {
        first.fill(0.0);
        second.fill(0.5 * r * r);
        let t = (r - radius) / width;
        r.ln() - 0.5 * t * t
    };
    let (log_integral, moments) = moments_over(2, low, radius + 12.0 * width, 20_001, radial);
    let log_normaliser = log_integral + std::f64::consts::TAU.ln();
    let name = format!("ring of radius {radius}, width {width}");
    Problem::known(name, PointwiseSecondOrder(Ring { radius, width }), log_normaliser, moments)
}

/// What a [`Cliff`] is beyond its edge.
#[derive(Clone, Copy)]
pub(crate) enum Beyond {
    /// A density of zero.
    Nothing,
    /// No number.
    NotANumber,
}

/// A standard Gaussian cut off at z₁ = edge.
struct Cliff {
    dim: usize,
    edge: f64,
    beyond: Beyond,
}

impl PointwiseTarget for Cliff {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        if z[0] < self.edge {
            let value = match self.beyond {
                Beyond::Nothing => f64::NEG_INFINITY,
                Beyond::NotANumber => f64::NAN,
            };
            grad.fill(f64::NAN);
            return Ok(value);
        }
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        Ok(-0.5 * z.iter().map(|z| z * z).sum::<f64>())
    }
}

impl PointwiseHessian for Cliff {
    fn hessian(&self, _z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        hessian.fill(0.0);
        hessian.iter_mut().step_by(self.dim + 1).for_each(|h| *h = -1.0);
        Ok(())
    }
}

/// A standard Gaussian cut off at z₁ = `edge`.
pub(crate) fn cliff(dim: usize, edge: f64, beyond: Beyond) -> Problem {
    // z₁ − edge is N(−edge, 1) restricted to the positive half-line.
    let first = TruncatedNormal::new(-edge);
    let (mut mean, mut sd) = (vec![0.0; dim], vec![1.0; dim]);
    (mean[0], sd[0]) = (edge + first.mean, first.variance.sqrt());
    let log_normaliser = 0.5 * dim as f64 * std::f64::consts::TAU.ln() + log_ndtr(-edge);
    let what = match beyond {
        Beyond::Nothing => "zero",
        Beyond::NotANumber => "NaN",
    };
    let name = format!("Gaussian d = {dim}, {what} below {edge}");
    Problem::known(name, PointwiseSecondOrder(Cliff { dim, edge, beyond }), log_normaliser, Moments { mean, sd })
}
