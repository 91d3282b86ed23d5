//! Files, resumed runs, damaged states and absurd step sizes.

use std::path::Path;

use super::*;
use crate::state::Stated;
use elinvar::Family;
use elinvar::family::Approximation;
use elinvar::run::Run;

const KINDS: [(&str, usize); 4] =
    [("gamma", 3), ("exponential", 1), ("log_normal", 2), ("exponential and inverse_gaussian", 3)];

/// A run in two pieces ends where it ends in one, by every rule that has something to remember.
pub(crate) fn resumed_runs_keep_every_bit(target: &dyn Target, from: &Approximation, plan: &Plan, path: &Path) {
    for rule in [Rule::Retraction, Rule::NaturalMomentum { gamma: 0.5 }, Rule::EuclideanAdam(EuclideanAdam::default())]
    {
        let plan = Plan { rule, ..plan.clone() };
        let mut straight = Run::new(target, from.clone(), &plan).unwrap();
        straight.fit(&mut |_| ControlFlow::Continue(())).unwrap();
        let mut first = Run::new(target, from.clone(), &plan).unwrap();
        let mut n = 0;
        let stop_at_25 = &mut |_: &_| {
            n += 1;
            if n == 25 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        first.fit(stop_at_25).unwrap();
        first.checkpoint().save(path).unwrap();
        let mut second = Run::resume(target, &Checkpoint::load(path).unwrap()).unwrap();
        second.fit(&mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(straight.q().state(), second.q().state(), "{} {rule}", from.family());
    }
}

#[test]
fn files_and_resumed_runs_keep_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    let target = Pointwise(Pair);
    for kind in KINDS {
        let family = family_of(kind);
        let mut plan = Plan::default();
        (plan.stop.max_steps, plan.stop.remaining_nats) = (60, 0.0);
        let posterior = elinvar::run::fit(&target, family, &plan).unwrap();
        posterior.save(&path).unwrap();
        let read = Posterior::load(&path).unwrap();
        assert_eq!(read.approximation(), posterior.approximation(), "{kind:?}");
        assert_eq!(read.family(), family);
        let (one, two) = (posterior.sample_z(50, 3), read.sample_z(50, 3));
        assert_eq!(one.view().as_slice(), two.view().as_slice());
        assert!(one.view().as_slice().iter().all(|z| *z > 0.0));
        // The same call again, and another seed.
        assert_eq!(elinvar::run::fit(&target, family, &plan).unwrap().approximation(), posterior.approximation());
        let other = elinvar::run::fit(&target, family, &Plan { seed: 2, ..plan.clone() }).unwrap();
        assert_ne!(other.approximation(), posterior.approximation());

        let from = elinvar::run::start(&target, family, &plan).unwrap().approximation;
        resumed_runs_keep_every_bit(&target, &from, &plan, &path);
    }
}

#[test]
fn damaged_states_are_refused() {
    let good = member("gamma", 2, &[0.4, 0.6], &[&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]]).state();
    let spoilt = |change: &dyn Fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        assert!(Approximation::from_state(&state).is_err(), "{state:?}");
    };
    spoilt(&|state| state.blocks[0].b[0] = -1.0);
    spoilt(&|state| state.blocks[0].b[1] = f64::NAN);
    spoilt(&|state| state.blocks[0].b.truncate(3));
    spoilt(&|state| state.blocks[0].precision.push(1.0));
    spoilt(&|state| state.blocks.truncate(1));
    spoilt(&|state| state.dim = 1);
    spoilt(&|state| state.dim = usize::MAX);
    spoilt(&|state| state.dim = 0);
    spoilt(&|state| state.log_weights[0] = 0.3);
    spoilt(&|state| state.log_weights.truncate(1));
    let text = serde_json::to_string(&good).unwrap();
    assert_eq!(serde_json::from_str::<Approximation>(&text).unwrap().state(), good);

    // A state has the parameters from which every natural parameter is made again, bit by bit.
    for name in ComponentKind::NAMES {
        let standard = ComponentKind::new(name, None).unwrap().standard();
        for size in [1e-3, 0.3, 2.0, 20.0] {
            let chart = standard.chart();
            let moved = standard.with_chart(std::array::from_fn(|j| {
                if j < standard.n_free() { chart[j] + size * (1.0 + j as f64).sin() } else { 0.0 }
            }));
            let Some(q) = moved.and_then(|member| Approximation::ef_mixture(LogWeights::uniform(1), vec![member]).ok())
            else {
                assert!(size > 10.0, "{name}");
                continue;
            };
            let again = Approximation::from_state(&q.state()).unwrap();
            assert_eq!((again.natural(), again.state()), (q.natural(), q.state()), "{name}");
        }
    }
}

#[test]
fn families_in_files_are_friendly() {
    let gamma = Family::ef_mixture(ComponentKind::new("gamma", None).unwrap(), 2);
    let text = r#"{"ef_mixture":{"component":"gamma","components":2},"covariance":"diagonal"}"#;
    assert_eq!(serde_json::to_string(&gamma).unwrap(), text);
    assert_eq!(serde_json::from_str::<Family>(text).unwrap(), gamma);
    let short: Family = serde_json::from_str(r#"{"ef_mixture":{"component":"gamma"},"covariance":"full"}"#).unwrap();
    assert_eq!(
        (short.kind, short.n_components()),
        (Family::ef_mixture(ComponentKind::new("gamma", None).unwrap(), 1).kind, 1)
    );
    let error =
        serde_json::from_str::<Family>(r#"{"ef_mixture":{"component":"gama"},"covariance":"full"}"#).unwrap_err();
    assert!(error.to_string().contains("use one of exponential, gamma"), "{error}");
    assert!(Family::ef_mixture(ComponentKind::new("gamma", None).unwrap(), 0).check().is_err());
    for name in ComponentKind::NAMES {
        let family = Family::ef_mixture(ComponentKind::new(name, None).unwrap(), 3);
        let text = serde_json::to_string(&family).unwrap();
        assert_eq!(serde_json::from_str::<Family>(&text).unwrap(), family, "{text}");
        assert!(text.contains(family.name()) && Family::NAMES.contains(&family.name()), "{text}");
    }
    let fatigue = Family::birnbaum_saunders(2);
    let text = r#"{"birnbaum_saunders":{"components":2},"covariance":"diagonal"}"#;
    assert_eq!((fatigue.name(), serde_json::to_string(&fatigue).unwrap().as_str()), ("birnbaum_saunders", text));
    assert_eq!(serde_json::from_str::<Family>(text).unwrap(), fatigue);
    if known("weibull") {
        let family = Family::ef_mixture(ComponentKind::new("weibull", Some(3.5)).unwrap(), 1);
        let text = serde_json::to_string(&family).unwrap();
        assert!(text.contains(r#""component":{"name":"weibull","constant":3.5}"#), "{text}");
        assert_eq!(serde_json::from_str::<Family>(&text).unwrap(), family);
    }
}

/// Whatever the step size, every state is a member, and the run says why it ends.
#[test]
fn no_step_size_leaves_the_domain() {
    let target = Pointwise(Pair);
    let target: &dyn Target = &target;
    for kind in KINDS {
        let from = elinvar::run::start(target, family_of(kind), &Plan::default()).unwrap().approximation;
        for rule in [Rule::NaturalGradient, Rule::Retraction] {
            for beta in [0.01, 1.0, 30.0, 1e6, 1e300] {
                for sampling in [Sampling::OwnDraws, Sampling::Stratified, Sampling::Mixture] {
                    let step_size = StepSize::Constant(beta);
                    let mixing_step_size = step_size;
                    let plan = Plan {
                        n_draws: 4,
                        rule,
                        step_size,
                        mixing_step_size,
                        max_kl: None,
                        sampling,
                        ..Plan::default()
                    };
                    let mut run = Run::new(target, from.clone(), &plan).unwrap();
                    for _ in 0..60 {
                        if run.reason_to_stop().is_some() {
                            break;
                        }
                        let step = run.step().unwrap();
                        assert!(
                            step.elbo.is_none_or(f64::is_finite) && step.taken.is_finite(),
                            "{kind:?} {rule} {beta}"
                        );
                        let state = run.q().state();
                        let again = Approximation::from_state(&state).unwrap();
                        assert_eq!(again.state(), state, "{kind:?} {rule} {beta}");
                    }
                }
            }
        }
    }
}
