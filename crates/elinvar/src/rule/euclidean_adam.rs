//! Adam on the coordinates of a chart: the black-box baseline (mathematics §9.4).

use serde::{Deserialize, Serialize};

use super::{check_rate, take};
use crate::Error;

/// The constants of Adam.
///
/// Kingma & Ba 2015. The coordinates are locations, a Cholesky factor of Σ with logarithms on its diagonal and soft-max
/// logits; the gradient is the ordinary one. With curvature `stein_plain` it is the reparameterisation gradient, in a
/// mixture along the draws of each component, log q included; with `hessian` it has the same mean by Price's identity.
/// The logits of a mixture move by the score function, −h times the responsibility less the weight, summed over the
/// label. With [`Sampling::Implicit`](crate::estimate::Sampling) components and logits alike move by implicit
/// reparameterisation of the mixture as a whole.
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

/// Gradients and coordinates up to this size have squares.
const LARGEST: f64 = 1e140;

fn in_range(numbers: &[f64]) -> bool {
    numbers.iter().all(|v| v.abs() < LARGEST)
}

/// What the rule remembers between steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EuclideanAdamMemory {
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
    /// The memory of a run that starts at these coordinates; `None` if there are none, or not finite ones.
    pub(crate) fn new(at: Vec<f64>) -> Option<Self> {
        let n = at.len();
        (n > 0).then(|| Self { at, m: vec![0.0; n], v: vec![0.0; n], ..Self::default() })?.restored(n)
    }

    /// The memory as it was stored, if it has `n` coordinates.
    pub(crate) fn restored(&self, n: usize) -> Option<Self> {
        let fits = |stored: &Vec<f64>| stored.len() == n && stored.iter().all(|v| v.is_finite());
        let sound = [&self.at, &self.m, &self.v].into_iter().all(fits) && in_range(&self.at) && self.t <= u64::MAX / 4;
        sound.then(|| Self { gradient: vec![0.0; n], next: vec![0.0; n], ..self.clone() })
    }

    /// Number of coordinates.
    pub(crate) fn n_coordinates(&self) -> usize {
        self.at.len()
    }

    /// Where the gradient of the next step is written.
    pub(crate) fn gradient_mut(&mut self) -> &mut [f64] {
        &mut self.gradient
    }

    /// One step of plain ascent, x + βg; returns the β taken, halved as in [`EuclideanAdamMemory::step`].
    pub(crate) fn plain_step(&mut self, beta: f64, mut accept: impl FnMut(&[f64]) -> bool) -> f64 {
        if !in_range(&self.gradient) {
            return 0.0;
        }
        let Self { at, gradient, next, .. } = self;
        let taken = take(beta, None, |taken| {
            next.iter_mut().zip(&*at).zip(&*gradient).for_each(|((next, at), g)| *next = at + taken * g);
            accept(next).then_some(0.0)
        });
        let Some((taken, _)) = taken else { return 0.0 };
        std::mem::swap(at, next);
        taken
    }

    /// One step of ascent of length `beta` along the gradient; returns the length taken, halved until `accept` takes
    /// the new coordinates, 0 if it takes none or the gradient is not finite.
    pub(crate) fn step(&mut self, rule: EuclideanAdam, beta: f64, mut accept: impl FnMut(&[f64]) -> bool) -> f64 {
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
        let Self { at, m, v, next, .. } = self;
        let taken = take(beta, None, |taken| {
            for ((next, at), (m, v)) in next.iter_mut().zip(&*at).zip(m.iter().zip(&*v)) {
                *next = at + taken * (first * m / ((second * v).sqrt() + rule.epsilon));
            }
            accept(next).then_some(0.0)
        });
        let Some((taken, _)) = taken else { return 0.0 };
        std::mem::swap(at, next);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first step has the length β in every coordinate, whatever the gradient; one that is refused is halved.
    #[test]
    fn the_first_step_is_as_long_as_it_says() {
        let mut memory = EuclideanAdamMemory::new(vec![1.0, -2.0, 3.0]).unwrap();
        memory.gradient_mut().copy_from_slice(&[1e3, -1e-3, 0.0]);
        let rule = EuclideanAdam { epsilon: 1e-20, ..EuclideanAdam::default() };
        let mut asked = Vec::new();
        let taken = memory.step(rule, 0.5, |x| {
            asked.push(x.to_vec());
            asked.len() == 3
        });
        assert_eq!(taken, 0.125);
        for (x, length) in asked.iter().zip([0.5, 0.25, 0.125]) {
            for (found, expected) in x.iter().zip([1.0 + length, -2.0 - length, 3.0]) {
                assert!((found - expected).abs() < 1e-14, "{x:?}");
            }
        }
        assert_eq!(memory.at, asked[2]);
        assert_eq!(memory.step(rule, 0.5, |_| false), 0.0);
        assert_eq!(memory.at, asked[2]);
        memory.gradient_mut()[1] = f64::NAN;
        assert_eq!(memory.step(rule, 0.5, |_| true), 0.0);
    }

    #[test]
    fn a_plain_step_follows_the_gradient_and_is_halved_where_it_is_refused() {
        let mut memory = EuclideanAdamMemory::new(vec![1.0, -2.0]).unwrap();
        memory.gradient_mut().copy_from_slice(&[4.0, -8.0]);
        assert_eq!(memory.plain_step(0.5, |x| x[0] < 2.5), 0.25);
        assert_eq!(memory.at, [2.0, -4.0]);
        assert_eq!(memory.plain_step(0.5, |_| false), 0.0);
        assert_eq!(memory.at, [2.0, -4.0]);
    }

    #[test]
    fn a_memory_of_another_length_is_not_restored() {
        let memory = EuclideanAdamMemory::new(vec![0.5; 4]).unwrap();
        assert!(memory.restored(4) == Some(memory.clone()) && memory.restored(3).is_none());
        assert!(EuclideanAdamMemory::new(Vec::new()).is_none());
        assert!(EuclideanAdamMemory::new(vec![f64::NAN]).is_none());
    }
}
