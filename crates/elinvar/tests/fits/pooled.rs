//! Mixtures that are fitted to a pool of past evaluations: what they reach, what they cost, and how they go on.

use std::cell::Cell;
use std::ops::ControlFlow;

use elinvar::estimate::Curvature;
use elinvar::internals::GradientsOnly;
use elinvar::model::{Banana, DesignMatrix, LogisticRegression};
use elinvar::run::{self, Interrupt, Kept, Step, fit_journaled, journal};
use elinvar::target::Target;
use elinvar::{Covariance, Error, Family, Plan};

fn pooled(seed: u64) -> Plan {
    Plan { seed, curvature: Curvature::Pooled, ..Plan::default() }
}

/// Three components gain about 0.07 nats over one on this banana (docs/containing.md), and steps by fresh draws take
/// twenty thousand gradients and more for it. From gradients alone a mixture goes by a pool without being told.
#[test]
fn three_components_for_a_third_of_the_gradients() {
    let target = Banana::default();
    for seed in 1..=3 {
        let fresh = run::fit(&target, Family::mog(3), &Plan { seed, ..Plan::default() }).unwrap();
        let few = run::fit(&GradientsOnly(&target), Family::mog(3), &Plan { seed, ..Plan::default() }).unwrap();
        let (cost, usual) = (few.counts().gradient, fresh.counts().gradient);
        assert!(few.converged() && 3 * cost < usual, "seed {seed}: {cost} of {usual} gradients");
        let elbo = |posterior: &elinvar::Posterior| {
            let mut judged = posterior.clone();
            judged.judge(&target, 100_000, 7).unwrap();
            judged.diagnostics().unwrap().elbo.value
        };
        let lost = elbo(&fresh) - elbo(&few);
        assert!(lost < 0.003, "seed {seed}: {lost} nats lower");
        let by_name = run::fit(&target, Family::mog(3), &pooled(seed)).unwrap();
        assert!(elbo(&fresh) - elbo(&by_name) < 0.003, "seed {seed}");
    }
}

/// Long tails: a logistic regression that a line all but separates. Residual scores alone gave up after 10⁴ to 10⁵
/// gradients, and the fit after 10⁶.
#[test]
fn a_gaussian_that_few_draws_do_not_settle_goes_on_by_a_pool() {
    let (x, y) = ([-1.8, -1.2, -0.7, -0.3, 0.4, 0.6, 1.1, 1.9], [-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0]);
    let rows: Vec<f64> = x.iter().flat_map(|x| [1.0, *x]).collect();
    let design = DesignMatrix::new(rows, 2, vec!["one".into(), "x".into()]).unwrap();
    let target = LogisticRegression::new(design, y.to_vec(), 0.01).unwrap();
    let gaussian = |target: &dyn Target| run::fit(target, Family::gaussian(), &Plan::default()).unwrap();
    let (exact, fitted) = (gaussian(&target), gaussian(&GradientsOnly(&target)));
    assert!(fitted.converged() && fitted.counts().gradient < 30_000, "{:?}", fitted.counts());
    assert_eq!(fitted.family(), Family::gaussian());
    let elbo = |posterior: &elinvar::Posterior| posterior.importance(&target, 200_000, 7).unwrap().diagnostics.elbo;
    let lost = elbo(&exact).value - elbo(&fitted).value;
    assert!(lost < 0.015, "{lost} nats lower");
}

#[test]
fn a_growing_mixture_by_name() {
    let target = Banana::default();
    let grown = run::fit(&target, Family::mog_auto(), &pooled(1)).unwrap();
    assert!(grown.approximation().n_components() > 1);
    let one = run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    let judged = |mut posterior: elinvar::Posterior| {
        posterior.judge(&target, 20_000, 7).unwrap();
        posterior.diagnostics().unwrap().elbo.value
    };
    let gained = judged(grown) - judged(one);
    assert!(gained > 0.05, "{gained}");
}

/// Interrupts at its n-th question.
struct At(Cell<u64>);

// Steps are taken on one thread.
struct Shared(std::sync::Mutex<At>);

impl Interrupt for Shared {
    fn is_raised(&self) -> bool {
        let at = self.0.lock().unwrap();
        at.0.set(at.0.get().saturating_sub(1));
        at.0.get() == 0
    }
}

#[test]
fn it_goes_on_to_the_same_bits() {
    let target = Banana::default();
    for family in [Family::mog(3), Family::mog_auto()] {
        let whole = run::fit(&target, family, &pooled(1)).unwrap();
        for n in [40, 90] {
            let folder = tempfile::tempdir().unwrap();
            let journal = journal::Folder::new(folder.path()).unwrap();
            let raised = Shared(std::sync::Mutex::new(At(Cell::new(n))));
            let kept = Kept { interrupt: Some(&raised), ..Kept::from(&journal) };
            let mut go_on = |_: &Step| ControlFlow::Continue(());
            let cut = fit_journaled(&target, family, &pooled(1), &mut go_on, kept);
            assert!(matches!(cut, Err(Error::Interrupted)), "{family}, question {n}");
            let resumed = fit_journaled(&target, family, &pooled(1), &mut go_on, &journal).unwrap();
            assert_eq!(resumed.approximation(), whole.approximation(), "{family}, question {n}");
            assert_eq!(resumed.counts(), whole.counts(), "{family}, question {n}");
        }
    }
}

#[test]
fn what_it_is_not_for_is_told() {
    let target = Banana::default();
    let diagonal = Family { covariance: Covariance::Diagonal, ..Family::mog(3) };
    for (family, plan, wanted) in [
        (Family::skew(), pooled(1), "curvature `pooled` for `skew`"),
        (Family::auto(), pooled(1), "curvature `pooled` for `auto`"),
        (diagonal, pooled(1), "curvature `pooled` for `mog"),
        (Family::mog(3), Plan { max_kl: None, ..pooled(1) }, "curvature `pooled` with a rule"),
    ] {
        let told = run::fit(&target, family, &plan).unwrap_err().to_string();
        assert!(told.contains(wanted), "{told}");
    }
    assert_eq!(Curvature::by_name("pooled"), Some(Curvature::Pooled));
    assert_eq!(Curvature::by_name("least_change"), Some(Curvature::LeastChange));
}
