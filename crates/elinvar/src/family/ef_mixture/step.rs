//! Steps of the natural parameters of one component.

use super::draw::EfMixtureWork;
use super::gradient::product;
use super::{EfMixture, EfMixtureGradient};
use crate::component::{Component, Parameters};
use crate::family::{StepRequest, Taken};
use crate::rule::{Rule, largest_step};
use crate::special::logistic::log1p_exp;

/// Divergence, in nats per coordinate, beyond which a step is too long whatever was asked for: a rate that is multiplied by 20
/// is about there. Farther out the next draws overflow.
const LARGEST_DIVERGENCE: f64 = 20.0;
/// A step is halved at most this often.
const HALVINGS: usize = 60;

/// Whether η is minus a rate or scale ρ with F ∝ 1/ρ².
pub(super) fn is_rate(member: &Component) -> bool {
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
/// A third parameter is the log-odds of a label hidden in the component: then A is an average over the label, and the formula
/// holds at fixed odds. The odds move first, and their own divergence is added.
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

impl EfMixture {
    /// η_c ← η_c + βF⁻¹g, halved until every coordinate stays in its domain and shortened to the KL bound where there is one.
    /// Returns the β taken and the divergence.
    ///
    /// Under [`Rule::Retraction`] a rate ρ = −η with F ∝ 1/ρ² moves to ρ + βδ + β²δ²/(2ρ), which is positive for every β
    /// (mathematics §10.1); other parameters take the plain step under both rules.
    ///
    /// Paper: §4.1, App. B.5, App. C.
    pub(super) fn advance(
        &mut self,
        c: usize,
        gradient: &EfMixtureGradient,
        request: StepRequest,
        work: &mut EfMixtureWork,
    ) -> Taken {
        let f = self.n_free();
        for (i, member) in self.component(c).iter().enumerate() {
            let delta = member.natural_gradient(self.coordinate_of(gradient, c, i));
            work.direction[i * f..(i + 1) * f].copy_from_slice(&delta[..f]);
        }
        if !work.direction.iter().all(|v| v.is_finite()) {
            return Taken::nowhere();
        }
        let mut beta = request.beta;
        match request.max_kl {
            Some(bound) => {
                beta = largest_step(beta, bound, 0.05, |beta| self.attempt(c, request.rule, beta, work));
            }
            None => {
                let admissible = |q: &Self, beta, work: &mut _| q.attempt(c, request.rule, beta, work).is_some();
                let mut halvings = 0;
                while !admissible(self, beta, work) {
                    beta *= 0.5;
                    halvings += 1;
                    if halvings == HALVINGS {
                        return Taken::nowhere();
                    }
                }
            }
        }
        let outcome = self.attempt(c, request.rule, beta, work);
        let Some(kl) = outcome.filter(|_| beta > 0.0) else { return Taken::nowhere() };
        let own = c * self.dim..(c + 1) * self.dim;
        self.members[own.clone()].copy_from_slice(&work.moved[own]);
        Taken { kl: Some(kl), ..Taken::by_one(beta) }
    }

    /// Writes component `c` after a step β; its KL divergence from the present one, if it exists and is not absurd.
    fn attempt(&self, c: usize, rule: Rule, beta: f64, work: &mut EfMixtureWork) -> Option<f64> {
        let f = self.n_free();
        let mut total = 0.0;
        let (direction, moved) = (work.direction.chunks_exact(f), &mut work.moved[c * self.dim..(c + 1) * self.dim]);
        for ((member, delta), moved) in self.component(c).iter().zip(direction).zip(moved) {
            let mut natural = member.natural();
            if self.is_rate && rule == Rule::Retraction {
                let step = beta * delta[0];
                natural[0] += step + 0.5 * step * step / natural[0];
            } else {
                natural.iter_mut().zip(delta).for_each(|(eta, delta)| *eta += beta * delta);
            }
            *moved = member.with_natural(natural)?;
            total += divergence(member, moved)?;
        }
        (total <= LARGEST_DIVERGENCE * self.dim as f64).then_some(total)
    }
}
