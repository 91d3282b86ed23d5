//! Determinism, checkpoints and domains.

use std::ops::ControlFlow;

use crate::state::{State, Stated};
use elinvar::family::{Approximation, Family};
use elinvar::internals::law::Logistic;
use elinvar::model::{Banana, Funnel};
use elinvar::rule::{AdamLike, BiasCorrection, EuclideanAdam, Rule, StepSize};
use elinvar::run::{Checkpoint, Run, Stop, start};
use elinvar::target::{Prior, Target};
use elinvar::{Error, Plan};

use super::{MOMENTUM, rules, takes};
use crate::subjects::{families, label, logistic};

fn steps(rule: Rule, minibatch: Option<usize>) -> Plan {
    let stop = Stop { max_steps: 240, remaining_nats: 0.0, ..Stop::default() };
    Plan { n_draws: 4, rule, minibatch, stop, seed: 31, ..Plan::default() }
}

fn start_of(target: &dyn Target, family: Family) -> Approximation {
    start(target, family, &Plan::default()).unwrap().approximation
}

fn to_the_end(run: &mut Run<'_>) -> String {
    run.fit(&mut |_| ControlFlow::Continue(())).unwrap();
    let mut checkpoint = serde_json::to_value(run.checkpoint()).unwrap();
    for step in checkpoint["trace"].as_array_mut().unwrap() {
        step["seconds"] = 0.0.into();
    }
    checkpoint["seconds"] = 0.0.into();
    checkpoint.to_string()
}

/// State, trace, averages and the memory of the rule: everything that a checkpoint holds.
#[test]
fn a_run_gives_the_same_bits_again_and_in_pieces() {
    let target = logistic(80, 4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for family in families() {
        let from = start_of(&target, family);
        for (i, rule) in rules().into_iter().enumerate().filter(|(_, rule)| takes(family, *rule)) {
            let plan = steps(rule, [None, Some(30)][i % 2]);
            let straight = to_the_end(&mut Run::new(&target, from.clone(), &plan).unwrap());
            assert_eq!(straight, to_the_end(&mut Run::new(&target, from.clone(), &plan).unwrap()), "{}", label(family));
            let mut first = Run::new(&target, from.clone(), &plan).unwrap();
            let mut n = 0;
            let stop = |_: &_| {
                n += 1;
                if n == 150 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            first.fit(&mut { stop }).unwrap();
            first.checkpoint().save(&path).unwrap();
            let mut second = Run::resume(&target, &Checkpoint::load(&path).unwrap()).unwrap();
            assert_eq!(straight, to_the_end(&mut second), "{}, {rule:?}", label(family));
        }
    }
}

/// What a rule remembers, in a word: two have no memory besides the printed one, and two a place on a chart.
fn memory_of(rule: Rule) -> &'static str {
    match rule {
        Rule::NaturalMomentum { .. } => "displacement",
        Rule::AdamLike(_) => "means",
        Rule::EuclideanAdam(_) | Rule::GradientDescent => "chart",
        _ => "nothing",
    }
}

/// The memory of one rule is not taken for that of another.
#[test]
fn a_checkpoint_with_the_memory_of_another_rule_is_refused() {
    let target = logistic(80, 4);
    let from = start_of(&target, Family::gaussian().diagonal());
    let text = |rule| {
        let mut run = Run::new(&target, from.clone(), &steps(rule, None)).unwrap();
        (0..3).for_each(|_| _ = run.step().unwrap());
        serde_json::to_value(run.checkpoint()).unwrap()
    };
    let stored: Vec<_> = rules().into_iter().map(text).collect();
    for (i, one) in stored.iter().enumerate() {
        for (j, two) in stored.iter().enumerate() {
            let mut mixed = one.clone();
            mixed["memory"] = two["memory"].clone();
            let found = Run::resume(&target, &serde_json::from_value(mixed).unwrap());
            let alike = memory_of(rules()[i]) == memory_of(rules()[j]);
            assert_eq!(found.is_ok(), alike, "{:?} with the memory of {:?}", rules()[i], rules()[j]);
        }
    }
}

fn problem(state: &State) -> Option<String> {
    let blocks = state.blocks.iter().flat_map(|block| block.b.iter().chain(&block.precision));
    if let Some(value) = blocks.chain(&state.log_weights).find(|v| !v.is_finite()) {
        return Some(format!("the state holds {value}"));
    }
    Approximation::from_state(state).err().map(|error| error.to_string())
}

#[test]
fn no_step_size_leaves_the_domain() {
    let (regression, banana, funnel) = (logistic(30, 4), Banana::default(), Funnel::new(3).unwrap());
    for (name, target) in [("logistic", &regression as &dyn Target), ("banana", &banana), ("funnel", &funnel)] {
        for family in families() {
            let from = start_of(target, family);
            // The printed rule is halved sixty times and then says that it cannot go on.
            let others = rules().into_iter().skip(2).filter(|rule| rule.printed().is_none());
            for rule in others.filter(|rule| takes(family, *rule)) {
                let declares = matches!(target.about().prior, Prior::Gaussian { .. });
                if !declares && matches!(rule, Rule::AdamLike(rule) if rule.bias_correction.starts_from_the_prior()) {
                    assert!(matches!(
                        Run::new(target, from.clone(), &steps(rule, None)),
                        Err(Error::Unsupported { .. })
                    ));
                    continue;
                }
                for beta in [1e-200, 0.3, 10.0, 1e6, 1e200] {
                    let plan = Plan { step_size: StepSize::Constant(beta), max_kl: None, ..steps(rule, None) };
                    let mut run = Run::new(target, from.clone(), &plan).unwrap();
                    for step in 0..60 {
                        if run.reason_to_stop().is_some() {
                            break;
                        }
                        let report = run.step().unwrap();
                        let at = || format!("{name}, {}, {rule:?}, β = {beta}, step {step}", label(family));
                        assert!(report.taken.is_finite() && report.elbo.is_none_or(f64::is_finite), "{}", at());
                        if let Some(problem) = problem(&run.q().state()) {
                            panic!("{}: {problem}", at());
                        }
                    }
                }
            }
        }
    }
}

fn refusal(family: Family, plan: &Plan) -> String {
    let target = logistic(30, 3);
    match Run::new(&target, start_of(&target, family), plan) {
        Ok(_) => panic!("{family} with {plan:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_does_not_fit_together_is_refused_with_a_sentence() {
    let of = |rule| Plan { rule, ..Plan::default() };
    for gamma in [1.0, 1.5, -0.2, f64::NAN] {
        let sentence = refusal(Family::gaussian(), &of(Rule::NaturalMomentum { gamma }));
        assert!(sentence.contains("0 ≤ γ < 1"), "{sentence}");
    }
    let adam = Rule::AdamLike(AdamLike::default());
    for family in [Family::gaussian(), Family::mog(2), Family::scale_mixture(Logistic).product()] {
        let sentence = refusal(family, &of(adam));
        assert!(sentence.contains("adam_like") && sentence.contains("diagonal"), "{sentence}");
    }
    for rule in [MOMENTUM, adam, Rule::EuclideanAdam(EuclideanAdam::default())] {
        let plan = Plan { mixing_step_size: StepSize::Constant(0.3), ..of(rule) };
        let sentence = refusal(Family::gaussian().diagonal(), &plan);
        assert!(sentence.contains("mixing_step_size"), "{sentence}");
    }
    let banana = Banana::default();
    let from = start_of(&banana, Family::gaussian().diagonal());
    let sentence = Run::new(&banana, from.clone(), &of(adam)).err().unwrap().to_string();
    assert!(sentence.contains("prior") && sentence.contains("momentum_only"), "{sentence}");
    let kept = Rule::AdamLike(AdamLike { bias_correction: BiasCorrection::MomentumOnly, ..AdamLike::default() });
    assert!(Run::new(&banana, from, &of(kept)).is_ok());
}
