//! Adam on the coordinates of a chart: the black-box baseline (spec 09 §9.4).

use serde::{Deserialize, Serialize};

use super::check_rate;
use crate::Error;
use crate::block::in_range;
use crate::family::Approximation;

/// The constants of Adam.
///
/// Kingma & Ba 2015. The coordinates are locations, a Cholesky factor of Σ with logarithms on its diagonal and soft-max logits;
/// the gradient is the ordinary one. With curvature `stein_plain` it is the reparameterisation gradient, with `hessian` that of
/// the same mean by Price's identity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EuclideanAdam {
    /// Decay of the mean of gradients.
    pub beta1: f64,
    /// Decay of the mean of squared gradients.
    pub beta2: f64,
    /// What is added to the root.
    pub epsilon: f64,
}

impl Default for EuclideanAdam {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl EuclideanAdam {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_rate("beta1", self.beta1, "it lies between 0 and 1, which is excluded")?;
        check_rate("beta2", self.beta2, "it lies between 0 and 1, which is excluded")?;
        if self.epsilon > 0.0 && self.epsilon.is_finite() {
            return Ok(());
        }
        Err(Error::Domain { parameter: "epsilon", value: self.epsilon, reason: "it is a small positive number" })
    }
}

/// What the rule remembers between steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EuclideanAdamMemory {
    t: u64,
    /// The coordinates of the present state.
    at: Vec<f64>,
    m: Vec<f64>,
    v: Vec<f64>,
    #[serde(skip)]
    gradient: Vec<f64>,
    #[serde(skip)]
    next: Vec<f64>,
}

impl EuclideanAdamMemory {
    /// The memory of a run that starts at `q`; `None` if the family has no chart, or none at this member.
    pub fn new<A: Approximation>(q: &A) -> Option<Self> {
        let n = q.chart_len();
        let mut memory = Self { at: vec![0.0; n], m: vec![0.0; n], v: vec![0.0; n], ..Self::default() };
        q.chart(&mut memory.at);
        memory.make_room();
        (n > 0 && in_range(&memory.at)).then_some(memory)
    }

    /// The memory as it was stored, if it fits `q`.
    pub(crate) fn restored<A: Approximation>(&self, q: &A) -> Option<Self> {
        let n = q.chart_len();
        let fits = [&self.at, &self.m, &self.v].iter().all(|stored| stored.len() == n && in_range(stored));
        let mut memory = self.clone();
        memory.make_room();
        fits.then_some(memory)
    }

    /// Number of coordinates.
    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    fn make_room(&mut self) {
        self.gradient = vec![0.0; self.at.len()];
        self.next = vec![0.0; self.at.len()];
    }

    /// One step of ascent of length `beta`; returns the length taken, halved until the family accepts it, 0 if nothing moved.
    pub fn step<A: Approximation>(
        &mut self,
        q: &mut A,
        rule: EuclideanAdam,
        beta: f64,
        gradient: &A::Gradient,
        work: &mut A::Work,
    ) -> f64 {
        const HALVINGS: usize = 60;
        q.chart_gradient(gradient, work, &mut self.gradient);
        if !in_range(&self.gradient) {
            return 0.0;
        }
        self.t += 1;
        for ((m, v), g) in self.m.iter_mut().zip(&mut self.v).zip(&self.gradient) {
            *m = rule.beta1 * *m + (1.0 - rule.beta1) * g;
            *v = rule.beta2 * *v + (1.0 - rule.beta2) * g * g;
        }
        let first = 1.0 / (1.0 - rule.beta1.powf(self.t as f64));
        let second = 1.0 / (1.0 - rule.beta2.powf(self.t as f64));
        let mut taken = beta;
        for _ in 0..HALVINGS {
            let means = self.m.iter().zip(&self.v);
            for ((next, at), (m, v)) in self.next.iter_mut().zip(&self.at).zip(means) {
                *next = at + taken * (first * m / ((second * v).sqrt() + rule.epsilon));
            }
            if q.set_chart(&self.next, work) {
                std::mem::swap(&mut self.at, &mut self.next);
                return taken;
            }
            taken *= 0.5;
        }
        0.0
    }
}
