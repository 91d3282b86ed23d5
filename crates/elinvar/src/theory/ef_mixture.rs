//! The exact view of a mixture of exponential families: each component's coordinates, then log(π_c/π_K) for c < K
//! (mathematics §5.1).

use super::{Exact, check_length};
use crate::Error;
use crate::block::{LogWeights, Natural};
use crate::family::{Approximation, EfMixture, Gradient, draw_label};
use crate::random::Stream;

impl<'q> EfMixture<'q> {
    /// Number of coordinates of all components.
    fn n_first(&self) -> usize {
        self.components.iter().map(Natural::natural_len).sum()
    }

    /// Every component with its part of a vector of coordinates.
    fn with_parts<'v>(&self, mut rest: &'v [f64]) -> impl Iterator<Item = (&'q Natural, &'v [f64])> + use<'_, 'q, 'v> {
        self.components.iter().map(move |component| {
            let (own, after) = rest.split_at(component.natural_len());
            rest = after;
            (component, own)
        })
    }

    /// The component with this label.
    fn labelled(&self, w: &[f64]) -> usize {
        assert!(w.len() == 1 && w[0] >= 0.0 && (w[0] as usize) < self.n_components(), "w of a mixture is a label");
        w[0] as usize
    }

    /// The mixture with these components, made from their coordinates.
    fn remade(
        &self,
        q: &Approximation,
        coordinates: &[f64],
        log_weights: Vec<f64>,
        make: impl Fn(usize, &Natural, &[f64]) -> Option<Natural>,
    ) -> Result<Approximation, Error> {
        let components = self.with_parts(coordinates).enumerate().map(|(c, (component, own))| {
            let reason = "the coordinates of a component lie in its domain";
            let domain = Error::Domain { parameter: "coordinate of a component", value: own[0], reason };
            make(c, component, own).ok_or(domain)
        });
        let components = components.collect::<Result<Vec<_>, Error>>()?;
        Ok(q.with_components(LogWeights::new(log_weights)?, components))
    }
}

impl Exact for EfMixture<'_> {
    fn n_mixing(&self) -> usize {
        self.n_components() - 1
    }

    fn natural(&self) -> Vec<f64> {
        let log = self.weights.log();
        let last = log[self.n_mixing()];
        let components = self.components.iter().flat_map(Natural::natural);
        components.chain(log[..self.n_mixing()].iter().map(|log| log - last)).collect()
    }

    fn with_natural(&self, q: &Approximation, natural: &[f64]) -> Result<Approximation, Error> {
        check_length(self.n_first() + self.n_mixing(), natural)?;
        let (first, odds) = natural.split_at(self.n_first());
        self.remade(q, first, [odds, &[0.0]].concat(), |_, component, eta| component.with_natural(eta))
    }

    fn expectation(&self) -> Vec<f64> {
        let components = self.components.iter().enumerate().flat_map(|(c, component)| {
            let weight = self.weights.weight(c);
            component.expectation().into_iter().map(move |m| weight * m)
        });
        components.chain((0..self.n_mixing()).map(|c| self.weights.weight(c))).collect()
    }

    fn with_expectation(&self, q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error> {
        check_length(self.n_first() + self.n_mixing(), expectation)?;
        let (first, weights) = expectation.split_at(self.n_first());
        let weights = [weights, &[1.0 - weights.iter().sum::<f64>()]].concat();
        if let Some(value) = weights.iter().copied().find(|weight| weight.is_nan() || *weight <= 0.0) {
            return Err(Error::Domain { parameter: "weight", value, reason: "weights are positive and sum to one" });
        }
        let logs = weights.iter().map(|weight| weight.ln()).collect();
        self.remade(q, first, logs, |c, component, m| {
            component.with_expectation(&m.iter().map(|m| m / weights[c]).collect::<Vec<_>>())
        })
    }

    /// The label and, given it, the statistics of every coordinate of its component; a label hidden inside a component
    /// (of a Birnbaum–Saunders law) has a fixed distribution and no coordinate.
    fn statistics(&self, z: &[f64], w: &[f64]) -> Vec<f64> {
        let label = self.labelled(w);
        let before: usize = self.components[..label].iter().map(Natural::natural_len).sum();
        let mut out = vec![0.0; self.n_first() + self.n_mixing()];
        let own = self.components[label].statistics(z);
        out[before..before + own.len()].copy_from_slice(&own);
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
        let component = &self.components[label];
        let mut z: Vec<f64> = (0..self.dim()).map(|i| component.sample(i, stream)).collect();
        component.close(&mut z);
        (z, vec![label as f64])
    }

    fn log_partition(&self) -> f64 {
        let parts = self.components.iter().enumerate();
        parts.map(|(c, component)| self.weights.weight(c) * component.log_partition()).sum()
    }

    /// π_c times the matrix of each component, and diag(π) − ππᵀ without the last weight.
    fn fisher(&self) -> Vec<f64> {
        let (first, n_mixing) = (self.n_first(), self.n_mixing());
        let n = first + n_mixing;
        let (mut out, mut begin) = (vec![0.0; n * n], 0);
        for (c, component) in self.components.iter().enumerate() {
            let (weight, own, f) = (self.weights.weight(c), component.fisher(), component.natural_len());
            for (at, entry) in own.iter().enumerate() {
                out[(begin + at / f) * n + begin + at % f] = weight * entry;
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
        let pairs = self.components.iter().zip(&gradient.blocks);
        let components = pairs.flat_map(|(component, gradient)| component.natural_gradient(gradient));
        let last = gradient.expected_h[self.n_mixing()];
        components.chain(gradient.expected_h[..self.n_mixing()].iter().map(|h| last - h)).collect::<Vec<f64>>()
    }
}
