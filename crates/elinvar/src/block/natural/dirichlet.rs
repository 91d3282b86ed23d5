//! The Dirichlet distribution: z_i > 0 with Σ z_i = 1 (mathematics §5.5).

use super::LARGEST_DIVERGENCE;
use crate::block::gradient::BlockGradient;
use crate::component::path_of_first_shape;
use crate::linalg::axpy;
use crate::random::MixingNoise;
use crate::rule::Rule;
use crate::special::gamma::{
    digamma, digamma_minus_log, ln_gamma, log_minus_excess, stirling_remainder, trigamma, trigamma_minus_inv,
};
use crate::special::normal::HALF_LOG_TWO_PI;

/// Γ(a₀)/Π Γ(a_i) Π z_i^{a_i−1} with a₀ = Σ a_i, a density of the first C − 1 coordinates; t = log z with base Π 1/z_i,
/// η = a.
///
/// Paper: App. B.5.
#[derive(Debug, PartialEq)]
pub(crate) struct Dirichlet {
    a: Vec<f64>,
    /// a₀.
    total: f64,
}

impl Clone for Dirichlet {
    fn clone(&self) -> Self {
        Self { a: self.a.clone(), total: self.total }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.a.clone_from(&source.a);
        self.total = source.total;
    }
}

/// a − 1/ψ′(a), between 0 and ½ and increasing, without the difference.
fn excess(a: f64) -> f64 {
    a * trigamma_minus_inv(a) / trigamma(a)
}

/// log Γ(a) − log Γ(b) + (b − a)ψ(b).
fn partition_gap(a: f64, b: f64) -> f64 {
    ln_gamma(a) - ln_gamma(b) + (b - a) * digamma(b)
}

/// Draws below are made in logarithms: a gamma draw of a small shape underflows.
const SMALL_SHAPE: f64 = 0.1;

/// Parameters.
impl Dirichlet {
    pub(super) fn new(a: Vec<f64>) -> Option<Self> {
        let total: f64 = a.iter().sum();
        let valid = a.len() > 1 && total.is_finite() && a.iter().all(|a| *a > 0.0);
        valid.then_some(Self { a, total })
    }

    /// a.
    pub(super) fn concentrations(&self) -> &[f64] {
        &self.a
    }

    pub(super) fn natural_len(&self) -> usize {
        self.a.len()
    }

    /// m_i = E[log z_i] = ψ(a_i) − ψ(a₀).
    pub(super) fn expectation(&self) -> Vec<f64> {
        let both = digamma(self.total);
        self.a.iter().map(|a| digamma(*a) - both).collect()
    }

    /// Newton's method in log a; Σ e^{m_i} < 1 for every member.
    pub(super) fn with_expectation(m: &[f64]) -> Option<Self> {
        let gap = 1.0 - m.iter().map(|m| m.exp()).sum::<f64>();
        if gap.is_nan() || gap <= 0.0 {
            return None;
        }
        let free = (m.len() - 1) as f64;
        let mut found = Self::new(m.iter().map(|m| 0.5 + 0.5 * free * m.exp() / gap).collect())?;
        let mut step = vec![0.0; m.len()];
        for _ in 0..200 {
            let mut left = BlockGradient::zeros(m.len(), 0);
            left.b.iter_mut().zip(m.iter().zip(found.expectation())).for_each(|(to, (m, own))| *to = m - own);
            found.raise(&left, &mut step);
            step.iter_mut().zip(&found.a).for_each(|(step, a)| *step /= a);
            let longest = step.iter().fold(0.0, |longest: f64, step| longest.max(step.abs()));
            let scale = (2.0 / longest).min(1.0);
            found = Self::new(found.a.iter().zip(&step).map(|(a, step)| a * (scale * step).exp()).collect())?;
            if longest < 4.0 * f64::EPSILON {
                break;
            }
        }
        Some(found)
    }

    /// A(η) = Σ log Γ(a_i) − log Γ(a₀).
    pub(super) fn log_partition(&self) -> f64 {
        self.a.iter().map(|a| ln_gamma(*a)).sum::<f64>() - ln_gamma(self.total)
    }

    /// F = diag ψ′(a) − ψ′(a₀)11ᵀ.
    pub(super) fn fisher(&self) -> Vec<f64> {
        let n = self.a.len();
        let mut fisher = vec![-trigamma(self.total); n * n];
        fisher.iter_mut().step_by(n + 1).zip(&self.a).for_each(|(entry, a)| *entry += trigamma(*a));
        fisher
    }

    /// 1/ψ′(a₀) − Σ 1/ψ′(a_i), whose leading terms a₀ and Σ a_i cancel exactly; positive.
    fn pivot(&self) -> f64 {
        self.a.iter().map(|a| excess(*a)).sum::<f64>() - excess(self.total)
    }
}

/// The methods of [`Natural`](super::Natural), which says what they are.
impl Dirichlet {
    /// F⁻¹g = D⁻¹g + D⁻¹1 (1ᵀD⁻¹g)/(1/ψ′(a₀) − 1ᵀD⁻¹1) with D = diag ψ′(a).
    pub(super) fn raise(&self, gradient: &BlockGradient, direction: &mut [f64]) {
        let mut sum = 0.0;
        for ((to, g), a) in direction.iter_mut().zip(&gradient.b).zip(&self.a) {
            *to = g / trigamma(*a);
            sum += *to;
        }
        let share = sum / self.pivot();
        direction.iter_mut().zip(&self.a).for_each(|(to, a)| *to += share / trigamma(*a));
    }

    pub(super) fn attempt(&self, _rule: Rule, beta: f64, direction: &[f64], moved: &mut Self) -> Option<f64> {
        self.displace(beta, direction, moved).ok()?;
        let of_each: f64 = self.a.iter().zip(&moved.a).map(|(old, new)| partition_gap(*old, *new)).sum();
        let kl = of_each - partition_gap(self.total, moved.total);
        // Rounding of the partitions may leave a tiny negative number.
        (kl <= LARGEST_DIVERGENCE * self.a.len() as f64).then_some(kl.max(0.0))
    }

    pub(super) fn displace(&self, beta: f64, direction: &[f64], moved: &mut Self) -> Result<(), f64> {
        for ((new, a), delta) in moved.a.iter_mut().zip(&self.a).zip(direction) {
            *new = a + beta * delta;
            if new.is_nan() || *new <= 0.0 {
                return Err(*new);
            }
        }
        moved.total = moved.a.iter().sum();
        if moved.total.is_finite() { Ok(()) } else { Err(moved.total) }
    }

    pub(super) fn add_inner(&self, weight: f64, one: &BlockGradient, two: &BlockGradient, sum: &mut f64) {
        let [mut direct, mut first, mut second] = [0.0; 3];
        for ((one, two), a) in one.b.iter().zip(&two.b).zip(&self.a) {
            let share = 1.0 / trigamma(*a);
            direct += one * share * two;
            first += one * share;
            second += two * share;
        }
        *sum += weight * (direct + first * second / self.pivot());
    }

    pub(super) fn add_momentum(&self, before: &Self, ratio: f64, gradient: &mut BlockGradient) {
        let together = trigamma(self.total) * (self.total - before.total);
        for ((to, a), before) in gradient.b.iter_mut().zip(&self.a).zip(&before.a) {
            *to += ratio * (trigamma(*a) * (a - before) - together);
        }
    }

    pub(super) fn add_natural(&self, sum: &mut [f64]) {
        axpy(1.0, &self.a, sum);
    }

    pub(super) fn chart(&self, out: &mut [f64]) {
        out.iter_mut().zip(&self.a).for_each(|(to, a)| *to = a.ln());
    }

    pub(super) fn chart_gradient(&self, weight: f64, gradient: &BlockGradient, out: &mut [f64]) {
        out.iter_mut().zip(&gradient.b).zip(&self.a).for_each(|((to, g), a)| *to = weight * a * g);
    }

    pub(super) fn propose_chart(&self, coordinates: &[f64], moved: &mut Self) -> bool {
        moved.a.iter_mut().zip(coordinates).for_each(|(a, log)| *a = log.exp());
        moved.total = moved.a.iter().sum();
        moved.total.is_finite() && moved.a.iter().all(|a| *a > 0.0)
    }
}

/// The law at a point, its moments and its draws.
impl Dirichlet {
    /// log q(z) + Σ log z_i at the mean, by Stirling's formula: nothing cancels for large a.
    fn log_peak(&self) -> f64 {
        let part = |a: f64| 0.5 * a.ln() - stirling_remainder(a) - HALF_LOG_TWO_PI;
        self.a.iter().map(|a| part(*a)).sum::<f64>() - part(self.total)
    }

    pub(super) fn log_density(&self, z: &[f64]) -> f64 {
        if z.iter().any(|z| z.is_nan() || *z <= 0.0) {
            return f64::NEG_INFINITY;
        }
        // a_i log z_i less its value at the mean, as terms that are never positive.
        let fall = |(a, z): (&f64, &f64)| a * log_minus_excess(z * (self.total / a)) - z.ln();
        self.log_peak() + self.a.iter().zip(z).map(fall).sum::<f64>()
    }

    /// E\[z_i\] and Var\[z_i\].
    pub(super) fn moments(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.a.iter().map(|a| {
            let mean = a / self.total;
            (mean, mean * (1.0 - mean) / (self.total + 1.0))
        })
    }

    /// Adds `weight` times Cov[z_i, z_j] = −E[z_i]E[z_j]/(a₀ + 1) off the diagonal.
    pub(super) fn add_correlation(&self, weight: f64, covariance: &mut [f64]) {
        let n = self.a.len();
        for i in 0..n {
            for j in (0..n).filter(|j| *j != i) {
                let means = self.a[i] / self.total * (self.a[j] / self.total);
                covariance[i * n + j] -= weight * means / (self.total + 1.0);
            }
        }
    }

    pub(super) fn entropy(&self) -> f64 {
        let both = digamma_minus_log(self.total);
        // E[log z_i], and how far it is below log E[z_i].
        let part = |a: &f64| {
            let below = digamma_minus_log(*a) - both;
            below + (a / self.total).ln() - a * below
        };
        self.a.iter().map(part).sum::<f64>() - self.log_peak()
    }

    /// log y_i with y_i ~ Gamma(a_i, 1).
    pub(super) fn sample_logarithm<N: MixingNoise + ?Sized>(&self, i: usize, noise: &mut N) -> f64 {
        let a = self.a[i];
        if a > SMALL_SHAPE {
            return noise.gamma(a).ln();
        }
        // Gamma(a) is Gamma(a + 1) U^{1/a}.
        noise.gamma(a + 1.0).ln() + noise.uniform().ln() / a
    }

    /// Adds `weight` times gᵀ∂z/∂a to the sums, ∂z/∂a the pathwise derivative of a draw z.
    ///
    /// z_j ~ Beta(a_j, a₀ − a_j) is independent of the ratios of the other coordinates, whose law knows nothing of a_j:
    /// with a_j moves z_j as a draw of this law, and the others make room for it in proportion.
    pub(super) fn add_path(&self, z: &[f64], g: &[f64], weight: f64, sums: &mut [f64]) {
        for (j, sum) in sums.iter_mut().enumerate() {
            // Sums and not 1 − z_j and a₀ − a_j, which cancel where z_j or a_j is almost all.
            let [mut rest, mut shapes, mut slope] = [0.0; 3];
            for i in (0..z.len()).filter(|i| *i != j) {
                rest += z[i];
                shapes += self.a[i];
                slope += z[i] * g[i];
            }
            *sum += weight * path_of_first_shape(self.a[j], shapes, z[j], rest) * (g[j] - slope / rest);
        }
    }
}
