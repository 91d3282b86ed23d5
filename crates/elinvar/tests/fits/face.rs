//! Models as their authors write them: parameters on their natural scale, one builder, one way to stop.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use elinvar::model::Banana;
use elinvar::prelude::*;
use elinvar::run::journal::Folder;

/// Gamma(16, 5): mean 3.2, standard deviation 0.8.
fn rate() -> impl Model {
    log_density(Parameters::new().positive("rate", 1), |x, gradient| {
        gradient[0] = 15.0 / x[0] - 5.0;
        15.0 * x[0].ln() - 5.0 * x[0]
    })
}

#[test]
fn everything_is_on_the_natural_scale() {
    let posterior = elinvar::fit(&rate()).unwrap();
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{posterior}");
    let row = &posterior.summary(10_000, 1).parameters[0];
    assert!((row.mean.value - 3.2).abs() < 0.08 && (row.sd.value / 0.8 - 1.0).abs() < 0.15, "{row:?}");
    let draws = posterior.sample(2_000, 1);
    assert_eq!((draws.names(), draws.len()), (&["rate".to_string()][..], 2_000));
    let mean = draws.column("rate").sum::<f64>() / 2_000.0;
    assert!((mean - 3.2).abs() < 0.15, "{mean}");
    assert!(draws.iter().all(|x| x[0] > 0.0));
    let table = posterior.to_string();
    assert!(table.starts_with("trust: ") && table.contains("\nrate "), "{table}");
    assert!(!table.contains("log_rate"), "{table}");
}

/// Of r, uniform on (−1, 1), E r² is a third; the Gaussian is far from it on the scale of z, the answer is not.
#[test]
fn factors_of_correlations_and_unit_vectors() {
    let parameters = Parameters::new().correlation_cholesky("L", 2).unit_vector("u", 3);
    let model = log_density(parameters, |x, gradient| {
        // A flat density of L, and the density of u is e^{4 u₃}.
        gradient.fill(0.0);
        gradient[5] = 4.0;
        4.0 * x[5]
    });
    let posterior = elinvar::fit(&model).unwrap();
    let draws = posterior.sample(4_000, 1);
    assert_eq!(draws.names()[..3], ["L[1,1]", "L[2,1]", "L[2,2]"]);
    let mean = |f: &dyn Fn(&[f64]) -> f64| draws.iter().map(f).sum::<f64>() / draws.len() as f64;
    // coth 4 − ¼.
    let along = 1.0 / 4f64.tanh() - 0.25;
    let found = [mean(&|x| x[1] * x[1]), mean(&|x| x[5])];
    assert!((found[0] - 1.0 / 3.0).abs() < 0.05 && (found[1] - along).abs() < 0.03, "{found:?}\n{posterior}");
    assert!(draws.iter().all(|x| x[0] == 1.0 && (x[1] * x[1] + x[2] * x[2] - 1.0).abs() < 1e-12));
    assert!(draws.iter().all(|x| (x[3..].iter().map(|u| u * u).sum::<f64>() - 1.0).abs() < 1e-12));
}

#[test]
fn declarations_that_make_no_sense_are_refused() {
    let sentence = |parameters: Parameters| {
        let model = log_density(parameters, |_, gradient| {
            gradient.fill(0.0);
            0.0
        });
        format!("{:?}", elinvar::fit(&model).unwrap_err())
    };
    let twice = Parameters::new().real("a", 1).positive("a", 1);
    assert_eq!(sentence(twice), "parameter a: two parameters have this name; give each its own");
    let empty = sentence(Parameters::new().interval("p", 1, 2.0, 2.0));
    assert!(empty.contains("the lower end must be below the upper one"), "{empty}");
    let short = sentence(Parameters::new().simplex("w", 1));
    assert!(short.contains("simplex length = 1"), "{short}");
    let none = sentence(Parameters::new());
    assert!(none.contains("at least one coordinate") || none.contains("transforms"), "{none}");
}

/// A model that notes the threads it runs on, and takes a millisecond.
struct Slow(Mutex<HashSet<std::thread::ThreadId>>);

impl Model for Slow {
    fn parameters(&self) -> Parameters {
        Parameters::from(2)
    }

    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.0.lock().unwrap().insert(std::thread::current().id());
        std::thread::sleep(Duration::from_millis(1));
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x - 0.1 * x.powi(3));
        x.iter().map(|x| -0.5 * x * x - 0.025 * x.powi(4)).sum()
    }
}

#[test]
fn points_of_a_batch_are_spread_over_threads_with_the_same_bits() {
    let on = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let model = Slow(Mutex::default());
        let fit = || Fit::new(&model).family(Family::gaussian()).judged_by(1_500).run().unwrap();
        let begun = Instant::now();
        let posterior = pool.install(fit);
        let threads = model.0.into_inner().unwrap().len();
        (posterior, threads, begun.elapsed())
    };
    let ((one, n_one, alone), (four, n_four, together)) = (on(1), on(4));
    assert_eq!((n_one, n_four), (1, 4));
    assert_eq!(one.approximation(), four.approximation());
    assert_eq!(one.judgement(), four.judgement());
    // It sleeps: four threads need a quarter of the time on any number of processors.
    assert!(together.as_secs_f64() < 0.6 * alone.as_secs_f64(), "{alone:?} alone, {together:?} together");
}

#[test]
fn whoever_stops_a_fit_gets_the_same_answer() {
    let model = Banana::default();
    let impatient = || Fit::new(&model).family(Family::mog(3)).observe(|_| ControlFlow::Break(()));
    assert!(matches!(impatient().run(), Err(Error::Interrupted)));
    let folder = tempfile::tempdir().unwrap();
    let journal = Folder::new(folder.path().join("journal")).unwrap();
    assert!(matches!(impatient().journal(&journal).run(), Err(Error::Interrupted)));
    let resumed = Fit::new(&model).family(Family::mog(3)).journal(&journal).run().unwrap();
    let straight = Fit::new(&model).family(Family::mog(3)).run().unwrap();
    assert_eq!(resumed.approximation(), straight.approximation());

    // Within a batch, in the search as in the verdict: a model of a millisecond is left after some of them.
    let handle = StopHandle::new();
    let slow = Slow(Mutex::default());
    let other = handle.clone();
    let timer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        other.stop();
        Instant::now()
    });
    let stopped = Fit::new(&slow).judged_by(1_000_000).stop_with(&handle).run();
    let ended = Instant::now();
    assert!(matches!(stopped, Err(Error::Interrupted)));
    let pulled = timer.join().unwrap();
    // A batch of the verdict has 4 096 points, some four seconds on one processor.
    assert!(ended - pulled < Duration::from_secs(20), "{:?}", ended - pulled);
}

#[test]
fn what_is_known_beyond_gradients_is_used() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        (g[0], g[1]) = (-x[0], -4.0 * x[1]);
        -0.5 * x[0] * x[0] - 2.0 * x[1] * x[1]
    };
    let with = log_density(2, gradient)
        .with_hessian(|_, h| h.copy_from_slice(&[-1.0, 0.0, 0.0, -4.0]))
        .with_values(|x| -0.5 * x[0] * x[0] - 2.0 * x[1] * x[1]);
    let posterior = Fit::new(&with).family(Family::gaussian()).run().unwrap();
    assert!(posterior.counts().hessian > 0);
    let counts = posterior.diagnostics().unwrap().counts;
    assert!(50 * counts.gradient < counts.log_density, "values suffice for a verdict but for its climbs: {counts:?}");
    let variances = posterior.approximation().variances();
    assert!((variances[0] - 1.0).abs() < 0.02 && (variances[1] - 0.25).abs() < 0.005, "{variances:?}");
}

/// The density of a posterior is that of its draws: on the natural scale it integrates to one, and shares of draws are
/// its integrals.
#[test]
fn the_density_is_on_the_scale_of_the_draws() {
    let model = log_density(Parameters::new().positive("rate", 1), |x, gradient| {
        gradient[0] = 3.0 / x[0] - 2.0;
        3.0 * x[0].ln() - 2.0 * x[0]
    });
    let posterior = Fit::new(&model).family(Family::gaussian()).run().unwrap();
    // log x is normal: by the midpoint rule in x, which ends where nothing is left.
    let (n, end) = (200_000, 40.0);
    let width = end / f64::from(n);
    let (mut mass, mut below) = (0.0, 0.0);
    for k in 0..n {
        let x = (f64::from(k) + 0.5) * width;
        let part = posterior.log_density(&[x]).exp() * width;
        mass += part;
        below += if x < 1.5 { part } else { 0.0 };
    }
    assert!((mass - 1.0).abs() < 1e-4, "{mass}");
    let draws = posterior.sample_z(4_000, 3);
    let share = draws.view().iter().filter(|z| z[0].exp() < 1.5).count() as f64 / 4_000.0;
    // A standard error of 0.008; |z| < 4.5, false alarms 7e-6.
    assert!((share - below).abs() < 4.5 * 0.008, "{share} {below}");
    assert_eq!(posterior.log_density(&[-1.0]), f64::NEG_INFINITY);
    let z = 0.3_f64;
    assert!((posterior.log_density_z(&[z]) - z - posterior.log_density(&[z.exp()])).abs() < 1e-12);
}

#[test]
fn answers_print_themselves() {
    let model = log_density(2, |x, gradient| {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
        -0.5 * (x[0] * x[0] + x[1] * x[1])
    })
    .named(["a", "b"]);
    let fits =
        [Family::gaussian(), Family::student_t(2.0)].map(|family| Fit::new(&model).family(family).run().unwrap());
    assert!(fits[0].reason().starts_with("trust"), "{}", fits[0].reason());
    assert!(fits[0].summary(1_000, 1)["b"].mean.value.abs() < 0.2);
    assert!(fits[0].summary(1_000, 1).parameter("c").is_none());
    let comparison = compare(&model, &[&fits[0], &fits[1]], 2_000, 1).unwrap().to_string();
    assert!(comparison.starts_with("fit 1: ELBO 1.837877 ± ") && comparison.contains("the best"), "{comparison}");
    let limited = Fit::new(&model).family(Family::mog(3)).max_gradients(100).judged_by(0).run().unwrap();
    assert_eq!(limited.stop_reason(), StopReason::MaxEvaluations);
    assert!(limited.reason().starts_with("not judged"), "{}", limited.reason());
}

/// Chains are seen, and end where their observer says so.
#[test]
fn chains_are_seen_and_may_be_stopped() {
    let model = elinvar::model::Funnel::new(3).unwrap();
    let rounds = std::sync::atomic::AtomicU64::new(0);
    let stopped = Fit::new(&model)
        .observe_chains(|round| {
            assert!(round.gradients > 0 && round.max_gradients >= round.gradients);
            match rounds.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 => std::ops::ControlFlow::Continue(()),
                _ => std::ops::ControlFlow::Break(()),
            }
        })
        .run();
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(rounds.into_inner(), 2);
}

/// What is declared wrongly is told before anything is evaluated.
#[test]
fn miscounted_names_and_no_parameters_get_a_sentence() {
    let normal = |x: &[f64], gradient: &mut [f64]| {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
        -0.5 * x.iter().map(|x| x * x).sum::<f64>()
    };
    let said = elinvar::fit(&log_density(2, normal).named(["one"])).unwrap_err().to_string();
    assert!(said.contains("names of parameters") && said.contains('2') && said.contains('1'), "{said}");
    let said = elinvar::fit(&log_density(0, normal)).unwrap_err().to_string();
    assert!(said.contains("at least one"), "{said}");
    let named = elinvar::fit(&rate()).unwrap();
    assert_eq!((named.names()[0].as_str(), named.names_z()[0].as_str()), ("rate", "log_rate"));
}
