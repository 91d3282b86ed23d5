//! Robust regression of a few rows, its noise scale integrated out: a posterior with heavy tails.

use elinvar::random::{Purpose, Stream};
use elinvar::target::{PointwiseHessian, PointwiseTarget, PointwiseValue, TargetError};

/// Degrees of freedom of the noise.
const NU: f64 = 4.0;
/// log σ is summed from here …
const LOWEST: f64 = -7.0;
/// … to here …
const HIGHEST: f64 = 14.0;
/// … in steps of a quarter; the trapezoidal rule of so smooth a function is exact to ten digits.
const STEP: f64 = 0.25;

/// y = z₁ + z₂x + σε with ε ~ t₄, σ ~ half-Cauchy(0, 1) integrated out, and a flat prior on z.
///
/// Far out p(z) falls like ‖z‖^−(n+1), so the posterior has the tails of a t with n − 1 degrees of freedom.
pub(super) struct RobustLine {
    x: Vec<f64>,
    y: Vec<f64>,
    /// 1/σ and the logarithm of the weight of each node.
    nodes: Vec<(f64, f64)>,
}

/// What the points of the likelihood say at one z.
struct Jet {
    value: f64,
    gradient: [f64; 2],
    /// ∂₁₁, ∂₁₂, ∂₂₂.
    hessian: [f64; 3],
}

impl RobustLine {
    /// Rows with x from −1 to 1, y = 1 + 2x + ½ε with normal ε, and one row far off.
    pub(super) fn generated(n: usize, seed: u64) -> Self {
        let mut stream = Stream::open(seed, Purpose::Sample, 0, 0);
        let x: Vec<f64> = (0..n).map(|i| -1.0 + 2.0 * i as f64 / (n - 1) as f64).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 0.5 * stream.normal()).collect();
        y[n - 2] += 5.0;
        Self::new(x, y)
    }

    fn new(x: Vec<f64>, y: Vec<f64>) -> Self {
        let n_nodes = ((HIGHEST - LOWEST) / STEP).round() as usize + 1;
        let node = |k: usize| {
            let log_sigma = LOWEST + STEP * k as f64;
            let half_cauchy = (2.0 / std::f64::consts::PI).ln() - (2.0 * log_sigma).exp().ln_1p();
            ((-log_sigma).exp(), STEP.ln() + half_cauchy + (1.0 - x.len() as f64) * log_sigma)
        };
        let nodes = (0..n_nodes).map(node).collect();
        Self { x, y, nodes }
    }

    fn residual(&self, i: usize, z: &[f64]) -> f64 {
        self.y[i] - z[0] - z[1] * self.x[i]
    }

    /// log of the integrand at a node.
    fn log_term(&self, z: &[f64], (scale, weight): (f64, f64)) -> f64 {
        let factor = |i: usize| {
            let u = scale * self.residual(i, z);
            1.0 + u * u / NU
        };
        weight - 0.5 * (NU + 1.0) * (0..self.x.len()).map(factor).product::<f64>().ln()
    }

    /// log p(z) up to the constant of the t density.
    pub(super) fn log_density_at(&self, z: &[f64]) -> f64 {
        // The terms are computed twice instead of kept: this is called for every point of a grid.
        let top = self.nodes.iter().map(|node| self.log_term(z, *node)).fold(f64::NEG_INFINITY, f64::max);
        top + self.nodes.iter().map(|node| (self.log_term(z, *node) - top).exp()).sum::<f64>().ln()
    }

    /// Value and derivatives: those of log Σ_k exp ℓ_k by those of ℓ_k under the weights of the nodes.
    fn jet(&self, z: &[f64]) -> Jet {
        let value = self.log_density_at(z);
        let (mut gradient, mut second) = ([0.0; 2], [0.0; 3]);
        for node in &self.nodes {
            let share = (self.log_term(z, *node) - value).exp();
            let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
            for (i, x) in self.x.iter().enumerate() {
                let u = node.0 * self.residual(i, z);
                let q = NU + u * u;
                let slope = (NU + 1.0) * u * node.0 / q;
                let curvature = -(NU + 1.0) * node.0 * node.0 * (NU - u * u) / (q * q);
                g = [g[0] + slope, g[1] + slope * x];
                h = [h[0] + curvature, h[1] + curvature * x, h[2] + curvature * x * x];
            }
            for (sum, g) in gradient.iter_mut().zip(g) {
                *sum += share * g;
            }
            for (sum, h) in second.iter_mut().zip([h[0] + g[0] * g[0], h[1] + g[0] * g[1], h[2] + g[1] * g[1]]) {
                *sum += share * h;
            }
        }
        let [a, b] = gradient;
        Jet { value, gradient, hessian: [second[0] - a * a, second[1] - a * b, second[2] - b * b] }
    }
}

impl PointwiseTarget for RobustLine {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let jet = self.jet(z);
        grad.copy_from_slice(&jet.gradient);
        Ok(jet.value)
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        vec!["intercept".into(), "slope".into()]
    }
}

impl PointwiseValue for RobustLine {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        Ok(self.log_density_at(z))
    }
}

impl PointwiseHessian for RobustLine {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let [a, b, c] = self.jet(z).hessian;
        hessian.copy_from_slice(&[a, b, b, c]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        let line = RobustLine::generated(6, 3);
        let at = |a: f64, b: f64| line.log_density_at(&[0.7 + a, 1.3 + b]);
        let (mut g, mut h) = ([0.0; 2], [0.0; 4]);
        assert_eq!(line.gradient(&[0.7, 1.3], &mut g).unwrap(), at(0.0, 0.0));
        line.hessian(&[0.7, 1.3], &mut h).unwrap();
        let e = 1e-4;
        let differences = [(at(e, 0.0) - at(-e, 0.0)) / (2.0 * e), (at(0.0, e) - at(0.0, -e)) / (2.0 * e)];
        let mixed = (at(e, e) - at(e, -e) - at(-e, e) + at(-e, -e)) / (4.0 * e * e);
        let second = |a: f64, b: f64| (at(a, b) - 2.0 * at(0.0, 0.0) + at(-a, -b)) / (e * e);
        for (found, expected) in g.iter().zip(differences) {
            assert!((found - expected).abs() < 1e-6, "{g:?} {differences:?}");
        }
        for (found, expected) in h.iter().zip([second(e, 0.0), mixed, mixed, second(0.0, e)]) {
            assert!((found - expected).abs() < 1e-5, "{h:?} {expected}");
        }
    }

    /// ‖z‖^−(n+1): the exponent is what a doubling of the distance shows.
    #[test]
    fn the_tails_are_those_of_a_t() {
        let line = RobustLine::generated(6, 1);
        let at = |r: f64| line.log_density_at(&[0.6 * r, 0.8 * r]);
        let exponent = (at(2e4) - at(1e4)) / 2f64.ln();
        assert!((exponent + 7.0).abs() < 0.01, "{exponent}");
    }
}
