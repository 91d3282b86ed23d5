use crate::estimate::Curvature;
use crate::family::{Approximation, Family};
use crate::model::{Banana, GaussianMixture};
use crate::rule::StepSize;
use crate::run::{Plan, start};

/// Log weights of the components left and right of zero.
fn sides(q: &Approximation) -> [f64; 2] {
    let mut sides = [0.0; 2];
    for (block, log_weight) in q.locations().iter().zip(q.weights().log()) {
        sides[usize::from(block.b()[0] > 0.0)] += log_weight.exp();
    }
    sides
}

#[test]
fn every_mode_gets_components_in_proportion_to_its_mass() {
    let covariances = [1.0, 0.0, 0.0, 1.0, 0.5, 0.2, 0.2, 0.4];
    let target = GaussianMixture::new(&[0.3, 0.7], vec![-4.0, 0.0, 4.0, 1.0], &covariances).unwrap();
    for (family, counts) in [(Family::mog(2), [1, 1]), (Family::mog(7), [2, 5]), (Family::mog(6).diagonal(), [2, 4])] {
        let begun = start(&target, family, &Plan::default()).unwrap();
        assert_eq!((begun.agreement.modes.len(), begun.agreement.unbounded), (2, false));
        let q = begun.approximation;
        let left = q.locations().iter().filter(|block| block.b()[0] < 0.0).count();
        assert_eq!([left, q.n_components() - left], counts);
        let [left, right] = sides(&q);
        assert!((left - 0.3).abs() < 0.01 && (right - 0.7).abs() < 0.01, "{left} {right}");
    }
    // One component only: the heavier mode.
    let one = start(&target, Family::mog(1), &Plan::default()).unwrap().approximation;
    assert!(one.locations()[0].b()[0] > 3.0);
}

#[test]
fn components_over_one_bulk_keep_its_covariance_and_fill_it() {
    for (family, one) in [(Family::mog(6), Family::mog(1)), (Family::mog(6).diagonal(), Family::mog(1).diagonal())] {
        let begin = |family| start(&Banana::default(), family, &Plan::default()).unwrap().approximation;
        let (mixture, gaussian) = (begin(family), begin(one));
        // Six points have a mean and a covariance of their own, which count for a fifth.
        for (a, b) in mixture.covariance().iter().zip(gaussian.covariance()).step_by(3) {
            assert!((a / b - 1.0).abs() < 0.3, "{a} and {b}");
        }
        assert_eq!(mixture.weights().log(), vec![-6f64.ln(); 6]);
    }
}

/// The Gaussian inside is fitted by residual scores, also where the plan names another curvature.
#[test]
fn the_gaussian_inside_is_the_best_gaussian_and_cheap() {
    let fit_of = |family, plan: &Plan| crate::run::fit(&Banana::default(), family, plan).unwrap();
    for curvature in [Curvature::Auto, Curvature::Hessian, Curvature::Stein { control_variate: true }] {
        let plan = Plan { curvature, ..Plan::default() };
        let begun = start(&Banana::default(), Family::student_t_learned(), &plan).unwrap();
        let contained = begun.contained.unwrap();
        let most = if matches!(curvature, Curvature::Stein { .. }) { 6_000 } else { 600 };
        assert!(begun.counts.gradient < most, "{} with {curvature}", begun.counts.gradient);
        let gaussian = fit_of(Family::gaussian(), &Plan::default());
        // A variance that is wrong by a fifth costs the tolerance of 0.01 nats.
        for (a, b) in contained.q.variances().iter().zip(gaussian.approximation().variances()) {
            assert!((a / b - 1.0).abs() < 0.2, "{a} and {b} with {curvature}");
        }
    }
    // Nothing is compared where steps have a given length.
    let given = Plan { step_size: StepSize::Constant(0.1), ..Plan::default() };
    assert!(start(&Banana::default(), Family::skew(), &given).unwrap().contained.is_none());
}

/// A diagonal with two factors is all that three coordinates have: the start is the full Gaussian.
#[test]
fn factors_start_where_the_full_gaussian_is() {
    let covariance = [1.0, 0.9, 0.1, 0.9, 1.0, 0.3, 0.1, 0.3, 2.0];
    let target = GaussianMixture::new(&[1.0], vec![1.0, -2.0, 0.5], &covariance).unwrap();
    let q = start(&target, Family::rank_k(2), &Plan::default()).unwrap().approximation;
    for (found, wanted) in q.covariance().iter().zip(covariance) {
        assert!((found - wanted).abs() < 0.05, "{:?}", q.covariance());
    }
}
