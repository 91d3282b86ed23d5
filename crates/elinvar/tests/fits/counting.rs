//! A target that counts the points at which it is asked.

use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::target::{Contraction, CurvatureMut, Draws, Evaluations, Rows, Scratch, SecondOrder, Target, TargetError};

/// Another target, and how often it was asked for gradients and for Hessians.
pub(crate) struct Counting<T> {
    inner: T,
    gradients: AtomicU64,
    hessians: AtomicU64,
}

impl<T> Counting<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, gradients: AtomicU64::new(0), hessians: AtomicU64::new(0) }
    }

    /// Gradients and Hessians so far.
    pub(crate) fn asked(&self) -> (u64, u64) {
        (self.gradients.load(Ordering::Relaxed), self.hessians.load(Ordering::Relaxed))
    }
}

impl<T: SecondOrder> Target for Counting<T> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn evaluate(&self, draws: Draws<'_>, rows: Rows<'_>, out: &mut Evaluations) -> Result<(), TargetError> {
        self.gradients.fetch_add(draws.len() as u64, Ordering::Relaxed);
        self.inner.evaluate(draws, rows, out)
    }

    fn second_order(&self) -> Option<&dyn SecondOrder> {
        Some(self)
    }
}

impl<T: SecondOrder> SecondOrder for Counting<T> {
    fn contract(
        &self,
        draws: Draws<'_>,
        rows: Rows<'_>,
        contraction: Contraction<'_>,
        scratch: &mut Scratch,
        out: CurvatureMut<'_>,
    ) -> Result<(), TargetError> {
        self.hessians.fetch_add(draws.len() as u64, Ordering::Relaxed);
        self.inner.contract(draws, rows, contraction, scratch, out)
    }
}
