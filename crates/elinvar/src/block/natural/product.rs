//! A product of members of univariate exponential families, one for each coordinate (mathematics §5.1).

use super::LARGEST_DIVERGENCE;
use crate::block::gradient::BlockGradient;
use crate::component::{Component, Parameters};
use crate::linalg::axpy;
use crate::rule::{Rule, retraction};
use crate::special::logistic::log1p_exp;

/// Whether η is minus a rate or scale ρ with F ∝ 1/ρ².
fn is_rate(member: &Component) -> bool {
    let natural = member.natural();
    member.n_free() == 1
        && natural[0] < 0.0
        && member.with_natural([2.0 * natural[0], 0.0, 0.0]).is_some_and(|doubled| {
            let ratio = 4.0 * doubled.fisher()[0][0] / member.fisher()[0][0];
            (ratio - 1.0).abs() < 1e-9
        })
}

/// KL(new ‖ old) = A(η) − A(η⁺) + ⟨η⁺ − η, m⁺⟩.
///
/// A third parameter is the log-odds of a label hidden in the component: then A is an average over the label, and the
/// formula holds at fixed odds. The odds move first, and their own divergence is added.
fn divergence(old: &Component, new: &Component) -> Option<f64> {
    let (from, to, m) = (old.natural(), new.natural(), new.expectation());
    let moved: Parameters = std::array::from_fn(|j| to[j] - from[j]);
    let kl = if old.n_free() == 3 {
        let (odds, next) = (from[2], to[2]);
        let of_label = log1p_exp(odds) - log1p_exp(next) + moved[2] * m[2];
        let with_odds = old.with_natural([from[0], from[1], next])?;
        of_label + with_odds.log_partition() - new.log_partition() + moved[0] * m[0] + moved[1] * m[1]
    } else {
        old.log_partition() - new.log_partition() + product(&moved, &m)
    };
    // Rounding of the two partitions may leave a tiny negative number.
    kl.is_finite().then_some(kl.max(0.0))
}

/// One member of an exponential family for each coordinate, all of one family.
#[derive(Debug, PartialEq)]
pub(crate) struct Product {
    pub(super) coordinates: Vec<Component>,
    /// Whether η = −ρ with F ∝ 1/ρ², so that the step of a positive rate applies.
    is_rate: bool,
}

impl Clone for Product {
    fn clone(&self) -> Self {
        Self { coordinates: self.coordinates.clone(), is_rate: self.is_rate }
    }

    /// Allocates nothing where the shapes agree.
    fn clone_from(&mut self, source: &Self) {
        self.coordinates.clone_from(&source.coordinates);
        self.is_rate = source.is_rate;
    }
}

impl Product {
    /// The product of these members, of which there is at least one.
    pub(super) fn new(coordinates: Vec<Component>) -> Self {
        Self { is_rate: coordinates.first().is_some_and(is_rate), coordinates }
    }

    /// Number of natural parameters of one coordinate.
    pub(super) fn n_free(&self) -> usize {
        self.coordinates[0].n_free()
    }

    /// Number of natural parameters.
    pub(super) fn natural_len(&self) -> usize {
        self.coordinates.len() * self.n_free()
    }

    /// Writes F⁻¹g.
    pub(super) fn raise(&self, gradient: &BlockGradient, direction: &mut [f64]) {
        let f = self.n_free();
        for (i, member) in self.coordinates.iter().enumerate() {
            let delta = member.natural_gradient(self.coordinate_of(gradient, i));
            direction[i * f..(i + 1) * f].copy_from_slice(&delta[..f]);
        }
    }

    /// Writes the members after a step β; their KL divergence from the present ones, if they exist and are not absurd.
    pub(super) fn attempt(&self, rule: Rule, beta: f64, direction: &[f64], moved: &mut Self) -> Option<f64> {
        let f = self.n_free();
        let mut total = 0.0;
        let members = self.coordinates.iter().zip(direction.chunks_exact(f)).zip(&mut moved.coordinates);
        for ((member, delta), moved) in members {
            let mut natural = member.natural();
            if self.is_rate && rule == Rule::Retraction {
                natural[0] += retraction::negative(natural[0], beta * delta[0]);
            } else {
                natural.iter_mut().zip(delta).for_each(|(eta, delta)| *eta += beta * delta);
            }
            *moved = member.with_natural(natural)?;
            total += divergence(member, moved)?;
        }
        (total <= LARGEST_DIVERGENCE * self.coordinates.len() as f64).then_some(total)
    }

    /// Writes the members with natural parameters η + β `direction`; where one does not exist, the parameter that has
    /// moved farthest.
    pub(super) fn displace(&self, beta: f64, direction: &[f64], moved: &mut Self) -> Result<(), f64> {
        let f = self.n_free();
        let members = self.coordinates.iter().zip(direction.chunks_exact(f)).zip(&mut moved.coordinates);
        for ((member, delta), moved) in members {
            let mut natural = member.natural();
            natural.iter_mut().zip(delta).for_each(|(eta, delta)| *eta += beta * delta);
            match member.with_natural(natural) {
                Some(member) => *moved = member,
                None => {
                    let farthest = (0..f).max_by(|i, j| (beta * delta[*i]).abs().total_cmp(&(beta * delta[*j]).abs()));
                    return Err(natural[farthest.unwrap_or(0)]);
                }
            }
        }
        Ok(())
    }

    /// g of coordinate `i`.
    fn coordinate_of(&self, gradient: &BlockGradient, i: usize) -> Parameters {
        let f = self.n_free();
        let mut out = [0.0; 3];
        out[..f].copy_from_slice(&gradient.b[i * f..(i + 1) * f]);
        out
    }

    /// Adds `weight` times g₁ᵀF⁻¹g₂ to `sum`.
    pub(super) fn add_inner(&self, weight: f64, one: &BlockGradient, two: &BlockGradient, sum: &mut f64) {
        for (i, member) in self.coordinates.iter().enumerate() {
            let raised = member.natural_gradient(self.coordinate_of(two, i));
            *sum += weight * product(&self.coordinate_of(one, i), &raised);
        }
    }

    /// Adds `ratio` times F(η − η_before) to the gradient (mathematics §7.1).
    pub(super) fn add_momentum(&self, before: &Self, ratio: f64, gradient: &mut BlockGradient) {
        let f = self.n_free();
        let pairs = self.coordinates.iter().zip(&before.coordinates);
        for ((member, before), sums) in pairs.zip(gradient.b.chunks_exact_mut(f)) {
            let (now, then, fisher) = (member.natural(), before.natural(), member.fisher());
            let moved: Parameters = std::array::from_fn(|j| now[j] - then[j]);
            sums.iter_mut().zip(fisher).for_each(|(sum, row)| *sum += ratio * product(&row, &moved));
        }
    }

    /// sum += η.
    pub(super) fn add_natural(&self, sum: &mut [f64]) {
        for (member, sum) in self.coordinates.iter().zip(sum.chunks_exact_mut(self.n_free())) {
            axpy(1.0, &member.natural()[..sum.len()], sum);
        }
    }

    /// The block with `share` times these sums as natural parameters, if it exists.
    pub(super) fn from_natural(reference: &Self, sum: &[f64], share: f64) -> Option<Self> {
        let members = reference.coordinates.iter().zip(sum.chunks_exact(reference.n_free())).map(|(member, sum)| {
            let mut natural = [0.0; 3];
            natural.iter_mut().zip(sum).for_each(|(eta, sum)| *eta = share * sum);
            member.with_natural(natural)
        });
        Some(Self::new(members.collect::<Option<Vec<_>>>()?))
    }

    /// Writes the free coordinates of every member (mathematics §9.4); there are as many as natural parameters.
    pub(super) fn chart(&self, out: &mut [f64]) {
        for (member, out) in self.coordinates.iter().zip(out.chunks_exact_mut(self.n_free())) {
            let chart = member.chart();
            out.copy_from_slice(&chart[..out.len()]);
        }
    }

    /// Writes `weight` times (∂η/∂chart)ᵀ∇_ηL.
    pub(super) fn chart_gradient(&self, weight: f64, gradient: &BlockGradient, out: &mut [f64]) {
        let f = self.n_free();
        let parts = self.coordinates.iter().zip(gradient.b.chunks_exact(f)).zip(out.chunks_exact_mut(f));
        for ((member, g), out) in parts {
            let jacobian = member.chart_jacobian();
            for (j, out) in out.iter_mut().enumerate() {
                *out = weight * (0..f).map(|i| jacobian[i][j] * g[i]).sum::<f64>();
            }
        }
    }

    /// Writes the members with these coordinates; false if they cannot be represented.
    pub(super) fn propose_chart(&self, coordinates: &[f64], moved: &mut Self) -> bool {
        let f = self.n_free();
        let mut members = self.coordinates.iter().zip(coordinates.chunks_exact(f)).zip(&mut moved.coordinates);
        members.all(|((member, chart), moved)| {
            let mut free = [0.0; 3];
            free[..f].copy_from_slice(chart);
            member.with_chart(free).map(|new| *moved = new).is_some()
        })
    }
}

fn product(a: &Parameters, b: &Parameters) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
