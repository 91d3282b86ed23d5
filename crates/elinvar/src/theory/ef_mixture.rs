//! The exact view of a mixture of exponential families: each component's coordinates, then log(π_c/π_K) for c < K
//! (mathematics §5.1).

use super::{Exact, check_length};
use crate::Error;
use crate::block::{LogWeights, Natural};
use crate::component::{Component, Parameters};
use crate::family::{Approximation, EfMixture, Gradient, draw_label};
use crate::random::Stream;

impl<'q> EfMixture<'q> {
    fn all_members(&self) -> impl Iterator<Item = &'q Component> + use<'_, 'q> {
        (0..self.n_components()).flat_map(|c| self.component(c))
    }

    /// Number of coordinates of all components.
    fn n_first(&self) -> usize {
        self.all_members().map(Component::n_free).sum()
    }

    /// Every member with its part of a vector of coordinates.
    fn members_with<'v>(
        &self,
        mut rest: &'v [f64],
    ) -> impl Iterator<Item = (&'q Component, &'v [f64])> + use<'_, 'q, 'v> {
        self.all_members().map(move |member| {
            let (own, after) = rest.split_at(member.n_free());
            rest = after;
            (member, own)
        })
    }

    /// The component with this label.
    fn labelled(&self, w: &[f64]) -> usize {
        assert!(w.len() == 1 && w[0] >= 0.0 && (w[0] as usize) < self.n_components(), "w of a mixture is a label");
        w[0] as usize
    }

    /// The mixture with these members, made from their coordinates.
    fn remade(
        &self,
        coordinates: &[f64],
        log_weights: Vec<f64>,
        make: impl Fn(usize, &Component, Parameters) -> Option<Component>,
    ) -> Result<Approximation, Error> {
        let members = self.members_with(coordinates).enumerate().map(|(at, (member, own))| {
            let mut parameters = [0.0; 3];
            parameters[..own.len()].copy_from_slice(own);
            let reason = "the coordinates of a component lie in its domain";
            make(at / self.dim(), member, parameters).ok_or(Error::Domain {
                parameter: "coordinate of a component",
                value: own[0],
                reason,
            })
        });
        Approximation::ef_mixture(LogWeights::new(log_weights)?, members.collect::<Result<Vec<_>, Error>>()?)
    }
}

impl Exact for EfMixture<'_> {
    fn n_mixing(&self) -> usize {
        self.n_components() - 1
    }

    fn natural(&self) -> Vec<f64> {
        let log = self.weights.log();
        let last = log[self.n_mixing()];
        let members = self.all_members().flat_map(|member| member.natural().into_iter().take(member.n_free()));
        members.chain(log[..self.n_mixing()].iter().map(|log| log - last)).collect()
    }

    fn with_natural(&self, _q: &Approximation, natural: &[f64]) -> Result<Approximation, Error> {
        check_length(self.n_first() + self.n_mixing(), natural)?;
        let (first, odds) = natural.split_at(self.n_first());
        self.remade(first, [odds, &[0.0]].concat(), |_, member, eta| member.with_natural(eta))
    }

    fn expectation(&self) -> Vec<f64> {
        let members = self.all_members().enumerate().flat_map(|(at, member)| {
            let weight = self.weights.weight(at / self.dim());
            member.expectation().into_iter().take(member.n_free()).map(move |m| weight * m)
        });
        members.chain((0..self.n_mixing()).map(|c| self.weights.weight(c))).collect()
    }

    fn with_expectation(&self, _q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error> {
        check_length(self.n_first() + self.n_mixing(), expectation)?;
        let (first, weights) = expectation.split_at(self.n_first());
        let weights = [weights, &[1.0 - weights.iter().sum::<f64>()]].concat();
        if let Some(value) = weights.iter().copied().find(|weight| weight.is_nan() || *weight <= 0.0) {
            return Err(Error::Domain { parameter: "weight", value, reason: "weights are positive and sum to one" });
        }
        let logs = weights.iter().map(|weight| weight.ln()).collect();
        self.remade(first, logs, |c, member, m| member.with_expectation(m.map(|m| m / weights[c])))
    }

    /// The label and, given it, the statistics of every coordinate of its component; a label hidden inside a component
    /// (of a Birnbaum–Saunders law) has a fixed distribution and no coordinate.
    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        let label = self.labelled(w);
        let f = self.components[label].n_free();
        let before: usize = self.components[..label].iter().map(Natural::natural_len).sum();
        let mut out = vec![0.0; self.n_first() + self.n_mixing()];
        for ((out, member), z) in out[before..].chunks_exact_mut(f).zip(self.component(label)).zip(z) {
            out.copy_from_slice(&member.statistics(*z)[..f]);
        }
        if label < self.n_mixing() {
            out[self.n_first() + label] = 1.0;
        }
        out
    }

    fn log_joint_density(&self, z: &[f64], w: &[f64]) -> f64 {
        self.log_joint(z)[self.labelled(w)]
    }

    fn draw_joint(&self, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let label = draw_label(self.weights, stream);
        (self.component(label).iter().map(|member| member.sample(stream)).collect(), vec![label as f64])
    }

    fn log_partition(&self) -> f64 {
        let parts = self.all_members().enumerate();
        parts.map(|(at, member)| self.weights.weight(at / self.dim()) * member.log_partition()).sum()
    }

    /// π_c times the matrix of each coordinate, and diag(π) − ππᵀ without the last weight.
    fn fisher(&self) -> Vec<f64> {
        let (first, n_mixing) = (self.n_first(), self.n_mixing());
        let n = first + n_mixing;
        let (mut out, mut begin) = (vec![0.0; n * n], 0);
        for (at, member) in self.all_members().enumerate() {
            let (weight, fisher, f) = (self.weights.weight(at / self.dim()), member.fisher(), member.n_free());
            for i in 0..f {
                for j in 0..f {
                    out[(begin + j) * n + begin + i] = weight * fisher[i][j];
                }
            }
            begin += f;
        }
        for a in 0..n_mixing {
            for b in 0..n_mixing {
                let (pi_a, pi_b) = (self.weights.weight(a), self.weights.weight(b));
                let diagonal = if a == b { pi_a } else { 0.0 };
                out[(first + a) * n + first + b] = diagonal - pi_a * pi_b;
            }
        }
        out
    }

    /// F_c⁻¹ of the stored gradient, which is divided by π_c already; −(E_c\[h\] − E_K\[h\]) for the weights.
    fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64> {
        let all: Vec<f64> = gradient.blocks.iter().flat_map(|block| block.b.iter().copied()).collect();
        let members = self.members_with(&all).flat_map(|(member, own)| {
            let mut g = [0.0; 3];
            g[..own.len()].copy_from_slice(own);
            member.natural_gradient(g).into_iter().take(own.len())
        });
        let last = gradient.expected_h[self.n_mixing()];
        members.chain(gradient.expected_h[..self.n_mixing()].iter().map(|h| last - h)).collect::<Vec<f64>>()
    }
}
