//! The average of the states of a window of steps, in natural parameters.

use crate::family::Approximation;

/// The sum of the natural parameters since the window began (spec 10 §10.8).
///
/// Steps of full length wander around the optimum with the noise of their draws. Their average does not: its error falls with
/// the length of the window, while the steps keep their length. Natural parameters form a convex set, so the average exists.
#[derive(Clone, Debug)]
pub(super) struct Average<A> {
    reference: A,
    sum: Vec<f64>,
    count: u64,
    offset: Vec<f64>,
}

impl<A: Approximation> Average<A> {
    /// An empty window; locations will be kept relative to those of `reference`.
    pub(super) fn new(reference: A) -> Self {
        let (len, dim) = (reference.natural_len(), reference.dim());
        Self { reference, sum: vec![0.0; len], count: 0, offset: vec![0.0; dim] }
    }

    /// The window with these contents.
    pub(super) fn restore(reference: A, sum: Vec<f64>, count: u64) -> Option<Self> {
        let mut average = Self::new(reference);
        (sum.len() == average.sum.len() && sum.iter().all(|v| v.is_finite())).then(|| {
            average.sum = sum;
            average.count = count;
            average
        })
    }

    pub(super) fn add(&mut self, q: &A) {
        q.add_natural(&self.reference, &mut self.offset, &mut self.sum);
        self.count += 1;
    }

    /// Number of states in the window.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn reference(&self) -> &A {
        &self.reference
    }

    pub(super) fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// The average of the window, if it has any states.
    pub(super) fn value(&self) -> Option<A> {
        if self.count == 0 {
            return None;
        }
        A::from_natural(&self.reference, &self.sum, 1.0 / self.count as f64)
    }
}
