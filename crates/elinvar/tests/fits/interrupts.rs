//! A handle is obeyed before the next batch, whatever the fit is about: stops at counted calls, nothing is timed.

use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::model::{Banana, Funnel, GaussianMixture};
use elinvar::prelude::*;
use elinvar::research::target::{About, Answer as Reply, Ask};
use elinvar::{Correct, Plan};

/// A target that pulls a handle in one of its calls.
struct Pulling<'t> {
    inner: &'t dyn Target,
    calls: AtomicU64,
    at: u64,
    handle: StopHandle,
}

impl Target for Pulling<'_> {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Reply) -> Result<(), TargetError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            self.handle.stop();
        }
        self.inner.evaluate(ask, answer)
    }
}

/// Stops the fit at every `stride`-th of its calls; at most `most` calls may come after.
fn obeys(inner: &dyn Target, family: Family, plan: &Plan, stride: usize, most: u64) {
    let stopped_at = |at: u64| {
        let handle = StopHandle::new();
        let model = Pulling { inner, calls: AtomicU64::new(0), at, handle: handle.clone() };
        let fit = Fit::new(&model).family(family).plan(plan.clone()).stop_with(&handle).run();
        (model.calls.into_inner(), fit)
    };
    let (total, whole) = stopped_at(u64::MAX);
    assert!(whole.is_ok() && total > 100, "{family}: {total} calls, {whole:?}");
    for at in (1..total).step_by(stride) {
        let (calls, fit) = stopped_at(at);
        assert!(matches!(fit, Err(Error::Interrupted)), "{family} stopped at call {at} of {total}: {fit:?}");
        assert!(calls <= at + most, "{family} stopped at call {at} of {total}: {} calls came after", calls - at);
    }
}

#[test]
fn in_search_steps_reviews_and_verdict() {
    let (banana, plan) = (Banana::default(), Plan::default());
    // A family that contains the Gaussian is weighed against it; its reviews are a fifth of its calls.
    obeys(&banana, Family::skew(), &plan, 3, 0);
    obeys(&banana, Family::mog(3), &plan, 29, 0);
}

#[test]
fn in_growth() {
    obeys(&Banana::default(), Family::mog_auto(), &Plan::default(), 83, 0);
}

#[test]
fn in_chains_and_while_families_are_tried() {
    let (funnel, plan) = (Funnel::new(2).unwrap(), Plan::default());
    obeys(&funnel, Family::auto(), &plan, 53, 0);
    let two = GaussianMixture::isotropic(2, vec![-4.0, 0.0, 4.0, 0.0]).unwrap();
    obeys(&two, Family::auto(), &plan, 5, 0);
    obeys(&two, Family::auto(), &Plan { correct: Correct::Never, ..plan }, 41, 0);
}

/// Of two starts on two threads one may be in a call when the other pulls.
#[test]
fn in_restarts() {
    let plan = Plan { restarts: 2, ..Plan::default() };
    obeys(&Banana::default(), Family::skew(), &plan, 19, 1);
}
