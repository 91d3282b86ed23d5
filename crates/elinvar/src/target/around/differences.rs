//! Gradients by central differences, where a start cannot do without.

use crate::target::{About, Answer, Ask, Draws, Offers, Target, TargetError, Want};

/// A target without a gradient, given one by central differences: 2d log densities more than the value.
///
/// For searches and starts only; whoever counts adds what [`ByDifferences::n_values`] says for every gradient.
pub(crate) struct ByDifferences<'t> {
    target: &'t dyn Target,
    dim: usize,
}

/// The step, relative to the size of a coordinate but not below that of one: the cube root of the rounding error
/// balances what differences lose to rounding and to third derivatives.
const STEP: f64 = 6e-6;

impl<'t> ByDifferences<'t> {
    pub(crate) fn new(target: &'t dyn Target) -> Self {
        Self { target, dim: target.dim() }
    }

    /// Log densities that a gradient costs besides the value.
    pub(crate) fn n_values(&self) -> u64 {
        2 * self.dim as u64
    }
}

impl Target for ByDifferences<'_> {
    fn about(&self) -> About {
        About { offers: Offers::GRADIENT, ..self.target.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let d = self.dim;
        let rows = ask.rows;
        self.target.evaluate(&Ask { want: Want::Values, ..*ask }, answer)?;
        let (mut around, mut beside) = (vec![0.0; 2 * d * d], Answer::new(d, 2 * d));
        for (s, z) in ask.draws.iter().enumerate() {
            for (i, pair) in around.chunks_exact_mut(2 * d).enumerate() {
                let step = STEP * z[i].abs().max(1.0);
                let (above, below) = pair.split_at_mut(d);
                above.copy_from_slice(z);
                below.copy_from_slice(z);
                above[i] += step;
                below[i] -= step;
            }
            let draws = Draws::new(d, &around);
            self.target.evaluate(&Ask { draws, rows, want: Want::Values }, &mut beside)?;
            for (i, (slope, pair)) in answer.grad_mut(s).iter_mut().zip(beside.log_p().chunks_exact(2)).enumerate() {
                *slope = (pair[0] - pair[1]) / (around[2 * i * d + i] - around[(2 * i + 1) * d + i]);
            }
        }
        Ok(())
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
        let mut out = Answer::new(2, 2);
        ByDifferences::new(&target).evaluate(&Ask::all(Draws::new(2, &z), Want::Gradients), &mut out).unwrap();
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
