//! Corrections by chains: what they store, what the verdict then is, and that they need gradients only.

use std::sync::atomic::{AtomicU64, Ordering};

use elinvar::chains::Correction;
use elinvar::model::{Banana, EightSchools, Parametrisation};
use elinvar::posterior::Verdict;
use elinvar::target::{About, Answer, Ask, Draws, Offers, Support, Target, TargetError, Want, from_fn, from_values};
use elinvar::{Error, Family, Plan, Posterior};

use crate::subjects::logistic;

/// Gradients alone, evaluated by so many threads; whatever else is asked fails the test.
struct Bare<'a> {
    inner: &'a dyn Target,
    threads: usize,
}

impl Target for Bare<'_> {
    fn about(&self) -> About {
        About { offers: Offers::GRADIENT, ..self.inner.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        assert!(matches!(ask.want, Want::Gradients | Want::Values), "{:?}", ask.want);
        let (d, n) = (ask.draws.dim(), ask.draws.len());
        let share = n.div_ceil(self.threads).max(1);
        let parts: Vec<Result<(usize, Answer), TargetError>> = std::thread::scope(|scope| {
            let starts: Vec<usize> = (0..n).step_by(share).collect();
            let work: Vec<_> = starts
                .into_iter()
                .map(|start| {
                    scope.spawn(move || {
                        let draws: Draws<'_> = ask.draws.range(start..n.min(start + share));
                        let mut part = Answer::new(d, draws.len());
                        self.inner.evaluate(&Ask { draws, want: Want::Gradients, ..*ask }, &mut part)?;
                        Ok((start, part))
                    })
                })
                .collect();
            work.into_iter().map(|part| part.join().unwrap()).collect()
        });
        for part in parts {
            let (start, part) = part?;
            for s in 0..part.len() {
                answer.log_p_mut()[start + s] = part.log_p()[s];
                answer.grad_mut(start + s).copy_from_slice(part.grad(s));
            }
        }
        Ok(())
    }
}

fn fitted(target: &dyn Target) -> Posterior {
    elinvar::run::fit(target, Family::gaussian(), &Plan::default()).unwrap()
}

#[test]
fn gradients_are_enough_and_threads_change_no_bit() {
    let regression = logistic(60, 4);
    let run = |threads| {
        let target = Bare { inner: &regression, threads };
        let mut posterior = fitted(&target);
        posterior.correct(&target, &Correction::default()).unwrap().clone()
    };
    let (one, two) = (run(1), run(2));
    assert_eq!((one.coordinates.clone(), one.draws(50)), (two.coordinates.clone(), two.draws(50)));
    assert!(one.is_trusted(), "{:?}", one.doubts);
    assert!(one.counts.hessian == 0 && one.counts.gradient < 3_000, "{:?}", one.counts);
}

#[test]
fn the_verdict_is_on_what_is_given_and_files_keep_it() {
    let target = EightSchools::new(Parametrisation::NonCentred);
    let mut posterior = fitted(&target);
    let before = posterior.judge(&target, 2_000, 1).unwrap();
    assert_ne!(before.verdict, Verdict::Trust, "a Gaussian has log τ wrong: {}", before.reason);
    posterior.correct(&target, &Correction::default()).unwrap();
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    let reason = posterior.judge(&target, 2_000, 1).unwrap().reason;
    assert!(reason.contains("32 chains") && posterior.verdict() == Some(Verdict::Trust), "{reason}");
    // By quadrature over log τ, given which everything is Gaussian. Five errors of 16 pairs: 2e−4 each.
    let corrected = posterior.corrected().unwrap();
    let (log_tau, tau) = (&corrected.coordinates[1], &corrected.parameters[1]);
    for (found, expected) in [
        (log_tau.mean, 0.802_14),
        (log_tau.sd, 1.171_23),
        (tau.mean, 3.597_71),
        (tau.sd, 3.219_96),
        (tau.q5, 0.246_35),
        (tau.q50, 2.748_35),
        (tau.q95, 9.845_36),
    ] {
        assert!(
            (found.value - expected).abs() < 5.0 * found.mcse && found.mcse < 0.2 * expected,
            "{found:?} {expected}"
        );
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    posterior.save(&path).unwrap();
    let again = Posterior::load(&path).unwrap();
    assert_eq!(again.corrected(), posterior.corrected());
    posterior.forget_correction();
    assert!(posterior.corrected().is_none() && posterior.verdict().is_none());
    assert_eq!(posterior.judge(&target, 2_000, 1).unwrap(), before);
    posterior.save(&path).unwrap();
    assert!(!std::fs::read_to_string(&path).unwrap().contains("corrected"));
    assert!(Posterior::load(&path).unwrap().corrected().is_none());
}

#[test]
fn files_with_a_correction_of_another_size_are_refused() {
    let target = Banana::default();
    let mut posterior = fitted(&target);
    posterior.correct(&target, &Correction { max_gradients: 2_000, ..Correction::default() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    posterior.save(&path).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    file["corrected"]["centre"].as_array_mut().unwrap().pop();
    std::fs::write(&path, crate::files::sealed(file)).unwrap();
    assert!(Posterior::load(&path).unwrap_err().to_string().contains("correction"));
}

#[test]
fn what_cannot_be_corrected_is_said() {
    let target = Banana::default();
    let mut posterior = fitted(&target);
    let values = from_values(2, |z| -0.5 * (z[0] * z[0] + z[1] * z[1]));
    let settings = Correction::default();
    assert!(matches!(posterior.correct(&values, &settings), Err(Error::Unsupported { .. })));
    let normal = |z: &[f64], grad: &mut [f64]| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        -0.5 * z.iter().map(|z| z * z).sum::<f64>()
    };
    let positive = from_fn(2, normal).on(Support::Positive);
    assert!(matches!(posterior.correct(&positive, &settings), Err(Error::Unsupported { .. })));
    assert!(matches!(posterior.correct(&from_fn(3, normal), &settings), Err(Error::Shape { .. })));
    let calls = AtomicU64::new(0);
    let interrupt = || calls.fetch_add(1, Ordering::Relaxed) > 20;
    let ended = posterior.correct_watched(&target, &settings, &interrupt, &|_| ());
    assert!(matches!(ended, Err(Error::Interrupted)));
    assert!(posterior.corrected().is_none());
}
