//! The targets under test.

use elinvar::model::{
    Activation, Architecture, Banana, BetaBinomial, BetaRegression, BinomialRegression, CategoricalRegression,
    CategoryShares, DesignMatrix, Direction, EightSchools, Funnel, GammaRegression, Gaussian, GaussianMixture,
    LinearRegression, LogisticRegression, NegativeBinomialRegression, NetworkNoise, NeuralNetwork, NoisePrior,
    OrdinalRegression, Parametrisation, PoissonRate, PoissonRegression, Proportion, Regression, RowLaw,
    StudentTRegression,
};
use elinvar::target::{Constrained, PointwiseSecondOrder, Prior, Target, Transform, Transforms, from_fn, from_fns};

use crate::subjects::numbers;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) target: Box<dyn Target>,
    /// The points of the tests are `centre + scale · (numbers between −1 and 1)`.
    pub(crate) centre: Vec<f64>,
    pub(crate) scale: f64,
}

fn case(name: &'static str, target: impl Target + 'static, scale: f64) -> Case {
    let centre = vec![0.0; target.dim()];
    Case { name, target: Box::new(target), centre, scale }
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("logistic, d = 3", logistic(100, 3), 1.0),
        case("logistic, d = 20, several blocks", logistic(700, 20), 0.5),
        case("logistic, d = 20, in chunks", logistic(6000, 20), 0.5),
        case("poisson, d = 3", poisson(100, 3), 0.5),
        case("poisson, d = 18", poisson(600, 18), 0.3),
        case("linear, d = 3", linear(50, 3), 0.7),
        case("linear, d = 21", linear(900, 20), 0.7),
        case("linear, flat priors", linear_with(Prior::None, NoisePrior::Flat), 0.7),
        case("linear, a prior per coefficient", linear_with(own_priors(3), NoisePrior::HalfNormal { scale: 1.5 }), 0.7),
        case(
            "poisson, with offsets and weights",
            poisson(100, 3)
                .with_offset(scaled(0.5, numbers(100, 21)))
                .and_then(|model| model.with_weights(positive(100, 22)))
                .unwrap(),
            0.5,
        ),
        case("linear, with weights", linear(50, 3).with_weights(positive(50, 22)).unwrap(), 0.7),
        case("ordinal", ordinal(90, 3, 5), 0.6),
        case("ordinal, two classes", ordinal(40, 2, 2), 0.6),
        case("categorical", categorical(90, 3, 4), 0.6),
        case("categorical, several blocks", categorical(600, 2, 3), 0.6),
        case("negative binomial", negative_binomial(100, 3), 0.7),
        case("negative binomial, in chunks", negative_binomial(5000, 4), 0.7),
        case(
            "student t",
            weighed(StudentTRegression::new(design(90, 3), scaled(3.0, numbers(90, 23)), 0.3).unwrap(), 90),
            0.7,
        ),
        case("binomial", weighed(binomial(80, 3), 80), 0.7),
        case("gamma", weighed(GammaRegression::new(design(80, 3), positive(80, 24), 0.3).unwrap(), 80), 0.7),
        case("beta", weighed(BetaRegression::new(design(80, 3), shares(80), 0.3).unwrap(), 80), 0.7),
        case("gaussian", Gaussian::new(numbers(4, 1), spd(4, 2)).unwrap().with_log_normaliser(1.5), 2.0),
        case("gaussian, d = 25", Gaussian::new(numbers(25, 3), spd(25, 4)).unwrap(), 2.0),
        case("mixture", mixture(3, 4), 2.0),
        case("mixture, isotropic", GaussianMixture::isotropic(3, scaled(4.0, numbers(15, 5))).unwrap(), 4.0),
        Case { centre: vec![-6.8, 8.0], ..case("beta-binomial", BetaBinomial::cancer_mortality(), 1.0) },
        Case { centre: vec![0.0, -2.0], ..case("beta-binomial, small K", BetaBinomial::cancer_mortality(), 1.0) },
        case("eight schools, centred", EightSchools::new(Parametrisation::Centred), 1.0),
        case("eight schools, non-centred", EightSchools::new(Parametrisation::NonCentred), 1.0),
        case("banana", Banana::new(1.7, 0.4).unwrap(), 2.0),
        case("funnel", Funnel::new(5).unwrap(), 1.5),
        case("network", network(60, 3, &[5], Activation::Tanh), 0.8),
        case("network, rectified, of known noise", of_known_noise(network(40, 3, &[6], Activation::Relu)), 0.8),
        case("network, two hidden layers", network(700, 4, &[12, 9], Activation::Tanh), 0.8),
        case("network, large", network(4000, 6, &[20], Activation::Tanh), 0.8),
        case("network, two classes", two_classes(80, 4, &[6], Activation::Tanh), 0.8),
        case("network, two classes, two rectified layers", two_classes(30, 3, &[5, 4], Activation::Relu), 0.8),
        case("network, three classes", three_classes(80, 3, &[7], Activation::Tanh), 0.8),
        case("network, three classes, two hidden layers", three_classes(90, 3, &[4, 5], Activation::Tanh), 0.8),
        Case { centre: vec![2.0], ..case("poisson rate", poisson_rate(), 0.5) },
        Case { centre: vec![0.4], ..case("proportion", proportion(), 0.2) },
        Case { centre: vec![0.3, 0.5, 0.2], ..case("shares", shares_of_items(), 0.05) },
        case("direction", Direction::new(&numbers(9, 20), 1.7).unwrap().with_prior(2.0, 0.6).unwrap(), 3.0),
        case("closure", from_fn(2, quartic), 1.0),
        case("two closures", from_fns(2, quartic, quartic_hessian), 1.0),
        case("constrained", PointwiseSecondOrder(every_constraint()), 0.8),
        #[cfg(feature = "dual")]
        case("dual numbers", PointwiseSecondOrder(elinvar::target::Dual(dual::Logistic)), 1.0),
        #[cfg(feature = "dual")]
        case("constrained, with values of its own", PointwiseSecondOrder(dual::constrained()), 1.0),
    ]
}

fn scaled(factor: f64, values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|v| factor * v).collect()
}

/// A positive definite d × d matrix.
fn spd(d: usize, seed: u64) -> Vec<f64> {
    let a = numbers(d * d, seed);
    let mut matrix = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            matrix[j * d + i] =
                (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum::<f64>() + if i == j { 0.5 } else { 0.0 };
        }
    }
    matrix
}

pub(crate) fn design(n: usize, d: usize) -> DesignMatrix {
    let names = (1..=d).map(|j| format!("x{j}")).collect();
    DesignMatrix::new(numbers(n * d, 11), d, names).unwrap()
}

pub(crate) fn logistic(n: usize, d: usize) -> LogisticRegression {
    let labels = numbers(n, 12).into_iter().map(|v| f64::from(u8::from(v > 0.2))).collect();
    LogisticRegression::from_labels(design(n, d), labels, 0.3).unwrap()
}

pub(crate) fn poisson(n: usize, d: usize) -> PoissonRegression {
    let counts = numbers(n, 13).into_iter().map(|v| (3.0 * v.abs()).floor()).collect();
    PoissonRegression::new(design(n, d), counts, 0.3).unwrap()
}

fn positive(n: usize, seed: u64) -> Vec<f64> {
    numbers(n, seed).into_iter().map(|v| 0.1 + v * v).collect()
}

fn shares(n: usize) -> Vec<f64> {
    numbers(n, 25).into_iter().map(|v| 0.5 + 0.49 * v).collect()
}

/// With offsets and weights.
fn weighed<L: RowLaw>(model: Regression<L>, n: usize) -> Regression<L> {
    model.with_offset(scaled(0.5, numbers(n, 21))).and_then(|model| model.with_weights(positive(n, 22))).unwrap()
}

pub(crate) fn negative_binomial(n: usize, d: usize) -> NegativeBinomialRegression {
    let counts = numbers(n, 13).into_iter().map(|v| (60.0 * v * v * v * v).floor()).collect();
    NegativeBinomialRegression::new(design(n, d), counts, 0.3).unwrap()
}

fn categorical(n: usize, d: usize, classes: usize) -> CategoricalRegression {
    let y =
        numbers(n, 25).iter().map(|u| ((u + 1.0) / 2.0 * classes as f64).floor().min(classes as f64 - 1.0)).collect();
    let names = (0..classes).map(|k| format!("class{k}")).collect();
    weighed_categorical(CategoricalRegression::new(design(n, d), y, names, 0.3).unwrap(), n)
}

fn weighed_categorical(model: CategoricalRegression, n: usize) -> CategoricalRegression {
    let offset = scaled(0.5, numbers(n, 21));
    model.with_offset(offset).and_then(|model| model.with_weights(positive(n, 22))).unwrap()
}

fn ordinal(n: usize, d: usize, classes: usize) -> OrdinalRegression {
    let y = numbers(n, 27).into_iter().map(|v| (v.abs() * classes as f64).floor().min(classes as f64 - 1.0)).collect();
    let model = OrdinalRegression::new(design(n, d), y, classes, 0.3).unwrap();
    model.with_offset(scaled(0.5, numbers(n, 21))).and_then(|model| model.with_weights(positive(n, 22))).unwrap()
}

fn binomial(n: usize, d: usize) -> BinomialRegression {
    let trials: Vec<f64> = (0..n).map(|i| (i % 7) as f64).collect();
    let events = trials.iter().zip(numbers(n, 26)).map(|(trials, v)| (trials * v.abs()).floor()).collect();
    BinomialRegression::of_trials(design(n, d), events, trials, 0.3).unwrap()
}

fn poisson_rate() -> PoissonRate {
    let model = PoissonRate::new(vec![3.0, 0.0, 5.0, 2.0]).unwrap();
    model.with_exposures(&[1.0, 0.5, 2.0, 1.5]).and_then(|model| model.with_prior(0.3, 0.8)).unwrap()
}

fn proportion() -> Proportion {
    Proportion::new(&[1.0, 0.0, 0.0, 1.0, 0.0]).and_then(|model| model.with_prior(-0.4, 1.2)).unwrap()
}

fn linear(n: usize, d: usize) -> LinearRegression {
    let y = numbers(n, 14).into_iter().map(|v| 30.0 + 2.0 * v).collect();
    LinearRegression::new(design(n, d), y, 0.3).unwrap().with_noise_scale(1.5).unwrap()
}

fn linear_with(coefficients: Prior, noise: NoisePrior) -> LinearRegression {
    linear(50, 3).with_coefficient_prior(coefficients).and_then(|model| model.with_noise_prior(noise)).unwrap()
}

fn own_priors(n: usize) -> Prior {
    Prior::normal(numbers(n, 17), &(1..=n).map(|j| 0.4 * j as f64).collect::<Vec<f64>>())
}

fn layers(hidden: &[usize], activation: Activation) -> Architecture {
    Architecture { hidden: hidden.to_vec(), activation }
}

/// A regression whose noise is learned.
pub(crate) fn network(n: usize, d: usize, hidden: &[usize], activation: Activation) -> NeuralNetwork {
    NeuralNetwork::regression(design(n, d), numbers(n, 21), layers(hidden, activation), 0.7).unwrap()
}

fn of_known_noise(network: NeuralNetwork) -> NeuralNetwork {
    network.with_noise(NetworkNoise::Fixed { precision: 1.7 }).unwrap()
}

fn two_classes(n: usize, d: usize, hidden: &[usize], activation: Activation) -> NeuralNetwork {
    let labels = numbers(n, 22).into_iter().map(|v| f64::from(u8::from(v > 0.1))).collect();
    NeuralNetwork::binary(design(n, d), labels, layers(hidden, activation), 0.7).unwrap()
}

pub(crate) fn three_classes(n: usize, d: usize, hidden: &[usize], activation: Activation) -> NeuralNetwork {
    let labels = numbers(n, 23).into_iter().map(|v| (1.5 + 1.5 * v).floor()).collect();
    NeuralNetwork::multiclass(design(n, d), labels, 3, layers(hidden, activation), 0.7).unwrap()
}

fn mixture(d: usize, n: usize) -> GaussianMixture {
    let weights: Vec<f64> = (1..=n).map(|c| c as f64).collect();
    let covariances: Vec<f64> = (0..n).flat_map(|c| spd(d, 20 + c as u64)).collect();
    GaussianMixture::new(&weights, scaled(2.0, numbers(n * d, 15)), &covariances).unwrap()
}

/// log p = −z₁⁴ + z₁²z₂ − z₂².
fn quartic(z: &[f64], grad: &mut [f64]) -> f64 {
    grad[0] = -4.0 * z[0].powi(3) + 2.0 * z[0] * z[1];
    grad[1] = z[0] * z[0] - 2.0 * z[1];
    -z[0].powi(4) + z[0] * z[0] * z[1] - z[1] * z[1]
}

fn quartic_hessian(z: &[f64], hessian: &mut [f64]) {
    hessian.copy_from_slice(&[-12.0 * z[0] * z[0] + 2.0 * z[1], 2.0 * z[0], 2.0 * z[0], -2.0]);
}

/// Number of constrained coordinates.
const N: usize = 25;

/// A function of all of them in which every pair interacts.
fn every_constraint() -> Constrained<impl elinvar::target::PointwiseHessian> {
    let model = from_fns(
        N,
        |x, grad| {
            let total: f64 = x.iter().enumerate().map(|(i, v)| (1.0 + 0.1 * i as f64) * v).sum();
            grad.iter_mut().enumerate().for_each(|(i, g)| *g = (1.0 + 0.1 * i as f64) * total.cos() - 0.6 * x[i]);
            total.sin() - 0.3 * x.iter().map(|v| v * v).sum::<f64>()
        },
        |x, hessian| {
            let total: f64 = x.iter().enumerate().map(|(i, v)| (1.0 + 0.1 * i as f64) * v).sum();
            for (at, entry) in hessian.iter_mut().enumerate() {
                let (i, j) = (at % N, at / N);
                *entry = -(1.0 + 0.1 * i as f64) * (1.0 + 0.1 * j as f64) * total.sin();
                *entry -= if i == j { 0.6 } else { 0.0 };
            }
        },
    );
    let transforms = Transforms::new(vec![
        Transform::Identity,
        Transform::Log,
        Transform::Simplex { len: 4 },
        Transform::Logit,
        Transform::Interval { low: -1.0, high: 2.0 },
        Transform::Ordered { len: 3 },
        Transform::Above { low: 1.0 },
        Transform::Below { high: 2.0 },
        Transform::CovarianceCholesky { len: 2 },
        Transform::CorrelationCholesky { len: 3 },
        Transform::UnitVector { len: 3 },
    ]);
    Constrained::new(model.0, transforms.unwrap()).unwrap()
}

#[cfg(feature = "dual")]
mod dual {
    use elinvar::target::{Constrained, Dual, DualDensity, DualNum, Transform, Transforms};

    pub(super) fn constrained() -> Constrained<Dual<Logistic>> {
        let transforms = Transforms::new(vec![Transform::Identity, Transform::Log, Transform::Logit]).unwrap();
        Constrained::new(Dual(Logistic), transforms).unwrap()
    }

    /// Four labels, three coefficients.
    pub(super) struct Logistic;

    impl DualDensity for Logistic {
        fn dim(&self) -> usize {
            3
        }

        fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D {
            let x = [[0.3, -1.0, 0.5], [1.0, 0.2, -0.4], [-0.7, 0.9, 1.1], [0.1, 0.1, -0.8]];
            let y = [1.0, -1.0, 1.0, 1.0];
            x.iter().zip(y).map(|(x, y)| -((z[0] * x[0] + z[1] * x[1] + z[2] * x[2]) * -y).exp().ln_1p()).sum()
        }
    }
}

fn shares_of_items() -> CategoryShares {
    let model = CategoryShares::new(vec![3.0, 0.0, 7.0]).and_then(|model| model.with_prior(0.6));
    model.and_then(|model| model.with_partial(&[0, 1], 4.0)).and_then(|model| model.with_partial(&[2, 1], 2.0)).unwrap()
}
