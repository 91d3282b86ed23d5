//! Runs of the family: steps of the Gaussian, balance of the factors, steps of any length, files.

use crate::state::{BlockState, State, Stated};
use elinvar::Plan;
use elinvar::family::{Approximation, Family, MatrixUpdate};
use elinvar::rule::{Rule, StepSize};
use elinvar::run::Run;
use elinvar::run::fit_from;
use elinvar::target::Covariance;

use super::example::{SOURCES, member, state};
use crate::members::differences::close;
use crate::subjects::precision;
use crate::subjects::{logistic, numbers};

fn take(n: usize, run: &mut Run<'_>) {
    for _ in 0..n {
        run.step().unwrap();
    }
}

/// A tensor of order one takes the steps of the Gaussian, draw by draw, with every source of curvature and with the KL
/// bound.
#[test]
fn order_one_is_the_gaussian() {
    let d = 6;
    let target = logistic(80, d);
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        let entries = precision(d, covariance, 4);
        let block = BlockState { b: numbers(d, 8), precision: entries };
        for curvature in SOURCES {
            for max_kl in [None, Some(0.05)] {
                let states = [Family::gaussian(), Family::tensor(&[d]).unwrap()].map(|family| {
                    let family = family.with_covariance(covariance);
                    let first = State { family, dim: d, blocks: vec![block.clone()], log_weights: vec![0.0] };
                    let step_size = StepSize::Constant(0.4);
                    let plan = Plan { n_draws: 8, curvature, step_size, max_kl, ..Plan::default() };
                    let mut run = Run::new(&target, Approximation::from_state(&first).unwrap(), &plan).unwrap();
                    let taken: Vec<f64> = (0..6).map(|_| run.step().unwrap().taken).collect();
                    (run.q().state().blocks.remove(0), taken)
                });
                let [(one, taken), (two, also_taken)] = states;
                let label = format!("{covariance:?} by {curvature}, {max_kl:?}");
                close(&format!("{label}: β"), &also_taken, &taken, 1e-8);
                close(&format!("{label}: μ"), &two.b, &one.b, 1e-8);
                close(&format!("{label}: P"), &two.precision, &one.precision, 1e-8);
            }
        }
    }
}

/// (cU, V/c) is the same distribution and stays the same under every rule and update; factors far out of balance are
/// put back.
#[test]
fn the_scale_of_a_factor_is_of_no_consequence() {
    let target = logistic(60, 6);
    for update in [MatrixUpdate::Joint, MatrixUpdate::Blockwise, MatrixUpdate::PaperLiteral] {
        for rule in [Rule::NaturalGradient, Rule::Retraction] {
            let after = |c: f64| {
                let mut state = member(Covariance::Full, &[&[3, 2]], update, 5).state();
                state.blocks[0].precision[..9].iter_mut().for_each(|p| *p *= c);
                state.blocks[0].precision[9..].iter_mut().for_each(|p| *p /= c);
                let plan =
                    Plan { n_draws: 8, rule, step_size: StepSize::Constant(0.3), max_kl: None, ..Plan::default() };
                let mut run = Run::new(&target, Approximation::from_state(&state).unwrap(), &plan).unwrap();
                take(5, &mut run);
                run.q().state()
            };
            let one = after(1.0);
            for c in [3.0, 1e-5, 1e40] {
                let two = after(c);
                let [a, b] = [&one, &two].map(|state| Approximation::from_state(state).unwrap());
                close(&format!("{update} {rule}, {c}: W"), &b.mean(), &a.mean(), 1e-9);
                close(&format!("{update} {rule}, {c}: V ⊗ U"), &b.covariance(), &a.covariance(), 1e-9);
                if c == 1e40 {
                    assert!(two.blocks[0].precision.iter().all(|p| p.abs() < 1e6), "not put back into balance");
                }
            }
        }
    }
}

/// No step of any length, by any rule, leaves a state that is not finite.
#[test]
fn no_step_is_too_long() {
    let target = logistic(60, 12);
    for update in [MatrixUpdate::Joint, MatrixUpdate::Blockwise, MatrixUpdate::PaperLiteral] {
        for (groups, covariance) in [
            (&[&[4usize, 3][..]][..], Covariance::Full),
            (&[&[2, 3, 2]], Covariance::Diagonal),
            (&[&[3, 2], &[6]], Covariance::Full),
        ] {
            let family = Family::layers(groups).unwrap().with_covariance(covariance).with_update(update);
            for rule in [Rule::NaturalGradient, Rule::Retraction, Rule::NaturalMomentum { gamma: 0.5 }] {
                for beta in [1e-300, 1.0, 3.0, 1e3, 1e100, 1e300] {
                    let start = Approximation::from_state(&state(family, 3)).unwrap();
                    let plan =
                        Plan { n_draws: 4, rule, step_size: StepSize::Constant(beta), max_kl: None, ..Plan::default() };
                    let mut run = Run::new(&target, start, &plan).unwrap();
                    take(30, &mut run);
                    let state = run.q().state();
                    let finite = |block: &BlockState| block.b.iter().chain(&block.precision).all(|v| v.is_finite());
                    assert!(state.blocks.iter().all(finite), "{update} {rule} {beta:e}");
                    Approximation::from_state(&state).unwrap();
                }
            }
        }
    }
}

/// A fit is a function of its plan; it survives files; a run goes on from a checkpoint to the same bits.
#[test]
fn fits_are_repeated_stored_and_resumed() {
    let target = logistic(60, 12);
    for (groups, covariance) in
        [(&[&[4usize, 3][..]][..], Covariance::Full), (&[&[2, 3, 1], &[6]], Covariance::Diagonal)]
    {
        for update in [MatrixUpdate::Joint, MatrixUpdate::PaperLiteral] {
            let family = Family::layers(groups).unwrap().with_covariance(covariance).with_update(update);
            let start = Approximation::from_state(&state(family, 3)).unwrap();
            for rule in
                [Rule::Retraction, Rule::NaturalMomentum { gamma: 0.3 }, Rule::EuclideanAdam(Default::default())]
            {
                let plan = Plan { n_draws: 8, rule, ..Plan::default() };
                let mut run = Run::new(&target, start.clone(), &plan).unwrap();
                let mut other = Run::new(&target, start.clone(), &plan).unwrap();
                take(5, &mut run);
                take(5, &mut other);
                assert_eq!(run.q().state(), other.q().state());
                let text = serde_json::to_string(&other.checkpoint()).unwrap();
                let mut resumed = Run::resume(&target, &serde_json::from_str(&text).unwrap()).unwrap();
                take(5, &mut run);
                take(5, &mut resumed);
                assert_eq!(run.q().state(), resumed.q().state(), "{update} {rule}");
            }
            let plan = Plan { stop: elinvar::run::Stop { max_steps: 20, ..Default::default() }, ..Plan::default() };
            let posterior = fit_from(&target, start, &plan, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
            let folder =
                std::env::temp_dir().join(format!("elinvar-matrix-{}-{covariance:?}-{update}", std::process::id()));
            posterior.save(&folder).unwrap();
            let read = elinvar::Posterior::load(&folder).unwrap();
            std::fs::remove_file(&folder).ok();
            assert_eq!(read.approximation(), posterior.approximation());
            assert_eq!(read.sample_z(5, 1), posterior.sample_z(5, 1));
        }
    }
}

/// A layout that is not the target's is refused with a sentence.
#[test]
fn a_layout_fits_its_target() {
    let error = elinvar::run::fit(&logistic(30, 6), Family::matrix(2, 2).unwrap(), &Plan::default()).unwrap_err();
    assert_eq!(error.to_string(), "coordinates of the layout of `matrix`: expected 6, found 4");
    let mut state = state(Family::matrix(2, 3).unwrap(), 1);
    state.blocks[0].precision.pop();
    assert!(Approximation::from_state(&state).unwrap_err().to_string().contains("precision factors"));
}
