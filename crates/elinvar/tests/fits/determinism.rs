//! The same call gives the same bits: again, with other threads, in pieces, and cut short.

use std::ops::ControlFlow;

use crate::state::Stated;
use elinvar::family::{Approximation, Family};
use elinvar::model::Banana;
use elinvar::run::{Checkpoint, Run, Step, Stop, start};
use elinvar::target::{About, Answer, Ask, Target, TargetError};
use elinvar::{Plan, Posterior};

use crate::subjects::{self, families, label, logistic};

/// A plan that ends after exactly this many steps, with convergence checks on the way.
fn steps(max_steps: u64) -> Plan {
    let stop = Stop { max_steps, remaining_nats: 0.0, ..Stop::default() };
    Plan { n_draws: 8, stop, seed: 31, ..Plan::default() }
}

fn start_of(target: &dyn Target, family: Family) -> Approximation {
    start(target, family, &steps(200)).unwrap().approximation
}

fn run_to_the_end(run: &mut Run<'_>) {
    run.fit(&mut |_| ControlFlow::Continue(())).unwrap();
}

/// A trace without the times, which no run repeats.
fn without_seconds(trace: &[Step]) -> String {
    let trace: Vec<Step> = trace.iter().map(|step| Step { seconds: 0.0, ..*step }).collect();
    serde_json::to_string(&trace).unwrap()
}

/// State, counts and trace as text; numbers are written so that they are read back to the same bits.
fn everything(run: &Run<'_>) -> [String; 3] {
    let (state, counts) = (serde_json::to_string(run.q()).unwrap(), format!("{:?}", run.counts()));
    [state, counts, without_seconds(run.trace())]
}

fn of_posterior(posterior: &Posterior) -> [String; 3] {
    let state = serde_json::to_string(posterior.approximation()).unwrap();
    [state, format!("{:?}", posterior.counts()), without_seconds(posterior.trace())]
}

#[test]
fn a_fit_gives_the_same_bits_twice() {
    let (banana, regression) = (Banana::default(), logistic(60, 4));
    for family in families() {
        for target in [&banana as &dyn Target, &regression] {
            let fit = |seed| of_posterior(&elinvar::run::fit(target, family, &Plan { seed, ..steps(40) }).unwrap());
            let first = fit(5);
            assert_eq!(first, fit(5), "{}", label(family));
            // A Gaussian by exact expectations has nothing random in it.
            let is_exact = first[2].contains("\"n_draws\":0");
            if !is_exact {
                assert_ne!(first[0], fit(6)[0], "{}: the seed changes nothing", label(family));
            }
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let target = logistic(9_000, 10);
    let fit = |family: Family, threads: usize, minibatch| {
        let plan = Plan { minibatch, ..steps(12) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of_posterior(&elinvar::run::fit(&target, family, &plan).unwrap()))
    };
    for family in subjects::every_kind() {
        // 2¹⁹ products N·d·S are the threshold from which the rows are cut into chunks.
        for minibatch in [None, Some(7_000)] {
            assert!(minibatch.unwrap_or(9_000) * target.dim() * 8 > 1 << 19);
            assert_eq!(fit(family, 1, minibatch), fit(family, 2, minibatch), "{family}");
        }
    }
}

#[test]
fn a_resumed_run_equals_a_straight_one() {
    let (banana, regression) = (Banana::default(), logistic(60, 4));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for family in families() {
        for (target, minibatch) in [(&banana as &dyn Target, None), (&regression, None), (&regression, Some(20))] {
            let from = start_of(target, family);
            let plan = Plan { minibatch, ..steps(60) };
            let mut straight = Run::new(target, from.clone(), &plan).unwrap();
            run_to_the_end(&mut straight);

            let mut first = Run::new(target, from, &plan).unwrap();
            let mut n = 0;
            first
                .fit(&mut |_| {
                    n += 1;
                    if n == 25 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .unwrap();
            first.checkpoint().save(&path).unwrap();
            let loaded = Checkpoint::load(&path).unwrap();
            assert_eq!(loaded.step(), 25);
            let mut second = Run::resume(target, &loaded).unwrap();
            run_to_the_end(&mut second);
            assert_eq!(everything(&straight), everything(&second), "{} {minibatch:?}", label(family));
            assert_eq!(second.trace().len(), 60);
        }
    }
}

/// A run that is stopped by its convergence test stops at the same step after a checkpoint: the estimates are stored
/// too.
#[test]
fn a_resumed_run_converges_at_the_same_step() {
    let target = logistic(60, 4);
    let plan = Plan { seed: 2, ..Plan::default() };
    let from = start_of(&target, Family::gaussian());
    let mut straight = Run::new(&target, from.clone(), &plan).unwrap();
    run_to_the_end(&mut straight);
    let n = straight.trace().len();
    assert!((8..200).contains(&n), "{n} steps");
    for cut in [1, n / 2, n - 1] {
        let mut run = Run::new(&target, from.clone(), &plan).unwrap();
        let mut taken = 0;
        run.fit(&mut |_| {
            taken += 1;
            if taken == cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        let mut rest = Run::resume(&target, &run.checkpoint()).unwrap();
        run_to_the_end(&mut rest);
        assert_eq!(everything(&straight), everything(&rest), "cut after {cut} steps");
    }
}

#[test]
fn a_shorter_run_is_the_beginning_of_a_longer_one() {
    let target = Banana::default();
    for family in families() {
        let from = start_of(&target, family);
        let (mut short, mut long) = (Run::new(&target, from.clone(), &steps(20)), Run::new(&target, from, &steps(35)));
        let (short, long) = (short.as_mut().unwrap(), long.as_mut().unwrap());
        run_to_the_end(short);
        let mut taken = 0;
        long.fit(&mut |_| {
            taken += 1;
            if taken == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        assert_eq!(short.q().state(), long.q().state(), "{}", label(family));
        let mut full = Run::new(&target, start_of(&target, family), &steps(35)).unwrap();
        run_to_the_end(&mut full);
        assert_eq!(without_seconds(short.trace()), without_seconds(&full.trace()[..20]), "{}", label(family));
    }
}

/// Records the points at which it is evaluated; a sum over rows that are all alike.
struct Recorder(std::sync::Mutex<Vec<f64>>);

impl Target for Recorder {
    fn about(&self) -> About {
        About { n_rows: Some(100), ..About::new(3) }
    }

    fn evaluate(&self, ask: &Ask<'_>, out: &mut Answer) -> Result<(), TargetError> {
        let Ask { draws, rows, .. } = *ask;
        self.0.lock().unwrap().extend_from_slice(draws.as_slice());
        let n = rows.len(100) as f64;
        for (s, z) in draws.iter().enumerate() {
            out.log_p_mut()[s] = -0.005 * n * z.iter().map(|v| v * v).sum::<f64>();
            out.grad_mut(s).iter_mut().zip(z).for_each(|(g, v)| *g = -0.01 * n * v);
        }
        Ok(())
    }
}

/// Rows and draws come from streams of their own: a mini-batch of another size sees the same first draws.
#[test]
fn the_size_of_a_mini_batch_does_not_change_the_draws() {
    for family in subjects::every_kind() {
        let first_draws = |minibatch, seed| {
            let target = Recorder(Default::default());
            let from = start_of(&target, family);
            target.0.lock().unwrap().clear();
            Run::new(&target, from, &Plan { minibatch, seed, ..steps(5) }).unwrap().step().unwrap();
            target.0.into_inner().unwrap()
        };
        let all = first_draws(None, 1);
        assert!(all.len() >= 8 * 3);
        assert_eq!(all, first_draws(Some(100), 1));
        assert_eq!(all, first_draws(Some(7), 1));
        assert_ne!(all, first_draws(Some(7), 2));
    }
}
