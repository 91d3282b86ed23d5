//! The gradient of the bound of a mixture of diagonal Gaussians by implicit reparameterisation of the mixture as a
//! whole: a draw moves so that its conditional distribution functions stay where they are (mathematics §9.4).
//!
//! Figurnov, Mohamed & Mnih 2018.

use super::GaussianMixture;
use super::draw::GaussianMixtureEstimator;
use crate::family::{Gradient, Seen};
use crate::special::normal::normal_cdf;

/// Memory for one draw: K × d numbers each, and d where there is one for a coordinate.
#[derive(Clone, Debug, Default)]
pub(super) struct ImplicitRoom {
    /// Φ_ci − S_i, S_i = Σ_c ρ_ci Φ_ci the distribution function of z_i given those before it.
    above: Vec<f64>,
    /// ρ_ci, the weight of component c given the coordinates before i.
    share: Vec<f64>,
    /// The share of component c in the conditional density f_i.
    of_density: Vec<f64>,
    /// P_ci(z_i − μ_ci).
    residual: Vec<f64>,
    /// log ρ_ci up to a constant, K numbers.
    logs: Vec<f64>,
    density: Vec<f64>,
    adjoint: Vec<f64>,
    slope: Vec<f64>,
}

impl ImplicitRoom {
    pub(super) fn make(&mut self, k: usize, d: usize) {
        for part in [&mut self.above, &mut self.share, &mut self.of_density, &mut self.residual] {
            part.resize(k * d, 0.0);
        }
        self.logs.resize(k, 0.0);
        for part in [&mut self.density, &mut self.adjoint, &mut self.slope] {
            part.resize(d, 0.0);
        }
    }
}

impl GaussianMixture<'_> {
    /// Adds weight gᵀ∂z/∂θ for θ = (μ_c, log σ_c, logits), where g is ∇(log p − log q) at z.
    ///
    /// With S(z; θ) the conditional distribution functions, ∂z/∂θ = −(∂S/∂z)⁻¹∂S/∂θ, and ∂S/∂z is triangular: v with
    /// (∂S/∂z)ᵀv = g comes from the last coordinate to the first.
    pub(super) fn add_implicit(&self, z: &[f64], g: &[f64], weight: f64, room: &mut ImplicitRoom, out: &mut Gradient) {
        let (k, d) = (self.components.len(), z.len());
        let at = |c: usize, i: usize| c * d + i;
        room.logs.copy_from_slice(self.weights.log());
        for (i, z) in z.iter().enumerate() {
            let most = room.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = room.logs.iter().map(|log| (log - most).exp()).sum();
            let (mut below, mut density) = (0.0, 0.0);
            for (c, log_share) in room.logs.iter_mut().enumerate() {
                let p = self.components[c].scale().precision()[i];
                let off = z - self.components[c].column(0)[i];
                let share = (*log_share - most).exp() / total;
                let cdf = normal_cdf(off * p.sqrt());
                let part = (p / std::f64::consts::TAU).sqrt() * (-0.5 * p * off * off).exp();
                room.residual[at(c, i)] = p * off;
                room.share[at(c, i)] = share;
                room.above[at(c, i)] = cdf;
                room.of_density[at(c, i)] = share * part;
                below += share * cdf;
                density += share * part;
                *log_share += 0.5 * p.ln() - 0.5 * p * off * off;
            }
            room.density[i] = density;
            for c in 0..k {
                room.above[at(c, i)] -= below;
            }
        }
        for i in (0..d).rev() {
            // ∂S_l/∂z_i = −Σ_c ρ_cl(Φ_cl − S_l)P_ci(z_i − μ_ci) for l > i.
            let mut rest = g[i];
            for l in i + 1..d {
                let moved: f64 =
                    (0..k).map(|c| room.share[at(c, l)] * room.above[at(c, l)] * room.residual[at(c, i)]).sum();
                rest += room.adjoint[l] * moved;
            }
            room.adjoint[i] = rest / room.density[i];
        }
        for (c, gradient) in out.blocks.iter_mut().enumerate() {
            let own = &self.components[c];
            // Σ_l v_l ρ_cl(Φ_cl − S_l) over the coordinates l after i.
            let mut after = 0.0;
            for i in (0..d).rev() {
                let (off, residual) = (z[i] - own.column(0)[i], room.residual[at(c, i)]);
                let here = room.adjoint[i] * room.of_density[at(c, i)];
                let in_mean = here - after * residual;
                let in_log_sd = here * off - after * (residual * off - 1.0);
                // Stored are gradients over π_c, and that of P has −2∂_Σ = −P ∂_{log σ}.
                let share = weight / self.weights.weight(c);
                gradient.b[i] += share * in_mean;
                gradient.g[i] -= share * own.scale().precision()[i] * in_log_sd;
                after += room.adjoint[i] * room.share[at(c, i)] * room.above[at(c, i)];
            }
            out.expected_h[c] += weight * after / self.weights.weight(c);
        }
    }

    /// The whole gradient from a batch.
    pub(super) fn accumulate_implicit(&self, seen: &Seen<'_>, work: &mut GaussianMixtureEstimator, out: &mut Gradient) {
        let Seen { evaluations, prior, batch, .. } = *seen;
        let d = self.components[0].dim();
        let mut room = std::mem::take(&mut work.implicit);
        room.make(self.components.len(), d);
        out.blocks.iter_mut().for_each(|block| block.reset());
        out.expected_h.fill(0.0);
        let share = 1.0 / batch.n_kept() as f64;
        let mut slope = std::mem::take(&mut room.slope);
        for s in (0..batch.n).filter(|s| batch.kept[*s]) {
            let z = batch.draws.get(s);
            slope.iter_mut().zip(evaluations.grad(s)).zip(&work.score[s * d..]).for_each(|((to, g), q)| *to = g - q);
            prior.add_score(z, &mut slope);
            self.add_implicit(z, &slope, share, &mut room, out);
        }
        room.slope = slope;
        work.implicit = room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Location, LogWeights, Scale};
    use crate::family::Approximation;
    use crate::target::Shape;

    /// Differences of a trapezoid sum of 251² points, whose own error is far below.
    const DIFFERENCES: f64 = 1e-6;
    const D: usize = 2;
    const K: usize = 3;

    /// θ = logits, then means and log σ of every component.
    fn member(theta: &[f64]) -> Approximation {
        let total: f64 = theta[..K].iter().map(|l| l.exp()).sum();
        let weights = LogWeights::new(theta[..K].iter().map(|l| l - total.ln()).collect()).unwrap();
        let block = |c: usize| {
            let own = &theta[K + 2 * D * c..];
            let precision = own[D..2 * D].iter().map(|log| (-2.0 * log).exp()).collect();
            Location::new(own[..D].to_vec(), Scale::from_precision(Shape::Diagonal(D), precision).unwrap()).unwrap()
        };
        Approximation::mixture(weights, (0..K).map(block).collect()).unwrap()
    }

    /// A log density that no mixture of Gaussians has, with its gradient.
    fn log_p(z: &[f64]) -> (f64, [f64; D]) {
        let bend = z[1] - 0.4 * z[0] * z[0];
        (-0.5 * z[0] * z[0] - bend * bend, [-z[0] + 1.6 * bend * z[0], -2.0 * bend])
    }

    fn over_grid(q: &Approximation, mut at: impl FnMut(&[f64], f64)) {
        // To eight standard deviations: log p falls fast, and so does what a shorter grid would cut off.
        let h = 0.08;
        for i in -125..=125 {
            for j in -125..=125 {
                let z = [h * f64::from(i), h * f64::from(j)];
                at(&z, h * h * q.log_density(&z).exp());
            }
        }
    }

    /// ∫ q gᵀ∂z/∂θ over a grid against differences of the bound over the same grid, for every parameter.
    #[test]
    fn the_gradient_is_that_of_the_bound() {
        let theta = [0.2, -0.3, 0.1, 0.5, -0.2, -0.3, 0.1, -0.6, 0.4, 0.2, -0.4, 0.1, 0.9, -0.1, -0.2];
        let q = member(&theta);
        let mixture = GaussianMixture::of(&q);
        let (mut out, mut room) = (q.zero_gradient(), ImplicitRoom::default());
        room.make(K, D);
        over_grid(&q, |z, weight| {
            let (mut g, (_, grad)) = ([0.0; D], log_p(z));
            q.score(z, &mut g);
            g.iter_mut().zip(grad).for_each(|(g, grad)| *g = grad - *g);
            mixture.add_implicit(z, &g, weight, &mut room, &mut out);
        });
        let bound = |theta: &[f64]| {
            let (q, mut sum) = (member(theta), 0.0);
            over_grid(&q, |z, weight| sum += weight * (log_p(z).0 - q.log_density(z)));
            sum
        };
        let mean: f64 = (0..K).map(|c| q.weights().weight(c) * out.expected_h[c]).sum();
        let found = |i: usize| {
            if i < K {
                return -q.weights().weight(i) * (out.expected_h[i] - mean);
            }
            let (c, j) = ((i - K) / (2 * D), (i - K) % (2 * D));
            let (weight, own) = (q.weights().weight(c), &out.blocks[c]);
            if j < D { weight * own.b[j] } else { -weight * own.g[j - D] / q.locations()[c].scale().precision()[j - D] }
        };
        for i in 0..theta.len() {
            let moved = |by: f64| {
                let mut theta = theta;
                theta[i] += by;
                bound(&theta)
            };
            let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            assert!((found(i) - difference).abs() < DIFFERENCES, "{i}: {} and {difference}", found(i));
        }
    }
}
