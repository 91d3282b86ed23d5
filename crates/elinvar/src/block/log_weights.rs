//! Mixture weights, kept as normalised logarithms.

use crate::Error;
use crate::rule::largest_step;
use crate::special::logistic::log_sum_exp;

/// log π_c with Σ π_c = 1. No component is singled out: differences log(π_c/π_K) are the natural parameters
/// (mathematics §1.3).
#[derive(Debug, PartialEq)]
pub struct LogWeights {
    log: Vec<f64>,
}

impl Clone for LogWeights {
    fn clone(&self) -> Self {
        Self { log: self.log.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.log.clone_from(&source.log);
    }
}

impl LogWeights {
    /// The weight of a single component.
    pub(crate) fn one() -> Self {
        Self { log: vec![0.0] }
    }

    /// K equal weights.
    pub fn uniform(k: usize) -> Self {
        Self { log: vec![-(k as f64).ln(); k] }
    }

    /// The weights proportional to exp(log).
    ///
    /// # Errors
    /// [`Error::Domain`] if an entry is not finite: every component has a positive weight.
    pub fn new(mut log: Vec<f64>) -> Result<Self, Error> {
        let total = log_sum_exp(&log);
        if !total.is_finite() || !log.iter().all(|v| v.is_finite()) {
            return Err(Error::Domain {
                parameter: "log weight",
                value: total,
                reason: "weights are positive numbers",
            });
        }
        log.iter_mut().for_each(|v| *v -= total);
        Ok(Self { log })
    }

    /// The weights with these logarithms as they stand, bit by bit; they must be normalised up to rounding.
    ///
    /// # Errors
    /// [`Error::Domain`] if they are not.
    pub(crate) fn restore(log: Vec<f64>) -> Result<Self, Error> {
        let total = log_sum_exp(&log);
        if total.abs() < 1e-9 && log.iter().all(|v| v.is_finite()) {
            Ok(Self { log })
        } else {
            Err(Error::Domain { parameter: "sum of weights", value: total.exp(), reason: "the weights sum to one" })
        }
    }

    /// log π.
    pub fn log(&self) -> &[f64] {
        &self.log
    }

    /// K.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Never: a mixture has a component.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// Takes these logarithms, which are normalised.
    pub(super) fn set(&mut self, log: impl Iterator<Item = f64>) {
        self.log.iter_mut().zip(log).for_each(|(to, log)| *to = log);
    }

    /// π_c.
    pub fn weight(&self, c: usize) -> f64 {
        self.log[c].exp()
    }

    /// log π_c ← log π_c − β E_c\[h\], normalised; within KL(π_new ‖ π) ≤ `max_kl`. Returns the β taken.
    ///
    /// Paper: §4.1, eq. (16), App. B.
    pub(crate) fn advance(&mut self, expected_h: &[f64], beta: f64, max_kl: Option<f64>, next: &mut [f64]) -> f64 {
        self.advance_by(expected_h, beta, max_kl, next).0
    }

    /// [`LogWeights::advance`], with KL(π_new ‖ π) of the step.
    pub(crate) fn advance_by(
        &mut self,
        expected_h: &[f64],
        beta: f64,
        max_kl: Option<f64>,
        next: &mut [f64],
    ) -> (f64, f64) {
        if !expected_h.iter().all(|v| v.is_finite()) {
            return (0.0, 0.0);
        }
        let taken = match max_kl {
            None => beta,
            Some(bound) => largest_step(beta, bound, 0.05, |beta| Some(self.divergence(expected_h, beta, next))),
        };
        let kl = self.divergence(expected_h, taken, next);
        self.log.copy_from_slice(next);
        (taken, kl)
    }

    /// The weights after a step β, written to `next`.
    fn moved(&self, expected_h: &[f64], beta: f64, next: &mut [f64]) {
        // Only differences count: large numbers are taken off before rounding can eat the normalisation.
        let lowest = expected_h.iter().copied().fold(f64::INFINITY, f64::min);
        for ((new, log), h) in next.iter_mut().zip(&self.log).zip(expected_h) {
            // Floored, so that a dead component still has a finite logarithm.
            *new = (log - beta * (h - lowest)).max(-1e100);
        }
        let highest = next.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        next.iter_mut().for_each(|v| *v -= highest);
        let total = log_sum_exp(next);
        next.iter_mut().for_each(|v| *v -= total);
    }

    /// KL(π_new ‖ π) of a step β.
    pub(crate) fn divergence(&self, expected_h: &[f64], beta: f64, next: &mut [f64]) -> f64 {
        self.moved(expected_h, beta, next);
        next.iter().zip(&self.log).map(|(new, old)| new.exp() * (new - old)).sum()
    }
}
