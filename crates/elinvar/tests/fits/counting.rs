//! A target that counts the points at which it is asked.

use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::target::{About, Answer, Ask, Offers, Target, TargetError, Want};

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

impl<T: Target> Target for Counting<T> {
    /// As a plain density, with nothing but first and second derivatives.
    fn about(&self) -> About {
        About { offers: Offers { hessian: true, ..Offers::GRADIENT }, ..About::new(self.inner.dim()) }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        let n = ask.draws.len() as u64;
        if !matches!(ask.want, Want::HessianAlone(_)) {
            self.gradients.fetch_add(n, Ordering::Relaxed);
        }
        if ask.contraction().is_some() {
            self.hessians.fetch_add(n, Ordering::Relaxed);
        }
        self.inner.evaluate(ask, answer)
    }
}
