//! The average of the states of a window of steps, in natural parameters.

use serde::{Deserialize, Serialize};

use super::journal::never_kept;
use crate::Error;
use crate::family::Approximation;

/// The sum of the natural parameters since the window began (mathematics §10.8).
///
/// Steps of full length wander around the optimum with the noise of their draws. Their average does not: its error
/// falls with the length of the window, while the steps keep their length. Natural parameters form a convex set, so the
/// average exists.
#[derive(Clone, Debug)]
pub(super) struct Average {
    reference: Approximation,
    sum: Vec<f64>,
    count: u64,
    offset: Vec<f64>,
}

/// The same as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AverageState {
    reference: Approximation,
    sum: Vec<f64>,
    count: u64,
}

impl AverageState {
    /// The state from which locations are counted.
    pub(super) fn reference(&self) -> &Approximation {
        &self.reference
    }
}

impl Average {
    /// An empty window; locations will be kept relative to those of `reference`.
    pub(super) fn new(reference: Approximation) -> Self {
        let (len, dim) = (reference.natural_len(), reference.dim());
        Self { reference, sum: vec![0.0; len], count: 0, offset: vec![0.0; dim] }
    }

    pub(super) fn state(&self) -> AverageState {
        AverageState { reference: self.reference.clone(), sum: self.sum.clone(), count: self.count }
    }

    /// The window as it was.
    ///
    /// # Errors
    /// If it belongs to another family.
    pub(super) fn restore(state: &AverageState) -> Result<Self, Error> {
        let mut average = Self::new(state.reference.clone());
        let (expected, found) = (average.sum.len(), state.sum.len());
        if found != expected || !state.sum.iter().all(|v| v.is_finite()) {
            return Err(Error::Shape { what: "sums of the window", expected, found });
        }
        if state.count > u64::MAX / 4 {
            return Err(never_kept("its window has more states than there can be"));
        }
        average.sum.copy_from_slice(&state.sum);
        average.count = state.count;
        Ok(average)
    }

    pub(super) fn add(&mut self, q: &Approximation) {
        q.add_natural(&self.reference, &mut self.offset, &mut self.sum);
        self.count += 1;
    }

    /// Number of states in the window.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The average of the window, if it has any states.
    pub(super) fn value(&self) -> Option<Approximation> {
        if self.count == 0 {
            return None;
        }
        Approximation::from_natural(&self.reference, &self.sum, 1.0 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::block::{Location, LogWeights, Scale};
    use crate::target::Shape;

    fn block(mean: [f64; 2], precision: [f64; 4]) -> Location {
        Location::new(mean.to_vec(), Scale::from_precision(Shape::Full(2), precision.to_vec()).unwrap()).unwrap()
    }

    fn gaussian(mean: [f64; 2], precision: [f64; 4]) -> Approximation {
        Approximation::single(Family::gaussian(), block(mean, precision)).unwrap()
    }

    fn near(found: &[f64], expected: &[f64], tolerance: f64) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < tolerance * (1.0 + b.abs()), "{found:?} and {expected:?}");
        }
    }

    #[test]
    fn two_gaussians_meet_where_their_natural_parameters_do() {
        let one = gaussian([1.0, -2.0], [2.0, 0.5, 0.5, 1.0]);
        let two = gaussian([3.0, 0.0], [4.0, -1.5, -1.5, 3.0]);
        for reference in [&one, &two, &gaussian([7.0, 7.0], [1.0, 0.0, 0.0, 1.0])] {
            let mut average = Average::new(reference.clone());
            assert!(average.value().is_none());
            average.add(&one);
            average.add(&two);
            let found = average.value().unwrap();
            let block = &found.locations()[0];
            // P̄ = ((3, −½), (−½, 2)); P̄μ̄ = ½(P₁μ₁ + P₂μ₂) = ½((1, −1.5) + (12, −4.5)).
            near(block.scale().precision(), &[3.0, -0.5, -0.5, 2.0], 1e-15);
            let determinant = 3.0 * 2.0 - 0.25;
            let mean = [(2.0 * 6.5 - 0.5 * 3.0) / determinant, (0.5 * 6.5 - 3.0 * 3.0) / determinant];
            near(block.b(), &mean, 1e-13);
        }
    }

    /// Weights meet at their normalised geometric mean.
    #[test]
    fn so_do_mixtures_and_their_weights() {
        let unit = [1.0, 0.0, 0.0, 1.0];
        let mixture = |weight: f64, x: f64| {
            let weights = LogWeights::new(vec![weight.ln(), (1.0 - weight).ln()]).unwrap();
            Approximation::mixture(weights, vec![block([x, 0.0], unit), block([0.0, -x], [3.0, 0.0, 0.0, 3.0])])
                .unwrap()
        };
        let mut average = Average::new(mixture(0.5, 0.0));
        average.add(&mixture(0.2, 1.0));
        average.add(&mixture(0.6, 4.0));
        assert_eq!(average.count(), 2);
        let found = average.value().unwrap();
        let (one, two) = ((0.2f64 * 0.6).sqrt(), (0.8f64 * 0.4).sqrt());
        near(&[found.weights().weight(0)], &[one / (one + two)], 1e-14);
        near(found.locations()[0].b(), &[2.5, 0.0], 1e-14);
        near(found.locations()[1].b(), &[0.0, -2.5], 1e-14);
        let restored = Average::restore(&average.state()).unwrap();
        assert_eq!(restored.value(), average.value());
        let cut = AverageState { sum: vec![0.0; 3], ..average.state() };
        assert!(Average::restore(&cut).is_err());
    }

    /// P with eigenvalues 10⁶ and 10⁻⁶ along the diagonals, 10⁴ standard deviations from the origin: P μ has lost the
    /// mean, the offset from a nearby state has not.
    #[test]
    fn offsets_keep_the_digits_of_an_ill_conditioned_precision() {
        let (large, small) = (1e6, 1e-6);
        let precision = [0.5 * (large + small), 0.5 * (small - large), 0.5 * (small - large), 0.5 * (large + small)];
        // `along` the flat diagonal (sd 10³) and `across` it (sd 10⁻³).
        let at = |along: f64, across: f64| {
            let half = 0.5f64.sqrt();
            gaussian([half * (1e7 + along + across), half * (1e7 + along - across)], precision)
        };
        let states = [at(700.0, 4e-4), at(-300.0, -1e-3), at(200.0, 0.0)];
        let expected = at(200.0, -2e-4);
        let distance = |reference: Approximation| {
            let mut average = Average::new(reference);
            states.iter().for_each(|state| average.add(state));
            let found = average.value().unwrap();
            let difference: Vec<f64> = found.mean().iter().zip(expected.mean()).map(|(a, b)| a - b).collect();
            let (along, across) = (difference[0] + difference[1], difference[0] - difference[1]);
            (0.5 * (small * along * along + large * across * across)).sqrt()
        };
        let (near, far) = (distance(at(0.0, 0.0)), distance(gaussian([0.0, 0.0], precision)));
        assert!(near < 1e-3, "{near} sd");
        assert!(far > 0.1, "without offsets {far} sd");
    }
}
