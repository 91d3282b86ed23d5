//! Targets whose answers contradict each other, or are no density's: each is named.

use std::sync::atomic::{AtomicUsize, Ordering};

use elinvar::chains::{Correction, Doubt};
use elinvar::model::{
    Banana, BetaBinomial, DesignMatrix, EightSchools, Funnel, GaussianMixture, LinearRegression, LogisticRegression,
    Parametrisation, PoissonRegression,
};
use elinvar::posterior::Verdict;
use elinvar::target::{
    About, Answer, Ask, Derivatives, Fault, Pointwise, PointwiseHessian, PointwiseSecondOrder, PointwiseTarget,
    PointwiseValue, Target, TargetError, from_fn,
};
use elinvar::{Error, Family, Plan};

/// Standard deviations over four orders of magnitude.
fn sd(i: usize) -> f64 {
    [1.0, 100.0, 0.01, 3.0][i % 4]
}

/// Independent, slightly skewed coordinates: log p = Σ −½u² − 0.1 log cosh u, u = z/sd.
fn log_p(z: &[f64], grad: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for (i, (g, z)) in grad.iter_mut().zip(z).enumerate() {
        let u = z / sd(i);
        sum -= 0.5 * u * u + 0.1 * u.cosh().ln() - 0.2 * u;
        *g = (0.2 - u - 0.1 * u.tanh()) / sd(i);
    }
    sum
}

/// A target of `dim` coordinates whose gradient is changed by `wrong`.
fn with_gradient(dim: usize, wrong: impl Fn(&mut [f64]) + Sync) -> impl Target {
    from_fn(dim, move |z, grad| {
        let value = log_p(z, grad);
        wrong(grad);
        value
    })
}

fn fault_of(target: &dyn Target, seed: u64) -> Fault {
    match elinvar::run::fit(target, Family::gaussian(), &Plan { seed, ..Plan::default() }) {
        Err(Error::Fault(fault)) => fault,
        Err(error) => panic!("{error}"),
        Ok(posterior) => panic!("{:?} after {:?}", posterior.fault(), posterior.counts()),
    }
}

#[test]
fn a_wrong_gradient_is_named_with_both_numbers() {
    for seed in 1..=5 {
        for dim in [1, 4, 50] {
            let negated = with_gradient(dim, |grad| grad.iter_mut().for_each(|g| *g = -*g));
            let doubled = with_gradient(dim, |grad| grad.iter_mut().for_each(|g| *g *= 2.0));
            for (target, factor) in [(&negated as &dyn Target, -1.0), (&doubled, 2.0)] {
                let Fault::Gradient { given, difference, .. } = fault_of(target, seed) else { panic!("another fault") };
                assert!((given / difference - factor).abs() < 1e-3, "{dim}: {given} and {difference}");
            }
            let i = dim / 2;
            let off = with_gradient(dim, move |grad| grad[i] *= 1.05);
            let Fault::Gradient { name, given, difference, .. } = fault_of(&off, seed) else { panic!("another fault") };
            assert_eq!(name, format!("z{}", i + 1));
            assert!((given / difference - 1.05).abs() < 1e-3, "{dim}: {given} and {difference}");
        }
    }
    let exchanged = with_gradient(4, |grad| grad.swap(0, 3));
    assert!(matches!(fault_of(&exchanged, 1), Fault::Gradient { name, .. } if name == "z1" || name == "z4"));
}

#[test]
fn the_sentence_says_where_and_what_to_do() {
    let off = with_gradient(2, |grad| grad[1] *= 1.05);
    let sentence = elinvar::run::fit(&off, Family::gaussian(), &Plan::default()).unwrap_err().to_string();
    assert!(sentence.starts_with("the gradient along z2 is "), "{sentence}");
    assert!(sentence.contains(", but differences of the log density say "), "{sentence}");
    let end = "; check the derivative of the log density with respect to z2";
    assert!(sentence.contains(", at z = (") && sentence.ends_with(end), "{sentence}");
}

/// The density above with a Hessian, which `wrong` changes.
struct Curved<W> {
    dim: usize,
    wrong: W,
}

impl<W: Fn(&mut [f64]) + Sync> PointwiseTarget for Curved<W> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        Ok(log_p(z, grad))
    }
}

impl<W: Fn(&mut [f64]) + Sync> PointwiseHessian for Curved<W> {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        hessian.fill(0.0);
        for (i, z) in z.iter().enumerate() {
            let slope = (z / sd(i)).cosh().powi(-2);
            hessian[i * (self.dim + 1)] = -(1.0 + 0.1 * slope) / sd(i).powi(2);
        }
        (self.wrong)(hessian);
        Ok(())
    }
}

#[test]
fn a_wrong_hessian_is_named_with_both_numbers() {
    for seed in 1..=3 {
        let right = PointwiseSecondOrder(Curved { dim: 4, wrong: |_: &mut [f64]| {} });
        let posterior = elinvar::run::fit(&right, Family::gaussian(), &Plan { seed, ..Plan::default() }).unwrap();
        assert_eq!(posterior.fault(), None);
        let off = PointwiseSecondOrder(Curved { dim: 4, wrong: |h: &mut [f64]| h[5] *= 1.05 });
        let Fault::Hessian { row, column, given, difference, .. } = fault_of(&off, seed) else { panic!("another") };
        assert_eq!((row.as_str(), column.as_str()), ("z2", "z2"));
        assert!((given / difference - 1.05).abs() < 1e-3, "{given} and {difference}");
        // An entry that should be zero, for a product of coordinates that the density does not have.
        let extra = PointwiseSecondOrder(Curved {
            dim: 4,
            wrong: |h: &mut [f64]| {
                h[12] += 0.1;
                h[3] += 0.1;
            },
        });
        let Fault::Hessian { row, column, .. } = fault_of(&extra, seed) else { panic!("another") };
        let mut names = [row.as_str(), column.as_str()];
        names.sort_unstable();
        assert_eq!(names, ["z1", "z4"]);
    }
}

/// What goes wrong after so many evaluations is found at the end, and no verdict trusts it.
#[test]
fn a_gradient_that_goes_wrong_later_is_a_doubt() {
    let calls = AtomicUsize::new(0);
    let target = from_fn(3, |z, grad| {
        let value = log_p(z, grad);
        if calls.fetch_add(1, Ordering::Relaxed) > 150 {
            grad[0] *= 1.05;
        }
        value
    });
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    assert!(matches!(posterior.fault(), Some(Fault::Gradient { name, .. }) if name == "z1"), "{:?}", posterior.fault());
    let judgement = posterior.judge(&target, 2_000, 1).unwrap();
    assert_eq!(judgement.verdict, Verdict::DoNotTrust);
    assert!(judgement.reason.starts_with("The gradient along z1 is "), "{}", judgement.reason);
    let corrected = posterior.correct(&target, &Correction { max_gradients: 2_000, ..Correction::default() }).unwrap();
    assert!(matches!(corrected.doubts[0], Doubt::Fault(_)), "{:?}", corrected.doubts);
    assert_eq!(posterior.verdict(), Some(Verdict::DoNotTrust));
}

/// Kinks, flat places, edges, rounding and large constants make a slope unknown, not a gradient wrong: no false alarm
/// in 7 × 40 fits.
#[test]
fn what_cannot_be_known_is_no_fault() {
    let laplace = from_fn(20, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z.signum());
        -z.iter().map(|z| z.abs()).sum::<f64>()
    });
    let huber = from_fn(5, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z.clamp(-0.5, 0.5));
        -z.iter().map(|z| if z.abs() < 0.5 { 0.5 * z * z } else { 0.5 * z.abs() - 0.125 }).sum::<f64>()
    });
    let flat = from_fn(3, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -1e-8 * z);
        -0.5e-8 * z.iter().map(|z| z * z).sum::<f64>()
    });
    let lifted = from_fn(3, |z, grad| log_p(z, grad) + 1e9);
    let single = from_fn(4, |z, grad| {
        let value = log_p(z, grad) - 300.0;
        grad.iter_mut().for_each(|g| *g = f64::from(*g as f32));
        f64::from(value as f32)
    });
    // As a solver of differential equations leaves it: right to seven digits, and not smooth below that.
    let jagged = from_fn(4, |z, grad| {
        let value = log_p(z, grad);
        value + 1e-7 * (1e9 * z.iter().sum::<f64>()).sin()
    });
    let edged = from_fn(2, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        if z[0] < -1.0 { f64::NEG_INFINITY } else { -0.5 * (z[0] * z[0] + z[1] * z[1]) }
    });
    let targets: [&dyn Target; 7] = [&laplace, &huber, &flat, &lifted, &single, &jagged, &edged];
    for (k, target) in targets.into_iter().enumerate() {
        for seed in 1..=40 {
            let mut plan = Plan { seed, ..Plan::default() };
            plan.stop.max_steps = 10;
            let posterior = elinvar::run::fit(target, Family::gaussian(), &plan).unwrap_or_else(|e| panic!("{k}: {e}"));
            assert_eq!(posterior.fault(), None, "target {k}, seed {seed}");
        }
    }
}

/// A model of the library whose derivatives are doubted all the same.
struct Doubted<T>(T);

impl<T: Target> Target for Doubted<T> {
    fn about(&self) -> About {
        About { derivatives: Derivatives::Written, ..self.0.about() }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}

/// No false alarm in 9 × 10 fits of models of the library, and what it costs.
#[test]
fn models_of_the_library_have_no_fault() {
    let x: Vec<f64> = (0..90).map(|i| if i % 3 == 0 { 1.0 } else { (1.7 * i as f64).sin() }).collect();
    let design = || DesignMatrix::new(x.clone(), 3, (1..=3).map(|j| format!("x{j}")).collect()).unwrap();
    let labels = (0..30).map(|i| if i % 3 == 1 { 1.0 } else { -1.0 }).collect();
    let counts: Vec<f64> = (0..30).map(|i| f64::from(i % 4)).collect();
    let logistic = Doubted(LogisticRegression::new(design(), labels, 1.0).unwrap());
    let poisson = Doubted(PoissonRegression::new(design(), counts.clone(), 1.0).unwrap());
    let linear = Doubted(LinearRegression::new(design(), counts, 1.0).unwrap());
    let [centred, other] =
        [Parametrisation::Centred, Parametrisation::NonCentred].map(|f| Doubted(EightSchools::new(f)));
    let (funnel, banana) = (Doubted(Funnel::new(5).unwrap()), Doubted(Banana::default()));
    let (beta, mixture) = (
        Doubted(BetaBinomial::cancer_mortality()),
        Doubted(GaussianMixture::isotropic(2, vec![0.0, 0.0, 4.0, 4.0]).unwrap()),
    );
    let targets: [&dyn Target; 9] = [&logistic, &poisson, &linear, &centred, &other, &funnel, &banana, &beta, &mixture];
    for (k, target) in targets.into_iter().enumerate() {
        for seed in 1..=10 {
            let mut plan = Plan { seed, ..Plan::default() };
            plan.stop.max_steps = 10;
            let posterior = elinvar::run::fit(target, Family::gaussian(), &plan).unwrap_or_else(|e| panic!("{k}: {e}"));
            assert_eq!(posterior.fault(), None, "target {k}, seed {seed}");
        }
    }
    // The fit is the same to the last bit, and 27 gradients, 29 values and 4 Hessians more expensive.
    let cost = |target: &dyn Target| elinvar::run::fit(target, Family::gaussian(), &Plan::default()).unwrap();
    let (with, without) = (cost(&banana), cost(&banana.0));
    assert_eq!(with.approximation(), without.approximation());
    let (a, b) = (with.counts(), without.counts());
    let spent = (a.log_density - b.log_density, a.gradient - b.gradient, a.hessian - b.hessian);
    assert_eq!(spent, (29 + 27, 27, 4));
}

#[test]
fn a_log_density_with_noise_is_not_trusted() {
    let calls = AtomicUsize::new(0);
    let target = from_fn(2, |z, grad| {
        let noise = 0.01 * (calls.fetch_add(1, Ordering::Relaxed) as f64).sin();
        log_p(z, grad) + noise
    });
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    assert!(matches!(posterior.fault(), Some(Fault::Noise { .. })), "{:?}", posterior.fault());
    let judgement = posterior.judge(&target, 2_000, 1).unwrap();
    assert_eq!(judgement.verdict, Verdict::DoNotTrust);
    assert!(judgement.reason.starts_with("The log density asked twice at z = ("), "{}", judgement.reason);
    posterior.correct(&target, &Correction { max_gradients: 2_000, ..Correction::default() }).unwrap();
    assert_eq!(posterior.verdict(), Some(Verdict::DoNotTrust));
}

/// N(0, I) with another function for values alone.
struct TwoFaced(fn(f64) -> f64);

impl PointwiseTarget for TwoFaced {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        Ok(log_p(z, grad))
    }

    fn value(&self) -> Option<&dyn PointwiseValue> {
        Some(self)
    }
}

impl PointwiseValue for TwoFaced {
    fn log_density(&self, z: &[f64]) -> Result<f64, TargetError> {
        Ok((self.0)(log_p(z, &mut [0.0; 2])))
    }
}

#[test]
fn values_that_are_not_those_beside_gradients_are_told() {
    let sentence = |change| {
        let error = elinvar::run::fit(&Pointwise(TwoFaced(change)), Family::gaussian(), &Plan::default()).unwrap_err();
        error.to_string()
    };
    let constant = sentence(|value| value + 1.0);
    assert!(constant.starts_with("the log density is ") && constant.ends_with("both must be the same function"));
    assert!(sentence(|_| f64::NAN).starts_with("the log density is NaN by itself and "));
    assert!(elinvar::run::fit(&Pointwise(TwoFaced(|v| v)), Family::gaussian(), &Plan::default()).is_ok());
}

/// +∞ far out is evidence, with its count and a point.
#[test]
fn an_infinite_density_far_out_is_not_trusted() {
    let target = from_fn(2, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        if z[0] > 5.0 { f64::INFINITY } else { -0.5 * (z[0] * z[0] + z[1] * z[1]) }
    });
    let mut posterior = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap();
    let judgement = posterior.judge(&target, 4_096, 1).unwrap();
    assert_eq!(judgement.verdict, Verdict::DoNotTrust, "{}", judgement.reason);
    assert!(judgement.reason.starts_with("The log density was +∞ at "), "{}", judgement.reason);
    assert!(judgement.reason.contains(" of 4096 draws, for example at z = ("), "{}", judgement.reason);
    posterior.correct(&target, &Correction::default()).unwrap();
    assert_eq!(posterior.verdict(), Some(Verdict::DoNotTrust));
}

#[test]
fn a_gradient_that_is_nowhere_a_number_is_told_as_such() {
    let target = from_fn(2, |z, grad| {
        grad.fill(f64::NAN);
        -0.5 * (z[0] * z[0] + z[1] * z[1])
    });
    let error = elinvar::run::fit(&target, Family::gaussian(), &Plan::default()).unwrap_err();
    let sentence = error.to_string();
    assert!(sentence.starts_with("the gradient of the log density is not finite at "), "{sentence}");
    assert!(sentence.contains(" first draws, for example at z = ("), "{sentence}");
}

/// Fails, as told, at points beyond 1.
struct Edge(fn() -> TargetError);

impl PointwiseTarget for Edge {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        if z[0] > 1.0 {
            return Err((self.0)());
        }
        Ok(log_p(z, grad))
    }
}

/// The first coordinate of the point that a sentence names.
fn first_coordinate(sentence: &str) -> f64 {
    let from = sentence.find("z = (").unwrap() + 5;
    sentence[from..].split(',').next().unwrap().parse().unwrap()
}

#[test]
fn a_fatal_error_and_a_panic_are_told_with_their_point() {
    let fatal = Pointwise(Edge(|| TargetError::fatal("the solver has no licence")));
    let error = elinvar::run::fit(&fatal, Family::gaussian(), &Plan::default()).unwrap_err();
    let sentence = error.to_string();
    assert!(
        sentence.starts_with("the model could not be evaluated: the solver has no licence, at z = ("),
        "{sentence}"
    );
    assert!(first_coordinate(&sentence) > 1.0, "{sentence}");

    let panicking = Pointwise(Edge(|| panic!("row {} of a table of 3", 7)));
    let error = elinvar::run::fit(&panicking, Family::gaussian(), &Plan::default()).unwrap_err();
    let sentence = error.to_string();
    assert!(matches!(&error, Error::Panicked { message, .. } if message == "row 7 of a table of 3"), "{error:?}");
    assert!(sentence.starts_with("the model panicked at z = ("), "{sentence}");
    assert!(sentence.ends_with("): row 7 of a table of 3; this is a mistake in the code of the model"), "{sentence}");
    assert!(first_coordinate(&sentence) > 1.0, "{sentence}");
}

/// No coordinates at all.
struct Nothing;

impl Target for Nothing {
    fn about(&self) -> About {
        About::new(0)
    }

    fn evaluate(&self, _ask: &Ask<'_>, _answer: &mut Answer) -> Result<(), TargetError> {
        Ok(())
    }
}

#[test]
fn a_target_without_coordinates_is_refused() {
    for family in [Family::gaussian(), Family::auto(), Family::mog(2)] {
        let error = elinvar::run::fit(&Nothing, family, &Plan::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "dimension of the target = 0 is outside its domain: a density needs at least one coordinate"
        );
    }
}

/// The same fit, verdict and cost, but for rounding: a millionth of a nat in log p is 1e-10 of 10⁶.
#[test]
fn a_constant_added_to_the_log_density_changes_nothing() {
    let plain = from_fn(3, log_p);
    let lifted = from_fn(3, |z, grad| log_p(z, grad) + 1e6);
    let mut fits = [&plain as &dyn Target, &lifted].map(|target| {
        let mut fit = elinvar::run::fit(target, Family::gaussian(), &Plan::default()).unwrap();
        fit.judge(target, 4_096, 1).unwrap();
        fit
    });
    let [one, two] = &mut fits;
    assert_eq!((one.counts(), one.verdict(), one.stop_reason()), (two.counts(), two.verdict(), two.stop_reason()));
    let (a, b) = (one.approximation(), two.approximation());
    for (i, (x, y)) in a.mean().iter().zip(b.mean()).enumerate() {
        assert!((x - y).abs() < 1e-5 * sd(i), "{x} and {y}");
    }
    let gap = |fit: &elinvar::Posterior| fit.diagnostics().unwrap().gap().value;
    assert!((gap(one) - gap(two)).abs() < 1e-6);
    let [one, two] = [(one, &plain as &dyn Target), (two, &lifted)].map(|(fit, target)| {
        fit.correct(target, &Correction::default()).unwrap();
        fit.corrected().unwrap().clone()
    });
    assert_eq!((one.doubts.len(), one.counts), (two.doubts.len(), two.counts));
    for (a, b) in one.coordinates.iter().zip(&two.coordinates) {
        assert!((a.mean.value - b.mean.value).abs() < 1e-2 * a.sd.value, "{a:?} {b:?}");
    }
}
