//! The targets of the fits: small, and made of numbers that no change of the library can move.

use elinvar::model::{
    Activation, Architecture, Banana, BetaBinomial, CategoryShares, DesignMatrix, Direction, EightSchools, Funnel,
    Gaussian, GaussianMixture, LinearRegression, NeuralNetwork, Parametrisation, PoissonRate, PoissonRegression,
    Proportion,
};
use elinvar::target::{
    About, Answer, Ask, Dual, DualDensity, DualNum, Pointwise, PointwiseSecondOrder, PointwiseTarget, Prior, Support,
    Target, TargetError, from_fn, from_fns, from_values,
};

use crate::models::{Arma11, Autoregression, GaussianProcessPoisson, OrderedMixture};
use crate::problems::regressions::breast_cancer_model;

pub(super) type Boxed = Box<dyn Target>;

const VALID: &str = "the data are valid";

/// n numbers between −1 and 1.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n + 4).map(|_| next()).skip(4).collect()
}

fn design(n: usize, columns: usize, seed: u64) -> DesignMatrix {
    let names = (1..=columns).map(|j| format!("x{j}")).collect();
    DesignMatrix::new(numbers(n * columns, seed), columns, names).expect(VALID)
}

/// For each row the sum of its numbers with alternating signs and some noise.
fn responses(x: &DesignMatrix, noise: f64, seed: u64) -> Vec<f64> {
    let n = x.n_rows();
    let signs = [1.0, -0.5];
    let line = |i: usize| x.row(i).iter().zip(signs.iter().cycle()).map(|(x, sign)| x * sign).sum::<f64>();
    numbers(n, seed).iter().enumerate().map(|(i, e)| line(i) + noise * e).collect()
}

pub(super) fn logistic() -> Boxed {
    Box::new(breast_cancer_model())
}

pub(super) fn linear() -> Boxed {
    let x = design(40, 3, 21);
    let y = responses(&x, 0.5, 22);
    Box::new(LinearRegression::new(x, y, 0.04).expect(VALID))
}

pub(super) fn poisson() -> Boxed {
    let x = design(60, 4, 23).with_intercept();
    let counts = responses(&x, 1.0, 24).into_iter().map(|y| (1.5 + y).exp().floor()).collect();
    Box::new(PoissonRegression::new(x, counts, 0.1).expect(VALID))
}

/// The shapes of the matrices of [`network`] and [`classes`].
pub(super) fn network_layout() -> Vec<[usize; 2]> {
    regression_network().layout()
}

fn regression_network() -> NeuralNetwork {
    let x = design(40, 3, 25);
    let y = responses(&x, 0.3, 26);
    let architecture = Architecture { hidden: vec![4], activation: Activation::Tanh };
    NeuralNetwork::regression(x, y, architecture, 1.0).expect(VALID)
}

/// Three features, four hidden units, one response.
pub(super) fn network() -> Boxed {
    Box::new(regression_network())
}

/// The same features, three rectified units, three classes.
pub(super) fn classes() -> Boxed {
    let x = design(40, 3, 25);
    let labels = responses(&x, 0.3, 26).into_iter().map(|y| f64::from(u8::from(y > -0.3) + u8::from(y > 0.4)));
    let labels = labels.collect();
    let architecture = Architecture { hidden: vec![3], activation: Activation::Relu };
    Box::new(NeuralNetwork::multiclass(x, labels, 3, architecture, 1.0).expect(VALID))
}

pub(super) fn banana() -> Boxed {
    Box::new(Banana::default())
}

pub(super) fn schools(form: Parametrisation) -> Boxed {
    Box::new(EightSchools::new(form))
}

pub(super) fn funnel() -> Boxed {
    Box::new(Funnel::new(3).expect(VALID))
}

pub(super) fn beta_binomial() -> Boxed {
    Box::new(BetaBinomial::cancer_mortality())
}

/// A correlated Gaussian.
pub(super) fn gaussian(dim: usize) -> Boxed {
    let root = numbers(dim * dim, 27);
    let entry = |i: usize, j: usize| (0..dim).map(|k| root[i * dim + k] * root[j * dim + k]).sum::<f64>();
    let mut precision: Vec<f64> = (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect();
    precision.iter_mut().step_by(dim + 1).for_each(|p| *p += 0.5);
    Box::new(Gaussian::new(numbers(dim, 28), precision).expect(VALID))
}

/// Three round Gaussians in the plane, far enough from each other to be seen.
pub(super) fn mixture() -> Boxed {
    Box::new(GaussianMixture::isotropic(2, vec![0.0, 0.0, 4.5, 1.0, -1.0, 5.0]).expect(VALID))
}

pub(super) fn arma() -> Boxed {
    Box::new(PointwiseSecondOrder(Arma11::new(series()).expect(VALID)))
}

pub(super) fn autoregression() -> Boxed {
    Box::new(Autoregression::new(&series(), 2, 0.1).expect(VALID))
}

fn series() -> Vec<f64> {
    let mut last = 0.0;
    let step = |e: f64| {
        last = 0.6 * last + e;
        last
    };
    numbers(50, 29).into_iter().map(step).collect()
}

pub(super) fn process() -> Boxed {
    let x = (0..8).map(|i| -1.0 + 0.25 * f64::from(i)).collect();
    Box::new(PointwiseSecondOrder(
        GaussianProcessPoisson::new(x, vec![2.0, 3.0, 5.0, 4.0, 6.0, 9.0, 7.0, 12.0]).expect(VALID),
    ))
}

pub(super) fn ordered_mixture() -> Boxed {
    let y = numbers(60, 30).into_iter().enumerate().map(|(i, e)| e + if i % 3 == 0 { 2.5 } else { -1.5 }).collect();
    Box::new(PointwiseSecondOrder(OrderedMixture::new(y).expect(VALID)))
}

/// On the positive numbers.
pub(super) fn rate() -> Boxed {
    Box::new(PoissonRate::new(vec![3.0, 1.0, 4.0, 1.0, 5.0]).expect(VALID))
}

/// On the numbers between 0 and 1.
pub(super) fn proportion() -> Boxed {
    Box::new(Proportion::new(&[1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0]).expect(VALID))
}

/// On a simplex, of some items only in part.
pub(super) fn shares() -> Boxed {
    let shares = CategoryShares::new(vec![3.0, 1.0, 6.0]).and_then(|model| model.with_partial(&[0, 1], 8.0));
    Box::new(shares.expect(VALID))
}

/// On the circle.
pub(super) fn direction() -> Boxed {
    Box::new(Direction::new(&[0.3, 1.1, -0.4, 2.0], 0.8).expect(VALID))
}

/// A closure on the positive quadrant: two gamma-like coordinates that depend on each other.
pub(super) fn quadrant() -> Boxed {
    let target = from_fn(2, |z, grad| {
        grad[0] = 2.0 / z[0] - 1.0 - 0.3 * z[1];
        grad[1] = 3.0 / z[1] - 1.5 - 0.3 * z[0];
        2.0 * z[0].ln() + 3.0 * z[1].ln() - z[0] - 1.5 * z[1] - 0.3 * z[0] * z[1]
    });
    Box::new(target.on(Support::Positive))
}

/// The log density of a crooked hill with its gradient: log-concave, skewed, correlated.
fn hill(z: &[f64], grad: &mut [f64]) -> f64 {
    let sum = z[0] + 0.5 * z[1];
    grad[0] = 2.0 - sum.exp() - 0.2 * z[0];
    grad[1] = 1.0 - 0.5 * sum.exp() - z[1] - 0.1 * z[1].powi(3);
    2.0 * z[0] + z[1] - sum.exp() - 0.1 * z[0] * z[0] - 0.5 * z[1] * z[1] - 0.025 * z[1].powi(4)
}

/// Gradients only.
pub(super) fn closure() -> Boxed {
    Box::new(from_fn(2, hill))
}

/// Gradients and Hessians.
pub(super) fn closures() -> Boxed {
    let hessian = |z: &[f64], out: &mut [f64]| {
        let e = (z[0] + 0.5 * z[1]).exp();
        out.copy_from_slice(&[-e - 0.2, -0.5 * e, -0.5 * e, -0.25 * e - 1.0 - 0.3 * z[1] * z[1]]);
    };
    Box::new(from_fns(2, hill, hessian))
}

/// Values only.
pub(super) fn values() -> Boxed {
    Box::new(from_values(2, |z| hill(z, &mut [0.0; 2])))
}

/// No number beyond a line that the posterior reaches.
pub(super) fn not_a_number() -> Boxed {
    Box::new(from_fn(2, |z, grad| if z[1] < -1.2 { f64::NAN } else { hill(z, grad) }))
}

struct Failing;

impl PointwiseTarget for Failing {
    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        if z[1] < -1.2 { Err(TargetError::recoverable("there is no solution here")) } else { Ok(hill(z, grad)) }
    }
}

/// A recoverable error beyond that line.
pub(super) fn failing() -> Boxed {
    Box::new(Pointwise(Failing))
}

struct Generic;

impl DualDensity for Generic {
    fn dim(&self) -> usize {
        2
    }

    fn log_density<D: DualNum<Primitive = f64> + Copy>(&self, z: &[D]) -> D {
        let sum = z[0] + z[1] * 0.5;
        z[0] * 2.0 + z[1] - sum.exp() - z[0] * z[0] * 0.1 - z[1] * z[1] * 0.5
    }
}

/// Derivatives by dual numbers.
pub(super) fn dual() -> Boxed {
    Box::new(PointwiseSecondOrder(Dual(Generic)))
}

/// A sum over items under a t prior that shares its scale with q.
struct SharedScale(Vec<f64>);

impl Target for SharedScale {
    fn about(&self) -> About {
        let prior = Prior::student_t(0.5, 3.0, 2);
        About { prior, n_rows: Some(self.0.len()), ..About::new(2) }
    }

    fn evaluate(&self, ask: &Ask<'_>, out: &mut Answer) -> Result<(), TargetError> {
        let Ask { draws, rows, .. } = *ask;
        for (s, z) in draws.iter().enumerate() {
            let (mut log_p, mut slope) = (0.0, 0.0);
            for i in 0..rows.len(self.0.len()) {
                let residual = self.0[rows.index(i)] - z[0] - 0.5 * z[1];
                log_p -= residual * residual;
                slope += 2.0 * residual;
            }
            out.log_p_mut()[s] = log_p;
            out.grad_mut(s).copy_from_slice(&[slope, 0.5 * slope]);
        }
        Ok(())
    }
}

pub(super) fn shared_scale() -> Boxed {
    Box::new(SharedScale(numbers(12, 31)))
}
