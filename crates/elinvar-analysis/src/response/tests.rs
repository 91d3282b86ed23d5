//! Every law against its own draws and against sums over its values.

use elinvar::random::Purpose;

use super::*;

/// A law, linear predictors and parameters beside the coefficients.
type Case = (Box<dyn Response>, Vec<f64>, Vec<f64>);

fn laws() -> Vec<Case> {
    vec![
        (Box::new(Bernoulli), vec![-0.7], vec![]),
        (Box::new(Bernoulli), vec![3.0], vec![]),
        (Box::new(Normal), vec![1.5], vec![0.3]),
        (Box::new(Poisson), vec![-1.0], vec![]),
        (Box::new(Poisson), vec![2.5], vec![]),
        (Box::new(Poisson), vec![5.5], vec![]),
        (Box::new(NegativeBinomial), vec![1.5], vec![0.8]),
        (Box::new(NegativeBinomial), vec![-0.5], vec![20.0]),
        (Box::new(Binomial), vec![0.4], vec![]),
        (Box::new(Ordinal { n_classes: 4 }), vec![0.3], vec![-1.0, 0.2, 2.5]),
        (Box::new(Categorical { n_classes: 4 }), vec![0.3, -1.2, 2.0], vec![]),
        (Box::new(StudentT), vec![1.5], vec![0.3, 200.0]),
        (Box::new(Gamma), vec![0.7], vec![60.0]),
        (Box::new(Beta), vec![0.3], vec![150.0]),
    ]
}

/// Σ f(y) p(y) over all values, or by the trapezoidal rule, which is exact to rounding for what decays so fast.
fn expectation(law: &dyn Response, given: Given<'_>, f: &dyn Fn(f64) -> f64) -> f64 {
    let weighed = |y: f64| f(y) * law.log_density(y, given).exp();
    match law.values() {
        Values::Classes(n) => (0..n).map(|k| weighed(k as f64)).sum(),
        Values::Counts => (0..2_000).map(|k| weighed(f64::from(k))).sum(),
        Values::Numbers => {
            let (mean, sd) = (law.mean(given), law.variance(given).sqrt());
            let step = 0.05 * sd;
            (-400..=400).map(|i| step * weighed(mean + f64::from(i) * step)).sum()
        }
    }
}

#[test]
fn densities_have_mass_one_and_the_moments_that_they_say() {
    for (law, eta, auxiliary) in laws() {
        let given = Given { eta: &eta, auxiliary: &auxiliary, trials: 1.0 };
        let (mean, variance) = (law.mean(given), law.variance(given));
        let near = |found: f64, truth: f64, what: &str| {
            assert!((found - truth).abs() < 1e-10 * (1.0 + truth.abs()), "{} {what}: {found} {truth}", law.name());
        };
        near(expectation(&*law, given, &|_| 1.0), 1.0, "mass");
        near(expectation(&*law, given, &|y| y), mean, "mean");
        near(expectation(&*law, given, &|y| (y - mean).powi(2)), variance, "variance");
    }
}

#[test]
fn draws_have_the_moments_of_their_law() {
    const N: u32 = 40_000;
    for (k, (law, eta, auxiliary)) in laws().into_iter().enumerate() {
        let given = Given { eta: &eta, auxiliary: &auxiliary, trials: 1.0 };
        let mut stream = Stream::open(1, Purpose::Responses, k as u64, 0);
        let draws: Vec<f64> = (0..N).map(|_| law.draw(given, &mut stream)).collect();
        let (mean, variance) = (law.mean(given), law.variance(given));
        let fourth = expectation(&*law, given, &|y| (y - mean).powi(4));
        let average = |f: &dyn Fn(f64) -> f64| draws.iter().map(|y| f(*y)).sum::<f64>() / f64::from(N);
        // False alarms: 7e-6 each.
        let z = (average(&|y| y) - mean) / (variance / f64::from(N)).sqrt();
        assert!(z.abs() < 4.5, "{}: mean {z}", law.name());
        let error = ((fourth - variance * variance) / f64::from(N)).sqrt();
        let z = (average(&|y| (y - mean).powi(2)) - variance) / error;
        assert!(z.abs() < 4.5, "{}: variance {z}", law.name());
        // The same place in the stream gives the same response.
        assert_eq!(law.draw(given, &mut Stream::open(1, Purpose::Responses, k as u64, 0)), draws[0]);
    }
}

#[test]
fn far_predictors_stay_numbers() {
    for eta in [-1e4, 1e4] {
        let given = Given { eta: &[eta], auxiliary: &[1.0, 3.0], trials: 1.0 };
        let mut stream = Stream::open(1, Purpose::Responses, 0, 0);
        for law in
            [&Bernoulli as &dyn Response, &Normal, &Poisson, &NegativeBinomial, &Binomial, &StudentT, &Gamma, &Beta]
        {
            let found = [law.log_density(1.0, given), law.mean(given), law.variance(given)];
            assert!(found.iter().all(|x| !x.is_nan()), "{} {eta}: {found:?}", law.name());
            assert!(!law.draw(given, &mut stream).is_nan(), "{} {eta}", law.name());
        }
    }
}

#[test]
fn rows_are_given_their_predictor_their_offset_and_sigma() {
    use elinvar::target::Transform;
    let names = vec!["a".into(), "b".into()];
    let design = DesignMatrix::new(vec![1.0, 2.0, 1.0, -3.0, 1.0, 0.5], 2, names).unwrap();
    let transforms = Transforms::new(vec![Transform::Identity, Transform::Identity, Transform::Log]).unwrap();
    let offsets = [0.0, 10.0, 20.0];
    let regression = Regression { offsets: &offsets, ..Regression::plain(&Normal, &design, &[1.0, 2.0, 3.0]) };
    let mut seen = Vec::new();
    regression.under(&[0.5, 2.0, 0.25], &transforms, &[2, 0], |place, row, given| {
        seen.push((place, row, given.eta[0], given.auxiliary.to_vec()));
    });
    let sigma = 0.25_f64.exp();
    assert_eq!(seen, [(0, 2, 21.5, vec![sigma]), (1, 0, 4.5, vec![sigma])]);
}
