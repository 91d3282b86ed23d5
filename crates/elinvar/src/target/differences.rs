//! Gradients by central differences, where a start cannot do without.

use super::{Draws, Evaluations, Prior, Rows, Scratch, Target, TargetError};

/// A target without a gradient, given one by central differences: 2d log densities more than the value.
///
/// For searches and starts only; whoever counts adds what [`ByDifferences::n_values`] says for every gradient.
pub(crate) struct ByDifferences<'t> {
    target: &'t dyn Target,
}

/// The step, relative to the size of a coordinate but not below that of one: the cube root of the rounding error balances what
/// differences lose to rounding and to third derivatives.
const STEP: f64 = 6e-6;

impl<'t> ByDifferences<'t> {
    pub(crate) fn new(target: &'t dyn Target) -> Self {
        Self { target }
    }

    /// Log densities that a gradient costs besides the value.
    pub(crate) fn n_values(&self) -> u64 {
        2 * self.target.dim() as u64
    }
}

/// log p at `draws`, through [`Target::evaluate`] where there is no other way.
fn log_densities(target: &dyn Target, draws: Draws<'_>, rows: Rows<'_>, out: &mut [f64]) -> Result<(), TargetError> {
    if let Some(values) = target.values() {
        return values.log_densities(draws, rows, &mut Scratch::default(), out);
    }
    let mut evaluations = Evaluations::new(target.dim(), draws.len());
    target.evaluate(draws, rows, &mut evaluations)?;
    out.copy_from_slice(evaluations.log_p());
    Ok(())
}

impl Target for ByDifferences<'_> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        let d = self.dim();
        let (log_p, grad, _) = out.parts_mut();
        let (mut around, mut values) = (vec![0.0; 2 * d * d], vec![0.0; 2 * d]);
        log_densities(self.target, draws, rows, &mut log_p[..draws.len()])?;
        for (z, grad) in draws.iter().zip(grad.chunks_exact_mut(d)) {
            for (i, pair) in around.chunks_exact_mut(2 * d).enumerate() {
                let step = STEP * z[i].abs().max(1.0);
                let (above, below) = pair.split_at_mut(d);
                above.copy_from_slice(z);
                below.copy_from_slice(z);
                above[i] += step;
                below[i] -= step;
            }
            log_densities(self.target, Draws::new(d, &around), rows, &mut values)?;
            for (i, (slope, pair)) in grad.iter_mut().zip(values.chunks_exact(2)).enumerate() {
                *slope = (pair[0] - pair[1]) / (around[2 * i * d + i] - around[(2 * i + 1) * d + i]);
            }
        }
        Ok(())
    }

    fn n_rows(&self) -> Option<usize> {
        self.target.n_rows()
    }

    fn prior(&self) -> Prior {
        self.target.prior()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::from_values;

    #[test]
    fn differences_agree_with_the_derivative() {
        let target = from_values(2, |z| (3.0 * z[0]).sin() * z[1] * z[1] - 1e-3 * z[1].exp());
        let z = [0.3, -40.0, 1e-9, 2.0];
        let mut out = Evaluations::new(2, 2);
        ByDifferences::new(&target).evaluate(Draws::new(2, &z), Rows::All, &mut out).unwrap();
        for (s, z) in z.chunks_exact(2).enumerate() {
            let (sin, cos) = (3.0 * z[0]).sin_cos();
            let expected = [3.0 * cos * z[1] * z[1], 2.0 * sin * z[1] - 1e-3 * z[1].exp()];
            for (found, expected) in out.grad(s).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-7 * expected.abs().max(1.0), "{found} and {expected}");
            }
            assert_eq!(out.log_p()[s], sin * z[1] * z[1] - 1e-3 * z[1].exp());
        }
    }
}
