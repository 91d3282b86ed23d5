//! Steps in two halves: the same as whole ones, with a natural gradient that is what theory says.

use elinvar::model::Banana;
use elinvar::prelude::*;
use elinvar::research::rule::{Rule, StepSize};
use elinvar::theory::Mcef;

const BETA: f64 = 0.1;

fn plan() -> Plan {
    let step_size = StepSize::Constant(BETA);
    Plan { step_size, mixing_step_size: step_size, ..Plan::default() }
}

fn begin<'m>(model: &'m Banana, family: Family, plan: Plan) -> Run<'m> {
    Fit::new(model).family(family).plan(plan).start_around(Placement::default()).begin().unwrap()
}

#[test]
fn two_halves_are_a_step() {
    let model = Banana::default();
    let all = [
        Family::gaussian(),
        Family::gaussian().diagonal(),
        Family::mog(3),
        Family::skew(),
        Family::student_t_learned(),
        Family::rank_k(1),
        Family::matrix(1, 2).unwrap(),
    ];
    for family in all {
        let [mut whole, mut halves] = [0, 1].map(|_| begin(&model, family, plan()));
        for _ in 0..20 {
            let step = whole.step().unwrap();
            let elbo = halves.estimate_gradient().unwrap().expect("no draw is bad");
            assert_eq!((step.elbo, step.estimate()), (Some(elbo.value), Some(elbo)), "{family}");
            assert_eq!(halves.move_by(BETA).unwrap(), step.taken, "{family}");
        }
        assert_eq!(whole.q(), halves.q(), "{family}");
    }
}

/// Paper: §3, Theorem 3: η⁺ = η + β F⁻¹∇_η L. Algebra, with a factor and a few solves between: 1e−10.
#[test]
fn the_natural_gradient_is_where_a_plain_step_goes() {
    let model = Banana::default();
    for family in [Family::gaussian(), Family::gaussian().diagonal(), Family::mog(3), Family::skew(), Family::rank_k(1)]
    {
        let plan = Plan { rule: Rule::NaturalGradient, max_kl: None, ..plan() };
        let mut run = begin(&model, family, plan);
        for _ in 0..5 {
            run.estimate_gradient().unwrap().expect("no draw is bad");
            let beta = 0.01;
            let natural = run.q().natural_gradient(run.gradient());
            let expected: Vec<f64> = run.q().natural().iter().zip(&natural).map(|(at, g)| at + beta * g).collect();
            // gᵀF⁻¹g by the whole Fisher matrix: F F⁻¹g is g.
            let (n, fisher) = (natural.len(), run.q().fisher());
            let by_theory: f64 = (0..n * n).map(|k| fisher[k] * natural[k / n] * natural[k % n]).sum();
            let slope = run.slope();
            assert!((slope / by_theory - 1.0).abs() < 1e-9, "{family}: {slope} {by_theory}");
            assert_eq!(run.move_by(beta).unwrap(), beta, "{family}");
            for (found, expected) in run.q().natural().iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{family}: {found} {expected}");
            }
        }
    }
}

#[test]
fn a_rule_of_ones_own_goes_where_it_wants_within_the_family() {
    let model = Banana::default();
    let mut run = begin(&model, Family::gaussian(), plan());
    let first = run.estimate_gradient().unwrap();
    assert_eq!(first, run.estimate_gradient().unwrap(), "nothing has moved: the same draws");
    run.gradient_mut().blocks[0].b.fill(0.0);
    run.gradient_mut().blocks[0].g.fill(0.0);
    let before = run.q().clone();
    run.move_by(0.5).unwrap();
    assert_eq!((run.q(), run.slope()), (&before, 0.0), "a gradient of zero leads nowhere");
    assert_ne!(first, run.estimate_gradient().unwrap(), "a move later: other draws");

    let elsewhere = before.with_natural(&[1.0, 0.0, -0.5, 0.0, -0.5]).unwrap();
    run.move_to(elsewhere.clone()).unwrap();
    assert_eq!(run.q(), &elsewhere);
    assert_eq!(run.finish().approximation(), &elsewhere, "no window was judged: the last state is the result");

    let mut run = begin(&model, Family::gaussian(), plan());
    let other = begin(&model, Family::mog(2), plan()).q().clone();
    let said = run.move_to(other).unwrap_err().to_string();
    assert!(said.contains("of another shape") && said.contains("Fit::start_from"), "{said}");
    assert!(run.move_by(0.0).unwrap_err().to_string().contains("a step size is a positive number"));
}
