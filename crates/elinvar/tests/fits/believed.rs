//! No Gaussian is called converged that is more than the tolerance below the best one: on targets and seeds by which
//! nothing was tuned.

use elinvar::estimate::Curvature;
use elinvar::internals::GradientsOnly;
use elinvar::model::{Banana, BetaBinomial, DesignMatrix, LogisticRegression};
use elinvar::run::{Stop, StopReason, fit};
use elinvar::target::{Target, from_fns};
use elinvar::{Family, Plan, Posterior};

/// The tolerance of the default plan.
const TOLERANCE: f64 = 0.01;
/// Differences of bounds on the same draws are noise below this: 100 000 draws, and log p − log q of two Gaussians that
/// are this near differ by less than 0.3 at most of them.
const NOISE: f64 = 0.002;

fn bound(posterior: &Posterior, target: &dyn Target) -> f64 {
    posterior.importance(target, 100_000, 4).unwrap().diagnostics.elbo.value
}

/// The better of two long fits, by averages of steps and by residual scores.
fn best(target: &dyn Target) -> f64 {
    let stop = Stop { remaining_nats: 2e-4, max_steps: 3_000, ..Stop::default() };
    let long = |curvature| {
        let plan = Plan { n_draws: 256, seed: 77, curvature, stop, ..Plan::default() };
        bound(&fit(target, Family::gaussian(), &plan).unwrap(), target)
    };
    long(Curvature::Hessian).max(long(Curvature::Auto))
}

fn never_wrong(name: &str, target: &dyn Target) {
    let best = best(target);
    let mut n_converged = 0;
    for seed in 301..305 {
        for target in [target, &GradientsOnly(target)] {
            let posterior = fit(target, Family::gaussian(), &Plan { seed, ..Plan::default() }).unwrap();
            let short = best - bound(&posterior, target);
            let has_converged = posterior.stop_reason() == StopReason::Converged;
            n_converged += usize::from(has_converged);
            let told = format!("{name}, seed {seed}: {short} nats below, {:?}", posterior.counts());
            assert!(!has_converged || short < TOLERANCE + NOISE, "{told}");
        }
    }
    assert!(n_converged >= 6, "{name}: {n_converged} of 8 have converged");
}

#[test]
fn on_bent_densities() {
    never_wrong("a narrow banana", &Banana::new(1.0, 0.9).unwrap());
    never_wrong("a long banana", &Banana::new(3.0, 0.15).unwrap());
}

#[test]
fn on_counts_and_a_small_regression() {
    never_wrong("beta-binomial", &BetaBinomial::cancer_mortality());
    let rows = [0.3, -1.2, 0.8, 0.5, -0.7, 1.9, 1.4, -0.2, -1.1, 0.1, 0.6, -0.9, 2.2, 0.4, -0.3, -1.6];
    let labels = vec![1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0];
    let design = DesignMatrix::new(rows.to_vec(), 2, vec!["a".into(), "b".into()]).unwrap();
    never_wrong("eight rows", &LogisticRegression::new(design, labels, 0.2).unwrap());
}

#[test]
fn on_skewed_coordinates_with_long_tails() {
    // log Γ(α) densities side by side: exp(αx − eˣ), with tails like e⁻ˣ on one side and none on the other.
    let shapes = [0.7, 1.0, 2.0, 5.0, 0.5];
    let target = from_fns(
        shapes.len(),
        move |z, grad| {
            grad.iter_mut().zip(z).zip(shapes).for_each(|((g, x), a)| *g = a - x.exp());
            z.iter().zip(shapes).map(|(x, a)| a * x - x.exp()).sum()
        },
        move |z, hessian| {
            hessian.fill(0.0);
            (0..z.len()).for_each(|i| hessian[i * z.len() + i] = -z[i].exp());
        },
    );
    never_wrong("log-gamma densities", &target);
}
